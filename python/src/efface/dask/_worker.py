"""Functions that run on the workers, where the rows are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _engine
from .._errors import Error, InputError
from .._rows import column
from .._table import check_aligned, table
from ..classifier import targets_of

# Advice for collections whose rows are not in one order.
_ALIGNED = (
    "take them as columns of one dataframe, or give Dask arrays, which go by position: "
    "`series.to_dask_array(lengths=True)`"
)


def no_rows() -> NDArray[np.int64]:
    """Return no position at all."""
    return np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class State:
    """The rows that a part must have before anything is computed from it.

    It goes with every task, so that a part that was lost and made again loses what was forgotten
    before it is used.

    Attributes
    ----------
    erased, withdrawn : array of int64
        Positions, ascending, of rows that are gone for good, and of rows that a request in
        progress takes out.
    fingerprint : bytes or None
        Tells the rows that are left, where they are known.
    named : bool
        Whether the names of the records are still needed.
    """

    erased: NDArray[np.int64] = field(default_factory=no_rows)
    withdrawn: NDArray[np.int64] = field(default_factory=no_rows)
    fingerprint: bytes | None = None
    named: bool = False


@dataclass(frozen=True)
class Block:
    """The data of one part: arrays, frames or series, or Dask's promises of them."""

    x: Any
    y: Any
    ids: Any = None
    subjects: Any = None
    weights: Any = None


@dataclass(frozen=True)
class Recipe:
    """How parts are made from blocks, the same for all.

    Attributes
    ----------
    plan : str
        The model's plan, JSON.
    salt : bytes
        Keys the fingerprints.
    names : list of str or None
        Names of the columns.
    classes : array or None
        The classes, sorted; none for numbers.
    """

    plan: str
    salt: bytes
    names: list[str] | None
    classes: NDArray[Any] | None


@dataclass(frozen=True)
class Step:
    """The work of one part in a step of a network.

    Who is drawn is secret. Dask prints the arguments of tasks that fail, but not what is in here.

    Attributes
    ----------
    number, part : int
        Which step, and which part is asked; the answer repeats both.
    weights : array of float32
        Where gradients are taken.
    rows, lengths : array of uint32, and array of uint32 or None
        The rows that the step draws, among those that take part in sums, and how many of them each
        unit has; None if each row is one.
    """

    number: int
    part: int
    weights: NDArray[np.float32] = field(repr=False)
    rows: NDArray[np.uint32] = field(repr=False)
    lengths: NDArray[np.uint32] | None = field(repr=False)


def make(
    index: int, x: Any, y: Any, ids: Any, subjects: Any, weights: Any, recipe: Recipe
) -> _engine.Part:
    """Make a part; what is refused says in which partition."""
    given = {"X": x, "y": y, "ids": ids, "subjects": subjects, "sample_weight": weights}
    try:
        check_aligned(given, hint=_ALIGNED)
        targets = np.asarray(y)
        if targets.ndim == 2 and targets.shape[1] == 1:
            targets = targets[:, 0]
        if recipe.classes is not None and len(targets):
            targets = targets_of(targets, recipe.classes)
        elif recipe.classes is not None:
            targets = np.empty(0, dtype=np.int64)
        columns = getattr(x, "columns", None)
        names = recipe.names if columns is None else [str(name) for name in columns]
        if names is not None and recipe.names is None:
            names = None
        rows = table(
            np.asarray(x),
            targets,
            ids=None if ids is None else column("ids", ids),
            subjects=None if subjects is None else column("subjects", subjects),
            sample_weight=None if weights is None else np.asarray(weights),
            names=names,
        )
        return _engine.Part(rows, recipe.plan, recipe.salt)
    except Error as error:
        text = f"partition {index}: {error.message}"
        raise type(error)(text, code=error.code, hint=error.hint) from None


def survey(index: int, y: Any, regression: bool) -> tuple[int, NDArray[Any]]:
    """Return how many targets there are, and their classes or least and greatest."""
    targets = np.asarray(y)
    if targets.ndim == 2 and targets.shape[1] == 1:
        targets = targets[:, 0]
    if targets.ndim != 1:
        raise InputError(
            f"partition {index}: `y` must have 1 axis, got shape {targets.shape}", code="data"
        )
    if not regression:
        return len(targets), np.unique(targets)
    if targets.dtype.kind not in "fiub":
        raise InputError(
            f"partition {index}: `y` must contain numbers, got {targets.dtype}", code="data"
        )
    if not np.isfinite(targets).all():
        raise InputError(f"partition {index}: `y` contains NaN or infinity", code="data")
    return len(targets), np.unique([targets.min(), targets.max()]) if len(targets) else targets


def weigh(index: int, weights: Any) -> tuple[float, float]:
    """Return the largest of the weights, and their sum."""
    array = np.asarray(weights)
    if array.ndim != 1 or array.dtype.kind not in "fiub":
        raise InputError(
            f"partition {index}: `sample_weight` must be one number for each record, got "
            f"{array.dtype} of shape {array.shape}",
            code="data",
        )
    good = np.isfinite(array) & (array >= 0)
    if not good.all():
        raise InputError(
            f"partition {index}: `sample_weight` must be finite and at least 0", code="data"
        )
    return float(array.max(initial=0)), float(array.sum(dtype=np.float64))


def describe(part: _engine.Part) -> tuple[int, int, bytes]:
    """Return how many rows a new part has, how many were shortened, and its fingerprint."""
    return part.made, part.shortened, part.fingerprint


def place(state: State) -> tuple[NDArray[np.int64], NDArray[np.int64], bytes | None]:
    """Return a state as the engine takes it.

    Each call of a part takes one and brings the part there first, as a whole: a task that outlived
    its request may run beside the next one's and ask for another.
    """
    return aligned(state.erased), aligned(state.withdrawn), state.fingerprint


def set_state(part: _engine.Part, state: State) -> None:
    """Bring a part where it must be."""
    part.set_state(place(state))
    if not state.named:
        part.drop_names()


def change(part: _engine.Part, before: State, after: State) -> bytes:
    """Bring a part from one state to another; the fingerprint there."""
    return part.change(place(before), place(after))


def names(part: _engine.Part, state: State) -> tuple[list[str] | None, list[str] | None]:
    """Return the ids and subjects of a part's records."""
    return part.names(place(state))


def compute(
    part: _engine.Part,
    state: State,
    kind: str,
    weights: NDArray[np.float64],
    vector: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    """Return the sums of a kind over a part's rows; of `totals`, the gradient and then the loss."""
    if not state.named:
        part.drop_names()
    weights = aligned(weights)
    if kind == "totals":
        loss, gradient = part.totals(place(state), weights)
        return np.append(gradient, loss)
    if kind == "hessian":
        return part.hessian(place(state), weights)
    if vector is None:
        raise ValueError("a product needs a vector")
    return part.product(place(state), weights, aligned(vector))


def clipped(
    part: _engine.Part, state: State, step: Step
) -> tuple[int, int, int, NDArray[np.int64]]:
    """Return step, part, number of units and the sum of their clipped gradients, in integers."""
    if not state.named:
        part.drop_names()
    rows = aligned(step.rows)
    lengths = None if step.lengths is None else aligned(step.lengths)
    return part.clipped(place(state), step.number, step.part, aligned(step.weights), rows, lengths)


def people(index: int, subjects: Any) -> set[Any]:  # noqa: ARG001 - called with each block's index
    """Return the different subjects of a block."""
    return set(column("subjects", subjects))


def aligned(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array as the engine borrows it; one that came over a wire may lie askew."""
    return np.require(array, requirements=["C_CONTIGUOUS", "ALIGNED"])
