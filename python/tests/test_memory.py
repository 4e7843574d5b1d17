"""No Python object that lives on holds what a forgotten record alone held."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from efface import Fitted, UnlearningClassifier


def says(one: Any, word: str) -> bool:
    """Whether a text, or an array of texts, has the word in it."""
    if isinstance(one, str):
        return word in one
    if isinstance(one, bytes):
        return word.encode() in one
    if isinstance(one, np.ndarray) and one.dtype == object:
        return any(says(each, word) for each in one.ravel())
    if isinstance(one, np.ndarray) and one.dtype.kind in "SU":
        return any(says(each, word) for each in one.ravel().tolist())
    return False


def holders(word: str) -> list[str]:
    """Types of the objects that refer to something with the word in it."""
    found = []
    for holder in gc.get_objects():
        waiting = [holder]
        while waiting:
            for one in gc.get_referents(waiting.pop()):
                if says(one, word):
                    found.append(type(holder).__name__)
                elif isinstance(one, (tuple, dict)) and not gc.is_tracked(one):
                    waiting.append(one)
    return found


def word() -> str:
    """A word that stands in no constant of this file."""
    return "".join(chr(ord(letter) + 1) for letter in "khfgsgntrd-jddodq")


@pytest.mark.parametrize("saved", [False, True])
def test_a_word_of_a_forgotten_record_is_in_no_living_object(saved: bool, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    n = 200
    # Columns of objects, so that the garbage collector sees each text.
    work = rng.choice(["office", "field", "ship"], n).astype(object)
    note = np.array([f"came back for thing number {row} again" for row in range(n)], dtype=object)
    work[7], note[7] = word(), f"said {word()} twice that day"
    ids = [f"id-{row}" for row in range(n)]
    frame = pd.DataFrame({"age": rng.integers(20, 70, n), "work": work, "note": note}, dtype=object)
    is_old = frame["age"].astype(float) > 45
    y = np.where(is_old, "yes", "no").astype(object)
    y[7] = f"class {word()}"

    # Categories and classes of one record are then named by the model.
    model = UnlearningClassifier(preprocess=Fitted(min_frequency=1)).fit(frame, y, ids=ids)
    if saved:
        model.save(tmp_path / "m.efface")
    assert y[7] in model.classes_
    assert f"work={word()}" in model.get_feature_names_out()
    assert model.predict(frame).shape == (n,)
    vault = model.vault_
    del frame, work, note, y
    gc.collect()
    assert holders(word()), "the search finds what the model knows"

    certificate = model.forget(ids="id-7")
    gc.collect()
    assert holders(word()) == []
    assert list(model.classes_) == ["no", "yes"]
    assert certificate.verify(key=vault.public_key, vault=vault.path)
    if saved:
        again = UnlearningClassifier.load(tmp_path / "m.efface")
        assert list(again.classes_) == ["no", "yes"]
