"""`efface.dask` on two local workers beside one process, and with a worker killed in each request.

    python3 laboratory/benches/dask_workers.py [rows] [columns] [partitions]

prints a Markdown table (by default for 4,000,000 x 50 rows in 16 partitions). Rows are made on the
workers from the number of their partition, so that a lost partition can be made again; one process
takes the same partitions. "killed" is the process of the worker that holds partition 0, killed once
a pass has begun: the second of a fit, the first of a forgetting. A network is trained on the same
partitions (`dp-sgd`), and "killed" is then a worker in its second step. Needs the installed package
with its extra `dask`.
"""

from __future__ import annotations

import os
import resource
import signal
import statistics
import sys
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster
from efface import DPSGD, Solve
from efface.dask import DaskUnlearningClassifier, InProcess, _reach, _worker
from shared import head, row, timed

PASSES = 15
SETTINGS: dict[str, Any] = {
    "classes": [0, 1],
    "random_state": 1,
    "mechanism": Solve(solver="newton"),
}
STEPS = 100
NETWORK: dict[str, Any] = {
    "classes": [0, 1],
    "random_state": 1,
    "mechanism": DPSGD(network="dense:64", steps=STEPS, rate=0.002),
}


def rows_of(partition: int, rows: int, columns: int) -> Any:
    """Return features of about unit length, and behind them a class that follows them."""
    rng = np.random.default_rng((7, partition))
    x = rng.standard_normal((rows, columns + 1), dtype=np.float32) / np.float32(columns**0.5)
    truth = np.random.default_rng(7).standard_normal(columns)
    x[:, -1] = x[:, :-1] @ truth + 0.5 * rng.standard_normal(rows) > 0
    return x


def made(rows: int, columns: int, partitions: int) -> tuple[Any, Any]:
    """Return collections whose blocks are made where they are computed."""
    size = rows // partitions
    numbers = da.arange(partitions, chunks=1)
    both = numbers.map_blocks(
        lambda number: rows_of(int(number[0]), size, columns),
        new_axis=1,
        chunks=((size,) * partitions, (columns + 1,)),
        dtype=np.float32,
        meta=np.empty((0, 0), dtype=np.float32),
    )
    return both[:, :-1], both[:, -1].astype(np.int64)


class Killer:
    """Kills the worker that holds partition 0 once a pass of a number has begun."""

    def __init__(self) -> None:
        self.at = 0
        self.killed: list[int] = []
        begin = _reach.Cluster.start

        def start(cluster: Any, work: Any, given: Any, *rest: Any) -> None:
            begin(cluster, work, given, *rest)
            if work in (_worker.compute, _worker.clipped) and self.at > 0:
                self.at -= 1
                if self.at == 0:
                    worker = cluster._jobs[0].worker
                    pid = cluster._client.run(os.getpid, workers=[worker])[worker]
                    os.kill(pid, signal.SIGKILL)
                    self.killed.append(pid)

        _reach.Cluster.start = start


@dataclass(frozen=True)
class Run:
    """A model fitted, made to forget, and what it took."""

    fit: float
    forget: float
    a_pass: float
    learnt: Any
    work: Any
    records: int

    def same(self, other: Run) -> bool:
        """Whether every bit is the same that noise does not decide."""
        known = (self.learnt.tobytes(), self.work, self.records)
        return known == (other.learnt.tobytes(), other.work, other.records)


def run(client: Any, table: tuple[Any, Any], gone: list[int], killer: Killer, kill: bool) -> Run:
    """Fit and forget, on two whole workers each."""
    ready = getattr(client, "wait_for_workers", lambda _: None)
    ready(2)
    killer.at = 2 if kill else 0
    model = DaskUnlearningClassifier(client=client, **SETTINGS)
    fit = timed(lambda: model.fit(*table))
    learnt = np.append(model.coef_.ravel(), model.intercept_)
    ready(2)
    killer.at = 1 if kill else 0
    forget = timed(lambda: model.forget(ids=[f"row:{row}" for row in gone]))
    parts = model._parts

    def a_pass() -> None:
        parts.begin("totals", learnt, None)
        for part in range(len(parts.sizes())):
            parts.take(part)

    passes = statistics.median(timed(a_pass) for _ in range(PASSES))
    done = Run(fit, forget, passes, learnt, model.receipt_.work, model.status()["records"])
    parts.release()
    return done


def network(client: Any, table: tuple[Any, Any], killer: Killer, kill: bool) -> tuple[float, bytes]:
    """Train a network: the seconds, and its weights."""
    getattr(client, "wait_for_workers", lambda _: None)(2)
    killer.at = 2 if kill else 0
    model = DaskUnlearningClassifier(client=client, **NETWORK)
    seconds = timed(lambda: model.fit(*table))
    model._parts.release()
    return seconds, model.coef_.tobytes()


def peak() -> float:
    """Return the most memory this process has used, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Measure and print."""
    given = [int(word) for word in sys.argv[1:]]
    rows, columns, partitions = given + [4_000_000, 50, 16][len(given) :]
    collections = made(rows, columns, partitions)
    gone = [5, rows // 2, rows - 1]
    killer, start = Killer(), peak()
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as two,
        Client(two) as client,
    ):
        calm, storm = (run(client, collections, gone, killer, kill) for kill in (False, True))
        driver = peak()
        trained = [network(client, collections, killer, kill) for kill in (False, True)]
    alone = run(InProcess(), collections, gone, killer, False)
    trained.append(network(InProcess(), collections, killer, False))
    same = calm.same(alone) and storm.same(alone) and len({bits for _, bits in trained}) == 1
    if len(killer.killed) != 3 or not same:
        sys.exit(f"the models differ, or not three workers were killed: {killer.killed}")
    print(f"{rows} x {columns} rows in {partitions} partitions; {calm.work}")
    head("", "2 workers", "one killed in each request", "1 process")
    runs = (calm, storm, alone)
    row("fit, s", *(f"{one.fit:.1f}" for one in runs))
    row(f"forget {len(gone)}, s", *(f"{one.forget:.2f}" for one in runs))
    row("a pass, ms", *(f"{1e3 * one.a_pass:.0f}" for one in runs))
    row(f"a network of {STEPS} steps, s", *(f"{seconds:.1f}" for seconds, _ in trained))
    row("peak memory of the driver, MB", f"{driver:.0f}", "", f"{peak():.0f}")
    print(f"The driver had {start:.0f} MB at the start; the rows have {rows * columns * 4e-6:.0f}.")


if __name__ == "__main__":
    main()
