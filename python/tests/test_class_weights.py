"""Records that count by their class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import People
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV

import efface
from efface import NoisyGD, Promise, UnlearningClassifier, UnlearningRegressor, Vault

FINE: dict[str, Any] = {"promise": Promise(noise=1e-7), "lambda_": 0.05}


@pytest.fixture
def rare() -> tuple[Any, Any]:
    """Two classes that overlap, one of which has an eighth of the records."""
    rng = np.random.default_rng(5)
    y = np.where(np.arange(160) % 8 == 0, "rare", "often")
    X = rng.normal(size=(160, 2)) + 0.8 * (y == "rare")[:, None]
    return X, y


def reference(X: Any, y: Any, weights: Any) -> Any:
    """scikit-learn's model of rows that are scaled as fitted preprocessing scales them."""
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    lengths = np.linalg.norm(X, axis=1)
    bound = 4 * np.sqrt(X.shape[1])
    X = X * np.minimum(1, bound / lengths)[:, None]
    constant = np.full((len(X), 1), np.float32(bound))
    theirs = LogisticRegression(
        C=1 / (0.05 * len(X)), fit_intercept=False, class_weight=weights, tol=1e-9
    )
    return theirs.fit(np.hstack([X, constant]), y).coef_[:, :-1]


@pytest.mark.parametrize("weights", ["balanced", {"rare": 5.0, "often": 0.5}, {"rare": 3}])
def test_classes_count_as_in_scikit_learn_and_again_when_records_go(
    rare: tuple[Any, Any], weights: Any
) -> None:
    X, y = rare
    model = UnlearningClassifier(
        preprocess="fitted", loss="logistic", class_weight=weights, **FINE
    ).fit(X, y)
    assert np.allclose(model.standardized_coef_, reference(X, y, weights), atol=1e-4)
    gone = np.arange(0, 96, 8)
    certificate = model.forget([f"row:{row}" for row in gone])
    X, y = np.delete(X, gone, axis=0), np.delete(y, gone)
    assert np.allclose(model.standardized_coef_, reference(X, y, weights), atol=1e-4)
    assert bool(model.verify())
    listed = {constant["name"]: constant["value"] for constant in certificate.constants}
    assert listed.get("class-weight") == ("balanced" if weights == "balanced" else None)


@pytest.mark.parametrize("weights", ["balanced", {"rare": 3}])
def test_exact_sums_count_classes_as_scikit_learn_does(rare: tuple[Any, Any], weights: Any) -> None:
    X, y = rare
    model = UnlearningClassifier(mechanism="ridge", preprocess="fitted", class_weight=weights)
    model.fit(X, y).forget([f"row:{row}" for row in range(0, 96, 8)])
    gone = np.arange(0, 96, 8)
    X, y = np.delete(X, gone, axis=0), np.delete(y, gone)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    theirs = RidgeClassifier(alpha=1.0, class_weight=weights).fit(Z, y)
    assert np.mean(model.predict(X) == theirs.predict(Z)) > 0.99
    assert bool(model.verify())


def test_listed_weights_are_those_of_records(people: People) -> None:
    X, y = people.X, people.y
    by_class = UnlearningClassifier(
        class_weight={0: 3, 1: 0.5}, lambda_=0.05, promise=Promise(noise=1e-7, public_n=120)
    ).fit(X, y)
    weights = np.where(y == 0, 3.0, 0.5)
    by_record = UnlearningClassifier(
        lambda_=0.05, promise=Promise(noise=1e-7, max_weight=3.0, public_n=120)
    )
    by_record.fit(X, y, sample_weight=weights)
    assert np.allclose(by_class.coef_, by_record.coef_, atol=1e-4)
    assert by_class.add(X[:5], y[:5]).records == 5
    noisy = UnlearningClassifier(
        mechanism=NoisyGD(steps=40),
        lambda_=0.05,
        class_weight={1: 2.0},
        promise=Promise(public_n=120),
    )
    assert noisy.fit(X, y).forget(["row:3"]).records == 1


def test_balanced_classes_need_preprocessing_that_is_fitted_again(people: People) -> None:
    model = UnlearningClassifier(class_weight="balanced", preprocess="declared")
    with pytest.raises(ValueError, match='needs `preprocess="fitted"`, which counts the classes'):
        model.fit(people.X, people.y)


