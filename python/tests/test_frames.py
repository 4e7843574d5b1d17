"""Raw data frames: every type of column, what is refused, and what requests do to them."""

from __future__ import annotations

import copy
import datetime
import decimal
import json
import pickle
import re
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import efface
from efface import Fitted, Promise, UnlearningClassifier, UnlearningRegressor

ROWS = 60
COUNT = np.arange(ROWS)
Y = np.where(COUNT % 2, "yes", "no")
DAY = datetime.date(2020, 1, 1)
NOON = datetime.datetime(2020, 1, 1, 12)
CALENDAR = ["c", "c month", "c weekday"]


def classifier(**parameters: Any) -> UnlearningClassifier:
    return UnlearningClassifier(
        **{
            "preprocess": "fitted",
            "promise": Promise(excess_risk=0.05),
            "random_state": 0,
            **parameters,
        }
    )


def regressor(**parameters: Any) -> UnlearningRegressor:
    return UnlearningRegressor(preprocess="fitted", random_state=0, **parameters)


def every(step: int, value: Any, other: Callable[[int], Any]) -> list[Any]:
    """A value in each row that a step divides, another one between."""
    return [value if row % step == 0 else other(row) for row in range(ROWS)]


def features(frame: Any) -> list[str]:
    """Names of the features of the column `c`, parts of dates without their values."""
    model = classifier(preprocess=Fitted(min_frequency=2)).fit(frame, Y)
    assert model.predict(frame).shape == (ROWS,)
    names = (re.sub("^(c [a-z]+)=.*", r"\1", name) for name in model.get_feature_names_out())
    return [name for name in dict.fromkeys(names) if name != "number"]


def days(row: int) -> datetime.date:
    return DAY + datetime.timedelta(days=row)


def hours(row: int) -> datetime.timedelta:
    return datetime.timedelta(hours=row)


PANDAS: dict[str, tuple[Any, list[str]]] = {
    "int": (COUNT, ["c"]),
    "unsigned beyond int64": (COUNT.astype(np.uint64) + np.uint64(2**63), ["c"]),
    "float16": ((COUNT / 7).astype(np.float16), ["c"]),
    "Int64": (pd.array(every(3, None, int), dtype="Int64"), ["c", "c=missing"]),
    "Float64": (pd.array(every(3, None, float), dtype="Float64"), ["c", "c=missing"]),
    "boolean": (pd.array(every(3, None, bool), dtype="boolean"), ["c", "c=missing"]),
    "arrow int": (pd.array(every(3, None, int), dtype="int64[pyarrow]"), ["c", "c=missing"]),
    "truth values and None": (pd.Series(every(3, None, bool), dtype=object), ["c", "c=missing"]),
    "string": (pd.array(every(2, None, lambda _: "p"), dtype="string"), ["c=p", "c=missing"]),
    "categories of numbers": (pd.Categorical(COUNT % 3), ["c=0", "c=1", "c=2"]),
    "categories and missing": (
        pd.Categorical(every(2, None, lambda _: "x")),
        ["c=x", "c=missing"],
    ),
    "categories of intervals": (pd.cut(COUNT, [-1, 29, 59]), ["c=(-1, 29]", "c=(29, 59]"]),
    "dates": (pd.Series(list(map(days, COUNT.tolist()))), CALENDAR),
    "times with a zone and NaT": (
        pd.Series(every(2, pd.NaT, lambda row: pd.Timestamp(days(row), tz="Asia/Tokyo"))),
        [*CALENDAR, "c=missing"],
    ),
    "periods": (pd.period_range("2020-01-01", periods=ROWS, freq="D"), CALENDAR),
    "durations": (pd.to_timedelta(COUNT, unit="h"), ["c"]),
    "durations and NaT": (pd.Series(every(3, pd.NaT, hours)), ["c", "c=missing"]),
    "durations as objects": (pd.Series(every(3, None, hours), dtype=object), ["c", "c=missing"]),
    "times of day": ([datetime.time(row % 24, 30) for row in range(ROWS)], ["c"]),
    "decimals": (every(3, decimal.Decimal("sNaN"), decimal.Decimal), ["c", "c=missing"]),
    "all kinds of missing": (
        pd.Series([[1, None, np.nan, pd.NA, pd.NaT, 2][row % 6] for row in COUNT], dtype=object),
        ["c", "c=missing"],
    ),
    "numbers and words": (pd.Series(every(2, "w", lambda _: 3), dtype=object), ["c=3", "c=w"]),
    "bytes": (every(2, b"x", lambda _: b"y"), ["c=x", "c=y"]),
    "UUIDs": (every(2, uuid.UUID(int=1), lambda _: uuid.UUID(int=2)), [
        f"c={uuid.UUID(int=1)}", f"c={uuid.UUID(int=2)}",
    ]),
    "sparse floats": (pd.arrays.SparseArray(np.where(COUNT % 9, 0.0, 1.0)), ["c"]),
    "sparse ints": (pd.arrays.SparseArray(np.where(COUNT % 9, 0, 1)), ["c"]),
    "one number": (5, ["c"]),
    "one word": ("w", ["c=w"]),
    "nothing": (np.nan, []),
    "NaT alone": (pd.Series([pd.NaT] * ROWS), []),
}  # fmt: skip


