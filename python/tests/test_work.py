"""Long work: progress, Ctrl-C, threads and forks."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import People

import efface

# Steps that would take hours.
ENDLESS = {"mechanism": "noisy-gd", "noise": 1.0, "steps": 100_000_000}


@pytest.fixture(scope="module")
def many() -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(4000, 50)) / 10
    return X, (X[:, 0] > 0).astype(np.int64)


def test_progress_is_told(many: tuple[Any, Any], tmp_path: Path) -> None:
    told: list[tuple[Any, ...]] = []

    def stop_when_learning(*report: Any) -> None:
        told.append(report)
        assert threading.current_thread() is threading.main_thread()
        if report[0] == "learning" and report[1] > 1:
            raise StopIteration("enough")

    with pytest.raises(StopIteration, match="enough"):
        efface.Vault.train(
            tmp_path / "m.efface", *many, settings=ENDLESS, progress=stop_when_learning
        )
    phase, done, total, norm, goal = told[-1]
    assert (phase, total, goal) == ("learning", 100_000_000, None)
    assert 1 < done < total
    assert norm > 0
    assert not (tmp_path / "m.efface").exists()


def interrupt_soon() -> threading.Timer:
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def test_ctrl_c_stops_training_and_leaves_nothing(many: tuple[Any, Any], tmp_path: Path) -> None:
    timer = interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        efface.Vault.train(tmp_path / "m.efface", *many, settings=ENDLESS)
    timer.join()
    assert [path.name for path in tmp_path.iterdir()] == ["config"]


def test_ctrl_c_stops_a_deletion_and_the_vault_is_as_before(
    many: tuple[Any, Any], tmp_path: Path
) -> None:
    settings = {**ENDLESS, "steps": 20, "removal_steps": 100_000_000}
    vault = efface.Vault.train(tmp_path / "m.efface", *many, settings=settings)
    before = vault.status()
    timer = interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        vault.delete(ids=["row:17"])
    timer.join()
    assert vault.status() == before
    assert vault.verify(key=vault.public_key)


def weights_of(vault: efface.Vault) -> bytes:
    coef, intercept, _ = vault.weights()
    return bytes(coef.tobytes() + intercept.tobytes())


def test_threads_train_side_by_side(people: People, tmp_path: Path) -> None:
    def train(number: int) -> bytes:
        vault = efface.Vault.train(
            tmp_path / f"{number}.efface", people.X, people.y, settings={"seed": 5}
        )
        return weights_of(vault)

    efface.Vault.train(tmp_path / "key.efface", people.X, people.y)
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(train, range(8)))) == 1


def test_requests_on_one_vault_from_threads_are_served_or_told_to_wait(
    people: People, tmp_path: Path
) -> None:
    vault = efface.Vault.train(tmp_path / "m.efface", people.X, people.y)

    def delete(number: int) -> bool:
        try:
            vault.delete(ids=[f"row:{number}"])
        except efface.VaultBusy as busy:
            assert busy.code == "in-use"
            assert "try again later" in str(busy) and "wait" not in str(busy)
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        served = sum(pool.map(delete, range(1, 17)))
    assert served >= 1
    assert vault.status()["records"] == 120 - served
    assert vault.verify(key=vault.public_key)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_can_work(many: tuple[Any, Any], tmp_path: Path) -> None:
    def learnt(name: str) -> bytes:
        vault = efface.Vault.train(tmp_path / name, *many, settings={"seed": 5})
        first = weights_of(vault)
        vault.delete(ids=["row:1"])
        return first

    def works_in_a_child(name: str, also: Callable[[], bool] | None = None) -> bool:
        child = os.fork()
        if child == 0:
            # A child whose kernels wait for threads of its parent would wait for ever.
            signal.alarm(120)
            same = False
            try:
                same = learnt(name) == expected and (also is None or also())
            finally:
                os._exit(not same)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    expected = learnt("parent.efface")
    assert works_in_a_child("child.efface", lambda: works_in_a_child("grandchild.efface"))
    assert learnt("again.efface") == expected
