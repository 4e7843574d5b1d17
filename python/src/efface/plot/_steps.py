"""How many noisy steps a promise takes, by every accountant."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .. import accounting
from .._case import Counts, Floats
from .._errors import InputError
from . import _style

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class _Accountant:
    """A bound on epsilon after so many steps."""

    name: str
    bound: Callable[[Any], Any]


def privacy_against_steps(
    *,
    n: int,
    lambda_: float,
    beta: float,
    lipschitz: float,
    eta: float,
    sigma: float,
    learning_steps: int,
    delta: float,
    group: int = 1,
    adjacency: Literal["replace", "remove-fixed", "remove-mean"] = "replace",
    radius: float | None = None,
    steps: ArrayLike | None = None,
    target: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw epsilon after one request against the steps of noisy gradient descent that follow.

    The bounds of several accountants for the same steps, side by side: that of
    :func:`efface.accounting.noisy_gd`, those published for Langevin unlearning and for deletion
    privacy, and with ``radius`` the one for a bounded domain. The published ones count replaced
    records; deletion privacy, a Rényi divergence, is converted to (epsilon, delta) at its best
    order. A curve ends where its bound is 0.

    Parameters
    ----------
    n : int
        Records, the N of the objective.
    lambda_ : float
        L2 regularisation, above 0 for the published bounds (loss/weight^2).
    beta : float
        Smoothness of the averaged loss (loss/weight^2).
    lipschitz : float
        Bound on one record's gradient (loss/weight).
    eta : float
        Step size (weight^2/loss).
    sigma : float
        Each step adds sqrt(2 eta) sigma Z (sqrt(loss)).
    learning_steps : int
        Steps of the first training.
    delta : float
        The delta at which epsilon is asked.
    group : int
        Records of the request.
    adjacency : {"replace", "remove-fixed", "remove-mean"}
        What the request does to them, for our accountants.
    radius : float, optional
        Radius of the ball that every step projects on (weight).
    steps : array_like of int, optional
        Steps to draw at, from 1; by default until the slowest rate has made about 50 e-folds.
    target : float, optional
        An epsilon; the legend then says how many steps each accountant asks for it.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
        Steps and epsilon (nats), both logarithmic.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    InputError
        If a constant breaks its rule, or no accountant has a bound for them.

    Warns
    -----
    UserWarning
        For each accountant whose hypotheses these constants do not meet; it is left out.

    Examples
    --------
    >>> import efface
    >>> ax = efface.plot.privacy_against_steps(
    ...     n=11_982, lambda_=0.012, beta=0.25, lipschitz=1.0, eta=3.8, sigma=0.03,
    ...     learning_steps=10_000, delta=1e-5, group=100, target=1.0,
    ... )
    >>> ax.get_ylabel()
    'epsilon at delta 1e-05 (nats)'
    """
    shared: dict[str, Any] = {
        "n": n,
        "lipschitz": lipschitz,
        "eta": eta,
        "sigma": sigma,
        "delta": delta,
    }
    ours: dict[str, Any] = {
        **shared,
        "lambda_": lambda_,
        "beta": beta,
        "learning_steps": learning_steps,
    }
    ours |= {"group": group, "adjacency": adjacency}
    accountants = [
        _Accountant(
            f"gdp: shifted interpolation\n({adjacency} {group})",
            lambda k: accounting.noisy_gd(**ours, unlearning_steps=k).epsilon,
        ),
        _Accountant(
            f"langevin: Chien et al.\n(replace {group})",
            lambda k: (
                accounting.langevin(
                    **shared,
                    strong_convexity=lambda_,
                    smoothness=beta + lambda_,
                    group=group,
                    steps=k,
                    # Met at once, so that nothing is searched for.
                    target_epsilon=1e300,
                ).epsilon_at_steps
            ),
        ),
        _Accountant(
            f"deletion-rdp: Chourasia and Shah\n(deletion privacy, replace {group})",
            lambda k: _deletion(k, delta, lambda_, beta, lipschitz, eta, sigma, n, group),
        ),
    ]
    if radius is not None:
        accountants.append(
            _Accountant(
                f"bounded-domain: radius {radius:g}\n({adjacency} {group})",
                lambda k: (
                    accounting.bounded_domain_gd(
                        **ours, convexity="convex", radius=radius, unlearning_steps=k
                    ).epsilon
                ),
            )
        )
    ax = _style.new_axes(ax, (8.0, 4.2))
    counts = _counts(steps, eta * lambda_)
    drawn = 0
    for number, accountant in enumerate(accountants):
        try:
            epsilon: Floats = accountant.bound(counts)
            label = accountant.name
            if target is not None:
                label += _enough(accountant, target)
        except InputError as error:
            warnings.warn(
                f"{accountant.name.partition(':')[0]} is left out: {error.message}", stacklevel=2
            )
            continue
        drawn += 1
        ax.plot(
            counts,
            np.where(epsilon > 0.0, epsilon, np.nan),
            color=_style.COLOURS[number],
            linestyle=_style.DASHES[number],
            linewidth=2.0,
            label=label,
        )
    if not drawn:
        raise InputError("no accountant has a bound for these constants", code="case")
    if target is not None:
        ax.axhline(target, color=_style.GREY, linestyle=":", label=f"epsilon {target:g}")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("steps after the request")
    ax.set_ylabel(f"epsilon at delta {delta:.2g} (nats)")
    _style.finish(ax)
    return ax


def _deletion(
    steps: Any,
    delta: float,
    lambda_: float,
    beta: float,
    lipschitz: float,
    eta: float,
    sigma: float,
    n: int,
    group: int,
) -> Any:
    """Deletion privacy is linear in the order, so that its factor makes a curve to convert."""
    order = 2.0
    rdp = accounting.deletion_rdp(
        lambda_=lambda_,
        beta=beta,
        eta=eta,
        q=order,
        lipschitz=lipschitz,
        sigma=sigma,
        n=n,
        group=group,
        steps=steps,
    )
    return accounting.rdp_epsilon(rdp.epsilon_dd / order, delta).canonne_kamath_steinke


def _counts(steps: ArrayLike | None, rate: float) -> Counts:
    if steps is not None:
        counts = np.unique(np.asarray(steps, dtype=np.int64))
        if counts.size == 0 or counts[0] < 1:
            raise InputError("`steps` must contain whole numbers of at least 1", code="case")
        return counts
    most = 100.0 / rate if rate > 0.0 else 1000.0
    return np.unique(np.geomspace(1.0, max(most, 10.0), 80).round().astype(np.int64))


def _enough(accountant: _Accountant, target: float) -> str:
    """How many steps reach the target; bounds fall with the steps."""
    few, many = 0, 1
    while accountant.bound(many) > target:
        few, many = many, 2 * many
        if many > 2**40:
            return f": never epsilon {target:g}"
    while many - few > 1:
        middle = (few + many) // 2
        if accountant.bound(middle) > target:
            few = middle
        else:
            many = middle
    return f": {many} steps"
