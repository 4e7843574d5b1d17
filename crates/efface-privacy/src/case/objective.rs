//! Cases of objective perturbation as published.

use super::given::{DELTA, count, nonnegative, positive};
use super::kind::{number, table};
use crate::accountant::objective::{self, Removal};

table! {
    /// Published bounds on the gradient that one Newton removal leaves
    ///
    /// Bounds of the residual itself, which are correct; what the paper concludes from them
    /// (`objective-budget`) is not. The worst cases are for an objective averaged over the current
    /// records. `spectral` must be an upper bound.
    "objective-residual": Published, "Guo et al. (2020), Theorems 1 and 4 with the erratum, \
                                      Corollaries 1 and 2";
    inputs {
        third_derivative: positive("", "gamma: 1/4 in the paper"),
        row_norm: positive("", "r").or("1"),
        lipschitz: positive("loss/weight", "C, bound on a gradient"),
        lambda: positive("loss/weight^2", "L2 regularisation"),
        n: count(2, "records", "records before the removal").real(),
        removed: count(1, "records", "records removed at once").or("1").real(),
        perturbation: nonnegative("loss/weight", "|b| + |u|").or("0"),
        spectral: nonnegative("", "upper bound on |X|_2 of the remaining rows"),
        step: nonnegative("weight", "|v|"),
        moved_margins: nonnegative("", "|X v|"),
    }
    compute {
        let removal = Removal {
            third_derivative, row_norm, lipschitz, regularisation: lambda, records: n, removed,
        };
        let (gamma, r) = (third_derivative, row_norm);
        let dependent = objective::data_dependent(gamma, r, spectral, step, moved_margins)?;
    }
    results {
        "worst_case": number("loss/weight", "from the unperturbed minimiser")
            => removal.worst_case()?,
        "worst_case_perturbed": number("loss/weight", "from the perturbed one")
            => removal.worst_case_perturbed(perturbation)?,
        "from_step": number("loss/weight", "gamma r^3 (n - k) |v|^2")
            => objective::from_step(gamma, r, n - removed, step)?,
        "data_dependent": number("loss/weight", "gamma r |X|_2 |v| |X v|") => dependent,
    }

    /// Removal budget, noise and delta that the paper concludes from the residual
    ///
    /// NOT SOUND: the residual depends on the perturbation. For comparison only.
    "objective-budget": NotSound, "Guo et al. (2020), Theorem 3 and Algorithm 2";
    inputs {
        sigma: positive("loss/weight", "deviation of each entry of b"),
        residual: positive("loss/weight", "bound on |u|"),
        epsilon: positive("nats", "epsilon, at most 1"),
        delta: DELTA,
    }
    results {
        "budget": number("loss/weight", "sum of residuals at which to retrain")
            => objective::residual_budget(sigma, epsilon, delta)?,
        "sigma_for_residual": number("loss/weight", "sigma asked for `residual`")
            => objective::noise_for_residual(residual, epsilon, delta)?,
        "claimed_delta": number("probability", "delta claimed at epsilon")
            => objective::claimed_delta(sigma, residual, epsilon)?,
        "pure_scale": number("loss/weight", "scale of |b| ~ Gamma(d) for delta = 0")
            => objective::pure_scale(residual, epsilon)?,
    }
}
