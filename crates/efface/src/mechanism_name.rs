//! Names of the mechanisms.

use serde::{Deserialize, Serialize};

/// Defines the enum, the list of its variants, their names and their sentences from one table.
macro_rules! mechanisms {
    ($($variant:ident = $name:literal: $sentence:literal,)*) => {
        /// The mechanisms that users can name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum MechanismName {
            $(#[doc = $sentence] #[serde(rename = $name)] $variant,)*
        }

        impl MechanismName {
            /// Every mechanism, in the order of help pages.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant,)*];

            /// Returns the name that users type.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Returns what it does, in a sentence.
            #[must_use]
            pub fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence,)* }
            }
        }
    };
}

mechanisms! {
    Solve = "solve": "Solve from the published model to a measured distance, and publish with fresh noise.",
    Retrain = "retrain": "Solve from zeros for every request, and publish with fresh noise: the reference.",
    NoisyGd = "noisy-gd": "Take noisy gradient steps, in training and for every request.",
    DescentToDelete = "descent-to-delete": "Take exact gradient steps and publish with noise (Neel, Roth, Sharifi-Malvajerdi 2020).",
    Ridge = "ridge": "Solve the squared loss, of numbers or of classes, from whole-number sums: exact, without noise.",
    DistributedDescent = "distributed-descent": "Average models of the parts of a sample that stays uniform, so that requests touch few.",
    DpSgd = "dp-sgd": "Train a network by noisy sums of clipped gradients, so that deletions cost nothing until a capacity is spent.",
    Shards = "shards": "Train a network on each of several shards, without noise: a deletion retrains the shards that it touches.",
}

impl MechanismName {
    /// Returns whether removal is exact and nothing random is released.
    #[must_use]
    pub fn is_exact(self) -> bool {
        matches!(self, Self::Ridge | Self::Shards)
    }

    /// Returns whether it trains networks.
    #[must_use]
    pub fn is_of_networks(self) -> bool {
        matches!(self, Self::DpSgd | Self::Shards)
    }

    /// Returns whether its model is solved from sums over the records, which are kept.
    #[must_use]
    pub fn keeps_sums(self) -> bool {
        self == Self::Ridge
    }

    /// Returns whether preprocessing may be fitted to the records, again with every request: its
    /// guarantee compares with a run on the same records, rather than on rows that a request leaves
    /// unchanged.
    #[must_use]
    pub fn fits_preprocessing(self) -> bool {
        matches!(self, Self::Solve | Self::Retrain | Self::Ridge)
    }
}
