"""What makers of vectors share: Gaussian tails, searches, and cases with expected results."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from mpmath import erfc, exp, log, mp, mpf, nstr, sqrt

mp.dps = 60
Fields = dict[str, Any]
cases: list[Fields] = []


def case(kind: str, inputs: Fields, digits: int = 25, **expect: Any) -> Fields:
    """Adds a case; `__` in the name of a result is a hyphen."""
    written = {k: v if isinstance(v, (int, list)) else str(v) for k, v in inputs.items()}
    found = {
        k.replace("__", "-"): v if isinstance(v, int) else nstr(v, digits)
        for k, v in expect.items()
    }
    cases.append({"kind": kind, "inputs": written, "expect": found})
    return cases[-1]


def write(note: str, indent: int) -> None:
    """Prints all cases."""
    print(json.dumps({"note": note, "cases": cases}, indent=indent))


def digits(low: float, high: float) -> float:
    """A decimal with few digits, uniform in the logarithm."""
    return float(f"{10 ** random.uniform(low, high):.6g}")


def real(x: Any) -> Any:
    """The number that a decimal stands for."""
    return mpf(str(x))


def upper(x: Any) -> Any:
    """Probability that a standard normal exceeds x."""
    return erfc(x / sqrt(mpf(2))) / 2


def delta_of(epsilon: Any, mu: Any, digits: int = 60) -> Any:
    """delta of mu-GDP."""
    # The two terms agree in about log10(1/mu) + 2 log10(|a|) digits: work with many more.
    with mp.workdps(digits + 60 + int(max(0, -log(mpf(mu)) / 2))):
        epsilon, mu = mpf(epsilon), mpf(mu)
        a = mu / 2 - epsilon / mu
        return upper(-a) - exp(epsilon) * upper(mu - a)


def epsilon_of(mu: Any, delta: Any) -> Any:
    """epsilon of mu-GDP at delta."""
    if mu == 0 or delta_of(0, mu) <= real(delta):
        return mpf(0)
    high = mu**2 / 2 + mu * sqrt(-2 * log(real(delta)))
    return first(lambda e: delta_of(e, mu) <= real(delta), 0, high, 110)


def first(holds: Callable[[Any], bool], low: Any, high: Any, halvings: int) -> Any:
    """Where a statement begins to hold between two numbers, from above."""
    low, high = mpf(low), mpf(high)
    for _ in range(halvings):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def least(f: Callable[[Any], Any], low: Any, high: Any) -> Any:
    """The minimum of a function by a grid and ternary search."""
    grid = [mpf(low) + (mpf(high) - low) * k / 400 for k in range(401)]
    values = [f(t) for t in grid]
    best = min(range(401), key=lambda k: values[k])
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, 400)]
    for _ in range(140):
        third = (high - low) / 3
        if f(low + third) < f(high - third):
            high -= third
        else:
            low += third
    return f((low + high) / 2)


def mu_of(start: Any, contraction: list[Any], shift: list[Any], noise: list[Any]) -> Any:
    """The minorant of every single point by gift wrapping."""
    after = mpf(1)
    factors = []
    for c in reversed(contraction):
        factors.append(after)
        after *= c
    v, y = mpf(0), after * start
    points = [(v, mpf(0))]
    for factor, s, n in zip(reversed(factors), shift, noise, strict=True):
        v, y = v + (factor * n) ** 2, y + factor * s
        points.append((v, y))
    corner, total = 0, mpf(0)
    while corner + 1 < len(points):
        v0, y0 = points[corner]
        slope, best = min(
            ((y - y0) / (v - v0), -k) for k, (v, y) in enumerate(points) if k > corner and v > v0
        )
        total += slope**2 * (points[-best][0] - v0)
        corner = -best
    return sqrt(total)
