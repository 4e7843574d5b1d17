"""The examples of both README files run."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["README.md", "python/README.md"])
def test_the_example_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    lines = text[text.index("    import efface\n") :].splitlines()
    end = next(at for at, line in enumerate(lines) if line and not line.startswith("    "))
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    exec(textwrap.dedent("\n".join(lines[:end])), scope)
    assert scope["model"].status()["records"] == 996
