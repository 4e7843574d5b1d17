"""The parts of a model as the driver knows them: where each must be, and never a row."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._errors import Interrupted
from . import _worker
from ._reach import Reach
from ._worker import Block, Recipe, State, Step


class Parts:
    """The parts of a model as the engine uses them (see `Remote` of the extension module).

    A request withdraws rows from the sums. Once it was served they are erased; if it was not, they
    come back. Which of the two is right says the vault: its version, which a served request raises.

    Parameters
    ----------
    reach : Reach
        The way to the parts.
    blocks : sequence of Block
        What they are made from; not kept once they are made.
    names : list of str or None
        Names of the columns.
    classes : array or None
        The classes, sorted.
    """

    def __init__(
        self,
        reach: Reach,
        blocks: Sequence[Block],
        names: list[str] | None,
        classes: NDArray[Any] | None,
    ) -> None:
        self._reach = reach
        self._blocks, self._names, self._classes = blocks, names, classes
        self._made: list[int] = []
        self._states: list[State] = []
        # States before a request that has not ended, and parts whose erasure is not confirmed.
        self._before: dict[int, State] = {}
        self._old = 0
        self._unconfirmed: dict[int, State] = {}

    @contextmanager
    def request(self, version: Callable[[], int]) -> Iterator[None]:
        """Serve one request; `version` reads the version of the vault's model."""
        self._reach.resume()
        self._end(version)
        self._confirm()
        self._old = version()
        try:
            yield
        finally:
            self._end(version)
        self._confirm()

    def settle(self) -> None:
        """Drop the names of the records, once they are in the vault."""
        self._states = [replace(state, named=False) for state in self._states]
        self.sweep()

    def sweep(self) -> None:
        """Bring every part where it must be."""
        self._run(_worker.set_state, {i: (state,) for i, state in enumerate(self._states)})

    def release(self) -> None:
        """Let go of the parts."""
        self._reach.release()

    # The engine calls the following from a thread of its own.

    def sizes(self) -> list[int]:
        return [
            made - len(state.erased) - len(state.withdrawn)
            for made, state in zip(self._made, self._states, strict=True)
        ]

    def holders(self) -> int:
        return self._reach.holders()

    def make(self, plan: str) -> int:
        recipe = Recipe(plan, os.urandom(16), self._names, self._classes)
        blocks, self._blocks = self._blocks, ()
        self._reach.make(blocks, recipe)
        told = self._run(_worker.describe, dict.fromkeys(range(len(blocks)), ()))
        self._made = [made for made, _, _ in told.values()]
        self._states = [State(fingerprint=mark, named=True) for _, _, mark in told.values()]
        return sum(shortened for _, shortened, _ in told.values())

    def names(self, part: int) -> tuple[list[str] | None, list[str] | None]:
        told = self._run(_worker.names, {part: (self._states[part],)})
        return told[part]  # type: ignore[no-any-return]

    def withdraw(self, parts: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        """Leave records out of all sums."""
        after = {}
        for part in np.unique(parts).tolist():
            state = self._states[part]
            gone = np.union1d(state.withdrawn, rows[parts == part])
            after[part] = replace(state, withdrawn=gone, fingerprint=None)
        asked = {part: (self._states[part], state) for part, state in after.items()}
        # From here on the parts may have gone to the new states, even if no answer arrives.
        for part in after:
            self._before.setdefault(part, self._states[part])
        marks = self._run(_worker.change, asked)
        for part, state in after.items():
            self._states[part] = replace(state, fingerprint=marks[part])

    def begin(
        self, kind: str, weights: NDArray[np.float64], vector: NDArray[np.float64] | None
    ) -> None:
        given = {i: (state, kind, weights, vector) for i, state in enumerate(self._states)}
        size = len(weights)
        self._reach.start(_worker.compute, given, size * size // 2 if kind == "hessian" else size)

    def step(
        self,
        number: int,
        weights: NDArray[np.float32],
        drawn: list[tuple[NDArray[np.uint32], NDArray[np.uint32] | None]],
    ) -> None:
        steps = (Step(number, part, weights, *of_part) for part, of_part in enumerate(drawn))
        given = {step.part: (self._states[step.part], step) for step in steps}
        self._reach.start(_worker.clipped, given, len(weights))

    def take(self, part: int) -> Any:
        told = self._reach.take(part)
        if isinstance(told, tuple):
            return (*told[:-1], _worker.aligned(told[-1]))
        return _worker.aligned(told)

    def end(self) -> None:
        """Forget what was asked for, and who was drawn."""
        self._reach.end()

    def stop(self) -> None:
        self._reach.stop()

    def _end(self, version: Callable[[], int]) -> None:
        """Forget what was withdrawn, or have it back, as the vault says."""
        if not self._before:
            return
        served = version() != self._old
        for part, before in self._before.items():
            state = self._states[part]
            if served:
                erased = np.union1d(state.erased, state.withdrawn)
                state = replace(state, erased=erased, withdrawn=_worker.no_rows())
                self._unconfirmed[part] = state
            # Otherwise the next task brings the part back.
            self._states[part] = state if served else before
        self._before.clear()

    def _confirm(self) -> None:
        """Wait until no worker holds what was forgotten."""
        if not self._unconfirmed:
            return
        self._reach.resume()  # the request itself is over
        try:
            self._run(_worker.set_state, {part: (s,) for part, s in self._unconfirmed.items()})
        except Interrupted:
            raise Interrupted(
                "the request was served, but interrupted before all workers had confirmed that "
                "its rows are overwritten; the next request waits for them first",
                code="interrupted",
            ) from None
        self._unconfirmed.clear()

    def _run(self, work: Callable[..., Any], given: dict[int, tuple[Any, ...]]) -> dict[int, Any]:
        self._reach.start(work, given)
        return {index: self._reach.take(index) for index in given}

    def __deepcopy__(self, memo: dict[int, Any]) -> Parts:
        return self

    def __reduce__(self) -> Any:
        raise TypeError("the connection to the partitions of a model cannot be pickled")
