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
pub(crate) use of_names::names_learnt;
pub(crate) use of_plan::{Sizes, beyond_deletions, loud, of_plan, trained_elsewhere};
pub(crate) use of_rows::{
    Clipped, as_regression, constant, few_records, index_left_out, left_out, listed, of_clipped,
    of_columns, of_rows_to_predict, subjects_of_nobody, unknown_classes, words_missing,
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

efface_privacy::named! {
    /// What a notice is about.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum NoticeCode {
        /// The noise was drawn from a user's seed.
        NotForRelease = "not-for-release",
        /// The noise is expected to cost more than the model can gain.
        NoiseDominates = "noise-dominates",
        /// delta is above one over the number of records.
        LargeDelta = "large-delta",
        /// The declared number of records is far from the actual one.
        PublicNFarOff = "public-n-far-off",
        /// The first training is the only release that is covered.
        NoRequestCovered = "no-request-covered",
        /// One row in a hundred or more was longer than the bound and was scaled down.
        RowsClipped = "rows-clipped",
        /// The labels are numbers, so that the model is a regression.
        RegressionChosen = "regression-chosen",
        /// Columns that seem to name records were learnt from.
        IdLearnt = "id-learnt",
        /// A column that seems to name people was learnt from.
        SubjectLearnt = "subject-learnt",
        /// A column has values, but nothing is learnt from it.
        ColumnLeftOut = "column-left-out",
        /// A column has no name, as a row index has none, and is not learnt from.
        IndexLeftOut = "index-left-out",
        /// Columns have one value in all records.
        ColumnConstant = "column-constant",
        /// There are no more records than numbers in a row.
        FewRecords = "few-records",
        /// A column is taken for something else than before the request.
        ColumnChanged = "column-changed",
        /// Texts in a column of numbers or times that are none count as missing.
        TextsMissing = "texts-missing",
        /// How numbers of a column are spelled leaves open which numbers they are.
        NumbersUnclear = "numbers-unclear",
        /// Classes, categories or subjects are probably spellings of the same, or of none.
        ValuesAlike = "values-alike",
        /// Most values of a column of rows to predict were never seen at training.
        ValuesUnseen = "values-unseen",
        /// All rows that were added equal rows that were there.
        RowsRepeated = "rows-repeated",
        /// Rows of other classes were left out.
        RowsLeftOut = "rows-left-out",
        /// Rows to evaluate on have classes that the model does not know.
        UnknownClasses = "unknown-classes",
        /// The request, or each of its records, was served before.
        ServedBefore = "served-before",
        /// The request was served before, and what it brought is no longer there to compare with.
        NotCompared = "not-compared",
        /// Some of the names were deleted before.
        DeletedBefore = "deleted-before",
        /// Another vault holds a network's own copy of the records.
        NetworkElsewhere = "network-elsewhere",
        /// The extractor's training is taken on the user's word, and what it was trained on is not here.
        ExtractorElsewhere = "extractor-elsewhere",
        /// The vault is not where it last served: releases of other copies are not counted.
        Moved = "moved",
        /// Records without ids were named by their position.
        NamedByPosition = "named-by-position",
        /// The vault was damaged, and an erasure took out rows that nobody named.
        DamagedRows = "damaged-rows",
        /// Unfinished files beside the vault may hold records.
        LeftOver = "left-over",
        /// The clock is behind an earlier entry of the ledger.
        ClockSetBack = "clock-set-back",
        /// Some subjects have more records than may be deleted.
        SubjectsBeyondDeletions = "subjects-beyond-deletions",
        /// A Hessian was kept for the request and does not fit it, so that it was served without.
        HessianNotUsed = "hessian-not-used",
    }
}

impl NoticeCode {
    /// Whether something should be changed, rather than merely known.
    #[must_use]
    pub fn is_warning(self) -> bool {
        !matches!(
            self,
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
                | Self::NamedByPosition
        )
    }
}
