"""What the tests of the verifier share: honest certificates, and ways to break them."""

from __future__ import annotations

import copy
import hashlib
import json
import unittest
from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

import efface_verify as verify

SEED = bytes(range(32))
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
# Descent-to-delete with slope 1 for every record, so that a step contracts by exactly 0.9.
LINEAR: dict[str, Any] = {
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
GIVEN = {"what": "start", "epsilon": "0.25", "delta": "1e-8", "mu": None, "group": 10}
DELTA = "1e-5"
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


def clamp(seed: bytes) -> tuple[int, bytes]:
    """Secret scalar and nonce prefix of a seed."""
    digest = hashlib.sha512(seed).digest()
    scalar = int.from_bytes(digest[:32], "little")
    return scalar & ~7 & (2**254 - 1) | 2**254, digest[32:]


def encode(point: verify.Point) -> bytes:
    """A point as 32 bytes."""
    x, y = (part * pow(point[2], -1, verify.P) % verify.P for part in point[:2])
    return (y | (x & 1) << 255).to_bytes(32, "little")


def sign(seed: bytes, message: bytes) -> tuple[bytes, bytes]:
    """Public key and signature: for tests only, it leaks the key through its timing."""
    scalar, prefix = clamp(seed)
    key = encode(verify.times(scalar, verify.BASE))
    nonce = int.from_bytes(hashlib.sha512(prefix + message).digest(), "little") % verify.ORDER
    commitment = encode(verify.times(nonce, verify.BASE))
    k = int.from_bytes(hashlib.sha512(commitment + key + message).digest(), "little")
    s = (nonce + k * scalar) % verify.ORDER
    return key, commitment + s.to_bytes(32, "little")


KEY = sign(SEED, b"")[0]

# What declared preprocessing was declared as.
DECLARED_AS = {"classes": "no,yes", "schema": "44" * 32}


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


def rounded_up(value: Decimal, digits: int) -> str:
    """As certificates show numbers to people."""
    if value == 0:
        return "0"
    step = Decimal(1).scaleb(value.adjusted() - digits + 1)
    return verify.spelled(float((value / step).to_integral_value("ROUND_CEILING") * step))


def claim_for(event: dict[str, Any], question: dict[str, Any]) -> dict[str, Any]:
    """A claim as an honest engine would state it."""
    form = {"requests": "any", "order": None, "delta": None, "adjacency": None, **question}
    form.setdefault("accountant", "gdp")
    asked = {name: form[name] for name in ("notion", "requests", "adjacency", "accountant")}
    asked["epsilon"] = verify.INFINITY
    for name in ("order", "delta"):
        asked[name] = None if form[name] is None else verify.number(form[name])
    found = verify.supported(verify.fit(event, "event", "event"), asked)
    orders = found.pop("orders", None)
    claim = {**form, **found}
    if orders is not None:
        claim["rdp_epsilon"] = verify.spelled(float(orders[0] * (1 + Decimal("2e-9"))))
    asked["requests"] = found["requests"]
    for name in ("mu", "epsilon", "advantage"):
        if found[name] is not None:
            claim[name] = verify.spelled(float(found[name] * (1 + Decimal("2e-9"))))
    parsed = {**claim, **asked, **{n: verify.number(claim[n]) for n in ("epsilon", "advantage")}}
    text, _ = verify.sentence(parsed)
    chance = Decimal(100) * (50 + 50 * parsed["advantage"])
    delta = form["delta"] and rounded_up(Decimal(form["delta"]), 4)
    shown = [rounded_up(parsed["epsilon"], 4), delta or form["order"]]
    shown.append(f"{min(chance.to_integral_value('ROUND_CEILING') / 100, Decimal(100)):.2f}")
    for number in shown:
        text = text.replace("#", number, 1)
    return {**claim, "words": text}


def stated(*names: str) -> list[dict[str, str]]:
    """Assumptions, in the words that some must have."""
    words = {**verify.NETWORK, **verify.SHARDS, "randomness": verify.NOISE}
    if "shards" not in names:
        words |= verify.NETWORK
    return [
        {
            "name": name,
            "value": words.get(name, "b"),
            "evidence": "enforced" if name in words and name != "network" else "declared",
        }
        for name in names
    ]


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
        "loss": "logistic",
        "row-norm": "1",
        "intercept": "1",
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
    constants |= DECLARED_AS
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
                "subjects": None,
                "received_at": "2026-01-02T03:04:05Z",
            },
            "model": {"digest_before": "00" * 32, "digest_after": "11" * 32, "version": 4},
            "claims": [claim_for(event, question) for question in questions],
            "event": copy.deepcopy(event),
            "constants": [
                {"name": name, "value": str(value), "origin": "user"}
                for name, value in constants.items()
            ],
            "assumptions": stated("rows", "randomness", "row-count", "group"),
            "noise": {"sampler": "exact-grid", "generator": "chacha20", "grid": event["grid"]},
            "scope": {"covers": [], "does_not_cover": [*verify.LIMITS, "é\u2028"]},
            "chain": {"index": 4, "previous": "33" * 32},
        }
    )


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
    changed = ("lipschitz", "loss", "row-norm", "intercept", "classes")
    constants = [c for c in document["constants"] if c["name"] not in changed]
    added = {"lipschitz": "inf", "loss": "squared", "row-norm": "0.5", "intercept": "0.5"}
    added["target-range"] = "-1,1"
    for name in ("row_bound", "row_grid", "target_bound", "target_grid"):
        added[name.replace("_", "-")] = event[name]
    constants += [{"name": n, "value": v, "origin": "default"} for n, v in added.items()]
    assumptions = [a for a in document["assumptions"] if a["name"] != "randomness"]
    assumptions.append({"name": "stored-rows", "value": "b", "evidence": "assumed"})
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
    """Outcome of each check."""
    verdict = verify.verify(json.dumps(document).encode(), key)
    return {name: outcome for outcome, name, _ in verdict}


