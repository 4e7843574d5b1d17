# long because each rule is broken here beside the certificates it breaks
"""Tests of the independent verifier: `python3 -m unittest discover -s docs`."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import math
import re
import tempfile
import unittest
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import verify

VECTORS = Path(__file__).parent.parent / "vectors" / "accounting.json"
SEED = bytes(range(32))


def clamp(seed: bytes) -> tuple[int, bytes]:
    """Secret scalar and nonce prefix of a seed."""
    digest = hashlib.sha512(seed).digest()
    scalar = int.from_bytes(digest[:32], "little")
    return scalar & ~7 & (2**254 - 1) | 2**254, digest[32:]


def encode(point: verify.Point) -> bytes:
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def sign(seed: bytes, message: bytes) -> tuple[bytes, bytes]:
    """Public key and signature: for tests only, it leaks the key through its timing."""
    scalar, prefix = clamp(seed)
    key = encode(verify.times(scalar, verify.BASE))
    nonce = int.from_bytes(hashlib.sha512(prefix + message).digest(), "little") % verify.ORDER
    commitment = encode(verify.times(nonce, verify.BASE))
    k = int.from_bytes(hashlib.sha512(commitment + key + message).digest(), "little")
    s = (nonce + k * scalar) % verify.ORDER
    return key, commitment + s.to_bytes(32, "little")


def seal(document: dict[str, Any]) -> dict[str, Any]:
    """Hash and sign a document in place."""
    document["chain"].pop("hash", None)
    document["chain"]["hash"] = verify.document_hash(document)
    key, value = sign(SEED, b"efface ledger entry 0\n" + document["chain"]["hash"].encode())
    document["signature"] = {
        "key_id": hashlib.sha256(key).hexdigest()[:16],
        "public_key": key.hex(),
        "value": value.hex(),
    }
    return document


SETTING: dict[str, Any] = {
    "parameters": 785,
    "normalizer": {"kind": "fixed", "n": 12000, "capacity": 15000},
    "lipschitz": "1.4142135623730951",
    "smoothness": "0.625",
    "strong_convexity": "0.001",
    "group": 20,
}
SOLVED = {
    "kind": "output-noise",
    "setting": SETTING,
    "procedure": "solve",
    "distance": "0.0015",
    "noise": "0.01",
    "grid": "7.275957614183426e-12",
    "state": "perfect",
    "joint_releases": 1,
    "releases": 4,
    "records": None,
}
SOLVED_OPENLY = {**SOLVED, "records": 11980}  # where the row count is public
DESCENDED = {
    "kind": "noisy-gd",
    "setting": {**SETTING, "strong_convexity": "0.05"},
    "step": "2.5",
    "noise": "0.03125",
    "grid": "2.9103830456733704e-11",
    "rounding": "1e-13",
    "phases": [
        {"steps": 300, "releases": 1, "only_then": 15000, "only_now": 15000, "records": None},
        {"steps": 30, "releases": 2, "only_then": 15000, "only_now": 15000, "records": None},
        {"steps": 15, "releases": 1, "only_then": 0, "only_now": 0, "records": None},
    ],
    "longest": 300,
    "learning": 300,
    "releases": 4,
}
DESCENDED_OPENLY = {
    **DESCENDED,
    "phases": [
        {"steps": 300, "releases": 1, "only_then": 23, "only_now": 2, "records": None},
        {"steps": 30, "releases": 2, "only_then": 5, "only_now": 1, "records": 12000},
        {"steps": 15, "releases": 1, "only_then": 0, "only_now": 0, "records": None},
    ],
}
AVERAGED: dict[str, Any] = {
    "kind": "distributed-descent",
    "setting": {**SETTING, "normalizer": {"kind": "mean", "minimum": 6000}},
    "sample": 12000,
    "parts": 110,
    "copies": 2,
    "distance": "0.0001",
    "iterations": 3,
    "noise": "0.01",
    "grid": "7.275957614183426e-12",
    "state": "secret",
    "joint_releases": 9,
    "releases": 4,
    "records": 11980,
}
DELTA = "0.00001"
QUESTIONS: list[dict[str, Any]] = [
    {"notion": verify.RETRAINING, "delta": DELTA},
    {"notion": verify.RENYI, "order": "8"},
    {"notion": verify.DELETION, "order": "8", "requests": "non-adaptive"},
    {"notion": verify.DELETION, "order": "8", "requests": {"p-adaptive": 3}},
    {"notion": verify.PRIVACY, "delta": DELTA},
]


AVERAGES: list[dict[str, Any]] = [
    {"notion": verify.RETRAINING, "delta": DELTA},
    {"notion": verify.RENYI, "order": "8"},
    {"notion": verify.RETRAINING, "delta": DELTA, "accountant": "descent"},
]


def rounded_up(value: Decimal, digits: int) -> str:
    """As certificates show numbers to people."""
    if value == 0:
        return "0"
    step = Decimal(1).scaleb(value.adjusted() - digits + 1)
    return str(float((value / step).to_integral_value("ROUND_CEILING") * step))


def claim_for(event: dict[str, Any], question: dict[str, Any]) -> dict[str, Any]:
    """A claim as an honest engine would state it."""
    form = {"requests": "any", "order": None, "delta": None, "adjacency": None, **question}
    form.setdefault("accountant", "gdp")
    asked = {name: form[name] for name in ("notion", "requests", "adjacency", "accountant")}
    for name in ("order", "delta"):
        asked[name] = None if form[name] is None else verify.number(form[name])
    found = verify.supported(verify.fit(event, "event", "event"), asked)
    claim = {**form, **found}
    asked["requests"] = found["requests"]
    for name in ("mu", "epsilon", "advantage"):
        claim[name] = repr(float(found[name] * (1 + Decimal("2e-9"))))
    parsed = {**claim, **asked, **{n: verify.number(claim[n]) for n in ("epsilon", "advantage")}}
    text, _ = verify.sentence(parsed)
    chance = Decimal(100) * (50 + 50 * parsed["advantage"])
    delta = form["delta"] and rounded_up(Decimal(form["delta"]), 4)
    shown = [rounded_up(parsed["epsilon"], 4), delta or form["order"]]
    shown.append(f"{min(chance.to_integral_value('ROUND_CEILING') / 100, Decimal(100)):.2f}")
    for number in shown:
        text = text.replace("#", number, 1)
    return {**claim, "words": text}


def certificate(event: dict[str, Any], adjacency: str) -> dict[str, Any]:
    """A signed certificate with every claim the event supports."""
    setting, touched = event["setting"], "1" if "phases" in event else "20"
    questions = [
        {**question, "adjacency": adjacency}
        if question["notion"] in (verify.DELETION, verify.PRIVACY)
        else question
        for question in (AVERAGES if event["kind"] == "distributed-descent" else QUESTIONS)
    ]
    constants = {
        "parameters": setting["parameters"],
        "lipschitz": setting["lipschitz"],
        "smoothness": setting["smoothness"],
        "lambda": setting["strong_convexity"],
        "max-group": setting["group"],
        "delta": DELTA,
        **{k: v for k, v in setting["normalizer"].items() if k != "kind"},
    }
    if event["kind"] != "noisy-gd":
        own = ("sample", "parts", "copies", "iterations")
        constants |= {name: event[name] for name in own if name in event}
        constants |= {"distance": event["distance"], "noise": event["noise"]}
        constants["releases"] = event["joint_releases"]
    else:
        constants |= {"eta": event["step"], "step-noise": event["noise"]}
        constants["steps"] = event["learning"]
        constants["removal-steps"] = event["phases"][-1]["steps"]
    return seal(
        {
            "schema": verify.SCHEMA,
            "id": "v/4",
            "vault": "v",
            "issued_at": "2026-01-02T03:04:05Z",
            "not_for_release": False,
            "request": {
                "id": "r1",
                "kind": "delete",
                "records": "not stated" if adjacency == "remove" else touched,
                "subject": None,
                "received_at": "2026-01-02T03:04:05Z",
            },
            "model": {"digest_before": "00", "digest_after": "11", "version": 4},
            "claims": [claim_for(event, question) for question in questions],
            "event": copy.deepcopy(event),
            "constants": [
                {"name": name, "value": str(value), "origin": "user"}
                for name, value in constants.items()
            ],
            "assumptions": [
                {"name": name, "value": "b", "evidence": "declared"}
                for name in ("rows", "randomness", "row-count", "group")
            ],
            "noise": {"sampler": "exact-grid", "generator": "chacha20", "grid": event["grid"]},
            "scope": {"covers": [], "does_not_cover": [*verify.LIMITS, "é\u2028"]},
            "annex": "22",
            "chain": {"index": 4, "previous": "33" * 32},
        }
    )


KEY = sign(SEED, b"")[0]


def exact(base: dict[str, Any]) -> dict[str, Any]:
    """A certificate of a model without noise, from one with."""
    document = copy.deepcopy(base)
    event = {
        "kind": "exact-removal",
        "setting": {**document["event"]["setting"], "lipschitz": "inf"},
        "row_bound": "2",
        "row_grid": "4.76837158203125e-7",  # 2^-21
        "target_bound": "1",
        "target_grid": "2.384185791015625e-7",  # 2^-22
        "releases": document["event"]["releases"],
    }
    claim = {
        **document["claims"][0],
        "notion": verify.EXACT,
        "epsilon": "0",
        "delta": None,
        "mu": None,
        "group": "any",
        "reference": verify.ANEW,
        "requests": "any",
        "releases": 1,
        "accountant": "exact",
        "theorem": verify.THEOREMS["exact-removal"],
        "advantage": "0",
    }
    claim["words"] = verify.sentence(claim)[0]
    constants = [c for c in document["constants"] if c["name"] != "lipschitz"]
    added = {"lipschitz": "inf"}
    for name in ("row_bound", "row_grid", "target_bound", "target_grid"):
        added[name.replace("_", "-")] = event[name]
    constants += [{"name": n, "value": v, "origin": "default"} for n, v in added.items()]
    assumptions = [a for a in document["assumptions"] if a["name"] != "randomness"]
    scope = {"covers": [], "does_not_cover": [*verify.LIMITS, *verify.UNHIDDEN]}
    return seal(
        {
            **document,
            "event": event,
            "claims": [claim],
            "constants": constants,
            "assumptions": assumptions,
            "noise": {"sampler": "none", "generator": "none", "grid": None},
            "scope": scope,
        }
    )


def put(change: dict[str, Any], *path: str | int) -> Callable[[dict[str, Any]], None]:
    """A change of some fields of the object at that path of a document."""

    def apply(document: dict[str, Any]) -> None:
        part: Any = document
        for name in path:
            part = part[name]
        part.update(change)

    return apply


def judge(document: dict[str, Any], key: bytes | None = KEY) -> dict[str, str]:
    """Standing of each check."""
    verdict = verify.verify(json.dumps(document).encode(), key)
    return {name: standing for standing, name, _ in verdict}


class Ed25519(unittest.TestCase):
    # Key, message and signature of tests 1 to 3 of RFC 8032, section 7.1.
    CASES = (
        (
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
            "",
            (
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bac"
                "c61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
            ),
        ),
        (
            "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
            "72",
            (
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e"
                "458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
            ),
        ),
        (
            "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
            "af82",
            (
                "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290"
                "ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
            ),
        ),
    )

    def test_the_vectors_of_the_rfc_hold_and_one_flipped_bit_breaks_them(self) -> None:
        for key_hex, message_hex, signature_hex in self.CASES:
            key, message = bytes.fromhex(key_hex), bytes.fromhex(message_hex)
            signature = bytes.fromhex(signature_hex)
            self.assertTrue(verify.ed25519_holds(key, message, signature))
            self.assertFalse(verify.ed25519_holds(key, message + b"x", signature))
            for position in (0, 31, 32, 63):
                flipped = bytearray(signature)
                flipped[position] ^= 1
                self.assertFalse(verify.ed25519_holds(key, message, bytes(flipped)))

    def test_the_test_signer_makes_the_signature_of_the_rfc(self) -> None:
        seed = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
        key, signature = sign(seed, b"")
        self.assertEqual((key.hex(), signature.hex()), (self.CASES[0][0], self.CASES[0][2]))

    def test_malleable_and_small_order_signatures_are_refused(self) -> None:
        key, signature = sign(SEED, b"m")
        s = int.from_bytes(signature[32:], "little") + verify.ORDER
        self.assertFalse(verify.ed25519_holds(key, b"m", signature[:32] + s.to_bytes(32, "little")))
        identity = encode(verify.IDENTITY)
        self.assertFalse(verify.ed25519_holds(identity, b"m", identity + bytes(32)))
        self.assertFalse(verify.ed25519_holds(key, b"m", signature[:-1]))
        self.assertFalse(verify.ed25519_holds(b"\xff" * 32, b"m", signature))


class Accounting(unittest.TestCase):
    def cases(self, kind: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
        found = json.loads(VECTORS.read_text(encoding="utf-8"))["cases"]
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


HEALTHY = {  # what every accountant of noisy gradient descent takes
    **DESCENDED_OPENLY,
    "step": "1.25",
    "radius": "0.0625",
    "replaced": [25, 4],
    "phases": [
        {"steps": 300, "releases": 1, "only_then": 23, "only_now": 2, "records": 12002},
        {"steps": 30, "releases": 1, "only_then": 4, "only_now": 1, "records": 12000},
        {"steps": 15, "releases": 1, "only_then": 0, "only_now": 0, "records": 11998},
    ],
    "releases": 3,
}
GIVEN = {"what": "start", "epsilon": "0.25", "delta": "1e-8", "mu": None, "group": 10}


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
        wide = self.bound({**HEALTHY, "radius": "1e6"}, notion=verify.RETRAINING, delta=delta)
        self.assertEqual(free["mu"], wide["mu"])
        small = {**HEALTHY, "radius": "1e-4"}
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


class Certificates(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.solved = certificate(SOLVED, "remove")
        cls.descended = certificate(DESCENDED, "remove")
        cls.solved_openly = certificate(SOLVED_OPENLY, "replace")
        cls.descended_openly = certificate(DESCENDED_OPENLY, "replace")
        cls.averaged = certificate(AVERAGED, "replace")
        cls.all = (cls.solved, cls.descended, cls.solved_openly, cls.descended_openly)

    solved: dict[str, Any]
    descended: dict[str, Any]
    solved_openly: dict[str, Any]
    descended_openly: dict[str, Any]
    averaged: dict[str, Any]
    all: tuple[dict[str, Any], ...]

    def test_honest_certificates_hold_and_need_a_key(self) -> None:
        for document in (*self.all, self.averaged):
            self.assertEqual(set(judge(document).values()), {"holds"}, judge(document))
            alone = judge(document, None)
            self.assertEqual(alone.pop("signature"), "undecided")
            self.assertEqual(set(alone.values()), {"holds"})
            self.assertEqual(judge(document, bytes(32))["signature"], "fails")

    def test_a_changed_body_breaks_the_hash_and_a_changed_hash_the_signature(self) -> None:
        document = copy.deepcopy(self.solved)
        document["request"]["records"] = "at most 2"
        self.assertEqual(judge(document)["hash"], "fails")
        document["chain"]["hash"] = verify.document_hash(document)
        self.assertEqual(judge(document)["hash"], "holds")
        self.assertEqual(judge(document)["signature"], "fails")

    def fails(
        self, base: dict[str, Any], check: str, change: Callable[[dict[str, Any]], Any]
    ) -> None:
        """A dishonest signer changes one thing: that check, and no check of the seal, fails."""
        document = copy.deepcopy(base)
        change(document)
        verdict = judge(seal(document))
        failing = [name for name, standing in verdict.items() if standing != "holds"]
        self.assertTrue(any(name.startswith(check) for name in failing), (check, verdict))
        self.assertEqual(verdict["hash"], "holds")
        self.assertEqual(verdict["signature"], "holds")

    def breaks(
        self, base: dict[str, Any], checks: set[str], *changes: Callable[[dict[str, Any]], Any]
    ) -> None:
        """A dishonest signer makes some changes: exactly those checks fail.

        A notion stands for all claims of it.
        """
        document = copy.deepcopy(base)
        for change in changes:
            change(document)
        failing = [name for name, standing in judge(seal(document)).items() if standing != "holds"]
        names = {name.rpartition(": ")[2] for name in failing}
        self.assertEqual(names, checks, failing)
        claims = [n for n, c in enumerate(document["claims"], 1) if c["notion"] in checks]
        self.assertEqual(
            [n for n in failing if ": " in n], [self.name(document, n) for n in claims]
        )

    def reasons(self, base: dict[str, Any], change: Callable[[dict[str, Any]], Any]) -> set[str]:
        """Why a change makes checks fail."""
        document = copy.deepcopy(base)
        change(document)
        verdict = verify.verify(json.dumps(seal(document)).encode(), KEY)
        return {reason for standing, _, reason in verdict if standing == "fails"}

    @staticmethod
    def name(document: dict[str, Any], number: int) -> str:
        return f"claim {number}: {document['claims'][number - 1]['notion']}"

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

    def test_noise_constants_and_scope(self) -> None:
        test, seeded = put({"not_for_release": True}), {"generator": "chacha20-user-seed"}
        self.breaks(self.solved, {"release", "noise"}, test)
        self.breaks(self.solved, {"release"}, test, put(seeded, "noise"))
        for change in (
            {"sampler": "continuous-float64"},
            {"grid": "1e-12"},
            {"generator": "xorshift"},
            seeded,
        ):
            self.breaks(self.solved, {"noise"}, put(change, "noise"))
        self.fails(self.solved, "constants", lambda d: d["constants"].pop(0))
        self.fails(self.solved, "constants", lambda d: d["constants"].append(d["constants"][0]))
        self.fails(self.solved, "constants", put({"value": "1.4"}, "constants", 1))
        for limit in range(len(verify.LIMITS)):
            drop = partial(lambda at, d: d["scope"]["does_not_cover"].pop(at), limit)
            self.breaks(self.solved, {"scope"}, drop)
        for more in ("every copy", verify.COVERS[2]):  # the latter is for secret state
            self.breaks(self.solved, {"scope"}, put({"covers": [more]}, "scope"))
        self.breaks(self.solved, set(), put({"covers": [*verify.COVERS[:2]]}, "scope"))
        self.breaks(self.solved, {"claims"}, lambda d: d["claims"].clear())

    def test_where_the_row_count_is_private_nothing_stated_follows_from_it(self) -> None:
        private = {verify.DELETION, verify.PRIVACY}
        data, stated = put({"origin": "data"}, "constants", 0), put({"records": "20"}, "request")
        for base in (self.solved, self.descended):
            for change in (data, stated):
                self.breaks(base, private, change)
            for text in ("at most 20", "", "+20", "20 ", "1" * 17):
                unclear = put({"records": text}, "request")
                self.breaks(base, {*private, "consistency"}, unclear)
        for base in (self.solved_openly, self.descended_openly):
            for change in (data, put({"records": "not stated"}, "request")):
                self.breaks(base, set(), change)
        self.breaks(self.solved_openly, set(), put({"records": "9999"}, "request"))
        self.breaks(self.solved, private, put({"records": 11980}, "event"))
        for phase in (0, 2):
            records = put({"records": 12000}, "event", "phases", phase)
            self.breaks(self.descended, private, records)
        for count in ({"only_then": 14999}, {"only_now": 14999}, {"only_then": 1, "only_now": 1}):
            self.breaks(self.descended, private, put(count, "event", "phases", 1))
        mean = put({"normalizer": {"kind": "mean", "minimum": 12000}}, "event", "setting")
        self.assertIn("the row count is public under `mean`", self.reasons(self.descended, mean))

    def test_steps_that_follow_the_request_tell_its_size(self) -> None:
        changes: list[Callable[[dict[str, Any]], Any]] = [
            put({"value": "14"}, "constants", -1),
            put({"value": "few"}, "constants", -1),
            lambda d: d["constants"].pop(),
            lambda d: d["constants"].append(d["constants"][-1]),
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
            for kind in ("add", "refresh"):
                self.breaks(base, {verify.DELETION}, put({"kind": kind}, "request"))

    def test_every_release_before_this_one_may_have_been_seen(self) -> None:
        for base in self.all:
            self.assertEqual(base["event"]["releases"], 3 + 1)
            words = base["claims"][3]["words"].replace("saw 3 releases", "saw 2 releases")
            fewer = put({"requests": {"p-adaptive": 2}, "words": words}, "claims", 3)
            reason = "`p-adaptive` is below the number of releases before this one"
            self.assertEqual(self.reasons(base, fewer), {reason})

    def test_every_constant_a_claim_rests_on_is_listed_once(self) -> None:
        at = next(n for n, c in enumerate(self.solved["constants"]) if c["name"] == "delta")
        changes: list[Callable[[dict[str, Any]], Any]] = [
            lambda d: d["constants"].pop(at),
            lambda d: d["constants"].append(d["constants"][at]),
            put({"value": "0.00002"}, "constants", at),
            put({"value": "small"}, "constants", at),
        ]
        for change in changes:
            self.breaks(self.solved, {verify.RETRAINING, verify.PRIVACY}, change)

    def test_assumptions_are_stated(self) -> None:
        def without(name: str) -> Callable[[dict[str, Any]], None]:
            def apply(document: dict[str, Any]) -> None:
                stated = document["assumptions"]
                document["assumptions"] = [a for a in stated if a["name"] != name]

            return apply

        def claims(*notions: str) -> Callable[[dict[str, Any]], None]:
            def apply(document: dict[str, Any]) -> None:
                kept = [c for c in document["claims"] if c["notion"] in notions]
                document["claims"] = kept

            return apply

        for base in self.all:
            for name in ("rows", "randomness", "group"):
                self.breaks(base, {"assumptions"}, without(name))
        count, retraining = without("row-count"), claims(verify.RETRAINING, verify.RENYI)
        self.breaks(self.solved_openly, {"assumptions"}, count)
        self.breaks(self.solved, set(), count)
        self.breaks(self.solved, set(), retraining, count, without("group"))
        for name in ("n", "capacity", "delta"):
            at = next(i for i, c in enumerate(self.solved["constants"]) if c["name"] == name)
            data = put({"origin": "data"}, "constants", at)
            self.breaks(self.solved, {"assumptions"}, retraining, data, count)
            self.breaks(self.solved, set(), retraining, data)
        for name in ("classes", "schema"):
            value = {"name": name, "value": "no,yes", "origin": "data"}
            taken = partial(lambda value, d: d["constants"].append(value), value)
            self.breaks(self.solved_openly, {"assumptions"}, taken)
            said = {"name": name, "value": "read off the data", "evidence": "assumed"}
            say = partial(lambda said, d: d["assumptions"].append(said), said)
            self.breaks(self.solved_openly, set(), taken, say)

    def test_version_releases_and_place_agree(self) -> None:
        for version in (3, 5):
            self.breaks(self.solved, {"consistency"}, put({"version": version}, "model"))
        kept = [c for c in self.solved["claims"] if c["notion"] != verify.DELETION]
        first = {
            "chain": put({"index": 0, "previous": "0" * 64}, "chain"),
            "kind": put({"kind": "train"}, "request"),
            "model": put({"digest_before": None}, "model"),
        }
        self.breaks(self.solved, set(), put({"claims": kept}), *first.values())
        for name in first:  # all of them, or none
            others = [change for other, change in first.items() if other != name]
            self.breaks(self.solved, {"consistency"}, put({"claims": kept}), first[name])
            self.breaks(self.solved, {"consistency"}, put({"claims": kept}), *others)
        for chain in ({"index": 0}, {"previous": "0" * 64}):
            self.breaks(self.solved, {"consistency"}, put(chain, "chain"))

    def test_the_event_shows_what_the_request_did(self) -> None:
        base = self.descended_openly  # before the request, 5 records more and 1 less
        for kind, most in (("delete", 5), ("add", 1), ("update", 1)):
            only: set[str] = {verify.DELETION} if kind == "add" else set()
            for records, broken in ((most, only), (most + 1, {*only, "consistency"})):
                asked = put({"kind": kind, "records": str(records)}, "request")
                self.breaks(base, broken, asked)
        same = put({"only_then": 0, "only_now": 0}, "event", "phases", 1)
        for kind in ("delete", "add", "update"):
            for text in ("1", "not stated"):
                asked = put({"kind": kind, "records": text}, "request")
                hidden = copy.deepcopy(base)
                same(hidden)
                self.fails(hidden, "consistency", asked)
        alone = put({"phases": base["event"]["phases"][-1:]}, "event")
        self.fails(base, "consistency", alone)
        few = put({"replaced": [30, 0]}, "event")
        self.fails(base, "consistency", few)
        self.fails(base, "consistency", put({"replaced": []}, "event"))

    def test_sizes_under_mean_add_up(self) -> None:
        event: dict[str, Any] = copy.deepcopy(HEALTHY)
        event["setting"]["normalizer"] = {"kind": "mean", "minimum": 6000}
        then = [11998 + 23 - 2, 11998 + 4 - 1, 11998]
        for phase, records in zip(event["phases"], then, strict=True):
            phase["records"] = records
        verify.check_sizes(event)
        for index in (0, 1):
            event["phases"][index]["records"] += 1
            with self.assertRaises(verify.Broken):
                verify.check_sizes(event)
            event["phases"][index]["releases"] = 2  # merged: bounds need not add up
            verify.check_sizes(event)

    def test_choices_are_not_from_the_data(self) -> None:
        at = {c["name"]: n for n, c in enumerate(self.solved_openly["constants"])}
        for name in ("lambda", "max-group"):
            origin = put({"origin": "data"}, "constants", at[name])
            self.breaks(self.solved_openly, {"assumptions"}, origin)
        for name in (*verify.CHOICES, "given-mu", "given-group"):
            if name in at:
                continue
            value = {"name": name, "value": "1", "origin": "data"}
            said = {"name": "start", "value": "public", "evidence": "declared"}

            def state(document: dict[str, Any], value: Any = value, said: Any = said) -> None:
                document["constants"].append(value)
                document["assumptions"].append(said)

            self.breaks(self.solved_openly, {"assumptions"}, state)
        chosen = {"event": {**DescentToDelete.LINEAR, "variant": "weak"}}
        self.assertTrue(verify.follows_size(chosen, "lambda"))
        chosen["event"]["variant"] = "secret"
        self.assertFalse(verify.follows_size(chosen, "lambda"))

    def test_a_start_is_vouched_for(self) -> None:
        start = {"name": "start", "value": "ab", "origin": "user"}
        said = {"name": "start", "value": "public", "evidence": "declared"}
        listed = partial(lambda value, d: d["constants"].append(value), start)
        vouched = partial(lambda value, d: d["assumptions"].append(value), said)
        self.breaks(self.descended, {"assumptions"}, listed)
        self.breaks(self.descended, set(), listed, vouched)
        for what, standing in (("start", "given"), ("extractor", "start")):
            document = copy.deepcopy(self.descended_openly)
            inner, given = document["event"], {**GIVEN, "what": what}
            document["event"] = {"kind": "composed", "given": given, "removed": 30, "inner": inner}
            listed(document)
            parsed = verify.fit(document, "certificate", "certificate")
            if standing == "start":
                parsed["assumptions"].append({"name": "given"})
            with self.assertRaisesRegex(verify.Broken, f"`{standing}`"):
                verify.check_assumptions(parsed)

    def test_deleted_records_add_up(self) -> None:
        for removed, fits in ((20, True), (19, False)):
            document = copy.deepcopy(self.solved_openly)
            inner = document["event"]
            document["event"] = {
                "kind": "composed",
                "given": GIVEN,
                "removed": removed,
                "inner": inner,
            }
            parsed = verify.fit(document, "certificate", "certificate")
            if fits:
                verify.check_consistency(parsed)
                continue
            with self.assertRaises(verify.Broken):
                verify.check_consistency(parsed)

    def test_numbers_that_formulas_cannot_hold_are_refused(self) -> None:
        for name in ("step", "noise", "radius"):
            for value in ("1e-101", "1e101"):
                self.fails(self.descended, "claim 1", put({name: value}, "event"))
        for name in ("distance", "noise"):
            self.fails(self.solved, "claim 1", put({name: "1e-101"}, "event"))
        for name in ("lipschitz", "smoothness", "strong_convexity"):
            self.fails(self.solved, "claim 1", put({name: "1e-101"}, "event", "setting"))

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
        reasons = {name: (standing, reason) for standing, name, reason in verdict}
        expected = ("holds", "epsilon is infinite: nothing is promised")
        self.assertEqual(reasons[self.name(document, 1)], expected)

    def test_an_unknown_or_malformed_certificate_is_not_judged(self) -> None:
        text = json.dumps(self.solved)
        malformed = [
            text[:-1],
            "[]",
            "",
            "[" * 100_000,
            text.replace('"version": 4', '"version": 4.0'),
            text.replace('"version": 4', '"version": 1e2'),
            text.replace('"version": 4', '"version": NaN'),
            text.replace('"version": 4', '"version": -0'),
            text.replace('"version": 4', '"version": true'),
            text.replace('"version": 4', '"version": 9007199254740993'),
            text.replace('"version": 4', '"version": 4, "version": 4'),
            text.replace('"version": 4', '"version": 4, "extra": 4'),
            text.replace('"version": 4', '"vision": 4'),
            text.replace('"v/4"', '"\\ud800"'),
            text.replace('"kind": "output-noise"', '"kind": "quantum-noise"'),
            text.replace('"kind": "output-noise"', '"kind": ["output-noise"]'),
            text.replace('"kind": "fixed"', '"kind": "loose"'),
            text.replace('"procedure": "solve"', '"procedure": "guess"'),
            text.replace(verify.SCHEMA, "efface.certificate/99"),
            text.replace('"distance": "0.0015"', '"distance": "1_0"'),
            text.replace('"distance": "0.0015"', '"distance": "1e999"'),
            text.replace('"distance": "0.0015"', '"distance": "nan"'),
            text + " " * verify.MAX_BYTES,
        ]
        for bad in malformed:
            self.assertNotEqual(bad, text)
            verdict = verify.verify(bad.encode(), KEY)
            self.assertEqual([s for s, _, _ in verdict], ["undecided"], bad[:80])
        self.assertEqual(verify.verify(b"\xff", KEY)[0][0], "undecided")


class NotSound(unittest.TestCase):
    """Objective perturbation is recomputed and never believed."""

    def test_published_numbers_are_recomputed_and_rejected(self) -> None:
        event: dict[str, Any] = {
            "kind": "objective-perturbation",
            "setting": {
                "normalizer": {"kind": "fixed", "n": 100, "capacity": 125},
                "parameters": 10,
                "lipschitz": Decimal(1),
                "smoothness": Decimal("0.25"),
                "strong_convexity": Decimal("0.1"),
                "group": 1,
            },
            "noise": Decimal(8),
            "grid": Decimal("1e-9"),
            "residual": Decimal(1),
            "releases": 3,
        }
        delta = Decimal("1.9e-14")
        claim = {
            "accountant": "objective",
            "notion": verify.RETRAINING,
            "order": None,
            "adjacency": None,
            "delta": delta,
        }
        # Eight deviations: the delta that the theorem claims at epsilon 1 where the truth is 0.029.
        bound = verify.supported(event, claim)
        self.assertAlmostEqual(bound["epsilon"], Decimal(1), places=4)
        self.assertEqual(bound["state"], "secret")
        self.assertTrue(verify.UNSOUND[event["kind"]].startswith("NOT SOUND"))
        with self.assertRaises(verify.Broken):
            verify.supported({**event, "residual": Decimal(2)}, claim)
        with self.assertRaises(verify.Broken):
            verify.supported(event, {**claim, "accountant": "gdp"})


class DescentToDelete(unittest.TestCase):
    """Events of descent-to-delete: exact instances, printed formulas, contradictions."""

    # Slope 1 for every record, so that a step contracts by exactly 0.9.
    LINEAR: ClassVar[dict[str, Any]] = {
        "kind": "descent",
        "setting": {
            **SETTING,
            "parameters": 1,
            "normalizer": {"kind": "fixed", "n": 1000, "capacity": 1000},
            "lipschitz": "1",
            "smoothness": "0",
            "strong_convexity": "0.05",
            "group": 1,
        },
        "variant": "secret",
        "xi": None,
        "tail": None,
        "iterations": 7,
        "step": "2",
        "diameter": "40",
        "noise": "0.001",
        "grid": "1e-30",
        "rounding": "0",
        "phases": [{"steps": 900, "releases": 1, "only_then": 2, "only_now": 0, "records": None}],
        "updates": 0,
        "longest": 900,
        "joint_releases": 9,
        "releases": 1,
    }

    def event(self, requests: int = 0, **changes: Any) -> dict[str, Any]:
        event = {**copy.deepcopy(self.LINEAR), **changes}
        for k in range(requests):
            steps = (k + 1) ** 3 * 7 if event["variant"] == "weak" else 7
            event["phases"].append({**event["phases"][0], "steps": steps, "only_then": 1})
        event["phases"][-1]["only_then"] = 0
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
        perfect["phases"][0]["only_then"] = 1
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
        for wrong in ({"tail": delta * 2}, {"tail": None}):
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

    def test_a_private_row_count_is_refused(self) -> None:
        question = {"notion": verify.PRIVACY, "delta": DELTA, "adjacency": "remove"}
        with self.assertRaises(verify.Broken):
            claim_for({**self.LINEAR, "grid": "1e-20"}, question)


class CommandLine(unittest.TestCase):
    def run_main(self, *arguments: str) -> tuple[int, str]:
        output = io.StringIO()
        with redirect_stdout(output), redirect_stderr(output):
            status = verify.main(list(arguments))
        return status, output.getvalue()

    def test_exit_status_and_one_line_per_check(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            good, bad, key = (Path(folder, name) for name in ("good", "bad", "key"))
            document = certificate(SOLVED, "remove")
            good.write_text(json.dumps(document), encoding="utf-8")
            document["id"] = "v/\x1b[31m5"
            bad.write_text(json.dumps(document), encoding="utf-8")
            key.write_text(KEY.hex() + "\n", encoding="ascii")
            status, text = self.run_main(str(good), "--key", str(key))
            self.assertEqual((status, len(text.splitlines())), (0, 7 + len(document["claims"])))
            self.assertEqual(self.run_main(str(good), "--key", KEY.hex())[0], 0)
            self.assertEqual(self.run_main(str(good))[0], 2)
            self.assertEqual(self.run_main(str(good), str(bad), "--key", KEY.hex())[0], 1)
            self.assertEqual(self.run_main(str(good), f"{folder}/none", "--key", str(key))[0], 2)
            self.assertEqual(self.run_main(str(good), "--key", "zz")[0], 2)


class CanonicalForm(unittest.TestCase):
    def test_keys_are_ordered_by_utf16_and_strings_escaped_as_in_rfc_8785(self) -> None:
        value: dict[str, Any] = {
            "\u20ac": 1,
            "\r": None,
            "\ufb33": True,
            "\U0001f600": '\x0f\n"\\/\u2028',
            "1": [],
        }
        expected = (
            '{"\\r":null,"1":[],"\u20ac":1,"\U0001f600":"\\u000f\\n\\"\\\\/\u2028","\ufb33":true}'
        )
        self.assertEqual(verify.canonical(value).decode(), expected)


if __name__ == "__main__":
    unittest.main()
