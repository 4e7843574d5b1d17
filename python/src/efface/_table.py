"""Arrays as the engine takes them."""

from __future__ import annotations

import contextlib
import datetime
import importlib.util
import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from . import _engine
from ._errors import InputError
from ._frames import Columns, check_unicode, is_missing
from ._targets import names_of

# Texts that the engine reads as numbers.
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def table(
    x: Any,
    y: Any = None,
    *,
    ids: Iterable[Any] | None = None,
    subjects: Iterable[Any] | None = None,
    sample_weight: Any = None,
    names: Sequence[str] | None = None,
    classes: Iterable[Any] | None = None,
    schema: str | None = None,
    columns: Columns | None = None,
    target_names: Sequence[str] | None = None,
    new_classes: bool = False,
) -> _engine.Table:
    """Lend arrays to the engine; what has the right type and layout is not copied.

    Parameters
    ----------
    x : array (rows, columns) or SciPy sparse matrix
        Numbers. float32 and float64 in C order, and CSR with sorted indices, are taken as they
        are.
    y : array (rows,) or (rows, targets), optional
        Classes (whole numbers, booleans or strings) or numbers; of several targets, numbers.
    ids, subjects : iterable of str or int, optional
        One for each row; an array of int64 is taken as it is.
    sample_weight : array (rows,), optional
        How often each record counts, 0 or more.
    names : sequence of str, optional
        Names of the columns.
    classes : iterable, optional
        The classes as public knowledge, the positive one of two last.
    schema : str, optional
        The text of a schema.
    columns : list, optional
        Named columns in the place of `x`, for fitted preprocessing.
    target_names : sequence of str, optional
        Names of several targets; by default those of the columns of `y`, or `y0`, `y1` and so on.
    new_classes : bool, optional
        Whether added rows may bring classes near known ones, or a third one.
    """
    named = {"ids": ids, "subjects": subjects, "sample_weight": sample_weight}
    check_aligned({"X": x, "y": y, **named})
    return _engine.Table(
        _rows(x) if columns is None else columns,
        y=None if y is None else _labels(y, target_names),
        ids=None if ids is None else _column("ids", ids),
        subjects=None if subjects is None else _column("subjects", subjects),
        weights=None if sample_weight is None else _weights(sample_weight),
        names=None if names is None or columns is not None else [str(name) for name in names],
        classes=None if classes is None else [class_name(value) for value in classes],
        schema=schema,
        new_classes=new_classes,
    )


def index_of(values: Any) -> Any:
    """Return the index of a frame or series of pandas, or of its like; None if there is none."""
    index: Any = getattr(values, "index", None)
    if hasattr(index, "compute"):  # of a Dask collection
        index = index.compute()
    return index if hasattr(index, "equals") else None


def check_aligned(given: Mapping[str, Any], *, hint: str | None = None) -> dict[str, Any]:
    """Refuse rows and what belongs to them if their indexes differ; return the indexes by name.

    Parameters
    ----------
    given : mapping
        The rows, and what has one value for each of them, by names for messages. Whatever has no
        index goes by position.
    hint : str, optional
        What to do, if pandas cannot align them here.

    Raises
    ------
    InputError
        If two of the indexes have different labels, or the same in another order.
    """
    found = {name: index_of(values) for name, values in given.items()}
    indexes = {name: index for name, index in found.items() if index is not None}
    first = next(iter(indexes), "")
    for other in indexes:
        one, two = indexes[first], indexes[other]
        if one is two or one.equals(two):
            continue
        usual = f"give `{other}.to_numpy()` if it is in the order of the rows"
        if two.is_unique and set(one) <= set(two):
            usual = f"align it: `{other}.reindex({first.split()[-1]}.index)`; or {usual}"
        raise InputError(
            f"`{first}` and `{other}` have different indexes, so it is unclear which of their rows "
            "belong together",
            code="data",
            hint=hint or usual,
        )
    return indexes


def table_of_stream(x: Any) -> Any:
    """Return an Arrow table of what has Arrow's interface for streams."""
    if importlib.util.find_spec("pyarrow") is None:
        raise InputError(
            f"reading {type(x).__name__} as an Arrow stream needs pyarrow",
            code="data",
            hint="`pip install pyarrow`, or give a NumPy array or a data frame",
        )
    import pyarrow

    return x if isinstance(x, pyarrow.Table) else pyarrow.table(x)


def _column(what: str, values: Iterable[Any]) -> Any:
    if isinstance(values, np.ndarray) and values.dtype == np.int64 and values.ndim == 1:
        return _laid_out(values, np.int64)
    return keys(what, values)


