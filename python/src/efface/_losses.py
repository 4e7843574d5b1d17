"""The engine's table of losses."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Literal, NamedTuple

from . import _engine


class Loss(NamedTuple):
    """A loss by name, with what its targets are and whether its models give probabilities."""

    name: str
    task: Literal["binary", "multiclass", "regression"]
    probabilities: bool


@cache
def losses() -> tuple[Loss, ...]:
    """Return every loss of the engine, in the order of its help pages."""
    return tuple(Loss(**loss) for loss in json.loads(_engine.losses()))


def has_probabilities(name: Any) -> bool:
    """Whether models of this loss give probabilities; false for a name of none."""
    return any(loss.name == name and loss.probabilities for loss in losses())


def is_task(name: Any, task: str) -> bool:
    """Whether this is the name of a loss of that task."""
    return any(loss.name == name and loss.task == task for loss in losses())
