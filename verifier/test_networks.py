"""Tests of DP-SGD: vectors, closed forms, rules of its certificates."""

from __future__ import annotations

import copy
import json
import math
import unittest
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import efface_verify as verify
from sample_certificates import (
    DELTA,
    SOLVED,
    TRAINED,
    CertificateCase,
    judge,
    network,
    put,
    samples,
    seal,
)

VECTORS = Path(__file__).parent.parent / "vectors"


def of_losses(
    kinds: list[tuple[int, int]], noise: float, rate: float, *asked: float
) -> tuple[float, float]:
    """Epsilon and total variation of steps of one noise and rate."""
    return verify.of_phases(tuple((n, units, noise, rate) for n, units in kinds), *asked)


class Losses(unittest.TestCase):
    def cases(self, file: str, kind: str) -> list[tuple[dict[str, Any], float, float]]:
        found = json.loads((VECTORS / file).read_text(encoding="utf-8"))["cases"]
        cases = [
            (c["inputs"], float(c["expect"]["epsilon"]), c["tolerance"])
            for c in found
            if c["kind"] == kind
        ]
        self.assertTrue(cases, f"no vectors of kind {kind}")
        return cases

    def epsilon(self, inputs: dict[str, Any], near: float) -> float:
        kinds = [(int(inputs["steps"]), int(inputs["group"]))]
        noise, rate, delta = (float(inputs[name]) for name in ("noise", "rate", "delta"))
        return of_losses(kinds, noise, rate, delta, near)[0]

    def test_vectors_without_a_grid_of_losses(self) -> None:
        for inputs, want, _ in self.cases("dp_sgd.json", "dp-sgd"):
            found = self.epsilon(inputs, want * 1.0001)
            self.assertLess(abs(found / want - 1), 2e-8, inputs)

    def test_vectors_of_another_library(self) -> None:
        for inputs, want, tolerance in self.cases("networks.json", "dp-sgd"):
            found = self.epsilon(inputs, want)
            self.assertLess(abs(found / want - 1), tolerance, inputs)

    def test_vectors_of_several_segments(self) -> None:
        for inputs, want, _ in self.cases("dp_sgd.json", "dp-sgd-schedule"):
            numbers = (map(float, inputs[name]) for name in ("noise", "rate"))
            phases = tuple(zip(inputs["steps"], inputs["group"], *numbers, strict=True))
            mu, delta = float(inputs["mu"]), float(inputs["delta"])
            found = verify.of_phases(phases, delta, want, mu=mu)[0]
            self.assertLess(abs(found / want - 1), 1e-8, inputs)

    def test_where_it_looks_first_does_not_matter(self) -> None:
        inputs = {"noise": 1.0, "rate": 0.01, "steps": 1000, "group": 1, "delta": 1e-5}
        found = [self.epsilon(inputs, near) for near in (0.0, 0.3, 1.83, 5.0, 1e6)]
        for other in found:
            self.assertLess(abs(other / 1.82823666652 - 1), 1e-7)

    def test_nearly_every_unit_in_every_step_is_gaussian(self) -> None:
        kinds, delta = [(20, 3), (5, 1)], 1e-6
        found = of_losses(kinds, 40.0, 1 - 1e-9, delta, 1.0)
        mu = Decimal(20 * 9 + 5).sqrt() / 40
        for number, want in zip(
            found, (verify.gdp_epsilon(mu, Decimal(delta)), verify.pair_advantage(mu)), strict=True
        ):
            self.assertLess(abs(number / float(want) - 1), 1e-6)

    def test_segments_add_up_as_steps_of_one(self) -> None:
        whole = of_losses([(1000, 2)], 1.0, 0.01, 1e-6, 5.0)
        split = of_losses([(400, 2), (600, 2)], 1.0, 0.01, 1e-6, 5.0)
        for one, other in zip(whole, split, strict=True):
            self.assertLess(abs(one / other - 1), 1e-9)

    def test_a_group_is_not_a_multiple_of_one(self) -> None:
        delta = 1 / 60000
        one = of_losses([(878, 1)], 2.0, 1024 / 60000, delta, 1.0)[0]
        five = of_losses([(878, 5)], 2.0, 1024 / 60000, delta, 6.0)[0]
        low, high = Decimal(0), Decimal(10)  # the mu that gives epsilon for one unit
        for _ in range(60):
            middle = (low + high) / 2
            above = verify.gdp_epsilon(middle, Decimal(delta)) > Decimal(one)
            low, high = (low, middle) if above else (middle, high)
        self.assertGreater(five, float(verify.gdp_epsilon(5 * high, Decimal(delta))) * 1.001)

    def test_the_larger_direction_counts(self) -> None:
        both = [
            verify.Losses(((1000, 1, 1.0, 0.01),), added).epsilon(1e-5, 1.5, 1)
            for added in (True, False)
        ]
        self.assertLess(abs(both[0] / 1.8282367 - 1), 1e-6)
        self.assertLess(abs(both[1] / 1.4177 - 1), 1e-3)

    def test_replacing_is_found_from_anywhere_however_far_apart(self) -> None:
        for near in (0.1, 20.0, 80.0):
            found = of_losses([(781, 4)], 20.0, 0.0714, 1e-4, near, 2, 9.9)[0]
            share = 1e-4 / (1 + math.exp(found))
            one = of_losses([(781, 4)], 20.0, 0.0714, share, found, 1, 9.9)[0]
            self.assertLess(abs(one / found - 1), 1e-8)

    def test_replacing_is_two_hops(self) -> None:
        one = of_losses([(175, 2)], 26.74, 0.068, 1e-5, 0.3, 2)[0]
        share = 1e-5 / (1 + math.exp(one))
        self.assertLess(abs(of_losses([(175, 2)], 26.74, 0.068, share, 0.3)[0] / one - 1), 1e-8)

    def test_units_that_are_nearly_always_drawn_are_no_trouble(self) -> None:
        for kind, noise, rate in (((80, 16), 4.0, 0.95), ((20, 200), 900.0, 1 - 1e-12)):
            found = of_losses([kind], noise, rate, 1e-6, 10.0)
            mu = Decimal(kind[1] * rate) * Decimal(kind[0]).sqrt() / Decimal(noise)
            least = float(verify.gdp_epsilon(mu, Decimal(1e-6)))  # noqa: RUF032
            self.assertGreater(found[0], least * (1 - 1e-9))
            self.assertLess(found[0], 1.2 * least)

    def test_what_takes_too_long_is_left_open(self) -> None:
        with self.assertRaises(verify.Undecided):
            of_losses([(10, 1024)], 0.1, 0.001, 1e-12, 1.0)


