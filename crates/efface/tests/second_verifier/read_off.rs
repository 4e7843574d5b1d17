//! Certificates that protect single records although one of them could have moved a constant.

use efface_privacy::certificate::{Certificate, Constant, Evidence, Origin};
use efface_privacy::claim::Notion;

use crate::breaks::{Break, assume, claims_of, listed};
use crate::draw::constant;

/// As [`BREAKS`](crate::breaks::BREAKS).
pub(super) const READ_OFF_BREAKS: &[(&str, Break)] = &[
    ("claim ", |c| told_by_one(c, "classes")),
    ("claim ", |c| told_by_one(c, "target-range")),
    ("claim ", |c| told_by_one(c, "schema")),
    ("claim ", |c| told_by_one(c, "features")),
];

/// As [`BREAKS`](crate::breaks::BREAKS), of how cells and labels are kept.
pub(super) const KEPT_BREAKS: &[(&str, Break)] =
    &[("claim ", |c| kept_by_one(c, "column-types")), ("claim ", |c| kept_by_one(c, "label-type"))];

/// Lists a constant that was read off the records, and that it is taken to be public.
fn told_by_one(c: &mut Certificate, name: &str) -> bool {
    c.constants.retain(|constant| constant.name != name);
    c.constants.push(Constant { origin: Origin::Data, ..constant(name, "0,1".into()) });
    assume(c, name, "said", Evidence::Assumed);
    claims_of(c, Notion::DifferentialPrivacy) || claims_of(c, Notion::DeletionPrivacy)
}

/// The same, of how other cells or labels are kept.
fn kept_by_one(c: &mut Certificate, name: &str) -> bool {
    told_by_one(c, name);
    claims_of(c, Notion::ExactRemoval)
}

/// Makes a bound on weights one that was read off the records which a claim protects.
pub(super) fn read_off(certificate: &mut Certificate, name: &str) -> bool {
    let protects = claims_of(certificate, Notion::DifferentialPrivacy)
        || claims_of(certificate, Notion::DeletionPrivacy);
    let weighted = listed(certificate, "max-weight").is_some();
    match listed(certificate, name) {
        Some(constant) if protects && weighted => {
            constant.origin = Origin::Data;
            true
        }
        _ => false,
    }
}
