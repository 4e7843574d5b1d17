//! Why a sink stops.

use std::error::Error;

/// Why a sink took no more rows; reading stops with it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SinkError(#[source] Box<dyn Error + Send + Sync>);

impl SinkError {
    /// Wraps the sink's own error or message.
    pub fn new(reason: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(reason.into())
    }

    /// Returns the sink's own error.
    pub fn into_inner(self) -> Box<dyn Error + Send + Sync> {
        self.0
    }
}
