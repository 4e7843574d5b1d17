"""Presets: what their names promise, on real data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.preprocessing import scale

import efface
from efface import presets

Rows = tuple[NDArray[Any], NDArray[Any]]


@pytest.fixture(scope="module")
def cancer() -> Rows:
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X) / np.sqrt(X.shape[1]), y


def test_a_support_vector_classifier(cancer: Rows) -> None:
    X, y = cancer
    model = presets.linear_svc(excess_risk=1e-6).fit(X, y)
    assert model.score(X, y) > 0.95
    assert not hasattr(model, "predict_proba")


def test_a_quick_one_forgets_without_reading_its_rows(cancer: Rows) -> None:
    X, y = cancer
    model = presets.quick_classifier(releases=3).fit(X, y)
    certificate = model.forget(ids=["row:1"])
    assert certificate.claims[0].state == "secret"
    assert model.status()["releases_left"] == 1


def test_a_private_one_promises_it_for_all_its_releases(cancer: Rows) -> None:
    X, y = cancer
    model = presets.private_classifier(
        classes=[0, 1], public_n=569, capacity=600, releases=3, epsilon=1.0, lambda_=1e-2
    ).fit(X, y)
    claim = model.forget(ids=["row:1"]).claims[0]
    assert (claim.notion, claim.releases) == ("differential-privacy", 2)
    assert claim.epsilon <= 1.0


def test_ridge_is_exact() -> None:
    X, y = load_diabetes(return_X_y=True)
    constants: dict[str, Any] = {"target_range": (0, 400), "public_n": len(y), "capacity": len(y)}
    model = presets.exact_ridge(**constants).fit(X, y)
    assert model.forget(ids=["row:7"]).claims[0].notion == "exact-removal"
    rest = np.arange(len(y)) != 7
    never = presets.exact_ridge(**constants).fit(X[rest], y[rest])
    assert model.coef_.tobytes() == never.coef_.tobytes()


def test_keywords_win_and_estimators_are_ordinary() -> None:
    model = presets.quick_classifier(mechanism=efface.Solve(solver="lbfgs"), lambda_=0.1)
    assert model.get_params()["mechanism__solver"] == "lbfgs"
    assert clone(model).get_params() == model.get_params()
