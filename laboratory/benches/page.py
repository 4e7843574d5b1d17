"""Runs the benchmarks and makes one folder of what they print: a page, numbers and plots.

    EFFACE_DATA=... python3 laboratory/benches/page.py [--out FOLDER] [--quick] [NAME...]

`make bench` builds what is needed and calls this. FOLDER, `dist/bench` by default, gets `page.md`
(the machine, then all that the benchmarks printed), a CSV file for each table and an SVG plot for
each table that has numbers. The page is written anew after every benchmark, so that an interruption
loses only what was running. NAMEs choose among the benchmarks; `--quick` leaves out those that take
many minutes, and makes others smaller where they can be.

Exit status: 0 all ran, 1 one failed (the page says which and why), 2 wrong usage.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import importlib.metadata
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "bench"

# Factors of what a unit is to the one that is plotted.
UNITS = {
    "ns": ("seconds", 1e-9),
    "us": ("seconds", 1e-6),
    "µs": ("seconds", 1e-6),
    "ms": ("seconds", 1e-3),
    "s": ("seconds", 1.0),
    "min": ("seconds", 60.0),
    "kB": ("bytes", 1e3),
    "MB": ("bytes", 1e6),
    "GB": ("bytes", 1e9),
    "KiB": ("bytes", 2.0**10),
    "MiB": ("bytes", 2.0**20),
    "GiB": ("bytes", 2.0**30),
    "GB/s": ("bytes per second", 1e9),
    "%": ("per cent", 1.0),
    "": ("", 1.0),
}
NUMBER = re.compile(r"([-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?) ?(\S*)(?: .*)?$")
# Bars beyond these are not told apart.
MOST_ROWS, MOST_COLUMNS = 60, 4


@dataclass(frozen=True)
class Benchmark:
    """A command that prints Markdown, and arguments that make it short; None: not when quick."""

    name: str
    command: tuple[str, ...]
    quick: tuple[str, ...] | None = None


def scenario(name: str, *quick: str) -> Benchmark:
    return Benchmark(name, (str(PROGRAM), name), quick or None)


def script(path: str, quick: tuple[str, ...] | None = None) -> Benchmark:
    return Benchmark(Path(path).stem, (sys.executable, str(ROOT / path)), quick)


BENCHMARKS = (
    scenario("mechanisms"),
    scenario("prepared", "--quick"),
    scenario("nonlinear", "--quick"),
    scenario("million", "--quick"),
    scenario("scaling", "--quick"),
    script("laboratory/benches/estimators.py", ("mnist",)),
    script("laboratory/benches/predict.py", ()),
    script("laboratory/benches/dask_workers.py"),
    script("crates/efface-matrix/benches/gradient.py", ()),
    Benchmark(
        "hessian", ("cargo", "bench", "--quiet", "-p", "efface-matrix", "--bench", "hessian")
    ),
    Benchmark(
        "sampler", ("cargo", "bench", "--quiet", "-p", "efface-privacy", "--bench", "sampler")
    ),
)


@dataclass(frozen=True)
class Table:
    """A table that was printed, and the heading above it."""

    heading: str
    head: list[str]
    rows: list[list[str]]


def tables(text: str) -> list[Table]:
    """The Markdown tables of a text, in its order."""
    found: list[Table] = []
    heading, open_table = "", False
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("#"):
            heading = stripped.lstrip("#").strip()
        if not (stripped.startswith("|") and stripped.endswith("|")):
            open_table = False
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", stripped)[1:-1]]
        if not open_table:
            found.append(Table(heading, cells, []))
            open_table = True
        elif not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            found[-1].rows.append(cells)
    return found


def quantity(cell: str) -> tuple[float, str] | None:
    """The number that a cell begins with, and what it counts; None where it is not one number."""
    match = NUMBER.match(cell.strip("`* "))
    if match is None:
        return None
    number, unit = match.groups()
    if unit.startswith("("):
        unit = ""
    if unit not in UNITS:
        return None
    counts, factor = UNITS[unit]
    return float(number.replace(",", "")) * factor, counts


def columns(table: Table) -> tuple[str, list[tuple[str, list[float | None]]]]:
    """Columns to be plotted beside each other: the most of one kind, times before others."""
    kinds: dict[str, list[tuple[str, list[float | None]]]] = {}
    for at, name in enumerate(table.head):
        found = [quantity(row[at]) if at < len(row) else None for row in table.rows]
        counts = {one[1] for one in found if one is not None}
        known = sum(one is not None for one in found)
        # The first column names the rows; what is mostly words is no column of numbers.
        if at == 0 or len(counts) != 1 or 2 * known < len(found):
            continue
        kinds.setdefault(counts.pop(), []).append((name, [one and one[0] for one in found]))
    for kind in ("seconds", "bytes per second", "bytes", "per cent", ""):
        if kind in kinds:
            # Plain numbers of several columns have nothing in common.
            return kind, kinds[kind][: MOST_COLUMNS if kind else 1]
    return "", []


def labels(table: Table) -> list[str]:
    """What names each row: its first cells, as many as tell rows apart."""
    for number in range(1, len(table.head) + 1):
        named = [", ".join(row[:number]).replace("`", "") for row in table.rows]
        if len(set(named)) == len(named):
            return named
    return [str(number) for number in range(1, len(table.rows) + 1)]


def plot(table: Table, path: Path) -> bool:
    """Bars of a table's numbers; False where there is nothing to plot."""
    kind, chosen = columns(table)
    if not chosen or len(table.rows) > MOST_ROWS:
        return False
    names = labels(table)
    figure = Figure(figsize=(8, 1.2 + 0.2 * len(names) * (len(chosen) + 0.6)), layout="constrained")
    axes = figure.subplots()
    height = 0.8 / len(chosen)
    numbers = [x for _, values in chosen for x in values if x is not None and x > 0]
    logarithmic = bool(numbers) and max(numbers) > 50 * min(numbers)
    for which, (name, values) in enumerate(chosen):
        places = [row + which * height for row in range(len(names))]
        # Logarithmic bars begin somewhere: what is 0 has none.
        axes.barh(places, [x or 0.0 for x in values], height, label=name.replace("`", ""))
    axes.set_yticks([row + 0.4 - height / 2 for row in range(len(names))], names, fontsize=8)
    axes.invert_yaxis()
    if logarithmic:
        axes.set_xscale("log")
    axes.set_xlabel(kind or chosen[0][0])
    axes.set_title(table.heading.replace("`", ""), fontsize=9)
    axes.grid(axis="x", alpha=0.3)
    if len(chosen) > 1:
        axes.legend(fontsize=8)
    with mpl.rc_context({"svg.hashsalt": path.name}):
        figure.savefig(path, metadata={"Date": None})
    return True


