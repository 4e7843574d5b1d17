"""What belongs to rows has their index or none: labels are never joined by position."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import efface
from efface import Declared, Promise, UnlearningClassifier, UnlearningRegressor, Vault

ROWS = 60
INDEX = pd.Index([f"visit-{row:02}" for row in range(ROWS)])
ORDER = np.random.default_rng(1).permutation(ROWS)
FRAME = pd.DataFrame(
    np.random.default_rng(0).normal(size=(ROWS, 3)) / 4, index=INDEX, columns=list("abc")
)
Y = (FRAME.a > FRAME.b).astype(int)
NAMED = {
    "y": Y,
    "ids": pd.Series([f"id-{row}" for row in range(ROWS)], index=INDEX),
    "subjects": pd.Series([f"who-{row // 3}" for row in range(ROWS)], index=INDEX),
    "sample_weight": pd.Series(1.0 + np.arange(ROWS) % 2, index=INDEX),
}
WRONG: dict[str, Callable[[Any], Any]] = {
    "another order": lambda values: values.iloc[ORDER],
    "counting": lambda values: values.reset_index(drop=True),
    "other labels": lambda values: values.set_axis([f"other-{row}" for row in range(ROWS)]),
}
RIGHT: dict[str, Callable[[Any], Any]] = {
    "series": lambda values: values,
    "array": lambda values: values.to_numpy(),
    "list": lambda values: values.to_list(),
    "polars": lambda values: pl.Series(values.to_list()),
    "equal": lambda values: values.set_axis(list(INDEX)),
}
pytestmark = pytest.mark.filterwarnings("ignore::efface.NotCoveredWarning")


def named(**others: Any) -> dict[str, Any]:
    return {name: values.to_numpy() for name, values in NAMED.items()} | others


def new(names: dict[str, Any]) -> dict[str, Any]:
    """The same under ids that no record has."""
    ids = names["ids"]
    renamed = ids + "-new" if hasattr(ids, "iloc") else [f"{name}-new" for name in ids]
    return {**names, "ids": renamed}


def classifier() -> Any:
    return UnlearningClassifier(random_state=0, promise=Promise(max_weight=2.0, public_n=ROWS))


def fitted() -> Any:
    return classifier().fit(FRAME, **named())


def vault(folder: Path) -> Vault:
    settings = {"loss": "logistic", "max_weight": 2.0}
    place: dict[str, Any] = {"key": folder / "key.toml", "settings": settings}
    return Vault.train(folder / "m.efface", FRAME, **named(), **place)


def network(names: dict[str, Any], verb: str) -> Any:
    given = {name: names[name] for name in ("y", "ids", "subjects")}
    model = UnlearningClassifier(mechanism=efface.Shards(shards=2, epochs=1))
    before = {name: values for name, values in named().items() if name in given}
    if verb == "fit":
        return model.fit(FRAME, **given)
    return model.fit(FRAME, **before).add(FRAME, **new(given))


VERBS: dict[str, Callable[[dict[str, Any], Path], Any]] = {
    "fit": lambda names, _: classifier().fit(FRAME, **names),
    "fit with fitted preprocessing": lambda names, _: UnlearningClassifier(
        preprocess="fitted", promise=Promise(max_weight=2.0)
    ).fit(FRAME, **names),
    "fit of a regressor": lambda names, _: UnlearningRegressor(
        preprocess=Declared(target_range=(0, 1)), promise=Promise(max_weight=2.0)
    ).fit(FRAME, **names),
    "fit of a network": lambda names, _: network(names, "fit"),
    "add to a network": lambda names, _: network(names, "add"),
    "first partial_fit": lambda names, _: classifier().partial_fit(FRAME, classes=[0, 1], **names),
    "partial_fit": lambda names, _: fitted().partial_fit(FRAME, **new(names)),
    "add": lambda names, _: fitted().add(FRAME, **new(names)),
    "update": lambda names, _: fitted().update(FRAME, **names),
    "plan": lambda names, _: efface.plan(
        FRAME,
        names["y"],
        sample_weight=names["sample_weight"],
        settings={"max_weight": 2.0},
        pass_ms=1.0,
    ),
    "score": lambda names, _: fitted().score(
        FRAME, names["y"], sample_weight=names["sample_weight"]
    ),
    "Vault.train": lambda names, folder: Vault.train(
        folder / "v.efface", FRAME, **names, key=folder / "v.toml", settings={"max_weight": 2.0}
    ),
    "Vault.add": lambda names, folder: vault(folder).add(FRAME, **new(names)),
    "Vault.update": lambda names, folder: vault(folder).update(FRAME, **names),
}
TAKEN = {
    "plan": ("y", "sample_weight"),
    "score": ("y", "sample_weight"),
    "fit of a network": ("y", "ids", "subjects"),
    "add to a network": ("y", "ids", "subjects"),
}


def cases() -> Iterator[tuple[str, str]]:
    for verb in VERBS:
        yield from ((verb, name) for name in TAKEN.get(verb, tuple(NAMED)))


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize(("verb", "argument"), cases())
def test_another_index_than_that_of_the_rows_is_refused(
    verb: str, argument: str, wrong: str, tmp_path: Path
) -> None:
    given = WRONG[wrong](NAMED[argument])
    message = f"X` and `{argument}` have different indexes"
    with pytest.raises(efface.InputError, match=message) as told:
        VERBS[verb](named(**{argument: given}), tmp_path)
    hint = str(told.value.hint)
    renamed = argument == "ids" and "add" in verb
    assert (f"`{argument}.reindex(X.index)`" in hint) == (wrong == "another order") or renamed
    assert f"`{argument}.to_numpy()`" in hint


@pytest.mark.parametrize("right", RIGHT)
@pytest.mark.parametrize("argument", NAMED)
def test_an_equal_index_or_none_is_taken(right: str, argument: str) -> None:
    model = classifier().fit(FRAME, **named(**{argument: RIGHT[right](NAMED[argument])}))
    assert np.array_equal(model.coef_, fitted().coef_)
    assert model.forget(subjects="who-7").records == 3
    assert model.score(FRAME, RIGHT[right](Y)) > 0.5


def test_the_record_of_another_person_is_not_forgotten() -> None:
    X = FRAME.sort_values("a")
    with pytest.raises(efface.InputError, match="`subjects` have different indexes"):
        UnlearningClassifier().fit(X, Y.reindex(X.index), subjects=NAMED["subjects"])
    aligned = NAMED["subjects"].reindex(X.index)
    model = UnlearningClassifier().fit(X, Y.reindex(X.index), subjects=aligned)
    assert model.forget(subjects="who-7").records == 3
    left = model.vault_.path.read_bytes()
    theirs = INDEX[NAMED["subjects"] == "who-7"]
    assert [name for name in INDEX if name.encode() not in left] == list(theirs)


def test_levels_and_labels_that_come_twice_are_compared_in_order() -> None:
    twice = pd.Index(np.arange(ROWS) // 2)
    levels = pd.MultiIndex.from_arrays([np.arange(ROWS) // 3, np.arange(ROWS) % 3])
    for index in (twice, levels):
        X, subjects = FRAME.set_axis(index), NAMED["subjects"].set_axis(index)
        y, ids = Y.to_numpy(), NAMED["ids"].to_list()
        UnlearningClassifier().fit(X, y, ids=ids, subjects=subjects)
        with pytest.raises(efface.InputError, match="different indexes") as told:
            UnlearningClassifier().fit(X, y, ids=ids, subjects=subjects.iloc[::-1])
        assert ("reindex" in str(told.value.hint)) == (index is levels)


def test_an_index_that_merely_counts_is_an_index() -> None:
    X, y = FRAME.reset_index(drop=True), Y.to_numpy()
    UnlearningClassifier().fit(X, y, subjects=pd.Series(NAMED["subjects"].to_list()))
    numbered = NAMED["subjects"].set_axis(list(range(ROWS)))
    UnlearningClassifier().fit(X, y, subjects=numbered)
    with pytest.raises(efface.InputError, match="different indexes"):
        UnlearningClassifier().fit(X[::-1], y, subjects=numbered)
    with pytest.raises(efface.InputError, match="different indexes"):
        UnlearningClassifier().fit(X, y, subjects=numbered.set_axis(range(5, 5 + ROWS)))


def test_rows_without_an_index_go_by_position_with_all_that_agree() -> None:
    X = FRAME.to_numpy()
    model = UnlearningClassifier().fit(X, Y, subjects=NAMED["subjects"])
    assert model.forget(ids="visit-07").records == 1  # named by the index of `y`, as ever
    with pytest.raises(efface.InputError, match="`y` and `subjects` have different indexes"):
        UnlearningClassifier().fit(X, Y, subjects=NAMED["subjects"].iloc[ORDER])


def test_a_column_of_the_frame_has_its_index() -> None:
    X = FRAME.assign(who=NAMED["subjects"]).sort_values("a")
    for subjects in ("who", X["who"], X.who.astype("category")):
        model = UnlearningClassifier().fit(X, Y.reindex(X.index), subjects=subjects)
        assert model.forget(subjects="who-7").records == 3


def test_a_subclass_of_a_frame_has_an_index() -> None:
    class Mine(pd.DataFrame):  # type: ignore[misc]
        """Stands for the frames of other libraries."""

    with pytest.raises(efface.InputError, match="different indexes"):
        UnlearningClassifier().fit(Mine(FRAME), Y.iloc[ORDER])


def test_features_of_a_frame_are_in_its_order_whatever_its_labels_are() -> None:
    frame = FRAME.set_axis(ORDER.astype(float))
    made = efface.extract(lambda rows: rows.to_numpy() * 2, frame, name="double", batch_size=7)
    assert np.array_equal(made, (frame.to_numpy() * 2).astype(np.float32))
