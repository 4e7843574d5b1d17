"""Options of estimators: they have the engine's settings, and go wherever estimators go."""

from __future__ import annotations

import json
import pickle
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils._param_validation import InvalidParameterError

import efface
from efface import Declared, Fitted, Promise, UnlearningClassifier, UnlearningRegressor, _engine
from efface import dask as on_dask
from efface._parameters import OPTIONS

MECHANISMS: dict[str, Any] = OPTIONS["mechanism"]
DASK = [on_dask.DaskUnlearningClassifier, on_dask.DaskUnlearningRegressor]
ROWS = {row["name"]: row for row in json.loads(_engine.settings())}
RNG = np.random.default_rng(5)
X = RNG.normal(size=(120, 3)) / 4
Y = (X[:, 0] > X[:, 1]).astype(int)


def test_there_is_one_for_each_mechanism_of_the_engine() -> None:
    assert set(MECHANISMS) == set(ROWS["mechanism"]["names"])
    for name, kind in MECHANISMS.items():
        own = {row["name"] for row in ROWS.values() if name in row["owners"]}
        assert set(kind().get_params()) == own
        assert getattr(efface, kind.__name__) is kind
        assert all(f"{parameter} : " in (kind.__doc__ or "") for parameter in own)


@pytest.mark.parametrize("estimator", [UnlearningClassifier, UnlearningRegressor, *DASK])
def test_estimators_have_few_parameters(estimator: type[Any]) -> None:
    assert set(signature(estimator).parameters) == estimator().get_params().keys()
    assert len(estimator().get_params()) <= 15


def test_every_setting_of_a_model_is_a_parameter_somewhere() -> None:
    kinds = [kind for of_one in OPTIONS.values() for kind in of_one.values()]
    taken = set().union(*(kind().get_params() for kind in kinds))
    taken |= set(UnlearningClassifier().get_params()) | set(UnlearningRegressor().get_params())
    wanted = {row["parameter"] for row in ROWS.values() if not row["internal"]}
    assert wanted <= taken


def test_they_are_values() -> None:
    steps = efface.NoisyGD(steps=400)
    assert repr(steps) == "NoisyGD(steps=400)"
    assert steps == efface.NoisyGD(steps=400) != efface.NoisyGD()
    assert efface.Solve() != efface.Retrain()
    for copied in (clone(steps), pickle.loads(pickle.dumps(steps))):
        assert copied == steps
    with pytest.raises(AttributeError, match=r"set_params\(mechanism__steps=...\)"):
        steps.steps = 3
    nested = UnlearningClassifier(mechanism=steps).set_params(mechanism__steps=3)
    assert (steps.steps, nested.mechanism) == (400, efface.NoisyGD(steps=3))


def test_an_object_of_defaults_is_its_name() -> None:
    for mechanism in ("retrain", "noisy-gd"):
        named = UnlearningClassifier(mechanism=mechanism, lambda_=0.1, random_state=1)
        held = UnlearningClassifier(mechanism=MECHANISMS[mechanism](), lambda_=0.1, random_state=1)
        assert (named.fit(X, Y).coef_ == held.fit(X, Y).coef_).all()


def test_their_settings_reach_the_engine_and_come_back(tmp_path: Path) -> None:
    mechanism = efface.NoisyGD(steps=np.int64(300), removal_steps=400)
    model = UnlearningClassifier(mechanism=mechanism, lambda_=0.1, promise=Promise(noise=0.5)).fit(
        X, Y
    )
    assert model.certificate_.event["learning"] == 300
    model.save(tmp_path / "m.efface")
    again = UnlearningClassifier.load(tmp_path / "m.efface")
    assert again.mechanism == efface.NoisyGD(steps=300, removal_steps=400)
    settings = {"mechanism": mechanism, "lambda_": 0.1, "noise": 0.5}
    vault = efface.Vault.train(tmp_path / "v.efface", X, Y, settings=settings)
    assert vault.certificates[0].event["learning"] == 300
    theirs = UnlearningClassifier.load(tmp_path / "v.efface")
    assert theirs.mechanism == efface.NoisyGD(steps=300, removal_steps=400)
    assert theirs.get_params()["mechanism__steps"] == 300


def test_a_search_goes_into_them() -> None:
    model = UnlearningClassifier(
        mechanism="noisy-gd", lambda_=0.1, random_state=3, promise=Promise(noise=0.5)
    )
    grid: dict[str, Any] = {"mechanism__steps": [50, 60]}
    search = GridSearchCV(model, grid, cv=2).fit(X, Y)
    assert search.best_params_["mechanism__steps"] in (50, 60)
    assert search.best_estimator_.mechanism.steps in (50, 60)
    assert model.mechanism == "noisy-gd"


