"""What the tests share: a key, and a small table."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import efface


@dataclass(frozen=True)
class People:
    """A table of 120 records of 40 people with three records each."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    ids: list[str]
    subjects: list[str]
    names: list[str]

    def named(self) -> dict[str, Any]:
        """Return the keyword arguments beside features and labels."""
        return {"ids": self.ids, "subjects": self.subjects, "names": self.names}


@pytest.fixture(scope="session")
def people() -> People:
    rng = np.random.default_rng(20)
    X = rng.normal(size=(120, 4)) / 4
    y = (X[:, 0] - X[:, 1] > 0).astype(np.int64)
    rows = range(120)
    return People(
        X, y, [f"id-{row}" for row in rows], [f"who-{row // 3}" for row in rows], list("abcd")
    )


@pytest.fixture(scope="session", autouse=True)
def ctrl_c() -> Iterator[None]:
    """Let Ctrl-C raise, also where the tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def own_scratch(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep private vaults, also those that pickles keep alive, among the tests' folders."""
    scratch = str(tmp_path_factory.mktemp("scratch"))
    monkeypatch.setattr(tempfile, "tempdir", scratch)
    monkeypatch.setenv("EFFACE_SCRATCH", scratch)


@pytest.fixture(autouse=True)
def own_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Point the user's key file into the test's folder."""
    folder = tmp_path / "config"
    folder.mkdir(mode=0o700)
    key = folder / "key.toml"
    monkeypatch.setenv("EFFACE_KEY", str(key))
    return key


def copies(process: int, row: bytes) -> int:
    """How often a row stands in what a process may write to of its memory."""
    count = 0
    with (
        Path(f"/proc/{process}/maps").open() as maps,
        Path(f"/proc/{process}/mem").open("rb", 0) as memory,
    ):
        for line in maps:
            place, mode, *_ = line.split()
            first, last = (int(end, 16) for end in place.split("-"))
            if mode.startswith("rw"):
                memory.seek(first)
                count += memory.read(last - first).count(row)
    return count


def holds_for_the_second_verifier(certificate: efface.Certificate, key: str, folder: Path) -> None:
    file = folder / "certificate.json"
    file.write_text(certificate.to_json())
    script = Path(__file__).parents[2] / "verifier" / "efface_verify.py"
    done = subprocess.run(
        [sys.executable, str(script), str(file), "--key", key], capture_output=True
    )
    assert done.returncode == 0, done.stdout
