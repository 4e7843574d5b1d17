"""The place of a vault and its key, and the removal of private ones."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import _engine
from ._entry import Answer, Weights
from ._errors import (
    Error,
    InputError,
    RowsCopiedWarning,
    StorageError,
    UnsavedWarning,
    VaultExists,
    VaultMissing,
    warn,
)
from ._scratch import Folder, holds, is_private, leave_key

# The private vaults of this process, by their paths.
_living: weakref.WeakValueDictionary[str, Home] = weakref.WeakValueDictionary()

# Those of them that a pickle may refer to, until the end of the process.
_pickled: set[Home] = set()

# Those of them whose vault has not been made.
_unsaved: weakref.WeakSet[Home] = weakref.WeakSet()

# Functions that pickle for another process of the same program: results of workers, and tasks for
# them. A hash is no copy at all.
_RESULTS = {
    ("concurrent.futures.process", "_sendback_result"),
    ("joblib.externals.loky.process_executor", "_sendback_result"),
    ("multiprocessing.pool", "worker"),
}
_TASKS = {
    ("joblib.externals.loky.backend.queues", "_feed"),
    ("multiprocessing.pool", "_handle_tasks"),
    ("multiprocessing.queues", "_feed"),
}
_HASHES = {("dask.tokenize", "tokenize"), ("joblib.hashing", "hash")}


def default_key() -> Path:
    """Return the place of the user's key file, by the rules of the command line.

    ``$EFFACE_KEY``, else ``$XDG_CONFIG_HOME/efface/key.toml``, else
    ``~/.config/efface/key.toml``.
    """
    if own := os.environ.get("EFFACE_KEY"):
        return Path(own).absolute()
    config = os.environ.get("XDG_CONFIG_HOME", "")
    if Path(config).is_absolute():
        return Path(config) / "efface" / "key.toml"
    if home := os.environ.get("HOME"):
        return Path(home) / ".config" / "efface" / "key.toml"
    raise InputError(
        "there is no place for the key file: `$HOME` is not set",
        code="key",
        hint="give `key`, or set `$EFFACE_KEY`",
    )


def key_beside(path: str | os.PathLike[str]) -> Path:
    """Return where the key of a vault lies that was made with a key of its own."""
    return Path(path).with_suffix(".key.toml")


def key_of(path: str | os.PathLike[str], key: str | os.PathLike[str] | None = None) -> Path:
    """Return the key file of a vault: given, else beside it, else the user's."""
    if key is not None:
        return Path(key)
    beside = key_beside(path)
    return beside if beside.exists() else default_key()


def limit_of(memory: str | int | None) -> str | None:
    """Return a limit of memory as the engine reads it: a size with a unit, or bytes."""
    return None if memory is None else str(memory)


