"""Tests of networks of shards: rules of their certificates."""

from __future__ import annotations

import unittest
from typing import Any

import efface_verify as verify
from sample_certificates import CertificateCase, judge, put, seal, sharded


def without_rows(document: dict[str, Any]) -> None:
    """Say nothing of the rows."""
    stated = document["assumptions"]
    document["assumptions"] = [said for said in stated if said["name"] != "rows"]


class Shards(CertificateCase):
    def test_honest_certificates_hold(self) -> None:
        for kind in ("delete", "add", "update"):
            self.assertEqual(set(judge(sharded(kind)).values()), {"holds"}, kind)

    def test_a_claim_of_exact_removal_has_nothing_left(self) -> None:
        claim = sharded()["claims"][0]
        self.assertEqual((claim["epsilon"], claim["advantage"]), ("0", "0"))
        self.assertEqual((claim["group"], claim["requests"]), ("any", "any"))
        self.assertIn("under the names that they have", claim["reference"])
        self.assertTrue(claim["words"].endswith("names of the other records"))

    def test_what_one_rule_forbids_fails_by_it(self) -> None:
        base = sharded()
        exact = {verify.EXACT}
        for checks, change in (
            (exact, put({"parameters": 260101}, "event")),
            (exact, put({"retrained": 0}, "event")),
            (exact, put({"arithmetic": 0}, "event")),
            ({"consistency"}, put({"retrained": 4}, "event")),
            ({"consistency"}, put({"records": "not stated"}, "request")),
            ({"consistency"}, put({"kind": "refresh", "records": "0"}, "request")),
            ({"constants"}, put({"value": "11"}, "constants", 2)),
            ({"constants"}, lambda d: d["constants"].pop(3)),
            ({"objective"}, lambda d: d["constants"].append(
                {"name": "lambda", "value": "1", "origin": "user"}
            )),
            ({"assumptions"}, lambda d: d["assumptions"].pop(0)),
            ({"assumptions"}, without_rows),
            ({"assumptions"}, put({"value": "training is not repeatable"}, "assumptions", 0)),
            ({"assumptions"}, put({"evidence": "assumed"}, "assumptions", 0)),
            ({"objective"}, lambda d: d["constants"].pop()),
            ({"assumptions"}, put({"origin": "data"}, "constants", 6)),
            ({"scope"}, lambda d: d["scope"]["does_not_cover"].pop()),
        ):  # fmt: skip
            for check in checks:
                self.fails(base, "claim 1" if check in exact else check, change)

    def test_updates_may_move_a_record_between_two_subjects(self) -> None:
        document = sharded("update")
        document["event"] |= {"unit": "subject", "retrained": 6}
        document["constants"][1]["value"] = "subject"
        self.assertEqual(set(judge(seal(document)).values()), {"holds"})
        self.fails(document, "consistency", put({"retrained": 7}, "event"))

    def test_other_notions_are_not_claimed(self) -> None:
        private = {"notion": verify.PRIVACY, "delta": "0.001", "adjacency": "replace"}
        self.fails(sharded(), "claim 1", put(private, "claims", 0))


if __name__ == "__main__":
    unittest.main()
