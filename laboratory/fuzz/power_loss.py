"""Cut the power at every step of a command, on every disk that keeps its promises.

A command runs once under strace, which notes what it writes, synchronises, creates and removes.
From these notes the folder is made as a disk may have it after the power went at any step: what was
synchronised is there, and of what was written since any part may be, down to single sectors, in any
order; so with names until their folder is synchronised. Each such folder must open as the vault
before the command or after it, whole; after the command has ended, as the vault after it, without
a byte of what was deleted. Where the command was undone, it must succeed when repeated.

Usage: power_loss.py EFFACE [STATES] (Linux with strace; STATES states for each command)
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SECTOR = 512
CALLS = (
    "openat,pwrite64,write,lseek,ftruncate,fallocate,fsync,fdatasync,"
    "unlink,unlinkat,rename,renameat,renameat2,pwritev,pwritev2,writev,copy_file_range,sendfile"
)
LINE = re.compile(rb"^\d+ +(\w+)\((.*)\) += +(-?\d+)", re.DOTALL)
OPENED = re.compile(rb'^AT_FDCWD<.*?>, "((?:\\x..)*)", ([A-Z_|]+)')
ON_FILE = re.compile(rb"^\d+<((?:\\x..)*)>(?:\(deleted\))?(?:, )?(.*)$", re.DOTALL)
QUOTED = re.compile(rb'"((?:\\x..)*)"')

VAULT = "VAULT"  # in place of its path in the arguments of a command

Folder = dict[str, bytes]


class Fault(Exception):
    """A promise that was not kept."""


def vault_in(folder: Path, arguments: tuple[str, ...]) -> list[str]:
    """The arguments for the vault in a folder."""
    return [str(folder / "m.efface") if one == VAULT else one for one in arguments]


def text(hexadecimal: bytes) -> bytes:
    """Decode the digits that strace writes for bytes."""
    return bytes.fromhex(hexadecimal.replace(b"\\x", b"").decode())


@dataclass
class Disk:
    """A folder: what is surely on the disk of each file, and what may be."""

    durable: dict[int, bytearray]
    names: dict[str, int]
    pending: dict[int, list[tuple[int, bytes | None]]] = field(default_factory=dict)
    changes: list[tuple[str, int | None]] = field(default_factory=list)
    lies: bool = False

    @classmethod
    def of(cls, folder: Path) -> Disk:
        """The folder as it is, all of it on the disk."""
        files = sorted(folder.iterdir())
        durable = {number: bytearray(file.read_bytes()) for number, file in enumerate(files)}
        return cls(durable, {file.name: number for number, file in enumerate(files)})

    def now(self) -> dict[str, int]:
        """The names as programs see them."""
        return applied(self.names, self.changes)

    def sync(self, file: int) -> None:
        """All of a file is on the disk from now on."""
        for change in [] if self.lies else self.pending.pop(file, []):
            change_of(self.durable[file], *change)

    def sync_names(self) -> None:
        """All names are on the disk from now on."""
        if not self.lies:
            self.names, self.changes = self.now(), []

    def after_power_loss(self, draw: random.Random, share: float) -> Folder:
        """One way in which the disk may be found; about this share of what is pending is there."""
        portion = draw.random() if 0 < share < 1 else share
        kept = self.changes[: round(len(self.changes) * portion)]
        found = {}
        for name, file in applied(self.names, kept).items():
            content = bytearray(self.durable[file])
            for at, data in self.pending.get(file, []):
                if data is None:
                    if draw.random() < share:
                        change_of(content, at, None)
                    continue
                for part in sectors(at, data):
                    if draw.random() < share:
                        change_of(content, *part)
            found[name] = bytes(content)
        return found


def applied(names: dict[str, int], changes: list[tuple[str, int | None]]) -> dict[str, int]:
    """Names after files were given names or lost them."""
    after = dict(names)
    for name, file in changes:
        if file is None:
            after.pop(name, None)
        else:
            after[name] = file
    return after


def sectors(at: int, data: bytes) -> Iterator[tuple[int, bytes]]:
    """Parts of a write that reach the disk whole or not at all."""
    start = 0
    while start < len(data):
        end = min(len(data), ((at + start) // SECTOR + 1) * SECTOR - at)
        yield at + start, data[start:end]
        start = end


def change_of(content: bytearray, at: int, data: bytes | None) -> None:
    """Write, or with no data cut or lengthen."""
    if data is None:
        del content[at:]
        content.extend(bytes(at - len(content)))
        return
    content.extend(bytes(max(0, at - len(content))))
    content[at : at + len(data)] = data


def traced(command: list[str], folder: Path, notes: Path) -> list[tuple[str, str, int, bytes]]:
    """Run a command; what it did to the folder: call, name, number, bytes."""
    strace = ["strace", "-f", "-xx", "-y", "-s", "100000000", "-e", f"trace={CALLS}", "-o"]
    done = subprocess.run([*strace, str(notes), *command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr}")
    waiting: dict[bytes, bytes] = {}
    steps: list[tuple[str, str, int, bytes]] = []
    offsets: dict[bytes, int] = {}
    for line in notes.read_bytes().splitlines():
        process = line.split(b" ", 1)[0]
        if line.endswith(b"<unfinished ...>"):
            waiting[process] = line.removesuffix(b"<unfinished ...>").rstrip()
            continue
        if b" resumed>" in line:
            line = waiting.pop(process, b"") + line.split(b" resumed>", 1)[1]
        step = step_of(line, str(folder).encode(), offsets)
        if step is not None:
            steps.append(step)
    return steps


def step_of(
    line: bytes, folder: bytes, offsets: dict[bytes, int]
) -> tuple[str, str, int, bytes] | None:
    """What a call does to the folder, if anything."""
    found = LINE.match(line)
    if found is None or int(found[3]) < 0:
        return None
    call, arguments, answer = found[1].decode(), found[2], int(found[3])
    if call == "openat":
        opened = OPENED.match(arguments)
        if opened is None or not text(opened[1]).startswith(folder + b"/"):
            return None
        descriptor = str(answer).encode()
        offsets[descriptor] = 0
        flags = opened[2].decode().split("|")
        name = os.fsdecode(text(opened[1])[len(folder) + 1 :])
        return ("create", name, int("O_TRUNC" in flags), b"") if "O_CREAT" in flags else None
    if call in ("unlink", "unlinkat", "rename", "renameat", "renameat2"):
        paths = [text(path) for path in QUOTED.findall(arguments)]
        inside = [os.fsdecode(p[len(folder) + 1 :]) for p in paths if p.startswith(folder + b"/")]
        if not inside:
            return None
        return (call[:6], inside[0], 0, os.fsencode(inside[-1]))
    on = ON_FILE.match(arguments)
    if on is None:
        return None
    path, rest, descriptor = text(on[1]), on[2], arguments.split(b"<", 1)[0]
    if path == folder and call in ("fsync", "fdatasync"):
        return ("sync names", "", 0, b"")
    if not path.startswith(folder + b"/"):
        return None
    name = os.fsdecode(path[len(folder) + 1 :])
    if call in ("fsync", "fdatasync"):
        return ("sync", name, 0, b"")
    if call == "lseek":
        offsets[descriptor] = answer
        return None
    if call == "ftruncate":
        return ("cut", name, int(rest), b"")
    quoted = QUOTED.search(rest)
    if call not in ("write", "pwrite64") or quoted is None:
        raise SystemExit(f"a call that is not understood here: {call} on {name}")
    data = text(quoted[1])[:answer]
    if call == "pwrite64":
        return ("write", name, int(rest.rsplit(b", ", 1)[1]), data)
    at = offsets.get(descriptor, 0)
    offsets[descriptor] = at + answer
    return ("write", name, at, data)


def disks(disk: Disk, steps: list[tuple[str, str, int, bytes]]) -> Iterator[Disk]:
    """The disk after each step."""
    files = disk.now()
    for call, name, number, data in steps:
        file = files.get(name)
        if call == "create" and file is None:
            file = files[name] = max(disk.durable, default=-1) + 1
            disk.durable[file] = bytearray()
            disk.changes.append((name, file))
        elif call == "unlink":
            disk.changes.append((name, None))
            files.pop(name, None)
        elif call == "rename" and file is not None:
            other = os.fsdecode(data)
            disk.changes += [(other, file), (name, None)]
            files[other] = files.pop(name)
        elif call == "sync names":
            disk.sync_names()
        elif file is None:
            continue  # a file without a name any more
        elif call == "sync":
            disk.sync(file)
        elif call == "write":
            disk.pending.setdefault(file, []).append((number, data))
        if file is not None and (call == "cut" or (call == "create" and number)):
            disk.pending.setdefault(file, []).append((number if call == "cut" else 0, None))
        yield disk


@dataclass
class Trial:
    """A command, and what its end must not leave."""

    efface: str
    key: Path
    scratch: Path
    draw: random.Random

    def run(self, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command on the vault of a folder."""
        command = [self.efface, *vault_in(folder, arguments)]
        environment = {**os.environ, "EFFACE_KEY": str(self.key)}
        return subprocess.run(command, capture_output=True, text=True, env=environment)

    def head(self, folder: Path) -> str:
        """What a vault says of itself, which must be sound; nothing where there is none."""
        if not (folder / "m.efface").exists():
            return "nothing"
        sound = self.run(folder, "doctor", VAULT)
        if sound.returncode != 0:
            raise Fault(f"not sound: {folder}\n{sound.stdout}{sound.stderr}")
        status = json.loads(self.run(folder, "status", VAULT, "--json").stdout)
        return json.dumps([status[key] for key in ("head", "version", "records", "prepared")])

    def cut(
        self,
        before: Path,
        name: str,
        arguments: tuple[str, ...],
        gone: list[bytes],
        states: int,
        *,
        lies: bool = False,
    ) -> None:
        """Try a command on a copy of a folder, and every power loss in it."""
        live = self.scratch / "live"
        shutil.copytree(before, live)
        start = self.head(live)
        disk = Disk.of(live)
        disk.lies = lies
        os.environ["EFFACE_KEY"] = str(self.key)
        command = [self.efface, *vault_in(live, arguments)]
        steps = traced(command, live, self.scratch / "notes")
        end = self.head(live)
        tried: dict[int, bool] = {}
        turns = max(1, round(states / len(steps)))
        for number, after in enumerate(disks(disk, steps), 1):
            ended = number == len(steps)
            for turn in range(25 if ended else turns):
                share = (0.0, 1.0, 0.5, 0.1, 0.9)[(turn + (0 if ended else number)) % 5]
                found = after.after_power_loss(self.draw, share)
                mark = hash(frozenset(found.items()))
                if mark not in tried:
                    left = gone if ended else None
                    tried[mark] = self.holds(found, name, number, (start, end), left, arguments)
        done = sum(tried.values())
        undone = len(tried) - done
        print(f"{name}: {len(steps)} steps, {len(tried)} states: {undone} undone, {done} done")
        shutil.rmtree(live)

    def holds(
        self,
        found: Folder,
        name: str,
        number: int,
        heads: tuple[str, str],
        gone: list[bytes] | None,
        arguments: tuple[str, ...],
    ) -> bool:
        """Whether the command is done in a folder that was found, where it must be or may be."""
        folder = self.scratch / "found"
        folder.mkdir()
        for file, content in found.items():
            (folder / file).write_bytes(content)
            (folder / file).chmod(0o600)
        where = f"{name}, step {number}, {folder}"
        head = self.head(folder)
        if head not in heads or (gone is not None and head != heads[1]):
            raise Fault(f"{where}: neither before nor after")
        if gone is not None:
            left = [word for word in gone for content in found.values() if word in content]
            if left:
                raise Fault(f"{where}: {left[0]!r} is left after the command has ended")
        if head == heads[0] and self.draw.random() < 0.1:
            again = self.run(folder, *arguments)
            if again.returncode != 0:
                raise Fault(f"{where}: refused when repeated: {again.stderr}")
            self.head(folder)
        shutil.rmtree(folder)
        return head == heads[1]


