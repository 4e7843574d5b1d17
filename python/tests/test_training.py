"""Features of models that were trained privately elsewhere: histories, and what is refused."""

from __future__ import annotations

import copy
import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import efface
from efface import Promise, Ridge, Training, UnlearningClassifier

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
        fitted = model(promise=Promise(extractor_training=given)).fit(plain, y)
        document = stated(fitted.certificate_)
        assert document["event"]["given"]["declared"]["deleted"] == 0
        assert clone(fitted).promise.extractor_training == given
        model(promise=Promise(extractor_training=given)).fit(made(), y)
    with pytest.raises(efface.InputError, match=r"leave out `Promise.extractor_training="):
        model(promise=Promise(extractor_training="noise=9,rate=0.05,steps=200")).fit(made(), y)
    with pytest.raises(efface.InputError, match="must have `noise`, `rate` and `steps`"):
        model(promise=Promise(extractor_training="noise=9")).fit(plain, y)
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
    declared = model(promise=Promise(extractor_training=TRAINING)).fit(encoder(records()[0]), y)
    declared.save(path)
    loaded = UnlearningClassifier.load(path)
    assert loaded.promise == Promise(extractor_training=TRAINING)
    assert loaded.forget(ids="row:3").claims[0].epsilon > 0
    again = pickle.loads(pickle.dumps(loaded))
    assert again.promise == loaded.promise


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
