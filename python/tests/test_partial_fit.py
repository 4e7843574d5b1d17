"""Training on the first rows and adding the rest: each call is a request with a certificate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import People
from sklearn.exceptions import NotFittedError

import efface
from efface import Declared, Promise, UnlearningClassifier, UnlearningRegressor

FINE: dict[str, Any] = {"promise": Promise(noise=1e-8), "lambda_": 0.1}


def batches(people: People, *sizes: int) -> Iterator[slice]:
    start = 0
    for size in sizes:
        yield slice(start, start + size)
        start += size
    assert start == len(people.X)


def test_each_call_is_an_addition_with_a_certificate(people: People) -> None:
    model = UnlearningClassifier(**FINE)
    with pytest.raises(NotFittedError):
        model.predict(people.X)
    for rows in batches(people, 20, 70, 30):
        assert model.partial_fit(people.X[rows], people.y[rows], classes=[0, 1]) is model
    assert [certificate.kind for certificate in model.certificates_] == ["train", "add", "add"]
    assert [certificate.records for certificate in model.certificates_] == [20, 70, 30]
    assert bool(model.verify())

    # The model of all rows, whatever the calls were.
    whole = UnlearningClassifier(**FINE).fit(people.X, people.y)
    assert np.allclose(model.coef_, whole.coef_, atol=1e-6)
    assert model.forget(ids=["row:0", "row:119"]).records == 2


def test_numbers_are_added_to_alike(people: People) -> None:
    y = people.X[:, 0]
    model = UnlearningRegressor(preprocess=Declared(target_range=(-2, 2)))
    for rows in batches(people, 60, 60):
        model.partial_fit(people.X[rows], y[rows], ids=people.ids[rows])
    assert model.status()["records"] == 120
    assert model.forget(ids=["id-3", "id-90"]).records == 2


def test_slices_of_one_frame_keep_its_positions(people: People) -> None:
    frame = pd.DataFrame(people.X, columns=people.names)
    model = UnlearningClassifier()
    for rows in batches(people, 40, 50, 30):
        model.partial_fit(frame[rows], people.y[rows])
    assert model.status()["next_row"] == 120
    assert model.forget(["row:119"]).records == 1
    with pytest.raises(efface.InputError, match="the next is `row:120`; name them by position"):
        model.partial_fit(frame[5:9], people.y[5:9])


def test_classes_are_told_first_or_come_with_their_records(people: People) -> None:
    X, y = people.X, people.y
    with pytest.raises(ValueError, match="must be passed on the first call to partial_fit"):
        UnlearningClassifier(preprocess="declared").partial_fit(X, y)
    listed = UnlearningClassifier(preprocess="declared", classes=[0, 1]).partial_fit(X, y)
    with pytest.raises(ValueError, match="is not the same as on the first call"):
        listed.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="is not the same as on the first call"):
        UnlearningClassifier(classes=[0, 1]).partial_fit(X, y, classes=[0, 1, 2])

    words = np.array(["no", "yes", "perhaps"])
    comes = UnlearningClassifier(preprocess="fitted").partial_fit(X, words[y])
    with pytest.raises(efface.Refused, match=r"also has `perhaps`; .* `new_classes`"):
        comes.partial_fit(X[:30], np.repeat(words, 10))
    comes.add(X[:30], np.repeat(words, 10), new_classes=True)
    comes.partial_fit(X[:30], np.repeat(["never", "no", "yes"], 10))
    assert comes.classes_.tolist() == ["never", "no", "perhaps", "yes"]


def test_listed_classes_stay_whatever_the_first_rows_have(people: People, tmp_path: Path) -> None:
    model = UnlearningClassifier(preprocess="fitted", loss="softmax")
    model.partial_fit(people.X, people.y, classes=[2, 1, 0])
    assert model.classes_.tolist() == [0, 1, 2]
    loaded = UnlearningClassifier.load(model.save(tmp_path / "m.efface").status()["path"])
    assert loaded.classes_.tolist() == [0, 1, 2]
    loaded.partial_fit(people.X[:10], np.full(10, 2), classes=[0, 1, 2])
    with pytest.raises(efface.InputError, match="not among the model's classes: 3"):
        loaded.partial_fit(people.X[:10], np.full(10, 3))
    # A new fit asks the new data.
    assert loaded.fit(people.X, people.y).classes_.tolist() == [0, 1]


def test_a_first_call_that_fails_leaves_nothing(people: People) -> None:
    model = UnlearningClassifier(loss="logistic")
    with pytest.raises(efface.InputError):
        model.partial_fit(people.X, people.y, classes=["a", "b"])
    assert model.partial_fit(people.X, people.y, classes=[0, 1]).classes_.tolist() == [0, 1]


def test_a_limit_of_rows_that_was_chosen_holds(people: People) -> None:
    model = UnlearningClassifier(promise=Promise(capacity=150)).partial_fit(
        people.X, people.y, classes=[0, 1]
    )
    with pytest.raises(efface.Refused, match="would have 240 records, but `capacity` is 150"):
        model.partial_fit(people.X, people.y)
    assert model.status()["capacity"] == 150
