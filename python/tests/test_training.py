"""Features of models that were trained privately elsewhere: histories, and what is refused."""

from __future__ import annotations

import copy
import json
import math
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import efface
from efface import Ridge, Training, UnlearningClassifier

WEIGHTS = np.random.default_rng(7).normal(size=(5, 12))
TRAINING = Training(noise=6.0, rate=0.05, steps=200)


def encoder(batch: Any) -> Any:
    return np.tanh(np.asarray(batch) @ WEIGHTS)


def records(count: int = 300) -> tuple[Any, Any]:
    raw = np.random.default_rng(1).normal(size=(count, 5))
    return raw, np.where(raw[:, 0] * raw[:, 1] > 0, "same", "other")


def made(training: Training | None = TRAINING) -> Any:
    return efface.extract(encoder, records()[0], name="mine 1", training=training)


def stated(certificate: efface.Certificate) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(certificate.to_json())
    return document


def model(mechanism: Any = None, **rest: Any) -> UnlearningClassifier:
    return UnlearningClassifier(mechanism=mechanism or Ridge(deletions=4), epsilon=3, **rest)


def test_features_take_their_training_along(tmp_path: Path) -> None:
    X, y = made(), records()[1]
    assert X.training == TRAINING
    fitted = model().fit(X, y)
    certificate = fitted.forget(ids=["row:3", "row:5"])
    document = stated(certificate)
    given = document["event"]["given"]
    assert given["declared"]["phases"] == [{"noise": "6", "rate": "0.05", "steps": 200}]
    claim = document["claims"][0]
    assert claim["notion"] == "indistinguishable-from-retraining"
    assert claim["group"] == "2"
    told = {a["name"]: a["evidence"] for a in document["assumptions"]}
    for name in ("given", "given-gradients", "given-batches", "given-noise", "extractor"):
        assert told[name] == "declared"
    assert any("on the user's word" in line for line in document["scope"]["does_not_cover"])
    assert not any("public model" in line for line in document["scope"]["does_not_cover"])
    # What an exact model promises is what the extractor itself does.
    listed = {c["name"]: c["value"] for c in document["constants"]}
    alone = TRAINING.epsilon(delta=float(listed["delta"]), deletions=2)
    assert float(claim["epsilon"]) == pytest.approx(alone, rel=1e-6)
    assert fitted.vault_.status()["deletions_left"] == 2
    path = tmp_path / "model.efface"
    fitted.save(path)
    assert certificate.verify(key=fitted.vault_.public_key, vault=path)
    fitted.forget(ids=["row:7", "row:8"])
    with pytest.raises(efface.BudgetExhausted, match="since the extractor was trained"):
        fitted.forget(ids="row:9")


def test_the_parameter_says_the_same() -> None:
    raw, y = records()
    plain = encoder(raw)
    for given in (TRAINING, str(TRAINING)):
        fitted = model(extractor_training=given).fit(plain, y)
        document = stated(fitted.certificate_)
        assert document["event"]["given"]["declared"]["deleted"] == 0
        assert clone(fitted).extractor_training == given
        model(extractor_training=given).fit(made(), y)
    with pytest.raises(efface.InputError, match="leave out `extractor_training`"):
        model(extractor_training="noise=9,rate=0.05,steps=200").fit(made(), y)
    with pytest.raises(efface.InputError, match="must have `noise`, `rate` and `steps`"):
        model(extractor_training="noise=9").fit(plain, y)
    with pytest.raises(efface.Refused, match="deletions"):
        model().fit(plain, y)


def test_a_model_with_noise_and_a_loaded_one(tmp_path: Path) -> None:
    X, y = made(), records()[1]
    solved = model(efface.Solve(deletions=2), lambda_=0.05).fit(X, y)
    solved.forget(ids="row:3")
    exact = model(Ridge(deletions=2)).fit(X, y)
    exact.forget(ids="row:3")
    assert solved.certificate_.claims[0].epsilon > exact.certificate_.claims[0].epsilon
    path = tmp_path / "model.efface"
    declared = model(extractor_training=TRAINING).fit(encoder(records()[0]), y)
    declared.save(path)
    loaded = UnlearningClassifier.load(path)
    assert loaded.extractor_training == TRAINING
    assert loaded.forget(ids="row:3").claims[0].epsilon > 0
    again = pickle.loads(pickle.dumps(loaded))
    assert again.extractor_training == TRAINING


