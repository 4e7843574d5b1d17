use super::PublishedError;

/// Returns the excess risk (Lemma G.16) of a model on a data set in which `replaced` = S of n records were
/// replaced, from its excess risk `before`: (1 + beta/lambda) (2 err + 16 S^2 G^2/(lambda n^2)).
///
/// `lipschitz` is the loss's own G, not multiplied for groups. An upper bound, not rounded outward.
///
/// # Errors
/// Fails if a number is not positive and finite (`before` and `replaced` may be 0).
pub fn after_request(
    before: f64,
    regularisation: f64,
    smoothness: f64,
    lipschitz: f64,
    records: f64,
    replaced: f64,
) -> Result<f64, PublishedError> {
    PublishedError::unless_positive(&[
        ("lambda", regularisation),
        ("beta", smoothness),
        ("lipschitz", lipschitz),
        ("n", records),
    ])?;
    PublishedError::unless_nonnegative("risk", before)?;
    PublishedError::unless_nonnegative("replaced", replaced)?;
    let reach = replaced * lipschitz / records;
    Ok((1.0 + smoothness / regularisation) * (2.0 * before + 16.0 * reach * reach / regularisation))
}

/// Returns the expected excess risk (Lemma G.17) after `steps` = K noisy steps from a model of excess risk
/// `before`: err e^{-lambda eta K/2} + (1 + beta/lambda) d sigma^2.
///
/// An upper bound, not rounded outward.
///
/// # Errors
/// Fails if a number is not positive and finite (`before` may be 0), and if eta exceeds 1/(lambda + beta).
pub fn after_steps(
    before: f64,
    regularisation: f64,
    smoothness: f64,
    step: f64,
    noise: f64,
    parameters: f64,
    steps: u64,
) -> Result<f64, PublishedError> {
    PublishedError::unless_positive(&[
        ("lambda", regularisation),
        ("beta", smoothness),
        ("eta", step),
        ("sigma", noise),
        ("d", parameters),
    ])?;
    PublishedError::unless_nonnegative("risk", before)?;
    let short = step * (regularisation + smoothness) <= 1.0;
    PublishedError::unless(short, "eta", "at most 1/(lambda + beta)", step)?;
    let decay = libm::exp(-0.5 * regularisation * step * steps as f64);
    let floor = (1.0 + smoothness / regularisation) * parameters * noise * noise;
    Ok(before * decay + floor)
}
