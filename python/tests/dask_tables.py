"""Tables, models and workers that the tests of estimators on Dask collections share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from dask.distributed import LocalCluster
from numpy.typing import NDArray

import efface
from efface.dask import DaskUnlearningClassifier

CHUNKS = (150, 90, 0, 210)
ROWS = sum(CHUNKS)


def cluster(folder: Path, workers: int = 2) -> LocalCluster:
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        local_directory=str(folder),
    )


def numbers() -> NDArray[np.float64]:
    return np.random.default_rng(4).normal(size=(ROWS, 4)) / 4


def labels() -> NDArray[np.int64]:
    x = numbers()
    return (x[:, 0] - x[:, 1] > 0.05).astype(np.int64)


def table() -> tuple[Any, Any]:
    """Features and classes, in partitions of which one is empty."""
    return da.from_array(numbers(), chunks=(CHUNKS, 4)), da.from_array(labels(), chunks=(CHUNKS,))


def fitted(client: Any, **parameters: Any) -> DaskUnlearningClassifier:
    model: DaskUnlearningClassifier = DaskUnlearningClassifier(client=client, **parameters)
    return model.fit(*table())


def outcome(model: Any) -> tuple[Any, ...]:
    """What a model is, but for noise that nobody chose."""
    return (model.receipt_.work, model.status()["records"], len(model.certificates_))


SETTINGS: list[dict[str, Any]] = [
    {"mechanism": efface.Solve(solver="newton")},
    {"mechanism": efface.Solve(solver="newton-cg")},
    {"mechanism": "noisy-gd", "lambda_": 0.05},
    {"preprocess": efface.Declared(features="rff:8"), "lambda_": 0.05},
]
