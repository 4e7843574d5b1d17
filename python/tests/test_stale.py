"""An estimator whose vault has moved on says so, and can take over what is new."""

from __future__ import annotations

import copy
import multiprocessing
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import People

import efface
from efface import Declared, UnlearningClassifier, UnlearningRegressor


def fitted(people: People) -> UnlearningClassifier:
    return UnlearningClassifier().fit(people.X, people.y, ids=people.ids)


def test_predicting_with_weights_that_still_know_the_forgotten_is_warned_about(
    people: People, tmp_path: Path
) -> None:
    model = fitted(people).save(tmp_path / "m.efface")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(people.X)
    efface.Vault(tmp_path / "m.efface").delete(ids=["id-3"])
    uses: list[Any] = [
        lambda: model.predict(people.X),
        lambda: model.decision_function(people.X),
        lambda: model.predict_proba(people.X),
        lambda: model.certificate_,
        lambda: model.status(),
    ]
    for use in uses:
        with pytest.warns(efface.StaleModelWarning, match=r"version 1 .* version 2") as told:
            use()
        assert told[0].filename == __file__
    before = model.coef_
    with pytest.warns(efface.StaleModelWarning):
        assert model.status()["stale"]
    assert model.sync() is model
    assert not np.array_equal(before, model.coef_)
    assert model.certificate_.kind == "delete"
    assert not model.status()["stale"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(people.X)


def test_a_request_works_on_the_newest_model(people: People) -> None:
    model = fitted(people)
    other = copy.deepcopy(model)
    other.forget(ids="id-1")
    with pytest.warns(efface.StaleModelWarning):
        model.predict(people.X)
    model.forget(ids="id-2")
    assert [c.kind for c in model.certificates_] == ["train", "delete", "delete"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(people.X)
    with pytest.warns(efface.StaleModelWarning):
        other.predict(people.X)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_request_of_another_process_is_noticed(people: People) -> None:
    model = fitted(people)
    process = multiprocessing.get_context("fork").Process(
        target=model.forget, kwargs={"ids": "id-9"}
    )
    process.start()
    process.join()
    assert process.exitcode == 0
    with pytest.warns(efface.StaleModelWarning):
        model.predict(people.X)


def test_an_erasure_of_another_copy_is_noticed(people: People) -> None:
    model = fitted(people)
    other = copy.deepcopy(model)
    other.forget(ids="id-1", release=False)
    with pytest.warns(efface.StaleModelWarning, match="holds none, since records were erased"):
        model.predict(people.X)
    model.sync()
    for withdrawn in (model, other):
        with pytest.raises(efface.ModelWithdrawn):
            withdrawn.predict(people.X)
        assert not withdrawn.status()["stale"]
    model.refresh()
    assert model.predict(people.X).shape == (120,)
    with pytest.warns(efface.StaleModelWarning, match="has no model"):
        other.status()
    assert np.array_equal(other.sync().coef_, model.coef_)


def test_a_model_without_its_vault_predicts(people: People, tmp_path: Path) -> None:
    model = fitted(people).save(tmp_path / "m.efface")
    (tmp_path / "m.efface").unlink()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(people.X)


def test_the_weights_of_this_object_are_checked(people: People, tmp_path: Path) -> None:
    model = fitted(people)
    assert model.verify()
    assert model.verify(key=model.vault_.public_key).checks[-1].outcome == "holds"
    assert not model.verify(key="0" * 64)
    regressor = UnlearningRegressor(preprocess=Declared(target_range=(-2, 2))).fit(
        people.X, people.X[:, 0]
    )
    assert regressor.verify()
    model.save(tmp_path / "m.efface")
    efface.Vault(tmp_path / "m.efface").delete(ids=["id-3"])
    stale = model.verify()
    assert not stale
    assert [c.outcome for c in stale if "sync()" in c.reason] == ["undecided"]
    assert model.sync().verify()
    with pytest.raises(ValueError, match="read-only"):
        model.coef_[0, 0] = 1
    forged = model.coef_.copy()
    forged[0, 0] += 1e-9
    model.__dict__["_published"] = type(model._published)(
        model._published.version, forged, model._published.intercept, model._published.facts
    )
    assert [c.outcome for c in model.verify() if c.name == "weights of this object"] == ["fails"]
