"""Remembers the trainings of each parameter of modules in this process."""

from __future__ import annotations

import secrets
import weakref
from collections.abc import Iterable
from functools import partial
from typing import Any

from ._errors import Refused
from ._state import numbers_of
from ._training import Training

# Trainings by names that no two of them share, so that each is counted once.
Parts = dict[str, Training]

# By the identity of a parameter or buffer, since a module that is sliced is another one with the
# same parameters: its trainings, and the digest of the numbers that the last one left.
_KNOWN: dict[int, tuple[weakref.ref[Any], Parts, bytes | None]] = {}


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
        dependence=max(
            (one.dependence for one in parts.values() if one.dependence is not None), default=None
        ),
    )
    made._parts = dict(parts)
    return made


def known_of(parameters: Iterable[Any]) -> Parts:
    """Return the trainings of any of the parameters."""
    found: Parts = {}
    for parameter in parameters:
        found |= _entry(parameter)[0]
    return found


def _entry(tensor: Any) -> tuple[Parts, bytes | None]:
    reference, parts, digest = _KNOWN.get(id(tensor), (lambda: None, {}, None))
    return (parts, digest) if reference() is tensor else ({}, None)


def remember(tensors: Iterable[Any], parts: Parts, *, left: bool = False) -> None:
    """Say what tensors were trained by, and nothing else, and whether that is over."""
    for tensor in tensors:
        key, digest = id(tensor), numbers_of(tensor) if left else None
        _KNOWN[key] = (weakref.ref(tensor, partial(_forget, key)), dict(parts), digest)


def tensors_of(module: Any) -> list[Any]:
    """All parameters and buffers of a module."""
    return [*module.parameters(), *module.buffers()]


def check_left(tensors: Iterable[Any]) -> None:
    """Refuse tensors of a training that changed after it."""
    those = list(tensors)
    for tensor in those if known_of(those) else ():
        _, digest = _entry(tensor)
        if digest is not None and digest != numbers_of(tensor):
            raise Refused(
                "these weights are no longer those that the training left",
                code="settings",
                hint="a training states its own steps alone: train anew, or take the module as it "
                "was; what was done to it without the records is done to a copy of it",
            )


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
