"""What stands around a fit: pipelines that fitted transformers, searches that chose settings.

scikit-learn tells an estimator nothing about either, so the calls in progress are looked at. What
cannot be seen this way (a scaler applied by hand, settings tried in a notebook) stays with the
limits that every certificate states.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ._errors import NotCoveredWarning, warn

# The longest line that the engine takes, less the words around a list of names.
_LONGEST = 110


def limits_of_calls() -> list[str]:
    """Return what certificates must say they do not cover, and warn about it."""
    fitted: list[str] = []
    choosers: list[str] = []
    for caller in _callers():
        fitted += [name for name in _fitted_before(caller) if name not in fitted]
        if _chooses(caller):
            choosers.append(type(caller).__name__)
    lines = []
    if fitted:
        names = _joined(fitted)
        lines.append(f"preprocessing: not covered; fitted on the records before the model: {names}")
        warn(
            f"{names} was fitted on the records before the model: what it learnt from a record "
            "remains when the record is forgotten, and certificates say so; leave it out where the "
            'model\'s own preprocessing does (`preprocess="fitted"`), or fit it on public data '
            "and put it into the pipeline as `sklearn.frozen.FrozenEstimator`, or use a "
            "transformer that learns nothing",
            NotCoveredWarning,
        )
    if choosers:
        names = _joined(list(dict.fromkeys(choosers)))
        lines.append(f"selection: not covered; {names} chose by results on the records")
    return lines


def source_of(x: Any, y: Any) -> Any:
    """Return the table with an index that a pipeline in progress made the rows of `x` from.

    None where there is none, or where rows may have come or gone on the way: the targets that the
    pipeline was given must be those that arrive.
    """
    from sklearn.pipeline import Pipeline

    for caller, given in _fits():
        table, targets = given.get("X"), given.get("y")
        if table is x:  # passed on, with the same targets or others made of them
            y = targets
        elif type(caller) is not Pipeline or len(y) != _length(table) or not _same(targets, y):
            return None
        elif type(table).__module__.startswith("pandas"):
            return table
        else:
            x = table
    return None


def tables_given() -> Iterator[Any]:
    """The rows that methods named `fit...` that are at work were given, the nearest first."""
    for _, given in _fits():
        yield given.get("X")


def _length(table: Any) -> int:
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)


def _same(one: Any, other: Any) -> bool:
    return one is other or bool(np.array_equal(np.asarray(one), np.asarray(other)))


def _callers() -> Iterator[Any]:
    """The objects whose methods named `fit...` are at work, the nearest first."""
    seen: set[int] = set()
    for caller, _ in _fits():
        if id(caller) not in seen:
            seen.add(id(caller))
            yield caller


def _fits() -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Methods named `fit...` that are at work, the nearest first, each with its variables."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_name.startswith("fit"):
            given = frame.f_locals
            if given.get("self") is not None:
                yield given["self"], given
        frame = frame.f_back  # type: ignore[assignment]


def _fitted_before(caller: Any) -> list[str]:
    from sklearn.pipeline import Pipeline

    if not isinstance(caller, Pipeline):
        return []
    return [name for _, step in caller.steps[:-1] for name in _names(step)]


def _names(step: Any) -> list[str]:
    """The classes of what a step fitted; none for steps that learn nothing or are frozen."""
    from sklearn.compose import ColumnTransformer
    from sklearn.frozen import FrozenEstimator
    from sklearn.pipeline import FeatureUnion, Pipeline
    from sklearn.utils import get_tags

    if step is None or isinstance(step, str | FrozenEstimator):
        return []
    if isinstance(step, Pipeline):
        return [name for _, inner in step.steps for name in _names(inner)]
    if isinstance(step, FeatureUnion):
        return [name for _, inner in step.transformer_list for name in _names(inner)]
    if isinstance(step, ColumnTransformer):
        # `transformers` are what it was made of; only copies of them are fitted.
        return [name for _, inner, _ in step.transformers for name in _names(inner)]
    return [type(step).__name__] if get_tags(step).requires_fit else []


def _chooses(caller: Any) -> bool:
    from sklearn.model_selection import TunedThresholdClassifierCV
    from sklearn.model_selection._search import BaseSearchCV

    return isinstance(caller, BaseSearchCV | TunedThresholdClassifierCV)


def _joined(names: list[str]) -> str:
    shown = list(names)
    while len(", ".join(shown)) > _LONGEST:
        shown.pop()
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