def test_what_is_made_of_outputs_keeps_the_training() -> None:
    X = made()
    for kept in (X[3:9], X[[1, 2]], copy.copy(X), copy.deepcopy(X), pickle.loads(pickle.dumps(X))):
        assert (kept.training, kept.extractor) == (TRAINING, "mine 1")
    alone = np.ones_like(np.asarray(X))
    changed = X.copy()
    changed[0] = 1
    plain = np.zeros((2, X.shape[1]))
    plain_out = np.add(X, 1, out=np.empty_like(alone))
    many: tuple[Any, ...] = (
        X * 2,
        alone - X,
        np.vstack([alone, X]),
        X[:, 1:],
        X.T,
        X.astype(np.float64),
        plain_out,
    )
    more: tuple[Any, ...] = (np.concatenate([X, plain]), np.sort(X), np.split(X, 2)[0])
    for computed in (*many, *more, changed):
        assert (computed.training, computed.extractor) == (TRAINING, None)
    assert made(None).training is None
    assert type(made(None) * 2) is np.ndarray
    with pytest.raises(efface.InputError, match="two trainings"):
        np.vstack([X, made(Training(noise=9, rate=0.05, steps=200))])
    with pytest.raises(efface.InputError, match="must be a `Training`"):
        efface.extract(encoder, records()[0], name="x", training=1.1)  # type: ignore[arg-type]


def kinds(fitted: Any) -> list[str]:
    return [claim["notion"] for claim in stated(fitted.certificate_)["claims"]]


def test_no_detour_makes_a_model_on_a_training_exact() -> None:
    pd = pytest.importorskip("pandas")
    X, y = made(), records()[1]
    table = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    whole, half = table.copy(), table.iloc[100:].reset_index(drop=True)
    whole["id"] = [f"r{i}" for i in range(len(whole))]
    scaled = make_pipeline(StandardScaler(), model(preprocess="declared"))
    with pytest.warns(efface.NotCoveredWarning):
        scaled.fit(X, y)
    fits = [
        scaled[-1],
        model(preprocess="declared").fit(table, y),
        model(preprocess="declared").fit(half, y[100:]),
        model(preprocess="declared").fit(whole, y, ids="id"),
        model().fit(np.asarray(X.astype(np.float64)), y),
        model().fit(np.vstack([X[:250], X[250:]]), y),
    ]
    for fitted in fits:
        declared = stated(fitted.certificate_)["event"]["given"]["declared"]
        assert declared["phases"][0]["steps"] == 200
        assert "exact-removal" not in kinds(fitted)
    other = np.random.default_rng(3).normal(size=(300, X.shape[1]))
    unrelated = UnlearningClassifier(mechanism="ridge").fit(other, y)
    assert kinds(unrelated) == ["exact-removal"]


def test_rows_of_another_training_are_refused() -> None:
    X, y = made(), records()[1]
    raw, more = records(310)
    louder = Training(noise=1, rate=0.05, steps=2000)
    rows = {
        name: efface.extract(encoder, raw[300:], name="mine 1", training=training)
        for name, training in (("public", None), ("same", TRAINING), ("louder", louder))
    }
    public = UnlearningClassifier(mechanism="ridge").fit(made(None), y)
    private = model().fit(X, y)
    same = Training(noise=6.0, rate=5e-2, steps=200, dependence=1e-7)
    for fitted, wrong in ((public, "same"), (private, "louder")):
        for request in (fitted.add, fitted.update):
            names: dict[str, Any] = (
                {} if request == fitted.add else {"ids": [f"row:{i}" for i in range(10)]}
            )
            with pytest.raises(efface.InputError, match="these rows come from"):
                request(rows[wrong], more[300:], **names)
        with pytest.raises(efface.InputError, match="these rows come from"):
            fitted.predict(rows[wrong])
    private.add(efface.extract(encoder, raw[300:], name="mine 1", training=same), more[300:])
    assert private.vault_.status()["records"] == 310


def test_trainings_are_values() -> None:
    several = Training(noise=[1.1, 2], rate=[0.01, 1], steps=[np.int64(5), 7], clip=1, deleted=3)
    assert (
        str(several) == "noise=1.1,rate=0.01,steps=5;noise=2.0,rate=1.0,steps=7,clip=1.0,deleted=3"
    )
    for one in (several, TRAINING):
        assert Training._read(str(one)) == one
        assert pickle.loads(pickle.dumps(one)) == one
        assert hash(copy.deepcopy(one)) == hash(one)
    assert several != TRAINING
    assert str(TRAINING) != TRAINING
    assert repr(TRAINING) == "Training(noise=6.0, rate=0.05, steps=200)"
    assert "clip=1.0, deleted=3" in repr(several)
    split = Training(noise=[6.0, 6.0], rate=[0.05, 0.05], steps=[150, 50])
    assert split == TRAINING
    assert TRAINING.epsilon(delta=1e-5) < TRAINING.epsilon(delta=1e-5, deletions=3)


@pytest.mark.parametrize(
    "given",
    [
        {"noise": 0},
        {"noise": -1.0},
        {"noise": math.inf},
        {"noise": math.nan},
        {"noise": "1"},
        {"noise": None},
        {"rate": 0},
        {"rate": 1.5},
        {"rate": math.nan},
        {"steps": 0},
        {"steps": 1.5},
        {"steps": True},
        {"steps": [1, 2]},
        {"noise": [], "rate": [], "steps": []},
        {"clip": 0},
        {"deleted": -1},
        {"noise": [1 + k / 100 for k in range(65)], "rate": [0.1] * 65, "steps": [1] * 65},
    ],
)
def test_numbers_that_are_none_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(efface.InputError):
        Training(**{"noise": 1.0, "rate": 0.1, "steps": 10, **given})