def said(command: Sequence[str]) -> str:
    """What a command prints, in one line; nothing where it is not there."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603
    except (OSError, subprocess.CalledProcessError):
        return ""
    return " ".join(done.stdout.split())


def version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def machine() -> list[str]:
    """The machine, how busy it is, and the versions of what is compared, a line each."""
    info = Path("/proc/cpuinfo")
    text = info.read_text(encoding="utf-8") if info.exists() else ""
    model = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    load = (
        ", ".join(f"{x:.2f}" for x in os.getloadavg()) if hasattr(os, "getloadavg") else "unknown"
    )
    threads = {
        name: os.environ.get(name, "not set")
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    }
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "scikit-learn"))
    commit = said(["git", "describe", "--always", "--dirty"]) or "unknown"
    processor = model.group(1) if model else platform.processor() or "unknown processor"
    compiler = said(["rustc", "--version"]) or "rustc unknown"
    system = f"{platform.system()} {platform.release()}"
    return [
        f"Made: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC, commit {commit}",
        f"Machine: {processor}, {cores} cores for this process, {system}",
        f"Load average at the start: {load} (above 0.5 something else was at work: read ratios)",
        f"Versions: {compiler}, Python {platform.python_version()}, {packages}",
        "Threads of BLAS: " + ", ".join(f"{name} {value}" for name, value in threads.items()),
    ]


class Page:
    """The folder that is being made."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        head = "\n".join(f"- {line}" for line in machine())
        self.parts = [f"# Benchmarks\n\n{head}\n"]
        self.failed: list[str] = []
        self.write()

    def write(self) -> None:
        """Puts the page in place of the last one."""
        new = self.folder / "page.md.new"
        new.write_text("\n".join(self.parts), encoding="utf-8")
        new.replace(self.folder / "page.md")

    def add(self, name: str, text: str, error: str | None, seconds: float) -> None:
        """Adds what a benchmark printed, with files of its tables, and why it failed if it did."""
        printed = tables(text)
        body = text.rstrip("\n") if printed else f"## {name}\n\n```text\n{text.rstrip()}\n```"
        lines = [body, ""]
        for number, table in enumerate(printed, 1):
            path = self.folder / f"{name}-{number}"
            with path.with_suffix(".csv").open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([table.head, *table.rows])
            files = [f"[{path.name}.csv]({path.name}.csv)"]
            if plot(table, path.with_suffix(".svg")):
                files.append(f"![{table.heading}]({path.name}.svg)")
            lines += [f"Table {number}: {' '.join(files)}", ""]
        if error is not None:
            self.failed.append(name)
            lines += [f"**`{name}` failed**: {error}", ""]
        lines += [f"`{name}` took {seconds:.0f} s.", ""]
        self.parts.append("\n".join(lines))
        self.write()


def run(benchmark: Benchmark, quick: bool) -> tuple[str, str | None]:
    """What a benchmark prints, also to the terminal, and why it failed if it did."""
    command = [*benchmark.command, *(benchmark.quick or () if quick else ())]
    try:
        started = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)  # noqa: S603
    except OSError as error:
        return "", f"{command[0]} cannot be started: {error.strerror}"
    printed: list[str] = []
    with started:
        for line in started.stdout or ():
            print(line, end="", flush=True)
            printed.append(line)
    status = started.returncode
    return "".join(printed), None if status == 0 else f"exit status {status}"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist" / "bench", metavar="FOLDER")
    parser.add_argument("--quick", action="store_true", help="leave out what takes many minutes")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these benchmarks")
    given = parser.parse_args()
    known = {one.name: one for one in BENCHMARKS}
    for name in given.names:
        if name not in known:
            parser.error(f"no such benchmark: {name} (there are {', '.join(known)})")
    if not Path(os.environ.get("EFFACE_DATA", "")).is_dir() or not os.environ.get("EFFACE_DATA"):
        parser.error("EFFACE_DATA must name the folder of public data sets")
    chosen = [known[name] for name in given.names] or [
        one for one in BENCHMARKS if not given.quick or one.quick is not None
    ]
    page = Page(given.out)
    for benchmark in chosen:
        begun = time.monotonic()
        text, error = run(benchmark, given.quick)
        page.add(benchmark.name, text, error, time.monotonic() - begun)
    left_out = [name for name, one in known.items() if one not in chosen]
    if left_out:
        page.parts.append(f"Not run: {', '.join(f'`{name}`' for name in left_out)}.\n")
        page.write()
    print(f"\n{page.folder / 'page.md'}")
    return 1 if page.failed else 0


if __name__ == "__main__":
    sys.exit(main())
