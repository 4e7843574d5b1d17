"""What was promised and what it cost, request by request."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import _engine
from .._errors import InputError
from ..certificate import Certificate, Claim
from ..vault import Receipt
from . import _style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_KINDS = ("train", "delete", "add", "update", "refresh")
_COSTS = (
    ("passes", "gradients"),
    ("hessians", "Hessians"),
    ("hessian_products", "Hessian-vector products"),
)


@dataclass(frozen=True)
class _Request:
    """One certified request; what it cost and left, where that is known."""

    certificate: Certificate
    work: dict[str, Any] | None
    remaining: int | None


def removal_path(
    history: Any,
    *,
    receipts: Iterable[Receipt] = (),
    notions: Sequence[str] | None = None,
    axes: Sequence[Axes] | None = None,
) -> tuple[Axes, ...]:
    """Draw the history of a model: promises, records and work over its requests.

    Parameters
    ----------
    history : Vault, estimator, or iterable of Certificate or Receipt
        Whose history; anything with ``certificates`` or ``certificates_``. Certificates are taken
        in the order of the ledger.
    receipts : iterable of Receipt, optional
        Receipts of these requests. What a request cost is private and is erased from the vault by
        the next deletion, so only receipts that were kept know it.
    notions : sequence of str, optional
        The notions to draw, by default all that were claimed.
    axes : sequence of Axes, optional
        Where to draw: two, or three if the work of a request is known.

    Returns
    -------
    tuple of Axes
        The epsilon of each claim in nats, rounded up as the certificates have it; the records in
        the model; and, where it is known, the work of each request in passes over the records.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    InputError
        If there is no certificate, or the number of ``axes`` is wrong.

    Examples
    --------
    >>> import efface
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> vault = efface.Vault.train("m.efface", X, X[:, 0] > 0)
    >>> receipts = [vault.delete(ids=[f"row:{row}"]) for row in (3, 14, 15)]
    >>> axes = efface.plot.removal_path(vault, receipts=receipts)
    >>> [ax.get_ylabel() for ax in axes]
    ['epsilon claimed (nats)', 'records in the model', 'passes over the records']
    """
    requests = _requests(history, list(receipts))
    known = any(request.work is not None for request in requests)
    panels = 3 if known else 2
    plt = _style.pyplot()
    if axes is None:
        _, made = plt.subplots(
            panels, 1, figsize=(8.0, 2.3 * panels), sharex=True, layout="constrained"
        )
        axes = list(made)
    if len(axes) != panels:
        raise InputError(f"`axes` must be {panels} here, got {len(axes)}", code="usage")
    _promises(axes[0], requests, notions)
    _records(axes[1], requests)
    if known:
        _work(axes[2], requests)
    for ax in axes:
        ax.xaxis.set_major_locator(_style.whole_numbers())
        _style.finish(ax)
    first = requests[0].certificate
    axes[-1].set_xlabel(
        "request, in ledger order" + (" (0 is the first training)" if first.kind == "train" else "")
    )
    if any(request.certificate.not_for_release for request in requests):
        axes[0].set_title("NOT FOR RELEASE: made with a given seed", loc="left", fontsize="medium")
    return tuple(axes)


def _requests(history: Any, receipts: list[Receipt]) -> list[_Request]:
    if hasattr(history, "certificates"):
        items = list(history.certificates)
    elif hasattr(history, "certificates_"):
        items = list(history.certificates_)
    elif isinstance(history, Iterable) and not isinstance(history, str | bytes):
        items = list(history)
    else:
        items = [history]
    found: dict[str, _Request] = {}
    for item in [*items, *receipts]:
        if isinstance(item, Receipt):
            known = _Request(item.certificate, item.work, item.remaining)
            # A replayed request says what is left now, not what was left then.
            if item.replayed and item.certificate.hash in found:
                continue
            if item.replayed:
                known = _Request(item.certificate, None, None)
            found[item.certificate.hash] = known
        elif isinstance(item, Certificate):
            found.setdefault(item.hash, _Request(item, None, None))
        else:
            raise InputError(
                "`history` must be a vault, a fitted estimator, or certificates or receipts, got "
                f"{type(item).__name__}",
                code="usage",
            )
    if not found:
        raise InputError("`history` has no certificate", code="usage")
    return sorted(found.values(), key=lambda request: request.certificate.index)


def _promises(ax: Axes, requests: Sequence[_Request], notions: Sequence[str] | None) -> None:
    claimed: dict[str, list[tuple[int, Claim]]] = {}
    for position, request in enumerate(requests):
        for claim in request.certificate.claims:
            if notions is None or claim.notion in notions:
                claimed.setdefault(claim.notion, []).append((position, claim))
    finite = []
    for number, (notion, claims) in enumerate(claimed.items()):
        colour = _style.COLOURS[number % len(_style.COLOURS)]
        held = [(x, claim.epsilon) for x, claim in claims if math.isfinite(claim.epsilon)]
        finite += [epsilon for _, epsilon in held]
        last = claims[-1][1]
        ax.plot(
            [x for x, _ in held],
            [epsilon for _, epsilon in held],
            color=colour,
            marker=_style.MARKERS[number % len(_style.MARKERS)],
            markersize=5,
            linestyle=_style.DASHES[number % len(_style.DASHES)],
            label=f"{notion}\n{_engine.parameter(last.delta, last.order) or 'exactly'}",
        )
        unbounded = [x for x, claim in claims if not math.isfinite(claim.epsilon)]
        if unbounded:
            ax.plot(
                unbounded,
                [1.0] * len(unbounded),
                transform=ax.get_xaxis_transform(),
                color=colour,
                marker="$\\infty$",
                linestyle="none",
                clip_on=False,
                label=f"{notion}\nno bound",
            )
    # From one to another notion epsilon may differ by orders of magnitude; 0 has no logarithm.
    if finite and min(finite) > 0.0 and max(finite) > 10.0 * min(finite):
        ax.set_yscale("log")
    elif any(finite):
        ax.set_ylim(bottom=0.0)
    else:
        ax.set_ylim(-0.05, 1.0)
    ax.set_ylabel("epsilon claimed (nats)")


def _records(ax: Axes, requests: Sequence[_Request]) -> None:
    counts, total = [], requests[0].certificate.kind == "train"
    count = 0.0
    for request in requests:
        sign = {"train": 1, "add": 1, "delete": -1}.get(request.certificate.kind, 0)
        touched = request.certificate.records
        # A private number leaves a gap, until a receipt says how many records there are.
        count += math.nan if touched is None and sign else sign * (touched or 0)
        if request.remaining is not None and total:
            count = request.remaining
        counts.append(count)
    places = range(len(requests))
    ax.step(places, counts, where="post", color=_style.GREY, linewidth=1.2)
    for number, kind in enumerate(_KINDS):
        held = [x for x in places if requests[x].certificate.kind == kind]
        if held:
            ax.plot(
                held,
                [counts[x] for x in held],
                color=_style.COLOURS[number],
                marker=_style.MARKERS[number],
                linestyle="none",
                label=kind,
            )
    ax.yaxis.set_major_locator(_style.whole_numbers())
    ax.ticklabel_format(axis="y", useOffset=False)
    ax.set_ylabel("records in the model" if total else "records, relative to the start")


def _work(ax: Axes, requests: Sequence[_Request]) -> None:
    known = [(x, request.work) for x, request in enumerate(requests) if request.work is not None]
    places = [x for x, _ in known]
    below = [0.0] * len(known)
    for number, (name, label) in enumerate(_COSTS):
        heights = [float(work[name]) for _, work in known]
        if not any(heights):
            continue
        ax.bar(
            places,
            heights,
            0.6,
            bottom=below,
            color=_style.COLOURS[number],
            hatch=("", "//", "..")[number],
            edgecolor="white",
            label=label,
        )
        below = [b + h for b, h in zip(below, heights, strict=True)]
    if not any(below):
        ax.set_ylim(0.0, 1.0)
    unknown = [x for x in range(len(requests)) if x not in places]
    if unknown:
        ax.plot(
            unknown,
            [0.02] * len(unknown),
            transform=ax.get_xaxis_transform(),
            color=_style.GREY,
            marker="x",
            markersize=4,
            linestyle="none",
            label="not known",
        )
    ax.set_ylabel("passes over the records")
