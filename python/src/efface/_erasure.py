"""Erasures without a release: what the ledger says of them, and what is left of a model."""

from __future__ import annotations

import json
from typing import Any

from ._entry import Answer, Entry, is_erasure, number
from ._errors import InputError, ModelWithdrawn
from ._notices import Notice, warn_of
from .certificate import Certificate


class Erasure(Entry):
    """The ledger's entry about records that were erased without a release.

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

    def _check_kind(self) -> None:
        if not self._is_erasure:
            raise InputError("the text is not an erasure", code="certificate")

    @property
    def at(self) -> str:
        """When the request was received: UTC, RFC 3339."""
        return str(self._document["at"])

    @property
    def damaged(self) -> int | None:
        """Damaged records that went as well, since their owners are unknown.

        None where their number is private.
        """
        return self._lost("erased")

    @property
    def missing(self) -> int | None:
        """Records that were missing from the damaged vault; None where their number is private."""
        return self._lost("missing")

    def _lost(self, what: str) -> int | None:
        damage = self._document["damage"]
        return 0 if damage is None else number(damage[what])

    @property
    def version(self) -> int:
        """Version of the model that was withdrawn."""
        return int(self._document["model"]["version"])

    def __str__(self) -> str:
        return self._shown[0]

    def __repr__(self) -> str:
        return f"<efface.Erasure {self.index}: model version {self.version} withdrawn>"


def answered(answer: Answer) -> Any:
    """Return an answer to an erasure: its entry, or what says that the records went before."""
    served, text, _ = answer
    warn_of(map(Notice._of, json.loads(served)["notices"]))
    return Erasure(text) if is_erasure(text) else Certificate(text)


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
