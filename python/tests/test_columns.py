"""Columns of frames that name or weigh records: taken, not learnt from, and known again."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.model_selection import GridSearchCV

import efface
from efface import UnlearningClassifier, UnlearningRegressor

ROWS = 60
COUNT = np.arange(ROWS)
Y = np.where(COUNT % 2, "yes", "no")
VALUES: dict[str, Any] = {
    "customer": [f"c{row}" for row in range(ROWS)],
    "age": COUNT * 7 % 13,
    "household": COUNT // 3,
    "town": np.where(COUNT % 3, "A", "B").tolist(),
    "count": 1.0 + COUNT % 2,
}
FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "stream": lambda values: Stream(pa.table(values)),
}


class Stream:
    """Rows of a library that efface does not know, behind Arrow's interface."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(schema)


def rows(start: int, stop: int, *left_out: str) -> dict[str, Any]:
    return {name: values[start:stop] for name, values in VALUES.items() if name not in left_out}


@pytest.fixture(params=FRAMES)
def frame(request: pytest.FixtureRequest) -> Callable[[dict[str, Any]], Any]:
    return FRAMES[request.param]


def fitted(frame: Callable[[dict[str, Any]], Any], **parameters: Any) -> UnlearningClassifier:
    model = UnlearningClassifier(random_state=0, **parameters)
    return model.fit(
        frame(rows(0, 50)), Y[:50], ids="customer", subjects="household", sample_weight="count"
    )


@pytest.mark.filterwarnings("ignore::efface.NotCoveredWarning")
def test_columns_that_name_or_weigh_records_are_not_learnt_from(
    frame: Callable[[dict[str, Any]], Any],
) -> None:
    model = fitted(frame)
    assert list(model.feature_names_in_) == ["age", "town"]
    assert model.n_features_in_ == 2
    whole, features = frame(rows(0, ROWS)), frame(rows(0, ROWS, "customer", "household", "count"))
    assert np.array_equal(model.predict_proba(whole), model.predict_proba(features))
    assert model.predict(frame(rows(0, ROWS, "customer"))).shape == (ROWS,)

    # The same as with values in the place of names.
    apart = UnlearningClassifier(random_state=0).fit(
        frame(rows(0, 50, "customer", "household", "count")),
        Y[:50],
        ids=VALUES["customer"][:50],
        subjects=VALUES["household"][:50],
        sample_weight=VALUES["count"][:50],
    )
    assert apart.coef_.tolist() == model.coef_.tolist()

    assert model.forget(ids=["c3", "c4"]).records == 2
    assert model.forget(subjects="0").records == 3
    assert model.add(frame(rows(50, 55)), Y[50:55]).records == 5
    assert model.forget(ids="c50").records == 1
    later = frame(rows(55, ROWS, "customer"))
    assert model.add(later, Y[55:], ids=VALUES["customer"][55:]).records == 5
    assert model.update(frame(rows(6, 9)), Y[6:9][::-1]).records == 3
    with pytest.raises(efface.DuplicateRecord):
        model.add(frame(rows(50, 55)), Y[50:55])


@pytest.mark.filterwarnings("ignore::efface.NotCoveredWarning", "ignore::efface.UnsavedWarning")
def test_the_columns_are_known_again_after_a_save(tmp_path: Path) -> None:
    model = fitted(pd.DataFrame)
    copied = pickle.loads(pickle.dumps(model))
    model.save(tmp_path / "model.efface")
    loaded = UnlearningClassifier.load(tmp_path / "model.efface")
    whole = pd.DataFrame(rows(0, ROWS))
    for other in (copied, loaded):
        assert np.array_equal(other.predict_proba(whole), model.predict_proba(whole))
    assert loaded.add(pd.DataFrame(rows(50, 52)), Y[50:52]).records == 2


def test_a_column_without_which_no_record_has_a_name_is_asked_for() -> None:
    model = UnlearningRegressor().fit(pd.DataFrame(rows(0, 50)), COUNT[:50], ids="customer")
    with pytest.raises(efface.InputError, match="in the column `customer`, which `X` does not"):
        model.add(pd.DataFrame(rows(50, ROWS, "customer")), COUNT[50:])


def test_names_of_columns_that_are_not_there_are_told() -> None:
    frame = pd.DataFrame(rows(0, 50))
    with pytest.raises(efface.InputError, match="did you mean `customer`") as told:
        UnlearningClassifier().fit(frame, Y[:50], ids="costumer")
    assert told.value.hint is not None and "`household`" in told.value.hint
    with pytest.raises(efface.InputError, match="`X` has no named columns"):
        UnlearningClassifier().fit(COUNT[:50, None], Y[:50], subjects="household")


def test_numbers_in_a_frame_may_have_names_beside_them() -> None:
    declared = UnlearningClassifier(preprocess="declared", random_state=0)
    numbers = pd.DataFrame({"id": COUNT + 100, "a": COUNT / 60, 3: COUNT % 5 / 5})
    with pytest.raises(TypeError, match="string names"):  # scikit-learn's rule, as without ids
        declared.fit(numbers, Y, ids="id")
    numbers = numbers.rename(columns=str)
    declared.fit(numbers, Y, ids="id")
    assert list(declared.feature_names_in_) == ["a", "3"]
    assert declared.forget(["100"]).records == 1
    assert declared.predict(numbers).shape == (ROWS,)


@pytest.mark.filterwarnings("ignore::efface.NotCoveredWarning")
def test_a_search_passes_the_name_of_a_column_on() -> None:
    frame = pd.DataFrame(rows(0, ROWS, "count"))
    search = GridSearchCV(UnlearningClassifier(), {"lambda_": [0.1, 1.0]}, cv=2)
    search.fit(frame, Y, ids="customer", subjects="household")
    done = efface.forget(search, subjects=["1"])
    assert [certificate.records for certificate in done.certificates.values()] == [3]


def test_an_id_that_is_learnt_from_is_warned_of_with_the_way_out() -> None:
    frame = pd.DataFrame({"CustomerId": COUNT + 1000, "a": COUNT % 7})
    with pytest.warns(efface.SettingsWarning, match='train with `ids="CustomerId"`, or'):
        UnlearningClassifier().fit(frame, Y)
    model = UnlearningClassifier().fit(frame, Y, ids="CustomerId")
    assert "id-learnt" not in {notice.code for notice in model.receipt_.notices}


@pytest.mark.filterwarnings("ignore::efface.NotCoveredWarning")
def test_partitions_have_such_columns_too() -> None:
    frames = pytest.importorskip("dask.dataframe")
    from efface.dask import DaskUnlearningClassifier, InProcess

    frame = pd.DataFrame(
        {"id": COUNT + 100, "a": COUNT / 60, "b": COUNT % 5 / 5, "home": COUNT // 3}
    )
    collection = frames.from_pandas(frame, npartitions=3)
    y = frames.from_pandas(pd.Series(COUNT % 2), npartitions=3)
    model = DaskUnlearningClassifier(client=InProcess()).fit(
        collection, y, ids="id", subjects="home"
    )
    assert list(model.feature_names_in_) == ["a", "b"]
    assert model.forget(ids=["107"]).records == 1
    assert model.forget(subjects=["4"]).records == 3
    assert model.predict(collection).compute().shape == (ROWS,)
    assert model.to_local().predict(frame).shape == (ROWS,)