def main() -> None:
    """Cut the power in every kind of request."""
    efface, states = str(Path(sys.argv[1]).absolute()), int((sys.argv[2:] or ["400"])[0])
    draw = random.Random(7)
    with tempfile.TemporaryDirectory() as scratch:
        trial = Trial(efface, Path(scratch) / "key.toml", Path(scratch), draw)
        words = ["".join(draw.choices("bcdfghjklmnpqrstvwxz", k=12)) for _ in range(400)]
        table = Path(scratch) / "table.csv"
        more = Path(scratch) / "more.csv"

        def whose(row: int) -> str:
            return f"who-{words[row // 3][::-1]}"

        def write(path: Path, rows: range) -> None:
            lines = [
                f"{words[row]},{whose(row)},{'yes' if draw.random() < 0.5 else 'no'},"
                f"{draw.random():.4f},{draw.random():.4f}"
                for row in rows
            ]
            path.write_text("\n".join(["id,who,y,a,b", *lines]) + "\n")

        write(table, range(390))
        write(more, range(390, 400))
        folder = Path(scratch) / "before"
        folder.mkdir()
        columns = ("--label", "y", "--id", "id", "--subject", "who")
        train = ("train", str(table), *columns, "-o", VAULT)
        empty = Path(scratch) / "empty"
        empty.mkdir()
        for arguments in (train, ("delete", VAULT, "--subject", whose(300))):
            made = trial.run(folder, *arguments)
            if made.returncode != 0:
                raise SystemExit(made.stderr)
        person = whose(15)
        gone = [person.encode(), *(words[row].encode() for row in (15, 16, 17))]
        delete = ("delete", VAULT, "--subject", person)
        try:
            trial.cut(folder, "delete", delete, gone, states, lies=True)
        except Fault:
            shutil.rmtree(trial.scratch / "found")
            shutil.rmtree(trial.scratch / "live")
        else:
            raise SystemExit("a disk that synchronises nothing was not noticed")
        trial.cut(empty, "train", train, [], states)
        for name, request, left in (
            ("delete", delete, gone),
            ("add", ("add", VAULT, str(more)), []),
            ("prepare", ("prepare", VAULT), []),
            ("erase", (*delete, "--erase-only"), gone),
        ):
            trial.cut(folder, name, request, left, states)


if __name__ == "__main__":
    main()
