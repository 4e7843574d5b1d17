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
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SHAPES = [(100, 20), (10_000, 100), (100_000, 100), (12_000, 784)]
CALLS = 15
# A model that was read in the last seconds asks its vault at each call whether it is the newest.
SETTLED = 3.0


def in_turn(calls: Sequence[Callable[[], Any]]) -> list[float]:
    """Medians in milliseconds."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(CALLS):
        for call, taken in zip(calls, times, strict=True):
            start = time.perf_counter()
            call()
            taken.append(1e3 * (time.perf_counter() - start))
    return [statistics.median(taken) for taken in times]


def main() -> None:
    """Print the table."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    print("| rows x columns | numbers | scikit-learn | efface, declared | ratio |", end="")
    print(" scikit-learn, scaled | efface, fitted | ratio |")
    print("|---|---|---|---|---|---|---|---|")
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
            print(
                f"| {rows:,} x {columns} | {numbers.dtype} | {one:.2f} ms | {ours:.2f} ms | "
                f"{ours / one:.2f} | {two:.2f} ms | {refitted:.2f} ms | {refitted / two:.2f} |"
            )


if __name__ == "__main__":
    main()
