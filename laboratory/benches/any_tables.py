"""Every table of a folder: a plain `fit` of efface beside scikit-learn, on targets by a rule.

    python3 laboratory/benches/any_tables.py FOLDER ... [--part K/N] [--words] [--set NAME=VALUE]

reads every CSV file below the folders (plain or compressed) that has 100 rows or more and 3 to 150
columns. Each goes into `UnlearningClassifier(preprocess="fitted")` or `UnlearningRegressor` as its
file holds it. Beside it is what a user of scikit-learn writes: `StandardScaler` after
`SimpleImputer` for numbers, `OneHotEncoder(handle_unknown="ignore")` for the rest, and
`LogisticRegression()` or `Ridge()` with their defaults (but enough iterations to converge).

Nobody picks what is predicted: of the columns that have 2 to 5 values in 15 rows or more each, and
of those that have more than 15 numbers, at most two each are drawn from a fixed seed, where at most
one row in ten lacks them. Columns without a name, and R's `rownames`, are left out. Tables are cut
to a random 2,500 rows; scores are means over four folds, efface's also over two draws of its noise.

Prints a line for each target, worst first, and how many are how far from scikit-learn. `--words`
leaves out tables of numbers alone; `--part 1/2` takes every second table; `--set` changes a
parameter of efface's, to see what a difference comes from.
"""

from __future__ import annotations

import argparse
import ast
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
from efface import UnlearningClassifier, UnlearningRegressor
from shared import head, row
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

ROWS = (100, 2500)
COLUMNS = (3, 150)
VALUES, SHARE, NUMBERS, TARGETS = (2, 5), 15, 15, 2
FOLDS, DRAWS = 4, 2
# The aim: points of accuracy, and R2.
AIM = {True: 0.5, False: 0.005}


def tables(folders: list[Path]) -> Iterator[tuple[str, pd.DataFrame]]:
    """The tables below some folders, by name, in order."""
    for folder in folders:
        for path in sorted(folder.rglob("*.csv*")):
            try:
                frame = pd.read_csv(path, low_memory=False)
            except (ValueError, OSError) as error:
                print(f"{path.name} is not read: {error}")
                continue
            nameless = [
                name for name in frame if name == "rownames" or str(name).startswith("Unnamed")
            ]
            frame = frame.drop(columns=nameless)
            if len(frame) < ROWS[0] or not COLUMNS[0] <= frame.shape[1] <= COLUMNS[1]:
                continue
            if len(frame) > ROWS[1]:
                frame = frame.sample(ROWS[1], random_state=0).reset_index(drop=True)
            yield str(path.relative_to(folder)), frame


def chosen(name: str, frame: pd.DataFrame) -> list[tuple[str, bool]]:
    """Columns to predict, and whether their values are classes."""
    classes: list[str] = []
    numbers: list[str] = []
    for column in frame:
        counts = frame[column].value_counts()
        if counts.sum() < 0.9 * len(frame):
            continue
        is_number = pd.api.types.is_numeric_dtype(frame[column])
        if VALUES[0] <= len(counts) <= VALUES[1] and counts.min() >= SHARE:
            classes.append(column)
        elif is_number and counts.index.dtype != bool and len(counts) > NUMBERS:
            numbers.append(column)
    draw = np.random.default_rng(list(name.encode()))
    drawn = [
        draw.permutation(np.array(names, dtype=object))[:TARGETS] for names in (classes, numbers)
    ]
    return [
        (column, is_class)
        for names, is_class in zip(drawn, (True, False), strict=True)
        for column in names
    ]


def theirs(classes: bool) -> Any:
    """What a user of scikit-learn writes."""
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    encoder = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    )
    return make_pipeline(encoder, LogisticRegression(max_iter=5000) if classes else Ridge())


def scores(X: Any, y: Any, classes: bool, parameters: dict[str, Any]) -> tuple[float, float]:
    """Of efface and of scikit-learn, over the same folds."""
    kind = UnlearningClassifier if classes else UnlearningRegressor
    folds = (StratifiedKFold if classes else KFold)(FOLDS, shuffle=True, random_state=0)
    y = np.asarray(y.astype(str) if classes else y)
    found = []
    for train, test in folds.split(X, y):
        learn, judge = ((X.iloc[rows], y[rows]) for rows in (train, test))
        reached = theirs(classes).fit(*learn).score(*judge)
        for seed in range(DRAWS):
            ours = kind(preprocess="fitted", random_state=seed, **parameters).fit(*learn)
            found.append((ours.score(*judge), reached))
    ours, other = np.mean(found, axis=0) * (100 if classes else 1)
    return float(ours), float(other)


def setting(text: str) -> tuple[str, Any]:
    name, _, value = text.partition("=")
    try:
        return name, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return name, value


def main() -> None:
    parser = argparse.ArgumentParser(description="Tables of a folder beside scikit-learn.")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--part", default="0/1", metavar="K/N")
    parser.add_argument("--words", action="store_true")
    parser.add_argument("--set", action="append", default=[], type=setting, metavar="NAME=VALUE")
    asked = parser.parse_args()
    part, parts = map(int, asked.part.split("/"))
    # What both say of small tables, and that seeds make models that are not for release.
    warnings.simplefilter("ignore")
    found: list[tuple[float, bool, list[str]]] = []
    for at, (name, frame) in enumerate(tables(asked.folders)):
        words = [c for c in frame if not pd.api.types.is_numeric_dtype(frame[c])]
        if at % parts != part % parts or (asked.words and not words):
            continue
        for column, is_class in chosen(name, frame):
            known = frame[frame[column].notna()]
            X = known.drop(columns=column).reset_index(drop=True)
            try:
                ours, other = scores(X, known[column], is_class, dict(asked.set))
            except ValueError as error:
                print(f"{name}, {column}: {error}", flush=True)
                continue
            cells = [name, column, "accuracy, %" if is_class else "R2", *map(str, X.shape)]
            cells += [f"{ours:.4f}", f"{other:.4f}", f"{ours - other:+.4f}"]
            found.append((ours - other, is_class, cells))
    head("table", "target", "score", "records", "columns", "efface", "scikit-learn", "difference")
    for *_, cells in sorted(found):
        row(*cells)
    for is_class, aim in AIM.items():
        off = [difference for difference, of_class, _ in found if of_class == is_class]
        kind = "classifications, accuracy in points" if is_class else "regressions, R2"
        counts = [
            f"{sum(difference < -limit for difference in off)} below by more than {limit}, "
            f"{sum(difference > limit for difference in off)} above"
            for limit in (aim, 2 * aim)
        ]
        print(f"\n{len(off)} {kind}: {'; '.join(counts)}")


if __name__ == "__main__":
    main()
