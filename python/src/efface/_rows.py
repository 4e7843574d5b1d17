"""Tables of other libraries as arrays, and what names their rows."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np

from ._errors import InputError
from ._table import keys


def as_table(x: Any) -> Any:
    """Return what scikit-learn can read: most things as they are, Arrow streams as a table.

    A single column of lists of one length, as embeddings are stored, becomes a matrix; of an Arrow
    table that is in one piece it is not copied.
    """
    if hasattr(x, "__arrow_c_stream__") and not hasattr(x, "__array__"):
        if importlib.util.find_spec("pyarrow") is None:
            raise InputError(
                f"reading {type(x).__name__} as an Arrow stream needs pyarrow",
                code="data",
                hint="`pip install pyarrow`, or give a NumPy array or a data frame",
            )
        import pyarrow

        x = pyarrow.table(x)
    module = type(x).__module__
    if module.startswith("pyarrow") and getattr(x, "num_columns", 0) == 1:
        return _lists_of_arrow(x)
    if module.startswith("polars") and getattr(x, "width", 0) == 1:
        only = x.to_series(0)
        return only.to_numpy() if type(only.dtype).__name__ == "Array" else x
    return x


def _lists_of_arrow(table: Any) -> Any:
    import pyarrow

    column = table.column(0)
    if not pyarrow.types.is_fixed_size_list(column.type) or column.null_count:
        return table
    if isinstance(column, pyarrow.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    numbers = column.flatten().to_numpy(zero_copy_only=False)
    return numbers.reshape(len(column), column.type.list_size)


def labels_of(x: Any, y: Any = None) -> Any:
    """Return the labels of the rows where a pandas index holds some, else None.

    An index that merely counts from 0 says nothing that positions do not.
    """
    given = [index for index in (_index(x), _index(y)) if index is not None]
    if len(given) == 2 and not given[0].equals(given[1]):
        raise InputError(
            "`X` and `y` have different indexes, so it is unclear which of them names the records",
            code="ids",
            hint="give `ids`, or take one index for both",
        )
    return None if not given or _counts(given[0]) else given[0]


def _index(x: Any) -> Any:
    """The index of a pandas frame or series."""
    return x.index if type(x).__module__.startswith("pandas") and hasattr(x, "index") else None


def _counts(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


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


def texts(what: str, values: Any) -> list[str]:
    """Return ids or subjects as texts, for requests that name them."""
    found = column(what, values)
    return [str(value) for value in found.tolist()] if isinstance(found, np.ndarray) else found
