"""Published deletion privacy of noisy gradient descent.

Written by `generate/write_accounting.py` from the engine's table of kinds; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, overload

from numpy.typing import ArrayLike

from .._case import Counts, Floats, FloatT, Result, Scalar, compute


@overload
def chourasia_convex(
    *,
    lambda_: Scalar,
    eta: Scalar,
    q: Scalar,
    lipschitz: Scalar,
    sigma: Scalar,
    n: Scalar,
    epsilon_dd: Scalar,
) -> int: ...
@overload
def chourasia_convex(
    *,
    lambda_: ArrayLike,
    eta: ArrayLike,
    q: ArrayLike,
    lipschitz: ArrayLike,
    sigma: ArrayLike,
    n: ArrayLike,
    epsilon_dd: ArrayLike,
) -> Counts: ...
def chourasia_convex(
    *,
    lambda_: ArrayLike,
    eta: ArrayLike,
    q: ArrayLike,
    lipschitz: ArrayLike,
    sigma: ArrayLike,
    n: ArrayLike,
    epsilon_dd: ArrayLike,
) -> Any:
    """Least steps per request for published deletion privacy of convex losses.

    Convex loss with L2 regularisation, eta below 1/(lambda + beta), start N(0, sigma^2/(lambda
    (1 - eta lambda/2)) I), one record per person.

    Parameters
    ----------
    lambda_ : array_like of float
        L2 regularisation (loss/weight^2); a finite number above 0.
    eta : array_like of float
        Step size (weight^2/loss); a finite number above 0.
    q : array_like of float
        Order of the Rényi divergence; a finite number above 1.
    lipschitz : array_like of float
        G, bound on a record's gradient (loss/weight); a finite number above 0.
    sigma : array_like of float
        Each step adds sqrt(2 eta) sigma Z (sqrt(loss)); a finite number above 0.
    n : array_like of int
        Records of the data set (records); a whole number in 1..=2^53.
    epsilon_dd : array_like of float
        Deletion privacy to be reached (nats); a finite number above 0.

    Returns
    -------
    int or ndarray of int
        The least K; 0 when none are needed (steps).

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
    Chourasia and Shah (2023), Theorem 5.1.

    Examples
    --------
    >>> from efface.accounting import chourasia_convex
    >>> chourasia_convex(
    ...     lambda_=0.01, eta=1.9, q=20.0, lipschitz=1.0, sigma=0.03, n=10_000,
    ...     epsilon_dd=0.001
    ... )
    473
    """
    (result,) = compute(
        "chourasia-convex",
        {
            "lambda_": lambda_,
            "eta": eta,
            "q": q,
            "lipschitz": lipschitz,
            "sigma": sigma,
            "n": n,
            "epsilon_dd": epsilon_dd,
        },
    )
    return result


@dataclass(frozen=True, eq=False)
class DeletionRdpResult(Result, Generic[FloatT]):
    """Results of :func:`deletion_rdp`.

    Attributes
    ----------
    epsilon_dd : float or ndarray
        Deletion privacy, requests that look at nothing (nats).
    epsilon_dd_adaptive : float or ndarray
        The same after p releases were seen (nats).
    epsilon_dp : float or ndarray
        Differential privacy of one release (G.9) (nats).
    epsilon_dp_composed : float or ndarray
        The same for any loss (G.7) (nats).
    """

    epsilon_dd: FloatT
    epsilon_dd_adaptive: FloatT
    epsilon_dp: FloatT
    epsilon_dp_composed: FloatT


@overload
def deletion_rdp(
    *,
    lambda_: Scalar,
    beta: Scalar,
    eta: Scalar,
    q: Scalar,
    lipschitz: Scalar,
    sigma: Scalar,
    n: Scalar,
    steps: Scalar,
    group: Scalar = 1,
    releases: Scalar = 0,
) -> DeletionRdpResult[float]: ...
@overload
def deletion_rdp(
    *,
    lambda_: ArrayLike,
    beta: ArrayLike,
    eta: ArrayLike,
    q: ArrayLike,
    lipschitz: ArrayLike,
    sigma: ArrayLike,
    n: ArrayLike,
    steps: ArrayLike,
    group: ArrayLike = 1,
    releases: ArrayLike = 0,
) -> DeletionRdpResult[Floats]: ...
def deletion_rdp(
    *,
    lambda_: ArrayLike,
    beta: ArrayLike,
    eta: ArrayLike,
    q: ArrayLike,
    lipschitz: ArrayLike,
    sigma: ArrayLike,
    n: ArrayLike,
    steps: ArrayLike,
    group: ArrayLike = 1,
    releases: ArrayLike = 0,
) -> Any:
    """Published deletion privacy and differential privacy of noisy gradient descent.

    Convex loss with L2 regularisation, eta below 1/(lambda + beta), start N(0, sigma^2/(lambda
    (1 - eta lambda/2)) I); G.7 needs no convexity. Only the published model is kept. Persons
    with several records count through ``group``.

    Parameters
    ----------
    lambda_ : array_like of float
        L2 regularisation (loss/weight^2); a finite number above 0.
    beta : array_like of float
        Smoothness of the loss (loss/weight^2); a finite number above 0.
    eta : array_like of float
        Step size (weight^2/loss); a finite number above 0.
    q : array_like of float
        Order of the Rényi divergence; a finite number above 1.
    lipschitz : array_like of float
        G, bound on a record's gradient (loss/weight); a finite number above 0.
    sigma : array_like of float
        Each step adds sqrt(2 eta) sigma Z (sqrt(loss)); a finite number above 0.
    n : array_like of int
        Records of the data set (records); a whole number in 1..=2^53.
    steps : array_like of int
        Steps of every run and request (steps); a whole number in 0..=2^53.
    group : array_like of int, optional
        Most records of one person (records); a whole number in 1..=2^53, by default 1.
    releases : array_like of int, optional
        p: releases that requesters have seen; a whole number in 0..=2^53, by default 0.

    Returns
    -------
    DeletionRdpResult
        With ``epsilon_dd``, ``epsilon_dd_adaptive``, ``epsilon_dp``, ``epsilon_dp_composed``;
        it unpacks in this order.

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
    Chourasia and Shah (2023), Theorems G.7, G.9 and G.15.

    Examples
    --------
    >>> from efface.accounting import deletion_rdp
    >>> deletion_rdp(
    ...     lambda_=0.01, beta=0.25, eta=1.9, q=2.0, lipschitz=1.0, sigma=0.03, n=10_000,
    ...     steps=500
    ... )
    DeletionRdpResult(epsilon_dd=7.6903957...e-05, epsilon_dd_adaptive=7.6903957...e-05,
    epsilon_dp=0.0088119849..., epsilon_dp_composed=0.021111111...)
    """
    return DeletionRdpResult(
        *compute(
            "deletion-rdp",
            {
                "lambda_": lambda_,
                "beta": beta,
                "eta": eta,
                "q": q,
                "lipschitz": lipschitz,
                "sigma": sigma,
                "n": n,
                "group": group,
                "steps": steps,
                "releases": releases,
            },
        )
    )


@dataclass(frozen=True, eq=False)
class DeletionRdpRiskResult(Result, Generic[FloatT]):
    """Results of :func:`deletion_rdp_risk`.

    Attributes
    ----------
    after_request : float or ndarray
        Excess risk on the new data before any step (loss).
    after_steps : float or ndarray
        Excess risk after the steps (loss).
    """

    after_request: FloatT
    after_steps: FloatT


@overload
def deletion_rdp_risk(
    *,
    lambda_: Scalar,
    beta: Scalar,
    lipschitz: Scalar,
    n: Scalar,
    d: Scalar,
    eta: Scalar,
    sigma: Scalar,
    risk: Scalar,
    steps: Scalar,
    replaced: Scalar = 1,
) -> DeletionRdpRiskResult[float]: ...
@overload
def deletion_rdp_risk(
    *,
    lambda_: ArrayLike,
    beta: ArrayLike,
    lipschitz: ArrayLike,
    n: ArrayLike,
    d: ArrayLike,
    eta: ArrayLike,
    sigma: ArrayLike,
    risk: ArrayLike,
    steps: ArrayLike,
    replaced: ArrayLike = 1,
) -> DeletionRdpRiskResult[Floats]: ...
def deletion_rdp_risk(
    *,
    lambda_: ArrayLike,
    beta: ArrayLike,
    lipschitz: ArrayLike,
    n: ArrayLike,
    d: ArrayLike,
    eta: ArrayLike,
    sigma: ArrayLike,
    risk: ArrayLike,
    steps: ArrayLike,
    replaced: ArrayLike = 1,
) -> Any:
    """Predicted excess risk after a request and further noisy steps.

    Convex loss; G is that of one record. ``after_steps`` starts from ``after_request``.

    Parameters
    ----------
    lambda_ : array_like of float
        L2 regularisation (loss/weight^2); a finite number above 0.
    beta : array_like of float
        Smoothness of the loss (loss/weight^2); a finite number above 0.
    lipschitz : array_like of float
        G, bound on a record's gradient (loss/weight); a finite number above 0.
    n : array_like of int
        Records of the data set (records); a whole number in 1..=2^53.
    d : array_like of int
        Number of parameters; a whole number in 1..=2^53.
    eta : array_like of float
        Step size (weight^2/loss); a finite number above 0.
    sigma : array_like of float
        Each step adds sqrt(2 eta) sigma Z (sqrt(loss)); a finite number above 0.
    risk : array_like of float
        Excess risk before the request (loss); a finite number of at least 0.
    steps : array_like of int
        Steps on the new data (steps); a whole number in 0..=2^53.
    replaced : array_like of int, optional
        Records replaced by one request (records); a whole number in 0..=2^53, by default 1.

    Returns
    -------
    DeletionRdpRiskResult
        With ``after_request``, ``after_steps``; it unpacks in this order.

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
    Chourasia and Shah (2023), Lemmas G.16 and G.17.

    Examples
    --------
    >>> from efface.accounting import deletion_rdp_risk
    >>> deletion_rdp_risk(
    ...     lambda_=0.01, beta=0.25, lipschitz=1.0, n=10_000, d=50, eta=1.9, sigma=0.001,
    ...     risk=0.001, steps=500
    ... )
    DeletionRdpRiskResult(after_request=0.052416, after_steps=0.0017534872...)
    """
    return DeletionRdpRiskResult(
        *compute(
            "deletion-rdp-risk",
            {
                "lambda_": lambda_,
                "beta": beta,
                "lipschitz": lipschitz,
                "n": n,
                "d": d,
                "eta": eta,
                "sigma": sigma,
                "risk": risk,
                "replaced": replaced,
                "steps": steps,
            },
        )
    )
