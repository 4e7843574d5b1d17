//! What whoever asked for something should know beside the outcome: a stable code and a sentence.
//!
//! Notices are told to whoever asked and stored nowhere; those of a plan are computed from it again
//! whenever `status` or a report shows them.

mod alike;
mod of_names;
mod of_plan;
mod of_rows;

use efface_vault::Vault;
use serde::Serialize;

pub(crate) use alike::alike;
pub(crate) use of_names::{label_thousands, names_in_first, names_learnt};
pub(crate) use of_plan::{Sizes, beyond_deletions, loud, of_plan, trained_elsewhere};
pub(crate) use of_rows::{
    Clipped, as_regression, constant, few_records, index_left_out, left_out, listed, of_clipped,
    of_columns, strays_in_rows, subjects_of_nobody, unknown_classes,
};

/// A code and what it means here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// What it is about, the same for ever.
    pub code: NoticeCode,
    /// In words; settings are marked as in [`Error::message`](crate::Error::message).
    pub message: String,
}

impl Notice {
    pub(crate) fn new(code: NoticeCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// The unfinished files in the folder of a vault, if there are any: a deletion does not reach them.
pub(crate) fn left_over(vault: &Vault) -> Option<Notice> {
    let names: Vec<String> =
        vault.left_over().iter().map(|file| file.display().to_string()).collect();
    let said = format!(
        "{} beside the vault: what a training, a copy or a move still makes or was interrupted in, which \
         may hold records that no deletion reaches; where none runs, remove it",
        listed(&names)
    );
    (!names.is_empty()).then(|| Notice::new(NoticeCode::LeftOver, said))
}

/// What a notice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoticeCode {
    /// The noise was drawn from a user's seed.
    NotForRelease,
    /// The noise is expected to cost more than the model can gain.
    NoiseDominates,
    /// delta is above one over the number of records.
    LargeDelta,
    /// The declared number of records is far from the actual one.
    PublicNFarOff,
    /// The first training is the only release that is covered.
    NoRequestCovered,
    /// One row in a hundred or more was longer than the bound and was scaled down.
    RowsClipped,
    /// The labels are numbers, so that the model is a regression.
    RegressionChosen,
    /// Columns that seem to name records were learnt from.
    IdLearnt,
    /// A column that seems to name people was learnt from.
    SubjectLearnt,
    /// A column has values, but nothing is learnt from it.
    ColumnLeftOut,
    /// A column has no name, as a row index has none, and is not learnt from.
    IndexLeftOut,
    /// Columns have one value in all records.
    ColumnConstant,
    /// There are no more records than numbers in a row.
    FewRecords,
    /// A column is taken for something else than before the request.
    ColumnChanged,
    /// Texts in a column of numbers or times that are none count as missing.
    TextsMissing,
    /// How numbers of a column are spelled leaves open which numbers they are.
    NumbersUnclear,
    /// Classes, categories or subjects are probably spellings of the same, or of none.
    ValuesAlike,
    /// Rows of other classes were left out.
    RowsLeftOut,
    /// Rows to evaluate on have classes that the model does not know.
    UnknownClasses,
    /// The request, or each of its records, was served before.
    ServedBefore,
    /// The request was served before, and what it brought is no longer there to compare with.
    NotCompared,
    /// Some of the names were deleted before.
    DeletedBefore,
    /// Another vault holds a network's own copy of the records.
    NetworkElsewhere,
    /// The extractor's training is taken on the user's word, and what it was trained on is not here.
    ExtractorElsewhere,
    /// The vault is not where it last served: releases of other copies are not counted.
    Moved,
    /// Records without ids were named by their position.
    NamedByPosition,
    /// The vault was damaged, and an erasure took out rows that nobody named.
    DamagedRows,
    /// Unfinished files beside the vault may hold records.
    LeftOver,
    /// The clock is behind an earlier entry of the ledger.
    ClockSetBack,
    /// Some subjects have more records than may be deleted.
    SubjectsBeyondDeletions,
    /// A Hessian was kept for the request and does not fit it, so that it was served without.
    HessianNotUsed,
}

impl NoticeCode {
    /// The code as it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NotForRelease => "not-for-release",
            Self::NoiseDominates => "noise-dominates",
            Self::LargeDelta => "large-delta",
            Self::PublicNFarOff => "public-n-far-off",
            Self::NoRequestCovered => "no-request-covered",
            Self::RowsClipped => "rows-clipped",
            Self::RegressionChosen => "regression-chosen",
            Self::IdLearnt => "id-learnt",
            Self::SubjectLearnt => "subject-learnt",
            Self::ColumnLeftOut => "column-left-out",
            Self::IndexLeftOut => "index-left-out",
            Self::ColumnConstant => "column-constant",
            Self::FewRecords => "few-records",
            Self::ColumnChanged => "column-changed",
            Self::TextsMissing => "texts-missing",
            Self::NumbersUnclear => "numbers-unclear",
            Self::ValuesAlike => "values-alike",
            Self::RowsLeftOut => "rows-left-out",
            Self::UnknownClasses => "unknown-classes",
            Self::ServedBefore => "served-before",
            Self::NotCompared => "not-compared",
            Self::DeletedBefore => "deleted-before",
            Self::NetworkElsewhere => "network-elsewhere",
            Self::ExtractorElsewhere => "extractor-elsewhere",
            Self::Moved => "moved",
            Self::NamedByPosition => "named-by-position",
            Self::DamagedRows => "damaged-rows",
            Self::LeftOver => "left-over",
            Self::ClockSetBack => "clock-set-back",
            Self::SubjectsBeyondDeletions => "subjects-beyond-deletions",
            Self::HessianNotUsed => "hessian-not-used",
        }
    }

    /// Whether something should be changed, rather than merely known.
    #[must_use]
    pub fn is_warning(self) -> bool {
        match self {
            Self::NotForRelease
            | Self::NoiseDominates
            | Self::LargeDelta
            | Self::PublicNFarOff
            | Self::NoRequestCovered
            | Self::RowsClipped
            | Self::IdLearnt
            | Self::SubjectLearnt
            | Self::ColumnLeftOut
            | Self::ColumnChanged
            | Self::TextsMissing
            | Self::NumbersUnclear
            | Self::ValuesAlike
            | Self::DamagedRows
            | Self::LeftOver
            | Self::ClockSetBack
            | Self::SubjectsBeyondDeletions
            | Self::HessianNotUsed
            | Self::Moved => true,
            Self::RegressionChosen
            | Self::IndexLeftOut
            | Self::ColumnConstant
            | Self::FewRecords
            | Self::RowsLeftOut
            | Self::UnknownClasses
            | Self::ServedBefore
            | Self::NotCompared
            | Self::DeletedBefore
            | Self::NetworkElsewhere
            | Self::ExtractorElsewhere
            | Self::NamedByPosition => false,
        }
    }

    /// Whether it tells something of the number of records, which may be private.
    pub(crate) fn tells_count(self) -> bool {
        self == Self::PublicNFarOff
    }
}
