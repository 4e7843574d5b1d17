"""Trainings by DP-SGD that were made elsewhere, as their histories tell them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

from ._errors import InputError, Refused

# The most phases that the engine accounts for, and how deep events may be in each other.
_MOST_PHASES, _DEEPEST = 64, 100

# The least delta of a training whose noise was made for batches up to a size: a larger one, which
# delta does not count, comes in a step with a probability below 1e-26.
_LEAST_DELTA = 1e-20

Phase = tuple[float, float, int]


class Training:
    """The steps of a training by DP-SGD, as certificates of models on its features declare them.

    In each step every record was in the batch with probability `rate`, by itself and drawn afresh
    (Poisson sampling); its gradient was clipped to a norm; Gaussian noise of `noise` times that
    norm was added to the sum. Nothing here can check that it was so: certificates say that it is
    taken on your word.

    Parameters
    ----------
    noise : float, or sequence of float
        Standard deviation of the noise, in multiples of the norm that gradients were clipped to.
        Of a training in phases a number for each, as of `rate` and `steps`.
    rate : float, or sequence of float
        Probability of a record to be in the batch of a step, above 0 and at most 1.
    steps : int, or sequence of int
        Number of steps.
    clip : float, optional
        The norm that gradients were clipped to. Certificates list it; no number depends on it.
    deleted : int, default=0
        Records that were deleted since this training, before a model is learnt on its features.
    dependence : float, optional
        How far a record's gradient may depend on the others of its batch, relative to its length
        or to the clip, whichever is more, where the noise was raised by what that needs. A public
        constant; certificates list it as declared.

    Attributes
    ----------
    phases : tuple of (float, float, int)
        noise, rate and steps of each phase.

    Raises
    ------
    InputError
        Where a number is out of range.

    Examples
    --------
    >>> training = Training(noise=1.1, rate=0.01, steps=1000)
    >>> str(training)
    'noise=1.1,rate=0.01,steps=1000'
    >>> round(training.epsilon(delta=1e-5, deletions=2), 2)
    3.29
    """

    def __init__(
        self,
        *,
        noise: Any,
        rate: Any,
        steps: Any,
        clip: float | None = None,
        deleted: int = 0,
        dependence: float | None = None,
    ) -> None:
        columns = [_column(x) for x in (noise, rate, steps)]
        if len({len(column) for column in columns}) != 1 or not columns[0]:
            lengths = ", ".join(str(len(column)) for column in columns)
            raise InputError(
                f"`noise`, `rate` and `steps` must be as many, got {lengths}", code="settings"
            )
        phases = [_checked(*phase) for phase in zip(*columns, strict=True)]
        self.phases: tuple[Phase, ...] = tuple(_merged(phases))
        if len(self.phases) > _MOST_PHASES:
            raise InputError(
                f"a training must have at most {_MOST_PHASES} phases of different noise or rate, "
                f"got {len(self.phases)}",
                code="range",
                hint="state the least noise and the largest rate for neighbouring phases: that is "
                "at most as private",
            )
        self.clip = None if clip is None else _number("clip", clip)
        self.deleted = _count("deleted", deleted, least=0)
        self.dependence = dependence
        # The trainings that it was put together of, by names that no others have; none where it was
        # told.
        self._parts: dict[str, Training] = {}

    @classmethod
    def from_opacus(cls, history: Any, *, clip: float | None = None, deleted: int = 0) -> Training:
        """Read the history that Opacus keeps of a training.

        A history says nothing of how batches were made. Make them by Poisson sampling, which
        `make_private` does unless told otherwise, and without accumulated gradients over several
        batches: a record may be in two of them, which the history does not tell. Where the
        clip follows the gradients (`AdaClipDPOptimizer`, `clipping="adaptive"`), the history has
        more noise than there was, since noisy counts were released beside the sums: such engines
        are refused, and accountants and lists do not show it.

        Parameters
        ----------
        history : privacy engine, accountant, its ``state_dict()``, or list
            Of the form (noise multiplier, sampling rate, steps).
        clip : float, optional
            As for the class.
        deleted : int, default=0
            As for the class.

        Returns
        -------
        Training
            The phases of the history; those of equal noise and rate are one.

        Raises
        ------
        Refused
            Where noise is 0, or a rate above 1.
        InputError
            Where it is no history.
        """
        optimizer = getattr(history, "optimizer", history)
        if hasattr(optimizer, "unclipped_num_std") or hasattr(history, "unclipped_num_std"):
            raise Refused(
                "the clip followed the gradients: noisy counts were released beside the sums, and "
                "the history has more noise than there was",
                code="settings",
                hint="train with a constant clip, or state noise, rate and steps yourself, the "
                "noise being that of both releases together",
            )
        found = getattr(history, "accountant", history)
        found = found.get("history") if isinstance(found, Mapping) else found
        found = getattr(found, "history", found)
        if isinstance(found, str | bytes) or not isinstance(found, Iterable):
            raise InputError(
                "this is no history of Opacus: it has no `history`",
                code="settings",
                hint="give `privacy_engine.accountant`, or its `state_dict()`",
            )
        phases = []
        for entry in found:
            if not isinstance(entry, Sequence) or isinstance(entry, str) or len(entry) != 3:
                raise InputError(
                    "a history of Opacus must have a noise multiplier, a sampling rate and a "
                    f"number of steps in each entry, got {entry!r:.80}",
                    code="settings",
                )
            phases.append(tuple(entry))
        return cls._of(phases, clip, deleted)

    @classmethod
    def from_dp_event(cls, event: Any, *, clip: float | None = None, deleted: int = 0) -> Training:
        """Read an event of dp_accounting, as JAX Privacy and TensorFlow Privacy make them.

        Parameters
        ----------
        event : DpEvent
            Made of ``PoissonSampledDpEvent``, ``GaussianDpEvent``, ``SelfComposedDpEvent`` and
            ``ComposedDpEvent``. Several Gaussian events on one batch are one with less noise.
        clip : float, optional
            As for the class.
        deleted : int, default=0
            As for the class.

        Returns
        -------
        Training
            The steps; those of equal noise and rate are one phase.

        Raises
        ------
        Refused
            Where something else than Poisson sampling or Gaussian noise is in it.
        """
        return cls._of(_steps(event), clip, deleted)

    @classmethod
    def _of(cls, phases: Iterable[Any], clip: float | None, deleted: int) -> Training:
        """Of phases that a history tells, which are not anybody's choice here."""
        listed = list(phases)
        if not listed:
            raise Refused(
                "the history has no step, so that nothing hides who was in it",
                code="settings",
                hint="take the history after the training",
            )
        for noise, rate, _ in listed:
            if isinstance(noise, Real) and not float(noise) > 0:
                raise _unhidden(noise)
            if isinstance(rate, Real) and not 0 < float(rate) <= 1:
                raise Refused(
                    f"the history has a sampling rate of {rate}, which is no probability",
                    code="settings",
                    hint="make batches by Poisson sampling, without accumulating gradients",
                )
        noise, rate, steps = zip(*listed, strict=True)
        return cls(noise=noise, rate=rate, steps=steps, clip=clip, deleted=deleted)

    @classmethod
    def _of_setting(cls, given: Any) -> Training | None:
        """Of a setting, where it can be read; what is wrong with others is the engine's to say."""
        if given is None or isinstance(given, Training):
            return given
        try:
            return cls._read(str(given))
        except (KeyError, ValueError, InputError, Refused):
            return None

    @classmethod
    def _read(cls, text: str) -> Training:
        """Of the text that the engine takes."""
        phases, others = [], {}
        for part in text.split(";"):
            values = dict(pair.split("=", 1) for pair in part.replace(" ", "").split(","))
            phases.append((float(values["noise"]), float(values["rate"]), int(values["steps"])))
            others = {name: values[name] for name in ("clip", "deleted") if name in values}
        given = float(others["clip"]) if "clip" in others else None
        return cls._of(phases, given, int(others.get("deleted", 0)))

    def epsilon(self, *, delta: float, deletions: int | None = None) -> float:
        """Return how much the extractor itself tells of so many deleted records together.

        Parameters
        ----------
        delta : float
            The delta that it holds at, above 0 and below 1; at least 1e-20 where `dependence` is
            given.
        deletions : int, optional
            Records deleted since the training, `deleted` included. By default one more than
            `deleted`.

        Returns
        -------
        float
            Epsilon, rounded up: what a model that is exact on these features promises.
        """
        from . import accounting

        if self.dependence is not None and delta < _LEAST_DELTA:
            raise InputError(
                f"`delta` must be at least {_LEAST_DELTA} where a training has a `dependence`, "
                f"got {delta}",
                code="range",
                hint="its noise was made for batches up to a size; a larger one ends it, in a step "
                "with a probability below 1e-26, which is not part of delta",
            )
        noise, rate, steps = (list(column) for column in zip(*self.phases, strict=True))
        count = self.deleted + 1 if deletions is None else deletions
        least = max(1, self.deleted)
        group = [_count("deletions", count, least=least)] * len(self.phases)
        found: float = accounting.dp_sgd_schedule(
            noise=noise, rate=rate, steps=steps, group=group, mu=0.0, delta=delta
        )
        return found

    def __str__(self) -> str:
        phases = ";".join(f"noise={s!r},rate={q!r},steps={n}" for s, q, n in self.phases)
        clip = "" if self.clip is None else f",clip={self.clip!r}"
        return phases + clip + (f",deleted={self.deleted}" if self.deleted else "")

    def __repr__(self) -> str:
        single = len(self.phases) == 1
        columns = [
            column[0] if single else list(column) for column in zip(*self.phases, strict=True)
        ]
        named = list(zip(("noise", "rate", "steps"), columns, strict=True))
        named += [("clip", self.clip)] if self.clip is not None else []
        named += [("deleted", self.deleted)] if self.deleted else []
        return f"Training({', '.join(f'{name}={value!r}' for name, value in named)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Training) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


