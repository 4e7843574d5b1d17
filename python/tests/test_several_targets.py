"""Several targets at once, with `ridge`: against closed forms, and as scikit-learn has them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from efface import Declared, InputError, Promise, UnlearningClassifier, UnlearningRegressor, Vault

Array = NDArray[np.float64]


def rows(count: int = 300, seed: int = 0) -> tuple[Array, Array]:
    """Three targets of very different sizes."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(count, 4))
    noise = rng.normal(size=(count, 3))
    y = np.column_stack([20 + 4 * x[:, 0], 3 - 1000 * x[:, 1], 1e-3 * (x[:, 2] - x[:, 3])])
    return x, y + noise * [0.3, 20, 1e-4]


def fitted_closed_form(x: Array, y: Array, norm: float, lambda_: float) -> tuple[Array, Array]:
    """Weights and constants of standardised rows within `norm`, for each target by itself."""
    z = ((x - x.mean(0)) / x.std(0)).astype(np.float32).astype(np.float64)
    lengths = np.linalg.norm(z, axis=1, keepdims=True)
    z = np.hstack([z * np.minimum(1, norm / lengths), np.full((len(x), 1), norm)])
    weights, constants = [], []
    for target in y.T:
        scaled = (target - target.mean()) / target.std()
        w = np.linalg.solve(z.T @ z / len(x) + lambda_ * np.eye(5), z.T @ scaled / len(x))
        weights.append(w[:-1] * target.std())
        constants.append(w[-1] * norm * target.std() + target.mean())
    return np.array(weights), np.array(constants)


def declared_closed_form(x: Array, y: Array, half: float, lambda_: float) -> tuple[Array, Array]:
    """Weights and constants for targets within -half and half."""
    z = np.hstack([x.astype(np.float32).astype(np.float64), np.ones((len(x), 1))])
    gram = z.T @ z / len(x) + lambda_ * np.eye(5)
    w = np.linalg.solve(gram, z.T @ (y / half) / len(x)).T * half
    return w[:, :-1], w[:, -1]


def test_fitted_preprocessing_gives_the_closed_form_of_each_target() -> None:
    x, y = rows()
    model = UnlearningRegressor(mechanism="ridge").fit(x, y)
    gone = [3, 7, 250]
    model.forget([f"row:{row}" for row in gone])
    left = np.delete(x, gone, 0), np.delete(y, gone, 0)
    norm = model._published.facts["row_norm"]
    coef, intercept = fitted_closed_form(*left, norm, 1 / len(left[0]))
    # Scaled rows and targets are rounded to 2^-19 of their bounds.
    largest = np.abs(coef).max(axis=1)
    assert (np.abs(model.standardized_coef_ - coef).max(axis=1) < 2e-5 * largest).all()
    assert (np.abs(model._published.intercept - intercept) < 2e-5 * y.std(axis=0)).all()
    anew = UnlearningRegressor(mechanism="ridge").fit(*left)
    assert model.coef_.tobytes() == anew.coef_.tobytes()
    assert np.asarray(model.intercept_).tobytes() == np.asarray(anew.intercept_).tobytes()


def test_declared_preprocessing_gives_the_closed_form_of_each_target() -> None:
    x, y = rows()
    given: dict[str, Any] = {
        "mechanism": "ridge",
        "preprocess": Declared(target_range=(-5000, 5000), row_norm=10.0),
        "lambda_": 1e-3,
        "promise": Promise(normalizer="mean"),
    }
    model = UnlearningRegressor(**given).fit(x[:290], y[:290])
    model.add(x[290:], y[290:])
    gone = [0, 1, 295]
    model.forget([f"row:{row}" for row in gone])
    left = np.delete(x, gone, 0), np.delete(y, gone, 0)
    coef, intercept = declared_closed_form(*left, 5000, 1e-3)
    # Targets are rounded to 2^-19 of the half range, whatever their own size.
    assert np.abs(model.coef_ - coef).max() < 2e-5 * 5000
    assert np.abs(model.intercept_ - intercept).max() < 2e-5 * 5000
    assert (np.abs(model.coef_ - coef)[:2].max(axis=1) < 0.01 * np.abs(coef[:2]).max(axis=1)).all()
    anew = UnlearningRegressor(**given).fit(*left)
    assert model.coef_.tobytes() == anew.coef_.tobytes()