def test_a_search_goes_into_preprocessing_and_promise() -> None:
    grid: dict[str, Any] = {
        "preprocess": [Fitted(), Declared(row_norm=2.0)],
        "promise__excess_risk": [1e-3, 1e-2],
        "preprocess__row_norm": [1.0, 3.0],
    }
    search = GridSearchCV(UnlearningClassifier(), grid, cv=2, error_score="raise").fit(X, Y)
    assert len(search.cv_results_["params"]) == 8
    best = search.best_estimator_
    assert best.preprocess.row_norm == search.best_params_["preprocess__row_norm"]
    assert best.promise == Promise(excess_risk=search.best_params_["promise__excess_risk"])
    pipeline = make_pipeline(Normalizer(), UnlearningClassifier())
    pipeline.set_params(unlearningclassifier__preprocess__min_frequency=3)
    assert pipeline[-1].preprocess == Fitted(min_frequency=3)
    with pytest.raises(ValueError, match="`loss` is 'logistic', which has no settings"):
        UnlearningClassifier().set_params(loss__hinge_width=2.0)


def test_a_hinge_has_a_width(tmp_path: Path) -> None:
    model = UnlearningClassifier(
        loss=efface.HuberHinge(hinge_width=0.5), preprocess="declared"
    ).fit(X, Y)
    listed = {c["name"]: c["value"] for c in model.certificate_.constants}
    assert listed["hinge-width"] == "0.5"
    assert not hasattr(model, "predict_proba")
    model.save(tmp_path / "m.efface")
    again = UnlearningClassifier.load(tmp_path / "m.efface")
    assert again.get_params() == model.get_params()
    assert again.preprocess == "declared"


def test_what_is_not_theirs_is_refused() -> None:
    with pytest.raises(
        TypeError, match=r"it belongs to Promise, as in promise=Promise\(noise=...\)"
    ):
        UnlearningClassifier(noise=3)  # type: ignore[call-arg]
    with pytest.raises(InvalidParameterError, match="'min_frequency' parameter of Fitted"):
        UnlearningClassifier(preprocess=Fitted(min_frequency=0)).fit(X, Y)
    with pytest.raises(InvalidParameterError, match="'promise' parameter"):
        UnlearningClassifier(promise=Fitted()).fit(X, Y)  # type: ignore[arg-type]
    where = r"UnlearningClassifier\(\) .* 'steps': .* mechanism=NoisyGD\(steps=\.\.\.\)"
    with pytest.raises(TypeError, match=where):
        UnlearningClassifier(steps=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="it belongs to DistributedDescent"):
        efface.NoisyGD(copies=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'stps'$"):
        efface.NoisyGD(stps=3)  # type: ignore[call-arg]
    with pytest.raises(InvalidParameterError, match="'steps' parameter of NoisyGD"):
        UnlearningClassifier(mechanism=efface.NoisyGD(steps=0)).fit(X, Y)
    with pytest.raises(InvalidParameterError, match=r"'copies' .* in the range \[1, 64\]"):
        UnlearningClassifier(mechanism=efface.DistributedDescent(copies=65)).fit(X, Y)
    with pytest.raises(InvalidParameterError, match=r"'deletions' .* Got True"):
        UnlearningClassifier(mechanism=efface.DPSGD(deletions=True)).fit(X, Y)
    with pytest.raises(InvalidParameterError, match=r"'epsilon' .* Got True"):
        UnlearningClassifier(epsilon=True).fit(X, Y)
    with pytest.raises(InvalidParameterError, match="'mechanism' parameter"):
        UnlearningClassifier(mechanism=3).fit(X, Y)  # type: ignore[arg-type]
    with pytest.raises(efface.InputError, match="`variant` must be one of secret, perfect"):
        UnlearningClassifier(mechanism=efface.DescentToDelete(variant="x")).fit(X, Y)
    with pytest.raises(efface.FitRefused, match="only the squared loss can be solved from sums"):
        UnlearningClassifier(mechanism=efface.Ridge(), loss="softmax").fit(X, Y)
    with pytest.raises(efface.FitRefused, match="no bound, and only exact sums need none"):
        UnlearningClassifier(loss="squared-classes").fit(X, Y)


def test_weights_to_start_from_are_the_mechanisms(tmp_path: Path) -> None:
    before = UnlearningClassifier(random_state=1).fit(X, Y)
    start = tmp_path / "start.npz"
    start.write_bytes(before.vault_.export())
    mechanism = efface.NoisyGD(start=start, start_public=True)
    model = UnlearningClassifier(mechanism=mechanism, lambda_=0.1).fit(X, Y)
    assert model.predict(X).shape == (120,)
    with pytest.raises(efface.FitRefused, match="start"):
        UnlearningClassifier(mechanism=efface.NoisyGD(start=start), lambda_=0.1).fit(X, Y)