class Networks(CertificateCase):
    def test_honest_certificates_hold(self) -> None:
        for adjacency in ("replace", "remove"):
            self.assertEqual(set(judge(network(adjacency)).values()), {"holds"}, adjacency)

    def test_deleted_units_are_one_group_of_their_segments(self) -> None:
        claim = network()["claims"][0]
        self.assertEqual(claim["group"], "3 subjects")
        want = of_losses([(175, 3)], 26.74, 0.06826666666666667, float(DELTA), 0.4)
        self.assertLess(abs(float(claim["epsilon"]) / want[0] - 1), 2e-6)
        self.assertLess(abs(float(claim["advantage"]) / want[1] - 1), 2e-6)

    def test_what_one_rule_forbids_fails_by_it(self) -> None:
        notions = {verify.RETRAINING, verify.PRIVACY}
        more = [{"steps": 175, "deleted": 3}, {"steps": 40, "deleted": 4}]
        base = network()
        segments = ("event", "segments")
        for checks, change in (
            ({verify.RETRAINING}, put({"deleted": 4}, *segments, 0)),
            ({verify.PRIVACY}, put({"earlier_steps": 5}, "event")),
            (notions, put({"segments": more}, "event")),
            (notions, put({"earlier_steps": 10**9}, "event")),
            (notions, put({"rows_per_unit": 0}, "event")),
            ({"consistency"}, put({"deleted": 0}, *segments, 0)),
            ({"consistency"}, put({"kind": "refresh", "records": "0"}, "request")),
            ({"scope"}, lambda d: d["scope"]["does_not_cover"].pop()),
            ({"assumptions"}, lambda d: d["assumptions"].pop(0)),
            ({"assumptions"}, put({"value": "batches are taken in turn"}, "assumptions", 0)),
            ({"assumptions"}, put({"evidence": "enforced"}, "assumptions", 2)),
            ({"assumptions"}, lambda d: d["assumptions"].append(d["assumptions"][1])),
            ({"objective"}, lambda d: d["constants"].pop()),
            ({"constants"}, put({"value": "0.2"}, "constants", 2)),
            ({"objective"}, lambda d: d["constants"].append(
                {"name": "smoothness", "value": "1", "origin": "user"}
            )),
        ):  # fmt: skip
            self.has(base, checks, change)

    def has(
        self, base: dict[str, Any], checks: set[str], change: Callable[[dict[str, Any]], Any]
    ) -> None:
        """Those checks are among the ones that fail."""
        document = copy.deepcopy(base)
        change(document)
        failing = {
            name.rpartition(": ")[2]
            for name, outcome in judge(seal(document)).items()
            if outcome != "holds"
        }
        self.assertLessEqual(checks, failing, failing)

    def test_a_little_too_good_fails(self) -> None:
        base = network()
        for number in (0, 1):
            for name in ("epsilon", "advantage"):
                stated = float(base["claims"][number][name])
                change = put({name: verify.spelled(stated * (1 - 1e-4))}, "claims", number)
                self.has(base, {base["claims"][number]["notion"]}, change)

    def test_the_epsilon_of_divergences_is_stated_and_agrees(self) -> None:
        base = network()
        for number in (0, 1):
            claim = base["claims"][number]
            second = float(claim["rdp_epsilon"])
            self.assertLess(float(claim["epsilon"]) * 1.02, second)
            higher = {"epsilon": verify.spelled(second * 1.02)}
            higher["words"] = claim["words"].replace(
                f"({claim['epsilon'][:3]}", f"({higher['epsilon'][:3]}"
            )
            for change in (
                put({"rdp_epsilon": None}, "claims", number),
                put({"rdp_epsilon": verify.spelled(second * 1.001)}, "claims", number),
                put({"rdp_epsilon": verify.spelled(second * 0.999)}, "claims", number),
                put({"rdp_epsilon": claim["epsilon"]}, "claims", number),
                put(higher, "claims", number),
            ):
                self.has(base, {claim["notion"]}, change)
        linear = copy.deepcopy(samples()["solved"])
        linear["claims"][0]["rdp_epsilon"] = linear["claims"][0]["epsilon"]
        self.assertIn("fails", judge(seal(linear)).values())

    def test_divergences_of_whole_orders(self) -> None:
        for kind, noise, rate, delta, want in (
            ((1000, 1), 1.0, 0.01, 1e-5, 2.1077530754),
            ((175, 8), 26.74, 4096 / 60000, 1 / 60000, 1.0747684800),
            ((1000, 1), 1000.0, 1e-6, 1e-5, 0.1009824745),
        ):
            found = verify.of_orders(((*kind, noise, rate),), 0.0, delta, 1)
            self.assertLess(abs(found[0] / want - 1), 1e-8)
            self.assertLess(found[1] / found[0] - 1, 1e-6)
        # Every unit in every step: Gaussian, whose divergence of order a is a mu^2/2.
        mu, delta = 3 * math.sqrt(10) / 2, 1e-5
        want = min(
            a * mu * mu / 2 + math.log((a - 1) / a) - (math.log(delta) + math.log(a)) / (a - 1)
            for a in range(2, 65)
        )
        found = verify.of_orders(((10, 3, 2.0, 1.0),), 0.0, delta, 1)
        self.assertLess(abs(found[0] / want - 1), 1e-9)
        self.assertEqual(verify.of_orders((), 0.0, delta, 2), (0.0, 0.0))
        both = verify.of_orders(((175, 8, 26.74, 0.068),), 0.2, delta, 2)[0]
        share = delta / (1 + math.exp(both / 2))
        one = verify.of_orders(((175, 8, 26.74, 0.068),), 0.2, share, 1)[0]
        self.assertLess(abs(2 * one / both - 1), 1e-9)

    def test_unknown_fields_and_other_accountants_are_refused(self) -> None:
        document = copy.deepcopy(network())
        document["event"]["sampling"] = "shuffled"
        self.assertEqual(set(judge(seal(document)).values()), {"undecided"})
        other = copy.deepcopy(network())
        other["claims"][0]["accountant"] = "gdp"
        self.assertIn("fails", judge(seal(other)).values())

    def test_records_that_were_counted_are_not_hidden(self) -> None:
        document = copy.deepcopy(network("remove"))
        document["event"] |= {"unit": "record", "rows_per_unit": 1}
        verdict = judge(seal(document))
        self.assertEqual(verdict["consistency"], "fails")

    def test_every_unit_in_every_step_has_a_closed_form(self) -> None:
        event = {**TRAINED, "rate": "1", "noise": "300"}
        form: dict[str, Any] = {"notion": verify.PRIVACY, "requests": "any", "order": None}
        form |= {"delta": Decimal(DELTA), "accountant": "pld", "epsilon": verify.INFINITY}
        checked = verify.fit(event, "event", "event")
        found = [
            verify.supported(checked, {**form, "adjacency": adjacency})["epsilon"]
            for adjacency in ("remove", "replace")
        ]
        mu = 2 * Decimal(175).sqrt() / 300
        want = verify.gdp_epsilon(mu, Decimal(DELTA))
        self.assertLess(abs(found[0] / want - 1), Decimal("2e-6"))
        half = found[1] / 2
        left = (1 + half.exp()) * verify.gdp_delta(mu, half) / Decimal(DELTA)
        self.assertLess(abs(left - 1), Decimal("1e-3"))


