"""What accuracy costs in time, for each choice of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..planner import Choice, Plan
from . import _style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def trade_off(plan: Plan, *, ax: Axes | None = None) -> Axes:
    """Draw the choices of a plan: predicted excess risk against the time of a request.

    The best corner is the lower left. All choices meet the same target of privacy. Hollow marks
    are above the excess risk that is allowed; behind a name stand the state and, where a refresh
    or a new model is due at some time, the requests until then.

    Parameters
    ----------
    plan : Plan
        What :func:`efface.plan` found.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
        Both axes are logarithmic: usual seconds of a request, refreshes shared out, and the upper
        bound on the expected excess risk in units of the loss. Choices whose accuracy cannot be
        compared are left out (``Choice.beyond``).

    Raises
    ------
    ImportError
        If matplotlib is missing.

    Examples
    --------
    >>> import efface
    >>> ax = efface.plot.trade_off(efface.plan(n=10_000, d=50, pass_ms=3.0))
    >>> ax.get_xlabel()
    'usual time of a request (s)'
    """
    known = [(choice, choice.excess_risk) for choice in plan if not choice.beyond]
    alike = [(choice, risk) for choice, risk in known if risk is not None]
    # A line of the legend takes a quarter of an inch.
    ax = _style.new_axes(ax, (8.0, max(4.2, 0.25 * (len(alike) + 4))))
    for number, (choice, risk) in enumerate(alike):
        colour, marker = _style.mark(number)
        ax.plot(
            choice.seconds_per_request,
            risk,
            color=colour,
            markerfacecolor=colour if choice.accurate else "none",
            marker=marker,
            # The lower a choice ranks, the smaller: equals stay visible below one another.
            markersize=max(13.0 - number, 6.0),
            markeredgewidth=1.6,
            linestyle="none",
            label=f"{choice.rank} {choice.name}: {choice.state}{_until(choice)}",
        )
    baseline = plan.baseline
    ax.plot(
        baseline.seconds_per_request,
        baseline.excess_risk,
        color=_style.GREY,
        marker="+",
        markersize=11,
        markeredgewidth=2.0,
        linestyle="none",
        label=f"{baseline.name},\ncertifies nothing",
    )
    ax.axhline(
        plan.excess_risk_allowed,
        color=_style.GREY,
        linestyle="--",
        linewidth=1.0,
        label="excess risk allowed",
    )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.margins(0.15)
    ax.set_xlabel("usual time of a request (s)")
    ax.set_ylabel("excess risk, upper bound (loss)")
    target = plan._words["target"]
    title = f"target: {target}" if target else "no mechanism meets the target"
    ax.set_title(title, loc="left", fontsize="medium")
    _style.finish(ax)
    return ax


def _until(choice: Choice) -> str:
    return "" if choice.requests is None else f", {choice.requests} requests"
