"""Where a vault lies and who removes it."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import warnings
import weakref
from pathlib import Path
from typing import Any

from . import _engine
from ._errors import InputError, RowsCopiedWarning, VaultExists, VaultKeptWarning, VaultMissing


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


class Home:
    """The place of one vault and its key file, shared by all who refer to the vault.

    A private home is a folder that only its owner may enter. It goes when the last reference to
    it goes, at the latest at the end of the process; a process that was killed leaves it behind.

    Attributes
    ----------
    path, key : Path
        The vault and its key file.
    private : bool
        Whether the vault is removed automatically.
    """

    def __init__(self, path: str | os.PathLike[str], key: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()
        self.key = Path(key).absolute()
        self._removal: weakref.finalize[Any, Any] | None = None
        self._lock, self._process = threading.RLock(), os.getpid()

    @property
    def lock(self) -> threading.RLock:
        """Held by the one thread that works on the vault."""
        if self._process != os.getpid():  # a fork copies a lock, but not the thread that holds it
            self._lock, self._process = threading.RLock(), os.getpid()
        return self._lock

    @classmethod
    def make_private(cls) -> Home:
        """Make a private folder with a new key, and no vault yet."""
        folder = Path(tempfile.mkdtemp(prefix="efface-"))
        home = cls(folder / "model.efface", folder / "key.toml")
        home._removal = weakref.finalize(home, _remove, folder, os.getpid())
        _engine.create_key(home.key)
        return home

    @property
    def private(self) -> bool:
        return self._removal is not None and self._removal.alive

    def check(self) -> None:
        """Raise `VaultMissing` if the vault is not there."""
        if not self.path.exists():
            raise VaultMissing(
                f"the vault {self.path} is gone",
                code="not-found",
                hint="the model still predicts; put the vault back from where you keep it, or "
                "fit again",
            )

    def discard(self) -> None:
        """Remove a private vault now."""
        if self._removal is not None:
            self._removal()

    def keep(self, why: str) -> None:
        """Take a private vault out of the automatic removal, and warn about it once."""
        if self._removal is None or self._removal.detach() is None:
            return
        self._removal = None
        warnings.warn(
            f"{why}: its rows stay in {self.path} until you remove that folder; "
            "`save()` puts the vault where you want it",
            VaultKeptWarning,
            stacklevel=3,
        )

    def move(self, path: str | os.PathLike[str]) -> None:
        """Move the vault to a new name, where nothing may be yet.

        The key of a private vault goes beside it, as ``NAME.key.toml``.
        """
        self.check()
        target = Path(path).absolute()
        key = key_beside(target) if self.private else self.key
        for place in {target, key} - {self.key}:
            if place.exists() or place.is_symlink():
                raise VaultExists(
                    f"{place} already exists",
                    code="exists",
                    hint="give another name, or remove it yourself",
                )
        if not target.parent.is_dir():
            raise InputError(f"{target.parent} is not a folder", code="data")
        if self.private:
            _copy(self.key, key)
        _copy(self.path, target)
        old, removal = self.path, self._removal
        self.path, self.key, self._removal = target, key, None
        if removal is not None:
            removal()
        else:
            old.unlink()

    def __deepcopy__(self, memo: dict[int, Any]) -> Home:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        self.keep("the model was pickled")
        return Home, (str(self.path), str(self.key))


class Rows:
    """A vault as it goes into a pickle that is to hold the rows.

    What is unpickled is a private home of its own. The vault's own key goes along; the user's key
    file stays where it is.
    """

    def __init__(self, home: Home) -> None:
        self._home = home

    def __reduce__(self) -> tuple[Any, ...]:
        home = self._home
        home.check()
        warnings.warn(
            "the pickle holds the rows of the model: no deletion reaches this copy, so delete from "
            "each copy, or destroy it",
            RowsCopiedWarning,
            stacklevel=3,
        )
        with home.lock:
            vault = home.path.read_bytes()
        own = home.private or home.key == key_beside(home.path)
        return _unpacked, (vault, home.key.read_bytes() if own else str(home.key))


def _unpacked(vault: bytes, key: bytes | str) -> Home:
    home = Home.make_private()
    _write(home.path, vault)
    if isinstance(key, bytes):
        home.key.unlink()
        _write(home.key, key)
    else:
        home.key = Path(key)
    return home


def _write(path: Path, content: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as new:
        new.write(content)


def _copy(source: Path, target: Path) -> None:
    """Copy a file, readable by its owner only, and wait until it is on the disk."""
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with source.open("rb") as old, os.fdopen(descriptor, "wb") as new:
        shutil.copyfileobj(old, new, 1 << 20)
        new.flush()
        os.fsync(new.fileno())


def _remove(folder: Path, process: int) -> None:
    # A forked child must not take the vault of its parent.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