@pytest.mark.parametrize("kind", PANDAS)
def test_a_pandas_column_becomes_features(kind: str) -> None:
    values, expected = PANDAS[kind]
    assert features(pd.DataFrame({"number": COUNT}).assign(c=values)) == expected


# Values that Polars and Arrow both make columns of, and the features they become.
TYPED: dict[str, tuple[list[Any], list[str]]] = {
    "numbers": (every(3, None, float), ["c", "c=missing"]),
    "whole numbers": (every(3, None, int), ["c", "c=missing"]),
    "words": (every(2, None, lambda _: "p"), ["c=p", "c=missing"]),
    "truth values": (every(3, None, bool), ["c", "c=missing"]),
    "dates": (every(3, None, days), [*CALENDAR, "c=missing"]),
    "times": ([NOON + hours(24 * row) for row in range(ROWS)], CALENDAR),
    "times with a zone": (
        [(NOON + hours(24 * row)).replace(tzinfo=datetime.timezone.utc) for row in range(ROWS)],
        CALENDAR,
    ),
    "durations": (every(3, None, hours), ["c", "c=missing"]),
    "times of day": (every(3, None, lambda row: datetime.time(row % 24)), ["c", "c=missing"]),
    "decimals": (every(3, None, lambda row: decimal.Decimal(row) / 2), ["c", "c=missing"]),
    "bytes": (every(2, b"x", lambda _: b"y"), ["c=x", "c=y"]),
    "nothing": ([None] * ROWS, []),
}


@pytest.mark.parametrize("kind", TYPED)
@pytest.mark.parametrize("library", ["polars", "arrow"])
@pytest.mark.filterwarnings("ignore:.*noise:UserWarning")
def test_polars_and_arrow_columns_become_the_same_features(library: str, kind: str) -> None:
    values, expected = TYPED[kind]
    columns = {"number": COUNT.tolist(), "c": values}
    make: Any = pl.DataFrame if library == "polars" else pa.table
    assert features(make(columns)) == expected


def test_categories_of_polars_and_arrow_are_those_that_some_record_has() -> None:
    words = every(2, None, lambda _: "x")
    enum = pl.DataFrame({"c": words}, schema={"c": pl.Enum(["x", "y"])})
    assert features(enum.with_columns(number=1.0)) == ["c=x", "c=missing"]
    arrow = pa.table({"c": pa.array(words).dictionary_encode(), "number": COUNT})
    assert features(arrow) == ["c=x", "c=missing"]


def test_a_polars_number_beyond_numpy_is_a_number() -> None:
    frame = pl.DataFrame({"number": COUNT, "c": COUNT})
    assert features(frame.with_columns(pl.col("c").cast(pl.Int128))) == ["c"]


