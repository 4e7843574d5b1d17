"""Dask collections as the blocks that parts are made from."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import numpy as np

from .._errors import DuplicateRecord, InputError
from ._worker import Block


class Collections:
    """The collections of a fit, cut alike.

    Parameters
    ----------
    X : Dask array (rows, features) or dataframe
        A block holds whole rows.
    y, ids, subjects, weights : Dask array, series or index (rows,), optional
        As many blocks as `X`, with as many rows.

    Attributes
    ----------
    features : int
        Columns of `X`.
    names : list of str or None
        Their names, of a dataframe.
    blocks : list of Block
        Promises, one block for each partition.
    sizes : list of int or None
        Rows of each block, where Dask knows them.
    """

    def __init__(self, X: Any, y: Any, ids: Any, subjects: Any, weights: Any) -> None:
        _check_collection("X", X)
        if X.ndim != 2:
            raise InputError(f"`X` must have 2 axes, rows and columns, got {X.ndim}", code="data")
        frame = hasattr(X, "to_dask_array")
        _check_numbers(X, frame=frame)
        _check_one_target(y)
        if not frame and len(X.chunks[1]) > 1:
            X = X.rechunk({1: -1})
        self.features = int(X.shape[1])
        self.names = [str(name) for name in X.columns] if frame else None
        rows = None if frame else X.chunks[0]
        self.sizes = None if rows is None or np.isnan(rows).any() else [int(n) for n in rows]
        parts = _promises(X)
        given = {"y": y, "ids": ids, "subjects": subjects, "sample_weight": weights}
        columns = [_cut(name, column, self.sizes, len(parts)) for name, column in given.items()]
        self.blocks = [Block(*block) for block in zip(*_apart(parts, *columns), strict=True)]


def _check_numbers(X: Any, *, frame: bool) -> None:
    """Refuse columns that preprocessing would have to be fitted to."""
    kinds = [(str(name), kind) for name, kind in X.dtypes.items()] if frame else [("", X.dtype)]
    others = [(name, kind) for name, kind in kinds if getattr(kind, "kind", "O") not in "fiub"]
    if not others:
        return
    name, kind = others[0]
    which = f"the column `{name}` of `X`" if frame else "`X`"
    raise InputError(
        f"rows on Dask must be numbers, got {kind} in {which}",
        code="data",
        hint="preprocessing that is fitted to the rows needs one table: turn words, dates and "
        "missing cells into numbers by rules that do not look at other rows, or fit "
        "`efface.UnlearningClassifier` or `UnlearningRegressor` to a table in memory",
    )


def _check_one_target(y: Any) -> None:
    """Refuse a table of targets."""
    if getattr(y, "ndim", 1) == 2 and y.shape[1] > 1:
        raise InputError(
            f"rows on Dask have one target each, got {y.shape[1]} columns in `y`",
            code="data",
            hint="fit a model for each of them; several at once are learnt from a table in memory, "
            'by `efface.UnlearningRegressor(mechanism="ridge")`',
        )


def index_of(X: Any, y: Any) -> tuple[str, Any] | None:
    """Return the index that names the records, and whose it is; None if all merely count rows.

    An index that counts in each partition anew, as readers of files make it, names none. Workers
    hold the indexes of each partition against each other.
    """
    given = {"X": X, "y": y}
    found = next((name for name, table in given.items() if _names_records(table)), None)
    return None if found is None else (found, given[found].index)


def _names_records(table: Any) -> bool:
    if not hasattr(table, "_meta") or not hasattr(table, "divisions"):
        return False
    if type(table._meta.index).__name__ != "RangeIndex":
        return True
    return bool(table.known_divisions and table.divisions[0] != 0)


@contextmanager
def naming_by(name: str) -> Iterator[None]:
    """If ids are refused that come from an index, say so."""
    try:
        yield
    except (DuplicateRecord, InputError) as error:
        if error.code not in ("ids", "duplicate-id"):
            raise
        raise type(error)(
            f"the index of `{name}` cannot name the records: {error.message}",
            code=error.code,
            hint=f"give `ids`, or name them by position: `{name}.reset_index(drop=True)`",
        ) from None


def _apart(*columns: list[Any]) -> list[list[Any]]:
    """The promises under keys of their own.

    A part remembers how it was made as long as it lives; under the collection's own keys that
    would get in the way of whatever the user computes of it later.
    """
    import dask
    from dask._task_spec import convert_legacy_graph
    from dask.delayed import Delayed
    from distributed import Future

    graph: dict[Any, Any] = {}
    for column in columns:
        for promise in column:
            graph.update({} if promise is None else promise.__dask_graph__())
    token = uuid.uuid4().hex
    renamed, apart = {}, {}
    for key, node in list(graph.items()):
        if isinstance(node, Future):  # a result that workers have already
            result = dask.delayed(_same, pure=False)(graph.pop(key))
            apart.update(result.__dask_graph__())
            renamed[key] = result.key
        else:
            renamed[key] = _renamed(key, token)
    for key, node in convert_legacy_graph(graph, set(renamed)).items():
        apart[renamed[key]] = node.substitute(renamed, key=renamed[key])

    def moved(promise: Any) -> Any:
        key = getattr(promise, "key", None)
        return Delayed(renamed[key], apart) if key in renamed else promise

    return [[moved(promise) for promise in column] for column in columns]


def _same(value: Any) -> Any:
    return value


def _renamed(key: Any, token: str) -> Any:
    return (f"{key[0]}-{token}", *key[1:]) if isinstance(key, tuple) else f"{key}-{token}"


def _cut(name: str, column: Any, sizes: list[int] | None, count: int) -> list[Any]:
    """The blocks of one column, cut as `X` is where that is known."""
    if column is None:
        return [None] * count
    _check_collection(name, column)
    chunks = getattr(column, "chunks", None)
    if sizes is not None and chunks is not None and not np.isnan(chunks[0]).any():
        if sum(chunks[0]) != sum(sizes):
            raise InputError(
                f"`X` has {sum(sizes)} rows and `{name}` has {sum(chunks[0])}", code="data"
            )
        if list(chunks[0]) != sizes:
            column = column.rechunk({0: tuple(sizes)})
    parts = _promises(column)
    if len(parts) != count:
        raise InputError(
            f"`{name}` must have as many partitions as `X`, {count}, got {len(parts)}",
            code="data",
            hint="take both from the same collection, or give one the partitions of the other",
        )
    return parts


def _check_collection(name: str, value: Any) -> None:
    import dask

    if dask.is_dask_collection(value) and hasattr(value, "to_delayed"):
        return
    raise InputError(
        f"`{name}` must be a Dask array, dataframe or series, got {type(value).__name__}",
        code="data",
        hint="for tables in memory use `efface.UnlearningClassifier` or "
        "`efface.UnlearningRegressor`",
    )


def _promises(collection: Any) -> list[Any]:
    """One for each block: arrays give an array of them, frames a list.

    Frames are optimised first, so that of a file only what is needed is read. Arrays are not: it
    would take persisted results out of the graph.
    """
    frame = not hasattr(collection, "chunks") or hasattr(collection, "to_dask_array")
    promises = collection.to_delayed(optimize_graph=frame)
    return cast("list[Any]", np.asarray(promises, dtype=object).ravel().tolist())
