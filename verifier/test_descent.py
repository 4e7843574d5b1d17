"""Tests of descent-to-delete: exact instances, printed formulas, contradictions."""

from __future__ import annotations

import copy
import unittest
from decimal import Decimal
from typing import Any

import efface_verify as verify
from sample_certificates import DELTA, LINEAR, claim_for


class DescentToDelete(unittest.TestCase):
    """Events of descent-to-delete: exact instances, printed formulas, contradictions."""

    def event(self, requests: int = 0, **changes: Any) -> dict[str, Any]:
        event = {**copy.deepcopy(LINEAR), **changes}
        for k in range(requests):
            steps = (k + 1) ** 3 * 7 if event["variant"] == "weak" else 7
            event["phases"].append({**event["phases"][0], "steps": steps, "only_then": 1})
        for k, phase in enumerate(event["phases"]):
            phase["only_then"] = requests - k
        event["updates"] += requests
        event["releases"] += requests
        parsed: dict[str, Any] = verify.fit(event, "event", "event")
        verify.check_event(parsed)
        return parsed

    def test_a_linear_loss_attains_the_secret_and_the_perfect_bound(self) -> None:
        q = Decimal("0.9") ** 7
        secret = verify.descent_mu(self.event(2), verify.RETRAINING, "")
        exact = 3 * q / (1 - q) / 50 / Decimal("0.001")
        self.assertLess(abs(secret / exact - 1), Decimal("1e-12"))
        perfect = self.event(1, variant="perfect", joint_releases=1)
        one = verify.descent_mu(perfect, verify.RETRAINING, "")
        exact = q / 50 / Decimal("0.001") / (1 + q * q).sqrt()
        self.assertLess(abs(one / exact - 1), Decimal("1e-12"))
        removed = verify.descent_mu(perfect, verify.DELETION, "replace")
        self.assertLess(abs(removed / one / 2 - 1), Decimal("1e-12"))

    def test_weak_updates_bound_the_distance_by_their_own_sequence(self) -> None:
        weak = self.event(2, variant="weak", xi="1.5")
        weak["iterations"] = 1
        q, last = Decimal("0.9"), Decimal(0)
        largest = last
        for i in range(1, 60):
            last = (Decimal(i) ** 3 * q.ln()).exp() * (last + 1)
            largest = max(largest, last)
        found = verify.updates_away(weak, q)
        self.assertLess(abs(found / largest - 1), Decimal("1e-12"))
        self.assertLess(found, q / (1 - q) / 4)

    def test_the_printed_noise_gives_the_printed_epsilon(self) -> None:
        delta, epsilon = Decimal("0.00001"), Decimal("1.5")
        log, q = -delta.ln(), Decimal("0.9") ** 7
        claim = {"notion": verify.RETRAINING, "delta": delta, "order": None, "adjacency": None}
        reach = q / (1 - q) / 50
        noise = 4 * Decimal(2).sqrt() * reach / ((log + epsilon).sqrt() - log.sqrt())
        event = {**self.event(1), "noise": noise, "joint_releases": 1}
        # Curved enough that no step contracts more than the one of 0.9.
        event["setting"] = {**event["setting"], "smoothness": Decimal("0.9")}
        found = verify.descent_published(event, claim)["epsilon"]
        self.assertLess(abs(found / epsilon - 1), Decimal("1e-12"))
        start = 2 * (2 / delta).ln()
        event |= {"variant": "perfect", "tail": delta, "iterations": 200}
        q = Decimal("0.9") ** 200
        reach = q / (1 - q) / 50
        event["noise"] = 8 * reach / ((start + 3 * epsilon).sqrt() - (start + 2 * epsilon).sqrt())
        event["grid"] = event["noise"] / 2**100
        found = verify.descent_published(event, claim)["epsilon"]
        self.assertLess(abs(found / epsilon - 1), Decimal("1e-12"))
        slower = {**event, "step": event["step"] / 2}
        slower["phases"] = [{**p, "steps": 9000} for p in event["phases"]]
        for wrong in ({"tail": delta * 2}, {"tail": None}, slower):
            with self.assertRaises(verify.Broken):
                verify.descent_published({**event, **wrong}, claim)
        with self.assertRaises(verify.Broken):
            verify.descent_published(event, {**claim, "notion": verify.PRIVACY})

    def test_histories_that_contradict_themselves_are_refused(self) -> None:
        self.event(3)
        for changes in (
            {"updates": 5},
            {"updates": -1},
            {"iterations": 8},
            {"xi": "1"},
            {"variant": "weak"},
            {"tail": "0.1"},
            {"variant": "perfect"},
            {"joint_releases": 3},
            {"releases": 0},
            {"longest": 899},
            {"step": "41"},
            {"diameter": "0"},
        ):
            with self.subTest(changes), self.assertRaises((verify.Broken, verify.Refused)):
                self.event(3, **changes)

    def test_a_request_makes_the_steps_of_its_own_updates(self) -> None:
        event = self.event(2)
        group = event["setting"]["group"]
        for phases in (
            [{}, {"steps": 6}, {"steps": 8}],
            [{"only_then": group + 2}, {}, {}],
            [{"only_now": group + 1}, {}, {}],
            [{"only_then": 0}, {"only_then": group + 1}, {}],
        ):
            changed = [{**old, **new} for old, new in zip(event["phases"], phases, strict=True)]
            with self.subTest(phases), self.assertRaises(verify.Broken):
                verify.check_event({**event, "phases": changed})
        grown = {**event, "variant": "weak", "xi": Decimal("1.3")}
        self.assertEqual(verify.steps_of_updates(grown, 1, 3), 43 + 122)
        slow = {**event, "variant": "perfect", "tail": Decimal("1e-5")}
        slow["setting"] = {**event["setting"], "smoothness": Decimal("0.25")}
        self.assertEqual(verify.steps_of_updates(slow, 0, 2), 2 * 15)
        many = {**grown, "updates": 2**40}
        with self.assertRaises(verify.Broken):
            verify.check_event(many)

    def test_inner_releases_of_a_merged_phase_round_too(self) -> None:
        event = self.event(2, variant="perfect", joint_releases=1, grid="9.5e-10")
        first, inner, last = event["phases"]
        event["phases"] = [first, {**inner, "releases": 30, "steps": 210}, last]
        event |= {"releases": 32, "updates": 31}
        verify.check_event(event)
        merged = verify.descent_mu(event, verify.RETRAINING, "")
        inner = event["phases"][1]
        alone = {**event, "phases": [first, {**inner, "releases": 1}, last]}
        without = verify.descent_mu(alone, verify.RETRAINING, "")
        q, spread = Decimal("0.9") ** 7, event["grid"]
        added = q * q * (1 - q**29) / (1 - q) * spread / (Decimal("0.001") * (1 + q * q).sqrt())
        self.assertLess(abs((merged - without) / added - 1), Decimal("1e-3"))

    def test_a_private_row_count_is_refused(self) -> None:
        question = {"notion": verify.PRIVACY, "delta": DELTA, "adjacency": "remove"}
        with self.assertRaises(verify.Broken):
            claim_for({**LINEAR, "grid": "1e-20"}, question)
