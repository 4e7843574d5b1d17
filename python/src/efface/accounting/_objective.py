"""Objective perturbation as published.

Written by `generate/write_accounting.py` from the engine's table of kinds; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, overload

from numpy.typing import ArrayLike

from .._case import Floats, FloatT, Result, Scalar, compute


@dataclass(frozen=True, eq=False)
class ObjectiveResidualResult(Result, Generic[FloatT]):
    """Results of :func:`objective_residual`.

    Attributes
    ----------
    worst_case : float or ndarray
        From the unperturbed minimiser (loss/weight).
    worst_case_perturbed : float or ndarray
        From the perturbed one (loss/weight).
    from_step : float or ndarray
        Gamma r^3 (n - k) |v|^2 (loss/weight).
    data_dependent : float or ndarray
        Gamma r |X|_2 |v| |X v| (loss/weight).
    """

    worst_case: FloatT
    worst_case_perturbed: FloatT
    from_step: FloatT
    data_dependent: FloatT


@overload
def objective_residual(
    *,
    third_derivative: Scalar,
    lipschitz: Scalar,
    lambda_: Scalar,
    n: Scalar,
    spectral: Scalar,
    step: Scalar,
    moved_margins: Scalar,
    row_norm: Scalar = 1.0,
    removed: Scalar = 1,
    perturbation: Scalar = 0.0,
) -> ObjectiveResidualResult[float]: ...
@overload
def objective_residual(
    *,
    third_derivative: ArrayLike,
    lipschitz: ArrayLike,
    lambda_: ArrayLike,
    n: ArrayLike,
    spectral: ArrayLike,
    step: ArrayLike,
    moved_margins: ArrayLike,
    row_norm: ArrayLike = 1.0,
    removed: ArrayLike = 1,
    perturbation: ArrayLike = 0.0,
) -> ObjectiveResidualResult[Floats]: ...
def objective_residual(
    *,
    third_derivative: ArrayLike,
    lipschitz: ArrayLike,
    lambda_: ArrayLike,
    n: ArrayLike,
    spectral: ArrayLike,
    step: ArrayLike,
    moved_margins: ArrayLike,
    row_norm: ArrayLike = 1.0,
    removed: ArrayLike = 1,
    perturbation: ArrayLike = 0.0,
) -> Any:
    """Published bounds on the gradient that one Newton removal leaves.

    Bounds of the residual itself, which are correct; what the paper concludes from them
    (``objective_budget``) is not. The worst cases are for an objective averaged over the
    current records. ``spectral`` must be an upper bound.

    Parameters
    ----------
    third_derivative : array_like of float
        Gamma: 1/4 in the paper; a finite number above 0.
    lipschitz : array_like of float
        C, bound on a gradient (loss/weight); a finite number above 0.
    lambda_ : array_like of float
        L2 regularisation (loss/weight^2); a finite number above 0.
    n : array_like of int
        Records before the removal (records); a whole number in 2..=2^53.
    spectral : array_like of float
        Upper bound of |X|_2 of the rest; a finite number of at least 0.
    step : array_like of float
        |v| (weight); a finite number of at least 0.
    moved_margins : array_like of float
        |X v|; a finite number of at least 0.
    row_norm : array_like of float, optional
        r; a finite number above 0, by default 1.0.
    removed : array_like of int, optional
        Records removed at once (records); a whole number in 1..=2^53, by default 1.
    perturbation : array_like of float, optional
        |b| + |u| (loss/weight); a finite number of at least 0, by default 0.0.

    Returns
    -------
    ObjectiveResidualResult
        With ``worst_case``, ``worst_case_perturbed``, ``from_step``, ``data_dependent``; it
        unpacks in this order.

    Raises
    ------
    InputError
        If a value breaks its rule, with its place in the array, if shapes do not broadcast, or
        if the bound does not exist for these values.

    Notes
    -----
    A sound bound as its paper states it or as it is corrected here: the truth lies on the safe
    side of it, often far. Evaluated in double precision and rounded to nearest, not to the safe
    side: a number may lie a relative 1e-8 on either side of the formula's value, and what is
    below the floats is 0. Certificates round against the one who promises.

    References
    ----------
    Guo et al. (2020), Theorems 1 and 4 with the erratum, Corollaries 1 and 2.

    Examples
    --------
    >>> from efface.accounting import objective_residual
    >>> objective_residual(
    ...     third_derivative=0.25, lipschitz=1.0, lambda_=0.01, n=10_000, spectral=60.0,
    ...     step=1e-3, moved_margins=0.05
    ... )
    ObjectiveResidualResult(worst_case=1.0001000..., worst_case_perturbed=1.0001000...,
    from_step=0.0024997500..., data_dependent=0.00075)
    """
    return ObjectiveResidualResult(
        *compute(
            "objective-residual",
            {
                "third_derivative": third_derivative,
                "row_norm": row_norm,
                "lipschitz": lipschitz,
                "lambda_": lambda_,
                "n": n,
                "removed": removed,
                "perturbation": perturbation,
                "spectral": spectral,
                "step": step,
                "moved_margins": moved_margins,
            },
        )
    )


@dataclass(frozen=True, eq=False)
class ObjectiveBudgetResult(Result, Generic[FloatT]):
    """Results of :func:`objective_budget`.

    Attributes
    ----------
    budget : float or ndarray
        Sum of residuals at which to train anew (loss/weight).
    sigma_for_residual : float or ndarray
        sigma asked for ``residual`` (loss/weight).
    claimed_delta : float or ndarray
        delta claimed at epsilon (probability).
    pure_scale : float or ndarray
        Scale of |b| ~ Gamma(d) for delta = 0 (loss/weight).
    """

    budget: FloatT
    sigma_for_residual: FloatT
    claimed_delta: FloatT
    pure_scale: FloatT


@overload
def objective_budget(
    *, sigma: Scalar, residual: Scalar, epsilon: Scalar, delta: Scalar
) -> ObjectiveBudgetResult[float]: ...
@overload
def objective_budget(
    *, sigma: ArrayLike, residual: ArrayLike, epsilon: ArrayLike, delta: ArrayLike
) -> ObjectiveBudgetResult[Floats]: ...
def objective_budget(
    *, sigma: ArrayLike, residual: ArrayLike, epsilon: ArrayLike, delta: ArrayLike
) -> Any:
    """Removal budget, noise and delta that the paper concludes from the residual.

    NOT SOUND: the residual depends on the perturbation. For comparison only.

    Parameters
    ----------
    sigma : array_like of float
        Deviation of each entry of b (loss/weight); a finite number above 0.
    residual : array_like of float
        Bound on |u| (loss/weight); a finite number above 0.
    epsilon : array_like of float
        epsilon, at most 1 (nats); a finite number above 0.
    delta : array_like of float
        delta of (epsilon, delta) (probability); in (0, 1).

    Returns
    -------
    ObjectiveBudgetResult
        With ``budget``, ``sigma_for_residual``, ``claimed_delta``, ``pure_scale``; it unpacks
        in this order.

    Raises
    ------
    InputError
        If a value breaks its rule, with its place in the array, if shapes do not broadcast, or
        if the bound does not exist for these values.

    Notes
    -----
    NOT SOUND: the truth may be far worse than these numbers. For comparison only. Evaluated in
    double precision and rounded to nearest, not to the safe side: a number may lie a relative
    1e-8 on either side of the formula's value, and what is below the floats is 0. Certificates
    round against the one who promises.

    References
    ----------
    Guo et al. (2020), Theorem 3 and Algorithm 2.

    Examples
    --------
    >>> from efface.accounting import objective_budget
    >>> objective_budget(sigma=1.0, residual=0.01, epsilon=1.0, delta=1e-5)
    ObjectiveBudgetResult(budget=0.20482180..., sigma_for_residual=0.048822926...,
    claimed_delta=0.0, pure_scale=0.01)
    """
    return ObjectiveBudgetResult(
        *compute(
            "objective-budget",
            {"sigma": sigma, "residual": residual, "epsilon": epsilon, "delta": delta},
        )
    )
