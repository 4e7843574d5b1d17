"""Models on the hidden features of a network."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV

import efface

Rows = tuple[NDArray[Any], NDArray[Any]]


@pytest.fixture(scope="module")
def rows() -> Rows:
    """The signs of products, which no linear model tells apart."""
    rng = np.random.default_rng(5)
    x = rng.uniform(-1, 1, size=(3000, 2)).astype(np.float32)
    return x, np.where(x[:, 0] * x[:, 1] > 0, "same", "other")


@pytest.fixture(scope="module")
def network(rows: Rows) -> efface.UnlearningClassifier:
    settings = efface.DPSGD(network="dense:16", deletions=3)
    model = efface.UnlearningClassifier(mechanism=settings, epsilon=2.0).fit(*rows)
    model.forget(ids=["row:7"])
    return model


def on(features: Any, mechanism: Any = "ridge") -> efface.UnlearningClassifier:
    declared = efface.Declared(features=features)
    return efface.UnlearningClassifier(mechanism=mechanism, preprocess=declared)


def test_a_head_forgets_and_the_network_stays(
    rows: Rows, network: efface.UnlearningClassifier, tmp_path: Path
) -> None:
    x, y = rows
    features = f"network:{network.vault_.path}"
    model = on(features).fit(x, y)
    assert model.n_features_in_ == 2
    assert model.coef_.shape == (1, 16) or model.coef_.shape == (2, 16)
    assert model.score(x, y) > 0.85
    first = model.certificate_
    assert first.claims[0].epsilon > 0
    certificate = model.forget(ids=["row:5", "row:9"])
    claim = certificate.claims[0]
    assert (claim.notion, claim.group) == ("indistinguishable-from-retraining", "3")
    assert first.claims[0].epsilon < claim.epsilon <= 2.0
    assert model.vault_.status()["deletions_left"] == 0
    with pytest.raises(efface.Refused, match="its noise was chosen for 3"):
        model.forget(ids=["row:11"])
    assert certificate.verify(key=model.vault_.public_key, vault=model.vault_.path)
    path = tmp_path / "head.efface"
    model.save(path)
    again = efface.UnlearningClassifier.load(path)
    np.testing.assert_array_equal(again.decision_function(x), model.decision_function(x))
    np.testing.assert_array_equal(again.predict(x[:50]), model.predict(x[:50]))


def test_the_planner_and_other_mechanisms_refuse(
    rows: Rows, network: efface.UnlearningClassifier
) -> None:
    x, y = rows
    features = f"network:{network.vault_.path}"
    with pytest.raises(efface.Error, match="planner"):
        efface.plan(x, y, settings={"features": features})
    model = on(features, "noisy-gd")
    with pytest.raises(efface.Error, match="noisy-gd"):
        model.fit(x, y)


def test_a_network_is_named_in_many_ways(
    rows: Rows, network: efface.UnlearningClassifier, tmp_path: Path
) -> None:
    x, y = rows
    path = network.vault_.path
    spelt = on(f"network:{path}").fit(x, y)
    loaded = efface.UnlearningClassifier.load(path)
    for features in (network, FrozenEstimator(network), network.vault_, path, loaded):
        model = on(features).fit(x, y)
        np.testing.assert_array_equal(model.coef_, spelt.coef_)
        assert model.certificate_.claims[0].epsilon == spelt.certificate_.claims[0].epsilon
    model.save(tmp_path / "head.efface")
    again = efface.UnlearningClassifier.load(tmp_path / "head.efface")
    assert again.preprocess == efface.Declared(features=f"network:{path}")
    # What was loaded can be fitted like what was saved.
    assert again.fit(x, y).score(x, y) > 0.8


def test_copies_and_searches_refer_to_the_same_network(
    rows: Rows, network: efface.UnlearningClassifier
) -> None:
    x, y = rows
    model = on(network)
    assert clone(model).preprocess.features is network
    assert not [name for name in model.get_params() if name.startswith("preprocess__features__")]
    other = clone(model).set_params(mechanism="solve", mechanism__solver="newton")
    assert other.mechanism == efface.Solve(solver="newton")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", efface.UnsavedWarning)
        copied = pickle.loads(pickle.dumps(model)).fit(x, y)
    np.testing.assert_array_equal(copied.coef_, model.fit(x, y).coef_)
    three = np.where(x[:, 0] > 0.6, "far", y)
    grid = {
        "preprocess": [efface.Declared(features=network)],
        "mechanism": ["ridge", efface.Solve(solver="newton")],
    }
    model = efface.UnlearningClassifier(loss="softmax", epsilon=4.0)
    search = GridSearchCV(model, grid, cv=2, error_score="raise")
    with pytest.raises(efface.Refused, match="softmax"):
        search.fit(x, three)
    search = GridSearchCV(model, {**grid, "mechanism": ["solve"]}, cv=2).fit(x, three)
    assert (search.cv_results_["mean_test_score"] > 0.7).all()
    assert search.best_estimator_.preprocess.features is network


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (3, "its vault or the vault's path, got int"),
        (Path("nowhere.efface"), r"nowhere\.efface does not exist"),
        (efface.UnlearningClassifier(), "must be fitted"),
    ],
)
def test_what_is_no_network_is_refused(rows: Rows, features: Any, message: str) -> None:
    with pytest.raises((ValueError, efface.VaultMissing), match=message):
        on(features).fit(*rows)
