"""Several targets of a regression: a table of numbers in the place of one for each row."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import InputError


def is_table(y: Any) -> bool:
    """Whether targets have two axes, of one column or more."""
    return len(_shape(y)) == 2


def columns(y: Any) -> int:
    """Return how many targets each row has."""
    shape = _shape(y)
    return int(shape[1]) if len(shape) == 2 else 1


def _shape(y: Any) -> tuple[int, ...]:
    shape = getattr(y, "shape", None)
    if isinstance(shape, tuple):
        return shape
    try:
        return np.asarray(y).shape
    except (TypeError, ValueError):  # ragged or none, which scikit-learn refuses in its own words
        return ()


def names_of(y: Any) -> list[str]:
    """Return the names of the columns of a frame or an Arrow table, else `y0`, `y1` and so on."""
    names = getattr(y, "column_names", None)
    if names is None and hasattr(y, "columns") and not callable(y.columns):
        names = list(y.columns)
    if names is None:
        return unnamed(columns(y))
    texts = [str(name) for name in names]
    if len(set(texts)) != len(texts):
        raise InputError(
            f"two targets have one name: {', '.join(f'`{name}`' for name in texts)}",
            code="data",
            hint="give each column of `y` a name of its own",
        )
    return texts


def unnamed(count: int) -> list[str]:
    """Return what targets without names are called."""
    return [f"y{at}" for at in range(count)]


def check_plain(y: Any) -> None:
    """Refuse texts among the targets that do not spell a number as Python writes it."""
    array = np.asarray(y)
    if array.dtype.kind not in "OUST":
        return
    for value in array.ravel().tolist():
        if not isinstance(value, str):
            continue
        try:
            float(value)
        except ValueError:
            raise InputError(
                f"`y` must be numbers, got the text {value!r}",
                code="data",
                hint="write targets as plain numbers, such as `1234.5`: with a decimal point, and "
                "without currencies, percent signs and separators of thousands",
            ) from None


def check_like(y: Any, names: list[str]) -> None:
    """Refuse targets other than those that a model has, or in another order."""
    if not is_table(y) or columns(y) != len(names):
        raise InputError(
            f"`y` must have {len(names)} columns as at `fit`, got shape {_shape(y)}",
            code="data",
            hint=f"the targets are {', '.join(f'`{name}`' for name in names)}",
        )
    given = names_of(y)
    without = unnamed(len(names))
    if given != names and without not in (given, names):
        raise InputError(
            f"the columns of `y` must be {', '.join(f'`{name}`' for name in names)} as at `fit`, "
            f"got {', '.join(f'`{name}`' for name in given)}",
            code="data",
            hint="give them under these names and in this order",
        )
