"""Noisy gradient descent, by the Gaussian accountant.

Written by `generate/write_accounting.py` from the engine's table of kinds; do not edit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, overload

from numpy.typing import ArrayLike

from .._case import Floats, FloatT, Request, Result, Scalar, compute


@dataclass(frozen=True, eq=False)
class NoisyGdResult(Result, Generic[FloatT]):
    """Results of :func:`noisy_gd`.

    Attributes
    ----------
    mu : float or ndarray
        mu of the last iterates.
    epsilon : float or ndarray
        epsilon at ``delta`` (nats).
    """

    mu: FloatT
    epsilon: FloatT


@overload
def noisy_gd(
    *,
    n: Scalar,
    lambda_: Scalar,
    beta: Scalar,
    lipschitz: Scalar,
    eta: Scalar,
    sigma: Scalar,
    learning_steps: Scalar,
    unlearning_steps: Scalar,
    group: Scalar,
    adjacency: Literal["replace", "remove-fixed", "remove-mean"],
    delta: Scalar,
) -> NoisyGdResult[float]: ...
@overload
def noisy_gd(
    *,
    n: ArrayLike,
    lambda_: ArrayLike,
    beta: ArrayLike,
    lipschitz: ArrayLike,
    eta: ArrayLike,
    sigma: ArrayLike,
    learning_steps: ArrayLike,
    unlearning_steps: ArrayLike,
    group: ArrayLike,
    adjacency: Literal["replace", "remove-fixed", "remove-mean"],
    delta: ArrayLike,
) -> NoisyGdResult[Floats]: ...
def noisy_gd(
    *,
    n: ArrayLike,
    lambda_: ArrayLike,
    beta: ArrayLike,
    lipschitz: ArrayLike,
    eta: ArrayLike,
    sigma: ArrayLike,
    learning_steps: ArrayLike,
    unlearning_steps: ArrayLike,
    group: ArrayLike,
    adjacency: Literal["replace", "remove-fixed", "remove-mean"],
    delta: ArrayLike,
) -> Any:
    """mu of noisy gradient descent after one request and further steps.

    Steps w <- w - eta grad F(w) + sqrt(2 eta) sigma Z with full batches, from a start that no
    record influences, against a run of as many steps on the latest data set alone. Exact
    arithmetic: certificates add what their grid and floats cost.

    Parameters
    ----------
    n : array_like of int
        N, which divides the sum of losses (records); a whole number in 1..=2^53.
    lambda_ : array_like of float
        L2 regularisation: strong convexity (loss/weight^2); a finite number of at least 0.
    beta : array_like of float
        Smoothness of the averaged loss (loss/weight^2); a finite number of at least 0.
    lipschitz : array_like of float
        G, bound on one record's gradient (loss/weight); a finite number above 0.
    eta : array_like of float
        Step size (weight^2/loss); a finite number above 0.
    sigma : array_like of float
        Noise: each step adds sqrt(2 eta) sigma Z (sqrt(loss)); a finite number above 0.
    learning_steps : array_like of int
        T, on the first data set (steps); a whole number in 0..=2^53.
    unlearning_steps : array_like of int
        K, after the request (steps); a whole number in 0..=2^53.
    group : array_like of int
        S, records of the request (records); a whole number in 0..=2^53.
    adjacency : {"replace", "remove-fixed", "remove-mean"}
        Records are replaced, or removed with N fixed, or removed with N their current number.
    delta : array_like of float
        delta of (epsilon, delta) (probability); in (0, 1).

    Returns
    -------
    NoisyGdResult
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
    Bok, Su and Altschuler (2024), shifted interpolation.

    Examples
    --------
    >>> from efface.accounting import noisy_gd
    >>> noisy_gd(
    ...     n=10_000, lambda_=0.01, beta=0.25, lipschitz=1.0, eta=3.8, sigma=0.03,
    ...     learning_steps=1000, unlearning_steps=20, group=5, adjacency="remove-fixed",
    ...     delta=1e-5
    ... )
    NoisyGdResult(mu=0.076064969..., epsilon=0.25287845...)
    """
    return NoisyGdResult(
        *compute(
            "noisy-gd-gdp",
            {
                "n": n,
                "lambda_": lambda_,
                "beta": beta,
                "lipschitz": lipschitz,
                "eta": eta,
                "sigma": sigma,
                "learning_steps": learning_steps,
                "unlearning_steps": unlearning_steps,
                "group": group,
                "adjacency": adjacency,
                "delta": delta,
            },
        )
    )


@dataclass(frozen=True, eq=False)
class NoisyGdSequenceResult(Result, Generic[FloatT]):
    """Results of :func:`noisy_gd_sequence`.

    Attributes
    ----------
    mu : float or ndarray
        mu of the last iterates.
    epsilon : float or ndarray
        epsilon at ``delta`` (nats).
    """

    mu: FloatT
    epsilon: FloatT


@overload
def noisy_gd_sequence(
    *,
    n: Scalar,
    lambda_: Scalar,
    beta: Scalar,
    lipschitz: Scalar,
    eta: Scalar,
    sigma: Scalar,
    learning_steps: Scalar,
    adjacency: Literal["replace", "remove-fixed", "remove-mean"],
    requests: Sequence[Request],
    delta: Scalar,
) -> NoisyGdSequenceResult[float]: ...
@overload
def noisy_gd_sequence(
    *,
    n: ArrayLike,
    lambda_: ArrayLike,
    beta: ArrayLike,
    lipschitz: ArrayLike,
    eta: ArrayLike,
    sigma: ArrayLike,
    learning_steps: ArrayLike,
    adjacency: Literal["replace", "remove-fixed", "remove-mean"],
    requests: Sequence[Request],
    delta: ArrayLike,
) -> NoisyGdSequenceResult[Floats]: ...
def noisy_gd_sequence(
    *,
    n: ArrayLike,
    lambda_: ArrayLike,
    beta: ArrayLike,
    lipschitz: ArrayLike,
    eta: ArrayLike,
    sigma: ArrayLike,
    learning_steps: ArrayLike,
    adjacency: Literal["replace", "remove-fixed", "remove-mean"],
    requests: Sequence[Request],
    delta: ArrayLike,
) -> Any:
    """mu of noisy gradient descent after a sequence of deletions and additions.

    Steps w <- w - eta grad F(w) + sqrt(2 eta) sigma Z with full batches, from a start that no
    record influences, against a run of as many steps on the latest data set alone. Exact
    arithmetic: certificates add what their grid and floats cost.

    Parameters
    ----------
    n : array_like of int
        N, which divides the sum of losses (records); a whole number in 1..=2^53.
    lambda_ : array_like of float
        L2 regularisation: strong convexity (loss/weight^2); a finite number of at least 0.
    beta : array_like of float
        Smoothness of the averaged loss (loss/weight^2); a finite number of at least 0.
    lipschitz : array_like of float
        G, bound on one record's gradient (loss/weight); a finite number above 0.
    eta : array_like of float
        Step size (weight^2/loss); a finite number above 0.
    sigma : array_like of float
        Noise: each step adds sqrt(2 eta) sigma Z (sqrt(loss)); a finite number above 0.
    learning_steps : array_like of int
        T, on the first data set (steps); a whole number in 0..=2^53.
    adjacency : {"replace", "remove-fixed", "remove-mean"}
        Records are replaced, or removed with N fixed, or removed with N their current number.
    requests : sequence of mappings
        In order: ids to delete, ids to add, steps after them; an id is never used again; each
        has ``steps`` (a whole number) and lists of ids, ``delete`` and ``add``, which may be
        left out.
    delta : array_like of float
        delta of (epsilon, delta) (probability); in (0, 1).

    Returns
    -------
    NoisyGdSequenceResult
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
    Bok, Su and Altschuler (2024), shifted interpolation.

    Examples
    --------
    >>> from efface.accounting import noisy_gd_sequence
    >>> noisy_gd_sequence(
    ...     n=10_000, lambda_=0.01, beta=0.25, lipschitz=1.0, eta=3.8, sigma=0.03,
    ...     learning_steps=1000, adjacency="remove-fixed", requests=[{"delete": ["ann",
    ...     "bob"], "steps": 20}, {"add": ["eve"], "steps": 5}], delta=1e-5
    ... )
    NoisyGdSequenceResult(mu=0.052269254..., epsilon=0.16798541...)
    """
    return NoisyGdSequenceResult(
        *compute(
            "noisy-gd-gdp-sequence",
            {
                "n": n,
                "lambda_": lambda_,
                "beta": beta,
                "lipschitz": lipschitz,
                "eta": eta,
                "sigma": sigma,
                "learning_steps": learning_steps,
                "adjacency": adjacency,
                "requests": requests,
                "delta": delta,
            },
        )
    )


@dataclass(frozen=True, eq=False)
class NoisyGdScheduleResult(Result, Generic[FloatT]):
    """Results of :func:`noisy_gd_schedule`.

    Attributes
    ----------
    mu : float or ndarray
        mu of the last iterates.
    epsilon : float or ndarray
        epsilon at ``delta`` (nats).
    """

    mu: FloatT
    epsilon: FloatT


@overload
def noisy_gd_schedule(
    *,
    contraction: ArrayLike,
    shift: ArrayLike,
    noise_std: ArrayLike,
    initial_distance: Scalar,
    delta: Scalar,
) -> NoisyGdScheduleResult[float]: ...
@overload
def noisy_gd_schedule(
    *,
    contraction: ArrayLike,
    shift: ArrayLike,
    noise_std: ArrayLike,
    initial_distance: ArrayLike,
    delta: ArrayLike,
) -> NoisyGdScheduleResult[Floats]: ...
def noisy_gd_schedule(
    *,
    contraction: ArrayLike,
    shift: ArrayLike,
    noise_std: ArrayLike,
    initial_distance: ArrayLike,
    delta: ArrayLike,
) -> Any:
    """mu of two runs of noisy steps that are given one by one.

    The lists are of equal length, one entry per step.

    Parameters
    ----------
    contraction : array_like of float, shape (steps,)
        Lipschitz constant of each step's map; a list of finite numbers of at least 0.
    shift : array_like of float, shape (steps,)
        Distance of the two runs' maps (weight); a list of finite numbers of at least 0.
    noise_std : array_like of float, shape (steps,)
        Standard deviation of each noise (weight); a list of finite numbers of at least 0.
    initial_distance : array_like of float
        Distance of the starts (weight); a finite number of at least 0.
    delta : array_like of float
        delta of (epsilon, delta) (probability); in (0, 1).

    Returns
    -------
    NoisyGdScheduleResult
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
    Bok, Su and Altschuler (2024), shifted interpolation.

    Examples
    --------
    >>> from efface.accounting import noisy_gd_schedule
    >>> noisy_gd_schedule(
    ...     contraction=[0.9, 0.9, 0.9], shift=[0.1, 0.1, 0.0], noise_std=[1.0, 1.0, 1.0],
    ...     initial_distance=0.0, delta=1e-5
    ... )
    NoisyGdScheduleResult(mu=0.10889069..., epsilon=0.37378782...)
    """
    return NoisyGdScheduleResult(
        *compute(
            "noisy-gd-gdp-schedule",
            {
                "contraction": contraction,
                "shift": shift,
                "noise_std": noise_std,
                "initial_distance": initial_distance,
                "delta": delta,
            },
        )
    )
