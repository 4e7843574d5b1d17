"""Published bounds of descent-to-delete.

Written by `generate/write_accounting.py` from the engine's table of kinds; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, overload

from numpy.typing import ArrayLike

from .._case import Counts, CountT, Floats, FloatT, Result, Scalar, compute


@dataclass(frozen=True, eq=False)
class DescentToDeleteResult(Result, Generic[FloatT, CountT]):
    """Results of :func:`descent_to_delete`.

    Attributes
    ----------
    thm31_sigma : float or ndarray
        Noise on the published weights, Theorem 3.1 (weight).
    thm31_learning_steps : int or ndarray of int
        T of Theorem 3.1 (steps).
    thm32_min_iterations : int or ndarray of int
        The least I of Theorem 3.2, at least 1 (steps).
    thm32_sigma_at_min : float or ndarray
        Noise of Theorem 3.2 at that I (weight).
    thm32_steps_update_1 : int or ndarray of int
        Steps of the first update, Theorem 3.2 (steps).
    thm32_steps_update_100 : int or ndarray of int
        Steps of the hundredth (steps).
    """

    thm31_sigma: FloatT
    thm31_learning_steps: CountT
    thm32_min_iterations: CountT
    thm32_sigma_at_min: FloatT
    thm32_steps_update_1: CountT
    thm32_steps_update_100: CountT


@overload
def descent_to_delete(
    *,
    lipschitz: Scalar,
    strong_convexity: Scalar,
    smoothness: Scalar,
    n: Scalar,
    d: Scalar,
    epsilon: Scalar,
    delta: Scalar,
    iterations: Scalar,
    diameter: Scalar,
) -> DescentToDeleteResult[float, int]: ...
@overload
def descent_to_delete(
    *,
    lipschitz: ArrayLike,
    strong_convexity: ArrayLike,
    smoothness: ArrayLike,
    n: ArrayLike,
    d: ArrayLike,
    epsilon: ArrayLike,
    delta: ArrayLike,
    iterations: ArrayLike,
    diameter: ArrayLike,
) -> DescentToDeleteResult[Floats, Counts]: ...
def descent_to_delete(
    *,
    lipschitz: ArrayLike,
    strong_convexity: ArrayLike,
    smoothness: ArrayLike,
    n: ArrayLike,
    d: ArrayLike,
    epsilon: ArrayLike,
    delta: ArrayLike,
    iterations: ArrayLike,
    diameter: ArrayLike,
) -> Any:
    """Noise, iterations and steps of published descent-to-delete.

    Strongly convex loss, eta = 2/(L + m), never fewer than n/2 records, one record per update.
    Theorem 3.1 keeps unpublished weights (secret state), Theorem 3.2 does not.
    Indistinguishability from retraining only: these outputs are not differentially private with
    these numbers.

    Parameters
    ----------
    lipschitz : array_like of float
        G of the objective (loss/weight); a finite number above 0.
    strong_convexity : array_like of float
        m of the objective (loss/weight^2); a finite number above 0.
    smoothness : array_like of float
        L of the objective, above m (loss/weight^2); a finite number above 0.
    n : array_like of int
        Records at the start (records); a whole number in 1..=2^53.
    d : array_like of int
        Number of parameters; a whole number in 1..=2^53.
    epsilon : array_like of float
        epsilon of (epsilon, delta) (nats); a finite number above 0.
    delta : array_like of float
        delta of (epsilon, delta) (probability); in (0, 1).
    iterations : array_like of int
        I of Theorem 3.1, per update (steps); a whole number in 1..=2^53.
    diameter : array_like of float
        D of the domain, for learning (weight); a finite number above 0.

    Returns
    -------
    DescentToDeleteResult
        With ``thm31_sigma``, ``thm31_learning_steps``, ``thm32_min_iterations``,
        ``thm32_sigma_at_min``, ``thm32_steps_update_1``, ``thm32_steps_update_100``; it unpacks
        in this order.

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
    Neel, Roth and Sharifi-Malvajerdi (2020), Theorems 3.1 and 3.2.

    Examples
    --------
    >>> from efface.accounting import descent_to_delete
    >>> descent_to_delete(
    ...     lipschitz=1.0, strong_convexity=0.01, smoothness=0.26, n=10_000, d=50,
    ...     epsilon=1.0, delta=1e-5, iterations=50, diameter=10.0
    ... )
    DescentToDeleteResult(thm31_sigma=0.0085409725..., thm31_learning_steps=131,
    thm32_min_iterations=94, thm32_sigma_at_min=0.00059917790..., thm32_steps_update_1=131,
    thm32_steps_update_100=134)
    """
    return DescentToDeleteResult(
        *compute(
            "descent-to-delete",
            {
                "lipschitz": lipschitz,
                "strong_convexity": strong_convexity,
                "smoothness": smoothness,
                "n": n,
                "d": d,
                "epsilon": epsilon,
                "delta": delta,
                "iterations": iterations,
                "diameter": diameter,
            },
        )
    )


@dataclass(frozen=True, eq=False)
class DescentRegularisedResult(Result, Generic[FloatT, CountT]):
    """Results of :func:`descent_regularised`.

    Attributes
    ----------
    m_printed : float or ndarray
        Regularisation of Theorem 3.4 as printed (loss/weight^2).
    m_balanced : float or ndarray
        The same with its proof's exponent (loss/weight^2).
    m_weak : float or ndarray
        Regularisation of Remark 3.6 for xi (loss/weight^2).
    thm34_sigma : float or ndarray
        Noise of Theorem 3.4 for m (weight).
    learning_steps : int or ndarray of int
        T, for m (steps).
    weak_sigma : float or ndarray
        Noise of Remark 3.6 for m and xi (weight).
    weak_steps : int or ndarray of int
        Steps of the update, i^{2 xi} I (steps).
    """

    m_printed: FloatT
    m_balanced: FloatT
    m_weak: FloatT
    thm34_sigma: FloatT
    learning_steps: CountT
    weak_sigma: FloatT
    weak_steps: CountT


@overload
def descent_regularised(
    *,
    lipschitz: Scalar,
    smoothness: Scalar,
    diameter: Scalar,
    n: Scalar,
    d: Scalar,
    epsilon: Scalar,
    delta: Scalar,
    iterations: Scalar,
    m: Scalar,
    xi: Scalar = 1.0,
    update: Scalar = 1,
) -> DescentRegularisedResult[float, int]: ...
@overload
def descent_regularised(
    *,
    lipschitz: ArrayLike,
    smoothness: ArrayLike,
    diameter: ArrayLike,
    n: ArrayLike,
    d: ArrayLike,
    epsilon: ArrayLike,
    delta: ArrayLike,
    iterations: ArrayLike,
    m: ArrayLike,
    xi: ArrayLike = 1.0,
    update: ArrayLike = 1,
) -> DescentRegularisedResult[Floats, Counts]: ...
def descent_regularised(
    *,
    lipschitz: ArrayLike,
    smoothness: ArrayLike,
    diameter: ArrayLike,
    n: ArrayLike,
    d: ArrayLike,
    epsilon: ArrayLike,
    delta: ArrayLike,
    iterations: ArrayLike,
    m: ArrayLike,
    xi: ArrayLike = 1.0,
    update: ArrayLike = 1,
) -> Any:
    """Noise, regularisation and steps of published descent-to-delete for convex losses.

    The guarantee holds for any m; ``m_printed`` has the exponent 4/5 of the paper,
    ``m_balanced`` the 2/5 of its proof. Beyond xi = 2 the printed sigma may be too small and
    the corrected one is given. Secret state, never fewer than n/2 records, one record per
    update.

    Parameters
    ----------
    lipschitz : array_like of float
        G of the loss alone (loss/weight); a finite number above 0.
    smoothness : array_like of float
        Beta of the loss alone (loss/weight^2); a finite number above 0.
    diameter : array_like of float
        D of the domain (weight); a finite number above 0.
    n : array_like of int
        Records at the start (records); a whole number in 1..=2^53.
    d : array_like of int
        Number of parameters; a whole number in 1..=2^53.
    epsilon : array_like of float
        epsilon of (epsilon, delta) (nats); a finite number above 0.
    delta : array_like of float
        delta of (epsilon, delta) (probability); in (0, 1).
    iterations : array_like of int
        I: steps of the first update (steps); a whole number in 1..=2^53.
    m : array_like of float
        Regularisation in use (loss/weight^2); a finite number above 0.
    xi : array_like of float, optional
        Growth of the steps, at least 1; a finite number above 0, by default 1.0.
    update : array_like of int, optional
        Number of the update; a whole number in 1..=2^53, by default 1.

    Returns
    -------
    DescentRegularisedResult
        With ``m_printed``, ``m_balanced``, ``m_weak``, ``thm34_sigma``, ``learning_steps``,
        ``weak_sigma``, ``weak_steps``; it unpacks in this order.

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
    Neel, Roth and Sharifi-Malvajerdi (2020), Theorems 3.4, 3.5 and Remark 3.6.

    Examples
    --------
    >>> from efface.accounting import descent_regularised
    >>> descent_regularised(
    ...     lipschitz=1.0, smoothness=0.25, diameter=10.0, n=10_000, d=50, epsilon=1.0,
    ...     delta=1e-5, iterations=50, m=0.01
    ... )
    DescentRegularisedResult(m_printed=1.0529658...e-05, m_balanced=0.0032449435...,
    m_weak=0.0029125033..., thm34_sigma=0.0093950698..., learning_steps=130,
    weak_sigma=0.15246949..., weak_steps=50)
    """
    return DescentRegularisedResult(
        *compute(
            "descent-regularised",
            {
                "lipschitz": lipschitz,
                "smoothness": smoothness,
                "diameter": diameter,
                "n": n,
                "d": d,
                "epsilon": epsilon,
                "delta": delta,
                "iterations": iterations,
                "m": m,
                "xi": xi,
                "update": update,
            },
        )
    )


@dataclass(frozen=True, eq=False)
class DescentDistributedResult(Result, Generic[FloatT, CountT]):
    """Results of :func:`descent_distributed`.

    Attributes
    ----------
    sigma : float or ndarray
        Noise on each copy's average (weight).
    learning_steps : int or ndarray of int
        T of every part (steps).
    update_budget : float or ndarray
        T_i, not rounded (steps).
    """

    sigma: FloatT
    learning_steps: CountT
    update_budget: FloatT


@overload
def descent_distributed(
    *,
    lipschitz: Scalar,
    strong_convexity: Scalar,
    smoothness: Scalar,
    diameter: Scalar,
    n: Scalar,
    d: Scalar,
    epsilon: Scalar,
    delta: Scalar,
    iterations: Scalar,
    xi: Scalar,
    copies: Scalar = 1,
    update: Scalar = 1,
) -> DescentDistributedResult[float, int]: ...
@overload
def descent_distributed(
    *,
    lipschitz: ArrayLike,
    strong_convexity: ArrayLike,
    smoothness: ArrayLike,
    diameter: ArrayLike,
    n: ArrayLike,
    d: ArrayLike,
    epsilon: ArrayLike,
    delta: ArrayLike,
    iterations: ArrayLike,
    xi: ArrayLike,
    copies: ArrayLike = 1,
    update: ArrayLike = 1,
) -> DescentDistributedResult[Floats, Counts]: ...
def descent_distributed(
    *,
    lipschitz: ArrayLike,
    strong_convexity: ArrayLike,
    smoothness: ArrayLike,
    diameter: ArrayLike,
    n: ArrayLike,
    d: ArrayLike,
    epsilon: ArrayLike,
    delta: ArrayLike,
    iterations: ArrayLike,
    xi: ArrayLike,
    copies: ArrayLike = 1,
    update: ArrayLike = 1,
) -> Any:
    """Noise and steps of published distributed descent.

    All copies are noised and count together; the paper's choice of the best copy before noise
    is not covered by its proof. Requests chosen without looking at releases, one record per
    update, secret state.

    Parameters
    ----------
    lipschitz : array_like of float
        G of the objective (loss/weight); a finite number above 0.
    strong_convexity : array_like of float
        m of the objective (loss/weight^2); a finite number above 0.
    smoothness : array_like of float
        L of the objective, above m (loss/weight^2); a finite number above 0.
    diameter : array_like of float
        D of the domain (weight); a finite number above 0.
    n : array_like of int
        Records at the start (records); a whole number in 1..=2^53.
    d : array_like of int
        Number of parameters; a whole number in 1..=2^53.
    epsilon : array_like of float
        epsilon of (epsilon, delta) (nats); a finite number above 0.
    delta : array_like of float
        delta of (epsilon, delta) (probability); in (0, 1).
    iterations : array_like of int
        I (steps); a whole number in 1..=2^53.
    xi : array_like of float
        n^xi rows are drawn, in [1, 4/3]; a finite number above 0.
    copies : array_like of int, optional
        C; a whole number in 1..=2^53, by default 1.
    update : array_like of int, optional
        Number of the update; a whole number in 1..=2^53, by default 1.

    Returns
    -------
    DescentDistributedResult
        With ``sigma``, ``learning_steps``, ``update_budget``; it unpacks in this order.

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
    Neel, Roth and Sharifi-Malvajerdi (2020), Theorem 4.5.

    Examples
    --------
    >>> from efface.accounting import descent_distributed
    >>> descent_distributed(
    ...     lipschitz=1.0, strong_convexity=0.01, smoothness=0.26, n=10_000, d=50,
    ...     epsilon=1.0, delta=1e-5, iterations=50, diameter=10.0, xi=1.2
    ... )
    DescentDistributedResult(sigma=1.1509184...e-11, learning_steps=492,
    update_budget=7312.7756...)
    """
    return DescentDistributedResult(
        *compute(
            "descent-distributed",
            {
                "lipschitz": lipschitz,
                "strong_convexity": strong_convexity,
                "smoothness": smoothness,
                "diameter": diameter,
                "n": n,
                "d": d,
                "epsilon": epsilon,
                "delta": delta,
                "iterations": iterations,
                "xi": xi,
                "copies": copies,
                "update": update,
            },
        )
    )
