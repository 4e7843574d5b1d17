"""Gradient passes of this crate beside NumPy's two matrix-vector products.

    python3 crates/efface-matrix/benches/gradient.py

runs `cargo bench` and then NumPy on the same shapes, each with 1 and 2 threads, and prints one
table. Needs numpy. Times are the best of many passes.
"""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

SHAPES = [(12_000, 784), (50_000, 512)]
THREADS = [1, 2]
LIMITS = ["OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"]


def best(call):
    """Best time of one call in ms, over at least ten calls and half a second."""
    times, begin = [], time.perf_counter()
    while len(times) < 10 or time.perf_counter() - begin < 0.5:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def numpy_passes():
    """Prints rows, columns, element type and ms for each case."""
    import numpy as np

    rng = np.random.default_rng(1)
    for rows, cols in SHAPES:
        for kind in ("float64", "float32"):
            x = rng.uniform(-1, 1, (rows, cols)).astype(kind)
            w = rng.uniform(-1, 1, cols).astype(kind)
            y = rng.uniform(-1, 1, rows).astype(kind)

            def gradient():
                residual = x @ w - y
                return x.T @ residual, 0.5 * (residual @ residual)

            print(rows, cols, kind, best(gradient), flush=True)


def run_numpy(threads):
    """Times of NumPy in a process of its own, whose BLAS reads the limit when it starts."""
    environment = os.environ | {name: str(threads) for name in LIMITS}
    command = [sys.executable, __file__, "--numpy"]
    out = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    times = {}
    for line in out.stdout.splitlines():
        rows, cols, kind, ms = line.split()
        times[threads, int(rows), int(cols), kind] = float(ms)
    return times


def run_crate():
    """The lines of `cargo bench`, as (threads, rows, cols, ms, rest)."""
    root = Path(__file__).resolve().parents[3]
    command = ["cargo", "bench", "-p", "efface-matrix", "--bench", "gradient"]
    out = subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE, text=True)
    pattern = re.compile(r"^(\d) +(\d+) +(\d+) (\S+) +([\d.]+) ms +(.*)$", re.MULTILINE)
    for threads, rows, cols, ms, rest in pattern.findall(out.stdout):
        yield int(threads), int(rows), int(cols), float(ms), rest


def main():
    lines = list(run_crate())
    times = {}
    for threads in THREADS:
        times |= run_numpy(threads)
    print("threads  shape           here       NumPy f64 (f64/here)     NumPy f32 (f32/here)")
    for threads, rows, cols, ms, rest in lines:
        others = [times[threads, rows, cols, kind] for kind in ("float64", "float32")]
        beside = "".join(f" {other:>8.3f} ms ({other / ms:.2f})" for other in others)
        print(f"{threads}  {rows:>6} x {cols:<4} {ms:>8.3f} ms {beside}   {rest}")


if __name__ == "__main__":
    numpy_passes() if "--numpy" in sys.argv else main()
