"""Vaults that are saved and pickled while other processes delete from them."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import efface
from efface import _engine
from efface._vault import Home, Rows

# Deletes what it is told, and says how that went.
DELETE = """
import sys
from efface import _engine, VaultBusy, VaultMissing
for line in sys.stdin:
    try:
        _engine.delete(*line.split()[:2], ids=[line.split()[2]])
        print("deleted", flush=True)
    except (VaultBusy, VaultMissing) as error:
        print(type(error).__name__, flush=True)
"""

ROWS, RACES = 100, 70


@pytest.fixture
def home(tmp_path: Path) -> Home:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(ROWS, 3)) / 4
    y = np.where(x[:, 0] > 0, "yes", "no")
    model = efface.UnlearningClassifier().fit(x, y, ids=[f"r{row}" for row in range(ROWS)])
    path = tmp_path / "m.efface"
    model.save(path)
    return Home(path, path.with_suffix(".key.toml"))


def records(path: Path) -> int:
    import json

    return int(json.loads(_engine.status(path))["records"])


def test_moves_that_race_with_deletions_lose_none(home: Home, tmp_path: Path) -> None:
    gone, rng = 0, np.random.default_rng(8)
    words = [sys.executable, "-c", DELETE]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        for race in range(RACES):
            other.stdin.write(f"{home.path} {home.key} r{gone}\n")
            time.sleep(rng.uniform(0, 0.02))
            home.move(tmp_path / f"moved-{race}.efface")
            said = other.stdout.readline().strip()
            assert said in ("deleted", "VaultBusy", "VaultMissing")
            gone += said == "deleted"
            assert records(home.path) == ROWS - gone, (race, said)
            left = sorted(file.name for file in tmp_path.glob("*.efface*"))
            assert left == [f"moved-{race}.efface"], left
        other.stdin.close()
    assert 0 < gone < RACES, f"{gone} deletions of {RACES}: no race"


def test_a_pickle_with_rows_is_a_whole_copy(home: Home) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = pickle.loads(pickle.dumps(Rows(home)))
    assert records(again.path) == ROWS
    again.discard()
    assert not again.path.exists()
    assert records(home.path) == ROWS
