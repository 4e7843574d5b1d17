"""Models on the hidden features of a network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

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
