"""What users bring: tables of every kind, and mistakes."""

from __future__ import annotations

import datetime
import uuid
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse
from conftest import People
from sklearn.base import clone

import efface
from efface import Declared, Promise, UnlearningClassifier, UnlearningRegressor


def test_the_index_of_a_frame_names_the_records(people: People) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(people.X, columns=people.names, index=people.ids)
    model = UnlearningClassifier().fit(frame, people.y)
    assert model.feature_names_in_.tolist() == people.names
    assert model.forget(ids=frame.index[:3]).records == 3
    with pytest.raises(efface.UnknownRecord):
        model.forget(ids=[0])
    part = frame.sample(50, random_state=0).reset_index(drop=True).iloc[10:40]
    counted = UnlearningClassifier().fit(part, people.y[:30])
    assert counted.forget(ids=[10, 39]).records == 2
    with pytest.raises(efface.UnknownRecord, match="`9`"):
        counted.forget(ids=[9])


def test_the_index_of_y_names_the_records_that_a_transformer_unnamed(people: People) -> None:
    pd = pytest.importorskip("pandas")
    y = pd.Series(people.y, index=people.ids)
    model = UnlearningClassifier().fit(people.X, y)
    assert model.forget(ids="id-5").records == 1
    frame = pd.DataFrame(people.X, index=people.ids[::-1])
    for ids in (None, people.ids):
        with pytest.raises(efface.InputError, match="different indexes"):
            UnlearningClassifier().fit(frame, y, ids=ids)
    model = UnlearningClassifier().fit(frame, y.to_numpy(), ids=people.ids)
    assert model.forget(ids=["id-0"]).records == 1


def test_an_index_that_does_not_tell_records_apart_is_refused(people: People) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(people.X, index=[0, 1] * 60)
    refused: list[tuple[Any, type[efface.Error], str]] = [
        ([0, 1] * 60, efface.DuplicateRecord, "the index of `X` has 0 more than once"),
        (pd.MultiIndex.from_product([range(60), ["a", "b"]]), efface.InputError, "several levels"),
        (np.arange(120) / 2, efface.InputError, "the index of `X` has values of type float64"),
    ]
    for index, kind, message in refused:
        frame.index = index
        with pytest.raises(kind, match=message) as raised:
            UnlearningClassifier().fit(frame, people.y)
        assert "`X.reset_index(drop=True)`" in str(raised.value)
        positions = UnlearningClassifier().fit(frame.reset_index(drop=True), people.y)
        assert positions.forget(ids="row:7").records == 1
    with pytest.raises(efface.DuplicateRecord, match="the index of `y` has 'a'"):
        UnlearningClassifier().fit(people.X, pd.Series(people.y, index=["a", "b"] * 60))
    frame.index = pd.date_range("2024-01-01", periods=120)
    model = UnlearningClassifier().fit(frame, people.y)
    assert model.forget(ids=[pd.Timestamp("2024-01-03"), "2024-01-04T00:00:00"]).records == 2


@pytest.mark.parametrize("library", ["polars", "pyarrow", "capsule"])
def test_tables_of_other_libraries(people: People, library: str) -> None:
    columns = dict(zip(people.names, people.X.T, strict=True))
    if library == "polars":
        table = pytest.importorskip("polars").DataFrame(columns)
        y = pytest.importorskip("polars").Series(people.y)
    else:
        arrow = pytest.importorskip("pyarrow")
        table, y = arrow.table(columns), arrow.chunked_array([people.y])
    if library == "capsule":
        table = Capsule(table)
    given = UnlearningClassifier(random_state=0, preprocess="declared")
    model = clone(given).fit(table, y, subjects=people.subjects)
    plain = clone(given).fit(people.X, people.y)
    assert np.array_equal(model.coef_, plain.coef_)
    assert np.array_equal(model.predict(table), plain.predict(people.X))
    assert model.forget(subjects=["who-0"]).records == 3
    fitted = UnlearningClassifier(random_state=0).fit(table, y, subjects=people.subjects)
    chosen = next(c for c in fitted.certificate_.constants if c["name"] == "preprocess")
    assert (chosen["value"], chosen["origin"]) == ("fitted", "default")
    assert fitted.score(table, people.y) > 0.9
    assert fitted.forget(subjects=["who-0"]).records == 3


