"""Data frames as named columns of values, for models that fit their preprocessing themselves."""

from __future__ import annotations

import datetime
import decimal
import uuid
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, TypeVar

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
_HINT = (
    "values must be numbers, texts, truth values, dates, times or missing: make columns of them, "
    "or leave the column out"
)


def check_table(x: Any) -> None:
    """Refuse what is no table of rows and columns, and say what makes one of it.

    Parameters
    ----------
    x : any
        As it was given.
    """
    module, kind = type(x).__module__, type(x).__name__
    if hasattr(x, "tocsr"):  # some sparse matrices are dictionaries
        return
    if isinstance(x, dict) or getattr(getattr(x, "dtype", None), "names", None):
        hint = "`pandas.DataFrame(X)` is one"
    elif kind == "LazyFrame":
        hint = "`X.collect()` is one"
    elif kind == "Series" and module.startswith(("pandas", "polars")):
        row = "pandas.DataFrame([X])" if module.startswith("pandas") else "X.to_frame().transpose()"
        hint = f"`X.to_frame()` is one of one column, `{row}` one of one row"
    elif module.startswith("pyarrow") and not hasattr(x, "schema"):
        hint = '`pyarrow.table({"name": X})` is one of one column'
    elif x is None or isinstance(x, str | bytes):
        hint = "give an array or a data frame"
    else:
        return
    raise InputError(
        f"Expected a 2-dimensional container for `X`, rows and columns, got {kind}",
        code="data",
        hint=hint,
    )


def check_frame(x: Any, model: str) -> None:
    """Refuse a frame without rows or columns, or with a name for two columns.

    Parameters
    ----------
    x : frame or array of objects
        The rows to learn from.
    model : str
        What is to learn from them.
    """
    if rows_of(x) == 0:
        raise InputError(
            f"Found array with 0 sample(s) (shape={tuple(x.shape)}) while a minimum of 1 is "
            f"required by {model}.",
            code="data",
        )
    check_names(x)


def check_names(x: Any) -> None:
    """Refuse a frame that has an empty name, or one name for two columns.

    Parameters
    ----------
    x : frame or array of objects
        The rows.
    """
    names = x.schema.names if type(x).__module__.startswith("pyarrow") else None
    if names is None and hasattr(x, "columns"):
        names = x.columns
    counts = Counter(str(name) for name in (() if names is None else names))
    if "" in counts:
        raise InputError("`X` has a column with an empty name", code="data", hint="give it one")
    if twice := [name for name, count in counts.items() if count > 1]:
        raise InputError(
            f"`X` has {counts[twice[0]]} columns named `{twice[0]}`: names must be unique",
            code="data",
            hint="rename them, or leave one of them out",
        )


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
    return isinstance(x, np.ndarray) and x.dtype.kind in "OUSM"


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


def _array(name: str, values: Any, valid: Any = None) -> Any:
    """The values of a NumPy array, as the engine borrows or takes them.

    `valid` says which of truth values or whole numbers are there; None is all.
    """
    kind = values.dtype.kind
    if valid is not None:
        valid = np.ascontiguousarray(valid, dtype=np.bool_)
    if kind == "b":
        return np.ascontiguousarray(values, dtype=np.bool_), valid
    if kind in "iu":
        if values.dtype.itemsize == 8 and kind == "u" and values.size and values.max() > _LARGEST:
            digits = np.array([str(value) for value in values.tolist()], dtype=object)
            if valid is not None:
                digits[~valid] = None
            return digits.tolist()
        return np.ascontiguousarray(values, dtype=np.int64), valid
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
        return _mixed(name, values.tolist())
    raise InputError(f"column `{name}` has values of type {values.dtype}", code="data", hint=_HINT)


def _pandas(name: str, column: Any) -> Any:
    dtype = column.dtype
    kind = type(dtype).__name__
    if kind == "CategoricalDtype":
        words = _words(name, dtype.categories.tolist())
        return np.ascontiguousarray(column.cat.codes, dtype=np.int32), words
    if kind == "SparseDtype":
        return _pandas(name, column.sparse.to_dense())
    if kind == "PeriodDtype":
        return _array(name, column.dt.to_timestamp().to_numpy())
    if kind == "DatetimeTZDtype":
        return _array(name, column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy())
    if isinstance(dtype, np.dtype):
        return _array(name, column.to_numpy())
    if getattr(dtype, "kind", "O") == "f":
        return column.to_numpy(dtype=np.float64, na_value=np.nan)
    if getattr(dtype, "kind", "O") in "biu":
        filled = column.fillna(0 if dtype.kind in "iu" else False)
        return _array(name, filled.to_numpy(dtype=dtype.numpy_dtype), column.notna().to_numpy())
    return _mixed(name, column.astype(object).to_numpy(dtype=object).tolist())


