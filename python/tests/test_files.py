"""Vaults that are saved and pickled while other processes delete from them."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import efface
from efface import _engine
from efface._vault import Home, Rows

DELETE = """
import sys
from efface import _engine, VaultBusy, VaultMissing
try:
    _engine.delete(sys.argv[1], sys.argv[2], ids=[sys.argv[3]])
    print("deleted")
except (VaultBusy, VaultMissing) as error:
    print(type(error).__name__)
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(60, 3)) / 4
    y = np.where(x[:, 0] > 0, "yes", "no")
    model = efface.UnlearningClassifier().fit(x, y, ids=[f"r{row}" for row in range(60)])
    path = tmp_path / "m.efface"
    model.save(path)
    return Home(path, path.with_suffix(".key.toml"))


def records(path: Path) -> int:
    import json

    return int(json.loads(_engine.status(path))["records"])


def test_moves_that_race_with_deletions_lose_none(home: Home, tmp_path: Path) -> None:
    gone = 0
    for race in range(8):
        words = [sys.executable, "-c", DELETE, str(home.path), str(home.key), f"r{gone}"]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        home.move(tmp_path / f"moved-{race}.efface")
        said, _ = process.communicate()
        gone += said.strip() == "deleted"
        assert records(home.path) == 60 - gone, (race, said)
        left = sorted(file.name for file in tmp_path.glob("*.efface*"))
        assert left == [f"moved-{race}.efface"], left


def test_a_pickle_with_rows_is_a_whole_copy(home: Home) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = pickle.loads(pickle.dumps(Rows(home)))
    assert records(again.path) == 60
    again.discard()
    assert not again.path.exists()
    assert records(home.path) == 60
