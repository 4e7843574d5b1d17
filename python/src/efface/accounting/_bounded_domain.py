"""Noisy steps inside a bounded domain.

Written by `generate/write_accounting.py` from the engine's table of kinds; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Literal, overload

from numpy.typing import ArrayLike

from .._case import Floats, FloatT, Result, Scalar, compute


@overload
def bounded_domain(epsilon: Scalar, diameter_over_noise: Scalar, steps: Scalar) -> float: ...
@overload
def bounded_domain(
    epsilon: ArrayLike, diameter_over_noise: ArrayLike, steps: ArrayLike
) -> Floats: ...
def bounded_domain(epsilon: ArrayLike, diameter_over_noise: ArrayLike, steps: ArrayLike) -> Any:
    """ln delta after noisy steps that are the same in both runs, inside a bounded domain.

    Whatever the runs did before: the start is taken as bad as can be (delta = 1). Any loss,
    convex or not.

    Parameters
    ----------
    epsilon : array_like of float
        epsilon of (epsilon, delta) (nats); a finite number of at least 0.
    diameter_over_noise : array_like of float
        D/s~: largest distance of the noiseless results over the noise's deviation; a finite
        number of at least 0.
    steps : array_like of int
        K (steps); a whole number in 0..=2^53.

    Returns
    -------
    float or ndarray
        Natural logarithm of delta at epsilon (nats).

    Raises
    ------
    InputError
        If a value breaks its rule, with its place in the array, if shapes do not broadcast, or
        if the bound does not exist for these values.

    Notes
    -----
    A sound bound, and the sharpest known to us. Evaluated in double precision and rounded to
    nearest, not to the safe side: a number may lie a relative 1e-8 on either side of the
    formula's value, and what is below the floats is 0. Certificates round against the one who
    promises.

    References
    ----------
    Asoodeh, Diaz and Calmon (2020), Theorem 3.

    Examples
    --------
    >>> from efface.accounting import bounded_domain
    >>> bounded_domain(epsilon=1.0, diameter_over_noise=3.0, steps=8)
    -2.8274117...
    """
    (result,) = compute(
        "bounded-domain",
        {"epsilon": epsilon, "diameter_over_noise": diameter_over_noise, "steps": steps},
    )
    return result


@dataclass(frozen=True, eq=False)
class BoundedDomainGdResult(Result, Generic[FloatT]):
    """Results of :func:`bounded_domain_gd`.

    Attributes
    ----------
    mu : float or ndarray
        mu of the last iterates, by interpolation and restarts.
    epsilon : float or ndarray
        epsilon at ``delta``, by the least of all bounds (nats).
    """

    mu: FloatT
    epsilon: FloatT


@overload
def bounded_domain_gd(
    *,
    n: Scalar,
    convexity: Literal["convex", "nonconvex"],
    lambda_: Scalar,
    beta: Scalar,
    lipschitz: Scalar,
    eta: Scalar,
    sigma: Scalar,
    radius: Scalar,
    learning_steps: Scalar,
    unlearning_steps: Scalar,
    group: Scalar,
    adjacency: Literal["replace", "remove-fixed"],
    delta: Scalar,
    gradient_bound: Scalar | None = None,
) -> BoundedDomainGdResult[float]: ...
@overload
def bounded_domain_gd(
    *,
    n: ArrayLike,
    convexity: Literal["convex", "nonconvex"],
    lambda_: ArrayLike,
    beta: ArrayLike,
    lipschitz: ArrayLike,
    eta: ArrayLike,
    sigma: ArrayLike,
    radius: ArrayLike,
    learning_steps: ArrayLike,
    unlearning_steps: ArrayLike,
    group: ArrayLike,
    adjacency: Literal["replace", "remove-fixed"],
    delta: ArrayLike,
    gradient_bound: ArrayLike | None = None,
) -> BoundedDomainGdResult[Floats]: ...
def bounded_domain_gd(
    *,
    n: ArrayLike,
    convexity: Literal["convex", "nonconvex"],
    lambda_: ArrayLike,
    beta: ArrayLike,
    lipschitz: ArrayLike,
    eta: ArrayLike,
    sigma: ArrayLike,
    radius: ArrayLike,
    learning_steps: ArrayLike,
    unlearning_steps: ArrayLike,
    group: ArrayLike,
    adjacency: Literal["replace", "remove-fixed"],
    delta: ArrayLike,
    gradient_bound: ArrayLike | None = None,
) -> Any:
    """mu and epsilon of noisy gradient descent projected on a ball, of any convexity.

    The least of the bound from the start, of restarts with the two runs a diameter apart, and
    of the contraction by the steps after the request. Against a run of as many steps on the
    changed data. Exact arithmetic.

    Parameters
    ----------
    n : array_like of int
        N, which divides the sum of losses (records); a whole number in 1..=2^53.
    convexity : {"convex", "nonconvex"}
        Of the averaged loss.
    lambda_ : array_like of float
        L2 regularisation (loss/weight^2); a finite number of at least 0.
    beta : array_like of float
        Smoothness of the averaged loss (loss/weight^2); a finite number of at least 0.
    lipschitz : array_like of float
        G, bound on a record's gradient (loss/weight); a finite number above 0.
    eta : array_like of float
        Step size (weight^2/loss); a finite number above 0.
    sigma : array_like of float
        Each step adds sqrt(2 eta) sigma Z (sqrt(loss)); a finite number above 0.
    radius : array_like of float
        R of the ball that steps project on (weight); a finite number above 0.
    learning_steps : array_like of int
        T, before the request (steps); a whole number in 0..=2^53.
    unlearning_steps : array_like of int
        K, after it (steps); a whole number in 0..=2^53.
    group : array_like of int
        S, records of the request (records); a whole number in 0..=2^53.
    adjacency : {"replace", "remove-fixed"}
        Records are replaced, or removed with N fixed.
    delta : array_like of float
        delta of (epsilon, delta) (probability); in (0, 1).
    gradient_bound : array_like of float, optional
        Bound on the gradient of the objective in the ball (loss/weight); a finite number above
        0; if left out: ``lipschitz`` + ``lambda_`` ``radius``.

    Returns
    -------
    BoundedDomainGdResult
        With ``mu``, ``epsilon``; it unpacks in this order.

    Raises
    ------
    InputError
        If a value breaks its rule, with its place in the array, if shapes do not broadcast, or
        if the bound does not exist for these values.

    Notes
    -----
    A sound bound, and the sharpest known to us. Evaluated in double precision and rounded to
    nearest, not to the safe side: a number may lie a relative 1e-8 on either side of the
    formula's value, and what is below the floats is 0. Certificates round against the one who
    promises.

    References
    ----------
    Bok, Su and Altschuler (2024), restarted; Asoodeh, Diaz and Calmon (2020), Theorem 3.

    Examples
    --------
    >>> from efface.accounting import bounded_domain_gd
    >>> bounded_domain_gd(
    ...     n=10_000, convexity="convex", lambda_=0.01, beta=0.25, lipschitz=1.0, eta=3.8,
    ...     sigma=0.1, radius=1.0, learning_steps=1000, unlearning_steps=20, group=5,
    ...     adjacency="remove-fixed", delta=1e-5
    ... )
    BoundedDomainGdResult(mu=0.022819490..., epsilon=0.067790237...)
    """
    return BoundedDomainGdResult(
        *compute(
            "bounded-domain-gd",
            {
                "n": n,
                "convexity": convexity,
                "lambda_": lambda_,
                "beta": beta,
                "lipschitz": lipschitz,
                "eta": eta,
                "sigma": sigma,
                "radius": radius,
                "learning_steps": learning_steps,
                "unlearning_steps": unlearning_steps,
                "group": group,
                "adjacency": adjacency,
                "gradient_bound": gradient_bound,
                "delta": delta,
            },
        )
    )
