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


def test_values_that_training_never_saw_are_warned_of() -> None:
    colours = np.array(["red", "blue"])[np.arange(N) // 2 % 2]
    model = UnlearningClassifier().fit(frame(colours), SIGN)
    with pytest.warns(SettingsWarning, match="in the column `c` are none of its categories"):
        model.predict(frame(np.char.upper(colours)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame(np.where(NOISE > 1, "green", colours)))


def test_dates_in_other_forms_are_read_or_told_of() -> None:
    day = np.arange(N) % 28 + 1
    model = UnlearningClassifier().fit(
        frame([f"Sun, {d:02} Mar 2026 10:00:00 GMT" for d in day]), SIGN
    )
    assert any(s.startswith("c: time, mean 2026-03") for s in model.status()["preprocessing"])
    for form in ("{d:02}/Mar/2026:10:00:00 +0000", "{d:02}/{d:02}/2026"):
        days = [form.format(d=d % 12 + 1) for d in day]
        with pytest.warns(SettingsWarning, match="look like dates"):
            UnlearningClassifier().fit(frame(days), SIGN)


def test_numbers_that_single_precision_has_no_room_for_are_warned_of() -> None:
    seconds = 1.7e9 + RNG.integers(0, 100, N)
    late = seconds > 1.7e9 + 50
    with pytest.warns(SettingsWarning, match=r"single precision.*: `0`; subtract"):
        UnlearningClassifier().fit(np.c_[seconds, NOISE], late)
    model = UnlearningClassifier().fit(pd.DataFrame({"t": seconds, "z": NOISE}), late)
    assert model.score(pd.DataFrame({"t": seconds, "z": NOISE}), late) > 0.9
    metres = 5.4e6 + 0.05 * NOISE
    with pytest.warns(SettingsWarning, match=r"makes columns constant .*: `1`; subtract"):
        UnlearningClassifier().fit(np.c_[NOISE, metres], SIGN)
    # Whole numbers that have room, and columns that are constant but for rounding, are as they are.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = RNG.integers(0, 100, N) + 1000.0
        UnlearningClassifier().fit(np.c_[whole, NOISE, np.full(N, 0.1)], whole > 1050)
    tenth = np.where(np.arange(N) % 2 == 0, 0.3, 0.1 + 0.2)
    model = UnlearningClassifier().fit(pd.DataFrame({"t": tenth, "z": NOISE}), np.arange(N) % 2)
    assert model.status()["preprocessing"][0] == "t: number, mean 0.300, scale 1.00"
    signal = 1 + 1e-9 * (np.arange(N) % 2)
    model = UnlearningClassifier().fit(pd.DataFrame({"t": signal, "z": NOISE}), np.arange(N) % 2)
    assert model.score(pd.DataFrame({"t": signal, "z": NOISE}), np.arange(N) % 2) == 1.0