class Home:
    """The place of one vault and its key file, shared by all who refer to the vault.

    A private home is a folder that only its owner may enter. It goes when the last reference to
    it goes, at the latest at the end of the process; what a killed process left is removed by the
    next one. What a worker process sends back with its result goes over to who receives it.

    A home may be without a folder at first, its vault in the memory of the process. Whoever asks
    for `path` or `key` has the folder made, and so has a fork, so that parent and child refer to
    one vault.
    """

    def __init__(self, path: str | os.PathLike[str], key: str | os.PathLike[str]) -> None:
        self._path, self._key = Path(path).absolute(), Path(key).absolute()
        self._folder: Folder | None = None
        # A model without a vault yet, the bytes of its rows, and the process that holds it.
        self._model: _engine.Unsaved | None = None
        self._size, self._maker = 0, os.getpid()
        self._lock, self._process = threading.RLock(), os.getpid()

    @property
    def path(self) -> Path:
        """The vault."""
        self._make_vault()
        return self._path

    @property
    def key(self) -> Path:
        """Its key file."""
        self._make_vault()
        return self._key

    @property
    def lock(self) -> threading.RLock:
        """Held by the one thread that works on the vault."""
        if self._process != os.getpid():  # a fork copies a lock, but not the thread that holds it
            self._lock, self._process = threading.RLock(), os.getpid()
        return self._lock

    @classmethod
    def make_private(cls, size: int = 0, *, memory: bool = True) -> Home:
        """Make a private folder with a new key, and no vault yet.

        Parameters
        ----------
        size : int
            Bytes of the rows, roughly: the folder is in memory unless they are too many.
        memory : bool
            Whether it may be.
        """
        home = cls._in(Folder.make(size, memory=memory))
        _engine.create_key(home.key)
        return home

    @classmethod
    def make_unsaved(cls, model: _engine.Unsaved, size: int) -> Home:
        """Make a home without a folder, for a model whose rows have so many bytes, roughly."""
        home = cls(*_UNNAMED)
        home._model, home._size = model, size
        _unsaved.add(home)
        return home

    @classmethod
    def _in(cls, folder: Folder) -> Home:
        home = cls(*_named_in(folder.path))
        home._folder = folder
        _living[str(home._path)] = home
        return home

    @property
    def unsaved(self) -> bool:
        """Whether the vault is in the memory of the process, as `fit` left it."""
        return self._model is not None

    @property
    def private(self) -> bool:
        """Whether the vault is removed automatically."""
        return self.unsaved or self._folder is not None

    def weights(self) -> Weights:
        """Return the published weights, as the engine tells them."""
        model = self._model
        published = None if model is None else model.answer[2]
        return published or _engine.weights(self.path)

    def _make_vault(self) -> None:
        """Make the folder of what is unsaved, and the vault and its key in it."""
        if self._model is None:
            return
        with self.lock:
            if self._model is None:
                return
            self._check_maker()
            folder = Folder.make(self._size)
            path, key = _named_in(folder.path)
            try:
                self._model.write_key(key)
                self._model.save(path)
            finally:
                # An interrupt may come when the vault is there already.
                if self._model.saved:
                    self._folder = folder
                    self._settle(path, key)
                else:
                    folder.remove()

    def _check_maker(self) -> None:
        """Refuse to make a vault of what a fork copied: there would be two of one model."""
        if self._maker != os.getpid():
            raise StorageError(
                "this model is in the memory of the process that this one was forked from, "
                "and its vault could not be made before",
                code="unwritable",
                hint="`save()` it before a fork",
            )

    def _settle(self, path: Path, key: Path) -> None:
        """Note that the model is in this vault now."""
        self._path, self._key, self._model = path, key, None
        _unsaved.discard(self)
        if self.private:
            _living[str(path)] = self

    def check(self) -> None:
        """Raise `VaultMissing` if the vault is not there."""
        if not self.unsaved and not self.path.exists():
            raise VaultMissing(
                f"the vault {self.path} no longer exists",
                code="not-found",
                hint="the model still predicts; restore the vault from a backup, or fit again",
            )

    def discard(self) -> None:
        """Remove a private vault now."""
        self._model = None
        if self._folder is not None:
            self._folder.remove()
            self._folder = None

    def move(self, path: str | os.PathLike[str]) -> None:
        """Move the vault to a new name, where nothing may be yet.

        The key of a private vault goes beside it, as ``NAME.key.toml``.
        """
        self.check()
        target = Path(path).absolute()
        place = self._path.parent
        own = self.private or (is_private(place) and self._key.parent == place)
        key = key_beside(target) if own else self.key
        for there in {target, key} - {self._key}:
            if there.exists() or there.is_symlink():
                raise VaultExists(
                    f"{there} already exists",
                    code="exists",
                    hint="give another name, or remove it yourself",
                )
        if not target.parent.is_dir():
            raise InputError(f"{target.parent} is not a folder", code="data")
        if self._model is not None:
            self._save(self._model, target, key)
            return
        if own:
            _write(key, self.key.read_bytes())
        try:
            _engine.relocate(self.path, target)
        except BaseException:
            if own and self.path.exists():
                leave_key(key)
            raise
        folder, self._folder = self._folder, None
        self._path, self._key = target, key
        if folder is not None:
            folder.remove()

    def _save(self, model: _engine.Unsaved, target: Path, key: Path) -> None:
        """Make the vault where it is to stay."""
        self._check_maker()
        model.write_key(key)
        try:
            model.save(target)
        finally:
            # An interrupt may come when the vault is there already.
            if model.saved:
                self._settle(target, key)
            else:
                with suppress(OSError):
                    leave_key(key)

    def __deepcopy__(self, memo: dict[int, Any]) -> Home:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        self._make_vault()
        folder = self._folder
        if folder is not None and folder.is_own:
            way = carrier()
            if way == "result":
                self._folder = None
                folder.give_away()
                return _adopted, (str(folder.path),)
            if way is None and self not in _pickled:
                _pickled.add(self)
                warn(
                    "the model was pickled, but its vault was never saved and goes at the end of "
                    "this process: the pickle cannot forget then; `save()` the model before, or "
                    "set `pickle_rows=True`",
                    UnsavedWarning,
                )
        return _reached, (str(self.path), str(self.key))

    def __getstate__(self) -> dict[str, str]:
        """Tell writers of objects that do not call what a pickle calls (skops) where it is."""
        return {"path": str(self.path), "key": str(self.key)}

    def __setstate__(self, state: dict[str, str]) -> None:
        self.__init__(**state)  # type: ignore[misc]


