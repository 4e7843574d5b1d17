"""`efface.forget` on whatever models are inside of."""

from __future__ import annotations

import collections
import copy
import functools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from conftest import People
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler

import efface
from efface import UnlearningClassifier, _engine
from efface._introspect import look_inside

pytestmark = pytest.mark.filterwarnings("ignore::efface.NotCoveredWarning")


def frame_of(people: People) -> Any:
    pd = pytest.importorskip("pandas")
    return pd.DataFrame(people.X, columns=people.names, index=people.ids)


def three(people: People) -> Any:
    return people.X[:, :3].argmax(axis=1)


def base(**parameters: Any) -> UnlearningClassifier:
    return UnlearningClassifier(**parameters)


def in_frames(*steps: Any) -> Any:
    """Return a pipeline whose steps keep the index, which names the records."""
    return make_pipeline(*steps).set_output(transform="pandas")


CASES: dict[str, tuple[Any, int, str]] = {
    "one-vs-rest": (OneVsRestClassifier(base()), 3, ""),
    "voting": (VotingClassifier([("a", base()), ("b", base(lambda_=0.1))]), 2, ""),
    "stacking": (StackingClassifier([("a", base())], cv=2), 1, "LogisticRegression"),
    "calibration": (CalibratedClassifierCV(base(), cv=3), 2, "_SigmoidCalibration"),
    "search": (GridSearchCV(base(), {"lambda_": [1e-3, 1e-2]}, cv=2), 1, "best_params_"),
    "pipeline": (in_frames(StandardScaler(), Normalizer(), base()), 1, "StandardScaler"),
    "nested": (
        GridSearchCV(
            in_frames(StandardScaler(), OneVsRestClassifier(base())),
            {"onevsrestclassifier__estimator__lambda_": [1e-3]},
            cv=2,
        ),
        3,
        "StandardScaler",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_every_model_that_holds_the_record_forgets_it(people: People, name: str) -> None:
    whole, holders, uncovered = copy.deepcopy(CASES[name])
    many = name in ("one-vs-rest", "one-vs-one", "nested")
    y = three(people) if many else people.y
    whole.fit(frame_of(people), y)
    models = look_inside(whole).models.values()
    before = {id(model): model.status()["records"] for model in models}
    done = efface.forget(whole, ids="id-7")
    assert len(done.certificates) == holders
    for one in done.certificates.values():
        assert isinstance(one, efface.Certificate)
        assert (one.kind, one.records) == ("delete", 1)
    changed = [m for m in models if m.status()["records"] != before[id(m)]]
    assert len(changed) == holders
    assert all(b"id-7\0" not in m.status()["path"].read_bytes() for m in models)
    for model in models:
        with pytest.raises(KeyError):
            model.forget(ids=["id-7", "nobody"])
    assert uncovered in "; ".join(done.not_covered)
    assert bool(done.not_covered) == bool(uncovered)
    again = efface.forget(whole, ids=["id-7"])
    assert again.certificates == done.certificates


def test_ids_that_are_routed_name_the_records_of_parts(people: People) -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        pairs = OneVsOneClassifier(base().set_fit_request(ids=True))
        pairs.fit(people.X, three(people), ids=np.array(people.ids))
    assert len(efface.forget(pairs, ids="id-7").certificates) == 2
    pairs.fit(people.X, three(people))
    with pytest.raises(efface.Refused, match="positions among its own rows"):
        efface.forget(pairs, ids="row:7")


def test_what_learnt_from_the_records_and_is_not_covered_is_named(people: People) -> None:
    whole = make_pipeline(
        FrozenEstimator(StandardScaler().fit(np.eye(4))),
        Normalizer(),
        GridSearchCV(make_pipeline(StandardScaler(), base()), {"standardscaler": ["passthrough"]}),
    ).fit(people.X, people.y)
    with pytest.warns(efface.NotCoveredWarning, match="best_params_") as told:
        done = efface.forget(whole, ids="row:3")
    assert [line.partition(" ")[0] for line in done.not_covered] == ["GridSearchCV"]
    assert told[0].filename == __file__
    assert "not covered: GridSearchCV" in str(done)


def test_all_forget_or_none(people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    ids, settings = people.ids, {"promise": efface.Promise(state="secret", releases=2)}
    models = [base().fit(people.X, people.y, ids=ids), base(**settings)]
    models[1].fit(people.X, people.y, ids=ids)
    with pytest.raises(efface.UnknownRecord, match="`nobody`") as raised:
        efface.forget(models, ids=["id-1", "nobody"])
    assert raised.value.names == ("nobody",)
    models[1].forget(ids="id-0")
    with pytest.raises(efface.ReleasesExhausted, match=r"`\[1\]`.*nothing was deleted from any"):
        efface.forget(models, ids="id-1")
    assert [model.status()["records"] for model in models] == [120, 119]
    models[1].refresh()
    done = efface.forget(models, ids=["id-1", "nobody"], skip_unknown=True)
    assert set(done.certificates) == {"[0]", "[1]"}

    real = _engine.delete
    calls: list[Path] = []

    def failing(path: Path, *rest: Any, **names: Any) -> Any:
        calls.append(path)
        if len(calls) == 1:
            raise efface.StorageError("the disk is full", code="vault")
        return real(path, *rest, **names)

    models = [base().fit(people.X, people.y, ids=ids) for _ in range(2)]
    monkeypatch.setattr(_engine, "delete", failing)
    with pytest.raises(efface.PartlyForgotten, match=r"forgotten by `\[1\]`.*disk is full") as left:
        efface.forget(models, ids="id-5")
    assert list(left.value.certificates) == ["[1]"]
    assert list(left.value.failures) == ["[0]"]
    assert list(pickle.loads(pickle.dumps(left.value)).certificates) == ["[1]"]
    monkeypatch.undo()
    assert len(efface.forget(models, ids="id-5").certificates) == 2
    assert [model.status()["records"] for model in models] == [119, 119]


def test_positions_of_parts_are_not_positions_of_the_whole(people: People) -> None:
    folds = CalibratedClassifierCV(base(), cv=3).fit(people.X, people.y)
    with pytest.raises(efface.Refused, match="positions among its own rows"):
        efface.forget(folds, ids="row:5")
    assert {m.status()["records"] for m in look_inside(folds).models.values()} == {80}
    rest = OneVsRestClassifier(base()).fit(people.X, three(people))
    with pytest.raises(efface.Refused, match="by position"):
        efface.forget(rest, ids=5)
    assert len(efface.forget(rest, ids="row:5").certificates) == 3
    bag = BaggingClassifier(base(), n_estimators=3, random_state=0).fit(people.X, people.y)
    assert len(efface.forget(bag, ids="row:5").certificates) == 3
    few = [base().fit(people.X, people.y), base().fit(people.X, people.y, ids=people.ids)]
    with pytest.raises(efface.Refused, match="not by ids"):
        efface.forget(few, ids="id-5")


def test_only_what_is_known_to_keep_rows_keeps_positions(people: People) -> None:
    class Pipeline(sklearn.pipeline.Pipeline):  # type: ignore[misc]
        """Stands for those of other libraries, which may drop and repeat rows."""

    other = Pipeline([("model", base())]).fit(people.X, people.y)
    frozen = FrozenEstimator(base().fit(people.X[5:], people.y[5:]))
    stack = StackingClassifier([("a", base().fit(people.X[5:], people.y[5:]))], cv="prefit")
    for whole in (other, frozen, stack.fit(people.X, people.y)):
        with pytest.raises(efface.Refused, match="positions among its own rows"):
            efface.forget(whole, ids="row:5")


def test_rows_that_an_ensemble_drew_are_not_told_apart_by_weights_alone(people: People) -> None:
    weights = np.ones(len(people.y))
    with sklearn.config_context(enable_metadata_routing=True):
        model = base(promise=efface.Promise(max_weight=9.0)).set_fit_request(sample_weight="often")
        bag = BaggingClassifier(model, n_estimators=2, random_state=0)
        bag.fit(people.X, people.y, often=weights)
    assert all(one._weighted for one in bag.estimators_)
    with pytest.raises(efface.Refused, match="positions among its own rows"):
        efface.forget(bag, ids="row:5")


def test_no_model_is_passed_over_for_naming_its_records_otherwise(people: People) -> None:
    by_ids = base().fit(people.X, people.y, ids=people.ids)
    by_position = base().fit(people.X, people.y)
    for models in ([by_ids, by_position], [by_position, by_ids]):
        with pytest.raises(efface.Refused, match="names its records by ids") as refused:
            efface.forget(models, ids="row:5")
        assert refused.value.code == "unlike-names"
    of_persons = base().fit(people.X, people.y, subjects=people.subjects)
    for release in (True, False):
        with pytest.raises(efface.Refused, match=r"`\[1\]` names no subjects"):
            efface.forget([of_persons, by_ids], subjects="who-1", release=release)
    assert [m.status()["records"] for m in (by_ids, by_position, of_persons)] == [120] * 3
    with pytest.raises(efface.UnknownSubject, match="unknown"):
        efface.forget([by_position, by_ids], subjects="who-1")


def test_records_can_be_erased_from_all_where_one_may_release_nothing(people: People) -> None:
    models = [base(), base(promise=efface.Promise(state="secret", releases=2))]
    for model in models:
        model.fit(people.X, people.y, ids=people.ids)
    models[1].forget(ids="id-0")
    with pytest.raises(efface.ReleasesExhausted):
        efface.forget(models, ids="id-1")
    done = efface.forget(models, ids="id-1", release=False)
    assert [type(one) for one in done.certificates.values()] == [efface.Erasure] * 2
    assert [model.status()["records"] for model in models] == [119, 118]
    with pytest.raises(efface.ModelWithdrawn):
        models[0].predict(people.X)


def test_names_that_are_all_unknown_are_not_passed_over(people: People) -> None:
    model = base().fit(people.X, people.y, ids=people.ids)
    with pytest.raises(efface.UnknownRecord):
        efface.forget(model, ids=["nobody"], skip_unknown=True)


def test_subjects_are_forgotten_by_all_who_know_them(people: People) -> None:
    models = {
        "first": base().fit(people.X[:60], people.y[:60], subjects=people.subjects[:60]),
        "second": base().fit(people.X[30:], people.y[30:], subjects=people.subjects[30:]),
    }
    done = efface.forget(models, subjects=["who-1", "who-15"])
    assert {path: c.records for path, c in done.certificates.items()} == {
        "['first']": 6,
        "['second']": 3,
    }
    with pytest.raises(efface.UnknownSubject):
        efface.forget(models, subjects="nobody")


def test_copies_that_share_a_vault_follow(people: People) -> None:
    model = base().fit(people.X, people.y)
    other = copy.deepcopy(model)
    done = efface.forget([model, other], ids="row:1")
    assert len(done.certificates) == 1
    assert np.array_equal(model.coef_, other.coef_)
    with pytest.raises(efface.InputError, match="no fitted efface model inside this"):
        efface.forget(LogisticRegression().fit(people.X, people.y), ids="row:1")
    with pytest.raises(efface.InputError, match="either `ids` or `subjects`"):
        efface.forget(model)


class Slotted:
    """Has a place for a model and no dictionary."""

    __slots__ = ("model",)

    def __init__(self, model: Any) -> None:
        self.model = model


class Graph:
    """Stands for objects that can be called and that make up attributes."""

    def __init__(self, model: Any) -> None:
        self._step = {"estimator": model}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return Graph(None)

    def __call__(self, *_: Any) -> Any:
        return Graph(None)


def closed_over(model: Any) -> Any:
    return lambda X: model.predict(X)


HOLDERS: dict[str, Any] = {
    "a deque": lambda model: collections.deque([model]),
    "a partial function": lambda model: functools.partial(cross_val_score, model),
    "a closure": closed_over,
    "a default": lambda model: lambda X, model=model: model.predict(X),
    "a method": lambda model: model.predict,
    "slots": Slotted,
    "something to call": Graph,
    "a series": lambda model: pytest.importorskip("pandas").Series({"north": model}),
    "a frame": lambda model: pytest.importorskip("pandas").DataFrame({"a": [1], "m": [model]}),
    "a transformer": lambda model: FunctionTransformer(closed_over(model)),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_a_model_is_found_wherever_a_pickle_would_hold_it(people: People, holder: str) -> None:
    model = base().fit(people.X, people.y, ids=people.ids)
    done = efface.forget([HOLDERS[holder](model)], ids="id-3")
    assert [one.records for one in done.certificates.values()] == [1]


def test_what_cannot_be_looked_into_is_named() -> None:
    dask = pytest.importorskip("dask")
    with pytest.raises(efface.InputError, match="inside this list; Delayed cannot be looked into"):
        efface.forget([dask.delayed(base)()], ids="id-3")
