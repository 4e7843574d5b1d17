"""Records with weights."""

from __future__ import annotations

import pickle
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from conftest import People
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import efface
from efface import Declared, Promise, UnlearningClassifier, UnlearningRegressor

# Noise far below what is compared.
FINE: dict[str, Any] = {"lambda_": 0.1, "preprocess": "declared"}
QUIET: dict[str, Any] = {**FINE, "promise": Promise(noise=1e-8)}


def turns() -> NDArray[np.float64]:
    """Weights 0, 1 and 3 in turn: 120 records weigh 160."""
    return np.tile([0.0, 1.0, 3.0], 40)


def constants(model: Any) -> dict[str, tuple[str, str]]:
    listed = model.certificate_.constants
    return {c["name"]: (c["value"], c["origin"]) for c in listed}


@pytest.mark.parametrize(("preprocess", "n"), [("declared", "160"), ("fitted", "current")])
def test_a_life_with_weights(people: People, preprocess: str, n: str) -> None:
    weights = turns()
    model = UnlearningClassifier(preprocess=preprocess, promise=Promise(max_weight=4)).fit(
        people.X, people.y, subjects=people.subjects, sample_weight=weights
    )
    assert constants(model)["max-weight"] == ("4", "user")
    assert constants(model)["n"] == (n, "data")
    limits = model.certificate_.does_not_cover
    assert sum("class balance" in limit for limit in limits) == 1
    model.forget(subjects="who-3")
    model.add(people.X[:2], people.y[:2], subjects=["new", "new"], sample_weight=[4, 0.5])
    model.update(people.X[:1], people.y[:1], ids=["row:5"], subjects=["who-1"], sample_weight=2)
    vault = model.vault_
    for certificate in model.certificates_:
        assert certificate.verify(key=vault.public_key, vault=vault.path)
    assert model.score(people.X, people.y, sample_weight=weights) > 0.8
    assert model.status()["records"] == 119


def test_weights_are_repetitions_and_what_is_forgotten_was_never_there(people: People) -> None:
    weights = turns().astype(np.int64)
    repeated = UnlearningClassifier(**QUIET).fit(
        people.X.repeat(weights, axis=0), people.y.repeat(weights)
    )
    shapes = (people.X, pd.DataFrame(people.X), scipy.sparse.csr_array(people.X))
    for x in shapes:
        model = UnlearningClassifier(**FINE, promise=Promise(noise=1e-8, max_weight=3)).fit(
            x, people.y, sample_weight=pd.Series(weights)
        )
        assert np.allclose(model.coef_, repeated.coef_, atol=1e-6)
        assert np.allclose(model.intercept_, repeated.intercept_, atol=1e-6)
    heavy = [f"row:{row}" for row in np.flatnonzero(weights == 3)]
    before = model.coef_
    model.forget(ids=heavy)
    light = np.where(weights == 3, 0, weights)
    never = UnlearningClassifier(**FINE, promise=Promise(noise=1e-8, max_weight=3, public_n=160))
    with pytest.warns(efface.SettingsWarning, match=r"`Promise\(public_n=...\)` 160 is far from"):
        never.fit(people.X, people.y, sample_weight=light)
    assert np.allclose(model.coef_, never.coef_, atol=1e-6)
    assert np.abs(model.coef_ - before).max() > 0.01


def test_the_largest_weight_read_off_the_data_is_warned_about(people: People) -> None:
    with pytest.warns(efface.NotCoveredWarning, match="sample weight, 3, was computed from"):
        model = UnlearningClassifier().fit(people.X, people.y, sample_weight=turns())
    assert constants(model)["max-weight"] == ("3", "data")
    assert "max-weight" in [assumption["name"] for assumption in model.certificate_.assumptions]
    private = UnlearningClassifier(
        classes=[0, 1], promise=Promise(notion="differential-privacy", releases=3)
    )
    with (
        pytest.warns(efface.NotCoveredWarning),
        pytest.raises(efface.Refused, match=r"single records.*public_n.*max_weight"),
    ):
        private.fit(people.X, people.y, sample_weight=turns())
    private.set_params(
        promise__max_weight=3.0, promise__public_n=160, promise__capacity=200, lambda_=0.1
    )
    private.fit(people.X, people.y, sample_weight=turns())
    assert private.certificate_.claims[0].adjacency == "remove"


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        (np.full(120, -1.0), "at least 0"),
        (np.full(120, np.nan), "NaN"),
        (np.full(120, np.inf), "infinity"),
        (np.zeros(120), "zero"),
        (np.ones(119), "119"),
        (np.ones((120, 2)), "1D"),
        (np.array(["heavy"] * 120), "heavy"),
    ],
)
def test_what_is_no_weight_is_refused(people: People, weights: Any, says: str) -> None:
    model = UnlearningClassifier(promise=Promise(max_weight=3))
    with pytest.raises((ValueError, efface.Refused), match=says):
        model.fit(people.X, people.y, sample_weight=weights)
    assert not hasattr(model, "coef_")


def test_weights_may_sum_to_little(people: People) -> None:
    model = UnlearningClassifier(preprocess="declared", promise=Promise(max_weight=3))
    model.fit(people.X, people.y, sample_weight=np.full(120, 1e-3))
    assert constants(model)["n"] == ("1", "data")
    assert model.forget(ids="row:3").records == 1


