"""Private folders for vaults that were not saved, in memory if there is room.

A model has none before something asks for its vault: `holds` says whether its rows may be in the
memory of the process until then.

Each process has a folder ``efface-...``, and in it one for each vault. A lock on the file
``.efface-....owner`` beside it says that the process, or a fork of it, is alive: the system
releases it however the process ends, and the next process that makes a vault removes what a dead
one left.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ._errors import InputError, StorageError

try:
    import fcntl
except ImportError:  # without such locks, what a killed process leaves stays
    fcntl = None  # type: ignore[assignment]

# The folder in which Linux keeps files in memory.
_MEMORY = Path("/dev/shm")  # noqa: S108 - what is made there is for its owner alone

# The beginning of names of folders for vaults.
_VAULT = "vault-"

# Bytes of rows that are held if the free memory is unknown.
_HELD = 64 << 20

# Room that a vault, its journal and later additions may take: for each byte of rows, and at least.
_TIMES, _LEAST = 4, 16 << 20

_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)

_lock = threading.Lock()

# The folders of this process by the place they are in, each with the descriptor of its lock.
_folders: dict[Path, tuple[Path, int]] = {}
_process = os.getpid()


class Folder:
    """A private folder for one vault, removed with the last reference to it.

    It goes at the end of the process at the latest. A fork never removes its parent's.

    Attributes
    ----------
    path : Path
        The folder, which only its owner may enter.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._process = path, os.getpid()
        self._removal: Any = weakref.finalize(self, _remove, path, os.getpid())

    @classmethod
    def make(cls, size: int = 0, *, memory: bool = True) -> Folder:
        """Make an empty folder for a vault whose rows have so many bytes, roughly.

        In memory where it has room and `memory` allows it.
        """
        place = _place(size, memory=memory)
        for _ in range(1000):
            with suppress(FileNotFoundError), _lock:  # who adopted the last one removed the rest
                return cls(Path(tempfile.mkdtemp(prefix=_VAULT, dir=_own(place))))
        raise StorageError(f"{place} does not keep new folders", code="unwritable")

    @classmethod
    def adopt(cls, path: Path) -> Folder:
        """Take over a folder that another process gave away."""
        with _lock:
            mine = _own(path.parent.parent) / path.name
            path.rename(mine)
        _leave(path.parent)
        return cls(mine)

    @property
    def is_own(self) -> bool:
        """Whether this process made or adopted it, and not one that this was forked from."""
        return self._process == os.getpid()

    def give_away(self) -> None:
        """Leave the folder to the process that adopts it.

        If none does, it is removed like everything of this process once that is dead.
        """
        self._removal.detach()

    def remove(self) -> None:
        """Remove the folder now."""
        self._removal()


def holds(size: int) -> bool:
    """Whether this process may hold rows of so many bytes, roughly, which are in no vault."""
    _own_place()
    try:
        return _available() >= 2 * (_TIMES * size + _LEAST)
    except (OSError, KeyError, ValueError):
        return size <= _HELD


def is_private(folder: Path) -> bool:
    """Whether a folder was made here, by this process or another."""
    return folder.name.startswith(_VAULT) and folder.parent.name.startswith("efface-")


def leave_key(key: Path) -> None:
    """Remove a key file that no vault needs."""
    _overwrite(key)
    key.unlink()


def _place(size: int, *, memory: bool = True) -> Path:
    """The folder to make folders in: in memory, unless the rows would take much of it."""
    if (own := _own_place()) is not None:
        return own
    with suppress(OSError, KeyError, ValueError):
        writable = memory and os.access(_MEMORY, os.W_OK | os.X_OK)
        if writable and _free() >= 2 * (_TIMES * size + _LEAST):
            return _MEMORY
    return Path(tempfile.gettempdir())


def _own_place() -> Path | None:
    """The folder that the user named for unsaved vaults, if one was."""
    own = os.environ.get("EFFACE_SCRATCH")
    if not own:
        return None
    if not Path(own).is_dir():
        raise InputError(
            f"`$EFFACE_SCRATCH` must be a folder (for unsaved vaults), got {own}",
            code="no-folder",
            hint="create it, or unset the variable",
        )
    return Path(own).absolute()


def _free() -> int:
    """Bytes that may still be kept in memory as files."""
    return min(shutil.disk_usage(_MEMORY).free, _available())


def _available() -> int:
    """Bytes of memory that nothing needs now."""
    lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    available = dict(line.split(":", 1) for line in lines)["MemAvailable"]
    return 1024 * int(available.split()[0])


def _own(place: Path) -> Path:
    """The folder of this process in a place; called under the lock."""
    global _process
    if _process != os.getpid():  # a fork makes its own, and holds the lock of its parent's, too
        _folders.clear()
        _process = os.getpid()
    folder, descriptor = _folders.get(place, (None, -1))
    if folder is not None and folder.is_dir():
        return folder
    if folder is None:
        _clean(place)
        weakref.finalize(Folder, _end, place, os.getpid())
    else:
        os.close(descriptor)
    _folders[place] = folder, _ = _claimed(place)
    return folder


def _claimed(place: Path) -> tuple[Path, int]:
    """Make the folder of this process; its owner's file gets that name when the lock is held."""
    descriptor, claim = tempfile.mkstemp(prefix=".efface-", suffix=".claim", dir=place)
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    owner = Path(claim).with_suffix(".owner")
    Path(claim).rename(owner)
    folder = place / owner.stem.removeprefix(".")
    folder.mkdir(mode=0o700)
    return folder, descriptor


def _owner_of(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.owner")


def _clean(place: Path) -> None:
    """Remove what processes left that are not alive any more."""
    for owner in place.glob(".efface-*.owner"):
        with suppress(OSError), _abandoned(owner):
            folder = place / owner.stem.removeprefix(".")
            for vault in folder.glob(f"{_VAULT}*"):
                _erase(vault)
            _leave(folder)


@contextmanager
def _abandoned(owner: Path) -> Iterator[None]:
    """Hold the lock of a process that is dead; `OSError` for all others."""
    if fcntl is None or owner.lstat().st_uid != os.getuid():
        raise PermissionError
    descriptor = os.open(owner, os.O_RDWR | _NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _end(place: Path, process: int) -> None:
    """At the end of the process: remove what workers left that have ended before."""
    if os.getpid() == process:
        _clean(place)


def _leave(folder: Path) -> None:
    """Remove the folder of a process if no vault is in it; it makes another when it needs one."""
    with suppress(OSError):
        folder.rmdir()
        _owner_of(folder).unlink()


def _remove(folder: Path, process: int) -> None:
    # A forked child must not take the vault of its parent.
    if os.getpid() == process:
        _erase(folder)
        _leave(folder.parent)


def _erase(folder: Path) -> None:
    """Remove a folder, its files overwritten with zeros where they are on a disk."""
    if _MEMORY not in folder.parents:
        for path in folder.glob("*"):
            with suppress(OSError):
                _overwrite(path)
    shutil.rmtree(folder, ignore_errors=True)


def _overwrite(path: Path) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | _NOFOLLOW), "wb") as file:
        facts = os.fstat(file.fileno())
        left = facts.st_size if facts.st_nlink == 1 else 0  # one with a second name is not ours
        while left > 0:
            left -= file.write(bytes(min(left, 1 << 16)))
        file.flush()
        os.fsync(file.fileno())
