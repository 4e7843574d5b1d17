"""Estimators inside pipelines, searches and pickles."""

from __future__ import annotations

import copy
import pickle
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
import sklearn
from conftest import People
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import StackingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, OneHotEncoder, StandardScaler

import efface
from efface import Declared, Promise, UnlearningClassifier, UnlearningRegressor
from efface._introspect import look_inside


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep vaults where the tests clean up."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield


def limits(model: Any) -> list[str]:
    lines: list[str] = model.certificate_.does_not_cover
    general = ("feature extractors, scalers, encoders", "choosing settings, thresholds or models")
    return [line.partition(" ")[0] for line in lines if line.startswith(general)]


def test_what_a_transformer_learnt_is_never_covered(people: People) -> None:
    pipeline = make_pipeline(StandardScaler(), Normalizer(), UnlearningClassifier())
    pipeline.fit(people.X, people.y, unlearningclassifier__subjects=people.subjects)
    model = pipeline[-1]
    assert limits(model) == ["feature", "choosing"]
    model.forget(subjects=people.subjects[3])
    assert limits(model) == ["feature", "choosing"]
    assert model.certificate_.verify(key=model.vault_.public_key, vault=model.vault_.path)
    alone = UnlearningClassifier(promise=Promise(not_covered=["how features were chosen"])).fit(
        people.X, people.y
    )
    assert limits(alone) == ["feature", "choosing"]
    assert "how features were chosen" in alone.certificate_.does_not_cover


@pytest.mark.parametrize("around", ["calibrated", "stacked", "target"])
def test_certificates_say_the_same_whatever_stands_around_a_fit(
    people: People, around: str
) -> None:
    inner: Any = UnlearningClassifier()
    if around == "target":
        inner = UnlearningRegressor(preprocess=Declared(target_range=(-3, 3)))
    y = people.X[:, 0] if around == "target" else people.y
    alone = clone(inner).fit(people.X, y).certificate_.does_not_cover
    for jobs in (1, 2):
        whole: Any = {
            "calibrated": CalibratedClassifierCV(inner, cv=2, n_jobs=jobs),
            "stacked": StackingClassifier([("model", inner)], cv=2, n_jobs=jobs),
            "target": TransformedTargetRegressor(inner, transformer=StandardScaler()),
        }[around]
        whole = make_pipeline(StandardScaler(), whole).fit(people.X, y)
        for model in look_inside(whole).models.values():
            assert set(alone) >= set(model.certificate_.does_not_cover)


def test_a_column_transformer_may_make_a_frame(people: People) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(people.X, columns=people.names, index=people.ids)
    frame["town"] = ["Ulm", "Bern", "Linz"] * 40
    columns = ColumnTransformer(
        [
            ("scaled", StandardScaler(), ["a", "b"]),
            ("left", "passthrough", ["c"]),
            ("town", OneHotEncoder(sparse_output=False), ["town"]),
        ]
    )
    pipeline = make_pipeline(columns, UnlearningClassifier()).set_output(transform="pandas")
    pipeline.fit(frame, people.y)
    model = pipeline[-1]
    assert model.feature_names_in_[-1] == "town__town_Ulm"
    assert model.forget(ids="id-4").records == 1
    assert pipeline.predict(frame).shape == (120,)


def test_a_search_is_not_covered(people: People) -> None:
    search = GridSearchCV(UnlearningClassifier(), {"lambda_": [1e-3, 1e-2]}, cv=2)
    search.fit(people.X, people.y, subjects=np.array(people.subjects))
    model = search.best_estimator_
    assert "choosing" in limits(model)
    assert model.forget(subjects=["who-2"]).records == 3
    regressor = UnlearningRegressor(
        preprocess=Declared(target_range=(-2, 2)), promise=Promise(excess_risk=1e-5)
    )
    scores = cross_val_score(regressor, people.X, people.X[:, 0])
    assert scores.mean() > 0.5


def test_subjects_are_routed(people: People) -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        model = UnlearningClassifier().set_fit_request(subjects=True, ids=True)
        search = GridSearchCV(model, {"lambda_": [1e-3]}, cv=2)
        ids = np.array(people.ids)
        search.fit(people.X, people.y, subjects=np.array(people.subjects), ids=ids)
    assert search.best_estimator_.forget(subjects=["who-2"]).records == 3
    assert search.best_estimator_.forget(ids=["id-0"]).records == 1


