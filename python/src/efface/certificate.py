"""Certificates: what was promised for a request, and whether it holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from . import _engine
from ._entry import Entry, counted
from ._errors import InputError


@dataclass(frozen=True)
class Claim:
    """One promise of a certificate.

    Attributes
    ----------
    notion : str
        What is claimed, such as ``"indistinguishable-from-retraining"``.
    epsilon : float
        The bound, in nats, rounded up; infinite where nothing is promised.
    delta, mu, order : float or None
        The delta it holds at, the mu of Gaussian differential privacy behind it, and the order
        of the Rényi notions; None where the notion has none.
    group : str
        Records protected together: a number, or ``"any"``.
    adjacency : str or None
        What the two worlds differ in: ``"remove"`` or ``"replace"``.
    normalizer : str
        ``"fixed"`` or ``"mean"``.
    reference : str
        The world the model is compared with, in words.
    requests : str
        How requests may depend on releases: ``"any"``, ``"non-adaptive"``, ``"p-adaptive P"``.
    state : str
        What is kept after a request: ``"perfect"`` or ``"secret"``.
    releases : int
        Releases covered jointly.
    accountant, theorem : str
        Who computed the bound, and the result it rests on.
    advantage : float
        The largest advantage, in [0, 1], of any attacker who must tell the two worlds apart.
    words : str
        The claim in one sentence.
    rdp_epsilon : float or None
        A second bound on the same epsilon, by Rényi divergences of whole orders in closed form,
        where ``epsilon`` is computed from distributions of privacy losses on a grid (networks
        trained with noise, and models on their features); None elsewhere. A certificate is refused
        whose ``epsilon`` contradicts it.
    """

    notion: str
    epsilon: float
    delta: float | None
    mu: float | None
    order: float | None
    group: str
    adjacency: str | None
    normalizer: str
    reference: str
    requests: str
    state: str
    releases: int
    accountant: str
    theorem: str
    advantage: float
    words: str
    rdp_epsilon: float | None = None

    @classmethod
    def _of(cls, document: Mapping[str, Any]) -> Claim:
        number = {
            name: None if document.get(name) is None else float(document[name])
            for name in ("epsilon", "rdp_epsilon", "delta", "mu", "order", "advantage")
        }
        requests = document["requests"]
        if not isinstance(requests, str):
            requests = f"p-adaptive {requests['p-adaptive']}"
        return cls(**{**document, **number, "requests": requests})


class Certificate(Entry):
    """The promise for one request on a model.

    The text is canonical JSON, hashed, chained to the certificate before it, and signed. Reading
    one proves nothing: :meth:`verify` recomputes every number in it.

    Parameters
    ----------
    text : str or bytes
        The certificate as :meth:`to_json`, the command line or a vault gives it.

    Raises
    ------
    InputError
        If the text is no certificate.
    """

    def _check_kind(self) -> None:
        if self._is_erasure:
            raise InputError(
                "the text is an erasure, which makes no claim about a model",
                code="certificate",
                hint="read it with `efface.Erasure`",
            )

    @property
    def id(self) -> str:
        """Identifier of the certificate."""
        return str(self._document["id"])

    @property
    def issued_at(self) -> str:
        """When it was issued: UTC, RFC 3339."""
        return str(self._document["issued_at"])

    @property
    def kind(self) -> str:
        """The kind of request: ``train``, ``delete``, ``add``, ``update`` or ``refresh``."""
        return str(self._document["request"]["kind"])

    @property
    def version(self) -> int:
        """Version of the model after the request."""
        return int(self._document["model"]["version"])

    @property
    def digest(self) -> str:
        """Salted digest (HMAC-SHA256) of the model's weights after the request.

        The salt is kept with the weights and goes with them.
        """
        return str(self._document["model"]["digest_after"])

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        """All claims of the certificate."""
        return tuple(Claim._of(claim) for claim in self._document["claims"])

    def claim(self, notion: str) -> Claim | None:
        """Return the claim of a notion, None if the certificate makes none."""
        return next((claim for claim in self.claims if claim.notion == notion), None)

    @property
    def event(self) -> dict[str, Any]:
        """The event, as data: everything that the claims are computed from."""
        return dict(self._document["event"])

    @property
    def constants(self) -> tuple[dict[str, str], ...]:
        """The public constants: ``name``, ``value``, and ``origin`` (user, default or data)."""
        return tuple(dict(constant) for constant in self._document["constants"])

    @property
    def assumptions(self) -> tuple[dict[str, str], ...]:
        """Assumptions of the claims: ``name``, ``value``, and ``evidence`` for it."""
        return tuple(dict(assumption) for assumption in self._document["assumptions"])

    def bounds(self, *, delta: float | None = None) -> list[dict[str, Any]]:
        """Return what every accountant says about the certificate's event; nothing is verified.

        Parameters
        ----------
        delta : float, optional
            Where epsilon is wanted; by default the certificate's own.

        Returns
        -------
        list of dict
            A dictionary for each accountant and notion: ``accountant``, ``notion``, ``epsilon``
            (nats, rounded up), ``delta``, ``order``, ``adjacency``, and, where `epsilon` is None,
            the ``reason``.
        """
        answers: list[dict[str, Any]] = json.loads(_engine.bounds(self._text, delta=delta))
        for answer in answers:
            for number in ("epsilon", "delta", "order"):
                answer[number] = None if answer[number] is None else float(answer[number])
        return answers

    def page(self) -> str:
        """Return all that the certificate says, as a page of plain text."""
        return self._shown[0]

    def __str__(self) -> str:
        lines = [repr(self).strip("<>")]
        lines += [f"{claim.notion}: {claim.words}" for claim in self.claims]
        lines.append(
            f"not covered: {len(self.does_not_cover)} things, listed in `does_not_cover`; "
            "`verify()` recomputes every number, `page()` shows everything"
        )
        return "\n".join(lines)

    def __repr__(self) -> str:
        test = ", not for release" if self.not_for_release else ""
        return (
            f"<efface.Certificate {self.index}: {self.kind} of {counted(self.records)}, "
            f"model version {self.version}{test}>"
        )
