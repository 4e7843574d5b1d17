"""Tests of the accountants beside the Gaussian one, and of what was given."""

from __future__ import annotations

import copy
import unittest
from decimal import Decimal
from functools import partial
from typing import Any

import efface_verify as verify
from sample_certificates import DELTA, GIVEN, HEALTHY, SETTING


class OtherAccountants(unittest.TestCase):
    def bound(self, event: dict[str, Any], **claim: Any) -> dict[str, Any]:
        form: dict[str, Any] = {"requests": "non-adaptive", "order": None, "delta": None}
        form |= {"adjacency": None, "accountant": "gdp", "epsilon": verify.INFINITY, **claim}
        return verify.supported(verify.fit(event, "event", "event"), form)

    def close(self, found: Decimal, want: Decimal, tolerance: str) -> None:
        self.assertLessEqual(abs(found - want), abs(want) * Decimal(tolerance), (found, want))

    def test_a_late_start_is_the_best_of_all(self) -> None:
        noise, apart, short = Decimal("0.3"), Decimal(2), Decimal("1e-9")
        for c in (Decimal(1), Decimal("0.98")):
            for shift in (Decimal("0.05"), Decimal("0.5")):
                phases = [(200, shift), (12, short)]
                starts = [[(n, shift), (12, short)] for n in range(1, 201)]
                starts += [[(n, short)] for n in range(1, 13)]
                best = min(verify.interpolate(c, noise, rest, apart) for rest in starts)
                self.close(verify.latest_start(c, noise, phases, apart), best, "1e-15")

    def test_a_radius_never_hurts_and_helps_where_it_is_small(self) -> None:
        delta = Decimal(DELTA)
        free = self.bound({**HEALTHY, "radius": None}, notion=verify.RETRAINING, delta=delta)
        wide = self.bound({**HEALTHY, "radius": "1000000"}, notion=verify.RETRAINING, delta=delta)
        self.assertEqual(free["mu"], wide["mu"])
        small = {**HEALTHY, "radius": "0.0001"}
        tight = self.bound(small, notion=verify.RETRAINING, delta=delta)
        self.assertLess(tight["mu"], free["mu"])
        with self.assertRaises(verify.Broken):
            self.bound({**HEALTHY, "radius": "0"}, notion=verify.RETRAINING, delta=delta)

    def test_a_ball_supports_what_contraction_gives_and_no_less(self) -> None:
        event: dict[str, Any] = copy.deepcopy({**HEALTHY, "radius": "0.03125"})
        event["phases"][0]["only_then"] = event["phases"][0]["only_now"] = 6000
        event["replaced"] = [12000, 4]
        asked = {
            "notion": verify.RETRAINING,
            "delta": Decimal(DELTA),
            "accountant": "bounded-domain",
        }
        late = self.bound(event, **asked)["epsilon"]
        low, high = Decimal(0), late  # the least epsilon that is believed
        for _ in range(20):
            middle = (low + high) / 2
            if self.bound(event, **asked, epsilon=middle)["epsilon"] <= middle:
                high = middle
            else:
                low = middle
        self.assertLess(high, late * Decimal("0.9"))
        self.assertGreater(high, 0)

    def test_triangle_inequalities_cost_little_and_give_up_in_time(self) -> None:
        mu, delta = Decimal("0.5"), Decimal(DELTA)
        exact = partial(verify.gdp_epsilon, mu)
        near = verify.nearby_epsilon(Decimal("1e-9"), delta, exact)
        self.assertGreater(near, exact(delta))
        self.close(near, exact(delta), "1e-3")
        self.assertEqual(verify.nearby_epsilon(Decimal("0.01"), delta, exact), verify.INFINITY)
        nu = Decimal("1e-4")
        for order in (Decimal("1.5"), Decimal(100)):
            near = verify.nearby_renyi(nu, order, lambda a: a * mu * mu / 2)
            self.assertGreater(near, order * (mu + 2 * nu) ** 2 / 2)
            self.close(near, order * mu * mu / 2, "0.02")

    def test_published_accountants_are_never_below_the_tight_one(self) -> None:
        for claim in (
            {"notion": verify.RETRAINING, "delta": Decimal(DELTA), "accountant": "langevin"},
            {"notion": verify.RENYI, "order": Decimal(8), "accountant": "langevin"},
            {
                "notion": verify.DELETION,
                "order": Decimal(8),
                "adjacency": "replace",
                "accountant": "deletion-rdp",
            },
            {
                "notion": verify.DELETION,
                "order": Decimal(8),
                "adjacency": "replace",
                "requests": {"p-adaptive": 2},
                "accountant": "deletion-rdp",
            },
            {
                "notion": verify.PRIVACY,
                "delta": Decimal(DELTA),
                "adjacency": "replace",
                "accountant": "deletion-rdp",
            },
        ):
            published = self.bound(HEALTHY, **claim)
            tight = self.bound(HEALTHY, **{**claim, "accountant": "gdp"})
            self.assertGreater(published["epsilon"], tight["epsilon"], claim)
            self.assertIsNone(published["mu"])

    def test_published_accountants_keep_to_their_hypotheses(self) -> None:
        langevin = {"notion": verify.RETRAINING, "delta": Decimal(DELTA), "accountant": "langevin"}
        deletion = {
            "notion": verify.PRIVACY,
            "delta": Decimal(DELTA),
            "adjacency": "remove",
            "accountant": "deletion-rdp",
        }
        mean = {
            **SETTING,
            "strong_convexity": "0.05",
            "normalizer": {"kind": "mean", "minimum": 99},
        }
        flat = {**SETTING, "strong_convexity": "0"}
        for claim, event in (
            (langevin, {**HEALTHY, "step": "2.5"}),
            (deletion, {**HEALTHY, "step": "2.5"}),
            (langevin, {**HEALTHY, "setting": flat}),
            (deletion, {**HEALTHY, "setting": flat}),
            (langevin, {**HEALTHY, "replaced": None}),
            (langevin, {**HEALTHY, "replaced": [1, 4]}),
            (langevin, {**HEALTHY, "replaced": [25]}),
            (langevin, {**HEALTHY, "setting": mean}),
            (deletion, {**HEALTHY, "setting": mean}),
            ({**langevin, "accountant": "bounded-domain"}, {**HEALTHY, "radius": None}),
            ({**deletion, "accountant": "langevin"}, HEALTHY),
            ({**langevin, "accountant": "deletion-rdp"}, HEALTHY),
        ):
            with self.assertRaises(verify.Broken):
                self.bound(event, **claim)

    def test_what_was_given_is_added_group_by_group(self) -> None:
        delta = Decimal(DELTA)
        asked = {"notion": verify.RETRAINING, "delta": delta}
        for removed, groups in ((30, 3), (31, 4)):
            event = {"kind": "composed", "given": GIVEN, "removed": removed, "inner": HEALTHY}
            e, d = Decimal(groups) / 4, Decimal(float("1e-8"))
            grown = sum((Decimal(k) / 4).exp() for k in range(groups))
            inner = self.bound(HEALTHY, **{**asked, "delta": delta - d * grown})
            found = self.bound(event, **asked)
            self.close(found["epsilon"], e + inner["epsilon"], "1e-30")
            self.assertEqual((found["group"], found["requests"]), (str(removed), "non-adaptive"))
        # (e^(k epsilon) - 1)/(e^epsilon - 1) is k where epsilon vanishes, however it cancels.
        tiny = {**GIVEN, "epsilon": "1.6e-79", "delta": "1e-6"}
        event = {"kind": "composed", "given": tiny, "removed": 30, "inner": HEALTHY}
        inner = self.bound(HEALTHY, **{**asked, "delta": delta - 3 * Decimal(float("1e-6"))})
        self.close(self.bound(event, **asked)["epsilon"], inner["epsilon"], "1e-20")
        joint = {"kind": "composed", "removed": 30, "inner": HEALTHY}
        joint["given"] = {**GIVEN, "epsilon": None, "delta": None, "mu": "0.5"}
        inner = self.bound(HEALTHY, notion=verify.RENYI, order=Decimal(4))["mu"]
        found = self.bound(joint, notion=verify.RENYI, order=Decimal(4))
        self.close(found["mu"] ** 2, Decimal("2.25") + inner**2, "1e-30")
        for claim, event in (
            (asked, {**joint, "removed": None}),
            (asked, {**joint, "removed": 22}),  # learning saw 23 that are gone
            (
                {"notion": verify.PRIVACY, "delta": delta, "adjacency": "replace"},
                {**joint, "removed": 22},
            ),
            (asked, {**joint, "given": {**GIVEN, "mu": "1"}}),
            (asked, {**joint, "given": {**GIVEN, "delta": "1"}}),
            (asked, {**joint, "given": {**GIVEN, "delta": "1e-5"}}),
            (asked, {**joint, "given": {**GIVEN, "group": 0}}),
            ({"notion": verify.RENYI, "order": Decimal(4)}, {**joint, "given": GIVEN}),
            (
                {
                    "notion": verify.DELETION,
                    "order": Decimal(4),
                    "adjacency": "remove",
                    "requests": {"p-adaptive": 9},
                },
                joint,
            ),
        ):
            with self.assertRaises(verify.Broken):
                self.bound(event, **claim)