@pytest.mark.parametrize("preprocess", [None, "declared"])
def test_each_target_is_what_it_would_be_alone(preprocess: str | None) -> None:
    x, y = rows(120)
    weights = np.arange(120) % 4
    given: dict[str, Any] = {"mechanism": "ridge", "promise": Promise(max_weight=3)}
    if preprocess:
        given["preprocess"] = Declared(target_range=(-5000, 5000), row_norm=5.0)
    model = UnlearningRegressor(**given).fit(x, y, sample_weight=weights)
    for at in range(3):
        alone = UnlearningRegressor(**given).fit(x, y[:, at], sample_weight=weights)
        assert alone.coef_.tobytes() == model.coef_[at].tobytes()
        assert alone.intercept_ == np.asarray(model.intercept_)[at]
        np.testing.assert_allclose(model.predict(x)[:, at], alone.predict(x), rtol=1e-12)


def test_shapes_are_those_of_scikit_learn() -> None:
    x, y = rows(60)
    for targets in (y[:, 0], y[:, :1], y):
        ours = UnlearningRegressor(mechanism="ridge").fit(x, targets)
        theirs = LinearRegression().fit(x, targets)
        assert ours.coef_.shape == theirs.coef_.shape
        assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
        assert ours.predict(x).shape == theirs.predict(x).shape == targets.shape
        assert ours.score(x, targets) == r2_score(targets, ours.predict(x))
        assert ours.score(x, targets) > 0.9


def test_whole_life(tmp_path: Path) -> None:
    x, y = rows(120)
    model = UnlearningRegressor(mechanism="ridge").partial_fit(x[:60], y[:60])
    model.partial_fit(x[60:100], y[60:100])
    model.add(x[100:], y[100:])
    model.forget(["row:5"])
    model.forget(["row:99"], release=False)
    model.refresh()
    kept = np.delete(np.arange(120), [5, 99])
    anew = UnlearningRegressor(mechanism="ridge").fit(x[kept], y[kept])
    assert model.coef_.tobytes() == anew.coef_.tobytes()
    assert model.verify() and model.vault_.verify(key=model.vault_.public_key)
    model.save(tmp_path / "model.efface")
    for other in (
        UnlearningRegressor.load(tmp_path / "model.efface"),
        pickle.loads(pickle.dumps(model)),
    ):
        assert other.predict(x).tobytes() == model.predict(x).tobytes()
    assert clone(model).fit(x, y).coef_.shape == (3, 4)
    one = UnlearningRegressor(mechanism="ridge").fit(x, y[:, :1]).save(tmp_path / "one.efface")
    assert UnlearningRegressor.load(one.vault_.path).predict(x).shape == (120, 1)


def test_an_estimator_can_be_fitted_anew_to_one_target() -> None:
    x, y = rows(60)
    model = UnlearningRegressor(mechanism="ridge").fit(x, y).fit(x, y[:, 0])
    assert model.predict(x).shape == (60,) and model.coef_.shape == (4,)


def test_composition() -> None:
    x, y = rows(120)
    model = UnlearningRegressor(mechanism="ridge")
    assert (cross_val_score(model, x, y) > 0.9).all()
    pipe = make_pipeline(FunctionTransformer(), model).fit(x, y)
    assert pipe.predict(x).shape == (120, 3)
    search = GridSearchCV(model, {"lambda_": [1e-4, 1.0]}, cv=3).fit(x, y)
    assert search.best_params_ == {"lambda_": 1e-4}


