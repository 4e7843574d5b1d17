"""Progress of long work, for estimators with `verbose`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Told = Callable[[str, int, "int | None", "float | None", "float | None"], None]


@contextmanager
def shown(verbose: int, title: str) -> Iterator[Told | None]:
    """Give what the engine is to tell its progress to: a bar of tqdm, or lines without it."""
    if not verbose:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield _lines(title)
        return
    with tqdm(desc=title, unit=" passes", leave=verbose > 1) as bar:
        yield _bar(bar, title)


def _bar(bar: Any, title: str) -> Told:
    phase_now = ""

    def told(
        phase: str, done: int, total: int | None, norm: float | None, goal: float | None
    ) -> None:
        nonlocal phase_now
        if phase != phase_now:
            phase_now = phase
            bar.reset(total=total)
            bar.unit = " rows" if phase == "reading" else " passes"
            bar.set_description(f"{title}: {phase}", refresh=False)
        if norm is not None:
            reached = f"{norm:.1e}" if goal is None else f"{norm:.1e} of {goal:.1e}"
            bar.set_postfix_str(f"gradient {reached}", refresh=False)
        bar.total = total
        bar.n = done
        bar.refresh()

    return told


def _lines(title: str) -> Told:
    phase_now = ""

    def told(phase: str, *_: Any) -> None:
        nonlocal phase_now
        if phase != phase_now:
            phase_now = phase
            print(f"{title}: {phase}", file=sys.stderr)

    return told
