"""Entries of a ledger: what certificates and erasures have in common."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _engine

# The published weights as the engine tells them: `coef`, `intercept`, and the rest as JSON.
Weights = tuple[NDArray[np.float64], NDArray[np.float64], str]

# The engine's answer to a request: what was served as JSON, the text of its entry, and the weights
# if some were published.
Answer = tuple[str, str, "Weights | None"]

# A function of the engine that serves requests.
Request = Callable[..., Answer]


@dataclass(frozen=True)
class Check:
    """One line of a verdict.

    Attributes
    ----------
    name : str
        What was checked.
    outcome : str
        ``"holds"``, ``"fails"``, ``"undecided"``, or ``"notice"``: nothing that was promised
        depends on it.
    reason : str
        Why.
    """

    name: str
    outcome: str
    reason: str


@dataclass(frozen=True)
class Verdict:
    """The outcome of a verification; true exactly if all of it holds.

    Attributes
    ----------
    outcome : str
        ``"fails"`` if one check fails, else ``"undecided"`` if one is, else ``"holds"``.
    checks : tuple of Check
        In the order they were made.
    """

    outcome: str
    checks: tuple[Check, ...]

    @classmethod
    def _from_json(cls, text: str) -> Verdict:
        document = json.loads(text)
        checks = tuple(Check(**check) for check in document["checks"])
        return cls(document["outcome"], checks)

    def joined(self, check: Check) -> Verdict:
        """Return the verdict with one more check."""
        checks = (*self.checks, check)
        found = {self.outcome, check.outcome}
        outcome = next(word for word in ("fails", "undecided", "holds") if word in found)
        return Verdict(outcome, checks)

    def __bool__(self) -> bool:
        return self.outcome == "holds"

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __str__(self) -> str:
        lines = [f"{check.outcome:<9}  {check.name}: {check.reason}" for check in self.checks]
        return "\n".join([*lines, self.outcome])


class Entry(ABC):
    """A text that a vault signed, as its own text says; :meth:`verify` checks it."""

    __slots__ = ("__dict__", "_text")

    def __init__(self, text: str | bytes) -> None:
        # Bytes that are no UTF-8 become text that is no JSON.
        self._text = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
        self._check_kind()
        # The engine's parser is the one that decides what an entry is.
        _engine.check_form(self._text)

    @abstractmethod
    def _check_kind(self) -> None:
        """Refuse an entry of another kind."""

    @cached_property
    def _shown(self) -> tuple[str, str]:
        """As plain text, and as HTML for a notebook."""
        return _engine.show(self._text)

    @cached_property
    def _document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self._text)
        return document

    @property
    def _is_erasure(self) -> bool:
        return is_erasure(self._text)

    @property
    def vault(self) -> str:
        """Identifier of the vault that the model lives in."""
        return str(self._document["vault"])

    @property
    def not_for_release(self) -> bool:
        """True for a test whose noise came from a seed: it promises nothing."""
        return bool(self._document["not_for_release"])

    @property
    def request_id(self) -> str:
        """The request's name."""
        return str(self._document["request"]["id"])

    @property
    def records(self) -> int | None:
        """Records the request was about; None where their number is private and not stated."""
        return number(self._document["request"]["records"])

    @property
    def covers(self) -> tuple[str, ...]:
        """What the entry covers, a line each."""
        return tuple(self._document["scope"]["covers"])

    @property
    def does_not_cover(self) -> tuple[str, ...]:
        """What the entry does not cover, a line each."""
        return tuple(self._document["scope"]["does_not_cover"])

    @property
    def index(self) -> int:
        """Position in the vault's ledger."""
        return int(self._document["chain"]["index"])

    @property
    def hash(self) -> str:
        """Hash of the text, which the next entry of the ledger names."""
        return str(self._document["chain"]["hash"])

    def verify(
        self,
        *,
        key: str | None = None,
        vault: str | PathLike[str] | None = None,
        head: str | None = None,
    ) -> Verdict:
        """Check hash and signature, and recompute every claim from the text alone.

        Parameters
        ----------
        key : str, optional
            The public key you trust, 64 hexadecimal digits. Without it the signature proves
            nothing, and the verdict is undecided at best.
        vault : path, optional
            The vault: its ledger and the digest of its model are checked, too. Without it the
            model is undecided.
        head : str, optional
            A head of the ledger that you kept, a hash or an entry's index and its hash; it shows
            whether the vault was replaced by an older copy.

        Returns
        -------
        Verdict
            True exactly if all of it holds.
        """
        return Verdict._from_json(_engine.verify(self._text, key=key, vault=vault, head=head))

    def to_json(self) -> str:
        """Return the text, byte for byte as it was signed."""
        return self._text

    def _repr_html_(self) -> str:
        return self._shown[1]

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._text,)


def is_erasure(text: str) -> bool:
    """Whether a text says that it is an erasure."""
    try:
        document = json.loads(text)
    except ValueError:
        return False
    return isinstance(document, dict) and str(document.get("schema")).startswith("efface.erasure/")


def counted(records: int | None) -> str:
    """A number of records in words; certificates do not state it where it is private."""
    if records is None:
        return "records (number not stated)"
    return "1 record" if records == 1 else f"{records} records"


def number(records: str) -> int | None:
    """A number of records as entries state it; None where it is private."""
    return None if records == "not stated" else int(records)