def _polars(name: str, column: Any) -> Any:
    kind = type(column.dtype).__name__
    if kind in {"Categorical", "Enum"}:
        words = sorted(set(column.drop_nulls().to_list()))
        codes = {word: at for at, word in enumerate(words)}
        return np.array([codes.get(word, -1) for word in column.to_list()], dtype=np.int32), words
    if kind in {"Date", "Datetime"}:
        if getattr(column.dtype, "time_zone", None) is not None:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return _array(name, column.to_numpy())
    if kind == "Boolean" or (column.dtype.is_integer() and kind not in {"Int128", "UInt128"}):
        filled = column.fill_null(value=False if kind == "Boolean" else 0)
        return _array(name, filled.to_numpy(), column.is_not_null().to_numpy())
    if column.dtype.is_float():
        return _array(name, column.to_numpy())
    return _mixed(name, column.to_list())


def _arrow(name: str, column: Any) -> Any:
    import pyarrow

    kind = column.type
    if pyarrow.types.is_dictionary(kind):
        cells = _words(name, column.to_pylist())
        words = sorted(set(cells) - {""})
        codes = {word: at for at, word in enumerate(words)}
        return np.array([codes.get(word, -1) for word in cells], dtype=np.int32), words
    if pyarrow.types.is_date(kind) or pyarrow.types.is_timestamp(kind):
        times = [None if one is None else _utc(one) for one in column.to_pylist()]
        return _array(name, np.array(times, dtype="datetime64[us]"))
    if pyarrow.types.is_floating(kind):
        return _array(name, column.to_numpy())
    if pyarrow.types.is_integer(kind) or pyarrow.types.is_boolean(kind):
        empty = pyarrow.scalar(0).cast(kind)
        return _array(name, column.fill_null(empty).to_numpy(), column.is_valid().to_numpy())
    return _mixed(name, column.to_pylist())


def _utc(value: Any) -> Any:
    """A date or time without a zone, in UTC where it had one."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return value


def _mixed(name: str, values: list[Any]) -> Any:
    """Values of Python's own types. None of them decides what the engine makes of another."""
    cells = [_cell(name, value) for value in values]
    texts = [None if isinstance(cell, float) else cell for cell in cells]
    texts = check_unicode(f"column `{name}`", texts)
    if not any(isinstance(cell, float) for cell in cells):
        return texts
    numbers = [cell if isinstance(cell, float) else np.nan for cell in cells]
    return texts, np.array(numbers, dtype=np.float64)


def _words(name: str, values: Iterable[Any]) -> list[str]:
    """The texts of categories, empty for none: whole numbers have no decimal point in any type."""
    cells = [_cell(name, value) for value in values]
    texts = [
        np.format_float_positional(cell + 0.0, trim="-") if isinstance(cell, float) else cell or ""
        for cell in cells
    ]
    return check_unicode(f"column `{name}`", texts)


_Texts = TypeVar("_Texts", list[str], list[str | None])


def check_unicode(what: str, texts: _Texts) -> _Texts:
    """Return texts as they are; refuse those that cannot be encoded.

    Parameters
    ----------
    what : str
        What has them, in messages.
    texts : list of str or None
        One for each row.
    """
    try:
        "".join(text for text in texts if text).encode()
    except UnicodeEncodeError:
        row = next(at for at, text in enumerate(texts) if text and not _is_unicode(text))
        raise InputError(
            f"{what} has a text in row {row} that is not valid Unicode: {texts[row]!r:.60}",
            code="data",
            hint='replace what cannot be encoded: `text.encode(errors="replace").decode()`',
        ) from None
    return texts


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_missing(value: Any) -> bool:
    """Whether a value of a column of mixed values says that there is none.

    Parameters
    ----------
    value : any
        One of the values.
    """
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(value, decimal.Decimal):
        return value.is_nan()
    number = isinstance(value, Real | np.datetime64 | np.timedelta64)
    return number and bool(value != value)


def _cell(name: str, value: Any) -> str | float | None:
    """A value of a column of mixed values; None where it is missing.

    Whole numbers are their digits, and durations and times of day are seconds.
    """
    if value is None or isinstance(value, str):
        return value
    if is_missing(value):
        return None
    if isinstance(value, bool | np.bool_ | Integral):
        return str(int(value))
    if isinstance(value, Real | decimal.Decimal):
        return float(value)
    if isinstance(value, datetime.timedelta):
        return float(value // datetime.timedelta(microseconds=1)) / 1e6
    if isinstance(value, datetime.time):
        whole = 3600 * value.hour + 60 * value.minute + value.second
        return whole + value.microsecond / 1e6
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if type(value).__name__ == "Period":
        value = value.start_time
    if isinstance(value, datetime.date):
        return str(_utc(value).isoformat())
    if isinstance(value, uuid.UUID) or type(value).__name__ == "Interval":
        return str(value)
    raise InputError(
        f"column `{name}` has a value of type {type(value).__name__}: {value!r:.60}",
        code="data",
        hint=_HINT,
    )
