//! The codes of errors: one table of variants, words and sentences.

use std::fmt;

use crate::mechanism_name::MechanismName;

/// Defines the enum, the list of its variants, their words and their sentences from one table.
macro_rules! codes {
    ($($variant:ident = $word:literal: $sentence:literal,)*) => {
        /// What an error is about: a closed list of words that stay the same when messages change.
        ///
        /// A code says what to look at, often the name of a setting; its [`Kind`](super::Kind) says whether
        /// that was refused, was wrong input or a failure of the disk.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = $sentence] $variant,)*
            /// The mechanism of that name cannot be run with these settings and data.
            By(MechanismName),
        }

        impl Code {
            /// Returns every code, in alphabetical order.
            #[must_use]
            pub fn all() -> Vec<Self> {
                let mut all: Vec<Self> = MechanismName::ALL.map(Self::By).to_vec();
                all.extend([$(Self::$variant,)*]);
                all.sort_by_key(|code| code.as_str());
                all
            }

            /// Returns the word for programs, in kebab case.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)*
                    Self::By(mechanism) => mechanism.name(),
                }
            }

            /// Returns the meaning of the code as a sentence.
            #[must_use]
            pub fn sentence(self) -> &'static str {
                match self {
                    $(Self::$variant => $sentence,)*
                    Self::By(_) => "The mechanism cannot be run with these settings and data.",
                }
            }
        }
    };
}

