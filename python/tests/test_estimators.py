"""The life of an estimator: fit, forget, add, predict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from conftest import People
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV

import efface
from efface import Declared, Promise, UnlearningClassifier, UnlearningRegressor


def fitted(people: People, **parameters: Any) -> UnlearningClassifier:
    return UnlearningClassifier(**parameters).fit(people.X, people.y, subjects=people.subjects)


def test_fit_forget_and_verify(people: People) -> None:
    model = fitted(people)
    assert model.certificate_.kind == "train"
    before = model.coef_
    certificate = model.forget(subjects="who-3")
    assert (certificate.kind, certificate.records) == ("delete", 3)
    assert model.certificates_[-1] == model.certificate_ == certificate
    assert model.status()["records"] == 117
    assert not np.array_equal(before, model.coef_)
    vault = model.vault_
    assert certificate.verify(key=vault.public_key, vault=vault.path)
    assert vault.verify(key=vault.public_key)
    again = model.forget(subjects=["who-3"])
    assert again == certificate
    assert len(model.certificates_) == 2


def test_records_are_named_by_position_from_0(people: People) -> None:
    model = UnlearningClassifier().fit(people.X, people.y)
    model.forget(ids=["row:0", "row:119"])
    with pytest.raises(efface.UnknownRecord, match="`row:120`"):
        model.forget(ids=["row:5", "row:120"])
    assert model.status()["records"] == 118
    model.add(people.X[:2], people.y[:2])
    model.forget(ids=np.array(["row:121"]))
    assert model.status()["records"] == 119
    assert [c.kind for c in model.certificates_] == ["train", "delete", "add", "delete"]


def test_update_and_refresh(people: People) -> None:
    model = UnlearningClassifier(promise=Promise(state="secret", releases=9))
    model.fit(people.X, people.y, ids=people.ids)
    assert model.update(people.X[:2], people.y[2:4], ids=["id-7", "id-8"]).kind == "update"
    assert model.refresh().kind == "refresh"
    assert model.status()["records"] == 120
    with pytest.raises(efface.UnknownRecord):
        model.update(people.X[:1], people.y[:1], ids=["nobody"])
    with pytest.raises(efface.InputError, match="need"):
        model.add(people.X[:1], people.y[:1])
    with pytest.raises(efface.DuplicateRecord, match="already") as raised:
        model.add(people.X[:1], people.y[:1], ids=["id-7"])
    assert isinstance(raised.value, ValueError)


def test_each_prepared_request_uses_what_was_kept(people: People) -> None:
    model = UnlearningClassifier().fit(people.X, people.y)
    with pytest.raises(NotFittedError):
        UnlearningClassifier().prepare()
    for row in range(3):
        assert model.prepare()["version"] == row + 1
        model.forget(ids=[f"row:{row}"])
        work = model.receipt_.work
        assert work is not None
        assert work["by_kept_hessian"]
        assert work["hessians"] == 0
    model.forget(ids=["row:7"])
    assert model.receipt_.work is not None
    assert not model.receipt_.work["by_kept_hessian"]
    assert model.vault_.doctor()


def test_a_failed_fit_leaves_the_model_as_it_was(people: People) -> None:
    model = fitted(people)
    before = {name: id(value) for name, value in model.__dict__.items()}
    with pytest.raises(efface.InputError, match="`loss` must be one of"):
        clone(model).set_params(loss="logit").fit(people.X[:, :2], people.y)
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.full((5, 2), np.inf), np.arange(5) % 2)
    with pytest.raises(efface.DuplicateRecord, match="duplicate id"):
        model.fit(people.X[:, :2], people.y, ids=["x"] * 120)
    assert {name: id(value) for name, value in model.__dict__.items()} == before
    assert model.forget(subjects=["who-1"]).records == 3


def test_subjects_that_no_record_names_are_refused_with_a_way_out(people: People) -> None:
    model = UnlearningClassifier().fit(people.X, people.y)
    with pytest.raises(efface.UnknownSubject, match="unknown: `ada`") as raised:
        model.forget(subjects=["ada"])
    assert raised.value.hint == "the records of this model have no subjects: delete by id"


def test_before_fit_nothing_is_there() -> None:
    model = UnlearningClassifier()
    for name in ("coef_", "intercept_", "certificate_", "n_iter_", "classes_"):
        assert not hasattr(model, name), name
    for call in (model.status, model.refresh, lambda: model.forget(ids=["row:1"])):
        with pytest.raises(NotFittedError):
            call()


def test_before_fit_the_name_that_was_asked_for_is_said_to_be_absent() -> None:
    for model in (UnlearningClassifier(), UnlearningRegressor()):
        for name in ("coef_", "intercept_", "n_iter_", "certificate_"):
            with pytest.raises(AttributeError, match=f"has no attribute '{name}' before `fit`"):
                getattr(model, name)


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_logarithms_of_probabilities(people: People, loss: str) -> None:
    model = fitted(people, loss=loss)
    logarithms = model.predict_log_proba(people.X)
    assert np.allclose(np.exp(logarithms), model.predict_proba(people.X))
    sure = model._published.__class__(
        1, 1e5 * model._published.coef, model._published.intercept, model._published.facts
    )
    model.__dict__["_published"] = sure
    assert np.isfinite(model.predict_log_proba(people.X)).all()
    assert not hasattr(UnlearningClassifier(loss="huber-hinge"), "predict_log_proba")


def test_the_seed_marks_a_model_as_not_for_release(people: People) -> None:
    once, twice = (fitted(people, random_state=7) for _ in range(2))
    assert np.array_equal(once.coef_, twice.coef_)
    assert once.certificate_.not_for_release
    other = fitted(people, random_state=np.random.RandomState(7))
    assert other.certificate_.not_for_release
    open_ended = fitted(people)
    assert not open_ended.certificate_.not_for_release
    assert not np.array_equal(open_ended.coef_, once.coef_)


def test_what_the_user_left_alone_is_the_engines_default(people: People) -> None:
    model = UnlearningClassifier(epsilon=0.5, fit_intercept=False, preprocess="declared")
    model.fit(people.X, people.y)
    origins = {c["name"]: (c["value"], c["origin"]) for c in model.certificate_.constants}
    assert origins["epsilon"] == ("0.5", "user")
    assert origins["intercept"] == ("0", "user")
    defaults = {"lambda": "0.001", "row-norm": "1", "loss": "logistic", "max-group": "1"}
    assert {name: origins[name] for name in defaults} == {
        name: (value, "default") for name, value in defaults.items()
    }
    assert model.intercept_ == 0
    hinge = UnlearningClassifier(loss="huber-hinge", preprocess="declared").fit(people.X, people.y)
    constants = {c["name"]: c for c in hinge.certificate_.constants}
    assert constants["hinge-width"]["value"] == "1"
    assert constants["intercept"]["value"] == "1"


@pytest.mark.parametrize("row_map", ["clip", "unit"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("loss", ["logistic", "softmax", "huber-hinge"])
def test_predictions_are_those_of_the_engine(
    people: People, loss: str, sparse: bool, row_map: str
) -> None:
    X: Any = people.X.copy()
    X[::7] = 0
    X[:, 2] = 0
    y = people.y if loss != "softmax" else people.X[:, :3].argmax(axis=1)
    if sparse:
        X = scipy.sparse.csr_matrix(X)
    model = UnlearningClassifier(loss=loss, preprocess=Declared(row_map=row_map, row_norm=0.3)).fit(
        X, y
    )
    engine = engines_margins(model, X)
    if loss == "softmax":
        assert np.allclose(model.decision_function(X), engine, atol=1e-6)
    else:
        assert np.allclose(model.decision_function(X), engine[:, 0], atol=1e-6)
    if loss == "logistic":
        assert np.allclose(model.predict_proba(X)[:, 1], expit(engine[:, 0]), atol=1e-6)
    assert hasattr(model, "predict_proba") == (loss != "huber-hinge")


def engines_margins(model: Any, X: Any) -> NDArray[np.float64]:
    from efface import _engine
    from efface._table import table

    coef, intercept, _ = model.vault_.weights()
    declared = model.preprocess
    parameters = {"row_map": declared.row_map, "row_norm": declared.row_norm or 1.0}
    margins, _ = _engine.margins(table(X), coef, intercept, **parameters)
    return margins


def test_regression_is_in_units_of_y(people: People) -> None:
    y = 100 + 40 * people.X[:, 0]
    model = UnlearningRegressor(
        preprocess=Declared(target_range=(0, 200)), promise=Promise(excess_risk=1e-6)
    ).fit(people.X, y)
    assert model.score(people.X, y) > 0.9
    outputs = engines_margins(model, people.X)[:, 0]
    assert np.allclose(model.predict(people.X), (outputs + 1) / 2 * 200, atol=1e-4)
    assert model.certificate_.verify(vault=model.vault_.path).outcome == "undecided"
    assert abs(model.intercept_ - 100) < 20
    model.forget(ids=["row:3"])
    with pytest.raises(efface.InputError, match="declared range"):
        model.add(people.X[:1], [201.0])


def test_a_range_that_is_read_off_the_data_is_an_assumption(people: People) -> None:
    y = people.X[:, 0]
    with pytest.warns(efface.NotCoveredWarning, match="computed from the data"):
        model = UnlearningRegressor(preprocess="declared").fit(people.X, y)
    certificate = model.certificate_
    constants = {c["name"]: c["origin"] for c in certificate.constants}
    assert constants["target-range"] == "data"
    assert "target-range" in {a["name"] for a in certificate.assumptions}
    assert "fails" not in {check.outcome for check in certificate.verify()}
    # The record that held the extreme would be told, so nothing is claimed that protects one.
    protect_one = {"deletion-privacy", "differential-privacy"}
    claims = [*certificate.claims, *model.forget(ids=[f"row:{y.argmax()}"]).claims]
    assert claims and not {claim.notion for claim in claims} & protect_one
    declared = UnlearningRegressor(preprocess=Declared(target_range=(-2, 2))).fit(people.X, y)
    assert {claim.notion for claim in declared.forget(ids=["row:3"]).claims} >= protect_one
    with pytest.warns(efface.NotCoveredWarning), pytest.raises(efface.Refused, match="protects"):
        UnlearningRegressor(promise=Promise(notion="differential-privacy", public_n=120)).fit(
            people.X, y
        )
    with pytest.raises(efface.InputError, match="only one value"):
        UnlearningRegressor(preprocess="declared").fit(people.X, np.ones(120))


def test_ridge_removes_exactly(people: People) -> None:
    y = people.X[:, 0]
    model = UnlearningRegressor(mechanism="ridge", preprocess=Declared(target_range=(-2, 2))).fit(
        people.X, y
    )
    model.forget(ids=[f"row:{k}" for k in range(100, 120)])
    never = clone(model).set_params(promise__public_n=120).fit(people.X[:100], y[:100])
    assert np.array_equal(model.coef_, never.coef_)
    assert model.certificate_.claims[0].notion == "exact-removal"


def test_ridge_fits_tables_and_removes_exactly() -> None:
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"age": rng.normal(40, 9, 90), "work": rng.choice(["a", "b", ""], 90)})
    table.loc[4, "age"] = np.nan
    y = 3.0 * table["age"].fillna(40) + 20.0 * (table["work"] == "a")
    model = UnlearningRegressor(mechanism="ridge").fit(table, y)
    assert model.score(table, y) > 0.98
    certificate = model.forget(ids=["row:4", "row:5"])
    assert [claim.notion for claim in certificate.claims] == ["exact-removal"]
    rest = [row for row in reversed(range(90)) if row not in {4, 5}]
    never = clone(model).fit(table.iloc[rest].reset_index(drop=True), y.to_numpy()[rest])
    assert np.array_equal(model.coef_, never.coef_)
    assert model.intercept_ == never.intercept_
    assert model.vault_.verify(key=model.vault_.public_key)


@pytest.mark.parametrize("classes", [["no", "yes"], ["a", "b", "c", "d"]])
@pytest.mark.parametrize("framed", [True, False])
def test_ridge_classifies_and_removes_exactly(classes: list[str], framed: bool) -> None:
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(200, 4)) / 3
    y = np.array(classes)[rows[:, : len(classes)].argmax(axis=1)]
    X: Any = pd.DataFrame(rows, columns=list("abcd")) if framed else rows
    declared = {"preprocess": "declared", "classes": classes, "promise": Promise(public_n=200)}
    constants: dict[str, Any] = {} if framed else declared
    model = UnlearningClassifier(mechanism="ridge", **constants).fit(X, y)
    theirs = RidgeClassifier().fit(rows, y)
    assert (model.predict(X) == theirs.predict(rows)).mean() > 0.9
    assert model.score(X, y) > 0.8
    assert model.classes_.tolist() == classes
    decision = model.decision_function(X)
    assert decision.shape == ((200,) if len(classes) == 2 else (200, 4))
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "predict_log_proba")
    certificate = model.forget(ids=["row:4", "row:5"])
    assert [claim.notion for claim in certificate.claims] == ["exact-removal"]
    rest = [row for row in reversed(range(200)) if row not in {4, 5}]
    left = X.iloc[rest].reset_index(drop=True) if framed else X[rest]
    never = clone(model).fit(left, y[rest])
    assert np.array_equal(model.coef_, never.coef_)
    assert np.array_equal(model.intercept_, never.intercept_)
    assert model.vault_.verify(key=model.vault_.public_key)


def test_ridge_classifies_in_a_search(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    X = pd.DataFrame({"a": rng.normal(size=150), "b": rng.choice(["u", "v", "w"], 150)})
    y = np.where(X["a"] > 0, X["b"], "neither")
    search = GridSearchCV(
        UnlearningClassifier(mechanism="ridge"), {"lambda_": [1e-4, 1e-2]}, cv=3
    ).fit(X, y)
    best = search.best_estimator_
    assert best.score(X, y) > 0.7
    best.save(tmp_path / "m.efface")
    opened = UnlearningClassifier.load(tmp_path / "m.efface")
    assert np.array_equal(opened.predict(X), best.predict(X))
    assert not hasattr(opened, "predict_proba")


@pytest.mark.parametrize("labels", [["10", "9"], ["b", "a"], [True, False], [2.0, -1.0], [7, 12]])
def test_classes_are_sorted_as_numpy_sorts_them(people: People, labels: list[Any]) -> None:
    y = np.array(labels)[people.y]
    model = UnlearningClassifier(lambda_=0.01).fit(people.X, y)
    assert model.classes_.tolist() == sorted(labels)
    assert model.score(people.X, y) > 0.8
    likeliest = model.classes_[model.predict_proba(people.X).argmax(axis=1)]
    assert (likeliest == model.predict(people.X)).all()
    sign = 1 if labels[1] == max(labels) else -1
    assert np.sign(model.coef_[0, 0]) == sign


def test_softmax_follows_the_same_order(people: People) -> None:
    y = np.array(["10", "9", "x"])[people.X[:, :3].argmax(axis=1)]
    model = UnlearningClassifier(loss="softmax").fit(people.X, y)
    assert model.classes_.tolist() == ["10", "9", "x"]
    assert model.score(people.X, y) > 0.7
    assert (
        model.predict(people.X) == model.classes_[model.decision_function(people.X).argmax(1)]
    ).all()


def test_declared_classes_are_public_knowledge(people: People) -> None:
    model = UnlearningClassifier(classes=[0, 1]).fit(people.X, people.y)
    assert {c["name"]: c["origin"] for c in model.certificate_.constants}["classes"] == "user"
    one = UnlearningClassifier(classes=["no", "yes"]).fit(people.X, np.repeat(["yes"], 120))
    assert (one.predict(people.X) == "yes").all()
    with pytest.raises(efface.InputError, match="not among the model's classes: 2"):
        model.add(people.X[:1], [2])
    texts = UnlearningClassifier(classes=["01", "1"]).fit(people.X, np.where(people.y, "1", "01"))
    assert set(texts.predict(people.X)) == {"01", "1"}


def test_forgetting_everything_leaves_noise(people: People) -> None:
    everyone = [f"row:{k}" for k in range(120)]
    fitted_anew = UnlearningClassifier().fit(people.X, people.y)
    with pytest.raises(efface.Refused, match=r"no records to fit the preprocessing to.*`release="):
        fitted_anew.forget(ids=everyone)
    assert fitted_anew.status()["records"] == 120
    model = UnlearningClassifier(preprocess="declared").fit(people.X, people.y)
    model.forget(ids=everyone)
    assert model.status()["records"] == 0
    with pytest.warns(UserWarning, match="noise"):
        model.predict(people.X)
    model.add(people.X, people.y)
    model.predict(people.X)