def test_later_records_have_weights_exactly_where_the_first_had(people: People) -> None:
    more = people.X[:1], people.y[:1]
    model = UnlearningClassifier(promise=Promise(max_weight=3)).fit(
        people.X, people.y, sample_weight=turns()
    )
    before = model.coef_
    with pytest.raises(efface.Refused, match=r"have weights.*`sample_weight`"):
        model.add(*more)
    with pytest.raises(efface.Refused, match=r"weight 3.5, but `Promise.max_weight=....` is 3"):
        model.add(*more, sample_weight=[3.5])
    with pytest.raises(ValueError, match="at least 0"):
        model.add(*more, sample_weight=[-1])
    assert np.array_equal(model.coef_, before)
    plain = UnlearningClassifier().fit(people.X, people.y)
    with pytest.raises(efface.Refused, match="have no weights"):
        plain.add(*more, sample_weight=[1])
    with pytest.raises(efface.Refused, match=r"max_weight.*the records have none"):
        UnlearningClassifier(promise=Promise(max_weight=3)).fit(people.X, people.y)
    with pytest.raises(efface.Refused, match="a record has weight 3"):
        UnlearningClassifier(promise=Promise(max_weight=2)).fit(
            people.X, people.y, sample_weight=turns()
        )
    ridge = UnlearningRegressor(
        mechanism="ridge", preprocess=Declared(target_range=(0, 1)), promise=Promise(max_weight=3)
    )
    with pytest.raises(efface.Refused, match=r"whole numbers.* got 0\.5"):
        ridge.fit(people.X, people.y, sample_weight=turns() / 2)


def test_ridge_counts_records_as_often_as_their_weights_say(people: People) -> None:
    weights = np.arange(len(people.y)) % 3
    copies = np.repeat(np.arange(len(people.y)), weights)
    known = Promise(capacity=1000, public_n=120)
    for make in (
        partial(UnlearningRegressor, preprocess=Declared(target_range=(0, 1))),
        partial(UnlearningClassifier, classes=[0, 1], preprocess="declared"),
    ):
        model = make(mechanism="ridge", promise=known).set_params(promise__max_weight=2)
        model.fit(people.X, people.y, sample_weight=weights)
        plain = make(mechanism="ridge", promise=known).fit(people.X[copies], people.y[copies])
        assert np.array_equal(model.coef_, plain.coef_)
        certificate = model.forget(ids=["row:1", "row:2"])
        assert constants(model)["max-weight"] == ("2", "user")
        assert certificate.verify(key=model.vault_.public_key, vault=model.vault_.path)
        rest = np.setdiff1d(np.arange(len(people.y)), [1, 2])
        never = clone(model).fit(people.X[rest], people.y[rest], sample_weight=weights[rest])
        assert np.array_equal(model.coef_, never.coef_)


def test_weights_are_routed_and_searched_with(people: People) -> None:
    weights = turns()
    steps = FunctionTransformer(), UnlearningClassifier(promise=Promise(max_weight=3))
    pipeline = make_pipeline(*steps)
    pipeline.fit(people.X, people.y, unlearningclassifier__sample_weight=weights)
    assert constants(pipeline[-1])["max-weight"] == ("3", "user")
    with sklearn.config_context(enable_metadata_routing=True):
        model = UnlearningClassifier(promise=Promise(max_weight=3)).set_fit_request(
            sample_weight=True
        )
        model.set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"lambda_": [1e-2, 1e-1]}, cv=2)
        search.fit(people.X, people.y, sample_weight=weights)
        assert constants(search.best_estimator_)["max-weight"] == ("3", "user")
        assert search.score(people.X, people.y, sample_weight=weights) > 0.7


def test_weights_and_the_largest_survive_pickles_and_vaults(people: People, tmp_path: Path) -> None:
    model = UnlearningRegressor(
        preprocess=Declared(target_range=(0, 1)), promise=Promise(max_weight=3.5)
    ).fit(people.X, people.y, sample_weight=turns())
    model.save(tmp_path / "m.efface")
    again = UnlearningRegressor.load(tmp_path / "m.efface")
    assert again.promise == Promise(max_weight=3.5)
    assert again.forget(ids=["row:2", "row:5"]).records == 2
    assert pickle.loads(pickle.dumps(again)).forget(ids=["row:8"]).records == 1
    vault = efface.Vault.train(
        tmp_path / "v.efface", people.X, people.y, sample_weight=turns(), settings={"max_weight": 3}
    )
    assert vault.add(people.X[:1], people.y[:1], sample_weight=[2]).remaining == 121
    with pytest.raises(efface.Refused, match="no weight column"):
        vault.add(people.X[:1], people.y[:1])


def test_plans_count_weights(people: People, tmp_path: Path) -> None:
    settings = {"max_weight": 3, "mechanism": "solve", "state": "perfect"}
    asked: dict[str, Any] = {"pass_ms": 1.0, "settings": settings}
    plan = efface.plan(people.X, people.y, sample_weight=turns(), classes=[0, 1], **asked)
    vault = efface.Vault.train(
        tmp_path / "m.efface", people.X, people.y, sample_weight=turns(), classes=[0, 1], plan=plan
    )
    assert vault.status()["records"] == 120
    with pytest.raises(efface.InputError, match=r"Promise.public_n="):
        efface.plan(n=120, d=4, **asked)
    sized = efface.plan(n=120, d=4, pass_ms=1.0, settings={**settings, "public_n": 160})
    light = efface.plan(n=120, d=4, pass_ms=1.0, settings={"public_n": 160, "state": "perfect"})
    rest = [plan["solve"].claims[-1] for plan in (sized, light)]
    assert rest[0].notion == rest[1].notion == "differential-privacy"
    assert rest[0].epsilon > rest[1].epsilon  # heavier records are told more of
    with pytest.raises(efface.InputError, match="needs the records of `X`"):
        efface.plan(n=120, d=4, sample_weight=turns(), **asked)
