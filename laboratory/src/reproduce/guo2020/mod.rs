//! Guo, Goldstein, Hannun and van der Maaten, "Certified data removal" (2020). Its theorem is not
//! sound (the residual depends on the perturbation), so everything here is for comparison.

pub(super) mod bounds;
pub(super) mod digits;
mod influence;
mod perturbed;
pub(super) mod speed;
pub(super) mod tradeoff;
pub(super) mod trunk;
