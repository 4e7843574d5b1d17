"""Tables of other libraries as arrays, and what names their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ._errors import DuplicateRecord, InputError, SettingsWarning, UnknownRecord, warn
from ._frames import Framed, check_table
from ._table import keys, table_of_stream

# White space by Unicode; Python's own `strip` takes four separators more.
_SPACES = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)


def as_table(x: Any) -> Any:
    """Return what scikit-learn can read: most things as they are, Arrow streams as a table.

    A single column of lists of one length, as embeddings are stored, becomes a matrix; of an Arrow
    table that is in one piece it is not copied.
    """
    check_table(x)
    if hasattr(x, "__arrow_c_stream__") and not hasattr(x, "__array__"):
        x = table_of_stream(x)
    module = type(x).__module__
    if module.startswith("pyarrow") and getattr(x, "num_columns", 0) == 1:
        return _lists_of_arrow(x)
    if module.startswith("polars") and getattr(x, "width", 0) == 1:
        only = x.to_series(0)
        return only.to_numpy() if type(only.dtype).__name__ == "Array" else x
    return x


@contextmanager
def words_named(x: Any, asked: Callable[[], str | None]) -> Iterator[None]:
    """If scikit-learn finds a word in a data frame, name its column and say what to do.

    Parameters
    ----------
    x : table
        As it was given.
    asked : callable
        The setting that asks for declared preprocessing; None where none does.
    """
    try:
        yield
    except ValueError as error:
        frame = type(x).__module__.startswith(("pandas", "polars")) and hasattr(x, "columns")
        if not frame or not str(error).startswith("could not convert string to float"):
            raise
        name = next((name for name in x.columns if _holds_words(x[name])), None)
        if name is None:
            raise
        setting = asked()
        fitted = (
            'use `preprocess="fitted"`, which encodes words'
            if setting is None
            else f"leave out {setting}, which goes with declared preprocessing: without it "
            "preprocessing is fitted to the records and encodes words"
        )
        raise InputError(
            f"{error}; column `{name}` holds words",
            code="data",
            hint=f'if it names records or people, say `ids="{name}"` or `subjects="{name}"`; as a '
            f"feature, {fitted}; or encode it with `OneHotEncoder(categories=...)` in a pipeline, "
            "or leave it out",
        ) from None


def _holds_words(column: Any) -> bool:
    try:
        np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        return True
    return False


def _lists_of_arrow(table: Any) -> Any:
    import pyarrow

    column = table.column(0)
    if not pyarrow.types.is_fixed_size_list(column.type) or column.null_count:
        return table
    if isinstance(column, pyarrow.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    numbers = column.flatten().to_numpy(zero_copy_only=False)
    return numbers.reshape(len(column), column.type.list_size)


def labels_of(indexes: Mapping[str, Any], next_row: Callable[[], int | None] | None = None) -> Any:
    """Return the labels of the rows if the index of rows or targets holds some, else None.

    An index that merely counts from 0 says nothing that positions do not, and neither does one that
    counts on from the rows of a model that names its records by position.

    Parameters
    ----------
    indexes : mapping
        Those of rows, targets and what belongs to them, by name.
    next_row : callable, optional
        The number that the model gives to the next row, None if it has names for records.
    """
    first = next((name for name in ("X", "y") if name in indexes), None)
    if first is None or _counts(indexes[first]):
        return None
    if next_row is not None and (start := next_row()) is not None:
        if _counts(indexes[first], start):
            return None
        raise InputError(
            f"the index of `{first}` names the rows, but the records of this model are named by "
            f"position, and the next is `row:{start}`",
            code="ids",
            hint=f"name them by position: `{first}.reset_index(drop=True)`",
        )
    _check_index(first, indexes[first])
    return indexes[first]


def _check_index(name: str, index: Any) -> None:
    """Refuse an index that cannot name records; the caller did not ask for its use."""
    hint = f"give `ids`, or name them by position: `{name}.reset_index(drop=True)`"
    try:
        keys("ids", index.tolist())
    except InputError:
        kind = "several levels" if index.nlevels > 1 else f"values of type {index.dtype}"
        raise InputError(
            f"the index of `{name}` has {kind}: names of records are strings, whole numbers, "
            "dates or UUIDs",
            code="ids",
            hint=hint,
        ) from None
    if not index.is_unique:
        twice = index[index.duplicated()].tolist()[0]
        raise DuplicateRecord(
            f"the index of `{name}` has {twice!r} more than once: record names must be unique",
            code="duplicate-id",
            hint=hint,
        )


def _counts(index: Any, start: int = 0) -> bool:
    """Whether an index merely counts, from 0 or from the number of the first row."""
    return type(index).__name__ == "RangeIndex" and index.start == start and index.step == 1


def skipping(
    serve: Callable[..., Any], request: dict[str, Any], *, skip_unknown: bool
) -> tuple[Any, tuple[str, ...]]:
    """Serve a request, without the names that are unknown if that is wanted.

    Parameters
    ----------
    serve : callable
        Takes the request's keywords.
    request : dict
        What :func:`asked` returned.
    skip_unknown : bool
        Whether to pass over unknown names, unless all are unknown.

    Returns
    -------
    tuple
        What `serve` returned, and the names that were passed over.
    """
    try:
        return serve(**request), ()
    except UnknownRecord as error:
        known = without(request, error.names)
        if not skip_unknown or not any(known.values()):
            raise
        return serve(**known), error.names


def warn_of_rounding(x: Any) -> None:
    """Warn of columns that vary in double precision and not in single, as arrays are kept.

    The first rows are looked at.
    """
    if not isinstance(x, np.ndarray) or x.dtype != np.float64 or len(x) == 0:
        return
    first = x[:1000]
    with np.errstate(over="ignore", invalid="ignore"):
        kept = np.ptp(first.astype(np.float32), axis=0)
        varies = np.ptp(first, axis=0) > 4 * np.finfo(float).eps * np.abs(first[0])
    if (lost := np.flatnonzero(varies & (kept == 0))).size:
        columns = ", ".join(f"`{column}`" for column in lost[:10])
        warn(
            "the numbers of an array are kept in single precision, which makes columns constant "
            f"(counted from 0): {columns}; subtract a public constant, or give a data frame",
            SettingsWarning,
        )


def precision_of(x: Any) -> Any:
    """Return the type of number that predictions for rows like these have."""
    return np.dtype(np.float64) if isinstance(x, Framed) else x.dtype


def size_of(x: Any) -> int:
    """Return roughly how many bytes the rows of a checked table have in a vault."""
    if isinstance(x, Framed):
        return 8 * x.rows * len(x.columns)
    return int(8 * x.nnz if hasattr(x, "nnz") else 4 * x.size)


def column(what: str, values: Any) -> Any:
    """Return ids or subjects as the engine takes them: int64 or texts.

    Parameters
    ----------
    what : str
        Their name in messages.
    values : scalar, array, series, index or iterable
        Whole numbers, strings, dates or UUIDs.
    """
    for way in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, way) and not isinstance(values, np.ndarray):
            values = getattr(values, way)()
            break
    if np.ndim(values) == 0 and not hasattr(values, "__iter__"):
        values = [values]
    if isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise InputError(f"`{what}` must have 1 axis, got shape {values.shape}", code="ids")
        if values.dtype.kind == "i" or (values.dtype.kind == "u" and values.dtype.itemsize < 8):
            return np.ascontiguousarray(values, dtype=np.int64)
    elif hasattr(values, "columns") or isinstance(values, dict):
        raise InputError(
            f"`{what}` must be one value for each record, got {type(values).__name__}", code="ids"
        )
    return keys(what, values)


def without(names: dict[str, list[str]], unknown: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the names of a request but for those that are unknown."""
    gone = set(unknown)
    return {what: [name for name in given if name not in gone] for what, given in names.items()}


