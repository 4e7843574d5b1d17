"""What benchmarks in Python share: public data sets, clocks, and tables in Markdown."""

from __future__ import annotations

import gzip
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def data(path: str) -> Path:
    """A file in the folder of public data sets."""
    folder = os.environ.get("EFFACE_DATA")
    if not folder:
        sys.exit("`EFFACE_DATA` must name the folder of public data sets, got nothing")
    return Path(folder) / path


def mnist(part: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Images of one part, `train` or `t10k`, as rows of 784 pixels, and their digits."""

    def read(kind: str, head: int) -> NDArray[np.uint8]:
        path = data(f"mnist/{part}-{kind}-ubyte.gz")
        return np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8, offset=head)

    return read("images-idx3", 16).reshape(-1, 784), read("labels-idx1", 8)


def timed(work: Callable[[], object]) -> float:
    """The seconds that work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def ms(seconds: Iterable[float]) -> str:
    """The median of some seconds, in milliseconds."""
    return f"{1e3 * statistics.median(seconds):.2f} ms"


def row(*cells: Any) -> None:
    """Prints a row of a table in Markdown."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def head(*cells: str) -> None:
    """Prints the head of a table in Markdown."""
    row(*cells)
    row(*("---" for _ in cells))
