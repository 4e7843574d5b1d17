//! The list of public constants with their origins.

use efface_privacy::certificate::{Constant, Origin};

/// Collects constants; what is computed from a data-derived constant is data-derived itself.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    list: Vec<Constant>,
}

impl Constants {
    pub(crate) fn add(&mut self, name: &str, value: impl ToString, origin: Origin) {
        self.list.push(Constant { name: name.to_owned(), value: value.to_string(), origin });
    }

    /// Adds a constant if there is a value.
    pub(crate) fn add_some(&mut self, name: &str, value: Option<impl ToString>, origin: Origin) {
        value.into_iter().for_each(|value| self.add(name, value, origin));
    }

    /// Whether any constant was computed from the data.
    pub(crate) fn any_from_data(&self) -> bool {
        self.list.iter().any(|c| c.origin == Origin::Data)
    }

    /// What was added so far.
    pub(crate) fn as_slice(&self) -> &[Constant] {
        &self.list
    }

    pub(crate) fn into_list(self) -> Vec<Constant> {
        self.list
    }
}

/// `user` if given, else computed: `data` if any source is, else `default`.
pub(crate) fn origin(given: bool, sources: &[Origin]) -> Origin {
    if given {
        Origin::User
    } else if sources.contains(&Origin::Data) {
        Origin::Data
    } else {
        Origin::Default
    }
}
