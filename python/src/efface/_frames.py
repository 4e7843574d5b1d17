"""Data frames as named columns of values, for models that fit their preprocessing themselves."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from ._errors import InputError

# Columns as the engine takes them: names, and values in one of the forms of `_engine.Table`.
Columns = list[tuple[str, Any]]


@dataclass(frozen=True)
class Framed:
    """A frame as named columns.

    Attributes
    ----------
    columns : list of (name, values)
        As the engine takes them.
    rows : int
        How many rows it has.
    """

    columns: Columns
    rows: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.rows, len(self.columns)

    def __len__(self) -> int:
        return self.rows


_UNITS = {"s": "s", "ms": "ms", "us": "us", "ns": "ns", "D": "D"}
_LARGEST = np.iinfo(np.int64).max


def is_frame(x: Any) -> bool:
    """Whether rows come in named columns, or as objects, and not as an array of numbers.

    Parameters
    ----------
    x : table
        As it was given.
    """
    if hasattr(x, "tocsr"):
        return False
    if hasattr(x, "columns") or type(x).__module__.startswith("pyarrow"):
        return True
    return getattr(np.asarray(x), "dtype", np.dtype(float)).kind in "OUSM"


def columns_of(x: Any, names: Any = None) -> Columns:
    """Return the columns of a frame with their values.

    Parameters
    ----------
    x : pandas, Polars or Arrow frame, or array of objects
        The rows.
    names : sequence of str, optional
        Names of the columns of an array; by default ``x0``, ``x1`` and so on.
    """
    module = type(x).__module__
    if module.startswith("polars"):
        return [(str(name), _polars(str(name), x[name])) for name in x.columns]
    if module.startswith("pyarrow"):
        return [
            (str(name), _arrow(str(name), column))
            for name, column in zip(x.schema.names, x.columns, strict=True)
        ]
    if hasattr(x, "iloc"):
        return [(str(name), _pandas(str(name), x.iloc[:, at])) for at, name in enumerate(x.columns)]
    if hasattr(x, "columns"):
        raise InputError(
            f"`X` must be a pandas, Polars or Arrow frame or an array, got {type(x).__name__}",
            code="data",
        )
    array = np.asarray(x)
    if array.ndim != 2:
        raise InputError(
            f"`X` must have 2 axes, rows and columns, got shape {array.shape}", code="data"
        )
    labels = [f"x{at}" for at in range(array.shape[1])] if names is None else list(names)
    return [(str(name), _array(str(name), array[:, at])) for at, name in enumerate(labels)]


def rows_of(x: Any) -> int:
    """Return how many rows a frame has."""
    return int(x.shape[0] if hasattr(x, "shape") else len(x))


def _array(name: str, values: Any) -> Any:
    """The values of a NumPy array, as the engine borrows or takes them."""
    kind = values.dtype.kind
    if kind == "b":
        return np.ascontiguousarray(values, dtype=np.bool_), None
    if kind in "iu":
        if values.dtype.itemsize == 8 and kind == "u" and values.size and values.max() > _LARGEST:
            return np.ascontiguousarray(values, dtype=np.float64)
        return np.ascontiguousarray(values, dtype=np.int64), None
    if kind == "f":
        single = values.dtype.itemsize <= 4
        return np.ascontiguousarray(values, dtype=np.float32 if single else np.float64)
    if kind == "M":
        unit, count = np.datetime_data(values.dtype)
        if unit not in _UNITS or count != 1:
            values, unit = values.astype("datetime64[us]"), "us"
        return np.ascontiguousarray(values).view(np.int64), unit
    if kind == "m":
        seconds = values.astype("timedelta64[us]").astype(np.float64) / 1e6
        return np.where(np.isnat(values), np.nan, seconds)
    if kind in "OUST":
        return _texts(name, values.tolist())
    raise InputError(f"column `{name}` has values of type {values.dtype}", code="data")


def _pandas(name: str, column: Any) -> Any:
    dtype = column.dtype
    kind = type(dtype).__name__
    if kind == "CategoricalDtype":
        words = [_text(name, word) or "" for word in dtype.categories.tolist()]
        return np.ascontiguousarray(column.cat.codes, dtype=np.int32), words
    if kind == "DatetimeTZDtype":
        return _array(name, column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
    if isinstance(dtype, np.dtype):
        return _array(name, column.to_numpy())
    if kind == "BooleanDtype":
        valid = np.ascontiguousarray(column.notna().to_numpy(), dtype=np.bool_)
        return column.fillna(value=False).to_numpy(dtype=np.bool_), valid
    if getattr(dtype, "kind", "O") in "iuf":
        if column.isna().any() or dtype.kind == "f":
            return column.to_numpy(dtype=np.float64, na_value=np.nan)
        return _array(name, column.to_numpy(dtype=dtype.numpy_dtype))
    return _texts(name, column.to_numpy(dtype=object, na_value=None).tolist())


def _polars(name: str, column: Any) -> Any:
    kind = type(column.dtype).__name__
    missing = bool(column.null_count())
    if kind in {"Categorical", "Enum"}:
        words = sorted(set(column.drop_nulls().to_list()))
        codes = {word: at for at, word in enumerate(words)}
        return np.array([codes.get(word, -1) for word in column.to_list()], dtype=np.int32), words
    if kind in {"Date", "Datetime"}:
        return _array(name, np.array(column.to_list(), dtype="datetime64[us]"))
    if kind == "Boolean":
        valid = ~np.asarray(column.is_null().to_numpy())
        return np.asarray(column.fill_null(value=False).to_numpy(), dtype=np.bool_), valid
    if kind == "Decimal" or column.dtype.is_numeric():
        values = column.cast(type(column.dtype) if kind != "Decimal" else float)
        array = values.to_numpy()
        if missing and array.dtype.kind != "f":
            array = np.array(column.to_list(), dtype=object)
            array = np.array([np.nan if one is None else one for one in array], dtype=np.float64)
        return _array(name, array)
    return _texts(name, column.to_list())


def _arrow(name: str, column: Any) -> Any:
    import pyarrow

    kind = column.type
    if pyarrow.types.is_dictionary(kind):
        words = sorted({_text(name, word) or "" for word in column.to_pylist()} - {""})
        codes = {word: at for at, word in enumerate(words)}
        found = [codes.get(_text(name, word) or "", -1) for word in column.to_pylist()]
        return np.array(found, dtype=np.int32), words
    if pyarrow.types.is_temporal(kind) and not pyarrow.types.is_duration(kind):
        times = [None if one is None else _utc(one) for one in column.to_pylist()]
        return _array(name, np.array(times, dtype="datetime64[us]"))
    numeric = pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)
    if numeric and not column.null_count:
        return _array(name, column.to_numpy())
    if numeric or pyarrow.types.is_decimal(kind):
        numbers = [np.nan if one is None else float(one) for one in column.to_pylist()]
        return np.array(numbers, dtype=np.float64)
    if pyarrow.types.is_boolean(kind):
        values = column.to_pylist()
        valid = np.array([one is not None for one in values], dtype=np.bool_)
        return np.array([bool(one) for one in values], dtype=np.bool_), valid
    return _texts(name, column.to_pylist())


def _utc(value: Any) -> Any:
    """A date or time without a zone, in UTC where it had one."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return value


def _texts(name: str, values: Iterable[Any]) -> list[str | None]:
    return [_text(name, value) for value in values]


def _text(name: str, value: Any) -> str | None:
    """A value of a column of mixed values as text; None where it is missing."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        number = float(value)
        return None if number != number else repr(number)
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if value != value or type(value).__name__ in {"NAType", "NaTType"}:
        return None
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, datetime.date | datetime.time):
        return str(_utc(value).isoformat())
    if isinstance(value, decimal.Decimal):
        return str(value)
    raise InputError(
        f"column `{name}` has a value of type {type(value).__name__}: {value!r:.60}",
        code="data",
        hint="values must be numbers, texts, truth values, dates or missing: make columns of them, "
        "or leave the column out",
    )
