"""Published bounds of Langevin unlearning inside a ball.

Written by `generate/write_accounting.py` from the engine's table of kinds; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, overload

from numpy.typing import ArrayLike

from .._case import Floats, FloatT, Result, Scalar, compute


@dataclass(frozen=True, eq=False)
class LangevinFiniteResult(Result, Generic[FloatT]):
    """Results of :func:`langevin_finite`.

    Attributes
    ----------
    epsilon_against_all_steps : float or ndarray
        Against T + K steps (nats).
    epsilon_against_learning_steps : float or ndarray
        Against T steps (nats).
    """

    epsilon_against_all_steps: FloatT
    epsilon_against_learning_steps: FloatT


@overload
def langevin_finite(
    *,
    n: Scalar,
    strong_convexity: Scalar,
    lipschitz: Scalar,
    eta: Scalar,
    sigma: Scalar,
    group: Scalar,
    learning_steps: Scalar,
    steps: Scalar,
    radius: Scalar,
    delta: Scalar,
    smoothness: Scalar | None = None,
    start_variance: Scalar = 0.0,
) -> LangevinFiniteResult[float]: ...
@overload
def langevin_finite(
    *,
    n: ArrayLike,
    strong_convexity: ArrayLike,
    lipschitz: ArrayLike,
    eta: ArrayLike,
    sigma: ArrayLike,
    group: ArrayLike,
    learning_steps: ArrayLike,
    steps: ArrayLike,
    radius: ArrayLike,
    delta: ArrayLike,
    smoothness: ArrayLike | None = None,
    start_variance: ArrayLike = 0.0,
) -> LangevinFiniteResult[Floats]: ...
def langevin_finite(
    *,
    n: ArrayLike,
    strong_convexity: ArrayLike,
    lipschitz: ArrayLike,
    eta: ArrayLike,
    sigma: ArrayLike,
    group: ArrayLike,
    learning_steps: ArrayLike,
    steps: ArrayLike,
    radius: ArrayLike,
    delta: ArrayLike,
    smoothness: ArrayLike | None = None,
    start_variance: ArrayLike = 0.0,
) -> Any:
    """epsilon after one request where learning stopped early, published Langevin bound.

    Counts replaced records. Strongly convex loss, eta at most 1/L and the start at most 2
    sigma^2/m wide. Two references: one of T + K steps, and one of T steps, which costs four
    times the order.

    Parameters
    ----------
    n : array_like of int
        Records of the data set (records); a whole number in 1..=2^53.
    strong_convexity : array_like of float
        m of the objective (loss/weight^2); a finite number above 0.
    lipschitz : array_like of float
        M, bound on one record's gradient (loss/weight); a finite number above 0.
    eta : array_like of float
        Step size (weight^2/loss); a finite number above 0.
    sigma : array_like of float
        Noise: each step adds sqrt(2 eta) sigma Z (sqrt(loss)); a finite number above 0.
    group : array_like of int
        S, records replaced by one request (records); a whole number in 1..=2^53.
    learning_steps : array_like of int
        T (steps); a whole number in 1..=2^53.
    steps : array_like of int
        K, after the request (steps); a whole number in 0..=2^53.
    radius : array_like of float
        R of a ball that holds every iterate (weight); a finite number above 0.
    delta : array_like of float
        delta of (epsilon, delta) (probability); in (0, 1).
    smoothness : array_like of float, optional
        L of the objective, for eta <= 1/L (loss/weight^2); a finite number above 0; if left
        out: eta is trusted to be at most 1/L.
    start_variance : array_like of float, optional
        Variance of the start on each coordinate, 0 for a point (weight^2); a finite number of
        at least 0, by default 0.0.

    Returns
    -------
    LangevinFiniteResult
        With ``epsilon_against_all_steps``, ``epsilon_against_learning_steps``; it unpacks in
        this order.

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
    Chien, Wang, Chen and Li (2024), Theorem 3.3 and section 3.3 (insufficient training), with
    the convergence in a ball derived here.

    Examples
    --------
    >>> from efface.accounting import langevin_finite
    >>> langevin_finite(
    ...     n=10_000, strong_convexity=0.01, lipschitz=1.0, eta=3.8, sigma=0.03, group=1,
    ...     learning_steps=1000, steps=200, radius=10.0, delta=1e-5
    ... )
    LangevinFiniteResult(epsilon_against_all_steps=0.42542757...,
    epsilon_against_learning_steps=0.90289988...)
    """
    return LangevinFiniteResult(
        *compute(
            "langevin-finite",
            {
                "n": n,
                "strong_convexity": strong_convexity,
                "lipschitz": lipschitz,
                "eta": eta,
                "sigma": sigma,
                "group": group,
                "learning_steps": learning_steps,
                "steps": steps,
                "radius": radius,
                "delta": delta,
                "smoothness": smoothness,
                "start_variance": start_variance,
            },
        )
    )


@dataclass(frozen=True, eq=False)
class LangevinConvexResult(Result, Generic[FloatT]):
    """Results of :func:`langevin_convex`.

    Attributes
    ----------
    epsilon_at_learning : float or ndarray
        epsilon at ``delta`` before any further step (nats).
    epsilon_at_steps : float or ndarray
        epsilon at ``delta`` after ``steps`` (nats).
    """

    epsilon_at_learning: FloatT
    epsilon_at_steps: FloatT


@overload
def langevin_convex(
    *,
    n: Scalar,
    smoothness: Scalar,
    lipschitz: Scalar,
    eta: Scalar,
    sigma: Scalar,
    group: Scalar,
    radius: Scalar,
    steps: Scalar,
    delta: Scalar,
    start_variance: Scalar = 0.0,
    learning_steps: Scalar | None = None,
) -> LangevinConvexResult[float]: ...
@overload
def langevin_convex(
    *,
    n: ArrayLike,
    smoothness: ArrayLike,
    lipschitz: ArrayLike,
    eta: ArrayLike,
    sigma: ArrayLike,
    group: ArrayLike,
    radius: ArrayLike,
    steps: ArrayLike,
    delta: ArrayLike,
    start_variance: ArrayLike = 0.0,
    learning_steps: ArrayLike | None = None,
) -> LangevinConvexResult[Floats]: ...
def langevin_convex(
    *,
    n: ArrayLike,
    smoothness: ArrayLike,
    lipschitz: ArrayLike,
    eta: ArrayLike,
    sigma: ArrayLike,
    group: ArrayLike,
    radius: ArrayLike,
    steps: ArrayLike,
    delta: ArrayLike,
    start_variance: ArrayLike = 0.0,
    learning_steps: ArrayLike | None = None,
) -> Any:
    """epsilon after one request by the published Langevin bound for convex losses.

    Counts replaced records, against a run of as many steps. Usually vacuous: the constants grow
    with exp(4 R^2/(eta sigma^2)), and infinity says that a number left the floats.
    ``bounded_domain_gd`` bounds the same steps without such constants.

    Parameters
    ----------
    n : array_like of int
        Records of the data set (records); a whole number in 1..=2^53.
    smoothness : array_like of float
        L of the objective (loss/weight^2); a finite number above 0.
    lipschitz : array_like of float
        M, bound on one record's gradient (loss/weight); a finite number above 0.
    eta : array_like of float
        Step size (weight^2/loss); a finite number above 0.
    sigma : array_like of float
        Noise: each step adds sqrt(2 eta) sigma Z (sqrt(loss)); a finite number above 0.
    group : array_like of int
        S, records replaced by one request (records); a whole number in 1..=2^53.
    radius : array_like of float
        R of the ball that every step projects on (weight); a finite number above 0.
    steps : array_like of int
        K, after the request (steps); a whole number in 0..=2^53.
    delta : array_like of float
        delta of (epsilon, delta) (probability); in (0, 1).
    start_variance : array_like of float, optional
        Variance of the start on each coordinate, 0 for a point (weight^2); a finite number of
        at least 0, by default 0.0.
    learning_steps : array_like of int, optional
        T (steps); a whole number in 0..=2^53; if left out: learning to stationarity.

    Returns
    -------
    LangevinConvexResult
        With ``epsilon_at_learning``, ``epsilon_at_steps``; it unpacks in this order.

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
    Chien, Wang, Chen and Li (2024), Theorems 3.2 and 3.3, convex case.

    Examples
    --------
    >>> from efface.accounting import langevin_convex
    >>> langevin_convex(
    ...     n=10_000, smoothness=1.0, lipschitz=1.0, eta=1.0, sigma=0.1, group=1,
    ...     radius=0.01, learning_steps=100, steps=50, delta=1e-5
    ... )
    LangevinConvexResult(epsilon_at_learning=0.078307225..., epsilon_at_steps=0.078253455...)
    """
    return LangevinConvexResult(
        *compute(
            "langevin-convex",
            {
                "n": n,
                "smoothness": smoothness,
                "lipschitz": lipschitz,
                "eta": eta,
                "sigma": sigma,
                "group": group,
                "radius": radius,
                "start_variance": start_variance,
                "learning_steps": learning_steps,
                "steps": steps,
                "delta": delta,
            },
        )
    )


@dataclass(frozen=True, eq=False)
class LangevinNonconvexResult(Result, Generic[FloatT]):
    """Results of :func:`langevin_nonconvex`.

    Attributes
    ----------
    epsilon_at_learning : float or ndarray
        epsilon at ``delta`` before any further step (nats).
    epsilon_at_steps : float or ndarray
        epsilon at ``delta`` after ``steps`` (nats).
    """

    epsilon_at_learning: FloatT
    epsilon_at_steps: FloatT


@overload
def langevin_nonconvex(
    *,
    n: Scalar,
    smoothness: Scalar,
    lipschitz: Scalar,
    eta: Scalar,
    sigma: Scalar,
    group: Scalar,
    radius: Scalar,
    steps: Scalar,
    delta: Scalar,
    start_variance: Scalar = 0.0,
    learning_steps: Scalar | None = None,
) -> LangevinNonconvexResult[float]: ...
@overload
def langevin_nonconvex(
    *,
    n: ArrayLike,
    smoothness: ArrayLike,
    lipschitz: ArrayLike,
    eta: ArrayLike,
    sigma: ArrayLike,
    group: ArrayLike,
    radius: ArrayLike,
    steps: ArrayLike,
    delta: ArrayLike,
    start_variance: ArrayLike = 0.0,
    learning_steps: ArrayLike | None = None,
) -> LangevinNonconvexResult[Floats]: ...
def langevin_nonconvex(
    *,
    n: ArrayLike,
    smoothness: ArrayLike,
    lipschitz: ArrayLike,
    eta: ArrayLike,
    sigma: ArrayLike,
    group: ArrayLike,
    radius: ArrayLike,
    steps: ArrayLike,
    delta: ArrayLike,
    start_variance: ArrayLike = 0.0,
    learning_steps: ArrayLike | None = None,
) -> Any:
    """epsilon after one request by the published Langevin bound for any smooth loss.

    Counts replaced records, against a run of as many steps. Usually vacuous: the constants grow
    with exp(4 R^2/(eta sigma^2)), and infinity says that a number left the floats.
    ``bounded_domain_gd`` bounds the same steps without such constants.

    Parameters
    ----------
    n : array_like of int
        Records of the data set (records); a whole number in 1..=2^53.
    smoothness : array_like of float
        L of the objective (loss/weight^2); a finite number above 0.
    lipschitz : array_like of float
        M, bound on one record's gradient (loss/weight); a finite number above 0.
    eta : array_like of float
        Step size (weight^2/loss); a finite number above 0.
    sigma : array_like of float
        Noise: each step adds sqrt(2 eta) sigma Z (sqrt(loss)); a finite number above 0.
    group : array_like of int
        S, records replaced by one request (records); a whole number in 1..=2^53.
    radius : array_like of float
        R of the ball that every step projects on (weight); a finite number above 0.
    steps : array_like of int
        K, after the request (steps); a whole number in 0..=2^53.
    delta : array_like of float
        delta of (epsilon, delta) (probability); in (0, 1).
    start_variance : array_like of float, optional
        Variance of the start on each coordinate, 0 for a point (weight^2); a finite number of
        at least 0, by default 0.0.
    learning_steps : array_like of int, optional
        T (steps); a whole number in 0..=2^53; if left out: learning to stationarity.

    Returns
    -------
    LangevinNonconvexResult
        With ``epsilon_at_learning``, ``epsilon_at_steps``; it unpacks in this order.

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
    Chien, Wang, Chen and Li (2024), Theorems 3.2 and 3.3, general case.

    Examples
    --------
    >>> from efface.accounting import langevin_nonconvex
    >>> langevin_nonconvex(
    ...     n=10_000, smoothness=1.0, lipschitz=1.0, eta=1.0, sigma=0.1, group=1,
    ...     radius=0.01, learning_steps=100, steps=50, delta=1e-5
    ... )
    LangevinNonconvexResult(epsilon_at_learning=0.095816028..., epsilon_at_steps=0.095816028...)
    """
    return LangevinNonconvexResult(
        *compute(
            "langevin-nonconvex",
            {
                "n": n,
                "smoothness": smoothness,
                "lipschitz": lipschitz,
                "eta": eta,
                "sigma": sigma,
                "group": group,
                "radius": radius,
                "start_variance": start_variance,
                "learning_steps": learning_steps,
                "steps": steps,
                "delta": delta,
            },
        )
    )