# The paths of a home without a folder.
_UNNAMED = (Path(os.devnull), Path(os.devnull))


def _named_in(folder: Path) -> tuple[Path, Path]:
    """The vault and the key file of a private folder."""
    return folder / "model.efface", folder / "key.toml"


def trained(
    rows: _engine.Table, settings: str, *, size: int, memory: str | None, **others: Any
) -> tuple[Home, Answer]:
    """Train a model whose rows have so many bytes, roughly; its home and the engine's answer.

    It is in the memory of the process where that has room and `memory` sets no limit, else in a
    private vault.
    """
    if memory is None and holds(size):
        model = _engine.train_unsaved(rows, settings, **others)
        return Home.make_unsaved(model, size), model.answer
    home = Home.make_private(size, memory=memory is None)
    try:
        answer = _engine.train(rows, settings, home.path, home.key, memory=memory, **others)
    except BaseException:
        home.discard()
        raise
    return home, answer


def _before_fork() -> None:
    """Make the vaults that are in this memory, which a fork would copy."""
    for home in list(_unsaved):
        with suppress(Error, OSError):  # the child refuses then to use it
            home._make_vault()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork)


def _reached(path: str, key: str) -> Home:
    """The home of a path: a private one's own object where it has come back to its process."""
    home = _living.get(path)
    return home if home is not None and home.private else Home(path, key)


def _adopted(folder: str) -> Home:
    try:
        return Home._in(Folder.adopt(Path(folder)))
    except FileNotFoundError:  # the worker was killed, or its result was read before
        return Home(*_named_in(Path(folder)))


def carrier() -> str | None:
    """Return what a pickle is made for: ``"result"`` of a worker, ``"task"`` for one, else None."""
    frame = sys._getframe(1)
    while frame is not None:
        caller = (frame.f_globals.get("__name__"), frame.f_code.co_name)
        if caller in _HASHES:
            return "task"
        if caller in _RESULTS:
            return "result"
        if caller in _TASKS:
            return None if multiprocessing.parent_process() is not None else "task"
        frame = frame.f_back  # type: ignore[assignment]
    return None


class Rows:
    """A vault as it goes into a pickle that is to hold the rows.

    What is unpickled is a private home of its own. The vault's own key goes along; the user's key
    file stays where it is.
    """

    def __new__(cls, home: Home | bytes, key: bytes | str = "") -> Any:
        """Take a home, or make one of a vault and its key, as they are in a pickle."""
        return super().__new__(cls) if isinstance(home, Home) else _unpacked(home, key)

    def __init__(self, home: Home) -> None:
        self._home = home

    def __reduce__(self) -> tuple[Any, ...]:
        home = self._home
        home.check()
        warn(
            "the pickle contains the rows of the model: deletions do not reach this copy, so "
            "delete from each copy, or destroy it",
            RowsCopiedWarning,
        )
        with home.lock:
            folder = Folder.make(home.path.stat().st_size)
            try:
                whole = folder.path / "model.efface"
                _engine.backup(home.path, whole)
                vault = whole.read_bytes()
            finally:
                folder.remove()
        own = home.private or home.key == key_beside(home.path)
        return Rows, (vault, home.key.read_bytes() if own else str(home.key))


def _unpacked(vault: bytes, key: bytes | str) -> Home:
    home = Home.make_private()
    _write(home.path, vault)
    if isinstance(key, bytes):
        home.key.unlink()
        _write(home.key, key)
    else:
        home._key = Path(key)
    return home


def _write(path: Path, content: bytes) -> None:
    """Write a new file, readable by its owner only, and wait until it is on the disk."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as new:
        new.write(content)
        new.flush()
        os.fsync(new.fileno())
