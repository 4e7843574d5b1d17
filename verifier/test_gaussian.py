"""Tests of the Gaussian formulas and of shifted interpolation, against vectors and exact cases."""

from __future__ import annotations

import json
import unittest
from decimal import Decimal
from pathlib import Path
from typing import Any

import efface_verify as verify

VECTORS = Path(__file__).parent.parent / "vectors"


class Accounting(unittest.TestCase):
    def cases(
        self, kind: str, file: str = "accounting"
    ) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        found = json.loads((VECTORS / f"{file}.json").read_text(encoding="utf-8"))["cases"]
        cases = [(c["inputs"], c["expect"]) for c in found if c["kind"] == kind]
        self.assertTrue(cases, f"no vectors of kind {kind}")
        return cases

    def close(self, found: Decimal, expected: str, tolerance: str = "1e-14") -> None:
        want = Decimal(expected)
        self.assertLessEqual(abs(found - want), abs(want) * Decimal(tolerance), (found, want))

    def test_gaussian_vectors(self) -> None:
        for inputs, expect in self.cases("gdp-delta"):
            mu, epsilon = Decimal(inputs["mu"]), Decimal(inputs["epsilon"])
            self.close(verify.gdp_delta(mu, epsilon), expect["delta"])
        for inputs, expect in self.cases("gdp-epsilon"):
            mu, delta = Decimal(inputs["mu"]), Decimal(inputs["delta"])
            self.close(verify.gdp_epsilon(mu, delta), expect["epsilon"])

    def test_advantage_vectors(self) -> None:
        for inputs, expect in self.cases("advantage"):
            q, epsilon = Decimal(inputs["q"]), Decimal(inputs["epsilon"])
            found = verify.deletion_advantage(q, epsilon)
            self.close(found, expect["from_deletion_privacy"])
            self.close(verify.pair_advantage(Decimal(inputs["mu"])), expect["from_gdp"])

    def test_noisy_gd_vectors(self) -> None:
        for inputs, expect in self.cases("noisy-gd-gdp"):
            gap = {"replace": 2, "remove-fixed": 1, "remove-mean": 2}[inputs["adjacency"]]
            stretches = [(inputs["learning_steps"], Decimal(gap * inputs["group"]))]
            if inputs["unlearning_steps"]:
                stretches.append((inputs["unlearning_steps"], Decimal(0)))
            self.descent(inputs, expect, stretches)

    def test_noisy_gd_sequences(self) -> None:
        for inputs, expect in self.cases("noisy-gd-gdp-sequence"):
            sets = [set(range(inputs["n"]))]
            steps = [inputs["learning_steps"]]
            for request in inputs["requests"]:
                sets.append(sets[-1] - set(request.get("delete", [])) | set(request.get("add", [])))
                steps.append(request["steps"])
            gaps = [Decimal(len(then ^ sets[-1])) for then in sets]
            self.descent(inputs, expect, list(zip(steps, gaps, strict=True)))

    def test_batches(self) -> None:
        for inputs, expect in self.cases("noisy-cgd", "noisy_cgd"):
            last = inputs["learning_steps"] - inputs["offset"]
            steps = inputs["learning_steps"] + inputs["unlearning_steps"]
            self.over_batches(inputs, expect, steps, [(last, inputs["group"])])
        for inputs, expect in self.cases("noisy-cgd-sequence", "noisy_cgd"):
            ends, steps = [], inputs["learning_steps"]
            for records, after in zip(inputs["groups"], inputs["unlearning_steps"], strict=True):
                ends.append((steps, records))
                steps += after
            self.over_batches(inputs, expect, steps, ends)

    def over_batches(
        self,
        inputs: dict[str, Any],
        expect: dict[str, Any],
        steps: int,
        ends: list[tuple[int, int]],
    ) -> None:
        eta, convexity = Decimal(inputs["eta"]), Decimal(inputs["lambda"])
        c = max(1 - eta * convexity, eta * (Decimal(inputs["beta"]) + convexity) - 1)
        one = eta * Decimal(inputs["lipschitz"]) / inputs["size"]
        one *= 2 if inputs["adjacency"] == "replace" else 1
        noise = (2 * eta).sqrt() * Decimal(inputs["sigma"])
        shifts = verify.visits(inputs["batches"], steps, [(end, n * one) for end, n in ends])
        mu = verify.interpolate_visits(c, noise, steps, shifts, Decimal(0))
        self.close(mu, expect["mu"])

    def descent(
        self, inputs: dict[str, Any], expect: dict[str, Any], gaps: list[tuple[int, Decimal]]
    ) -> None:
        eta, sigma = Decimal(inputs["eta"]), Decimal(inputs["sigma"])
        convexity, beta = Decimal(inputs["lambda"]), Decimal(inputs["beta"])
        c = max(1 - eta * convexity, eta * (beta + convexity) - 1)
        unit = eta * Decimal(inputs["lipschitz"]) / inputs["n"]
        noise = (2 * eta).sqrt() * sigma
        mu = verify.interpolate(c, noise, [(steps, gap * unit) for steps, gap in gaps])
        self.close(mu, expect["mu"])
        self.close(verify.gdp_epsilon(mu, Decimal(inputs["delta"])), expect["epsilon"])

    def test_the_two_ways_to_a_tail_agree_where_they_meet(self) -> None:
        edge = Decimal(6)
        series = verify.mills(edge)
        fraction = verify.mills(edge + Decimal("1e-60"))
        slope = edge * series - 1
        self.close(series + slope * Decimal("1e-60"), str(fraction), "1e-62")

    def test_extreme_mu_and_delta(self) -> None:
        for mu in ("1e-8", "1e-3", "1", "30", "100"):
            for delta in ("0.1", "1e-12", "1e-300"):
                epsilon = verify.gdp_epsilon(Decimal(mu), Decimal(delta))
                if epsilon == 0:
                    self.assertLessEqual(verify.pair_advantage(Decimal(mu)), Decimal(delta))
                    continue
                at, below = (
                    verify.gdp_delta(Decimal(mu), epsilon * factor)
                    for factor in (Decimal(1), 1 - Decimal("1e-12"))
                )
                self.assertLessEqual(at, Decimal(delta))
                self.assertGreater(below, Decimal(delta))

    def test_merging_equal_phases_changes_nothing_and_long_runs_stay_finite(self) -> None:
        c, noise, shift = Decimal("0.99"), Decimal("0.3"), Decimal("0.01")
        parts = verify.interpolate(c, noise, [(7, shift), (5, shift), (30, Decimal(0))])
        self.close(parts, str(verify.interpolate(c, noise, [(12, shift), (30, Decimal(0))])))
        endless = verify.interpolate(c, noise, [(10**15, shift), (10**15, shift)])
        self.close(endless, str(shift / noise * ((1 + c) / (1 - c)).sqrt()))
        self.close(verify.interpolate(Decimal(0), noise, [(3, shift)]), str(shift / noise))
        walk = verify.interpolate(Decimal(1), noise, [(100, shift)])
        self.close(walk, str(shift / noise * 10))
