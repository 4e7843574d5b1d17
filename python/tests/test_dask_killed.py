"""Workers that are killed: the bits stay, and what was forgotten stays forgotten."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from dask.distributed import Client
from dask.distributed import TimeoutError as Late
from dask_tables import ROWS, SETTINGS, cluster, fitted, outcome

from efface.dask import InProcess, _reach, _worker

# What Dask says when it is over, and when a worker is killed, is not what is tested.
pytestmark = pytest.mark.filterwarnings("default")

# Seconds that a worker may take to answer.
WAIT = 120


@pytest.fixture
def doomed(tmp_path: Path) -> Iterator[Client]:
    """Two workers of which one is killed: no other test needs it to come back."""
    with cluster(tmp_path) as two, Client(two) as client:
        yield client
        # Closed while it starts a worker again, a cluster takes long.
        with suppress(Late):
            client.wait_for_workers(2, timeout=WAIT)


def killing(monkeypatch: pytest.MonkeyPatch, at: int) -> list[int]:
    """Kill the worker that holds the first part once the pass of this number has started."""
    passes, killed = 0, []
    start = _reach.Cluster.start

    def start_and_kill(self: Any, work: Any, given: Any, *rest: Any) -> None:
        nonlocal passes
        start(self, work, given, *rest)
        passes += work is _worker.compute
        if work is _worker.compute and passes == at:
            worker = self._jobs[0].worker
            killed.append(self._client.run(os.getpid, workers=[worker])[worker])
            os.kill(killed[0], signal.SIGKILL)

    monkeypatch.setattr(_reach.Cluster, "start", start_and_kill)
    return killed


def test_a_worker_killed_while_fitting_changes_no_bit(
    doomed: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = SETTINGS[0]
    killed = killing(monkeypatch, at=2)
    far, here = (fitted(client, random_state=7, **settings) for client in (doomed, InProcess()))
    assert len(killed) == 1
    assert np.array_equal(far.coef_, here.coef_)
    assert outcome(far) == outcome(here)


def test_a_worker_killed_while_forgetting_changes_no_bit_and_draws_nothing(
    doomed: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = SETTINGS[2]
    far, here = (fitted(client, random_state=7, **settings) for client in (doomed, InProcess()))
    for model in (far, here):
        model.forget(ids=["row:3", "row:160"])
    # Both go on from the same weights.
    far._home, far._published = here._home, here._published
    before = here.vault_.path.read_bytes()
    killed = killing(monkeypatch, at=1)
    certificate = far.forget(ids=["row:4", "row:448"])
    after = (far.receipt_.work, far.status()["records"])
    assert len(killed) == 1
    # One release, drawn once: one entry of the ledger, and one more in the count of the event.
    assert far.status()["records"] == ROWS - 4
    assert len(far.vault_.entries()) == 3
    assert certificate.event["releases"] == 3
    # The same request of the same vault in one process.
    here.vault_.path.write_bytes(before)
    here.forget(ids=["row:4", "row:448"])
    assert (here.receipt_.work, here.status()["records"]) == after


def test_what_was_forgotten_stays_forgotten_when_its_part_is_made_again(doomed: Client) -> None:
    model = fitted(doomed)
    model.forget(ids=[f"row:{k}" for k in range(100)])
    first = cast("Any", model._parts._reach)._parts[0]
    (worker,) = doomed.who_has([first])[first.key]
    pid = doomed.run(os.getpid, workers=[worker])[worker]
    os.kill(pid, signal.SIGKILL)
    model.sweep()
    (other,) = doomed.who_has([first])[first.key]
    assert doomed.run(os.getpid, workers=[other])[other] != pid

    def sizes() -> Any:
        counts = doomed.submit(lambda p: (p.made, p.rows), first, workers=[other], pure=False)
        return counts.result(timeout=WAIT)

    assert sizes() == (150, 50)
    model.forget(ids=["row:100"])
    assert sizes() == (150, 49)
    assert model.status()["records"] == ROWS - 101
