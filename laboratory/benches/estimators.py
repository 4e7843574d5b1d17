"""`UnlearningClassifier` beside scikit-learn's `LogisticRegression`: fitting, and forgetting.

    EFFACE_DATA=... python3 laboratory/benches/estimators.py [TABLE ...]   # sst, mnist, a9a, ...

prints a Markdown table for each data set: the same rows, the same lambda, sums divided by the first
n, no intercept. efface is timed as users call it: `fit`, which leaves the model in memory, `save`,
which makes its vault on the disk, and `forget` with the vault there, the ledger and the
certificate. With `efface.resident` ("rows held") a first forgetting, which reads the rows, is not
among those timed, nor is `prepare` ("and a Hessian"), which is called between requests and whose
time stands under "work".
scikit-learn is given the remaining rows ready made, and each refit starts at the fit on all rows.
"work" is passes + Hessians (scikit-learn: iterations) of the fit and of the last forgetting; "off
by" bounds how far a refit ended from the exact optimum (gradient norm over lambda, in float64),
"moved" is how far it moved: one that is off by more has not forgotten.
Needs the installed package (`make wheel`), numpy, scipy and scikit-learn.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from efface import Declared, Promise, Solve, UnlearningClassifier, resident
from numpy.typing import NDArray
from scipy.special import expit
from shared import data, head, mnist, row, timed
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import LogisticRegression

LAMBDA = 1e-3
SIZES = (1, 10, 100)
REPEATS = 3
SOLVERS = [
    ("lbfgs", 1e-4, "float64"),  # the default
    ("lbfgs", 1e-7, "float64"),
    ("newton-cg", 1e-6, "float64"),
    ("newton-cg", 1e-6, "float32"),
    ("newton-cholesky", 1e-8, "float64"),
    ("newton-cholesky", 1e-6, "float32"),
]
SECRET: dict[str, Any] = {"promise": Promise(state="secret", releases=20)}
MEMORY: dict[str, Any] = {**SECRET, "mechanism": Solve(solver="newton")}
# What it is called, its settings, whether rows stay in memory and whether a Hessian is prepared.
OURS: list[tuple[str, dict[str, Any], bool, bool]] = [
    ("`perfect`", {}, False, False),
    ("`perfect` and a Hessian", {}, False, True),
    ("`perfect`, rows held", {}, True, False),
    ("`perfect`, rows held and a Hessian", {}, True, True),
    ("`secret`, 20 releases", SECRET, False, False),
    ("`secret`, 20 releases, Newton from a memory", MEMORY, False, False),
    ("`secret`, 20 releases, Newton from a memory, rows held", MEMORY, True, False),
]


@dataclass(frozen=True)
class Table:
    """Rows of norm at most `norm`, two classes, and rows to judge by."""

    name: str
    X: Any
    y: NDArray[np.int64]
    norm: float
    X_test: Any
    y_test: NDArray[np.int64]


def unit(x: NDArray[Any]) -> NDArray[np.float32]:
    long = x.astype(np.float64)
    return (long / np.linalg.norm(long, axis=1, keepdims=True)).astype(np.float32)


def sst() -> Table:
    def part(name: str) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        x, y = (np.load(data(f"sst/sst_minilm_{name}_{kind}.npy")) for kind in "Xy")
        return unit(x), y.astype(np.int64)

    return Table("SST, MiniLM embeddings", *part("train"), 1.0, *part("test"))


def threes_and_eights() -> Table:
    def part(name: str) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        pixels, digits = mnist(name)
        keep = (digits == 3) | (digits == 8)
        return unit(pixels[keep]), (digits[keep] == 8).astype(np.int64)

    return Table("MNIST 3 versus 8, unit rows", *part("train"), 1.0, *part("t10k"))


def a9a() -> Table:
    def part(name: str) -> tuple[Any, NDArray[np.int64]]:
        x, y = load_svmlight_file(str(data(f"libsvm/{name}")), n_features=123, dtype=np.float32)
        return x, (y > 0).astype(np.int64)

    x, y = part("a9a.gz")
    norm = float(np.sqrt(x.multiply(x).sum(axis=1).max()))
    return Table("a9a, sparse", x, y, norm * (1 + 1e-6), *part("a9a.t.gz"))


def normal(rows: int, columns: int) -> Table:
    rng = np.random.default_rng(1)
    w = rng.normal(size=columns)

    def part(n: int) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        x = rng.standard_normal(size=(n, columns), dtype=np.float32)
        y = (x @ w + rng.logistic(size=n) > 0).astype(np.int64)
        return unit(x), y

    return Table("normal rows of unit length", *part(rows), 1.0, *part(20_000))


def off(x: Any, y: NDArray[np.int64], w: NDArray[np.float64], n: int) -> float:
    """Gradient norm over lambda: bounds the distance to the optimum."""
    gradient = np.zeros(x.shape[1])
    for start in range(0, x.shape[0], 100_000):
        rows = x[start : start + 100_000].astype(np.float64)
        gradient += rows.T @ (expit(rows @ w) - y[start : start + 100_000])
    return float(np.linalg.norm(gradient / n + LAMBDA * w) / LAMBDA)


def gone(n: int) -> Iterator[NDArray[np.int64]]:
    """Distinct rows to forget: `REPEATS` times each size."""
    order = np.random.default_rng(7).permutation(n)
    at = 0
    for size in SIZES:
        for _ in range(REPEATS):
            yield order[at : at + size]
            at += size


def by_size(seconds: list[float]) -> list[str]:
    """Medians by size, of times in the order of `gone`."""
    groups = [seconds[i : i + REPEATS] for i in range(0, len(seconds), REPEATS)]
    return [f"{1e3 * statistics.median(part):.1f} ms" for part in groups]


def worked(work: dict[str, Any] | None) -> str:
    return f"{work['passes']}+{work['hessians']}" if work else ""


def ours(table: Table, name: str, settings: dict[str, Any], held: bool, prepared: bool) -> None:
    n = table.X.shape[0]
    model = UnlearningClassifier(
        lambda_=LAMBDA, fit_intercept=False, preprocess=Declared(row_norm=table.norm), **settings
    ).set_params(promise__public_n=n, promise__capacity=n)
    fit = timed(lambda: model.fit(table.X, table.y))
    accuracy = model.score(table.X_test, table.y_test)
    fitted = model.receipt_.work
    names = [[f"row:{row}" for row in rows] for rows in gone(n)]
    forgets, prepares = [], []
    with tempfile.TemporaryDirectory() as folder:
        save = timed(lambda: model.save(f"{folder}/model.efface"))
        with resident(model) if held else nullcontext():
            if held:
                taken = {name for some in names for name in some}
                first = next(row for row in range(n) if f"row:{row}" not in taken)
                model.forget(ids=[f"row:{first}"])
            for ids in names:
                if prepared:
                    prepares.append(timed(model.prepare))
                forgets.append(timed(partial(model.forget, ids=ids)))
    work = f"{worked(fitted)}; {worked(model.receipt_.work)}"
    if prepares:
        work += f"; prepared in {1e3 * statistics.median(prepares):.0f} ms"
    took = f"{1e3 * fit:.0f} + {1e3 * save:.0f} ms"
    row(f"efface, {name}", took, *by_size(forgets), f"{accuracy:.4f}", work, "", "")


def theirs(table: Table, solver: str, tol: float, kind: str) -> None:
    x, n = table.X.astype(kind), table.X.shape[0]

    model = LogisticRegression(
        C=1 / (LAMBDA * n),
        solver=solver,
        tol=tol,
        max_iter=1000,
        fit_intercept=False,
        warm_start=True,
    )
    fit = timed(lambda: model.fit(x, table.y))
    accuracy, steps = model.score(table.X_test, table.y_test), int(model.n_iter_[0])
    start = model.coef_.copy()
    forgets, offs, moves = [], [], []
    for rows in gone(n):
        kept = np.setdiff1d(np.arange(n), rows)
        x_rest, y_rest = x[kept], table.y[kept]
        model.coef_ = start.copy()
        forgets.append(timed(partial(model.fit, x_rest, y_rest)))
        after = model.coef_[0].astype(np.float64)
        offs.append(off(x_rest, y_rest, after, n))
        moves.append(float(np.linalg.norm(after - start[0])))
    last = slice(-REPEATS, None)
    far, moved = statistics.median(offs[last]), statistics.median(moves[last])
    how, work = f"{solver}, tol {tol:g}, {kind}", f"{steps}; {int(model.n_iter_[0])}"
    took = [f"{1e3 * fit:.0f} ms", *by_size(forgets)]
    row(how, *took, f"{accuracy:.4f}", work, f"{far:.1e}", f"{moved:.1e}")


def main(names: list[str]) -> None:
    makers: dict[str, Callable[[], Table]] = {
        "sst": sst,
        "mnist": threes_and_eights,
        "a9a": a9a,
        "tenth": partial(normal, 100_000, 100),
        "million": partial(normal, 1_000_000, 100),
        "wide": partial(normal, 200_000, 512),
    }
    if unknown := [name for name in names if name not in makers]:
        sys.exit(f"data sets must be among {', '.join(makers)}, got {', '.join(unknown)}")
    warnings.simplefilter("ignore")
    load = os.getloadavg()[0]
    print(f"Load average {load:.2f} at the start; lambda {LAMBDA:g}, medians of {REPEATS}\n")
    for name in names or makers:
        table = makers[name]()
        rows, columns = table.X.shape
        print(f"{table.name}: {rows} x {columns}\n")
        sizes = [f"forget {size}" for size in SIZES]
        head("how", "fit + save", *sizes, "accuracy", "work", "off by", "moved")
        for one in OURS:
            ours(table, *one)
        for solver in SOLVERS:
            try:
                theirs(table, *solver)
            except (ValueError, TypeError) as error:
                why = f"not offered: {str(error)[:60]}"
                row(f"{solver[0]}, {solver[2]}", why, *[""] * 7)
        print()


if __name__ == "__main__":
    main(sys.argv[1:])