TRAINED: dict[str, Any] = {  # a network, and three of its subjects deleted since
    "kind": "dp-sgd",
    "parameters": 26010,
    "unit": "subject",
    "rows_per_unit": 20,
    "clip": "0.1",
    "noise": "26.74",
    "grid": "9.5367431640625e-7",
    "rate": "0.06826666666666667",
    "group": 2,
    "releases": 4,
    "segments": [{"steps": 175, "deleted": 3}],
    "earlier_steps": 0,
}


def network(adjacency: str = "replace") -> dict[str, Any]:
    """A signed certificate of a network, with every claim there is."""
    document = certificate(SOLVED, adjacency)
    event = copy.deepcopy(TRAINED)
    constants = {name: event[name] for name in ("parameters", "unit", "clip", "noise", "rate")}
    constants |= {"rows-per-unit": 20, "max-group": 2, "steps": 175, "delta": DELTA}
    constants |= {"gradient-grid": event["grid"], "loss": "softmax", **DECLARED_AS}
    notions = [{"notion": verify.RETRAINING}, {"notion": verify.PRIVACY, "adjacency": adjacency}]
    document["event"], document["noise"]["grid"] = event, event["grid"]
    document["claims"] = [
        claim_for(event, {"delta": DELTA, "accountant": "pld", **notion}) for notion in notions
    ]
    document["constants"] = [
        {"name": name, "value": str(value), "origin": "user"} for name, value in constants.items()
    ]
    others = ("rows", "randomness", "row-count", "group")
    document["assumptions"] = stated(*sorted(verify.NETWORK), *others)
    document["scope"]["does_not_cover"] += verify.NETWORK_LIMITS
    return seal(document)


SHARDED: dict[str, Any] = {  # networks of ten shards, one of which lost a record
    "kind": "shards",
    "parameters": 260100,
    "unit": "record",
    "shards": 10,
    "retrained": 1,
    "arithmetic": 1,
    "releases": 4,
}


def sharded(kind: str = "delete") -> dict[str, Any]:
    """A signed certificate of networks of shards."""
    document = certificate(SOLVED_OPENLY, "replace")
    event = copy.deepcopy(SHARDED)
    constants = {name: event[name] for name in ("parameters", "unit", "shards", "arithmetic")}
    constants |= {"max-group": 1, "epochs": 8, "eta": "0.05", "n": 1000}
    constants |= {"loss": "softmax", **DECLARED_AS}
    document["event"] = event
    document["noise"] = {"sampler": "none", "generator": "none", "grid": None}
    document["request"] |= {"kind": kind, "records": "3"}
    asked = dict.fromkeys(("delta", "order", "mu", "adjacency"))
    asked |= {"notion": verify.EXACT, "accountant": "exact", "requests": "any"}
    found = verify.supported(verify.fit(event, "event", "event"), asked)
    claim = {**asked, **found, "epsilon": "0", "advantage": "0"}
    document["claims"] = [{**claim, "words": verify.sentence(claim)[0]}]
    document["constants"] = [
        {"name": name, "value": str(value), "origin": "data" if name == "n" else "user"}
        for name, value in constants.items()
    ]
    document["assumptions"] = stated(*sorted(verify.SHARDS), "rows", "row-count")
    limits = (*verify.UNHIDDEN, *verify.SHARDS_LIMITS)
    document["scope"]["does_not_cover"] += limits
    return seal(document)


@cache
def samples() -> dict[str, dict[str, Any]]:
    """Honest certificates by name; whoever changes one copies it first."""
    return {
        "solved": certificate(SOLVED, "remove"),
        "descended": certificate(DESCENDED, "remove"),
        "solved_openly": certificate(SOLVED_OPENLY, "replace"),
        "descended_openly": certificate(DESCENDED_OPENLY, "replace"),
        "averaged": certificate(AVERAGED, "replace"),
    }


class CertificateCase(unittest.TestCase):
    """A test that breaks honest certificates one rule at a time."""

    solved: dict[str, Any]
    descended: dict[str, Any]
    solved_openly: dict[str, Any]
    descended_openly: dict[str, Any]
    averaged: dict[str, Any]
    all: tuple[dict[str, Any], ...]

    @classmethod
    def setUpClass(cls) -> None:
        """Take the certificates; `all` leaves out the averages of parts, which claim less."""
        for name, document in samples().items():
            setattr(cls, name, document)
        cls.all = (cls.solved, cls.descended, cls.solved_openly, cls.descended_openly)

    def fails(
        self, base: dict[str, Any], check: str, change: Callable[[dict[str, Any]], Any]
    ) -> None:
        """A dishonest signer changes one thing: that check, and no check of the seal, fails."""
        document = copy.deepcopy(base)
        change(document)
        verdict = judge(seal(document))
        failing = [name for name, outcome in verdict.items() if outcome != "holds"]
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
        failing = [name for name, outcome in judge(seal(document)).items() if outcome != "holds"]
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
        return {reason for outcome, _, reason in verdict if outcome == "fails"}

    @staticmethod
    def name(document: dict[str, Any], number: int) -> str:
        """The check of a claim, counted from 1."""
        return f"claim {number}: {document['claims'][number - 1]['notion']}"
