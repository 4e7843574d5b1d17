//! The names users type, offered by help and shell completion; the engine has the last word.

use efface::Loss;

pub(super) const FORMATS: [&str; 7] = ["csv", "npy", "npz", "idx", "libsvm", "parquet", "arrow"];
pub(super) const LOSSES: [&str; Loss::NAMES.len()] = Loss::NAMES;
pub(super) const MECHANISMS: [&str; 7] = [
    "solve",
    "retrain",
    "noisy-gd",
    "descent-to-delete",
    "ridge",
    "distributed-descent",
    "objective-perturbation",
];
pub(super) const VARIANTS: [&str; 4] = ["secret", "perfect", "regularised", "weak"];
pub(super) const SOLVERS: [&str; 4] = ["newton", "newton-cg", "lbfgs", "gradient-descent"];
pub(super) const ROW_MAPS: [&str; 3] = ["clip", "unit", "refuse"];
pub(super) const NORMALIZERS: [&str; 2] = ["fixed", "mean"];
pub(super) const STATES: [&str; 2] = ["perfect", "secret"];
pub(super) const NOTIONS: [&str; 5] = [
    "indistinguishable-from-retraining",
    "renyi-unlearning",
    "deletion-privacy",
    "differential-privacy",
    "exact-removal",
];
pub(super) const ACCOUNTANTS: [&str; 7] =
    ["gdp", "bounded-domain", "langevin", "deletion-rdp", "descent", "objective", "exact"];

#[cfg(test)]
mod tests {
    use super::*;
    use efface::{MechanismName, Notion};

    #[test]
    fn every_mechanism_and_notion_of_the_engine_is_offered() {
        let sorted = |mut names: Vec<&'static str>| {
            names.sort_unstable();
            names
        };
        let engine = MechanismName::ALL.map(MechanismName::name).to_vec();
        assert_eq!(sorted(MECHANISMS.to_vec()), sorted(engine));
        assert_eq!(NOTIONS, Notion::ALL.map(Notion::name));
    }
}