def _column(value: Any) -> list[Any]:
    alone = isinstance(value, Real | str) or not isinstance(value, Iterable)
    return [value] if alone else list(value)


def _unhidden(noise: Any) -> Refused:
    return Refused(
        f"the history has steps with noise {noise}: nothing hides who was in them",
        code="settings",
        hint="train with noise; features of a model that never saw the records need no `training`",
    )


def _merged(phases: Iterable[Phase]) -> list[Phase]:
    """Phases of equal noise and rate as one: no bound depends on their order."""
    merged: dict[tuple[float, float], int] = {}
    for noise, rate, steps in phases:
        merged[noise, rate] = merged.get((noise, rate), 0) + steps
    return [(noise, rate, steps) for (noise, rate), steps in merged.items()]


def _checked(noise: Any, rate: Any, steps: Any) -> Phase:
    found = _number("rate", rate)
    if found > 1:
        raise InputError(f"`rate` must be above 0 and at most 1, got {rate}", code="range")
    return _number("noise", noise), found, _count("steps", steps, least=1)


def _number(name: str, value: Any) -> float:
    if not isinstance(value, Real) or not (float(value) > 0 and math.isfinite(value)):
        raise InputError(f"`{name}` must be finite and above 0, got {value!r:.40}", code="range")
    return float(value)


