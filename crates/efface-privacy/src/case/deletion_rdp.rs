//! Cases of the published deletion privacy of noisy gradient descent: bounds, settings and
//! predicted risks.

use super::given::{D, ETA, Given, SIGMA, above_one, count, nonnegative, positive};
use super::kind::{Answer, number, steps, table};
use crate::accountant::deletion_rdp::{ConvexDeletion, Wanted, composed_privacy, risk};

const LAMBDA: Given<f64> = positive("loss/weight^2", "L2 regularisation");
const BETA: Given<f64> = positive("loss/weight^2", "smoothness of the loss");
const LIPSCHITZ: Given<f64> = positive("loss/weight", "G, bound on a record's gradient");
const N: Given<f64> = count(1, "records", "records of the data set").real();
const Q: Given<f64> = above_one("", "order of the Rényi divergence");
const GROUP: Given<f64> = count(1, "records", "most records of one person").or("1").real();
const REPLACED: &str = "records replaced by one request";
const EPSILON_DP: Given<f64> = positive("nats", "differential privacy of one release");
const EPSILON_DD: Given<f64> = positive("nats", "non-adaptive deletion privacy");
const STEP: Answer = number("weight^2/loss", "step size");
const NOISE: Answer = number("sqrt(loss)", "each step adds sqrt(2 eta) sigma Z");

table! {
    /// Least steps per request for published deletion privacy of convex losses
    ///
    /// Convex loss with L2 regularisation, eta below 1/(lambda + beta), start N(0, sigma^2/(lambda
    /// (1 - eta lambda/2)) I), one record per person.
    "chourasia-convex": Published, "Chourasia and Shah (2023), Theorem 5.1";
    inputs {
        lambda: LAMBDA, eta: ETA, q: Q, lipschitz: LIPSCHITZ, sigma: SIGMA, n: N,
        epsilon_dd: EPSILON_DD.meaning("deletion privacy to be reached"),
    }
    compute {
        let run = ConvexDeletion {
            regularisation: lambda, step: eta, order: q, lipschitz, noise: sigma, records: n,
        };
    }
    results {
        "least_steps": steps("the least K; 0 when none are needed") => run.least_steps(epsilon_dd)?,
    }

    /// Published deletion privacy and differential privacy of noisy gradient descent
    ///
    /// Convex loss with L2 regularisation, eta below 1/(lambda + beta), start N(0, sigma^2/(lambda
    /// (1 - eta lambda/2)) I); G.7 needs no convexity. Only the published model is kept. Persons
    /// with several records count through `group`.
    "deletion-rdp": Published, "Chourasia and Shah (2023), Theorems G.7, G.9 and G.15";
    inputs {
        lambda: LAMBDA, beta: BETA, eta: ETA, q: Q, lipschitz: LIPSCHITZ, sigma: SIGMA, n: N,
        group: GROUP,
        steps: count(0, "steps", "steps of every run and request"),
        releases: count(0, "", "p: releases that requesters have seen").or("0"),
    }
    compute {
        let lipschitz = lipschitz * group;
        let run = ConvexDeletion {
            regularisation: lambda, step: eta, order: q, lipschitz, noise: sigma, records: n,
        };
        run.check_step(beta)?;
        let composed = composed_privacy(q, lipschitz, eta, sigma, n, steps)?;
    }
    results {
        "epsilon_dd": number("nats", "deletion privacy, non-adaptive requests")
            => run.deletion(steps)?,
        "epsilon_dd_adaptive": number("nats", "the same after p releases were seen")
            => run.adaptive_deletion(steps, steps, releases)?,
        "epsilon_dp": number("nats", "differential privacy of one release (G.9)")
            => run.differential_privacy(steps)?,
        "epsilon_dp_composed": number("nats", "the same for any loss (G.7)") => composed,
    }

    /// Settings of noisy gradient descent for deletion privacy of convex losses
    ///
    /// A request makes the larger of `deletion_steps` and `utility_steps`. The excess risk is the
    /// constant of the proof.
    "deletion-rdp-recipe": Published, "Chourasia and Shah (2023), Theorem 5.1";
    inputs {
        lambda: LAMBDA, beta: BETA, lipschitz: LIPSCHITZ, n: N, d: D, q: Q, epsilon_dp: EPSILON_DP,
        epsilon_dd: EPSILON_DD, group: GROUP,
        replaced: count(1, "records", REPLACED).or("1").real(),
    }
    compute {
        let wanted = Wanted {
            regularisation: lambda, smoothness: beta, lipschitz: lipschitz * group, records: n,
            parameters: d, order: q, privacy: epsilon_dp, deletion: epsilon_dd, replaced,
        };
        let plan = wanted.convex_plan()?;
    }
    results {
        "eta": STEP => plan.step,
        "sigma": NOISE => plan.noise,
        "start_std": number("weight", "standard deviation of the start") => plan.start,
        "learning_steps": steps("steps of the first training, for the risk") => plan.learning_steps,
        "deletion_steps": steps("steps per request, for deletion privacy") => plan.deletion_steps,
        "utility_steps": steps("steps per request, for the risk") => plan.utility_steps,
        "excess_risk": number("loss", "bound on every release's excess risk") => plan.excess_risk,
    }

    /// Settings of noisy gradient descent for deletion privacy of bounded losses
    ///
    /// Any loss with |l| at most `loss_bound`, convex or not; requests chosen without looking at
    /// releases. The least sigma for which B exists; refused beyond 2^53 steps. eta also obeys
    /// G.22, which matters only for q epsilon_dd above d.
    "deletion-rdp-bounded": Published, "Chourasia and Shah (2023), Theorem 5.2";
    inputs {
        lambda: LAMBDA, beta: BETA, lipschitz: LIPSCHITZ,
        loss_bound: positive("loss", "bound on |l| everywhere"),
        n: N, d: D, q: Q, epsilon_dp: EPSILON_DP, epsilon_dd: EPSILON_DD, group: GROUP,
        replaced: count(1, "records", REPLACED).or("1").real(),
    }
    compute {
        let wanted = Wanted {
            regularisation: lambda, smoothness: beta, lipschitz: lipschitz * group, records: n,
            parameters: d, order: q, privacy: epsilon_dp, deletion: epsilon_dd, replaced,
        };
        let plan = wanted.bounded_plan(loss_bound)?;
    }
    results {
        "ln_b": number("nats", "ln B") => plan.ln_b,
        "eta": STEP => plan.step,
        "sigma": NOISE => plan.noise,
        "learning_steps": steps("K_A") => plan.learning_steps,
        "removal_steps": steps("K") => plan.removal_steps,
    }

    /// Predicted excess risk after a request and further noisy steps
    ///
    /// Convex loss; G is that of one record. `after_steps` starts from `after_request`.
    "deletion-rdp-risk": Published, "Chourasia and Shah (2023), Lemmas G.16 and G.17";
    inputs {
        lambda: LAMBDA, beta: BETA, lipschitz: LIPSCHITZ, n: N, d: D, eta: ETA, sigma: SIGMA,
        risk: nonnegative("loss", "excess risk before the request"),
        replaced: count(0, "records", REPLACED).or("1").real(),
        steps: count(0, "steps", "steps on the new data"),
    }
    compute {
        let moved = risk::after_request(risk, lambda, beta, lipschitz, n, replaced)?;
        let stepped = risk::after_steps(moved, lambda, beta, eta, sigma, d, steps)?;
    }
    results {
        "after_request": number("loss", "excess risk on the new data before any step") => moved,
        "after_steps": number("loss", "excess risk after the steps") => stepped,
    }
}
