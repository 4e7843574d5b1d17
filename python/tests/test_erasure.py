"""Erasure without a release, from Python."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import People

import efface
from efface import Declared, UnlearningClassifier, UnlearningRegressor, Vault


def test_a_withdrawn_model_says_so_until_it_is_refreshed(people: People) -> None:
    model = UnlearningClassifier().fit(people.X, people.y, ids=people.ids)
    erasure = model.forget(ids=people.ids[:3], release=False)
    assert isinstance(erasure, efface.Erasure)
    assert (erasure.records, erasure.version, erasure.index) == (3, 1, 1)
    assert "nothing is claimed" in " ".join(erasure.does_not_cover)
    key = Vault(model.vault_.path, key=model.vault_._key).public_key
    assert erasure.verify(key=key, vault=model.vault_.path)
    assert pickle.loads(pickle.dumps(erasure)) == erasure and "withdrawn" in str(erasure)
    with pytest.raises(efface.InputError, match="erasure"):
        efface.Certificate(erasure.to_json())
    with pytest.raises(efface.InputError, match="not an erasure"):
        efface.Erasure(model.certificate_.to_json())
    for use in (model.predict, model.predict_proba, model.decision_function):
        with pytest.raises(efface.ModelWithdrawn, match="withdrawn"):
            use(people.X)
    with pytest.raises(efface.ModelWithdrawn):
        _ = model.coef_
    with pytest.raises(efface.ModelWithdrawn):
        copy.deepcopy(model).predict(people.X)
    with pytest.raises(efface.ModelWithdrawn, match="withdrawn"):
        model.forget(ids=people.ids[3])
    assert model.status()["withdrawn"] and model.vault_.erasures != []
    again = model.forget(ids=people.ids[3], release=False)
    assert json.loads(again.to_json())["model"]["withdrawn"] == "before"
    assert model.forget(ids=people.ids[:2], release=False) == erasure
    assert model.refresh().kind == "refresh"
    assert model.predict(people.X).shape == people.y.shape
    assert model.forget(ids=people.ids[4]).version == 3
    assert isinstance(model.forget(ids=people.ids[4], release=False), efface.Certificate)
    assert model.predict(people.X).shape == people.y.shape
    assert [e.records for e in model.vault_.erasures] == [3, 1]
    assert len(model.vault_.certificates) == 3


def test_a_deletion_that_is_refused_names_the_way(people: People) -> None:
    settings: dict[str, Any] = {
        "promise": efface.Promise(notion="differential-privacy"),
        "preprocess": Declared(row_norm=3.0),
        "classes": [0, 1],
    }
    with pytest.warns(efface.SettingsWarning, match=r"`Promise\(releases=...\)` is 1"):
        model = UnlearningClassifier(**settings).fit(people.X, people.y)
    with pytest.raises(efface.ReleasesExhausted) as refused:
        model.forget(ids="row:0")
    assert "`release=False`" in str(refused.value.hint)
    assert model.forget(ids="row:0", release=False).records == 1
    with pytest.raises(efface.ReleasesExhausted):
        model.refresh()


def test_an_erasure_passes_over_unknown_names(people: People) -> None:
    model = UnlearningClassifier().fit(people.X, people.y, ids=people.ids)
    assert model.forget(ids=["id-1", "nobody"], skip_unknown=True, release=False).records == 1


def test_a_vault_erases(people: People, tmp_path: Path) -> None:
    path = tmp_path / "m.efface"
    vault = Vault.train(path, people.X, people.y, ids=people.ids, settings={"row_norm": 3.0})
    assert vault.erase(ids=[people.ids[0]], request_id="r-1").request_id == "r-1"
    assert vault.erase(ids=[people.ids[0]], request_id="r-1") == vault.erasures[0]
    with pytest.raises(efface.ModelWithdrawn):
        vault.weights()
    assert vault.verify(key=vault.public_key)
    assert vault.refresh().version == 2


def test_a_regression_is_withdrawn_as_well(people: People) -> None:
    y = np.asarray(people.X[:, 0])
    model = UnlearningRegressor(preprocess=Declared(target_range=(-3, 3), row_norm=3.0)).fit(
        people.X, y
    )
    model.forget(ids="row:1", release=False)
    with pytest.raises(efface.ModelWithdrawn):
        model.predict(people.X)