def test_names_of_columns_are_kept(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    x, y = rows(60)
    index = [f"p{row}" for row in range(60)]
    frame = pd.DataFrame(x, columns=list("abcd"), index=index)
    targets = pd.DataFrame(y, columns=["price", "rooms", "roof"], index=index)
    model = UnlearningRegressor(mechanism="ridge").fit(frame, targets)
    model.forget(ids="p7")
    model.update(frame[:1], targets[:1])
    model.save(tmp_path / "model.efface")
    facts = Vault(tmp_path / "model.efface").weights()[2]
    assert facts["target_names"] == ["price", "rooms", "roof"]
    more = [table[:2].rename(index=lambda name: f"{name}-new") for table in (frame, targets)]
    model.add(*more)
    with pytest.raises(InputError, match="`price`, `rooms`, `roof` as at `fit`, got `roof`"):
        model.add(more[0], more[1][["roof", "price", "rooms"]])
    again = UnlearningRegressor.load(tmp_path / "model.efface")
    assert again.predict(frame).shape == (60, 3)
    twice = targets.set_axis(["one", "one", "two"], axis=1)
    with pytest.raises(InputError, match="two targets have one name"):
        UnlearningRegressor(mechanism="ridge").fit(frame, twice)


def test_tables_of_other_libraries() -> None:
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    x, y = rows(60)
    named = {"u": y[:, 0], "v": y[:, 1]}
    expected = UnlearningRegressor(mechanism="ridge").fit(x, y[:, :2])
    for table in (polars.DataFrame(named), pyarrow.table(named)):
        model = UnlearningRegressor(mechanism="ridge").fit(x, table)
        assert model._target_names == ["u", "v"]
        assert model.coef_.tobytes() == expected.coef_.tobytes()
    lists = UnlearningRegressor(mechanism="ridge").fit(x.tolist(), y[:, :2].tolist())
    assert lists.coef_.tobytes() == expected.coef_.tobytes()


def test_what_learns_one_target_names_ridge() -> None:
    x, y = rows(60)
    for mechanism in ("solve", "retrain", "noisy-gd", "descent-to-delete"):
        with pytest.raises(InputError, match="learns one target, got 3") as refused:
            UnlearningRegressor(mechanism=mechanism).fit(x, y)
        assert 'mechanism="ridge"' in str(refused.value)
    assert UnlearningRegressor(mechanism="ridge").__sklearn_tags__().target_tags.multi_output
    assert not UnlearningRegressor().__sklearn_tags__().target_tags.multi_output
    with pytest.raises(ValueError, match="1d array"):
        UnlearningClassifier(mechanism="ridge").fit(x, y > 0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_missing_and_infinite_targets_are_refused(bad: float) -> None:
    x, y = rows(60)
    model = UnlearningRegressor(mechanism="ridge").fit(x, y)
    broken = y.copy()
    broken[5, 1] = bad
    for learn in (UnlearningRegressor(mechanism="ridge").fit, model.add):
        with pytest.raises(ValueError, match="Input y contains"):
            learn(x, broken)


def test_targets_unlike_those_of_fit_are_refused() -> None:
    x, y = rows(60)
    several = UnlearningRegressor(mechanism="ridge").fit(x, y)
    one = UnlearningRegressor(mechanism="ridge").fit(x, y[:, 0])
    for targets in (y[:, 0], y[:, :2]):
        with pytest.raises(InputError, match="3 columns as at `fit`"):
            several.add(x, targets)
    with pytest.raises(InputError, match="the model has one target, got 3"):
        one.add(x, y)
    assert several.certificate_.index == one.certificate_.index == 0


def test_vaults_take_several_targets(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    x, y = rows(60)
    targets = pd.DataFrame(y, columns=["price", "rooms", "roof"])
    path, settings = tmp_path / "model.efface", {"mechanism": "ridge"}
    vault = Vault.train(path, x, targets, settings=settings)
    vault.add(x[:2], y[:2])
    vault.delete(ids=["row:0", "row:1"])
    coef, _, facts = vault.weights()
    assert coef.shape == (3, 4) and facts["records"] == 60
    other = np.vstack([x[2:], x[:2]]), np.vstack([y[2:], y[:2]])
    anew = Vault.train(tmp_path / "b.efface", *other, settings=settings)
    assert anew.weights()[0].tobytes() == coef.tobytes()


def test_texts_among_targets_must_be_plain_numbers() -> None:
    X = np.arange(12.0).reshape(6, 2)
    for texts in (["1,5"] * 6, np.array(["1", "2", "3", "4", "5", "$6"], dtype=object)):
        with pytest.raises(InputError, match="got the text") as told:
            UnlearningRegressor().fit(X, texts)
        assert "1234.5" in str(told.value.hint)
