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


def test_a_head_forgets_and_the_network_stays(
    rows: Rows, network: efface.UnlearningClassifier, tmp_path: Path
) -> None:
    x, y = rows
    features = f"network:{network.vault_.path}"
    model = efface.UnlearningClassifier(features=features, mechanism="ridge").fit(x, y)
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
    model = efface.UnlearningClassifier(features=features, mechanism="noisy-gd")
    with pytest.raises(efface.Error, match="noisy-gd"):
        model.fit(x, y)


def test_a_trunk_stands_for_features_and_a_head_for_the_mechanism(
    rows: Rows, network: efface.UnlearningClassifier
) -> None:
    x, y = rows
    features = f"network:{network.vault_.path}"
    spelt = efface.UnlearningClassifier(features=features, mechanism="ridge").fit(x, y)
    path = network.vault_.path
    for trunk in (network, FrozenEstimator(network), network.vault_, path, str(path)):
        model = efface.UnlearningClassifier(trunk=trunk, head="ridge").fit(x, y)
        np.testing.assert_array_equal(model.coef_, spelt.coef_)
        assert model.certificate_.claims[0].epsilon == spelt.certificate_.claims[0].epsilon
    wrapped = efface.NetworkClassifier.open(path)
    model = efface.UnlearningClassifier(trunk=wrapped, head=efface.Ridge()).fit(x, y)
    np.testing.assert_array_equal(model.coef_, spelt.coef_)


def test_the_loss_of_a_softmax_head_follows_the_classes(
    rows: Rows, network: efface.UnlearningClassifier, tmp_path: Path
) -> None:
    x, y = rows
    model = efface.UnlearningClassifier(trunk=network, head="softmax", epsilon=4.0).fit(x, y)
    assert model.coef_.shape == (1, 16)
    three = np.where(x[:, 0] > 0.6, "far", y)
    model.fit(x, three)
    assert model.predict_proba(x).shape == (3000, 3)
    assert model.score(x, three) > 0.8
    claim = model.forget(ids=["row:5"]).claims[0]
    assert (claim.notion, claim.epsilon <= 4.0) == ("indistinguishable-from-retraining", True)
    model.save(tmp_path / "head.efface")
    again = efface.UnlearningClassifier.load(tmp_path / "head.efface")
    assert (again.trunk, again.head) == (str(network.vault_.path), "softmax")
    np.testing.assert_array_equal(again.predict(x), model.predict(x))
    # What was loaded can be fitted like what was saved.
    assert again.fit(x, three).score(x, three) > 0.8


def test_copies_and_searches_refer_to_the_same_network(
    rows: Rows, network: efface.UnlearningClassifier
) -> None:
    x, y = rows
    model = efface.UnlearningClassifier(trunk=network, head="ridge")
    assert clone(model).trunk is network
    assert not [name for name in model.get_params() if name.startswith("trunk__")]
    assert "head='ridge'" in repr(model)
    with pytest.raises(ValueError, match="the network of `trunk` is fitted"):
        model.set_params(trunk__epsilon=3.0)
    other = clone(model).set_params(head="solve", head__solver="newton")
    assert other.head == efface.Solve(solver="newton")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", efface.UnsavedWarning)
        copied = pickle.loads(pickle.dumps(model)).fit(x, y)
    np.testing.assert_array_equal(copied.coef_, model.fit(x, y).coef_)
    heads = {"head": ["ridge", "softmax", efface.Solve(solver="newton")]}
    model = efface.UnlearningClassifier(trunk=network, epsilon=4.0)
    search = GridSearchCV(model, heads, cv=2, error_score="raise").fit(x, y)
    assert (search.cv_results_["mean_test_score"] > 0.8).all()
    assert search.best_estimator_.trunk is network


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"features": "rff:20"}, "`trunk` stands for `features`"),
        ({"head": "ridge", "mechanism": "retrain"}, "`head` stands for `mechanism`"),
        ({"head": "ridge", "trunk": None}, "`head` is the last layer on a `trunk`"),
        ({"head": "softmax", "loss": "huber-hinge"}, "has a loss of its own"),
        ({"head": "forest"}, "got 'forest'"),
        ({"head": 3}, "'head' parameter"),
        ({"trunk": 3}, "its vault or the vault's path, got int"),
        ({"trunk": "nowhere.efface"}, r"nowhere\.efface does not exist"),
        ({"trunk": efface.NetworkClassifier()}, "`trunk` must be fitted"),
        ({"trunk": efface.UnlearningClassifier()}, "`trunk` must be fitted"),
    ],
)
def test_what_contradicts_a_trunk_is_refused(
    rows: Rows, network: efface.UnlearningClassifier, given: dict[str, Any], message: str
) -> None:
    with pytest.raises((ValueError, efface.VaultMissing), match=message):
        efface.UnlearningClassifier(**{"trunk": network, **given}).fit(*rows)


def test_a_grid_of_networks_is_refused_with_the_way_out(
    rows: Rows, network: efface.UnlearningClassifier
) -> None:
    model = efface.UnlearningClassifier(head="ridge")
    grid: dict[str, Any] = {"trunk": [network]}
    search = GridSearchCV(model, grid, cv=2, error_score="raise")
    with pytest.raises(efface.InputError, match="list paths, `trunk"):
        search.fit(*rows)
    grid["trunk"] = [str(network.vault_.path), FrozenEstimator(network)]
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(*rows)
    assert (search.cv_results_["mean_test_score"] > 0.8).all()
