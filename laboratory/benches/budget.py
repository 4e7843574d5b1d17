"""Removals that `objective-perturbation` serves before it retrains, on MNIST 3 versus 8.

    EFFACE_DATA=... python3 laboratory/benches/budget.py

prints a Markdown table: for each noise the mean accuracy of some models and how many single
deletions the published residual budget lasts for, at epsilon 1 and delta 1/n. Its published theorem
does not hold; Newton removal from a memory (`newton` of efface-bench) is compared with this.
Needs the installed package (`make wheel`) and scikit-learn.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from efface import Vault
from estimators import Table, mnist

NOISES = (1.0, 2.0, 3.0, 5.0, 10.0)
DRAWS = 5


def trained(table: Table, noise: float, folder: Path) -> Vault:
    n = len(table.y)
    settings: dict[str, Any] = {
        "mechanism": "objective-perturbation",
        "noise": noise,
        "lambda": 1e-3,
        "intercept": 0.0,
        "public_n": n,
        "capacity": n,
        "epsilon": 1.0,
        "delta": 1 / n,
    }
    return Vault.train(folder / "model.efface", table.X, table.y, settings=settings)


def accuracy(table: Table, vault: Vault) -> float:
    coef, _, _ = vault.weights()
    return float(((table.X_test @ coef[0] > 0) == (table.y_test > 0)).mean())


def served(vault: Vault) -> tuple[int, str]:
    """Deletions until a retraining, that one not counted, and the work of the last of them."""
    spent, work = 0.0, ""
    for count in range(100_000):
        receipt = vault.delete(ids=[f"row:{7 * count}"])
        residual = vault.status()["residual"]
        if residual["bound"] < spent:
            return count, work
        done = receipt.work or {}
        spent, work = residual["bound"], f"{done['passes']} and {done['hessians']}"
    raise AssertionError("the budget never ran out")


def main() -> None:
    if "EFFACE_DATA" not in os.environ:
        sys.exit("`EFFACE_DATA` must name the folder of public data sets, got nothing")
    table = mnist()
    print("| noise | accuracy | removals before a retraining | passes and Hessians of a removal |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["EFFACE_KEY"] = str(Path(scratch) / "key.toml")
        for noise in NOISES:
            right = []
            for _ in range(DRAWS):
                with tempfile.TemporaryDirectory(dir=scratch) as folder:
                    vault = trained(table, noise, Path(folder))
                    right.append(accuracy(table, vault))
            with tempfile.TemporaryDirectory(dir=scratch) as folder:
                count, work = served(trained(table, noise, Path(folder)))
            mean = statistics.mean(right)
            print(f"| {noise:g} | {mean:.4f} | {count} | {work} |", flush=True)


if __name__ == "__main__":
    main()
