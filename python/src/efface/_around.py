"""What stands around a fit: pipelines that fitted transformers, searches that chose settings.

scikit-learn tells an estimator nothing about either, so the calls in progress are looked at. What
cannot be seen this way (a scaler applied by hand, settings tried in a notebook) stays with the
limits that every certificate states.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

from ._errors import NotCoveredWarning

# The longest line that the engine takes, less the words around a list of names.
_LONGEST = 110

# Texts that were warned about in this process.
_warned: set[str] = set()


def limits_of_calls() -> list[str]:
    """Return what certificates must say they do not cover, and warn about it once."""
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
        _warn(
            f"{names} was fitted on the records before the model was: what it learnt from a record "
            "stays when the record is forgotten, and certificates say so; fit it on public data "
            "and put it into the pipeline as `sklearn.frozen.FrozenEstimator`, or use a "
            "transformer that learns nothing"
        )
    if choosers:
        names = _joined(list(dict.fromkeys(choosers)))
        lines.append(f"selection: not covered; {names} chose by results on the records")
    return lines


def _callers() -> Iterator[Any]:
    """The objects whose methods named `fit...` are at work, the nearest first."""
    frame = sys._getframe(2)
    seen: set[int] = set()
    while frame is not None:
        if frame.f_code.co_name.startswith("fit"):
            caller = frame.f_locals.get("self")
            if caller is not None and id(caller) not in seen:
                seen.add(id(caller))
                yield caller
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


def _warn(text: str) -> None:
    if text not in _warned:
        _warned.add(text)
        warnings.warn(text, NotCoveredWarning, stacklevel=4)