def test_one_against_the_rest(people: People) -> None:
    y = people.X[:, :3].argmax(axis=1)
    model = OneVsRestClassifier(UnlearningClassifier()).fit(people.X, y)
    assert model.score(people.X, y) > 0.7


def test_a_pickle_keeps_the_ability_to_forget(people: People, tmp_path: Path) -> None:
    model = UnlearningClassifier().fit(people.X, people.y, subjects=people.subjects)
    with pytest.warns(efface.UnsavedWarning, match="goes at the end of this process"):
        pickle.dumps(model)
    model.save(tmp_path / "m.efface")
    with warnings.catch_warnings():
        warnings.simplefilter("error", efface.UnsavedWarning)
        joblib.dump(model, tmp_path / "m.joblib")
    path = model.status()["path"]
    del model
    assert path.exists()
    again = joblib.load(tmp_path / "m.joblib")
    assert not hasattr(again, "receipt_")
    assert again.forget(subjects=["who-1"]).records == 3
    assert len(again.certificates_) == 2
    blob = pickle.dumps(again)
    row = people.X[50].astype(np.float32).tobytes()
    assert row not in blob
    path.unlink()
    lost = pickle.loads(blob)
    assert np.array_equal(lost.predict(people.X), again.predict(people.X))
    with pytest.raises(efface.VaultMissing, match="fit again"):
        lost.forget(subjects=["who-2"])


def test_rows_go_into_a_pickle_only_if_asked_for(people: People) -> None:
    model = UnlearningClassifier(pickle_rows=True).fit(people.X, people.y)
    with pytest.warns(efface.RowsCopiedWarning, match="deletions do not reach"):
        blob = pickle.dumps(model)
    assert people.X[50].astype(np.float32).tobytes() in blob
    assert model.status()["private"]
    path = model.status()["path"]
    del model
    assert not path.exists()
    again = pickle.loads(blob)
    assert again.forget(ids=["row:1"]).records == 1
    assert again.vault_.verify(key=again.vault_.public_key)


def test_a_private_vault_goes_with_its_last_estimator(people: People) -> None:
    model = UnlearningClassifier().fit(people.X, people.y)
    path = model.status()["path"]
    other = copy.deepcopy(model)
    del model
    assert path.exists()
    other.forget(ids=["row:0"])
    assert not hasattr(clone(other), "classes_")
    other.fit(people.X, people.y)
    assert not path.exists()


def test_save_and_load_share_the_vault(people: People, tmp_path: Path) -> None:
    model = UnlearningClassifier(epsilon=0.5, lambda_=0.01, fit_intercept=False)
    model.fit(people.X, people.y, ids=people.ids).save(tmp_path / "m.efface")
    assert not model.status()["private"]
    again = UnlearningClassifier.load(tmp_path / "m.efface")
    assert (again.epsilon, again.lambda_, again.fit_intercept) == (0.5, 0.01, False)
    assert np.array_equal(again.decision_function(people.X), model.decision_function(people.X))
    again.forget(ids=["id-1"])
    assert len(model.certificates_) == 1
    model.forget(ids=["id-2"])
    assert [c.kind for c in model.certificates_] == ["train", "delete", "delete"]
    assert clone(again).fit(people.X, people.y).certificate_.claims[0].epsilon <= 0.5
    with pytest.raises(efface.VaultExists):
        UnlearningClassifier().fit(people.X, people.y).save(tmp_path / "m.efface")
    with pytest.raises(efface.InputError, match="UnlearningClassifier"):
        UnlearningRegressor.load(tmp_path / "m.efface")
    with pytest.raises(efface.VaultMissing):
        UnlearningClassifier.load(tmp_path / "none.efface")


def test_a_regressor_is_loaded_with_its_range(people: People, tmp_path: Path) -> None:
    model = UnlearningRegressor(
        clip=0.5, preprocess=Declared(target_range=(-3, 3)), promise=Promise(state="perfect")
    )
    model.fit(people.X, people.X[:, 0]).save(tmp_path / "r.efface")
    again = UnlearningRegressor.load(tmp_path / "r.efface")
    assert (again.preprocess, again.clip) == (Declared(target_range=(-3, 3)), 0.5)
    assert np.array_equal(again.predict(people.X), model.predict(people.X))
