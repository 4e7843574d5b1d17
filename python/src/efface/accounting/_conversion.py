"""Guarantees turned into one another, and composed.

Written by `generate/write_accounting.py` from the engine's table of kinds; do not edit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, Literal, overload

from numpy.typing import ArrayLike

from .._case import Floats, FloatT, Result, Scalar, compute


@overload
def gdp_delta(mu: Scalar, epsilon: Scalar) -> float: ...
@overload
def gdp_delta(mu: ArrayLike, epsilon: ArrayLike) -> Floats: ...
def gdp_delta(mu: ArrayLike, epsilon: ArrayLike) -> Any:
    """The least delta at an epsilon of a mu-GDP pair.

    Exact for two Gaussians mu standard deviations apart, an upper bound for every other mu-GDP
    pair.

    Parameters
    ----------
    mu : array_like of float
        mu of Gaussian differential privacy; a finite number of at least 0.
    epsilon : array_like of float
        epsilon of (epsilon, delta) (nats); a finite number of at least 0.

    Returns
    -------
    float or ndarray
        delta(epsilon; mu) (probability).

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
    Dong, Roth and Su (2022), Corollary 2.13; Balle and Wang (2018), Theorem 8.

    Examples
    --------
    >>> from efface.accounting import gdp_delta
    >>> gdp_delta(mu=0.5, epsilon=1.0)
    0.0068295949...
    """
    (result,) = compute("gdp-delta", {"mu": mu, "epsilon": epsilon})
    return result


@overload
def gdp_epsilon(mu: Scalar, delta: Scalar) -> float: ...
@overload
def gdp_epsilon(mu: ArrayLike, delta: ArrayLike) -> Floats: ...
def gdp_epsilon(mu: ArrayLike, delta: ArrayLike) -> Any:
    """The least epsilon at a delta of a mu-GDP pair.

    0 where delta suffices alone.

    Parameters
    ----------
    mu : array_like of float
        mu of Gaussian differential privacy; a finite number of at least 0.
    delta : array_like of float
        delta of (epsilon, delta) (probability); in (0, 1).

    Returns
    -------
    float or ndarray
        The epsilon where delta(epsilon; mu) = delta (nats).

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
    Dong, Roth and Su (2022), Corollary 2.13; Balle and Wang (2018), Theorem 8.

    Examples
    --------
    >>> from efface.accounting import gdp_epsilon
    >>> gdp_epsilon(mu=0.5, delta=1e-5)
    1.9930914...
    """
    (result,) = compute("gdp-epsilon", {"mu": mu, "delta": delta})
    return result


@overload
def gdp_mu(epsilon: Scalar, delta: Scalar) -> float: ...
@overload
def gdp_mu(epsilon: ArrayLike, delta: ArrayLike) -> Floats: ...
def gdp_mu(epsilon: ArrayLike, delta: ArrayLike) -> Any:
    """The largest mu whose pairs are (epsilon, delta)-indistinguishable.

    A mechanism of this mu or less earns (epsilon, delta).

    Parameters
    ----------
    epsilon : array_like of float
        epsilon of (epsilon, delta) (nats); a finite number of at least 0.
    delta : array_like of float
        delta of (epsilon, delta) (probability); in (0, 1).

    Returns
    -------
    float or ndarray
        The mu where delta(epsilon; mu) = delta.

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
    Dong, Roth and Su (2022), Corollary 2.13; Balle and Wang (2018), Theorem 8.

    Examples
    --------
    >>> from efface.accounting import gdp_mu
    >>> gdp_mu(epsilon=1.0, delta=1e-5)
    0.26805112...
    """
    (result,) = compute("gdp-mu", {"epsilon": epsilon, "delta": delta})
    return result


@dataclass(frozen=True, eq=False)
class RdpEpsilonResult(Result, Generic[FloatT]):
    """Results of :func:`rdp_epsilon`.

    Attributes
    ----------
    mironov : float or ndarray
        epsilon by Mironov's conversion (nats).
    canonne_kamath_steinke : float or ndarray
        epsilon by the sharper conversion (nats).
    """

    mironov: FloatT
    canonne_kamath_steinke: FloatT


@overload
def rdp_epsilon(
    rho: Scalar, delta: Scalar, *, curve: Literal["rho*alpha"] = "rho*alpha"
) -> RdpEpsilonResult[float]: ...
@overload
def rdp_epsilon(
    rho: ArrayLike, delta: ArrayLike, *, curve: Literal["rho*alpha"] = "rho*alpha"
) -> RdpEpsilonResult[Floats]: ...
def rdp_epsilon(
    rho: ArrayLike, delta: ArrayLike, *, curve: Literal["rho*alpha"] = "rho*alpha"
) -> Any:
    """The least epsilon at a delta that a curve of Rényi divergences gives.

    Minimised over all orders alpha above 1, not over a grid. Both conversions are sound; the
    second is never worse.

    Parameters
    ----------
    rho : array_like of float
        The factor of alpha in it (nats); a finite number of at least 0.
    delta : array_like of float
        delta of (epsilon, delta) (probability); in (0, 1).
    curve : "rho*alpha", optional
        The divergence of order alpha, by default 'rho*alpha'.

    Returns
    -------
    RdpEpsilonResult
        With ``mironov``, ``canonne_kamath_steinke``; it unpacks in this order.

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
    Mironov (2017), Proposition 3; Canonne, Kamath and Steinke (2020), Proposition 12.

    Examples
    --------
    >>> from efface.accounting import rdp_epsilon
    >>> rdp_epsilon(rho=0.01, delta=1e-5)
    RdpEpsilonResult(mironov=0.68861404..., canonne_kamath_steinke=0.54572554...)
    """
    return RdpEpsilonResult(*compute("rdp-epsilon", {"curve": curve, "rho": rho, "delta": delta}))


@dataclass(frozen=True, eq=False)
class AdvantageResult(Result, Generic[FloatT]):
    """Results of :func:`advantage`.

    Attributes
    ----------
    from_deletion_privacy : float or ndarray
        From (q, epsilon) (probability).
    from_gdp : float or ndarray
        Between two worlds that are a mu-GDP pair (probability).
    from_eps_delta : float or ndarray
        From (epsilon, delta) (probability).
    """

    from_deletion_privacy: FloatT
    from_gdp: FloatT
    from_eps_delta: FloatT


@overload
def advantage(
    *, q: Scalar, epsilon: Scalar, delta: Scalar, mu: Scalar
) -> AdvantageResult[float]: ...
@overload
def advantage(
    *, q: ArrayLike, epsilon: ArrayLike, delta: ArrayLike, mu: ArrayLike
) -> AdvantageResult[Floats]: ...
def advantage(*, q: ArrayLike, epsilon: ArrayLike, delta: ArrayLike, mu: ArrayLike) -> Any:
    """The largest advantage of an attacker who tells two worlds apart.

    The advantage is the rate of true alarms less that of false ones, for the best test. Each
    result is about another guarantee.

    Parameters
    ----------
    q : array_like of float
        Order of the deletion privacy; a finite number above 1.
    epsilon : array_like of float
        epsilon, used by two results (nats); a finite number of at least 0.
    delta : array_like of float
        delta of (epsilon, delta) (probability); in (0, 1).
    mu : array_like of float
        mu of Gaussian differential privacy; a finite number of at least 0.

    Returns
    -------
    AdvantageResult
        With ``from_deletion_privacy``, ``from_gdp``, ``from_eps_delta``; it unpacks in this
        order.

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
    Chourasia and Shah (2023), Theorem 4.1; Kairouz, Oh and Viswanath (2015); Dong, Roth and Su
    (2022).

    Examples
    --------
    >>> from efface.accounting import advantage
    >>> advantage(q=10.0, epsilon=0.1, delta=1e-5, mu=0.3)
    AdvantageResult(from_deletion_privacy=0.44721359..., from_gdp=0.11923538...,
    from_eps_delta=0.049967875...)
    """
    return AdvantageResult(
        *compute("advantage", {"q": q, "epsilon": epsilon, "delta": delta, "mu": mu})
    )


@dataclass(frozen=True, eq=False)
class GroupPrivacyResult(Result, Generic[FloatT]):
    """Results of :func:`group_privacy`.

    Attributes
    ----------
    group_epsilon : float or ndarray
        epsilon of a group of k (nats).
    group_delta : float or ndarray
        delta of a group of k; vacuous above 1 (probability).
    single_epsilon_for_group_target : float or ndarray
        epsilon to ask for (nats).
    single_delta_for_group_target : float or ndarray
        delta to ask for (probability).
    """

    group_epsilon: FloatT
    group_delta: FloatT
    single_epsilon_for_group_target: FloatT
    single_delta_for_group_target: FloatT


@overload
def group_privacy(epsilon: Scalar, delta: Scalar, k: Scalar) -> GroupPrivacyResult[float]: ...
@overload
def group_privacy(
    epsilon: ArrayLike, delta: ArrayLike, k: ArrayLike
) -> GroupPrivacyResult[Floats]: ...
def group_privacy(epsilon: ArrayLike, delta: ArrayLike, k: ArrayLike) -> Any:
    """A group's (epsilon, delta) from one record's, and the one record's to ask for.

    Sharp for (epsilon, delta) alone; a mechanism with a known mu has k mu for groups of k,
    which is smaller.

    Parameters
    ----------
    epsilon : array_like of float
        epsilon of (epsilon, delta) (nats); a finite number of at least 0.
    delta : array_like of float
        delta of (epsilon, delta) (probability); in (0, 1).
    k : array_like of int
        Size of the group (records); a whole number in 1..=2^53.

    Returns
    -------
    GroupPrivacyResult
        With ``group_epsilon``, ``group_delta``, ``single_epsilon_for_group_target``,
        ``single_delta_for_group_target``; it unpacks in this order.

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
    Vadhan (2017), Lemma 2.2, with the geometric sum kept exact.

    Examples
    --------
    >>> from efface.accounting import group_privacy
    >>> group_privacy(epsilon=1.0, delta=1e-5, k=10)
    GroupPrivacyResult(group_epsilon=10.0, group_delta=0.12818308...,
    single_epsilon_for_group_target=0.1, single_delta_for_group_target=6.1207024...e-07)
    """
    return GroupPrivacyResult(
        *compute("group-privacy", {"epsilon": epsilon, "delta": delta, "k": k})
    )


@dataclass(frozen=True, eq=False)
class GroupPrivacyNotedResult(Result, Generic[FloatT]):
    """Results of :func:`group_privacy_noted`.

    Attributes
    ----------
    epsilon : float or ndarray
        epsilon of one record (nats).
    delta : float or ndarray
        delta of one record, as noted (probability).
    """

    epsilon: FloatT
    delta: FloatT


@overload
def group_privacy_noted(
    epsilon: Scalar, delta: Scalar, k: Scalar
) -> GroupPrivacyNotedResult[float]: ...
@overload
def group_privacy_noted(
    epsilon: ArrayLike, delta: ArrayLike, k: ArrayLike
) -> GroupPrivacyNotedResult[Floats]: ...
def group_privacy_noted(epsilon: ArrayLike, delta: ArrayLike, k: ArrayLike) -> Any:
    """What khi2024 asks of one record for a group target.

    Sound and needlessly strict; ``group_privacy`` gives what is enough.

    Parameters
    ----------
    epsilon : array_like of float
        epsilon of (epsilon, delta) (nats); a finite number of at least 0.
    delta : array_like of float
        delta of (epsilon, delta) (probability); in (0, 1).
    k : array_like of int
        Records of the group (records); a whole number in 1..=2^53.

    Returns
    -------
    GroupPrivacyNotedResult
        With ``epsilon``, ``delta``; it unpacks in this order.

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
    Khi (2024), 2.2.2.

    Examples
    --------
    >>> from efface.accounting import group_privacy_noted
    >>> group_privacy_noted(epsilon=1.0, delta=1e-5, k=10)
    GroupPrivacyNotedResult(epsilon=0.1, delta=7.8013416...e-10)
    """
    return GroupPrivacyNotedResult(
        *compute("group-privacy-noted", {"epsilon": epsilon, "delta": delta, "k": k})
    )


@dataclass(frozen=True, eq=False)
class ComposeResult(Result, Generic[FloatT]):
    """Results of :func:`compose`.

    Attributes
    ----------
    epsilon : float or ndarray
        Of both together (nats).
    delta : float or ndarray
        Of both together (probability).
    delta_as_noted : float or ndarray
        As khi2024 states it (probability).
    delta_as_proven : float or ndarray
        As its proof supports it (probability).
    mu : float or ndarray
        Of both together, Gaussian.
    """

    epsilon: FloatT
    delta: FloatT
    delta_as_noted: FloatT
    delta_as_proven: FloatT
    mu: FloatT


@overload
def compose(
    *,
    epsilon: Scalar,
    delta: Scalar,
    k: Scalar,
    epsilon_second: Scalar,
    delta_second: Scalar,
    mu: Scalar,
    mu_second: Scalar,
) -> ComposeResult[float]: ...
@overload
def compose(
    *,
    epsilon: ArrayLike,
    delta: ArrayLike,
    k: ArrayLike,
    epsilon_second: ArrayLike,
    delta_second: ArrayLike,
    mu: ArrayLike,
    mu_second: ArrayLike,
) -> ComposeResult[Floats]: ...
def compose(
    *,
    epsilon: ArrayLike,
    delta: ArrayLike,
    k: ArrayLike,
    epsilon_second: ArrayLike,
    delta_second: ArrayLike,
    mu: ArrayLike,
    mu_second: ArrayLike,
) -> Any:
    """Unlearning on top of a differentially private learner or feature extractor.

    The learner's guarantee is for one record in the remove sense and is taken for the group;
    the second must hold for every output of the learner. ``epsilon``, ``delta`` and ``mu`` are
    tight; the note's deltas are given beside them.

    Parameters
    ----------
    epsilon : array_like of float
        epsilon of (epsilon, delta) (nats); a finite number of at least 0.
    delta : array_like of float
        delta of (epsilon, delta) (probability); in (0, 1).
    k : array_like of int
        Records of the group (records); a whole number in 1..=2^53.
    epsilon_second : array_like of float
        epsilon of unlearning (nats); a finite number of at least 0.
    delta_second : array_like of float
        delta of unlearning (probability); in (0, 1).
    mu : array_like of float
        mu of the learner for one record; a finite number of at least 0.
    mu_second : array_like of float
        mu of unlearning; a finite number of at least 0.

    Returns
    -------
    ComposeResult
        With ``epsilon``, ``delta``, ``delta_as_noted``, ``delta_as_proven``, ``mu``; it unpacks
        in this order.

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
    Khi (2024), 2.3.2; Guo et al. (2020), Theorem 5; Dong, Roth and Su (2022).

    Examples
    --------
    >>> from efface.accounting import compose
    >>> compose(
    ...     epsilon=0.2, delta=1e-9, k=3, epsilon_second=0.5, delta_second=1e-6, mu=0.1,
    ...     mu_second=0.3
    ... )
    ComposeResult(epsilon=1.1, delta=1.0037132...e-06, delta_as_noted=1.0061220...e-06,
    delta_as_proven=1.8258320...e-06, mu=0.42426406...)
    """
    return ComposeResult(
        *compute(
            "compose",
            {
                "epsilon": epsilon,
                "delta": delta,
                "k": k,
                "epsilon_second": epsilon_second,
                "delta_second": delta_second,
                "mu": mu,
                "mu_second": mu_second,
            },
        )
    )