@pytest.mark.filterwarnings("ignore::efface.NotCoveredWarning")
def test_what_is_no_weight_of_a_class_is_refused(people: People) -> None:
    X, y = people.X, people.y
    with pytest.raises(ValueError, match="an instance of 'dict', a str among"):
        UnlearningClassifier(class_weight="even").fit(X, y)
    wrong: list[tuple[Any, str]] = [
        ({2: 1.0}, "names the class `2`, which is none of `0`, `1`"),
        ({0: -1.0}, "must give a finite weight of at least 0, got `0=-1.0`"),
        ({0: None}, "must give a finite weight of at least 0, got `0=None`"),
    ]
    for listed, message in wrong:
        with pytest.raises(ValueError, match=message):
            UnlearningClassifier(class_weight=listed).fit(X, y)
    with pytest.raises(ValueError, match="both say how much a record counts"):
        UnlearningClassifier(class_weight={0: 2.0}).fit(X, y, sample_weight=np.ones(120))
    with pytest.raises(TypeError, match="unexpected keyword argument 'class_weight'"):
        UnlearningRegressor(class_weight="balanced")  # type: ignore[call-arg]


def test_weights_of_classes_are_copied_searched_saved_and_loaded(
    rare: tuple[Any, Any], people: People, tmp_path: Path
) -> None:
    X, y = rare
    model = UnlearningClassifier(preprocess="fitted", class_weight={"rare": 2.5})
    assert clone(model).get_params()["class_weight"] == {"rare": 2.5}
    search = GridSearchCV(model, {"class_weight": ["balanced", None]}, cv=2)
    assert "class_weight" in search.fit(X, y).best_params_
    model.fit(X, y).save(tmp_path / "m.efface")
    assert UnlearningClassifier.load(tmp_path / "m.efface").class_weight == {"rare": 2.5}

    numbers = UnlearningClassifier(class_weight={0: 2}).fit(people.X, people.y)
    numbers.save(tmp_path / "n.efface")
    again = UnlearningClassifier.load(tmp_path / "n.efface")
    assert again.fit(people.X, people.y).score(people.X, people.y) > 0.5

    # A model that another face made.
    settings = {"class_weight": {"0": 4.0}}
    path = tmp_path / "v.efface"
    Vault.train(path, people.X, people.y, settings=settings, key=tmp_path / "key.toml")
    theirs = UnlearningClassifier.load(path, key=tmp_path / "key.toml")
    assert theirs.class_weight == {"0": 4.0}


def test_a_plan_knows_listed_weights() -> None:
    plan = efface.plan(n=1000, d=5, settings={"class_weight": {"0": 2.0}, "public_n": 1000})
    assert plan.choices[0].parameters["class_weight"] == {"0": 2.0}


def test_a_fold_may_lack_a_class_that_has_a_weight(people: People) -> None:
    y = people.y.copy()
    y[-10:] = 2
    weights: dict[Any, float] = {0: 1, 1: 5, 2: 20}
    model = UnlearningClassifier(class_weight=weights, preprocess="fitted")
    with pytest.warns(UserWarning, match="lists classes that the data lack, .*: 2; `classes`"):
        model.fit(people.X[:110], y[:110])
    assert model.class_weight == weights
    alike = UnlearningClassifier(class_weight={0: 1, 1: 5}, preprocess="fitted", **FINE)
    alike.fit(people.X[:110], y[:110])
    model.set_params(**FINE)
    with pytest.warns(UserWarning, match="left out: 2"):
        model.fit(people.X[:110], y[:110])
    assert np.allclose(model.coef_, alike.coef_, atol=1e-4)
    with pytest.raises(efface.InputError, match="no record of the class 2, so its weight"):
        model.add(people.X[110:], y[110:], new_classes=True)
    assert model.add(people.X[110:], people.y[110:]).records == 10
    whole = UnlearningClassifier(class_weight=weights, preprocess="fitted").fit(people.X, y)
    whole.forget([f"row:{row}" for row in range(110, 120)])
    assert whole.classes_.tolist() == [0, 1]
    assert whole.add(people.X[110:], y[110:], new_classes=True).records == 10
    declared = UnlearningClassifier(class_weight=weights, classes=[0, 1, 2], loss="softmax")
    declared.fit(people.X[:110], y[:110])
