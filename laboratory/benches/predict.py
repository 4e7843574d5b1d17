"""Predicting the rows of an array: efface beside scikit-learn, in one process, calls in turn.

Usage: python laboratory/benches/predict.py
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from efface import UnlearningClassifier
from shared import head, ms, row, timed
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SHAPES = [(100, 20), (10_000, 100), (100_000, 100), (12_000, 784)]
CALLS = 15
# A model that was read in the last seconds asks its vault at each call whether it is the newest.
SETTLED = 3.0


def in_turn(calls: Sequence[Callable[[], Any]]) -> list[list[float]]:
    """Seconds of each call, made in turn."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(CALLS):
        for call, taken in zip(calls, times, strict=True):
            taken.append(timed(call))
    return times


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    pairs = ("scikit-learn", "efface, declared", "scikit-learn, scaled", "efface, fitted")
    head("rows x columns", "numbers", *pairs[:2], "ratio", *pairs[2:], "ratio")
    for rows, columns in SHAPES:
        X = rng.normal(size=(rows, columns))
        y = (X[:, 0] + rng.normal(size=rows) > 0).astype(int)
        plain = LogisticRegression().fit(X, y)
        scaled = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)
        declared = UnlearningClassifier(preprocess="declared").fit(X, y)
        fitted = UnlearningClassifier(preprocess="fitted").fit(X, y)
        time.sleep(SETTLED)
        for numbers in (X, X.astype(np.float32)):
            models: list[Any] = [plain, declared, scaled, fitted]
            calls = [partial(model.predict, numbers) for model in models]
            one, ours, two, refitted = in_turn(calls)
            cells = [f"{rows:,} x {columns}", str(numbers.dtype)]
            for theirs, own in ((one, ours), (two, refitted)):
                ratio = statistics.median(own) / statistics.median(theirs)
                cells += [ms(theirs), ms(own), f"{ratio:.2f}"]
            row(*cells)


if __name__ == "__main__":
    main()