def test_every_kind_of_frame_gives_the_same_model() -> None:
    frame, y = people()
    precise = {"promise": Promise(excess_risk=1e-8), "epsilon": 1e6}
    model = classifier(**precise).fit(frame, y)
    others = (
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame, preserve_index=False),
        frame.assign(work=frame["work"].astype("category")),
        frame.assign(age=frame["age"].astype("Float64")),
    )
    for other in others:
        ids = None if hasattr(other, "iloc") else frame.index.tolist()
        same = classifier(**precise).fit(other, y, ids=ids)
        assert same.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
        assert same.coef_ == pytest.approx(model.coef_, abs=1e-9)
        assert np.array_equal(model.predict_proba(other), model.predict_proba(frame))


def people() -> tuple[pd.DataFrame, NDArray[Any]]:
    """200 named records with numbers, words, dates, truth values and missing cells."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, 200),
            "work": np.where(rng.random(200) < 0.5, "state", "private"),
            "when": pd.date_range("2020", periods=200),
            "member": rng.random(200) < 0.5,
        },
        index=[f"p{row}" for row in range(200)],
    )
    y = np.where(frame["age"] > 40, "yes", "no")
    frame.iloc[::7, 1] = None
    return frame, y


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "lists": (lambda: pd.DataFrame({"c": [[1, 2]] * ROWS}), "column `c` has a value of type list"),
    "complex numbers": (lambda: pd.DataFrame({"c": COUNT + 1j}), "values of type complex128; val"),
    "infinite": (lambda: pd.DataFrame({"c": every(60, np.inf, float)}), r"X\[0\], column `c`: num"),
    "1e301": (lambda: pd.DataFrame({"c": every(60, 1e301, float)}), "at most 1e300"),
    "not Unicode": (
        lambda: pd.DataFrame({"c": pd.Series(every(2, "x", lambda _: "\ud800"), dtype=object)}),
        "column `c` has a text in row 1 that is not valid Unicode",
    ),
    "one name twice": (
        lambda: pd.DataFrame(np.ones((ROWS, 2)), columns=["a", "a"]),
        "`X` has 2 columns named `a`: names must be unique; rename them",
    ),
    "one name twice, Arrow": (
        lambda: pa.Table.from_arrays([pa.array(COUNT), pa.array(COUNT)], names=["a", "a"]),
        "`X` has 2 columns named `a`",
    ),
    "a name and its text": (
        lambda: pd.DataFrame(np.ones((ROWS, 2)), columns=[1, "1"]),
        "`X` has 2 columns named `1`",
    ),
    "empty name": (lambda: pd.DataFrame({"": COUNT}), "a column with an empty name"),
    "no rows": (lambda: pd.DataFrame({"a": [], "b": []}), r"0 sample\(s\)"),
    "no columns": (lambda: pd.DataFrame(index=range(ROWS)), "no feature columns are left"),
    "dict": (lambda: {"a": COUNT.tolist()}, r"got dict; `pandas.DataFrame\(X\)` is one"),
    "Series": (lambda: pd.Series(Y), r"got Series; `X.to_frame\(\)` is one of one column"),
    "Polars Series": (lambda: pl.Series(Y), r"got Series; `X.to_frame\(\)`"),
    "LazyFrame": (lambda: pl.LazyFrame({"a": COUNT}), r"`X.collect\(\)` is one"),
    "Arrow column": (lambda: pa.chunked_array([COUNT]), r"`pyarrow.table\("),
    "records": (
        lambda: pd.DataFrame({"a": COUNT, "b": Y}).to_records(index=False),
        r"`pandas.DataFrame\(X\)` is one",
    ),
    "None": (lambda: None, "got NoneType; give an array or a data frame"),
    "words in one axis": (lambda: Y.astype(object), r"must have 2 axes, rows and columns"),
    "sparse, missing": (
        lambda: __import__("scipy.sparse").sparse.csr_matrix(np.full((ROWS, 2), np.nan)),
        "a sparse array cannot hold missing values",
    ),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_raw_table_is_refused_with_the_reason(kind: str) -> None:
    make, message = REFUSED[kind]
    with pytest.raises(efface.InputError, match=message):
        classifier().fit(make(), Y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (every(3, None, lambda _: "a"), r"`y` has 20 missing value\(s\), the first in row 0"),
        (every(2, "a", lambda _: 1), "`y` has labels of types int, str; all must be of one type"),
        (["a"] * ROWS, "only one class: 'a'"),
        (every(3, "\ud800", lambda _: "a"), "y has a text in row 0 that is not valid Unicode"),
    ],
    ids=["missing", "mixed", "one", "not Unicode"],
)
def test_labels_are_refused_with_the_reason(y: list[Any], message: str) -> None:
    frame = pd.DataFrame({"number": COUNT})
    with pytest.raises(efface.InputError, match=message):
        classifier().fit(frame, np.array(y, dtype=object))


@pytest.mark.parametrize("X", [COUNT[:, None], pd.DataFrame({"number": COUNT})], ids=type)
def test_a_target_too_large_is_told_by_its_place_in_y(X: Any) -> None:
    y = np.where(COUNT == 7, 1e300, COUNT)
    with pytest.raises(efface.InputError, match=r"^y\[7\]: the label must be at most 3.4e38"):
        regressor().fit(X, y)


@pytest.mark.parametrize(
    "labels",
    [
        *([1, 2, 3], [-1, 0, 1], ["a", "b", "c"], [" a", "b", "c d"], ["1", "2", "10"]),
        *([False, True], ["False", "True"], ["false", "true"]),
    ],
    ids=str,
)
def test_labels_come_back_as_they_were(labels: list[Any]) -> None:
    y = np.array(labels)[COUNT % len(labels)]
    model = classifier().fit(pd.DataFrame({"number": COUNT, "word": y.astype(str)}), y)
    assert model.classes_.dtype == y.dtype
    assert model.classes_.tolist() == sorted(labels)
    predicted = model.predict(pd.DataFrame({"number": COUNT, "word": y.astype(str)}))
    assert predicted.dtype == y.dtype
    assert np.mean(predicted == y) > 0.9
    assert len(model.coef_) == (1 if len(labels) == 2 else len(labels))


def test_preprocessing_of_an_unknown_name_is_refused_before_the_table_is_read() -> None:
    with pytest.raises(ValueError, match=r"'preprocess' .* among {.*'declared'.*Got 'scaled'"):
        UnlearningClassifier(preprocess="scaled").fit(*people())


def test_words_under_a_setting_of_declared_preprocessing_name_it() -> None:
    for promise, setting in (
        (Promise(capacity=1000), "`Promise(capacity=...)`"),
        (Promise(state="secret", releases=3), '`Promise(state="secret")`'),
    ):
        model = UnlearningClassifier(promise=promise)
        with pytest.raises(efface.InputError) as refused:
            model.fit(*people())
        assert f"leave out {setting}, which goes with" in str(refused.value)


def test_declared_preprocessing_of_words_names_the_fitted_one() -> None:
    with pytest.raises(efface.InputError, match='use `preprocess="fitted"`'):
        UnlearningClassifier(preprocess="declared").fit(*people())


def test_rows_to_predict_may_be_written_otherwise() -> None:
    frame, y = people()
    model = classifier().fit(frame, y)
    expected = model.predict_proba(frame)
    for other in (
        frame.astype(object),
        frame.assign(when=frame["when"].astype(str)),
        frame.assign(when=frame["when"].dt.tz_localize("UTC")),
        frame.assign(age=frame["age"].map(repr)),
        frame.assign(member=frame["member"].astype(int)),
    ):
        assert np.array_equal(model.predict_proba(other), expected)
    assert model.predict(frame[:0]).shape == (0,)


def test_unknown_and_missing_cells_are_predicted() -> None:
    frame, y = people()
    model = classifier().fit(frame, y)
    names = model.get_feature_names_out().tolist()
    unknown = model.decision_function(frame[:1].assign(work="martian"))
    weight = model.coef_[0, names.index("work=state")]
    assert model.decision_function(frame[:1].assign(work="state")) == pytest.approx(
        unknown + weight
    )
    missing = frame.assign(age=np.nan, work=None, when=pd.NaT, member=None)
    assert np.ptp(model.decision_function(missing)) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame[frame.columns[::-1]], "must be in the same order"),
        (lambda frame: frame.drop(columns="age"), "yet now missing"),
        (lambda frame: frame.assign(more=1), "unseen at fit time"),
        (lambda frame: frame.assign(age=np.inf), "column `age`: numbers must be finite"),
        (lambda frame: frame.iloc[0], "got Series"),
        (lambda frame: frame.iloc[0].to_dict(), "got dict"),
        (lambda frame: frame.iloc[:, :2], "yet now missing"),
    ],
)
@pytest.mark.parametrize("method", ["predict", "add"])
def test_rows_that_do_not_fit_are_refused(
    method: str, change: Callable[[Any], Any], message: str
) -> None:
    frame, y = people()
    model = classifier().fit(frame, y)
    rows = frame.set_axis([f"q{row}" for row in range(200)])
    with pytest.raises(ValueError, match=message):
        model.predict(change(rows)) if method == "predict" else model.add(change(rows), y)
    assert model.status()["records"] == 200


@pytest.mark.filterwarnings("ignore::efface.SettingsWarning")
def test_a_word_among_numbers_is_missing_to_predict_and_when_it_is_added() -> None:
    frame, y = people()
    model = classifier(preprocess=Fitted(min_frequency=1)).fit(frame, y)
    before = model.status()["preprocessing"]
    word = frame[:1].set_axis(["new"]).assign(age="old")
    missing = frame[:1].set_axis(["new"]).assign(age=np.nan)
    assert model.decision_function(word) == model.decision_function(missing)
    with pytest.warns(efface.SettingsWarning, match="1 record has a text in the column `age`"):
        model.add(word, y[:1])
    assert any(line.endswith("(1 other text)") for line in model.status()["preprocessing"])
    model.forget(ids="new")
    assert model.status()["preprocessing"] == before


def test_a_category_comes_and_goes_with_its_records() -> None:
    frame, y = people()
    model = classifier(preprocess=Fitted(min_frequency=1)).fit(frame, y)
    before = model.get_feature_names_out().tolist()
    model.add(frame[:1].set_axis(["new"]).assign(work="martian"), y[:1])
    assert set(model.get_feature_names_out()) - set(before) == {"work=martian"}
    model.forget(ids="new")
    assert model.get_feature_names_out().tolist() == before
    assert b"martian" not in Path(model.status()["path"]).read_bytes()


def test_a_class_comes_and_goes_with_its_records() -> None:
    frame, y = people()
    model = classifier().fit(frame, y)
    model.add(frame[:1].set_axis(["new"]), ["perhaps"], new_classes=True)
    assert model.classes_.tolist() == ["no", "perhaps", "yes"]
    assert model.predict_proba(frame).shape == (200, 3)
    model.forget(ids="new")
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.predict_proba(frame).shape == (200, 2)


@pytest.mark.parametrize(
    ("labels", "new"), [([1, 2], "x"), (["a", "b"], 7), ([1, 2], 2.5), ([False, True], 2)], ids=str
)
def test_a_class_of_another_type_is_refused_and_nothing_changes(
    labels: list[Any], new: Any
) -> None:
    frame, y = people()
    model = classifier().fit(frame, np.array(labels)[(y == "yes").astype(int)])
    with pytest.raises(efface.InputError, match="new classes must be of the same type"):
        model.add(frame[:1].set_axis(["new"]), [new])
    assert model.status()["records"] == 200
    assert model.classes_.tolist() == labels


def test_the_last_records_of_a_model_are_refused_with_a_way_out() -> None:
    frame, y = people()
    model = classifier().fit(frame, y)
    with pytest.raises(efface.Refused, match=r"needs at least 2 classes.*`release=False` erases"):
        model.forget(ids=frame.index[y == "no"].tolist())
    assert model.status()["records"] == 200
    numbers = regressor().fit(frame, frame["age"])
    with pytest.raises(efface.Refused, match=r"no records.*`release=False` erases"):
        numbers.forget(ids=frame.index.tolist())


def test_a_record_is_given_new_contents() -> None:
    frame, y = people()
    model = classifier(preprocess=Fitted(min_frequency=1)).fit(frame, y)
    assert model.update(frame[5:6].assign(work="martian"), y[5:6]).records == 1
    assert "work=martian" in model.get_feature_names_out()
    fresh = frame.astype({"work": object})
    fresh.iloc[5, 1] = "martian"
    again = classifier(preprocess=Fitted(min_frequency=1)).fit(fresh, y)
    assert again.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()


def test_predictions_of_a_regression_are_in_units_of_y_and_follow_the_records() -> None:
    frame, _ = people()
    y = 1e4 + 100 * frame["age"]
    model = regressor().fit(frame, y)
    assert model.score(frame, y) > 0.99
    model.add(frame[:1].set_axis(["far"]), [1e9])
    assert model.score(frame, y) < 0
    model.forget(ids="far")
    assert model.score(frame, y) > 0.99


def test_copies_pickles_and_saved_vaults_predict_alike(tmp_path: Path) -> None:
    frame, y = people()
    model = classifier().fit(frame, y).save(tmp_path / "model.efface")
    expected = model.predict_proba(frame)
    loaded = UnlearningClassifier.load(tmp_path / "model.efface")
    assert loaded.feature_names_in_.tolist() == frame.columns.tolist()
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), loaded):
        assert np.array_equal(other.predict_proba(frame), expected)
    assert loaded.add(frame[:1].set_axis(["new"]), y[:1]).records == 1
    assert clone(model).fit(frame, y).score(frame, y) > 0.9


def test_searches_and_pipelines_take_frames() -> None:
    frame, y = people()
    assert cross_val_score(classifier(), frame, y, cv=3).min() > 0.8
    search = GridSearchCV(
        classifier(), {"preprocess__min_frequency": [1, 10]}, cv=2, error_score="raise"
    )
    assert search.fit(frame, y).score(frame, y) > 0.9
    assert make_pipeline(FunctionTransformer(), classifier()).fit(frame, y).score(frame, y) > 0.9
    bags = BaggingClassifier(
        classifier(promise=Promise(excess_risk=0.05, max_weight=10)), n_estimators=2, random_state=0
    )
    assert bags.fit(frame, y).score(frame, y) > 0.9


def test_weights_and_subjects_go_with_frames() -> None:
    frame, y = people()
    weights = 1.0 + np.arange(200) % 2
    model = classifier(promise=Promise(excess_risk=0.05, max_weight=2)).fit(
        frame, y, subjects=[f"s{row // 4}" for row in range(200)], sample_weight=weights
    )
    assert model.score(frame, y) > 0.9
    assert model.forget(subjects="s3").records == 4


def test_an_index_of_names_is_not_a_column() -> None:
    frame, y = people()
    model = classifier().fit(frame, y)
    assert not any("p7" in name for name in model.get_feature_names_out())
    assert model.forget(ids="p7").records == 1


def test_texts_among_numbers_to_predict_are_counted_by_column_and_told_once() -> None:
    count = np.arange(60)
    frame = pd.DataFrame({"size": count % 7, "day": ["2024-01-02"] * 30 + ["2024-02-03"] * 30})
    model = UnlearningClassifier().fit(frame, count % 2)
    rows = pd.DataFrame({"size": ["3", "3 kg", "tall", None, "none"], "day": ["soon"] * 5})
    with pytest.warns(efface.SettingsWarning) as told:
        assert model.predict(rows).shape == (5,)
    texts = [str(warning.message).split(" that is no ")[0] for warning in told]
    assert texts == [
        "2 rows have a text in the column `size`",
        "5 rows have a text in the column `day`",
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame)


def test_a_model_that_has_nothing_to_learn_from_predicts_the_mean() -> None:
    codes = [f"code {row}" for row in range(59)]
    frame = pd.DataFrame({"code": [*codes, None]})
    with pytest.warns(efface.SettingsWarning, match="only whether it is missing is learnt"):
        model = regressor(epsilon=1e6).fit(frame, COUNT % 4, ids=range(ROWS))
    assert list(model.get_feature_names_out()) == ["code=missing"]
    # The last record with no code leaves, and what says so with it.
    model.forget(ids=59)
    assert model.coef_.shape == (0,)
    np.testing.assert_allclose(model.predict(frame), np.full(ROWS, 87 / 59), atol=0.05)
    with pytest.warns(efface.SettingsWarning, match="nothing is learnt"):
        labels = classifier().fit(frame[:59], Y[:59])
    assert set(labels.predict(frame)) <= {"no", "yes"}
    assert labels.predict_proba(frame).shape == (ROWS, 2)


def test_a_row_far_out_on_the_line_of_the_others_is_learnt_as_it_is() -> None:
    people = np.random.default_rng(0).lognormal(10, 3, 200)
    frame = pd.DataFrame({"before": people, "trees": COUNT.repeat(4)[:200]})
    model = regressor().fit(frame, 1.1 * people)
    assert model.score(frame, 1.1 * people) > 0.999
    constants = model.certificate_.constants
    bound = next(constant for constant in constants if constant["name"] == "row-norm")
    assert float(bound["value"]) == pytest.approx(16 * 2**0.5)
    assert bound["origin"] == "data"


def test_weights_are_per_unit_of_a_column() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.normal(40, 10, 2000), "income": rng.normal(50_000, 9_000, 2000)})
    score = 0.1 * (X["age"] - 40) + 1e-4 * (X["income"] - 50_000)
    y = (score + rng.normal(size=2000) > 0).astype(int)
    for rows in (X, X.to_numpy()):
        model = UnlearningClassifier(epsilon=1e4, promise=Promise(excess_risk=1e-6)).fit(rows, y)
        theirs = LogisticRegression(C=1.0).fit(X, y)
        assert np.allclose(model.coef_, theirs.coef_, rtol=0.02)
        assert np.allclose(model.intercept_, theirs.intercept_, rtol=0.02)
        decision = X.to_numpy() @ model.coef_[0] + model.intercept_[0]
        assert np.allclose(decision, model.decision_function(rows), rtol=0, atol=2e-6)
        assert np.allclose(model.standardized_coef_, model.coef_ * X.std(ddof=0).to_numpy())
        assert len(model.coef_names_) == model.coef_.shape[1]
    target = 3 * X["age"] + X["income"] / 1000
    for mechanism in ({"epsilon": 1e4}, {"mechanism": "ridge"}):
        learnt = UnlearningRegressor(**mechanism).fit(X, target)
        reference = Ridge().fit(X, target)
        assert np.allclose(learnt.coef_, reference.coef_, rtol=0.01)
        predicted = X.to_numpy() @ learnt.coef_ + learnt.intercept_
        assert np.allclose(predicted, learnt.predict(X), rtol=1e-6)
    both = np.column_stack([target, -2 * X["age"]])
    several = UnlearningRegressor(mechanism="ridge").fit(X, both)
    predicted = X.to_numpy() @ several.coef_.T + several.intercept_
    assert np.allclose(predicted, several.predict(X), rtol=1e-6)
    classes = UnlearningClassifier(random_state=0).fit(X, np.digitize(score, [-1, 1]))
    decision = X.to_numpy() @ classes.coef_.T + classes.intercept_
    assert np.allclose(decision, classes.decision_function(X), rtol=0, atol=2e-6)
    exported = json.loads(model.vault_.export("json"))
    means, inverses = np.array(exported["units"]).T
    assert np.array_equal(np.array(exported["coef"]) * inverses, model.coef_)
    shift = np.array(exported["coef"]) * inverses @ means
    assert np.array_equal(np.array(exported["intercept"]) - shift, model.intercept_)