def keys(what: str, values: Iterable[Any] | str) -> list[str]:
    """Return ids or subjects as texts.

    Whole numbers in decimal, strings as they are, dates and times as in ISO 8601, UUIDs in their
    usual form.
    """
    if isinstance(values, str | bytes):
        values = [values]
    return check_unicode(what, [_key(what, value) for value in values])


def _key(what: str, value: Any) -> str:
    if isinstance(value, str):
        return str(value)
    if what == "subjects" and is_missing(value):
        return ""  # which the engine takes for nobody, or refuses
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return str(int(value))
    if isinstance(value, datetime.date) and value == value:  # not pandas' NaT
        return value.isoformat()
    if isinstance(value, uuid.UUID):
        return str(value)
    lossy = isinstance(value, float | np.floating)
    raise InputError(
        f"`{what}` must be strings or whole numbers, got {value!r} of type {type(value).__name__}",
        code="ids",
        hint="floating-point numbers lose digits of large ids: keep them as whole numbers, of "
        f'pandas as `{what}.astype("Int64")`, or as texts'
        if lossy
        else None,
    )


def _laid_out(array: Any, kind: Any) -> Any:
    """The array as the engine borrows it; one that came over a wire may lie askew in memory."""
    return np.require(array, kind, ["C_CONTIGUOUS", "ALIGNED"])


_TRUTHS = ("False", "True")  # the names of truth values


def class_name(value: Any) -> str:
    """Return the name of a class: a number is named by its shortest decimal form."""
    if isinstance(value, float | np.floating):
        return np.format_float_positional(float(value) + 0.0, trim="-")
    return str(value)


def number_of(name: str) -> int | float | None:
    """Return the number that has this name; None for other texts, such as ``"01"``."""
    if _NUMBER.fullmatch(name) is None:
        return None
    try:
        number: int | float = int(name)
    except ValueError:
        number = float(name)
    return number if class_name(number) == name else None


def name_of_label(label: Any) -> str:
    """Return the name that the engine keeps for a label; `label_named` gives the label again.

    The engine takes spaces from around a name and gives truth values of any case one name, as
    files of text need it. A text that would not come back as it was goes in quotes.
    """
    name = class_name(label)
    if not isinstance(label, str):
        return name
    plain = name != "" and name == name.strip() and not name.startswith('"')
    plain = plain and (name in _TRUTHS or name.capitalize() not in _TRUTHS)
    return name if plain else json.dumps(name, ensure_ascii=False)


def label_named(name: str) -> str:
    """Return the text that the engine has under a name."""
    if name.startswith('"'):
        with contextlib.suppress(ValueError):
            label = json.loads(name)
            if isinstance(label, str) and name_of_label(label) == name:
                return label
    return name


def _rows(x: Any) -> Any:
    if hasattr(x, "tocsr"):
        matrix = x.tocsr()
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        return (
            _laid_out(matrix.indptr, np.int64),
            _laid_out(matrix.indices, np.int32),
            _numbers(matrix.data),
            int(matrix.shape[1]),
        )
    array = np.asarray(x)
    if array.ndim != 2:
        raise InputError(
            f"`X` must have 2 axes, rows and columns, got shape {array.shape}", code="data"
        )
    return _numbers(array)


def _numbers(array: Any) -> Any:
    kind = array.dtype.kind
    if kind not in "fiub":
        raise InputError(f"`X` must contain numbers, got {array.dtype}", code="data")
    wanted = np.float32 if array.dtype == np.float32 else np.float64
    return _laid_out(array, wanted)


def _weights(values: Any) -> Any:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "fiub":
        raise InputError(
            f"`sample_weight` must be one number for each record, got {array.dtype} of shape "
            f"{array.shape}",
            code="data",
        )
    return _laid_out(array, np.float64)


def _labels(y: Any, target_names: Sequence[str] | None) -> Any:
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim == 2 and array.shape[1] > 1:
        if array.dtype.kind not in "fiub":
            found = "mixed values" if array.dtype.kind == "O" else array.dtype
            raise InputError(f"several targets must be numbers, got {found}", code="data")
        names = names_of(y) if target_names is None else target_names
        return _laid_out(array, np.float64), list(names)
    if array.ndim != 1:
        raise InputError(f"`y` must have 1 axis, got shape {array.shape}", code="data")
    if array.dtype.kind in "iub":
        return _laid_out(array, np.int64)
    if array.dtype.kind == "f":
        return _laid_out(array, np.float64)
    values = cast("list[Any]", array.tolist())
    if not all(isinstance(value, str) for value in values):
        found = "mixed values" if array.dtype.kind == "O" else array.dtype
        raise InputError(
            f"`y` must contain whole numbers, booleans, strings or numbers, got {found}",
            code="data",
        )
    return check_unicode("y", values)
