"""Trainings by DP-SGD that were made elsewhere, as they are declared."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

from ._errors import InputError

# The most phases that the engine accounts for.
_MOST_PHASES = 64

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
    def _of_setting(cls, given: Any) -> Training | None:
        """Read a setting; None if it cannot be read, which the engine refuses with the reason."""
        if given is None or isinstance(given, Training):
            return given
        try:
            return cls._read(str(given))
        except (KeyError, ValueError, InputError):
            return None

    @classmethod
    def _read(cls, text: str) -> Training:
        """Read the text that the engine takes."""
        phases, others = [], {}
        for part in text.split(";"):
            values = dict(pair.split("=", 1) for pair in part.replace(" ", "").split(","))
            phases.append((float(values["noise"]), float(values["rate"]), int(values["steps"])))
            others = {name: values[name] for name in ("clip", "deleted") if name in values}
        given = float(others["clip"]) if "clip" in others else None
        noise, rate, steps = zip(*phases, strict=True)
        return cls(
            noise=noise, rate=rate, steps=steps, clip=given, deleted=int(others.get("deleted", 0))
        )

    def epsilon(self, *, delta: float, deletions: int | None = None) -> float:
        """Return the epsilon of the extractor itself for so many deleted records together.

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
