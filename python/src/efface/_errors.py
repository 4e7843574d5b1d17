"""Exceptions: the engine's errors by name, and warnings."""

from __future__ import annotations

import re
from typing import Any


class Error(Exception):
    """Whatever efface refuses or fails at.

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
        """What happened: the value got and the rule."""
        return str(self.args[0])

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.message, self.code, self.hint)


class InputError(Error, ValueError):
    """A parameter or a table that breaks a rule; nothing was changed."""


class Refused(Error):
    """A request that was understood and will not be served; nothing was changed."""


class DuplicateRecord(Refused, ValueError):
    """An id that stands twice, or that a record has or had; nothing was changed."""


class UnknownRecord(Refused, KeyError):
    """An id that is not in the model; nothing was changed."""


class UnknownSubject(UnknownRecord):
    """A subject that is not in the model; nothing was changed."""


class BudgetExhausted(Refused):
    """What was promised does not cover this request any more."""


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


class VaultKeptWarning(UserWarning):
    """Rows stay in a file that nobody removes automatically any more."""


class RowsClippedWarning(UserWarning):
    """Most rows were longer than `row_norm`: the model learnt from their directions alone."""


class RowsCopiedWarning(UserWarning):
    """Rows were written into a pickle; no deletion reaches such copies."""


class NotCoveredWarning(UserWarning):
    """Something about the fit that no certificate covers."""


_BY_CODE: dict[str, type[Error]] = {
    "budget-exhausted": BudgetExhausted,
    "duplicate-id": DuplicateRecord,
    "exists": VaultExists,
    "in-use": VaultBusy,
    "not-found": VaultMissing,
    "releases-exhausted": ReleasesExhausted,
    "unknown-record": UnknownRecord,
    "unknown-subject": UnknownSubject,
}

_BY_KIND: dict[str, type[Error]] = {
    "input": InputError,
    "interrupted": Interrupted,
    "refused": Refused,
    "storage": StorageError,
}

# A flag of the command line in a hint, such as `--max-group` or `--key FILE`.
_FLAG = re.compile(r"`--([a-z][a-z-]*)(?: [^`]*)?`")

# Flags whose parameter has another name here.
_PARAMETERS = {
    "id": "ids",
    "lambda": "lambda_",
    "record": "ids",
    "seed": "random_state",
    "subject": "subjects",
    "weight": "sample_weight",
}

# A command of the command line that is a method here.
_COMMAND = re.compile(r"`efface (add|refresh|status|update)`")

# The engine counts the rows of a table from 1.
_ROW = re.compile(r"^X, row ([0-9]+)")


def of_engine(kind: str, code: str, message: str, hint: str | None) -> Error:
    """The exception for an error of the engine."""
    exception = _BY_CODE.get(code, _BY_KIND[kind])
    return exception(spoken(message), code=code, hint=hint and spoken(hint))


def spoken(text: str) -> str:
    """The text with flags, commands and rows of the command line as Python has them."""

    def parameter(match: re.Match[str]) -> str:
        name = match[1]
        return f"`{_PARAMETERS.get(name, name.replace('-', '_'))}`"

    text = _ROW.sub(lambda match: f"X[{int(match[1]) - 1}]", text)
    text = _COMMAND.sub(r"`\1()`", text)
    # `--record` and `--ids` are one parameter here.
    return _FLAG.sub(parameter, text).replace("`ids`, `subjects` or `ids`", "`ids` or `subjects`")


# Tracebacks name them as they are imported.
for _kind in list(globals().values()):
    if isinstance(_kind, type) and issubclass(_kind, Exception):
        _kind.__module__ = "efface"


def _again(kind: type[Error], message: str, code: str, hint: str | None) -> Error:
    return kind(message, code=code, hint=hint)
