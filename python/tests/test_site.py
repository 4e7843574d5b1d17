"""The pages of the documentation site say what happens: their examples run, here or in the build.

Code cells run while the site is built, and an error in one fails it. The other examples run here,
page by page and from top to bottom: sessions of Python and of a shell must print what the page
says. A refusal that a page quotes is one of these, so it is what the engine says today.
"""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import efface
from efface._parameters import OPTIONS

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"
COMMANDS = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target", "debug").absolute()
PAGES = sorted(SITE.rglob("*.md"))
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# Fences that are no examples of code.
STRUCTURE = {"{toctree}", "{include}", "{eval-rst}", "{code-cell}"}
FENCE = re.compile(
    r"^(?P<ticks>```+|:::+)(?P<kind>\S*)[^\n]*\n(?P<body>.*?)^(?P=ticks)$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """A fenced block: its kind, its text and the line it starts at."""

    kind: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(found["kind"], found["body"], text.count("\n", 0, found.start("body")))
        for found in FENCE.finditer(text)
    ]


def sessions(page: Path) -> list[Block]:
    return [block for block in blocks(page) if block.kind in ("pycon", "console")]


WITH_SESSIONS = [page for page in PAGES if sessions(page)]


def name(page: Path) -> str:
    return str(page.relative_to(SITE))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_example_is_of_a_kind_that_runs(page: Path) -> None:
    assert {block.kind for block in blocks(page)} <= STRUCTURE | {"pycon", "console"}


@pytest.mark.parametrize("page", WITH_SESSIONS, ids=name)
@pytest.mark.filterwarnings("default")  # doctest must see warnings as users do
def test_sessions_print_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    shutil.copy(ROOT / "verifier" / "efface_verify.py", tmp_path)
    scope: dict[str, Any] = {}
    for block in sessions(page):
        if block.kind == "pycon":
            run_python(page, block, scope)
        else:
            run_shell(page, block)


def run_python(page: Path, block: Block, scope: dict[str, Any]) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, scope, name(page), str(page), block.line)
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    report: list[str] = []
    runner.run(test, out=report.append, clear_globs=False)
    scope.update(test.globs)
    assert runner.failures == 0, "".join(report)


def run_shell(page: Path, block: Block) -> None:
    if not (COMMANDS / "efface").exists() and "$ efface" in block.text:
        pytest.skip(f"the command line is not built in {COMMANDS}")
    shell = shutil.which("bash")
    assert shell is not None
    where = {**os.environ, "PATH": f"{COMMANDS}{os.pathsep}{os.environ['PATH']}"}
    for step in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, expected = step.partition("\n")
        done = subprocess.run(
            [shell, "-c", command], env=where, capture_output=True, text=True, timeout=60
        )
        got = done.stdout + done.stderr
        same = doctest.OutputChecker().check_output(expected, got, FLAGS)
        assert same, f"{name(page)}, line {block.line}: `{command}` printed\n{got}"


def test_pages_with_code_cells_are_notebooks() -> None:
    """What is no notebook would show its cells and never run them."""
    for page in PAGES:
        cells = any(block.kind == "{code-cell}" for block in blocks(page))
        head = page.read_text(encoding="utf-8").startswith("---\nfile_format: mystnb\n")
        assert cells == head, name(page)


@pytest.mark.parametrize(
    ("names", "pages"),
    [(efface.__all__, SITE / "api"), (efface.accounting.__all__, SITE / "api" / "accounting.md")],
)
def test_everything_public_is_in_the_reference(names: list[str], pages: Path) -> None:
    texts = [page.read_text(encoding="utf-8") for page in PAGES if page.is_relative_to(pages)]
    listed = re.findall(r"^\.\. auto\w+:: ([\w.]+)$", "\n".join(texts), flags=re.MULTILINE)
    known = {name.removeprefix("efface.") for name in listed} | {"__version__", "plan"}
    known |= {kind.__name__ for kinds in OPTIONS.values() for kind in kinds.values()}  # when built
    assert set(names) - known == set()
