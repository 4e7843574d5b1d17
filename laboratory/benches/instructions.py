"""Instructions of commands on fixed tables, counted by valgrind: a guard that no noise moves.

Usage: python laboratory/benches/instructions.py EFFACE [--write]

Exits with 1 where a command takes more than `MOST` times the instructions of `instructions.json`,
which `--write` writes. Counts are those of one thread and of the instruction sets that valgrind
has; noise comes from a seed, and what else is random (keys, names of vaults) moves them by a
thousandth.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

COUNTS = Path(__file__).with_suffix(".json")
MOST = 1.05
COUNTER = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]

# What is counted, in this order; others only make what these need.
COMMANDS = {
    "train, solve": "train table.csv --label y --id id --seed 1 -o solve.efface",
    "delete, solve": "delete solve.efface --record r7",
    "prepare": "prepare solve.efface",
    "delete, prepared": "delete solve.efface --record r8",
    "train, secret": "train table.csv --label y --id id --seed 1 --state secret"
    " --releases 8 --preprocess declared -o secret.efface",
    "delete, secret": "delete secret.efface --record r7",
    "train, ridge": "train table.csv --label y --id id --mechanism ridge -o ridge.efface",
    "delete, ridge": "delete ridge.efface --record r7",
    "train, random features": "train table.csv --label y --id id --mechanism ridge"
    " --features rff:64 -o rff.efface",
    "train, noisy-gd": "train table.csv --label y --id id --seed 1 --mechanism noisy-gd"
    " -o noisy.efface",
    "delete, noisy-gd": "delete noisy.efface --record r7",
    "train, dp-sgd": "train table.csv --label y --id id --seed 1 --mechanism dp-sgd"
    " --network dense:16 --steps 50 -o network.efface",
    "train, shards": "train table.csv --label y --id id --mechanism shards --shards 4"
    " --network dense:16 --epochs 2 -o shards.efface",
    "delete, shards": "delete shards.efface --record r7",
    "predict": "predict solve.efface table.csv",
    "status": "status solve.efface",
    "verify the ledger": "ledger verify ridge.efface --key public.txt",
    "verify all": "ledger verify ridge.efface --key public.txt --all",
    "account, dp-sgd": "account dp-sgd --input noise=1 --input rate=0.01 --input steps=1000"
    " --input group=1 --input delta=1e-5",
}


def table(rows: int, columns: int) -> Iterator[str]:
    """Lines of a table that is the same everywhere: a linear congruential generator."""
    state = 1
    yield ",".join(["id", *(f"x{k}" for k in range(columns)), "y"])
    for row in range(rows):
        numbers = []
        for _ in range(columns):
            state = (6364136223846793005 * state + 1442695040888963407) % 2**64
            numbers.append((state >> 40) / 2**23 - 1)
        label = "yes" if numbers[0] + numbers[1] * numbers[2] > 0 else "no"
        yield ",".join([f"r{row}", *(f"{number:.6f}" for number in numbers), label])


def counted(efface: str, command: str, folder: Path) -> int:
    """Run a command, and return its instructions."""
    words = [*COUNTER, efface, *shlex.split(command)]
    around = {
        **os.environ,
        "RAYON_NUM_THREADS": "1",
        "EFFACE_KEY": str(folder / "key.toml"),
        "NO_COLOR": "1",
    }
    ran = subprocess.run(  # noqa: S603
        words, cwd=folder, env=around, capture_output=True, text=True, check=False
    )
    found = re.search(r"I\s+refs:\s+([\d,]+)", ran.stderr)
    if ran.returncode != 0 or found is None:
        sys.exit(f"`efface {command}` exits with {ran.returncode}:\n{ran.stderr}")
    return int(found[1].replace(",", ""))


def main() -> None:
    """Count, print the table, and compare or write."""
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--write"]):
        sys.exit(__doc__)
    efface, write = str(Path(sys.argv[1]).resolve()), len(sys.argv) == 3
    before = json.loads(COUNTS.read_text()) if COUNTS.exists() else {}
    now, more = {}, []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "table.csv").write_text("\n".join(table(2000, 20)) + "\n")
        make_key = [efface, "key", "create", "--key", "key.toml"]
        made = subprocess.run(  # noqa: S603
            make_key, cwd=folder, capture_output=True, text=True, check=True
        )
        key = re.search(r"[0-9a-f]{64}", made.stdout)
        (folder / "public.txt").write_text(key[0] if key else "")
        print("| command | million instructions | before | ratio |\n|---|---|---|---|")
        for what, command in COMMANDS.items():
            now[what] = round(counted(efface, command, folder) / 1e6, 1)
            told = before.get(what)
            ratio = now[what] / told if told else None
            if ratio is not None and ratio > MOST:
                more.append(what)
            columns = (told or "", "" if ratio is None else f"{ratio:.3f}")
            print(f"| {what} | {now[what]} | {columns[0]} | {columns[1]} |", flush=True)
    if write:
        COUNTS.write_text(json.dumps(now, indent=2) + "\n")
    elif more:
        sys.exit(f"more than {MOST} times the instructions of {COUNTS.name}: {', '.join(more)}")


if __name__ == "__main__":
    main()