def test_histories_of_opacus() -> None:
    history = [(1.1, 0.01, 300), (0.9, 0.01, 200), (1.1, 0.01, 50)]
    want = Training(noise=[1.1, 0.9], rate=[0.01, 0.01], steps=[350, 200])
    accountant = SimpleNamespace(history=history)
    engine = SimpleNamespace(accountant=accountant)
    state = {"history": history, "mechanism": "rdp"}
    for given in (history, accountant, engine, state, iter(history)):
        assert Training.from_opacus(given) == want
    assert Training.from_opacus(history, clip=1.0, deleted=2).deleted == 2
    for bad, what in (
        ([], "no step"),
        ([(0.0, 0.01, 5)], "noise 0.0"),
        ([(math.nan, 0.01, 5)], "noise nan"),
        ([(1.0, 1.2, 5)], "no probability"),
        ([(1.0, 0.0, 5)], "no probability"),
    ):
        with pytest.raises(efface.Refused, match=what):
            Training.from_opacus(bad)
    for none in ("history", 5, [(1.0, 0.1)], ["abc"], [(1.0, 0.1, 2.5)], object()):
        with pytest.raises(efface.InputError):
            Training.from_opacus(none)


def event(kind: str, **fields: Any) -> Any:
    return type(kind, (), {})() if not fields else _filled(type(kind, (), {})(), fields)


def _filled(made: Any, fields: dict[str, Any]) -> Any:
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def gaussian(noise: float) -> Any:
    return event("GaussianDpEvent", noise_multiplier=noise)


def sampled(inner: Any, rate: float = 0.01) -> Any:
    return event("PoissonSampledDpEvent", sampling_probability=rate, event=inner)


def repeated(inner: Any, count: Any) -> Any:
    return event("SelfComposedDpEvent", event=inner, count=count)


def composed(*events: Any) -> Any:
    return event("ComposedDpEvent", events=list(events))


def test_events_of_dp_accounting() -> None:
    of = Training.from_dp_event
    assert of(repeated(sampled(gaussian(1.1)), 300)).phases == ((1.1, 0.01, 300),)
    # Phases, some of them twice, with something that reveals nothing.
    phases = composed(
        repeated(sampled(gaussian(1.1)), 10), event("NoOpDpEvent"), sampled(gaussian(2.0), 0.5)
    )
    assert of(repeated(phases, 3)).phases == ((1.1, 0.01, 30), (2.0, 0.5, 3))
    # Everybody in each step.
    assert of(repeated(gaussian(4.0), 5)).phases == ((4.0, 1.0, 5),)
    # Two sums of one batch hide less than either.
    ((noise, rate, steps),) = of(sampled(composed(gaussian(3.0), gaussian(4.0)))).phases
    assert (rate, steps) == (0.01, 1)
    assert 2.4 * (1 - 1e-11) < noise < 2.4
    ((noise, _, _),) = of(sampled(repeated(gaussian(2.0), 4))).phases
    assert 1 - 1e-11 < noise < 1
    named = SimpleNamespace(class_name=b"GaussianDpEvent", noise_multiplier=2.0)
    assert of(named).phases == ((2.0, 1.0, 1),)


def test_events_that_hide_less_or_nothing_are_refused() -> None:
    fixed = {"source_dataset_size": 100, "sample_size": 5, "event": gaussian(1.0)}
    deep: Any = gaussian(1.0)
    for _ in range(200):
        deep = composed(deep)
    for given, what in (
        (event("SampledWithoutReplacementDpEvent", **fixed), "fixed size"),
        (event("SampledWithReplacementDpEvent", **fixed), "fixed size"),
        (event("LaplaceDpEvent", noise_multiplier=1.0), "not known here"),
        (event("NonPrivateDpEvent"), "not known here"),
        (sampled(event("LaplaceDpEvent", noise_multiplier=1.0)), "only Gaussian"),
        (sampled(sampled(gaussian(1.0))), "only Gaussian"),
        (composed(sampled(gaussian(1.0)), event("ZCDpEvent", rho=1.0)), "`ZCDpEvent`"),
        (sampled(gaussian(0.0)), "nothing hides"),
        (sampled(gaussian(math.nan)), "nothing hides"),
        (sampled(gaussian(1.0), 1.5), "no probability"),
        (event("NoOpDpEvent"), "no step"),
        (repeated(sampled(gaussian(1.0)), 0), "no step"),
        (sampled(event("NoOpDpEvent")), "no step"),
        (deep, "deep"),
        (object(), "`object`"),
    ):
        with pytest.raises(efface.Refused, match=what):
            Training.from_dp_event(given)
    with pytest.raises(efface.InputError, match="`count`"):
        Training.from_dp_event(repeated(sampled(gaussian(1.0)), 2.5))