codes! {
    Accountant = "accountant": "The accountant is unknown.",
    Accounting = "accounting": "The accountants give no claim that meets the target.",
    Arithmetic = "arithmetic": "The process does not round numbers as IEEE 754 requires, or flushes those near zero.",
    Audit = "audit": "An audit cannot be made of this model, or its result cannot be used.",
    Backup = "backup": "A backup does not pass its checks and was not restored.",
    BudgetExhausted = "budget-exhausted": "The request would exceed the epsilon that the model promises.",
    Capacity = "capacity": "The model would have more records than its capacity.",
    Case = "case": "A calculation of the accountants has wrong or missing inputs.",
    Certificate = "certificate": "A certificate cannot be read, written or used for this.",
    Choice = "choice": "The plan has no such choice.",
    Classes = "classes": "The number of classes does not suit the loss, or is out of range.",
    Clock = "clock": "The system clock is outside the years 0 to 9999.",
    Column = "column": "A file of names has no such column.",
    Damaged = "damaged": "The vault is damaged: its contents are not what was stored.",
    Data = "data": "The data cannot be read or break a rule for rows.",
    Delta = "delta": "A delta is needed and is neither given nor in the certificate.",
    Direction = "direction": "A direction to test has the wrong length.",
    DuplicateId = "duplicate-id": "An id is given twice, or a record has or had it.",
    Empty = "empty": "There are no records or names.",
    Erasure = "erasure": "The ledger entry of an erasure cannot be written.",
    Eta = "eta": "The step size is too large for the loss.",
    ExcessRisk = "excess-risk": "No settings reach the excess risk asked for.",
    Exists = "exists": "A file of that name exists and is not overwritten.",
    Export = "export": "The weights cannot be written in that format.",
    Features = "features": "The map to random features is unknown, or out of range.",
    ForeignJournal = "foreign-journal": "The journal beside the vault belongs to another vault.",
    Format = "format": "The format of a file is unknown.",
    Group = "group": "A request has more records than there are.",
    Head = "head": "The ledger head is neither an entry's index and hash nor a hash.",
    HeldElsewhere = "held-elsewhere": "The rows are in parts outside the vault, which are not available.",
    HeldHere = "held-here": "The rows are in the vault, but parts were given.",
    Ids = "ids": "Ids are missing, or given where there are none.",
    InParts = "in-parts": "The rows are in partitions that return only sums, and this needs rows.",
    InUse = "in-use": "Another program is using the vault.",
    Infeasible = "infeasible": "No settings of the mechanism meet the target.",
    Instance = "instance": "The worst case of an audit cannot be built.",
    Intercept = "intercept": "The intercept is not a number that rows can hold.",
    Interrupted = "interrupted": "The work was interrupted.",
    JournalMissing = "journal-missing": "The vault was copied without its journal after an interruption.",
    Json = "json": "A result cannot be written as JSON.",
    Key = "key": "The key file is missing, unreadable or not the one of the vault.",
    Lambda = "lambda": "The regularisation is missing or not usable.",
    Lock = "lock": "The vault cannot be locked.",
    Loss = "loss": "The loss is unknown, or lacks what was asked for.",
    MaxGroup = "max-group": "A subject has more records than the promise covers.",
    MaxWeight = "max-weight": "A record has a larger weight than the promise covers.",
    Mechanism = "mechanism": "The mechanism is unknown, or none has the settings asked for.",
    Memory = "memory": "The rows need more memory than may be used, and this cannot read them in parts.",
    Minimum = "minimum": "A public lower bound on the number of records is needed.",
    Newer = "newer": "The vault was made by a newer version of efface.",
    Network = "network": "The layers of a network are unknown, or do not fit its rows.",
    NoFolder = "no-folder": "A required folder does not exist.",
    Noise = "noise": "The noise is too small or too large for the other settings.",
    Normalizer = "normalizer": "The normalizer is unknown, or not the one that the mechanism needs.",
    NotAVault = "not-a-vault": "The file is not a vault.",
    NotFound = "not-found": "There is no vault at this path, or only an unfinished one.",
    NothingToRefresh = "nothing-to-refresh": "The model keeps no state that a refresh would drop.",
    Notion = "notion": "The notion of privacy is unknown.",
    Older = "older": "The vault or its ledger was made by an older version, which this one does not read.",
    Output = "output": "The output has no usable place.",
    Parts = "parts": "The parts that hold the rows failed, or returned other rows than before.",
    Pass = "pass": "A pass over the data cannot be timed.",
    Plan = "plan": "The plan cannot be read, written or used.",
    Positions = "positions": "The positions of records are out of order or out of range.",
    Predict = "predict": "The rows do not fit the model that is to predict them.",
    Preprocess = "preprocess": "The kind of preprocessing is unknown.",
    Preprocessing = "preprocessing": "Preprocessing cannot be fitted to these records.",
    PublicN = "public-n": "The public number of records, or the sum of their weights, is missing.",
    Radius = "radius": "Without regularisation a public radius is needed.",
    Randomness = "randomness": "The operating system gave no randomness.",
    Range = "range": "A value is out of its range.",
    Records = "records": "There are too few records for what is asked.",
    ReleasesExhausted = "releases-exhausted": "The releases that the promise covers have been made.",
    RequestConflict = "request-conflict": "The request id was used before for another request.",
    RequestId = "request-id": "The request id is malformed, or gives an id or subject away.",
    RowId = "row-id": "The name is not the position of a record, as names of this model are.",
    RowMap = "row-map": "The rule for long rows is unknown.",
    Rows = "rows": "The rows cannot be changed, or are too few.",
    Schema = "schema": "The schema is malformed, or given where the model has its own.",
    Seed = "seed": "A seed is given but not accepted.",
    Settings = "settings": "Settings conflict with each other or with the mechanism.",
    SeveralNames = "several-names": "The file of the vault has several names.",
    Signals = "signals": "The program cannot listen for interruptions.",
    Simulation = "simulation": "The deletion cannot be simulated.",
    Solver = "solver": "The solver is unknown.",
    Start = "start": "The given start cannot be used.",
    State = "state": "The adversary's view of the state is unknown.",
    Steps = "steps": "The target needs more steps than can be made.",
    Subjects = "subjects": "Subjects are missing, or given where there are none.",
    TargetRange = "target-range": "The range of the target is missing or not an interval.",
    Threads = "threads": "The threads for the work cannot be started.",
    UnknownCertificate = "unknown-certificate": "The ledger has no such certificate.",
    UnknownRecord = "unknown-record": "An id is not in the model.",
    UnknownSubject = "unknown-subject": "A subject is not in the model.",
    Unreadable = "unreadable": "A file cannot be read.",
    Unwritable = "unwritable": "A file or folder cannot be written.",
    Usage = "usage": "The arguments are wrong or conflict with each other.",
    Variant = "variant": "The variant of the mechanism is unknown.",
    Vault = "vault": "The vault cannot be read or written.",
    Weights = "weights": "Weights of records are missing, out of range, or given where there are none.",
    Withdrawn = "withdrawn": "The model was withdrawn when records were erased, until a refresh.",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl serde::Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_variants_in_kebab_case_and_each_is_there_once() {
        let words: Vec<&str> = Code::all().iter().map(|code| code.as_str()).collect();
        assert!(words.is_sorted_by(|a, b| a < b), "{words:?}");
        for code in Code::all() {
            let variant = match code {
                Code::By(mechanism) => format!("{mechanism:?}"),
                code => format!("{code:?}"),
            };
            let mut word = String::new();
            for letter in variant.chars() {
                if letter.is_uppercase() && !word.is_empty() {
                    word.push('-');
                }
                word.extend(letter.to_lowercase());
            }
            assert_eq!(word, code.as_str());
            let sentence = code.sentence();
            assert!(sentence.ends_with('.') && sentence.len() > 20, "{code}: {sentence}");
        }
    }
}
