"""Tests of claims: an event supports its numbers, its words and no more."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import efface_verify as verify
from sample_certificates import (
    AVERAGED,
    DELTA,
    GIVEN,
    KEY,
    SETTING,
    CertificateCase,
    exact,
    judge,
    put,
    seal,
)


class Claims(CertificateCase):
    def test_every_stated_number_is_recomputed(self) -> None:
        for base in (*self.all, self.averaged):
            for index, claim in enumerate(base["claims"]):
                for name in ("epsilon", "mu", "advantage"):
                    less = repr(float(claim[name]) * (1 - 1e-8))
                    self.fails(base, f"claim {index + 1}", put({name: less}, "claims", index))

    def test_a_weaker_event_supports_less(self) -> None:
        for name, value in (("distance", "0.0016"), ("releases", 5)):
            self.fails(self.solved, "claim", put({name: value}, "event"))
        for name, value in (("rounding", "1e-5"), ("step", "2.6")):
            self.fails(self.descended, "claim", put({name: value}, "event"))
        for phase in ({"only_then": 24}, {"only_now": 3}, {"steps": 301}, {"releases": 2}):
            self.fails(self.descended_openly, "claim", put(phase, "event", "phases", 0))

    def test_averages_of_parts_by_hand(self) -> None:
        event, setting = AVERAGED, SETTING
        spread = float(event["grid"]) * setting["parameters"] ** 0.5
        mu = 18**0.5 * (2e-4 + spread) / 0.01  # two copies, nine releases
        gdp, _, published = self.averaged["claims"]
        self.assertAlmostEqual(float(gdp["mu"]), mu, delta=1e-8 * mu)
        exact = mu * mu / 2 + mu * math.sqrt(2 * math.log(2 / 1e-5))
        self.assertAlmostEqual(float(published["epsilon"]), exact, delta=1e-8 * exact)
        self.assertGreater(float(published["epsilon"]), float(gdp["epsilon"]))

    def test_averages_that_no_run_can_have_are_refused(self) -> None:
        changes: list[dict[str, Any]] = [
            {"parts": 12001},
            {"parts": 0},
            {"copies": 0},
            {"copies": 3},
            {"joint_releases": 10},
            {"state": "perfect"},
            {"records": 5999},
            {"distance": "0.0002"},
            {"iterations": 0},
            {"iterations": None},
        ]
        for change in changes:
            claim = "claim 3" if change.get("iterations", 1) is None else "claim 1"
            self.fails(self.averaged, claim, put(change, "event"))
        fixed = {"kind": "fixed", "n": 12000, "capacity": 15000}
        self.fails(self.averaged, "claim 1", put({"normalizer": fixed}, "event", "setting"))
        for notion in (verify.DELETION, verify.PRIVACY):
            private = {"notion": notion, "adjacency": "replace"}
            self.fails(self.averaged, "claim 1", put(private, "claims", 0))
        embellished = {"requests": "any"}
        self.fails(self.averaged, "claim 1", put(embellished, "claims", 0))

    def test_events_that_no_run_can_have_are_refused(self) -> None:
        changes: list[dict[str, Any]] = [
            {"grid": "0.0001"},
            {"noise": "0"},
            {"joint_releases": 2},
            {"records": 15001},
            {"distance": "inf"},
            {"distance": "-1"},
            {"releases": 0},
        ]
        for change in changes:
            self.fails(self.solved, "claim 1", put(change, "event"))
        changes = [
            {"step": "3"},
            {"step": "0"},
            {"phases": []},
            {"learning": 301},
            {"learning": 0},
            {"longest": 299},
            {"releases": 3},
        ]
        for change in changes:
            self.fails(self.descended, "claim 1", put(change, "event"))
        last = {"only_then": 1}
        self.fails(self.descended, "claim 1", put(last, "event", "phases", 2))
        merged = {"steps": 601}  # two releases of at most 300 steps each
        self.fails(self.descended_openly, "claim 1", put(merged, "event", "phases", 1))

    def test_numbers_that_formulas_cannot_hold_are_refused(self) -> None:
        for name in ("step", "noise", "radius"):
            for value in ("1e-101", "1e101"):
                self.fails(self.descended, "claim 1", put({name: value}, "event"))
        for name in ("distance", "noise"):
            self.fails(self.solved, "claim 1", put({name: "1e-101"}, "event"))
        for name in ("lipschitz", "smoothness", "strong_convexity"):
            self.fails(self.solved, "claim 1", put({name: "1e-101"}, "event", "setting"))

    def test_fields_that_follow_from_the_event_cannot_be_embellished(self) -> None:
        for change in (
            {"group": "1000"},
            {"reference": "a world without data"},
            {"requests": "non-adaptive"},
            {"state": "secret"},
            {"releases": 2},
            {"theorem": "a better one"},
            {"accountant": "rdp"},
            {"normalizer": "mean"},
            {"adjacency": "remove"},
            {"order": "3"},
            {"delta": None},
            {"words": "all is well"},
        ):
            self.fails(self.solved, "claim 1", put(change, "claims", 0))
        asked = verify.RETRAINED["noisy-gd"]
        self.fails(self.descended, "claim 3", put({"reference": asked}, "claims", 2))
        words = self.solved["claims"][0]["words"]
        flattered = words.replace("% of the time", "0% of the time").replace("most ", "most 0.")
        self.fails(self.solved, "claim 1", put({"words": flattered}, "claims", 0))

    def test_exact_removal(self) -> None:
        base = exact(self.solved)
        self.assertEqual(set(judge(base).values()), {"holds"}, judge(base))
        self.breaks(base, set(), put({"covers": [verify.COVERS[3]]}, "scope"))
        self.breaks(self.solved, {"scope"}, put({"covers": [verify.COVERS[3]]}, "scope"))
        for change in (
            {"row_grid": "1.1920928955078125e-7"},  # 2^-23: rows of 23 bits
            {"row_grid": "3e-7"},
            {"row_grid": "0"},
            {"target_grid": "1.1920928955078125e-7"},
            {"row_bound": "2.1"},
            {"row_bound": "inf"},
            {"releases": 0},
        ):
            self.fails(base, "claim 1", put(change, "event"))
        for setting in ({"lipschitz": "0"}, {"strong_convexity": "0"}, {"parameters": 0}):
            self.fails(base, "claim 1", put(setting, "event", "setting"))
        crowd = {"kind": "fixed", "n": 12000, "capacity": 2**18 + 1}
        self.fails(base, "claim 1", put({"normalizer": crowd}, "event", "setting"))
        for change in (
            {"notion": verify.RETRAINING, "delta": DELTA},
            {"mu": "0"},
            {"delta": DELTA},
            {"group": "1"},
            {"releases": 2},
            {"accountant": "gdp"},
            {"requests": "non-adaptive"},
            {"words": base["claims"][0]["words"] + ", surely"},
        ):
            self.fails(base, "claim 1", put(change, "claims", 0))
        self.fails(self.solved, "claim 1", put({"notion": verify.EXACT}, "claims", 0))
        for pretended in ({"sampler": "exact-grid"}, {"generator": "chacha20"}, {"grid": "1e-9"}):
            self.breaks(base, {"noise"}, put(pretended, "noise"))
        for limit in verify.UNHIDDEN:
            forget = partial(lambda text, d: d["scope"]["does_not_cover"].remove(text), limit)
            self.breaks(base, {"scope"}, forget)

    def test_what_was_given_is_given_once(self) -> None:
        def wrap(document: dict[str, Any]) -> None:
            inner = document["event"]
            document["event"] = {"kind": "composed", "given": GIVEN, "removed": 9, "inner": inner}

        def twice(document: dict[str, Any]) -> None:
            wrap(document)
            wrap(document)

        for change in (wrap, twice):
            self.fails(self.solved, "claim 1", change)

    def test_where_the_row_count_is_private_nothing_stated_follows_from_it(self) -> None:
        private = {verify.DELETION, verify.PRIVACY}
        stated = put({"records": "20"}, "request")
        for base in (self.solved, self.descended):
            size = next(n for n, c in enumerate(base["constants"]) if c["name"] == "n")
            data = put({"origin": "data"}, "constants", size)
            for change in (data, stated):
                self.breaks(base, private, change)
        for base in (self.solved_openly, self.descended_openly):
            size = next(n for n, c in enumerate(base["constants"]) if c["name"] == "n")
            self.breaks(base, set(), put({"origin": "data"}, "constants", size))
            self.breaks(base, {"consistency"}, put({"records": "not stated"}, "request"))
        self.breaks(self.solved_openly, set(), put({"records": "9999"}, "request"))
        private.add("consistency")  # the request hides what the event tells
        self.breaks(self.solved, private, put({"records": 11980}, "event"))
        for phase in (0, 2):
            records = put({"records": 12000}, "event", "phases", phase)
            self.breaks(self.descended, private, records)
        for count in ({"only_then": 14999}, {"only_now": 14999}, {"only_then": 1, "only_now": 1}):
            self.breaks(self.descended, private, put(count, "event", "phases", 1))
        mean = put({"normalizer": {"kind": "mean", "minimum": 12000}}, "event", "setting")
        self.assertIn("the row count is public under `mean`", self.reasons(self.descended, mean))

    def test_steps_that_follow_the_request_tell_its_size(self) -> None:
        names = [constant["name"] for constant in self.descended["constants"]]
        at = names.index("removal-steps")
        changes: list[Callable[[dict[str, Any]], Any]] = [
            put({"value": "14"}, "constants", at),
            put({"value": "few"}, "constants", at),
            lambda d: d["constants"].pop(at),
            lambda d: d["constants"].append(d["constants"][at]),
        ]
        for change in changes:
            self.breaks(self.descended, {verify.DELETION, verify.PRIVACY}, change)
            self.breaks(self.descended_openly, {verify.DELETION}, change)
        for phase in (1, 2):
            shorter = put({"steps": 14}, "event", "phases", phase)
            reason = "the event has steps that are not the `removal-steps` listed, 15"
            for base in (self.descended, self.descended_openly):
                self.assertIn(reason, self.reasons(base, shorter))

    def test_deletion_privacy_is_of_a_deletion(self) -> None:
        for base in self.all:
            self.breaks(base, set(), put({"kind": "update"}, "request"))
            self.breaks(base, {verify.DELETION}, put({"kind": "add"}, "request"))
            refresh = put({"kind": "refresh"}, "request")  # of a state that keeps nothing
            self.breaks(base, {verify.DELETION, "consistency"}, refresh)

    def test_every_release_before_this_one_may_have_been_seen(self) -> None:
        for base in self.all:
            self.assertEqual(base["event"]["releases"], 3 + 1)
            words = base["claims"][3]["words"].replace("saw 3 releases", "saw 2 releases")
            fewer = put({"requests": {"p-adaptive": 2}, "words": words}, "claims", 3)
            reason = "`p-adaptive` is below the number of releases before this one"
            self.assertEqual(self.reasons(base, fewer), {reason})

    def test_the_sentence_says_which_requests_it_holds_for(self) -> None:
        for base, requests in ((self.solved, ""), (self.descended, "for requests chosen without")):
            for index in (0, 1):
                words = base["claims"][index]["words"]
                self.assertTrue(words.startswith(requests or "the published model is"), words)
                cut = words[words.index("the published model") :]
                other = "for requests chosen without looking at releases, " + cut
                said = put({"words": cut if requests else other}, "claims", index)
                self.breaks(base, {base["claims"][index]["notion"]}, said)

    def test_an_infinite_epsilon_promises_nothing(self) -> None:
        document = copy.deepcopy(self.solved)
        claim = document["claims"][0]
        words = re.sub(r"\(\S+, ", "(infinity, ", claim["words"])
        claim.update({"epsilon": "inf", "words": words})
        verdict = verify.verify(json.dumps(seal(document)).encode(), KEY)
        reasons = {name: (outcome, reason) for outcome, name, reason in verdict}
        expected = ("holds", "epsilon is infinite: no guarantee")
        self.assertEqual(reasons[self.name(document, 1)], expected)
