"""The stub of the extension says what the extension is."""

from __future__ import annotations

import subprocess
import sys


def test_the_stub_fits_the_extension() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "efface._engine"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
