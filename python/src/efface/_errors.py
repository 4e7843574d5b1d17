"""Exceptions: the engine's errors by name, and warnings."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from . import _engine


class Error(Exception):
    """A refusal or a failure; the base of all errors of efface.

    Attributes
    ----------
    code : str
        A stable word for programs, such as ``"unknown-record"``.
    hint : str or None
        What to do, where something can be done.
    """

    def __init__(self, message: str, *, code: str = "error", hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint

    @property
    def message(self) -> str:
        """The message without the hint: the value got and the rule."""
        return str(self.args[0])

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **vars(self)), (self.message,)


class InputError(Error, ValueError):
    """A parameter or a table that breaks a rule; nothing was changed."""


class Refused(Error):
    """A request that was understood and will not be served; nothing was changed."""


class FitRefused(Refused, ValueError):
    """Parameters that do not go together, or not with the data; nothing was made."""


class DuplicateRecord(Refused, ValueError):
    """An id that is given twice, or that a record has or had; nothing was changed."""


class UnknownRecord(Refused, KeyError):
    """An id that is not in the model; nothing was changed.

    Attributes
    ----------
    names : tuple of str
        All of the names that are unknown.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "unknown-record",
        hint: str | None = None,
        names: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.names = names


class UnknownSubject(UnknownRecord):
    """A subject that is not in the model; nothing was changed."""


class PartlyForgotten(Error):
    """Some models inside an object served a request, and others failed.

    Attributes
    ----------
    certificates : dict
        The certificates of those that served it, by where they are in the object.
    failures : dict
        The errors of the others.
    """

    def __init__(
        self,
        message: str,
        *,
        code: str = "partly-forgotten",
        hint: str | None = None,
        certificates: Mapping[str, Any] | None = None,
        failures: Mapping[str, Error] | None = None,
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.certificates = dict(certificates or {})
        self.failures = dict(failures or {})


class BudgetExhausted(Refused):
    """The promise does not cover this request any more."""


class ReleasesExhausted(BudgetExhausted):
    """The releases that the promise covers have been made."""


class StorageError(Error, OSError):
    """The disk or the vault failed; the vault is as it was before."""

    # `OSError` would build its own text and drop what it does not know.
    def __init__(self, message: str, *, code: str = "error", hint: str | None = None) -> None:
        Error.__init__(self, message, code=code, hint=hint)

    __str__ = Error.__str__
    __reduce__ = Error.__reduce__


class VaultMissing(StorageError):
    """The vault is not where it was."""


class VaultExists(StorageError):
    """There is something under the name of the new vault; it is not overwritten."""


class VaultBusy(StorageError):
    """Another process or thread is at work on the vault."""


class Interrupted(Error):
    """The work was interrupted; nothing was changed."""


class StaleModelWarning(UserWarning):
    """The vault holds a newer model than the estimator that is used: `sync()` loads it."""


class UnsavedWarning(UserWarning):
    """A model was pickled before it was saved: its vault goes at the end of the process."""


class RowsClippedWarning(UserWarning):
    """One row in a hundred or more exceeded the bound on rows and was scaled down to it."""


class NoiseDominatesWarning(UserWarning):
    """The noise is expected to cost more than the model can gain from the data."""


class SettingsWarning(UserWarning):
    """A setting makes for a model that promises little, learns little or serves no request."""


class DamagedVaultWarning(UserWarning):
    """An erasure also took out damaged rows of the vault, which the request did not name."""


class RowsCopiedWarning(UserWarning):
    """Rows were written into a pickle; no deletion reaches such copies."""


class NotCoveredWarning(UserWarning):
    """Something about the fit that no certificate covers."""


class ModelWithdrawn(Refused):
    """Records were erased without a release, so there is no model until a refresh."""


_BY_CODE: dict[str, type[Error]] = {
    "budget-exhausted": BudgetExhausted,
    "duplicate-id": DuplicateRecord,
    "exists": VaultExists,
    "in-use": VaultBusy,
    "not-found": VaultMissing,
    "releases-exhausted": ReleasesExhausted,
    "unknown-record": UnknownRecord,
    "unknown-subject": UnknownSubject,
    "withdrawn": ModelWithdrawn,
}

# Codes of Python's own errors.
_OWN = {
    "client": "There is no Dask client, or it is closed.",
    "error": "Anything else.",
    "no-model": "There is no fitted efface model in the object.",
    "partly-forgotten": "Some models inside an object served the request, and others failed.",
    "trunk": "What `Declared(features=...)` names is no fitted network.",
    "unlike-names": "The models inside an object name their records differently.",
}

_BY_KIND: dict[str, type[Error]] = {
    "input": InputError,
    "interrupted": Interrupted,
    "refused": Refused,
    "storage": StorageError,
}


def codes() -> dict[str, str]:
    """Every code an error can have, and what it means, in the order of the alphabet."""
    return dict(sorted({**json.loads(_engine.codes()), **_OWN}.items()))


def of_engine(
    kind: str, code: str, message: str, hint: str | None, names: Sequence[str] = ()
) -> Error:
    """The exception for an error of the engine; `names` are those that are unknown."""
    exception = _BY_CODE.get(code, _BY_KIND[kind])
    rest: dict[str, Any] = {"names": tuple(names)} if issubclass(exception, UnknownRecord) else {}
    return exception(message, code=code, hint=hint, **rest)


@contextmanager
def fitting() -> Iterator[None]:
    """Raise refusals of a training as scikit-learn raises those of parameters, a `ValueError`."""
    try:
        yield
    except Refused as error:
        if isinstance(error, ValueError | BudgetExhausted):
            raise
        raise FitRefused(error.message, code=error.code, hint=error.hint) from None


def warn(text: str, category: type[Warning]) -> None:
    """Warn, as if from the line of the user's that led here."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _library(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def _library(module: str) -> bool:
    return module.partition(".")[0] in ("contextlib", "efface", "joblib", "sklearn")


# Tracebacks name them as they are imported.
for _kind in list(globals().values()):
    if isinstance(_kind, type) and issubclass(_kind, Exception):
        _kind.__module__ = "efface"
