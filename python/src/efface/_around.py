"""Calls in progress around a fit: the pipelines that made its rows, and the tables they got.

scikit-learn tells an estimator nothing about them. A fit in a worker or thread of its own sees none
of them, so certificates do not depend on what is seen here: their limits are those of every fit.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ._errors import NotCoveredWarning, warn


def warn_of_transformers() -> None:
    """Warn of transformers that a pipeline in progress fitted on the records before the model."""
    from sklearn.pipeline import Pipeline

    from ._inside import look_inside

    around = [caller[:-1] for caller, _ in _fits() if isinstance(caller, Pipeline)]
    fitted = [line for steps in around for line in look_inside(steps).others]
    if fitted:
        warn(
            f"{'; '.join(fitted)}, before the model: what was learnt from a record remains when "
            "the record is forgotten, and no certificate covers it; leave the transformer out if "
            'the model\'s own preprocessing does the same (`preprocess="fitted"`), or fit it on '
            "public data and put it into the pipeline as `sklearn.frozen.FrozenEstimator`, or use "
            "one that learns nothing",
            NotCoveredWarning,
        )


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


def _fits() -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Methods named `fit...` that are at work, the nearest first, each with its variables."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_name.startswith("fit"):
            given = frame.f_locals
            if given.get("self") is not None:
                yield given["self"], given
        frame = frame.f_back  # type: ignore[assignment]
