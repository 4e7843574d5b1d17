"""A certificate as a card in a notebook."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .certificate import Certificate, Claim

# Colours come from the page, so that the card is readable on light and on dark ones; no meaning
# is carried by colour alone.
_STYLE = (
    "max-width:46rem;border:1px solid currentColor;border-radius:.4rem;padding:.2rem 1rem .6rem;"
    "font-size:.95em;line-height:1.45"
)

_DONE = {
    "train": "First training on {}",
    "delete": "Deletion of {}",
    "add": "Addition of {}",
    "update": "Update of {}",
    "refresh": "A fresh release",
}

_NOTIONS = {
    "indistinguishable-from-retraining": "The model is as if trained without them",
    "exact-removal": "The model is exactly as if trained without them",
    "renyi-unlearning": "The model is as if trained without them (in Rényi divergence)",
    "deletion-privacy": "What is kept reveals little about the deleted records",
    "differential-privacy": "Remaining records",
}


def counted(records: int | None) -> str:
    """A number of records in words; certificates do not state it where it is private."""
    if records is None:
        return "records (number not stated)"
    return "1 record" if records == 1 else f"{records} records"


def card(certificate: Certificate) -> str:
    """HTML of the card: self-contained, without scripts, readable by screen readers."""
    title = _DONE.get(certificate.kind, certificate.kind).format(counted(certificate.records))
    request, issued = escape(certificate.request_id), escape(certificate.issued_at)
    parts = [
        f'<section aria-label="Certificate {certificate.index}" style="{_STYLE}">',
        f"<h4>{escape(title)}</h4>",
        f"<p>Request <code>{request}</code>, ",
        f'issued <time datetime="{issued}">{issued}</time>, ',
        f"model version {certificate.version}.</p>",
    ]
    if certificate.not_for_release:
        parts.append(
            "<p><strong>Not for release.</strong> The noise came from a user-given seed: this is "
            "a test and gives no guarantee.</p>"
        )
    parts += ["<h5>What is promised</h5>", _list(_promise(claim) for claim in certificate.claims)]
    parts += [
        _fold("What is covered", map(escape, certificate.covers)),
        _fold("What is not covered", map(escape, certificate.does_not_cover)),
        _fold("Assumptions", (_rest(one) for one in certificate.assumptions)),
    ]
    parts.append(
        "<p>This card shows what the certificate states; <code>.verify()</code> recomputes it."
        "</p></section>"
    )
    return "".join(parts)


def _promise(claim: Claim) -> str:
    name = _NOTIONS.get(claim.notion, claim.notion)
    return (
        f"<strong>{escape(name)}</strong> <small>({escape(claim.notion)})</small>: "
        f"{escape(claim.words)}."
    )


def _rest(assumption: dict[str, str]) -> str:
    name, value, evidence = (escape(assumption[key]) for key in ("name", "value", "evidence"))
    return f"{name}: {value} <small>({evidence})</small>"


def _fold(title: str, items: Iterable[str]) -> str:
    return f"<details><summary>{title}</summary>{_list(items)}</details>"


def _list(items: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{item}</li>" for item in items) + "</ul>"
