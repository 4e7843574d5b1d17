# long because every function has a signature for numbers and one for arrays
"""Written by `tests/accounting_stub.py` from the engine's kinds of cases; do not edit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Literal, overload

from numpy.typing import ArrayLike

from .._case import Counts, CountT, Floats, FloatT, Request, Result, Scalar

__all__ = [
    "AdvantageResult",
    "BoundedDomainGdResult",
    "ComposeResult",
    "DeletionRdpBoundedResult",
    "DeletionRdpRecipeResult",
    "DeletionRdpResult",
    "DeletionRdpRiskResult",
    "DescentDistributedResult",
    "DescentRegularisedResult",
    "DescentToDeleteResult",
    "GroupPrivacyNotedResult",
    "GroupPrivacyResult",
    "LangevinConvexResult",
    "LangevinFiniteResult",
    "LangevinNonconvexResult",
    "LangevinResult",
    "NoisyCgdResult",
    "NoisyCgdSequenceResult",
    "NoisyGdResult",
    "NoisyGdScheduleResult",
    "NoisyGdSequenceResult",
    "ObjectiveBudgetResult",
    "ObjectiveResidualResult",
    "RdpEpsilonResult",
    "advantage",
    "bounded_domain",
    "bounded_domain_gd",
    "chourasia_convex",
    "compose",
    "deletion_rdp",
    "deletion_rdp_bounded",
    "deletion_rdp_recipe",
    "deletion_rdp_risk",
    "descent_distributed",
    "descent_regularised",
    "descent_to_delete",
    "dp_sgd",
    "dp_sgd_delta",
    "dp_sgd_noise",
    "dp_sgd_rdp",
    "dp_sgd_schedule",
    "gdp_delta",
    "gdp_epsilon",
    "gdp_mu",
    "group_privacy",
    "group_privacy_noted",
    "langevin",
    "langevin_convex",
    "langevin_finite",
    "langevin_least_sigma",
    "langevin_nonconvex",
    "langevin_sequence",
    "noisy_cgd",
    "noisy_cgd_sequence",
    "noisy_gd",
    "noisy_gd_schedule",
    "noisy_gd_sequence",
    "objective_budget",
    "objective_residual",
    "rdp_epsilon",
]

@overload
def gdp_delta(mu: Scalar, epsilon: Scalar) -> float: ...
@overload
def gdp_delta(mu: ArrayLike, epsilon: ArrayLike) -> Floats: ...
@overload
def gdp_epsilon(mu: Scalar, delta: Scalar) -> float: ...
@overload
def gdp_epsilon(mu: ArrayLike, delta: ArrayLike) -> Floats: ...
@overload
def gdp_mu(epsilon: Scalar, delta: Scalar) -> float: ...
@overload
def gdp_mu(epsilon: ArrayLike, delta: ArrayLike) -> Floats: ...

@dataclass(frozen=True, eq=False)
class RdpEpsilonResult(Result, Generic[FloatT]):
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

@dataclass(frozen=True, eq=False)
class AdvantageResult(Result, Generic[FloatT]):
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

@dataclass(frozen=True, eq=False)
class GroupPrivacyResult(Result, Generic[FloatT]):
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

@dataclass(frozen=True, eq=False)
class GroupPrivacyNotedResult(Result, Generic[FloatT]):
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

@dataclass(frozen=True, eq=False)
class ComposeResult(Result, Generic[FloatT]):
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

@dataclass(frozen=True, eq=False)
class NoisyGdResult(Result, Generic[FloatT]):
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

@dataclass(frozen=True, eq=False)
class NoisyGdSequenceResult(Result, Generic[FloatT]):
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

@dataclass(frozen=True, eq=False)
class NoisyGdScheduleResult(Result, Generic[FloatT]):
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

@dataclass(frozen=True, eq=False)
class NoisyCgdResult(Result, Generic[FloatT]):
    mu: FloatT
    epsilon: FloatT

@overload
def noisy_cgd(
    *,
    batches: Scalar,
    size: Scalar,
    lambda_: Scalar,
    beta: Scalar,
    lipschitz: Scalar,
    eta: Scalar,
    sigma: Scalar,
    learning_steps: Scalar,
    unlearning_steps: Scalar,
    group: Scalar,
    adjacency: Literal["replace", "remove-fixed"],
    delta: Scalar,
    offset: Scalar = 0,
) -> NoisyCgdResult[float]: ...
@overload
def noisy_cgd(
    *,
    batches: ArrayLike,
    size: ArrayLike,
    lambda_: ArrayLike,
    beta: ArrayLike,
    lipschitz: ArrayLike,
    eta: ArrayLike,
    sigma: ArrayLike,
    learning_steps: ArrayLike,
    unlearning_steps: ArrayLike,
    group: ArrayLike,
    adjacency: Literal["replace", "remove-fixed"],
    delta: ArrayLike,
    offset: ArrayLike = 0,
) -> NoisyCgdResult[Floats]: ...

@dataclass(frozen=True, eq=False)
class NoisyCgdSequenceResult(Result, Generic[FloatT]):
    mu: FloatT
    epsilon: FloatT

@overload
def noisy_cgd_sequence(
    *,
    batches: Scalar,
    size: Scalar,
    lambda_: Scalar,
    beta: Scalar,
    lipschitz: Scalar,
    eta: Scalar,
    sigma: Scalar,
    learning_steps: Scalar,
    unlearning_steps: ArrayLike,
    groups: ArrayLike,
    adjacency: Literal["replace", "remove-fixed"],
    delta: Scalar,
) -> NoisyCgdSequenceResult[float]: ...
@overload
def noisy_cgd_sequence(
    *,
    batches: ArrayLike,
    size: ArrayLike,
    lambda_: ArrayLike,
    beta: ArrayLike,
    lipschitz: ArrayLike,
    eta: ArrayLike,
    sigma: ArrayLike,
    learning_steps: ArrayLike,
    unlearning_steps: ArrayLike,
    groups: ArrayLike,
    adjacency: Literal["replace", "remove-fixed"],
    delta: ArrayLike,
) -> NoisyCgdSequenceResult[Floats]: ...
@overload
def bounded_domain(epsilon: Scalar, diameter_over_noise: Scalar, steps: Scalar) -> float: ...
@overload
def bounded_domain(
    epsilon: ArrayLike, diameter_over_noise: ArrayLike, steps: ArrayLike
) -> Floats: ...

@dataclass(frozen=True, eq=False)
class BoundedDomainGdResult(Result, Generic[FloatT]):
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
@overload
def dp_sgd(
    *, noise: Scalar, rate: Scalar, steps: Scalar, group: Scalar, delta: Scalar
) -> float: ...
@overload
def dp_sgd(
    *, noise: ArrayLike, rate: ArrayLike, steps: ArrayLike, group: ArrayLike, delta: ArrayLike
) -> Floats: ...
@overload
def dp_sgd_delta(
    *, noise: Scalar, rate: Scalar, steps: Scalar, group: Scalar, epsilon: Scalar
) -> float: ...
@overload
def dp_sgd_delta(
    *, noise: ArrayLike, rate: ArrayLike, steps: ArrayLike, group: ArrayLike, epsilon: ArrayLike
) -> Floats: ...
@overload
def dp_sgd_schedule(
    *,
    noise: ArrayLike,
    rate: ArrayLike,
    steps: ArrayLike,
    group: ArrayLike,
    delta: Scalar,
    mu: Scalar = 0.0,
) -> float: ...
@overload
def dp_sgd_schedule(
    *,
    noise: ArrayLike,
    rate: ArrayLike,
    steps: ArrayLike,
    group: ArrayLike,
    delta: ArrayLike,
    mu: ArrayLike = 0.0,
) -> Floats: ...
@overload
def dp_sgd_noise(
    *, rate: Scalar, steps: Scalar, group: Scalar, epsilon: Scalar, delta: Scalar
) -> float: ...
@overload
def dp_sgd_noise(
    *, rate: ArrayLike, steps: ArrayLike, group: ArrayLike, epsilon: ArrayLike, delta: ArrayLike
) -> Floats: ...
@overload
def dp_sgd_rdp(
    *, noise: Scalar, rate: Scalar, steps: Scalar, group: Scalar, order: Scalar
) -> float: ...
@overload
def dp_sgd_rdp(
    *, noise: ArrayLike, rate: ArrayLike, steps: ArrayLike, group: ArrayLike, order: ArrayLike
) -> Floats: ...

@dataclass(frozen=True, eq=False)
class LangevinResult(Result, Generic[FloatT, CountT]):
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
) -> Counts: ...
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

@dataclass(frozen=True, eq=False)
class LangevinFiniteResult(Result, Generic[FloatT]):
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

@dataclass(frozen=True, eq=False)
class LangevinConvexResult(Result, Generic[FloatT]):
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

@dataclass(frozen=True, eq=False)
class LangevinNonconvexResult(Result, Generic[FloatT]):
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

@dataclass(frozen=True, eq=False)
class DeletionRdpResult(Result, Generic[FloatT]):
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

@dataclass(frozen=True, eq=False)
class DeletionRdpRecipeResult(Result, Generic[FloatT, CountT]):
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

@dataclass(frozen=True, eq=False)
class DeletionRdpBoundedResult(Result, Generic[FloatT, CountT]):
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

@dataclass(frozen=True, eq=False)
class DeletionRdpRiskResult(Result, Generic[FloatT]):
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

@dataclass(frozen=True, eq=False)
class DescentToDeleteResult(Result, Generic[FloatT, CountT]):
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

@dataclass(frozen=True, eq=False)
class DescentRegularisedResult(Result, Generic[FloatT, CountT]):
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

@dataclass(frozen=True, eq=False)
class DescentDistributedResult(Result, Generic[FloatT, CountT]):
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

@dataclass(frozen=True, eq=False)
class ObjectiveResidualResult(Result, Generic[FloatT]):
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

@dataclass(frozen=True, eq=False)
class ObjectiveBudgetResult(Result, Generic[FloatT]):
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
