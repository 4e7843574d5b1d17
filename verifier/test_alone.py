"""Tests that the verifier can be carried away: one file and Python's standard library."""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from sample_certificates import KEY, SOLVED, certificate

SCRIPT = Path(__file__).with_name("efface_verify.py")


class Alone(unittest.TestCase):
    def test_it_imports_the_standard_library_only(self) -> None:
        imported = set()
        for node in ast.walk(ast.parse(SCRIPT.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {name.name for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                self.assertEqual(node.level, 0, f"line {node.lineno} imports a neighbour")
                imported.add(str(node.module))
        self.assertIn("hashlib", imported)
        roots = {name.partition(".")[0] for name in imported}
        self.assertEqual(roots - sys.stdlib_module_names, set())

    def test_a_copy_runs_without_installed_packages(self) -> None:
        document = certificate(SOLVED, "remove")
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copy(SCRIPT, folder)
            file = Path(folder, "certificate.json")
            file.write_text(json.dumps(document), encoding="utf-8")
            # -I: no environment, no own folder on the path; -S: no site-packages.
            command = [sys.executable, "-I", "-S", copy, str(file), "--key", KEY.hex()]
            done = subprocess.run(  # noqa: S603 - this folder's own file
                command, capture_output=True, text=True, cwd=folder, check=False
            )
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            checks = {line.split(": ")[1] for line in done.stdout.splitlines()}
        listed = SCRIPT.with_name("README.md").read_text(encoding="utf-8")
        for check in checks:
            self.assertIn(f"`{'claim N' if check.startswith('claim ') else check}`", listed)
