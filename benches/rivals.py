"""Warm refits by scikit-learn after deletions, on the rows that `mnist_solve` deletes.

    EFFACE_DATA=... python3 benches/rivals.py

prints a Markdown table: MNIST 3 versus 8, unit rows, no intercept, lambda = 1e-3 with the sums
still divided by the first n, as in efface. Each refit starts at the fit on all rows. Besides time
and iterations it shows how far off the exact optimum the refit ended (at most gradient norm over
lambda, in float64) and how far the optimum moved: a refit that stays farther away than that has not
forgotten what it was told to. Needs numpy and scikit-learn.
"""

import gzip
import os
import statistics
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

LAMBDA = 1e-3
SIZES = [1, 20, 100]
REPEATS = 5
CASES = [
    ("lbfgs", 1e-4, "float64"),
    ("lbfgs", 1e-7, "float64"),
    ("newton-cg", 1e-4, "float64"),
    ("newton-cg", 1e-6, "float64"),
    ("newton-cg", 1e-6, "float32"),
    ("newton-cholesky", 1e-4, "float64"),
    ("newton-cholesky", 1e-8, "float64"),
]


def load(part):
    folder = Path(os.environ["EFFACE_DATA"]) / "mnist"
    raw = gzip.decompress((folder / f"{part}-images-idx3-ubyte.gz").read_bytes())
    x = np.frombuffer(raw, np.uint8, offset=16).reshape(-1, 784).astype(np.float64)
    raw = gzip.decompress((folder / f"{part}-labels-idx1-ubyte.gz").read_bytes())
    labels = np.frombuffer(raw, np.uint8, offset=8)
    keep = (labels == 3) | (labels == 8)
    x = x[keep]
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    # Stored as efface stores them.
    return x.astype(np.float32), (labels[keep] == 8).astype(np.float64)


def distance(x, y, w, n):
    """Gradient norm over lambda: bounds the distance to the optimum."""
    x = x.astype(np.float64)
    p = 1 / (1 + np.exp(-(x @ w)))
    return np.linalg.norm(x.T @ (p - y) / n + LAMBDA * w) / LAMBDA


def model(solver, tol, n):
    return LogisticRegression(
        C=1 / (LAMBDA * n),
        solver=solver,
        tol=tol,
        max_iter=1000,
        fit_intercept=False,
        warm_start=True,
    )


def timed(work):
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e3


def main():
    if "EFFACE_DATA" not in os.environ:
        sys.exit("`EFFACE_DATA` must name the folder of public data sets, got nothing")
    warnings.simplefilter("ignore")
    x32, y = load("train")
    x_test, y_test = load("t10k")
    n = len(y)
    print("| deleted | refit by | time | iterations | off by | optimum moved | accuracy |")
    print("|---|---|---|---|---|---|---|")
    exact = model("newton-cholesky", 1e-12, n)
    exact.fit(x32.astype(np.float64), y)
    before = exact.coef_[0].copy()
    for size in [0, *SIZES]:
        for solver, tol, kind in CASES:
            x = x32.astype(kind)
            times, steps, far, moved, right = [], [], [], [], []
            for repeat in range(REPEATS):
                gone = [7919 * (i + 1) % n for i in range(1000 * repeat, 1000 * repeat + size)]
                rest = np.setdiff1d(np.arange(n), gone)
                x_rest, y_rest = np.ascontiguousarray(x[rest]), y[rest]
                fitted = model(solver, tol, n)
                if size:
                    fitted.fit(x, y)
                times.append(timed(lambda f=fitted, a=x_rest, b=y_rest: f.fit(a, b)))
                steps.append(int(fitted.n_iter_[0]))
                w = fitted.coef_[0].astype(np.float64)
                far.append(distance(x_rest, y_rest, w, n))
                right.append(fitted.score(x_test, y_test))
                if size:
                    # One Newton step from the exact optimum on all rows, for its length.
                    truth = model("newton-cholesky", 1e-12, n)
                    truth.coef_, truth.intercept_ = before[None].copy(), np.zeros(1)
                    truth.classes_ = np.array([0.0, 1.0])
                    truth.fit(x_rest.astype(np.float64), y_rest)
                    moved.append(np.linalg.norm(truth.coef_[0] - before))
            what = f"{size}" if size else "0 (first fit)"
            print(
                f"| {what} | {solver}, tol {tol:g}, {kind} | {statistics.median(times):.1f} ms"
                f" | {statistics.median(steps):g} | {float(np.median(far)):.1e}"
                f" | {float(np.median(moved)) if moved else 0:.1e}"
                f" | {statistics.mean(right):.4f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
