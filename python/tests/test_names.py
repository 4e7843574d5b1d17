"""Names of classes, categories and persons, and the texts that name nothing."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from efface import Refused, SettingsWarning, UnlearningClassifier, UnlearningRegressor, Vault

N = 120
RNG = np.random.default_rng(0)
NOISE = RNG.normal(size=N)
SIGN = np.where(NOISE > 0, "p", "q")


def frame(column: Any, start: int = 0) -> pd.DataFrame:
    return pd.DataFrame({"z": NOISE, "c": column}, index=[f"r{start + i}" for i in range(N)])


def test_codes_that_a_missing_cell_made_floats_are_the_same_categories() -> None:
    code = RNG.integers(0, 4, N)
    y = np.array([1, 0, 1, 0])[code]
    one_missing = pd.Series(code, dtype="float")
    one_missing[0] = np.nan
    later = frame(pd.Categorical(one_missing), N)
    model = UnlearningClassifier().fit(frame(pd.Categorical(code)), y)
    assert model.score(later, y) > 0.97
    model.add(later, y)
    line = next(s for s in model.status()["preprocessing"] if s.startswith("c:"))
    assert line.startswith("c: 4 categories")


def test_texts_keep_their_zeros_and_floats_lose_theirs() -> None:
    model = UnlearningClassifier().fit(frame(NOISE), np.where(NOISE > 0, "01", "02"))
    assert list(model.classes_) == ["01", "02"]
    assert model.status()["classes"] == ["01", "02"]
    model = UnlearningClassifier().fit(frame(NOISE), np.where(NOISE > 0, 7.0, 8.0))
    assert model.status()["classes"] == ["7", "8"]
    # Texts are declared by their type, so that two spellings of a number are two names.
    spelt = np.array(["01", "1", "x"], dtype=object)[np.arange(N) % 3]
    assert UnlearningClassifier().fit(frame(NOISE), spelt).status()["classes"] == ["01", "1", "x"]


def test_words_for_no_value_are_no_subject_when_listed() -> None:
    who = pd.Series([None if i % 3 == 0 else f"u{i}" for i in range(N)], dtype=object)
    who.index = frame(NOISE).index
    with pytest.warns(SettingsWarning, match=r"`None` \(40 records\)"):
        UnlearningClassifier().fit(frame(NOISE), SIGN, subjects=who.map(str))
    for subjects, missing in [(who, []), (who.map(str), ["None"]), (who.fillna("-"), ["-", "x"])]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = UnlearningClassifier(missing=missing)
            model.fit(frame(NOISE), SIGN, subjects=subjects)
        assert model.forget(subjects="no subject: r3").records == 1
        with pytest.raises(Refused, match="unknown"):
            model.forget(subjects="None")
    with pytest.raises(ValueError, match="the subject is empty"):
        UnlearningClassifier().fit(frame(NOISE), SIGN, subjects=who)


def test_the_listed_texts_are_the_missing_ones_of_features() -> None:
    column = np.where(np.arange(N) % 4 == 0, "-9", (np.arange(N) % 7).astype(str))
    column[1] = "NA"
    for missing, told in [(["-9", "NA"], "31 missing"), (None, "1 missing"), (["x"], "other text")]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = UnlearningRegressor(missing=missing).fit(frame(column), NOISE)
        line = next(s for s in model.status()["preprocessing"] if s.startswith("c:"))
        assert told in line, (missing, line)


def test_new_classes_are_asked_for() -> None:
    model = UnlearningClassifier().fit(frame(NOISE), np.where(NOISE > 0, "yes", "no"))
    for label, told in [("Yes", "another spelling of `yes`"), ("maybe", "also has `maybe`")]:
        y = np.where(NOISE > 0, label, "no")
        with pytest.raises(Refused, match=told):
            model.add(frame(NOISE, N), y)
    model.add(frame(NOISE, N), y, new_classes=True)
    assert list(model.classes_) == ["maybe", "no", "yes"]


def test_unknown_names_are_told_with_what_is_near(tmp_path: Path) -> None:
    names = [f"{i}.0" if i else "Jürgen" for i in range(N)]
    model = UnlearningClassifier().fit(frame(NOISE).reset_index(drop=True), SIGN, ids=names)
    model.save(tmp_path / "m.efface")
    vault = Vault(tmp_path / "m.efface")
    for asked, there in [("7", "7.0"), ("ju\u0308rgen", "Jürgen")]:
        with pytest.raises(Refused, match=f"There is `{there}` for `{asked}`"):
            model.forget(ids=[asked])
        with pytest.raises(Refused, match=f"There is `{there}` for `{asked}`"):
            vault.delete(ids=[asked])
    with pytest.raises(ValueError, match="Int64"):
        model.forget(ids=[7.0])