def asked(
    names: Any, ids: Any, subjects: Any, has_subjects: Callable[[], bool]
) -> dict[str, list[str]]:
    """Return the names that a request is about, under what they name.

    Parameters
    ----------
    names : str, int or iterable of them, or None
        Names that were given without saying what they name: ids, unless the model has subjects,
        of which one may have the name of a record.
    ids, subjects : str, int or iterable of them, or None
        Names of records, or of people.
    has_subjects : callable
        Whether the model, or one of the models asked, has subjects.
    """
    given = {"ids": ids, "subjects": subjects}
    if names is not None:
        _check_names(names)
        if ids is not None or subjects is not None or has_subjects():
            raise InputError(
                "names were given without saying whether they are of records or of people",
                code="usage",
                hint="give `ids=[...]` for single records, or `subjects=[...]` for all records of "
                "these people",
            )
        given["ids"] = names
    wanted = {what: values for what, values in given.items() if values is not None}
    if len(wanted) != 1:
        raise InputError("give either `ids` or `subjects`", code="usage")
    return {what: texts(what, values) for what, values in wanted.items()}


def _check_names(names: Any) -> None:
    """Refuse rows in the place of their names."""
    if np.ndim(names) <= 1 and not hasattr(names, "columns"):
        return
    raise InputError(
        f"records are forgotten by their names, got {type(names).__name__} of shape "
        f"{np.shape(names)}",
        code="usage",
        hint="give `ids=[...]`, such as `X.index[rows]` of a data frame whose index names the "
        'records, or `"row:K"` where nothing does, K counted from 0',
    )


def texts(what: str, values: Any) -> list[str]:
    """Return ids or subjects as texts, for requests that name them."""
    found = column(what, values)
    # As the engine reads them from a table.
    return [str(value).strip(_SPACES) for value in found]
