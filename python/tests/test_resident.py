"""Rows that stay in memory between requests of one process."""

from __future__ import annotations

import gc
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import People, copies
from sklearn.multiclass import OneVsRestClassifier

import efface

DECLARED = {"preprocess": "declared"}


def trained(people: People, path: Path, **settings: Any) -> efface.Vault:
    return efface.Vault.train(path, people.X, people.y, settings=settings, **people.named())


@pytest.mark.parametrize("settings", [DECLARED, {"preprocess": "fitted"}])
def test_rows_are_read_once_and_models_are_the_same(
    people: People, tmp_path: Path, settings: dict[str, Any]
) -> None:
    for name in ("plain.efface", "held.efface"):
        trained(people, tmp_path / name, **settings)
    plain, held = (efface.Vault(tmp_path / name) for name in ("plain.efface", "held.efface"))

    def live(vault: efface.Vault) -> list[int]:
        people_left = [vault.delete(subjects=[f"who-{who}"]).remaining for who in (3, 4, 5)]
        new = vault.add(
            people.X[:2] / 3, people.y[:2], ids=["new-0", "new-1"], subjects=["who-90", "who-91"]
        )
        return [*people_left, new.remaining, vault.delete(ids=["new-0"]).remaining]

    with efface.resident(held) as rows:
        assert (rows.rows, rows.readings) == (0, 0)
        told = live(held)
        assert (rows.rows, rows.readings) == (told[-1], 1)
    assert live(plain) == told
    assert (rows.rows, repr(rows)) == (0, "<efface.Resident of 0 rows>")
    claims = [[claim.epsilon for claim in v.certificate().claims] for v in (plain, held)]
    assert claims[0] == claims[1]
    verdict = held.verify(whole=True, key=held.public_key)
    assert verdict, str(verdict)
    assert held.doctor()


def test_models_inside_others_are_all_held() -> None:
    X = np.random.default_rng(0).normal(size=(300, 3)) / 4
    model = OneVsRestClassifier(efface.UnlearningClassifier()).fit(X, X.argmax(axis=1))
    with efface.resident(model) as rows:
        efface.forget(model, ids=["row:7"])
        efface.forget(model, ids=["row:8"])
        assert (rows.rows, rows.readings) == (3 * 298, 3)


def test_others_that_hold_the_same_rows_share_them(people: People, tmp_path: Path) -> None:
    vault = trained(people, tmp_path / "m.efface", **DECLARED)
    with efface.resident(vault) as one:
        vault.delete(subjects=["who-1"])
        with efface.resident(str(vault.path)) as other:
            vault.delete(subjects=["who-2"])
            assert (other.rows, other.readings) == (114, 1)
        vault.delete(subjects=["who-3"])
        assert (one.rows, one.readings) == (111, 1)


def test_rows_stay_with_a_model_that_is_saved(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(300, 3)) / 4
    model = efface.UnlearningClassifier().fit(X, X[:, 0] > 0)
    with efface.resident(model) as rows:
        model.forget("row:1")
        model.save(tmp_path / "kept.efface")
        model.forget("row:2")
        model.forget("row:3")
        # The file is another one: its rows were read again, once.
        assert (rows.rows, rows.readings) == (297, 2)


def test_what_other_processes_do_is_noticed(people: People, tmp_path: Path) -> None:
    vault = trained(people, tmp_path / "m.efface", **DECLARED)
    code = f"import efface; efface.Vault({str(vault.path)!r}).delete(subjects=['who-2'])"
    with efface.resident(vault) as rows:
        vault.delete(subjects=["who-1"])
        subprocess.run([sys.executable, "-c", code], check=True, env=os.environ)
        assert vault.delete(subjects=["who-3"]).remaining == 111
        assert (rows.rows, rows.readings) == (111, 2)


def test_what_cannot_be_held_is_refused(people: People, tmp_path: Path) -> None:
    with pytest.raises(efface.VaultMissing):
        efface.resident(tmp_path / "none.efface")
    with pytest.raises(efface.InputError, match="no fitted efface model inside this dict"):
        efface.resident({})
    with pytest.raises(efface.InputError, match="no fitted efface model inside"):
        efface.resident(efface.UnlearningClassifier())
    vault = trained(people, tmp_path / "m.efface", **DECLARED)
    held = efface.resident(vault)
    vault.delete(subjects=["who-1"])
    with pytest.raises(efface.UnknownSubject):
        vault.delete(subjects=["who-1000"])
    assert (held.rows, held.readings) == (117, 1)
    del held
    gc.collect()
    assert vault.delete(subjects=["who-2"]).remaining == 114


SERVER = """
import signal, sys, efface
vault = efface.Vault(sys.argv[1])
with efface.resident(vault):
    for line in sys.stdin:
        if "prepared" in sys.argv:
            vault.prepare()
        print(vault.delete(ids=[line.strip()]).remaining, flush=True)
print("closed", flush=True)
signal.pause()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="has memory overwritten by glibc")
@pytest.mark.parametrize(
    ("preprocess", "way"), [("declared", "plain"), ("declared", "prepared"), ("fitted", "plain")]
)
def test_rows_that_left_are_overwritten_in_memory(
    preprocess: str, way: str, tmp_path: Path
) -> None:
    """Where blocks of memory are overwritten as they are freed, what is found is what is held."""
    X = (np.random.default_rng(5).normal(size=(3000, 24)) / 40).astype(np.float32)
    y = np.where(X[:, 0] > 0, "a", "b")
    settings = {"preprocess": preprocess}
    vault = efface.Vault.train(tmp_path / "m.efface", X, y, settings=settings)
    gone, stays = X[7].tobytes(), X[2000].tobytes()
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, str(vault.path), way],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONMALLOC": "malloc", "MALLOC_PERTURB_": "255"},
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            seen: list[Any] = []
            for name in ("row:1", "row:7", "row:9"):
                server.stdin.write(f"{name}\n")
                server.stdin.flush()
                seen.append(server.stdout.readline().strip())
                seen.append((copies(server.pid, gone), copies(server.pid, stays)))
            assert seen == ["2999", (1, 1), "2998", (0, 1), "2997", (0, 1)]
            server.stdin.close()
            assert server.stdout.readline().strip() == "closed"
            assert (copies(server.pid, gone), copies(server.pid, stays)) == (0, 0)
        finally:
            server.kill()
