"""Columns of a frame that name or weigh its records, and are not learnt from."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._errors import InputError
from ._table import table_of_stream


@dataclass(frozen=True)
class Taken:
    """A table without the columns that play another part, and their values.

    Attributes
    ----------
    X : table
        The columns that are learnt from.
    values : dict
        By part (``"ids"``, ``"subjects"``, ``"sample_weight"``) what was given, or the values of
        the column that was named.
    names : dict of str
        By part the name of the column, for parts that a column plays.
    """

    X: Any
    values: dict[str, Any]
    names: dict[str, str]


def taken(X: Any, given: Mapping[str, Any], usual: Mapping[str, str] | None = None) -> Taken:
    """Take the columns that ids, subjects or weights are in out of a frame.

    Parameters
    ----------
    X : table
        As it was given.
    given : mapping
        By part the values, one for each row, or the name of a column, or None.
    usual : mapping, optional
        The columns of the table that the model was trained on, for parts that are not given now.
        They are left out of `X` in any case.

    Raises
    ------
    InputError
        If `X` has no such column.
    """
    usual = usual or {}
    wanted = {part: value for part, value in given.items() if isinstance(value, str)}
    if not (wanted or usual):
        return Taken(X, dict(given), {})
    X = _named(X)
    columns = _columns_in(X)
    if columns is None:
        if not wanted or _is_one_row(X):
            return Taken(X, dict(given), {})
        part, name = next(iter(wanted.items()))
        raise InputError(
            f"`{part}={name!r}` names a column, but `X` has no named columns",
            code="data",
            hint=f"give `{part}` as one value for each row, or `X` as a data frame",
        )
    for part, name in usual.items():
        if given.get(part) is None:
            if name not in columns:
                raise InputError(
                    f"`{part}` of this model are in the column `{name}`, which `X` does not have",
                    code="data",
                    hint=f"add the column, or give `{part}` as one value for each row",
                )
            wanted[part] = name
    for part, name in wanted.items():
        _check(part, name, columns)
    values = {**given, **{part: X[columns[name]] for part, name in wanted.items()}}
    return Taken(without(X, [*wanted.values(), *usual.values()]), values, wanted)


def without(X: Any, names: list[str]) -> Any:
    """Return a frame without these columns, of which it may lack some.

    Parameters
    ----------
    X : table
        Anything; an array is returned as it is.
    names : list of str
        Names of columns.
    """
    X = _named(X) if names else X
    columns = (_columns_in(X) if names else None) or {}
    present = [columns[name] for name in dict.fromkeys(names) if name in columns]
    if not present:
        return X
    if type(X).__module__.startswith("pyarrow"):
        return X.drop_columns(present)
    return X.drop(present) if type(X).__module__.startswith("polars") else X.drop(columns=present)


def _named(X: Any) -> Any:
    """The same, as an Arrow table where it is a stream or a batch, which may be read once only."""
    batch = type(X).__module__.startswith("pyarrow") and hasattr(X, "schema")
    stream = hasattr(X, "__arrow_c_stream__") and not hasattr(X, "__array__")
    return table_of_stream(X) if batch or stream else X


def _columns_in(X: Any) -> dict[str, Any] | None:
    """The columns of a frame by their names as texts; None for what has no names."""
    if type(X).__module__.startswith("pyarrow"):
        return {name: name for name in X.schema.names} if hasattr(X, "schema") else None
    return {str(name): name for name in X.columns} if hasattr(X, "columns") else None


def _check(part: str, name: str, columns: Mapping[str, Any]) -> None:
    if name in columns:
        return
    close = difflib.get_close_matches(name, columns, n=1)
    few = ", ".join(f"`{column}`" for column in list(columns)[:8])
    more = f" and {len(columns) - 8} more" if len(columns) > 8 else ""
    raise InputError(
        f"`{part}={name!r}` names a column, but `X` has none of that name"
        + (f"; did you mean `{close[0]}`?" if close else ""),
        code="data",
        hint=f"its columns are {few}{more}; values are given in a list, one for each row",
    )


def _is_one_row(X: Any) -> bool:
    shape = getattr(X, "shape", None)
    return bool(shape and shape[0] == 1) or (isinstance(X, list) and len(X) == 1)
