"""A plan as a table: in text, and for notebooks."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .planner import Choice, Plan, Work

_HEADS = (
    "",
    "choice",
    "state",
    "passes a request",
    "a request",
    "a month",
    "excess risk",
    "epsilon",
)


def text(plan: Plan) -> str:
    """Return the plan as lines."""
    rows = [_HEADS, *_rows(plan)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    lines = [*_about(plan), ""]
    for row in rows:
        cells = [
            cell.ljust(width) if column in (1, 2) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    lines += ["", f"ranking: {plan.ranking}"]
    lines += [f"refused: {refusal.name}: {refusal.reason}" for refusal in plan.refused]
    lines += [f"advice: {sentence}" for sentence in plan.advice]
    return "\n".join(lines)


def html(plan: Plan) -> str:
    """Return the plan as HTML: self-contained, without scripts, readable by screen readers."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in _HEADS)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in _rows(plan)
    )
    refused = "".join(
        f"<li><strong>{escape(refusal.name)}</strong>: {escape(refusal.reason)}"
        f"{f'; {escape(refusal.hint)}' if refusal.hint else ''}</li>"
        for refusal in plan.refused
    )
    promised = "".join(
        f"<li><strong>{escape(choice.name)}</strong>: {escape(choice.says)}; {escape(choice.lasts)}"
        f"<ul>{''.join(f'<li>{escape(claim.words)}</li>' for claim in choice.claims)}</ul></li>"
        for choice in plan
    )
    return (
        '<section aria-label="Plan">'
        f"<p>{'<br>'.join(map(escape, _about(plan)))}</p>"
        f"<table><caption>{escape(plan.ranking)}</caption>"
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"<ul>{''.join(f'<li>{escape(sentence)}</li>' for sentence in plan.advice)}</ul>"
        f"<details><summary>What each choice does and claims</summary><ul>{promised}</ul></details>"
        f"<details><summary>What is refused</summary><ul>{refused}</ul></details></section>"
    )


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    for unit, most, scale in (("us", 1e-3, 1e6), ("ms", 1.0, 1e3), ("s", 120.0, 1.0)):
        if seconds < most:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds / 60.0:.3g} min" if seconds < 7200.0 else f"{seconds / 3600.0:.3g} h"


def rounded_up(bound: float) -> str:
    """Return a promised bound in four digits: never less than it is."""
    digits = Context(prec=4, rounding=ROUND_CEILING)
    return f"{digits.create_decimal(bound).normalize():g}" if math.isfinite(bound) else "no bound"


def _about(plan: Plan) -> list[str]:
    sizes = plan.sizes
    kind = f"{sizes['classes']} classes" if sizes["classes"] else "regression"
    source = "read off the data" if sizes["from_data"] else "as given"
    groups = ", ".join(map(str, plan.groups))
    records = "record" if plan.groups == (1,) else "records"
    workload = f"{plan.deletions_per_month:g} requests a month, of {groups} {records}"
    lines = [
        f"{sizes['records']} records, {sizes['features']} features, {kind}: {source}",
        f"{workload}; a pass takes {duration(plan.pass_seconds)}",
    ]
    if target := plan.target:
        at = f" at delta {target.delta:.3g}" if target.delta is not None else ""
        order = f" of order {target.order:g}" if target.order is not None else ""
        lines.append(
            f"target: {target.notion}, epsilon {target.epsilon:g}{at}{order}; an excess risk of "
            f"{plan.excess_risk_allowed:.3g} is allowed"
        )
    return lines


def _rows(plan: Plan) -> list[tuple[str, ...]]:
    baseline = plan.baseline
    return [_row(choice) for choice in plan] + [
        (
            "-",
            baseline.name,
            "",
            _passes(baseline.request),
            duration(baseline.seconds_per_request),
            duration(baseline.seconds_per_month),
            f"{baseline.excess_risk:.1e}",
            "none",
        )
    ]


def _row(choice: Choice) -> tuple[str, ...]:
    return (
        str(choice.rank),
        choice.name,
        choice.state,
        _passes(choice.request),
        duration(choice.seconds_per_request),
        duration(choice.seconds_per_month),
        f"{choice.excess_risk:.1e}{'' if choice.accurate else ' (above)'}",
        rounded_up(choice.claims[0].epsilon) if choice.claims else "none",
    )


def _passes(work: Work) -> str:
    if work.exact and work.passes_usually == work.passes_at_most:
        return f"{work.passes_at_most} exactly"
    about = f"{work.passes_usually:.1f}" if work.exact else f"~{work.passes_usually:.0f}"
    return f"{about}, at most {work.passes_at_most}"
