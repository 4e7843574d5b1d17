"""Published bounds of Langevin unlearning for strongly convex losses.

Written by `generate/write_accounting.py` from the engine's table of kinds; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, overload

from numpy.typing import ArrayLike

from .._case import Counts, CountT, Floats, FloatT, Result, Scalar, compute


@dataclass(frozen=True, eq=False)
class LangevinResult(Result, Generic[FloatT, CountT]):
    """Results of :func:`langevin`.

    Attributes
    ----------
    epsilon_at_steps : float or ndarray
        epsilon at ``delta`` after ``steps`` (nats).
    least_steps_for_target : int or ndarray of int
        The least K >= 1 for the target (steps).
    """

    epsilon_at_steps: FloatT
    least_steps_for_target: CountT


@overload
def langevin(
    *,
    n: Scalar,
    strong_convexity: Scalar,
    lipschitz: Scalar,
    eta: Scalar,
    sigma: Scalar,
    group: Scalar,
    steps: Scalar,
    delta: Scalar,
    target_epsilon: Scalar,
    smoothness: Scalar | None = None,
    start_variance: Scalar = 0.0,
    step_stride: Scalar = 1,
    most_order: Scalar | None = None,
) -> LangevinResult[float, int]: ...
@overload
def langevin(
    *,
    n: ArrayLike,
    strong_convexity: ArrayLike,
    lipschitz: ArrayLike,
    eta: ArrayLike,
    sigma: ArrayLike,
    group: ArrayLike,
    steps: ArrayLike,
    delta: ArrayLike,
    target_epsilon: ArrayLike,
    smoothness: ArrayLike | None = None,
    start_variance: ArrayLike = 0.0,
    step_stride: ArrayLike = 1,
    most_order: ArrayLike | None = None,
) -> LangevinResult[Floats, Counts]: ...
def langevin(
    *,
    n: ArrayLike,
    strong_convexity: ArrayLike,
    lipschitz: ArrayLike,
    eta: ArrayLike,
    sigma: ArrayLike,
    group: ArrayLike,
    steps: ArrayLike,
    delta: ArrayLike,
    target_epsilon: ArrayLike,
    smoothness: ArrayLike | None = None,
    start_variance: ArrayLike = 0.0,
    step_stride: ArrayLike = 1,
    most_order: ArrayLike | None = None,
) -> Any:
    """epsilon after one request by the published Langevin bound, and the least steps.

    Counts replaced records. Learning to stationarity, strongly convex loss, eta at most 1/L and
    the start at most 2 sigma^2/m wide; Mironov's conversion, minimised over all orders.
    ``noisy_gd`` gives far smaller numbers for the same steps.

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
    steps : array_like of int
        K, after the request (steps); a whole number in 0..=2^53.
    delta : array_like of float
        delta of (epsilon, delta) (probability); in (0, 1).
    target_epsilon : array_like of float
        epsilon to be reached at ``delta`` (nats); a finite number above 0.
    smoothness : array_like of float, optional
        L of the objective, for eta <= 1/L (loss/weight^2); a finite number above 0; if left
        out: eta is trusted to be at most 1/L.
    start_variance : array_like of float, optional
        Variance of the start on each coordinate, 0 for a point (weight^2); a finite number of
        at least 0, by default 0.0.
    step_stride : array_like of int, optional
        K is tried from 1 on in strides of this (steps); a whole number in 1..=2^53, by default
        1.
    most_order : array_like of float, optional
        Orders alpha above this are not tried; a finite number above 1; if left out: every order
        is tried.

    Returns
    -------
    LangevinResult
        With ``epsilon_at_steps``, ``least_steps_for_target``; it unpacks in this order.

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
    Chien, Wang, Chen and Li (2024), Theorems 3.2 and 3.3, Algorithm 5.

    Examples
    --------
    >>> from efface.accounting import langevin
    >>> langevin(
    ...     n=10_000, strong_convexity=0.01, lipschitz=1.0, eta=3.8, sigma=0.03, group=1,
    ...     steps=200, delta=1e-5, target_epsilon=1.0
    ... )
    LangevinResult(epsilon_at_steps=0.42542757..., least_steps_for_target=1)
    """
    return LangevinResult(
        *compute(
            "langevin",
            {
                "n": n,
                "strong_convexity": strong_convexity,
                "lipschitz": lipschitz,
                "eta": eta,
                "sigma": sigma,
                "group": group,
                "steps": steps,
                "delta": delta,
                "target_epsilon": target_epsilon,
                "smoothness": smoothness,
                "start_variance": start_variance,
                "step_stride": step_stride,
                "most_order": most_order,
            },
        )
    )


def langevin_sequence(
    *,
    n: ArrayLike,
    strong_convexity: ArrayLike,
    lipschitz: ArrayLike,
    eta: ArrayLike,
    sigma: ArrayLike,
    group: ArrayLike,
    delta: ArrayLike,
    target_epsilon: ArrayLike,
    requests: ArrayLike,
    smoothness: ArrayLike | None = None,
    start_variance: ArrayLike = 0.0,
    step_stride: ArrayLike = 1,
    most_order: ArrayLike | None = None,
) -> Counts:
    """Least steps for each of several requests by the published Langevin bound.

    Counts replaced records. Learning to stationarity, strongly convex loss, eta at most 1/L and
    the start at most 2 sigma^2/m wide; Mironov's conversion, minimised over all orders.
    ``noisy_gd`` gives far smaller numbers for the same steps.

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
    delta : array_like of float
        delta of (epsilon, delta) (probability); in (0, 1).
    target_epsilon : array_like of float
        epsilon to be reached at ``delta`` (nats); a finite number above 0.
    requests : array_like of int
        How many requests of S records; a whole number in 0..=2^53.
    smoothness : array_like of float, optional
        L of the objective, for eta <= 1/L (loss/weight^2); a finite number above 0; if left
        out: eta is trusted to be at most 1/L.
    start_variance : array_like of float, optional
        Variance of the start on each coordinate, 0 for a point (weight^2); a finite number of
        at least 0, by default 0.0.
    step_stride : array_like of int, optional
        K is tried from 1 on in strides of this (steps); a whole number in 1..=2^53, by default
        1.
    most_order : array_like of float, optional
        Orders alpha above this are not tried; a finite number above 1; if left out: every order
        is tried.

    Returns
    -------
    ndarray of int, shape (..., requests)
        The least K >= 1 of each request, in order (steps).

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
    Chien, Wang, Chen and Li (2024), Corollary 3.4, Algorithms 6 and 7.

    Examples
    --------
    >>> from efface.accounting import langevin_sequence
    >>> langevin_sequence(
    ...     n=10_000, strong_convexity=0.01, lipschitz=1.0, eta=3.8, sigma=0.03, group=1,
    ...     delta=1e-5, target_epsilon=1.0, requests=3
    ... )
    array([  1,   1, 445])
    """
    result: Counts
    (result,) = compute(
        "langevin-sequence",
        {
            "n": n,
            "strong_convexity": strong_convexity,
            "lipschitz": lipschitz,
            "eta": eta,
            "sigma": sigma,
            "group": group,
            "delta": delta,
            "target_epsilon": target_epsilon,
            "requests": requests,
            "smoothness": smoothness,
            "start_variance": start_variance,
            "step_stride": step_stride,
            "most_order": most_order,
        },
    )
    return result


@overload
def langevin_least_sigma(
    *,
    n: Scalar,
    strong_convexity: Scalar,
    lipschitz: Scalar,
    eta: Scalar,
    group: Scalar,
    steps: Scalar,
    delta: Scalar,
    target_epsilon: Scalar,
    smoothness: Scalar | None = None,
) -> float: ...
@overload
def langevin_least_sigma(
    *,
    n: ArrayLike,
    strong_convexity: ArrayLike,
    lipschitz: ArrayLike,
    eta: ArrayLike,
    group: ArrayLike,
    steps: ArrayLike,
    delta: ArrayLike,
    target_epsilon: ArrayLike,
    smoothness: ArrayLike | None = None,
) -> Floats: ...
def langevin_least_sigma(
    *,
    n: ArrayLike,
    strong_convexity: ArrayLike,
    lipschitz: ArrayLike,
    eta: ArrayLike,
    group: ArrayLike,
    steps: ArrayLike,
    delta: ArrayLike,
    target_epsilon: ArrayLike,
    smoothness: ArrayLike | None = None,
) -> Any:
    """The least noise with which given steps are enough by the published Langevin bound.

    Counts replaced records. Learning to stationarity, strongly convex loss, eta at most 1/L and
    the start at most 2 sigma^2/m wide; Mironov's conversion, minimised over all orders.
    ``noisy_gd`` gives far smaller numbers for the same steps.

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
    group : array_like of int
        S, records replaced by one request (records); a whole number in 1..=2^53.
    steps : array_like of int
        K, after the request (steps); a whole number in 0..=2^53.
    delta : array_like of float
        delta of (epsilon, delta) (probability); in (0, 1).
    target_epsilon : array_like of float
        epsilon to be reached at ``delta`` (nats); a finite number above 0.
    smoothness : array_like of float, optional
        L of the objective, for eta <= 1/L (loss/weight^2); a finite number above 0; if left
        out: eta is trusted to be at most 1/L.

    Returns
    -------
    float or ndarray
        The least sigma, to a relative 1e-9 (sqrt(loss)).

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
    Chien, Wang, Chen and Li (2024), Theorems 3.2 and 3.3, Algorithm 4.

    Examples
    --------
    >>> from efface.accounting import langevin_least_sigma
    >>> langevin_least_sigma(
    ...     n=10_000, strong_convexity=0.01, lipschitz=1.0, eta=3.8, group=1, steps=200,
    ...     delta=1e-5, target_epsilon=1.0
    ... )
    0.011736924...
    """
    (result,) = compute(
        "langevin-least-sigma",
        {
            "n": n,
            "strong_convexity": strong_convexity,
            "lipschitz": lipschitz,
            "eta": eta,
            "group": group,
            "steps": steps,
            "delta": delta,
            "target_epsilon": target_epsilon,
            "smoothness": smoothness,
        },
    )
    return result
