"""The engine's sums of gradients that others compute: batches, exactness, noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import efface
from efface import _engine


def sums(**given: Any) -> Any:
    chosen = {"noise": 1.0, "rate": 1.0, "clip": 1.0, "steps": 5000, "expected": 1.0, **given}
    return _engine.ReleasedSums(8, **chosen)


def gradients(count: int, scale: float = 1.0) -> Any:
    drawn = np.random.default_rng(count).normal(size=(count, 8)) * scale
    return drawn.astype(np.float32)


def test_a_step_is_drawn_added_and_released() -> None:
    made = sums()
    with pytest.raises(efface.InputError, match="before a step"):
        made.add(gradients(1))
    drawn = made.draw(20)
    assert drawn.dtype == np.uint32
    assert drawn.tolist() == list(range(20))
    made.add(gradients(12))
    with pytest.raises(efface.InputError, match="each drawn"):
        made.release()
    with pytest.raises(efface.InputError, match="more gradients"):
        made.add(gradients(9))
    made.add(gradients(8))
    assert made.release().shape == (8,)
    assert made.steps == 1
    made.draw(5)
    with pytest.raises(efface.InputError, match="has 8 numbers, got 7"):
        made.add(gradients(5)[:, :7].copy())
    with pytest.raises((efface.InputError, ValueError, TypeError)):
        made.add(gradients(5)[:, ::-1])


@pytest.mark.parametrize(
    "given",
    [
        {"noise": 0.0},
        {"noise": float("nan")},
        {"rate": 1.5},
        {"rate": 0.0},
        {"clip": float("inf")},
        {"steps": 0},
        {"expected": 0.0},
    ],
)
def test_numbers_out_of_range_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(efface.InputError):
        sums(**given)


def test_the_sum_is_that_of_clipped_gradients() -> None:
    """Noise 0.05 of the clip: six of its deviations are 0.3 (false alarms 2e-9 each)."""
    found, rows = np.zeros(8), gradients(30, 0.5)
    rows[3, 2] = np.nan
    made = sums(noise=0.05, expected=2.0)
    made.draw(30)
    made.add(rows)
    found = made.release() * 2.0
    finite = np.delete(rows, 3, axis=0)
    norms = np.linalg.norm(finite, axis=1, keepdims=True)
    want = (finite / np.maximum(norms, 1.0)).sum(axis=0)
    assert np.abs(found - want).max() < 0.3


def test_noise_is_drawn_once_in_each_step_and_anew() -> None:
    """2,000 steps of 8 numbers: mean square within 6 deviations of sigma^2 (false alarms 2e-9)."""
    made = sums(noise=2.0, rate=0.01)
    values = []
    for _ in range(2000):
        drawn = made.draw(3)
        made.add(np.zeros((len(drawn), 8), np.float32))
        values.append(made.release())
    square = np.square(values).mean() / 4
    assert abs(square - 1) < 6 * np.sqrt(2 / 16_000)
    assert len(np.unique(values)) > 15_000


def test_batches_are_drawn_with_the_rate() -> None:
    """1,000 steps of 200 records at 0.1: their number within 6 deviations (false alarms 2e-9)."""
    made, count = sums(rate=0.1), 0
    for _ in range(1000):
        drawn = made.draw(200)
        count += len(drawn)
        made.add(np.zeros((len(drawn), 8), np.float32))
        made.release()
    assert abs(count - 20_000) < 6 * np.sqrt(18_000)
