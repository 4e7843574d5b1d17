//! The facts about a training elsewhere that rest on the user's word.

use super::{Assumption, Evidence};

/// The assumptions that claims about features of a declared training rest on, by name and text: as
/// [`NETWORK`](super::NETWORK), and that its noise was as declared and from an unpredictable generator, and
/// that rows are what the extractor makes of one record each. Nothing here can enforce or measure them, so
/// certificates state them in exactly these words.
pub const DECLARED: [(&str, &str); 5] = [
    (
        "given",
        "the extractor was trained by DP-SGD elsewhere, by the steps listed as `given-training` and no \
         others, before the first training here; it stays as it is, and a record here was at most one \
         record there",
    ),
    (
        "given-rows",
        "rows are outputs of that extractor as it was when its training ended; each is computed from \
         its own raw record alone",
    ),
    (
        "given-gradients",
        "in each of these steps a record's gradient depended on the weights, that record and \
         randomness of its own alone, nothing was kept of one record for the next, and each gradient \
         was clipped, so that no record moved the sum by more than the clip",
    ),
    (
        "given-batches",
        "each record was in the batch of a step with the stated probability, by itself, drawn afresh \
         and in secret: batches were not shuffled, of fixed size, cut or left out, and sums were \
         divided by public numbers",
    ),
    (
        "given-noise",
        "each sum got Gaussian noise of at least the stated multiple of the clip once, from a \
         generator that nobody can predict or repeat; layers, start, steps and settings were chosen \
         without the records",
    ),
];

/// What certificates say about a model that is named and whose training is declared.
pub const DECLARED_EXTRACTOR: (&str, &str) = (
    super::listed::EXTRACTOR,
    "rows are outputs of the model that is listed, which was trained as declared, stays as it is and \
     keeps nothing of records; each is computed from its own raw record alone",
);

/// Checks that statements about a declared training use its fixed words and rest on the user's word.
pub(super) fn on_the_users_word(stated: &[Assumption]) -> Result<(), String> {
    let about = |name: &str| {
        name == DECLARED[0].0 || name.starts_with("given-") || name == DECLARED_EXTRACTOR.0
    };
    for one in stated.iter().filter(|one| about(&one.name)) {
        if matches!(one.evidence, Evidence::Enforced | Evidence::Measured) {
            return Err(format!(
                "`{}` is about a training made elsewhere, which nothing here enforces or measures",
                one.name
            ));
        }
        let said = (one.name.as_str(), one.value.as_str());
        if said != DECLARED_EXTRACTOR && !DECLARED.contains(&said) {
            return Err(format!(
                "`{}` is about a training made elsewhere, in other words",
                one.name
            ));
        }
    }
    Ok(())
}
