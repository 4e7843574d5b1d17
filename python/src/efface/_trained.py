"""What parameters of modules were trained by in this process, so that no training is forgotten."""

from __future__ import annotations

import secrets
import weakref
from collections.abc import Iterable
from functools import partial
from typing import Any

from ._training import Training

# Trainings by names that no two of them share, so that each is counted once.
Parts = dict[str, Training]

# By the identity of a parameter, since a module that is sliced is another one with the same
# parameters.
_KNOWN: dict[int, tuple[weakref.ref[Any], Parts]] = {}


def parts_of(training: Training | None) -> Parts:
    """The trainings that one is made of; one that was not made here is another one each time."""
    if training is None:
        return {}
    return dict(training._parts) or {secrets.token_hex(16): training}


def joint(parts: Parts) -> Training:
    """All of them, at least one, in phases; those deleted since are others in each."""
    phases = [phase for part in parts.values() for phase in part.phases]
    noise, rate, steps = (list(column) for column in zip(*phases, strict=True))
    clips = {part.clip for part in parts.values()}
    made = Training(
        noise=noise,
        rate=rate,
        steps=steps,
        clip=clips.pop() if len(clips) == 1 else None,
        deleted=sum(part.deleted for part in parts.values()),
        dependence=max((part.dependence or 0.0 for part in parts.values()), default=0.0) or None,
    )
    made._parts = dict(parts)
    return made


def known_of(parameters: Iterable[Any]) -> Parts:
    """What any of the parameters were trained by."""
    found: Parts = {}
    for parameter in parameters:
        reference, parts = _KNOWN.get(id(parameter), (None, {}))
        if reference is not None and reference() is parameter:
            found |= parts
    return found


def remember(parameters: Iterable[Any], parts: Parts) -> None:
    """Say what parameters were trained by, and nothing else."""
    for parameter in parameters:
        key = id(parameter)
        _KNOWN[key] = (weakref.ref(parameter, partial(_forget, key)), dict(parts))


def _forget(key: int, _: object) -> None:
    _KNOWN.pop(key, None)


def covers(training: Training, parts: Parts) -> bool:
    """Whether a training contains all of these: them themselves, or each of their steps."""
    if training._parts or not parts:
        return parts.keys() <= training._parts.keys()
    together = joint(parts)
    steps = {(noise, rate): count for noise, rate, count in training.phases}
    return training.deleted >= together.deleted and all(
        steps.get((noise, rate), 0) >= count for noise, rate, count in together.phases
    )
