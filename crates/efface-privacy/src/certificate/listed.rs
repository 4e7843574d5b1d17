//! What a certificate lists, by name, as several checks ask for it.

use super::Certificate;

/// Returns the value of a constant that must be listed exactly once.
pub(super) fn listed<'a>(certificate: &'a Certificate, name: &str) -> Result<&'a str, String> {
    let mut found = certificate.constants.iter().filter(|constant| constant.name == name);
    match (found.next(), found.next()) {
        (Some(constant), None) => Ok(&constant.value),
        (Some(_), Some(_)) => Err(format!("`{name}` is listed twice")),
        (None, _) => Err(format!("`{name}` is not listed")),
    }
}

/// The constant that says that classes are weighted by their numbers of records, and its assumption.
pub(super) const CLASS_WEIGHT: &str = "class-weight";

/// The constant that states a public map from rows to random features, and its assumption.
pub(super) const FEATURES: &str = "features";

/// The constant that names the public model whose outputs are the rows, and its assumption.
pub(super) const EXTRACTOR: &str = "extractor";

/// Returns whether a constant of that name is listed.
pub(super) fn is_listed(certificate: &Certificate, name: &str) -> bool {
    certificate.constants.iter().any(|constant| constant.name == name)
}

/// Returns whether records have weights, which a certificate says by listing the largest.
pub(super) fn weighted(certificate: &Certificate) -> bool {
    is_listed(certificate, "max-weight")
}
