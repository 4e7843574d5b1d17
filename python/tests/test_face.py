"""What `save` and `load` give back: labels, parameters, positions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import People

import efface
from efface import Declared, Promise, UnlearningClassifier, UnlearningRegressor


@pytest.mark.parametrize(
    "labels",
    [
        [False, True],
        [2.0, 3.0],
        [-1.0, 1.0],
        ["1", "2"],
        ["007", "7"],
        [" <=50K", " >50K"],
        ['"a"', "a"],
        [3, 12],
        ["no", "yes"],
        np.array([1, 2], dtype=np.int8),
        np.array(["no", "yes"], dtype=object),
    ],
    ids=str,
)
def test_labels_keep_their_type(people: People, tmp_path: Path, labels: Any) -> None:
    y = np.asarray(labels)[people.y]
    model = UnlearningClassifier().fit(people.X, y).save(tmp_path / "m.efface")
    again = UnlearningClassifier.load(tmp_path / "m.efface")
    assert again.classes_.dtype == model.classes_.dtype
    assert again.classes_.tolist() == model.classes_.tolist()
    assert [type(one) for one in again.classes_.tolist()] == [type(one) for one in y[:2].tolist()]
    assert np.array_equal(again.predict(people.X), model.predict(people.X))
    assert again.score(people.X, y) == model.score(people.X, y)
    assert again.add(people.X[:2] / 2, y[:2]).records == 2
    assert again.classes_.tolist() == model.classes_.tolist()
    assert again.verify()


def test_every_parameter_comes_back(people: People, tmp_path: Path) -> None:
    given: dict[str, Any] = {
        "mechanism": efface.NoisyGD(steps=300, removal_steps=400),
        "lambda_": 0.01,
        "epsilon": 2.0,
        "delta": 1e-6,
        "preprocess": Declared(row_norm=2.0, row_map="unit"),
        "fit_intercept": False,
        "classes": [0, 1],
        "promise": Promise(
            public_n=120,
            capacity=200,
            max_group=4,
            noise=0.5,
            not_covered=["how columns were chosen", "a notebook"],
        ),
        "random_state": 7,
        "pickle_rows": True,
        "verbose": 0,
    }
    model = UnlearningClassifier(**given).fit(people.X, people.y).save(tmp_path / "m.efface")
    again = UnlearningClassifier.load(tmp_path / "m.efface")
    assert again.get_params() == model.get_params()
    assert {name: again.get_params()[name] for name in given} == given
    regressor = UnlearningRegressor(
        clip=float("inf"),
        lambda_=0.5,
        preprocess=Declared(target_range=(-3, 3)),
        promise=Promise(not_covered="one line"),
    ).fit(people.X, people.X[:, 0])
    regressor.save(tmp_path / "r.efface")
    again = UnlearningRegressor.load(tmp_path / "r.efface")
    assert again.get_params() == regressor.get_params()
    assert np.array_equal(again.predict(people.X), regressor.predict(people.X))


def test_what_is_no_json_has_its_default_again(people: People, tmp_path: Path) -> None:
    model = UnlearningClassifier(random_state=np.random.RandomState(3))
    model.fit(people.X, people.y).save(tmp_path / "m.efface")
    assert UnlearningClassifier.load(tmp_path / "m.efface").random_state is None


def test_positions_go_on_after_loading(people: People, tmp_path: Path) -> None:
    UnlearningClassifier().fit(people.X, people.y).save(tmp_path / "m.efface")
    again = UnlearningClassifier.load(tmp_path / "m.efface")
    again.add(people.X[:2] / 2, people.y[:2])
    again = UnlearningClassifier.load(tmp_path / "m.efface")
    again.add(people.X[2:4] / 2, people.y[2:4])
    for name in ("row:0", "row:119", "row:120", "row:121", "row:122", "row:123"):
        assert again.forget(ids=name).records == 1
    with pytest.raises(efface.UnknownRecord):
        again.forget(ids="row:124")


def test_precision_is_that_of_scikit_learn(people: People, tmp_path: Path) -> None:
    single, double = people.X.astype(np.float32), people.X
    for fitted in (single, double):
        model = UnlearningClassifier().fit(fitted, people.y)
        regressor = UnlearningRegressor(preprocess=Declared(target_range=(-2, 2))).fit(
            fitted, people.X[:, 0]
        )
        model.save(tmp_path / f"{fitted.dtype}.efface")
        again = UnlearningClassifier.load(tmp_path / f"{fitted.dtype}.efface")
        for rows in (single, double):
            wanted = np.float32 if fitted.dtype == rows.dtype == np.float32 else np.float64
            assert model.decision_function(rows).dtype == wanted
            assert model.predict_proba(rows).dtype == wanted
            assert model.predict_log_proba(rows).dtype == wanted
            assert regressor.predict(rows).dtype == wanted
            assert again.decision_function(rows).dtype == wanted


def test_a_vault_of_the_command_line_is_read_as_before(people: People, tmp_path: Path) -> None:
    settings = {"loss": "logistic", "lambda": 0.01}
    efface.Vault.train(tmp_path / "c.efface", people.X, people.y, settings=settings)
    again = UnlearningClassifier.load(tmp_path / "c.efface")
    assert again.classes_.tolist() == [0, 1]
    assert again.lambda_ == 0.01
    assert again.predict(people.X).shape == (120,)


def test_labels_of_other_faces_are_found(people: People, tmp_path: Path) -> None:
    y = np.array(["0.123456789", '"x"'])[people.y]
    path = tmp_path / "m.efface"
    efface.Vault.train(path, people.X, y.tolist(), settings={"loss": "softmax"})
    model = UnlearningClassifier.load(path)
    assert set(model.classes_) == set(y)
    assert model.score(people.X, y) > 0.8
    assert model.forget(ids="row:3").records == 1
    assert set(model.classes_) == set(y)


def test_weights_of_classes_go_to_labels_as_they_are_spelt(people: People) -> None:
    y = np.array(["01", "1"])[people.y]
    heavy = UnlearningClassifier(class_weight={"01": 50.0}).fit(people.X, y)
    light = UnlearningClassifier(class_weight={"1": 50.0}).fit(people.X, y)
    assert np.mean(heavy.predict(people.X) == "01") > np.mean(light.predict(people.X) == "01")
