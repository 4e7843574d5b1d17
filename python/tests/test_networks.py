"""Networks as estimators: they forget until their capacity is spent."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone

import efface
from efface import UnlearningClassifier

RNG = np.random.default_rng(3)
X = RNG.uniform(-1, 1, size=(1500, 2))
SAME = X[:, 0] * X[:, 1] > 0


def network(seed: int | None = 1, **settings: Any) -> UnlearningClassifier:
    usual: dict[str, Any] = {"network": "dense:16", "steps": 60, "rate": 0.25, "deletions": 2}
    mechanism = efface.DPSGD(**(usual | settings))
    return UnlearningClassifier(mechanism=mechanism, epsilon=3.0, random_state=seed)


def test_it_learns_what_no_line_tells() -> None:
    model = network(steps=150).fit(X, SAME)
    assert model.score(X, SAME) > 0.85
    chances = model.predict_proba(X)
    assert np.allclose(chances.sum(axis=1), 1)
    assert (model.classes_[chances.argmax(axis=1)] == model.predict(X)).all()
    assert model.coef_.shape == (1, 16 * 2 + 16 + 2 * 16 + 2)
    assert (model.n_features_in_, len(model.get_feature_names_out())) == (2, 2)


def test_deletions_are_counted() -> None:
    model = network(seed=None).fit(X, SAME)
    before = model.coef_.copy()
    first = model.forget(ids="row:3").claims[0].epsilon
    second = model.forget(ids="row:4").claims[0].epsilon
    assert 0 < first < second <= 3
    assert (model.coef_ == before).all()
    with pytest.raises(efface.BudgetExhausted, match="3"):
        model.forget(ids="row:5")
    assert model.vault_.status()["deletions_left"] == 0
    model.vault_.refresh()
    model.sync()
    assert (model.coef_ != before).any()
    model.forget(ids="row:5")
    assert model.verify()


@pytest.mark.parametrize("labels", [["b", "a"], [10, 9], ["10", "9", "x"]])
def test_classes_keep_their_outputs(labels: list[Any], tmp_path: Path) -> None:
    """The engine's order of classes is another than NumPy's."""
    y = np.array(labels, dtype=object if isinstance(labels[0], str) else None)[SAME.astype(int)]
    if len(labels) > 2:
        y[:50] = labels[2]
    model = network(steps=150).fit(X, y)
    assert (model.predict(X) == y).mean() > 0.8
    place = tmp_path / "m.efface"
    model.save(place)
    again = UnlearningClassifier.load(place)
    assert (again.predict(X) == model.predict(X)).all()
    assert (again.decision_function(X) == model.decision_function(X)).all()
    copied = pickle.loads(pickle.dumps(model))
    assert (copied.predict_proba(X) == model.predict_proba(X)).all()


def test_adam_learns_and_is_stated() -> None:
    model = network(steps=150, optimizer="adam", eta=0.02, average=0.9).fit(X, SAME)
    assert model.score(X, SAME) > 0.85
    constants = {c["name"]: c["value"] for c in model.certificate_.constants}
    assert constants["optimizer"] == "adam"
    assert (constants["beta1"], constants["average"]) == ("0.9", "0.9")
    assert "momentum" not in constants
    again = network(steps=150, optimizer="adam", eta=0.02, average=0.9).fit(X, SAME)
    assert (again.coef_ == model.coef_).all()
    with pytest.raises(efface.Refused, match="momentum"):
        network(optimizer="adam", momentum=0.5).fit(X, SAME)


def test_rows_may_be_sparse_at_prediction() -> None:
    model = network().fit(X, SAME)
    assert np.allclose(model.predict_proba(csr_matrix(X)), model.predict_proba(X))


def test_other_rows_have_nothing_to_do_with_a_row() -> None:
    model = network().fit(X, SAME)
    whole = model.decision_function(X)
    assert all(model.decision_function(X[at : at + 1])[0] == whole[at] for at in range(0, 1500, 97))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(efface.InputError, match="does not fit"):
        network(network="conv:4x3,dense:4").fit(X, SAME)
    with pytest.raises(efface.InputError, match="batchnorm"):
        network(network="batchnorm").fit(X, SAME)
    with pytest.raises(efface.Refused, match="lambda"):
        clone(network()).set_params(lambda_=0.1).fit(X, SAME)
    weighted = network().set_params(promise__max_weight=1.0)
    with pytest.raises(efface.Refused, match="weight"):
        weighted.fit(X, SAME, sample_weight=np.ones(1500))
