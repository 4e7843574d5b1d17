"""Draws what a deletion costs against what the model is worth, from the experiment `frontier`.

cargo run --release -p efface-laboratory -- reproduce frontier -o FOLDER
python3 laboratory/benches/frontier.py FOLDER/frontier.csv docs/figures/frontier.svg
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

TITLES = {
    "mnist-3v8": "MNIST 3 versus 8",
    "sst": "SST",
    "a9a": "Adult (a9a)",
    "parkinsons": "Parkinson's",
}
# No line differs by colour alone.
MARKS = "osv^D+xP*"
# Fewer passes than this are drawn as this many.
FLOOR = 0.1


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    table, picture = map(Path, sys.argv[1:])
    with table.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if not row["refused"]]
    sets, names = (list(dict.fromkeys(row[key] for row in rows)) for key in ("data", "mechanism"))
    figure = Figure(figsize=(10.5, 3.2 * ((len(sets) + 1) // 2) + 0.6), layout="constrained")
    panels = figure.subplots((len(sets) + 1) // 2, min(2, len(sets)), squeeze=False).flat
    for panel, data in zip(panels, sets, strict=False):
        for place, (name, mark) in enumerate(zip(names, MARKS, strict=False)):
            points = [
                (max(FLOOR, float(row["passes per deletion"])), float(row["accuracy or rmse"]))
                for row in rows
                if (row["data"], row["mechanism"]) == (data, name)
            ]
            panel.plot(*zip(*points, strict=True), color=f"C{place}", marker=mark, label=name)
        panel.set_xscale("log")
        panel.set_title(TITLES.get(data, data))
        panel.set_xlabel("passes per deletion (fewer than 0.1: at 0.1)")
        is_error = data == "parkinsons"
        panel.set_ylabel("error (rmse): lower is better" if is_error else "test accuracy")
        panel.grid(alpha=0.3)
    lines, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(lines, labels, loc="outside right upper")
    title = "Every mechanism at epsilon = 1, delta = 1/n; points of a line differ in noise"
    figure.suptitle(title, x=0.01, horizontalalignment="left")
    with mpl.rc_context({"svg.hashsalt": "frontier"}):
        figure.savefig(picture, metadata={"Date": None})


if __name__ == "__main__":
    main()
