"""scikit-learn's own checks of estimators, without an expected failure."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from efface import UnlearningClassifier, UnlearningRegressor

ESTIMATORS = [
    UnlearningClassifier(),
    UnlearningClassifier(random_state=0),
    UnlearningClassifier(loss="softmax"),
    UnlearningClassifier(loss="huber-hinge"),
    UnlearningClassifier(mechanism="noisy-gd", lambda_=0.01),
    UnlearningClassifier(mechanism="retrain", fit_intercept=False, random_state=1),
    UnlearningClassifier(mechanism="descent-to-delete", lambda_=0.1),
    UnlearningRegressor(),
    UnlearningRegressor(random_state=0),
    UnlearningRegressor(clip=float("inf")),
    UnlearningRegressor(clip=0.1),
    UnlearningRegressor(mechanism="noisy-gd", lambda_=0.01, noise=0.01),
    UnlearningRegressor(mechanism="ridge"),
]


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the vaults of estimators that are pickled where the tests clean up."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


@pytest.mark.filterwarnings("ignore::efface.VaultKeptWarning", "ignore::efface.NotCoveredWarning")
@parametrize_with_checks(ESTIMATORS)  # type: ignore[untyped-decorator]
def test_scikit_learns_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)
