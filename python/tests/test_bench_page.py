"""The page of benchmarks: what is read from printed tables, and what becomes of failures."""

from __future__ import annotations

import csv
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHES = Path(__file__).resolve().parents[2] / "laboratory" / "benches"

PRINTED = """\
## Title of it

2 cores

| model       | time          | rows  | word |
|-------------|--------------:|-------|------|
| `a`         | 1.50 s (2.9 s) | 1,000 | x    |
| `b`, a\\|b   | 20 ms         | 12    | y    |
| `c`         | -             | 3     | z    |

Text.

| only | words |
|---|---|
| are | here |
"""


@pytest.fixture(scope="module")
def page() -> ModuleType:
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location("page", BENCHES / "page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["page"] = module
    spec.loader.exec_module(module)
    return module


def test_printed_tables_are_read(page: ModuleType) -> None:
    first, second = page.tables(PRINTED)
    assert first.heading == "Title of it"
    assert first.head == ["model", "time", "rows", "word"]
    assert [row[0] for row in first.rows] == ["`a`", "`b`, a\\|b", "`c`"]
    assert (second.head, second.rows) == (["only", "words"], [["are", "here"]])
    assert page.columns(first) == ("seconds", [("time", [1.5, pytest.approx(0.02), None])])
    assert page.columns(second) == ("", [])
    assert page.labels(first) == ["a", "b, a\\|b", "c"]


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ("554 ms", (0.554, "seconds")),
        ("**3.1**", (3.1, "")),
        ("1,234.5 MiB", (1234.5 * 2**20, "bytes")),
        ("8.7 %", (8.7, "per cent")),
        ("1e-3", (1e-3, "")),
        ("5 passes, 1 Hessian", None),
        ("12k x 784", None),
        ("-", None),
        ("", None),
        ("nan", None),
    ],
)
def test_cells_count_something_or_nothing(
    page: ModuleType, cell: str, found: tuple[float, str] | None
) -> None:
    assert page.quantity(cell) == (found and pytest.approx(found))


def test_a_folder_is_made_and_failures_are_told(page: ModuleType, tmp_path: Path) -> None:
    made = page.Page(tmp_path / "out")
    script = "import sys; sys.stdout.write(sys.argv[1]); sys.exit(int(sys.argv[2]))"
    for name, status in [("good", "0"), ("bad", "3")]:
        one = page.Benchmark(name, (sys.executable, "-c", script, PRINTED, status))
        text, error = page.run(one, False)
        made.add(name, text, error, 1.0)
    gone = page.Benchmark("gone", (str(tmp_path / "nothing"),))
    made.add("gone", *page.run(gone, False), 0.0)
    assert made.failed == ["bad", "gone"]
    written = (tmp_path / "out" / "page.md").read_text(encoding="utf-8")
    assert written.startswith("# Benchmarks\n\n- Made: ")
    assert "Load average" in written
    assert "**`bad` failed**: exit status 3" in written
    assert "cannot be started" in written
    assert written.count("| `a` ") == 2
    assert "![Title of it](good-1.svg)" in written
    assert "(good-2.svg)" not in written
    with (tmp_path / "out" / "good-1.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert (len(rows), rows[1][1]) == (4, "1.50 s (2.9 s)")
    svg = (tmp_path / "out" / "good-1.svg").read_text(encoding="utf-8")
    assert "<svg" in svg


def test_all_benchmarks_of_the_repository_are_known(page: ModuleType) -> None:
    known = {one.name for one in page.BENCHMARKS}
    scenarios = {path.stem for path in (BENCHES / "src" / "scenario").glob("*.rs")} - {"mod"}
    assert scenarios <= known
    # What is missing there is no benchmark, needs packages of its own or is run by itself.
    others = {path.stem for path in (BENCHES).glob("*.py")}
    assert others - known == {
        "any_tables",
        "frontier",
        "instructions",
        "page",
        "shared",
        "torch_modules",
    }