class OnNetworks(unittest.TestCase):
    """Models of the features of a network that deleted records were in."""

    TRAINING: dict[str, Any] = {  # noqa: RUF012
        **{name: value for name, value in TRAINED.items() if name != "kind"},
        "unit": "record",
        "rows_per_unit": 1,
        "rate": verify.spelled(4096 / 60000),
        "segments": [{"steps": 175, "deleted": 3}],
    }

    def epsilon(
        self,
        mu: Decimal,
        removed: int,
        training: dict[str, Any] | None = None,
        declared: dict[str, Any] | None = None,
    ) -> float:
        inner: dict[str, Any] = copy.deepcopy(SOLVED)
        noise = float(inner["noise"])  # a distance that gives mu
        inner["distance"] = verify.spelled(float(mu) / 2 * noise)
        given: dict[str, Any] = {"what": "extractor", "group": 1}
        given |= {"declared": declared} if declared else {"training": training or self.TRAINING}
        event = {"kind": "composed", "given": given, "removed": removed, "inner": inner}
        claim: dict[str, Any] = {"notion": verify.RETRAINING, "requests": "non-adaptive"}
        claim |= {"order": None, "adjacency": None, "accountant": "gdp", "mu": None}
        claim |= {"delta": Decimal(1) / 60000, "epsilon": Decimal(1)}
        return float(verify.supported(verify.fit(event, "event", "event"), claim)["epsilon"])

    def test_a_network_and_what_is_built_on_it_are_composed(self) -> None:
        low, high = Decimal(0), Decimal(1)
        for _ in range(60):
            middle = (low + high) / 2
            above = verify.gdp_epsilon(middle, Decimal(1) / 60000) > Decimal("0.48")
            low, high = (low, middle) if above else (middle, high)
        joint = self.epsilon(high, 5)
        self.assertLess(abs(joint - 1.119), 2e-3)
        self.assertLess(abs(self.epsilon(Decimal("1e-5"), 5) - 0.97946), 1e-3)
        without = copy.deepcopy(self.TRAINING)
        without["segments"][0]["deleted"] = 0
        self.assertLess(self.epsilon(high, 5, without), joint * 0.95)
        self.assertLess(self.epsilon(high, 2), joint * 0.95)

    def elsewhere(
        self, phases: list[tuple[float, float, int]], removed: int, mu: float = 0.01
    ) -> float:
        named = ("noise", "rate", "steps")
        values = [[*map(verify.spelled, phase[:2]), phase[2]] for phase in phases]
        said = {"phases": [dict(zip(named, v, strict=True)) for v in values], "deleted": 3}
        return self.epsilon(Decimal(mu), removed, None, said)

    def test_a_declared_training_is_the_same_steps(self) -> None:
        rate = 4096 / 60000
        here = self.epsilon(Decimal("0.01"), 5)
        whole = self.elsewhere([(26.74, rate, 175)], 5)
        self.assertLess(abs(self.elsewhere([(26.74, rate, 90), (26.74, rate, 85)], 5) - here), 1e-9)
        self.assertLess(abs(whole - here), 1e-9)
        less = self.elsewhere([(26.74, rate, 90), (40.0, rate, 85)], 5)
        self.assertLess(less, whole * 0.95)
        self.assertLess(self.elsewhere([(26.74, rate, 90)], 5), less * 0.95)
        # All in every step: two normal distributions.
        mu = (8 * 8 * (4 / Decimal(6400) + 3 / Decimal(1600)) + Decimal("1e-4")).sqrt()
        want = float(verify.gdp_epsilon(mu, Decimal(1) / 60000))
        found = self.elsewhere([(80.0, 1.0, 4), (40.0, 1.0, 3)], 5)
        self.assertLess(abs(found / want - 1), 1e-5)

    def test_what_is_said_of_a_training_elsewhere_has_its_words(self) -> None:
        def said(name: str, value: str, evidence: str) -> list[dict[str, Any]]:
            return [{"name": name, "value": value, "evidence": evidence}]

        words = verify.DECLARED | {"extractor": verify.DECLARED_EXTRACTOR}
        for name, text in words.items():
            verify.check_word_given(said(name, text, "declared"))
            verify.check_word_given(said(name, text, "assumed"))
            for other in (("checked", "declared"), (text, "enforced"), (text, "measured")):
                with self.assertRaises(verify.Broken):
                    verify.check_word_given(said(name, *other))
        with self.assertRaises(verify.Broken):
            verify.check_word_given(said("given-checks", words["given"], "declared"))
        verify.check_word_given(said("rows", "checked", "enforced"))

    def test_its_claims_say_what_they_hold_under(self) -> None:
        claim: dict[str, Any] = {"notion": verify.RETRAINING, "requests": "any", "group": "1"}
        claim |= {"epsilon": Decimal(1), "delta": Decimal("1e-5"), "advantage": Decimal("0.1")}
        claim |= {"order": None, "adjacency": "remove", "accountant": "pld", "releases": 1}
        under = "if the extractor was trained as declared, "
        for notion, reference in (
            (verify.RETRAINING, verify.RETRAINED["elsewhere"]),
            (verify.PRIVACY, verify.DIFFER["elsewhere"]),
        ):
            text, _ = verify.sentence(claim | {"notion": notion, "reference": reference})
            self.assertTrue(text.startswith(under), text)
        text, _ = verify.sentence(claim | {"reference": verify.RETRAINED["network"]})
        self.assertFalse(text.startswith(under), text)

    def test_declarations_that_nothing_is_known_of_are_refused(self) -> None:
        for phases in (
            [],
            [(0.05, 0.1, 10)],
            [(1.0, 1.1, 10)],
            [(1.0, 0.0, 10)],
            [(1.0, 0.1, 0)],
            [(1.0, 0.1, 1)] * 65,
            [(1.0, 0.1, 10**9), (1.0, 0.1, 1)],
        ):
            with self.assertRaises(verify.Broken):
                self.elsewhere(phases, 5)
        with self.assertRaises(verify.Broken):
            self.elsewhere([(26.74, 0.1, 10)], 1022)
        with self.assertRaises(verify.Broken):  # rate 1 far beside phases that draw
            self.elsewhere([(26.74, 0.1, 10), (0.1, 1.0, 2)], 5)
        with self.assertRaises(verify.Broken):  # as is what was made from it
            self.elsewhere([(26.74, 0.1, 10)], 5, 101.0)
        with self.assertRaises(verify.Broken):
            self.elsewhere([(2e6, 1.0, 10)], 5)
        with self.assertRaises(verify.Broken):  # more work than one epsilon is worth
            self.elsewhere([(20.0 + i, 0.01, 10) for i in range(64)], 70)
        self.elsewhere([(80.0, 1.0, 4), (0.1, 1.0, 2)], 5)

    def test_trainings_that_nothing_is_known_of_are_refused(self) -> None:
        changes: list[dict[str, Any]] = [{"unit": "subject"}, {"segments": []}, {"noise": "0.01"}]
        for change in changes:
            with self.assertRaises(verify.Broken):
                self.epsilon(Decimal("0.1"), 5, {**self.TRAINING, **change})


if __name__ == "__main__":
    unittest.main()
