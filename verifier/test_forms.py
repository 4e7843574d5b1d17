"""Tests of exact forms: one spelling for each certificate, and never a traceback."""

from __future__ import annotations

import copy
import json
import os
import random
import struct
from decimal import Decimal
from typing import Any

import efface_verify as verify
from sample_certificates import (
    DESCENDED,
    GIVEN,
    KEY,
    LINEAR,
    CertificateCase,
    judge,
    put,
    samples,
    seal,
)

Path = tuple[Any, ...]
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**53, 2**53 + 1, "", "0", "-0", "00.5", "inf", "-1", "1e-300"),
    *(
        "1e308",
        "5e-324",
        "nan",
        "not stated",
        "any",
        "mean",
        "fixed",
        "remove",
        "data",
        "é",
        "\x00",
    ),
    *([], {}, [[]], [{}], {"kind": "composed"}, {"p-adaptive": 2**53}, {"kind": "mean"}),
    {"kind": "composed", "given": GIVEN, "removed": None, "inner": DESCENDED},
    LINEAR,
)


def parts(value: Any, at: Path = ()) -> list[Path]:
    """Paths of all parts, leaves included."""
    if isinstance(value, dict | list):
        keys: Any = value if isinstance(value, dict) else range(len(value))
        return [at, *(path for key in keys for path in parts(value[key], (*at, key)))]
    return [at]


