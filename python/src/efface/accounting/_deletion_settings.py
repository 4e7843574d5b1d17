"""Settings for published deletion privacy of noisy gradient descent.

Written by `generate/write_accounting.py` from the engine's table of kinds; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, overload

from numpy.typing import ArrayLike

from .._case import Counts, CountT, Floats, FloatT, Result, Scalar, compute


@dataclass(frozen=True, eq=False)
class DeletionRdpRecipeResult(Result, Generic[FloatT, CountT]):
    """Results of :func:`deletion_rdp_recipe`.

    Attributes
    ----------
    eta : float or ndarray
        Step size (weight^2/loss).
    sigma : float or ndarray
        Each step adds sqrt(2 eta) sigma Z (sqrt(loss)).
    start_std : float or ndarray
        Standard deviation of the start (weight).
    learning_steps : int or ndarray of int
        Steps of the first training, for the risk (steps).
    deletion_steps : int or ndarray of int
        Steps per request, for deletion privacy (steps).
    utility_steps : int or ndarray of int
        Steps per request, for the risk (steps).
    excess_risk : float or ndarray
        Bound on every release's excess risk (loss).
    """

    eta: FloatT
    sigma: FloatT
    start_std: FloatT
    learning_steps: CountT
    deletion_steps: CountT
    utility_steps: CountT
    excess_risk: FloatT


@overload
def deletion_rdp_recipe(
    *,
    lambda_: Scalar,
    beta: Scalar,
    lipschitz: Scalar,
    n: Scalar,
    d: Scalar,
    q: Scalar,
    epsilon_dp: Scalar,
    epsilon_dd: Scalar,
    group: Scalar = 1,
    replaced: Scalar = 1,
) -> DeletionRdpRecipeResult[float, int]: ...
@overload
def deletion_rdp_recipe(
    *,
    lambda_: ArrayLike,
    beta: ArrayLike,
    lipschitz: ArrayLike,
    n: ArrayLike,
    d: ArrayLike,
    q: ArrayLike,
    epsilon_dp: ArrayLike,
    epsilon_dd: ArrayLike,
    group: ArrayLike = 1,
    replaced: ArrayLike = 1,
) -> DeletionRdpRecipeResult[Floats, Counts]: ...
def deletion_rdp_recipe(
    *,
    lambda_: ArrayLike,
    beta: ArrayLike,
    lipschitz: ArrayLike,
    n: ArrayLike,
    d: ArrayLike,
    q: ArrayLike,
    epsilon_dp: ArrayLike,
    epsilon_dd: ArrayLike,
    group: ArrayLike = 1,
    replaced: ArrayLike = 1,
) -> Any:
    """Settings of noisy gradient descent for deletion privacy of convex losses.

    A request makes the larger of ``deletion_steps`` and ``utility_steps``. The excess risk is
    the constant of the proof.

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
    q : array_like of float
        Order of the Rényi divergence; a finite number above 1.
    epsilon_dp : array_like of float
        Differential privacy of one release (nats); a finite number above 0.
    epsilon_dd : array_like of float
        non-adaptive deletion privacy (nats); a finite number above 0.
    group : array_like of int, optional
        Most records of one person (records); a whole number in 1..=2^53, by default 1.
    replaced : array_like of int, optional
        Records replaced by one request (records); a whole number in 1..=2^53, by default 1.

    Returns
    -------
    DeletionRdpRecipeResult
        With ``eta``, ``sigma``, ``start_std``, ``learning_steps``, ``deletion_steps``,
        ``utility_steps``, ``excess_risk``; it unpacks in this order.

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
    >>> from efface.accounting import deletion_rdp_recipe
    >>> deletion_rdp_recipe(
    ...     lambda_=0.01, beta=0.25, lipschitz=1.0, n=10_000, d=50, q=2.0, epsilon_dp=1.0,
    ...     epsilon_dd=0.01
    ... )
    DeletionRdpRecipeResult(eta=1.9230769..., sigma=0.0028284271..., start_std=0.028421241...,
    learning_steps=1293, deletion_steps=479, utility_steps=507, excess_risk=0.026)
    """
    return DeletionRdpRecipeResult(
        *compute(
            "deletion-rdp-recipe",
            {
                "lambda_": lambda_,
                "beta": beta,
                "lipschitz": lipschitz,
                "n": n,
                "d": d,
                "q": q,
                "epsilon_dp": epsilon_dp,
                "epsilon_dd": epsilon_dd,
                "group": group,
                "replaced": replaced,
            },
        )
    )


@dataclass(frozen=True, eq=False)
class DeletionRdpBoundedResult(Result, Generic[FloatT, CountT]):
    """Results of :func:`deletion_rdp_bounded`.

    Attributes
    ----------
    ln_b : float or ndarray
        ln B (nats).
    eta : float or ndarray
        Step size (weight^2/loss).
    sigma : float or ndarray
        Each step adds sqrt(2 eta) sigma Z (sqrt(loss)).
    learning_steps : int or ndarray of int
        K_A (steps).
    removal_steps : int or ndarray of int
        K (steps).
    """

    ln_b: FloatT
    eta: FloatT
    sigma: FloatT
    learning_steps: CountT
    removal_steps: CountT


@overload
def deletion_rdp_bounded(
    *,
    lambda_: Scalar,
    beta: Scalar,
    lipschitz: Scalar,
    loss_bound: Scalar,
    n: Scalar,
    d: Scalar,
    q: Scalar,
    epsilon_dp: Scalar,
    epsilon_dd: Scalar,
    group: Scalar = 1,
    replaced: Scalar = 1,
) -> DeletionRdpBoundedResult[float, int]: ...
@overload
def deletion_rdp_bounded(
    *,
    lambda_: ArrayLike,
    beta: ArrayLike,
    lipschitz: ArrayLike,
    loss_bound: ArrayLike,
    n: ArrayLike,
    d: ArrayLike,
    q: ArrayLike,
    epsilon_dp: ArrayLike,
    epsilon_dd: ArrayLike,
    group: ArrayLike = 1,
    replaced: ArrayLike = 1,
) -> DeletionRdpBoundedResult[Floats, Counts]: ...
def deletion_rdp_bounded(
    *,
    lambda_: ArrayLike,
    beta: ArrayLike,
    lipschitz: ArrayLike,
    loss_bound: ArrayLike,
    n: ArrayLike,
    d: ArrayLike,
    q: ArrayLike,
    epsilon_dp: ArrayLike,
    epsilon_dd: ArrayLike,
    group: ArrayLike = 1,
    replaced: ArrayLike = 1,
) -> Any:
    """Settings of noisy gradient descent for deletion privacy of bounded losses.

    Any loss with |l| at most ``loss_bound``, convex or not; requests chosen without looking at
    releases. The least sigma for which B exists; refused beyond 2^53 steps. eta also obeys
    G.22, which matters only for q epsilon_dd above d.

    Parameters
    ----------
    lambda_ : array_like of float
        L2 regularisation (loss/weight^2); a finite number above 0.
    beta : array_like of float
        Smoothness of the loss (loss/weight^2); a finite number above 0.
    lipschitz : array_like of float
        G, bound on a record's gradient (loss/weight); a finite number above 0.
    loss_bound : array_like of float
        Bound on |l| everywhere (loss); a finite number above 0.
    n : array_like of int
        Records of the data set (records); a whole number in 1..=2^53.
    d : array_like of int
        Number of parameters; a whole number in 1..=2^53.
    q : array_like of float
        Order of the Rényi divergence; a finite number above 1.
    epsilon_dp : array_like of float
        Differential privacy of one release (nats); a finite number above 0.
    epsilon_dd : array_like of float
        non-adaptive deletion privacy (nats); a finite number above 0.
    group : array_like of int, optional
        Most records of one person (records); a whole number in 1..=2^53, by default 1.
    replaced : array_like of int, optional
        Records replaced by one request (records); a whole number in 1..=2^53, by default 1.

    Returns
    -------
    DeletionRdpBoundedResult
        With ``ln_b``, ``eta``, ``sigma``, ``learning_steps``, ``removal_steps``; it unpacks in
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
    Chourasia and Shah (2023), Theorem 5.2.

    Examples
    --------
    >>> from efface.accounting import deletion_rdp_bounded
    >>> deletion_rdp_bounded(
    ...     lambda_=0.01, beta=0.25, lipschitz=1.0, loss_bound=1e-4, n=10_000, d=50, q=2.0,
    ...     epsilon_dp=1.0, epsilon_dd=0.01
    ... )
    DeletionRdpBoundedResult(ln_b=2.0773999..., eta=2.8951429...e-08, sigma=0.013876180...,
    learning_steps=332536922877, removal_steps=77591258657)
    """
    return DeletionRdpBoundedResult(
        *compute(
            "deletion-rdp-bounded",
            {
                "lambda_": lambda_,
                "beta": beta,
                "lipschitz": lipschitz,
                "loss_bound": loss_bound,
                "n": n,
                "d": d,
                "q": q,
                "epsilon_dp": epsilon_dp,
                "epsilon_dd": epsilon_dd,
                "group": group,
                "replaced": replaced,
            },
        )
    )
