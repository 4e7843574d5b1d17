"""Random features from a public seed: what estimators learn, forget, save and refuse."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import efface
from efface import Declared, Promise, UnlearningClassifier, UnlearningRegressor, Vault

RFF: dict[str, Any] = {
    "mechanism": "ridge",
    "preprocess": Declared(features="rff:80,gamma=2,norm=2,seed=5"),
    "lambda_": 1e-5,
}


def signs(rows: int = 400, seed: int = 3) -> tuple[Any, Any]:
    """Rows whose class is whether two numbers have the same sign."""
    X = np.random.default_rng(seed).uniform(-1, 1, size=(rows, 2))
    return X, np.where(X[:, 0] * X[:, 1] > 0, "same", "other")


def derived(X: Any) -> Any:
    """Features as the derivation has them, in double precision."""
    mask = (1 << 64) - 1

    def words(state: int) -> Any:
        while True:
            state = (state + 0x9E3779B97F4A7C15) & mask
            z = ((state ^ state >> 30) * 0xBF58476D1CE4E5B9) & mask
            z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
            yield z ^ z >> 31

    start = next(words(5)) ^ int.from_bytes(b"rff".ljust(8, b"\0"), "little")
    stream = words(start)

    def normal() -> float:
        total = sum(sum(divmod(next(stream), 1 << 32)) for _ in range(6))
        return (total - 6 * 0xFFFFFFFF) / 2**32

    weights = np.array([[normal() * 2.0 for _ in range(2)] for _ in range(40)])
    angles = X @ weights.T
    features = np.stack([np.cos(angles), np.sin(angles)], axis=2).reshape(len(X), 80)
    return features / np.sqrt(40)


def test_what_no_line_tells_is_learnt_and_forgotten() -> None:
    X, y = signs()
    model = UnlearningClassifier(**RFF).fit(X, y)
    other, truth = signs(seed=4)
    assert model.score(other, truth) > 0.93
    assert model.n_features_in_ == 2
    assert model.coef_.shape == (2, 80)
    assert model.get_feature_names_out()[:2].tolist() == ["rff:0", "rff:1"]
    # The map is the public one: predictions are the weights on features made here.
    outputs = derived(other) @ model.coef_.T + model.intercept_
    decided = outputs[:, 1] - outputs[:, 0]
    assert np.allclose(decided, model.decision_function(other), atol=5e-3)

    certificate = model.forget(ids=["row:17", "row:3"])
    assert certificate.claims[0].epsilon == 0.0
    assert bool(model.verify())
    listed = {constant["name"]: constant["value"] for constant in certificate.constants}
    assert listed["features"] == "rff:80,gamma=2.0,norm=2.0,seed=5,version=1"
    left = np.delete(np.arange(400), [3, 17])
    settings = {**RFF, "promise": Promise(capacity=500, public_n=400)}
    one = UnlearningClassifier(**settings).fit(X, y)
    one.forget(ids=["row:17", "row:3"])
    never = UnlearningClassifier(**settings).fit(X[left], y[left])
    assert np.array_equal(one.coef_, never.coef_)
    assert np.array_equal(one.intercept_, never.intercept_)


def test_added_rows_and_rows_alone_go_through_the_same_map() -> None:
    X, y = signs()
    model = UnlearningClassifier(**RFF, promise=Promise(capacity=400)).fit(X[:300], y[:300])
    model.add(X[300:], y[300:])
    assert model.score(X, y) > 0.93
    together = model.decision_function(X[:5])
    alone = [model.decision_function(X[row : row + 1])[0] for row in range(5)]
    assert np.array_equal(together, alone)
    single = model.predict(X[:5].astype(np.float32))
    assert np.array_equal(single, model.predict(X[:5]))


def test_a_saved_model_knows_its_map(tmp_path: Path) -> None:
    X, y = signs()
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = UnlearningClassifier(**RFF).fit(frame, y)
    model.save(tmp_path / "m.efface")
    again = UnlearningClassifier.load(tmp_path / "m.efface")
    assert again.preprocess == RFF["preprocess"]
    assert again.feature_names_in_.tolist() == ["a", "b"]
    assert again.n_features_in_ == 2
    assert np.array_equal(again.predict(frame), model.predict(frame))
    assert np.array_equal(pickle.loads(pickle.dumps(again)).predict(frame), model.predict(frame))
    exported = json.loads(again.vault_.export("json"))
    assert exported["feature_map"] == "rff:80,gamma=2.0,norm=2.0,seed=5,version=1"


def test_a_vault_of_the_engine_and_one_of_an_estimator_agree(tmp_path: Path) -> None:
    X, y = signs()
    settings = {"mechanism": "ridge", "features": RFF["preprocess"].features, "lambda": 1e-5}
    vault = Vault.train(tmp_path / "m.efface", X, y, settings=settings)
    opened = UnlearningClassifier.load(vault.path)
    model = UnlearningClassifier(**RFF).fit(X, y)
    assert np.array_equal(opened.coef_, model.coef_)
    assert opened.n_features_in_ == 2
    assert (opened.predict(X) == model.predict(X)).all()
    assert opened.preprocess == Declared(features="rff:80,gamma=2.0,norm=2.0,seed=5,version=1")


def test_images_and_several_targets() -> None:
    rng = np.random.default_rng(2)
    halves = rng.integers(0, 2, size=120)
    images = rng.uniform(0, 0.3, size=(120, 6, 7))
    images[halves == 0, :3] += 0.6
    images[halves == 1, 3:] += 0.6
    X = images.reshape(120, 42)
    model = UnlearningClassifier(
        mechanism="ridge", lambda_=1e-4, preprocess=Declared(features="random-conv:4x3,image=6x7")
    ).fit(X, halves)
    assert model.score(X, halves) == 1.0
    assert model.coef_.shape == (2, 64)

    x = np.linspace(-1, 1, 200)[:, None]
    Y = np.c_[np.sin(4 * x[:, 0]), np.abs(x[:, 0])]
    regressor = UnlearningRegressor(
        mechanism="ridge",
        lambda_=1e-7,
        preprocess=Declared(features="rff:40,gamma=4", target_range=(-1, 1)),
    ).fit(x, Y)
    assert np.abs(regressor.predict(x) - Y).mean() < 0.02


def test_it_composes_with_scikit_learn() -> None:
    X, y = signs(120)
    search = GridSearchCV(
        UnlearningClassifier(**RFF),
        {"preprocess__features": ["rff:10,gamma=0.01", "rff:80,gamma=2,norm=2"]},
        cv=2,
    ).fit(X, y)
    assert search.best_params_["preprocess__features"] == "rff:80,gamma=2,norm=2"
    copy = clone(search.best_estimator_)
    assert copy.get_params()["preprocess__features"] == "rff:80,gamma=2,norm=2"
    halved = FunctionTransformer(lambda rows: rows / 2)
    assert make_pipeline(halved, UnlearningClassifier(**RFF)).fit(X, y).score(X, y) > 0.8
    assert not UnlearningClassifier(**RFF).__sklearn_tags__().input_tags.sparse


def test_noise_is_added_to_weights_of_features_too() -> None:
    X, y = signs()
    model = UnlearningClassifier(lambda_=1e-3, preprocess=Declared(features="rff:20,gamma=2")).fit(
        X, y
    )
    certificate = model.forget(ids="row:1")
    assert 0 < certificate.claims[0].epsilon <= 1
    assert bool(certificate.verify(key=model.vault_.public_key, vault=model.vault_.path))


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ("rbf:10", "`Declared(features=...)` must be `rff:P`"),
        ("rff:0", "must be from 2 to 65536, got 0"),
        (
            "rff:10,seed=-1",
            "`seed` in `Declared(features=...)` must be a whole number of at least 0, got `-1`",
        ),
        ("random-conv:4x3", "a table of 2 columns does not tell"),
        ("random-conv:4x3,image=6x7", "6x7 is not 2"),
        (3, "features"),
    ],
)
def test_what_is_no_map_is_refused(features: Any, message: str) -> None:
    X, y = signs(20)
    with pytest.raises(ValueError, match="features") as refused:
        UnlearningClassifier(mechanism="ridge", preprocess=Declared(features=features)).fit(X, y)
    assert message in str(refused.value)


def test_rows_that_a_map_does_not_suit_are_refused() -> None:
    X, y = signs(20)
    with pytest.raises(ValueError, match="needs dense rows"):
        UnlearningClassifier(**RFF).fit(sparse.csr_matrix(X), y)
    with pytest.raises(ValueError, match="NaN"):
        UnlearningClassifier(**RFF).fit(np.where(X > 0.5, np.nan, X), y)
    words = pd.DataFrame({"a": X[:, 0], "b": ["word"] * 20})
    with pytest.raises(ValueError, match="column `b` holds words"):
        UnlearningClassifier(**RFF).fit(words, y)
    features = RFF["preprocess"].features
    with pytest.raises(efface.Refused, match="is not offered: the map takes numbers"):
        efface.plan(X, y, settings={"preprocess": "fitted", "features": features})