class Capsule:
    """A table that offers the Arrow stream and nothing else."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


def test_a_column_of_embeddings_is_a_matrix_without_a_copy(people: People) -> None:
    arrow = pytest.importorskip("pyarrow")
    from efface._rows import as_table

    flat = arrow.array(people.X.ravel())
    table = arrow.table({"embedding": arrow.FixedSizeListArray.from_arrays(flat, 4)})
    matrix = as_table(table)
    assert np.array_equal(matrix, people.X)
    assert np.shares_memory(matrix, flat.to_numpy())
    assert UnlearningClassifier().fit(table, people.y).predict(table).shape == (120,)


def test_sparse_lists_and_types(people: People) -> None:
    X = np.round(people.X * 8)
    expected = UnlearningClassifier(random_state=0).fit(X, people.y)
    for rows in (X.tolist(), X.astype(np.int8), X.astype(np.float32), np.asfortranarray(X)):
        model = UnlearningClassifier(random_state=0).fit(rows, people.y.tolist())
        assert np.array_equal(model.coef_, expected.coef_)
    for kind in (scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_array):
        model = UnlearningClassifier(random_state=0).fit(kind(X), people.y)
        assert np.allclose(model.decision_function(X), model.decision_function(kind(X)))
        assert model.forget(ids="row:4").records == 1
        model.add(kind(X)[:3] if kind is scipy.sparse.csc_matrix else kind(X[:3]), people.y[:3])


def test_mistakes_are_told_as_scikit_learn_tells_them(people: People) -> None:
    X, y = people.X, people.y
    model = UnlearningClassifier().fit(X, y)
    cases: list[tuple[str, Any, Any]] = [
        ("Expected 2D array, got 1D array instead", X[0], y[:4]),
        ("Input X contains infinity", np.where(X > 0.5, np.inf, X), y),
        ("Input y contains NaN", X, np.where(y, np.nan, 0.0)),
        ("inconsistent numbers of samples", X, y[:-1]),
        ("only one class: 1", X, np.ones(120, dtype=int)),
        ("Unknown label type: continuous", X, X[:, 0]),
        ("Found array with 0 sample", X[:0], y[:0]),
        ("requires y to be passed", X, None),
    ]
    for message, rows, targets in cases:
        with pytest.raises(ValueError, match=message):
            UnlearningClassifier().fit(rows, targets)
    declared = UnlearningClassifier(preprocess="declared")
    with pytest.raises(ValueError, match="Input X contains NaN"):
        declared.fit(np.where(X > 0.5, np.nan, X), y)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        declared.fit(X, np.arange(120) % 3)
    words = np.array([["a", "b"], ["b", "b"]] * 60)
    with pytest.raises(ValueError, match="could not convert string to float"):
        declared.fit(words, y)
    assert UnlearningClassifier().fit(words, words[:, 0]).score(words, words[:, 0]) == 1
    with pytest.raises(ValueError, match="X has 2 features, but UnlearningClassifier is expecting"):
        model.predict(X[:, :2])
    with pytest.raises(ValueError, match="X has 2 features"):
        model.add(X[:, :2], y)
    with pytest.raises(ValueError, match=r"at most 3.4e38 in magnitude"):
        model.predict(np.full((1, 4), 1e300))
    with pytest.raises(ValueError, match="The 'epsilon' parameter of UnlearningClassifier must be"):
        UnlearningClassifier(epsilon=-1).fit(X, y)
    with pytest.raises(efface.InputError, match="`loss` must be one of logistic"):
        UnlearningClassifier(loss="hinge").fit(X, y)
    with pytest.raises(efface.InputError, match=r"is for regression.*use `UnlearningRegressor`"):
        UnlearningClassifier(loss="squared").fit(X, y)
    with pytest.raises(ValueError, match="two numbers, low then high"):
        UnlearningRegressor(preprocess=Declared(target_range=[1])).fit(X, y)  # type: ignore[arg-type]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_column_of_words_is_named(people: People, library: str) -> None:
    frames = pytest.importorskip(library)
    columns = {name: people.X[:, at] for at, name in enumerate(people.names)}
    frame = frames.DataFrame({**columns, "town": ["Ulm", "Bonn"] * 60})
    with pytest.raises(efface.InputError, match="could not convert string to float") as raised:
        UnlearningClassifier(preprocess="declared").fit(frame, people.y)
    reason = 'column `town` holds words; if it names records or people, say `ids="town"`'
    assert reason in str(raised.value)
    declared = UnlearningClassifier(preprocess="declared")
    model = declared.fit(frames.DataFrame(columns), people.y)
    wrong = frames.DataFrame({**columns, people.names[1]: ["Ulm"] * 120})
    with pytest.raises(efface.InputError, match=f"column `{people.names[1]}` holds words"):
        model.predict(wrong)


def test_messages_speak_of_what_the_user_wrote(people: People) -> None:
    X = people.X
    with pytest.raises(efface.InputError, match=r"^y\[1\]: .*declared range"):
        UnlearningRegressor(preprocess=Declared(target_range=(-1, 1))).fit(
            X, np.where(np.arange(120) == 1, 7, 0.5)
        )
    with pytest.raises(efface.InputError, match=r"`Declared\(row_map=...\)` must be") as spelt:
        UnlearningClassifier(preprocess=Declared(row_map="stretch")).fit(X, people.y)
    assert "row-map" not in str(spelt.value)
    with pytest.raises(ValueError, match="max_weight") as refused:
        UnlearningClassifier(promise=Promise(max_weight=2)).fit(X, people.y)
    assert type(refused.value) is efface.FitRefused
    assert isinstance(refused.value, efface.Refused)
    assert "max-weight" not in str(refused.value)


def test_columns_are_known_by_their_names(people: People) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(people.X, columns=people.names)
    model = UnlearningClassifier().fit(frame, people.y)
    with pytest.raises(ValueError, match="Feature names unseen at fit time"):
        model.predict(frame.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(frame[["b", "a", "c", "d"]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(people.X)
    texts = frame.assign(a=["x", "y"] * 60)
    with pytest.raises(ValueError, match="could not convert string to float"):
        UnlearningClassifier(preprocess="declared").fit(texts, people.y)
    assert UnlearningClassifier().fit(texts, people.y).score(texts, people.y) > 0.7


def test_what_names_a_record(people: People) -> None:
    X, y = people.X[:4], people.y[:4]
    key = uuid.UUID(int=5)
    names = ["a", 7, datetime.date(2024, 5, 1), key]
    model = UnlearningClassifier(classes=[0, 1]).fit(X, y, ids=names)
    assert model.forget(ids=[datetime.date(2024, 5, 1), str(key), np.int64(7)]).records == 3
    for bad in ([1.5], [None], [True], [float("nan")], [""]):
        with pytest.raises(ValueError, match=r"ids|id or subject"):
            model.forget(ids=bad)
    with pytest.raises(efface.InputError, match="either `ids` or `subjects`"):
        model.forget()
    with pytest.raises(efface.InputError, match="1 axis"):
        model.forget(ids=np.zeros((2, 2), dtype=int))
    with pytest.raises(efface.InputError, match="nothing to delete"):
        model.forget(ids=[])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        UnlearningClassifier().fit(X, y, ids=["a"])
    with pytest.raises(KeyError):
        model.forget(subjects=["who"])


def test_rows_that_are_clipped_are_warned_about_from_one_in_a_hundred(people: People) -> None:
    y = people.X[:, 0]
    every = r"all 120 rows exceeded `Declared\(row_norm=...\)` 1 and .*; a bound of .* would clip"
    with pytest.warns(efface.RowsClippedWarning, match=every) as told:
        UnlearningClassifier(preprocess="declared").fit(20 * people.X, people.y)
    assert told[0].filename == __file__
    with pytest.warns(
        efface.RowsClippedWarning, match=r"exceeded `Declared\(row_norm=...\)` 0.1 and"
    ):
        UnlearningRegressor(preprocess=Declared(row_norm=0.1, target_range=(-2, 2))).fit(
            people.X, y
        )
    # The first tenth is too long.
    some = people.X * np.where(np.arange(120) < 12, 20, 0.1)[:, None]
    with pytest.warns(efface.RowsClippedWarning, match=r"12 of 120 rows \(10.0 %\)"):
        model = UnlearningClassifier(preprocess="declared").fit(some, people.y)
    with pytest.warns(efface.RowsClippedWarning, match="all 2 rows"):
        model.add(50 * people.X[:2], people.y[:2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        few = people.X * np.where(np.arange(120) < 1, 20, 0.1)[:, None]
        UnlearningClassifier().fit(few, people.y)
        # Whoever asks for unit rows knows what happens to them.
        UnlearningClassifier(preprocess=Declared(row_map="unit")).fit(20 * people.X, people.y)
        # Rows of length 1 up to a rounding.
        lengths = np.linalg.norm(people.X, axis=1, keepdims=True)
        UnlearningClassifier().fit((1 + 1e-6) * people.X / lengths, people.y)


def test_settings_that_make_no_useful_model_are_warned_about(people: People) -> None:
    lengths = np.linalg.norm(people.X, axis=1, keepdims=True)
    X = people.X / lengths

    def warned(**settings: Any) -> set[type[Warning]]:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            UnlearningClassifier(classes=[0, 1], **settings).fit(X, people.y)
        return {warning.category for warning in told}

    private = Promise(notion="differential-privacy", releases=2)
    assert warned(promise=private) == {efface.NoiseDominatesWarning}
    assert warned(delta=0.1) == {efface.SettingsWarning}
    assert warned(promise=Promise(public_n=1000, capacity=2000)) == {efface.SettingsWarning}
    assert warned(promise=Promise(notion="differential-privacy")) == {
        efface.NoiseDominatesWarning,
        efface.SettingsWarning,
    }
    assert warned() == set()
    model = UnlearningClassifier(delta=0.1)
    with pytest.warns(efface.SettingsWarning, match="`delta` 0.1 is above 1/120"):
        model.fit(X, people.y)
    assert [notice.code for notice in model.receipt_.notices] == ["large-delta"]
    assert [notice["code"] for notice in model.status()["notices"]] == ["large-delta"]