class Forms(CertificateCase):
    def test_numbers_have_the_spelling_that_reads_back(self) -> None:
        dice = random.Random(5)  # noqa: S311
        bits = [dice.getrandbits(63) for _ in range(2000)]
        drawn = [struct.unpack("<d", struct.pack("<Q", b))[0] for b in bits]
        values = [x for x in drawn if x == x and abs(x) != float("inf")]
        values += [0.0, 1.0, 1e-4, 0.00009999, 1e15, 999999999999999.9, 5e-324, 0.1, 1e22, 123.0]
        values += [2.0**power for power in range(-60, 61)]
        for value in values:
            text = verify.spelled(value)
            self.assertEqual(float(text), value)
            self.assertEqual(verify.number(text), Decimal(value))
        plain = ("0", "0.5", "3", "0.0001", "0.1", "123.25", "100000000000000")
        far = ("1e15", "1e-5", "2.5e-7", "2.9802322387695313e-8", "1.5e300", "5e-324")
        for value, text in ((float(text), text) for text in (*plain, *far)):
            self.assertEqual(verify.spelled(value), text)

    def test_other_spellings_are_refused(self) -> None:
        wrong = ("00.5", "0.50", " 0.5", "0.5 ", "0.5\n", "+0.5", ".5", "5.", "5e-1", "1e5", "1E-5")
        more = ("1e-05", "1e+20", "10e19", "0.00001", "1_0", "nan", "Inf", "\u0665", "")
        for text in (*wrong, *more):
            with self.assertRaises(ValueError, msg=text):
                verify.number(text)
            document = copy.deepcopy(self.solved)
            document["claims"][0]["epsilon"] = text
            self.assertEqual(judge(seal(document)), {"certificate": "undecided"}, text)
        self.breaks(self.solved_openly, {"objective"}, put({"value": "1.0"}, "constants", 7))

    def test_hexadecimal_digits_are_exact(self) -> None:
        fields: list[Path] = [("model", "digest_before"), ("model", "digest_after")]
        fields += [("chain", "previous"), ("chain", "hash")]
        fields += [("signature", name) for name in ("key_id", "public_key", "value")]
        for section, name in fields:
            right = self.solved[section][name]
            spaced = (f"{right[:2]} {right[3:]}", f"{right} ")
            for wrong in ("A" + right[1:], right[:-1], right + "0", *spaced):
                document = copy.deepcopy(self.solved)
                document[section][name] = wrong
                self.assertEqual(judge(document), {"certificate": "undecided"}, (name, wrong))
        hashed = (("ab" * 32, "holds"), ("AB" * 32, None), ("ab", None), ("", None))
        for root, outcome in hashed:
            document = copy.deepcopy(self.solved)
            document["request"]["subjects"] = root
            found = judge(seal(document))
            self.assertEqual(found.get("hash"), outcome, root)

    def test_times_are_exact(self) -> None:
        right = "2026-01-02T03:04:05Z"
        wrong = ("", "inf", "nan", "2026", right[:-1], f"{right} ", f" {right[1:]}", right.lower())
        more = ("2026-13-02T03:04:05Z", "2026-00-02T03:04:05Z", "2026-01-32T03:04:05Z")
        last = ("2026-01-02T24:04:05Z", "2026-01-02T03:60:05Z", "2026-01-02T03:04:61Z")
        for text in (*wrong, *more, *last, "2026-01-02 03:04:05Z", "2026-01-02T03:04:05+00:00"):
            for path in (("issued_at",), ("request", "received_at")):
                document = copy.deepcopy(self.solved)
                part = document if len(path) == 1 else document[path[0]]
                part[path[-1]] = text
                self.assertEqual(judge(seal(document)), {"certificate": "undecided"}, text)

    def test_counts_of_records_are_exact(self) -> None:
        for records in ("three", "+3", "03", "3 ", "", "at most 3", "1" * 17, "\u0663"):
            document = copy.deepcopy(self.solved_openly)
            document["request"]["records"] = records
            self.assertEqual(judge(seal(document)), {"certificate": "undecided"}, records)

    def test_an_event_without_phases_fails(self) -> None:
        bases = [self.descended, self.descended_openly]
        linear = copy.deepcopy(self.descended_openly)
        linear["event"] = copy.deepcopy(LINEAR)
        for base in [*bases, linear]:
            document = copy.deepcopy(base)
            document["event"]["phases"] = []
            for claim in document["claims"]:
                claim["accountant"] = "gdp"
            verdict = judge(seal(document))
            self.assertEqual(verdict["consistency"], "fails")
            for name, outcome in verdict.items():
                if name.startswith("claim "):
                    self.assertEqual(outcome, "fails", name)

    def test_an_earlier_schema_is_named(self) -> None:
        document = copy.deepcopy(self.solved)
        document["schema"] = "efface.certificate/0"
        ((outcome, _, reason),) = verify.verify(json.dumps(document).encode(), KEY)
        self.assertEqual(outcome, "undecided")
        self.assertIn("made by an earlier development version", reason)
        self.assertIn("reads `efface.certificate/0.3`", reason)

    def test_random_damage_never_ends_in_a_traceback_and_never_holds(self) -> None:
        dice = random.Random(11)  # noqa: S311
        for base in samples().values():
            where = parts(base)
            for _ in range(40 if "EFFACE_SOAK" in os.environ else 15):
                document = copy.deepcopy(base)
                for _ in range(dice.choice((1, 1, 1, 2, 5))):
                    damage(document, dice.choice(where[1:]), dice)
                if document == base:
                    continue
                # As a stranger changes it: the hash no longer holds.
                self.assertNotEqual(set(judge(document).values()), {"holds"})
                # As the holder of the key may: whatever holds, it is judged.
                try:
                    sealed = seal(copy.deepcopy(document))
                except (KeyError, TypeError, AttributeError, UnicodeEncodeError):
                    continue  # no object `chain` to seal
                judge(sealed)
                text = json.dumps(sealed)
                cut = dice.randrange(len(text))
                torn = (text[:cut] + text[cut + dice.randrange(4) :]).encode("utf-8", "replace")
                verify.verify(torn, KEY)


def damage(document: Any, path: Path, dice: random.Random) -> None:
    """Change, remove, repeat or move the part at a path; earlier damage may have removed it."""
    part = document
    try:
        for key in path[:-1]:
            part = part[key]
        key = path[-1]
        what = dice.randrange(5)
        if what == 0:
            del part[key]
        elif what == 1 and isinstance(part, list):
            part.insert(dice.randrange(len(part) + 1), copy.deepcopy(part[key]))
        elif what == 2 and isinstance(part[key], str):
            at = dice.randrange(len(part[key]) + 1)
            more, rest = dice.choice("0 9.eE+-aAé,"), part[key][at + dice.randrange(2) :]
            part[key] = part[key][:at] + more + rest
        elif what == 3 and isinstance(part[key], int):
            part[key] += dice.choice((-1, 1, 2**20, -(2**52)))
        else:
            part[key] = copy.deepcopy(dice.choice(ODD))
    except (KeyError, IndexError, TypeError, AttributeError):
        return
