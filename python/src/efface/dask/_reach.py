"""Runs work where the rows are: through a Dask client, or in this process."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from typing import Any, Protocol

from .._errors import Interrupted, StorageError
from ._worker import Block, Recipe, make

# Seconds to wait for a result before looking at anything else.
_TICK = 0.2
# The most numbers that one task may return: 32 MB.
_LARGE = 1 << 22
# The most times that a partition may get lost within one pass.
_ATTEMPTS = 20

Work = Callable[..., Any]


class Reach(Protocol):
    """Reaches the parts of one model, in their order."""

    def make(self, blocks: Sequence[Block], recipe: Recipe) -> None:
        """Make the parts, each where its rows are."""

    def start(self, work: Work, given: Mapping[int, tuple[Any, ...]], numbers: int = 1) -> None:
        """Start work on some of the parts, with these arguments after the part.

        `numbers` is how many numbers each will tell, roughly.
        """

    def take(self, index: int) -> Any:
        """Wait for the result of a part that was started."""

    def end(self) -> None:
        """Forget what was started."""

    def stop(self) -> None:
        """Give up waiting; called from another thread."""

    def resume(self) -> None:
        """Begin a request: what was stopped may be waited for again."""

    def holders(self) -> int:
        """Count the processes that gave results since the request began."""

    def release(self) -> None:
        """Let go of the parts."""


def _nothing(*_: Any) -> None:
    """Work before any was started."""


class InProcess:
    """In place of a Dask client: all partitions in this process, one after another.

    The model is the same as on a cluster, to the last bit: a reference for tests, and for tables
    that fit into memory.

    Examples
    --------
    >>> import dask.array as da
    >>> from efface.dask import DaskUnlearningClassifier, InProcess
    >>> X = da.random.default_rng(0).normal(size=(600, 4), chunks=(200, 4)) / 4
    >>> model = DaskUnlearningClassifier(client=InProcess()).fit(X, (X[:, 0] > 0).astype(int))
    >>> model.forget(ids=["row:3", "row:599"]).records
    2
    """

    def compute(self, promises: Sequence[Any]) -> list[Any]:
        """Return the values of Dask's promises."""
        import dask

        return list(dask.compute(*promises, scheduler="synchronous"))

    def reach(self) -> Reach:
        """Return a way to the parts of a new model."""
        return _Here(self)


class _Here:
    def __init__(self, process: InProcess) -> None:
        self._process = process
        self._parts: list[Any] = []
        self._started: tuple[Work, Mapping[int, tuple[Any, ...]]] = _nothing, {}
        self._stopped = False

    def make(self, blocks: Sequence[Block], recipe: Recipe) -> None:
        for index, block in enumerate(blocks):
            promises = (block.x, block.y, block.ids, block.subjects, block.weights)
            x, y, ids, subjects, weights = self._process.compute(promises)
            self._parts.append(make(index, x, y, ids, subjects, weights, recipe))

    def start(
        self,
        work: Work,
        given: Mapping[int, tuple[Any, ...]],
        numbers: int = 1,  # noqa: ARG002 - there is no wire here
    ) -> None:
        self._started = work, given

    def take(self, index: int) -> Any:
        if self._stopped:
            raise Interrupted("interrupted; nothing was changed", code="interrupted")
        work, given = self._started
        return work(self._parts[index], *given[index])

    def end(self) -> None:
        self._started = _nothing, {}

    def stop(self) -> None:
        self._stopped = True

    def resume(self) -> None:
        self._stopped = False

    def holders(self) -> int:
        return 1

    def release(self) -> None:
        self._parts.clear()


class _Lost(Exception):
    """A worker went away with what was waited for."""


@dataclass
class _Job:
    """Work on some parts, on the worker that holds them."""

    future: Any
    worker: str
    indices: list[int]
    results: dict[int, Any] | None = None


def _each(work: Work, parts: list[Any], given: list[tuple[Any, ...]]) -> list[Any]:
    return [work(part, *arguments) for part, arguments in zip(parts, given, strict=True)]


