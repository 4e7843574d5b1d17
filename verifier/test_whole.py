"""Tests of whole certificates and of the command: `python3 -m unittest discover -s verifier`."""

from __future__ import annotations

import copy
import io
import json
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import efface_verify as verify
from sample_certificates import KEY, SOLVED, CertificateCase, certificate, judge


class Certificates(CertificateCase):
    def test_honest_certificates_hold_and_need_a_key(self) -> None:
        for document in (*self.all, self.averaged):
            self.assertEqual(set(judge(document).values()), {"holds"}, judge(document))
            alone = judge(document, None)
            self.assertEqual(alone.pop("signature"), "undecided")
            self.assertEqual(set(alone.values()), {"holds"})
            self.assertEqual(judge(document, bytes(32))["signature"], "fails")

    def test_a_changed_body_breaks_the_hash_and_a_changed_hash_the_signature(self) -> None:
        document = copy.deepcopy(self.solved)
        document["request"]["received_at"] = "2026-01-02T03:04:06Z"
        self.assertEqual(judge(document)["hash"], "fails")
        self.assertEqual(judge(document)["signature"], "fails")
        document["chain"]["hash"] = verify.document_hash(document)
        self.assertEqual(judge(document)["hash"], "holds")
        self.assertEqual(judge(document)["signature"], "fails")

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
            self.assertEqual((status, len(text.splitlines())), (0, 8 + len(document["claims"])))
            self.assertEqual(self.run_main(str(good), "--key", KEY.hex())[0], 0)
            key.write_text(f"file  /keys/ü.toml\npublic key  {KEY.hex()}\n", encoding="utf-8")
            self.assertEqual(self.run_main(str(good), "--key", str(key))[0], 0)
            self.assertEqual(self.run_main(str(good))[0], 2)
            self.assertEqual(self.run_main(str(good), str(bad), "--key", KEY.hex())[0], 1)
            self.assertEqual(self.run_main(str(good), f"{folder}/none", "--key", str(key))[0], 2)
            self.assertEqual(self.run_main(str(good), "--key", "zz")[0], 2)