def _count(name: str, value: Any, *, least: int) -> int:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or int(value) < least:
        raise InputError(
            f"`{name}` must be a whole number of at least {least}, got {value!r:.40}", code="range"
        )
    return int(value)


def _refused(event: Any, why: str) -> Refused:
    return Refused(
        f"the event has a `{_kind(event):.60}`: {why}",
        code="settings",
        hint="train with Poisson sampling and Gaussian noise on clipped sums; a training of "
        "another kind can be told by figures, `extractor_privacy`",
    )


def _kind(event: Any) -> str:
    name = getattr(event, "class_name", type(event).__name__)
    return name.decode() if isinstance(name, bytes) else str(name)


def _parts(event: Any, depth: int) -> tuple[list[Any], int] | None:
    """What an event is composed of, and how often; None where it is composed of nothing."""
    if depth > _DEEPEST:
        raise _refused(event, f"events are more than {_DEEPEST} deep in each other")
    kind = _kind(event)
    if kind == "NoOpDpEvent":
        return [], 1
    if kind == "ComposedDpEvent":
        return list(event.events), 1
    if kind == "SelfComposedDpEvent":
        return [event.event], _count("count", event.count, least=0)
    return None


def _steps(event: Any, depth: int = 0, known: dict[int, list[Phase]] | None = None) -> list[Phase]:
    """The steps of an event. What stands in it more than once is looked at once (`known`)."""
    known = {} if known is None else known
    if id(event) not in known:
        known[id(event)] = _steps_of(event, depth, known)
    return known[id(event)]


def _steps_of(event: Any, depth: int, known: dict[int, list[Phase]]) -> list[Phase]:
    if (composed := _parts(event, depth)) is not None:
        parts, times = composed
        found = _merged(step for part in parts for step in _steps(part, depth + 1, known))
        return [(noise, rate, steps * times) for noise, rate, steps in found if times > 0]
    kind = _kind(event)
    if kind == "PoissonSampledDpEvent":
        rate, batch = float(event.sampling_probability), event.event
    elif kind == "GaussianDpEvent":
        rate, batch = 1.0, event
    elif kind in ("SampledWithReplacementDpEvent", "SampledWithoutReplacementDpEvent"):
        raise _refused(event, "batches of a fixed size hide less than Poisson sampling")
    else:
        raise _refused(event, "what it reveals of several records is not known here")
    noises = _noises(batch, depth + 1)
    if not noises:
        return []
    if len(noises) == 1 and noises[0][1] == 1:
        return [(noises[0][0], rate, 1)]
    # Sums of one batch: their precisions add up. A little less noise than that, never more.
    precision = math.fsum(times / (noise * noise) for noise, times in noises)
    return [((1 - 1e-12) / math.sqrt(precision), rate, 1)]


def _noises(event: Any, depth: int) -> list[tuple[float, int]]:
    """The noises of the sums of one batch, with their numbers."""
    if (composed := _parts(event, depth)) is not None:
        parts, times = composed
        found = [pair for part in parts for pair in _noises(part, depth + 1)]
        return [(noise, count * times) for noise, count in found if times > 0]
    if _kind(event) != "GaussianDpEvent":
        raise _refused(event, "only Gaussian noise on the sum of a batch is known here")
    noise = float(event.noise_multiplier)
    if not noise > 0:
        raise _unhidden(noise)
    return [(noise, 1)]
