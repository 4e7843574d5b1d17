"""Erasures without a release: what the ledger says of them, and what is left of a model."""

from __future__ import annotations

import json
from functools import cached_property
from os import PathLike
from typing import Any

from . import _engine
from ._errors import InputError, ModelWithdrawn
from .certificate import Certificate, Verdict, _is_erasure


class Erasure:
    """What the ledger says of records that were erased without a release.

    It claims nothing about any model: the rows are gone, and the model is withdrawn.

    Parameters
    ----------
    text : str or bytes
        The entry as :meth:`to_json`, the command line or a vault gives it.

    Raises
    ------
    InputError
        If the text is no erasure.
    """

    __slots__ = ("__dict__", "_text")

    def __init__(self, text: str | bytes) -> None:
        self._text = text.decode(errors="replace") if isinstance(text, bytes) else str(text)
        if not _is_erasure(self._text):
            raise InputError("the text is no erasure", code="certificate")
        self._page: str = _engine.show(self._text)

    @cached_property
    def _document(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self._text)
        return document

    @property
    def request_id(self) -> str:
        """The request's name."""
        return str(self._document["request"]["id"])

    @property
    def at(self) -> str:
        """When the request was received: UTC, RFC 3339."""
        return str(self._document["at"])

    @property
    def records(self) -> int | None:
        """Records that were erased; None where their number is private."""
        records = str(self._document["request"]["records"])
        return int(records) if records.isdecimal() else None

    @property
    def version(self) -> int:
        """Version of the model that was withdrawn."""
        return int(self._document["model"]["version"])

    @property
    def does_not_cover(self) -> tuple[str, ...]:
        """What the erasure says nothing about."""
        return tuple(self._document["scope"]["does_not_cover"])

    @property
    def index(self) -> int:
        """Position in the vault's ledger."""
        return int(self._document["chain"]["index"])

    def verify(
        self,
        *,
        key: str | None = None,
        vault: str | PathLike[str] | None = None,
        head: str | None = None,
    ) -> Verdict:
        """Check hash and signature; parameters as for :meth:`Certificate.verify`."""
        return Verdict._from_json(_engine.verify(self._text, key=key, vault=vault, head=head))

    def to_json(self) -> str:
        """Return the entry, byte for byte as it was signed."""
        return self._text

    def __str__(self) -> str:
        return self._page

    def __repr__(self) -> str:
        return f"<efface.Erasure {self.index}: model version {self.version} withdrawn>"

    def __eq__(self, other: object) -> bool:
        return self._text == other._text if isinstance(other, Erasure) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[type[Erasure], tuple[str]]:
        return Erasure, (self._text,)


def answered(text: str) -> Any:
    """Return an answer to an erasure: its entry, or what says that the records went before."""
    return Erasure(text) if _is_erasure(text) else Certificate(text)


class Withdrawn:
    """In the place of a model's weights once they are erased: whatever is asked of it says so.

    Parameters
    ----------
    hint : str or None
        What to do, as the engine has it for this model.
    """

    def __init__(self, hint: str | None) -> None:
        self._hint = hint

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # copying and pickling look for methods, before there is a hint
            raise AttributeError(name)
        raise ModelWithdrawn(
            "the model was withdrawn when records were erased: it has no weights",
            code="withdrawn",
            hint=self._hint,
        )