class Cluster:
    """Reaches parts that Dask workers hold, one future each.

    A part is never sent to another worker: work on it goes to its worker, for all parts there in
    one task unless their results are large. When that worker goes away, Dask makes its parts again
    from the user's graph, and the work is sent after them.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._parts: list[Any] = []
        self._jobs: dict[int, _Job] = {}
        self._started: tuple[Work, Mapping[int, tuple[Any, ...]]] = _nothing, {}
        self._stopped = threading.Event()
        self._seen: set[str] = set()

    def make(self, blocks: Sequence[Block], recipe: Recipe) -> None:
        import dask

        promised = dask.delayed(make, pure=False)
        shared = dask.delayed(recipe, traverse=False)
        self._parts = self._client.compute(
            [
                promised(index, block.x, block.y, block.ids, block.subjects, block.weights, shared)
                for index, block in enumerate(blocks)
            ]
        )

    def start(self, work: Work, given: Mapping[int, tuple[Any, ...]], numbers: int = 1) -> None:
        self._jobs.clear()
        self._started = work, given
        held: dict[str, list[int]] = {}
        holders = self._holders_of([self._parts[index] for index in given])
        for index in given:
            for worker in holders.get(self._parts[index].key, ())[:1]:
                held.setdefault(worker, []).append(index)
        most = max(1, _LARGE // max(1, numbers))
        for worker, indices in held.items():
            for at in range(0, len(indices), most):
                self._send(indices[at : at + most], worker)

    def take(self, index: int) -> Any:
        for _ in range(_ATTEMPTS):
            if index not in self._jobs:
                self._send([index], self._worker_of(index))
            job = self._jobs[index]
            try:
                results = self._results(job)
            except _Lost:
                for lost in job.indices:
                    self._jobs.pop(lost, None)
                continue
            self._seen.add(job.worker)
            return results.pop(index)
        raise StorageError(
            f"the worker that holds partition {index} was lost {_ATTEMPTS} times in one pass",
            code="parts",
            hint="look at the workers' logs; a partition must fit into the memory of its worker",
        )

    def end(self) -> None:
        self._jobs.clear()
        self._started = _nothing, {}

    def stop(self) -> None:
        self._stopped.set()

    def resume(self) -> None:
        self._stopped.clear()
        self._seen.clear()

    def holders(self) -> int:
        return len(self._seen)

    def release(self) -> None:
        self._jobs.clear()
        self._parts.clear()

    def _send(self, indices: list[int], worker: str) -> None:
        work, given = self._started
        future = self._client.submit(
            _each,
            work,
            [self._parts[index] for index in indices],
            [given[index] for index in indices],
            workers=[worker],
            allow_other_workers=False,
            pure=False,
        )
        self._jobs.update(dict.fromkeys(indices, _Job(future, worker, indices)))

    def _worker_of(self, index: int) -> str:
        """Wait until a worker holds a part."""
        from distributed import TimeoutError as Late
        from distributed import wait

        part = self._parts[index]
        while True:
            self._check()
            gone = StorageError(
                f"partition {index} is lost, and Dask no longer knows how to compute it",
                code="parts",
                hint="fit again, on collections that Dask can recompute",
            )
            try:
                # `wait` would take the newest of several clients.
                with self._client.as_current():
                    wait([part], timeout=_TICK)
            except Late:
                continue
            except CancelledError:
                raise gone from None
            if part.status == "error":
                part.result()  # raises what the worker raised
            if part.status in ("cancelled", "lost"):
                raise gone
            workers = self._holders_of([part]).get(part.key)
            if workers:
                return str(next(iter(workers)))
            time.sleep(_TICK / 10)

    def _results(self, job: _Job) -> dict[int, Any]:
        from distributed import KilledWorker
        from distributed import TimeoutError as Late
        from distributed.comm import CommClosedError

        while job.results is None:
            self._check()
            try:
                told = job.future.result(timeout=_TICK)
            except Late:
                # Work for a worker that is gone, or lost a part, would wait for ever.
                parts = [self._parts[index] for index in job.indices]
                holders = self._holders_of(parts)
                if any(job.worker not in holders.get(part.key, ()) for part in parts):
                    job.future.cancel()
                    raise _Lost from None
            except (CancelledError, KilledWorker, CommClosedError):
                raise _Lost from None
            else:
                job.results = dict(zip(job.indices, told, strict=True))
        return job.results

    def _holders_of(self, parts: list[Any]) -> Mapping[str, Any]:
        try:
            holders: Mapping[str, Any] = self._client.who_has(parts)
        except OSError as error:  # what Dask raises where a connection is closed, among it
            raise StorageError(
                f"Dask's scheduler cannot locate the partitions: {error}",
                code="parts",
                hint="connect the client again and repeat the request",
            ) from error
        return holders

    def _check(self) -> None:
        if self._stopped.is_set():
            raise Interrupted("interrupted; nothing was changed", code="interrupted")
