"""The examples of both README files run, and what they link to is there."""

from __future__ import annotations

import re
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


@pytest.mark.parametrize("name", ["README.md", "python/README.md"])
def test_links_lead_somewhere(name: str) -> None:
    page = ROOT / name
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    assert links
    for link in links:
        assert "://" in link or (page.parent / link).exists(), link
