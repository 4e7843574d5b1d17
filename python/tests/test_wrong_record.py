"""A request names the record it means, whatever the rows went through, or it is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import People
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler

import efface
from efface import UnlearningClassifier

pytestmark = pytest.mark.filterwarnings("ignore::efface.NotCoveredWarning")


def customers(people: People) -> Any:
    """A frame whose index holds customers: whole numbers, and not in order."""
    numbers = np.random.default_rng(3).permutation(120)
    return pd.DataFrame(people.X, columns=people.names, index=pd.Index(numbers, name="customer"))


def left(model: Any, X: Any) -> set[int]:
    """Positions of the rows that the vault still has, read as an attacker reads it."""
    vault = model.vault_.path.read_bytes()
    rows = np.asarray(X, dtype=np.float32)
    return {at for at, row in enumerate(rows) if row.tobytes() in vault}


def test_a_position_has_a_name_that_no_other_number_can_be_taken_for(
    people: People, tmp_path: Path
) -> None:
    model = UnlearningClassifier().fit(people.X, people.y)
    for number in (1, "1", np.int64(1)):
        with pytest.raises(efface.Refused, match="row:1") as raised:
            model.forget(ids=number)
        assert "row:0" in str(raised.value)
    assert model.status()["records"] == 120
    model.forget(ids="row:1")
    assert left(model, people.X) == set(range(120)) - {1}
    model.save(tmp_path / "m.efface")
    vault = efface.Vault(tmp_path / "m.efface")
    with pytest.raises(efface.Refused):
        vault.delete(ids=["2"])
    vault.delete(ids=["row:2"])
    assert left(model, people.X) == set(range(120)) - {1, 2}
    again = UnlearningClassifier.load(tmp_path / "m.efface")
    again.add(people.X[:1] / 2, people.y[:1])
    assert again.forget(ids="row:120").records == 1


def test_ids_may_be_whole_numbers_and_mean_what_was_given(people: People) -> None:
    numbers = np.random.default_rng(3).permutation(120)
    model = UnlearningClassifier().fit(people.X, people.y, ids=numbers)
    model.forget(ids=11)
    assert left(model, people.X) == set(range(120)) - {int(np.flatnonzero(numbers == 11)[0])}
    with pytest.raises(efface.UnknownRecord):
        model.forget(ids="row:5")


@pytest.mark.parametrize("depth", ["flat", "nested", "search", "named", "one-vs-rest"])
def test_a_pipeline_keeps_the_index(people: People, depth: str) -> None:
    frame = customers(people)
    y: Any = people.y
    model: Any = UnlearningClassifier()
    if depth == "flat":
        whole = make_pipeline(StandardScaler(), FunctionTransformer(lambda x: x / 9), model)
    elif depth == "nested":
        whole = make_pipeline(Normalizer(), model).set_output(transform="pandas")
        whole = make_pipeline(StandardScaler(), whole)
    elif depth == "named":
        columns = ColumnTransformer([("scaled", StandardScaler(), list("abcd"))])
        whole = make_pipeline(columns, Normalizer(), model)
    elif depth == "search":
        inner = make_pipeline(StandardScaler(), Normalizer(), model)
        whole = GridSearchCV(inner, {"unlearningclassifier__lambda_": [1e-2]}, cv=2)
    else:
        whole = make_pipeline(StandardScaler(), Normalizer(), OneVsRestClassifier(model))
        y = people.X[:, :3].argmax(axis=1)
    (inner if depth == "search" else whole).set_output(transform="pandas")
    whole.fit(frame, y)
    fitted = whole.best_estimator_ if depth == "search" else whole
    while isinstance(fitted, Pipeline):
        fitted = fitted[-1]
    models = fitted.estimators_ if depth == "one-vs-rest" else [fitted]
    for one in models:
        assert one.forget(ids=11).records == 1
        with pytest.raises(efface.UnknownRecord):
            one.forget(ids=725)


def test_a_pipeline_that_changes_rows_leaves_no_numbers_to_guess_with(people: People) -> None:
    frame = customers(people)

    class Resampling(Pipeline):  # type: ignore[misc]
        """Stands for those of other libraries, which may drop and repeat rows."""

    pipeline = Resampling([("scaled", StandardScaler()), ("model", UnlearningClassifier())])
    pipeline.fit(frame, people.y)
    with pytest.raises(efface.Refused, match="row:11"):
        pipeline[-1].forget(ids=11)
    # The targets name the rows, where they have an index and the rows lost theirs.
    y = pd.Series(people.y, index=frame.index)
    pipeline.fit(frame, y)
    assert pipeline[-1].forget(ids=11).records == 1
    backwards = FunctionTransformer(lambda X: X.iloc[::-1])
    with pytest.raises(efface.InputError, match="different indexes"):
        make_pipeline(backwards, UnlearningClassifier()).fit(frame, y)


def test_an_index_that_merely_counts_names_nothing(people: People) -> None:
    frame = customers(people).reset_index(drop=True)
    pipeline = make_pipeline(StandardScaler(), UnlearningClassifier()).fit(frame, people.y)
    with pytest.raises(efface.Refused, match="row:11"):
        pipeline[-1].forget(ids=11)
    assert pipeline[-1].forget(ids="row:11").records == 1


def test_all_unknown_names_are_told_and_may_be_passed_over(people: People) -> None:
    model = UnlearningClassifier().fit(people.X, people.y, people.ids, people.subjects)
    unknown = [f"nobody-{number}" for number in range(50)]
    with pytest.raises(efface.UnknownRecord, match="50 of 52") as raised:
        model.forget(ids=[*unknown, "id-3", "id-4"])
    assert raised.value.names == tuple(unknown)
    with pytest.raises(efface.UnknownSubject) as other:
        model.forget(subjects=["who-1", "nobody"], skip_unknown=False)
    assert other.value.names == ("nobody",)
    assert model.status()["records"] == 120
    assert model.forget(ids=["id-3", *unknown, "id-4"], skip_unknown=True).records == 2
    assert model.receipt_.skipped == tuple(unknown)
    assert model.forget(subjects=["who-2", "nobody"], skip_unknown=True).records == 3
    with pytest.raises(efface.UnknownRecord):
        model.forget(ids=unknown, skip_unknown=True)
    receipt = model.vault_.delete(ids=["id-20", "nobody"], skip_unknown=True)
    assert (receipt.certificate.records, receipt.skipped) == (1, ("nobody",))


def test_names_alone_are_ids_where_they_can_be_nothing_else(people: People) -> None:
    frame = pd.DataFrame(people.X, index=people.ids)
    model = UnlearningClassifier().fit(frame, people.y)
    assert model.forget(["id-3", "id-4"]).records == 2
    assert model.forget("id-5").records == 1
    done = efface.forget([model], ["id-6"])
    assert [certificate.records for certificate in done.certificates.values()] == [1]
    assert model.vault_.preview(["id-7"])["records"] == 1
    assert model.vault_.delete(["id-7"]).certificate.records == 1
    assert model.vault_.erase(["id-8"]).records == 1


def test_names_of_records_or_of_people_must_say_which(people: People) -> None:
    model = UnlearningClassifier().fit(people.X, people.y, ids=people.ids, subjects=people.ids)
    for forget in (model.forget, model.vault_.delete, lambda names: efface.forget(model, names)):
        with pytest.raises(efface.InputError, match="records or of people") as told:
            forget(["id-3"])
        assert told.value.hint is not None and "`subjects=[...]`" in told.value.hint
    with pytest.raises(efface.InputError, match="records or of people"):
        model.forget(["id-3"], ids=["id-4"])
    assert model.status()["records"] == 120


def test_rows_are_not_taken_for_names(people: People) -> None:
    model = UnlearningClassifier().fit(people.X, people.y)
    for rows in (people.X[:2], pd.DataFrame(people.X[:2])):
        with pytest.raises(efface.InputError, match="forgotten by their names, got") as told:
            model.forget(rows)
        assert told.value.hint is not None and "ids=[...]" in told.value.hint


@pytest.mark.parametrize(
    "ids",
    [
        np.arange(120) + 2.0**60,
        [float(at) for at in range(120)],
        pd.Series([*range(119), None]),
        np.array([*range(119), 2.0**60], dtype=object),
    ],
)
def test_floats_name_no_records(people: People, ids: Any) -> None:
    frame = pd.DataFrame(people.X, columns=people.names)
    table = frame.assign(key=ids)
    for given in ({"ids": ids}, {"subjects": ids}):
        with pytest.raises(efface.InputError, match="must be strings or whole numbers") as raised:
            UnlearningClassifier().fit(people.X, people.y, **given)
        assert "lose digits" in (raised.value.hint or "")
    with pytest.raises(efface.InputError, match="must be strings or whole numbers"):
        UnlearningClassifier().fit(table, people.y, ids="key")
    model = UnlearningClassifier().fit(people.X, people.y)
    with pytest.raises(efface.InputError, match="of type float"):
        model.forget(ids=ids)


def test_spaces_around_a_name_do_not_count(people: People) -> None:
    given = {
        "ids": [f" a{at}\t" for at in range(120)],
        "subjects": [f"s{at}\u2003" for at in range(120)],
    }
    model = UnlearningClassifier().fit(people.X, people.y, **given)
    assert model.forget(ids=" a3\t").records == 1
    assert model.forget(ids=["a4", "\u00a0a5"]).records == 2
    assert model.forget(subjects="s6 ").records == 1
    assert model.forget(subjects=["s7", " nobody "], skip_unknown=True).records == 1
    with pytest.raises(efface.UnknownRecord):
        model.forget(ids="\x1ca8")
