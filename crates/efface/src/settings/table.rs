//! The table of settings: each is written here, and nowhere else; long because each is.
//!
//! A row is a field of [`Settings`] with what a face needs to offer it: the command line makes its
//! arguments from the rows, Python its parameters, and the plan refuses what a row does not allow.
//! Its comment is what users read. There, and in messages, a setting is named as `` `§max-group` ``
//! or, with a value, `` `§loss squared` ``, and each face writes it in its own words.

use efface_learn::Loss;
use efface_learn::solver::Solver;
use efface_privacy::accountant::Accountant;
use efface_privacy::claim::Notion;
use efface_privacy::event::{Unit, Variant};
use serde::{Deserialize, Serialize};

use super::row::{Fallback, Field, Form, Group, Interval, Plain, Row, hyphens};
use super::{MechanismName, Privacy, unbounded};
use crate::error::Code;

/// The most steps of learning or of one request, each a pass over the data.
pub(crate) const MOST_STEPS: u64 = 100_000_000;

/// The largest count: it fits a f64 exactly, so that no later arithmetic rounds it.
pub(crate) const MOST_COUNT: u64 = 1 << 52;

/// The largest norm that rows of 32-bit floats are declared to have: its square is still a number.
const MOST_NORM: f64 = 1e38;

/// How rows are made to obey their bound.
pub(crate) const ROW_MAPS: [&str; 3] = ["clip", "unit", "refuse"];

/// What becomes of the noisy sums of a network's gradients.
const OPTIMISERS: [&str; 2] = ["sgd", "adam"];

const PREPROCESSING: [&str; 2] = ["fitted", "declared"];

/// Defaults that the plan falls back to.
pub(crate) mod default {
    pub(crate) const LOSS: &str = "logistic";
    pub(crate) const MECHANISM: &str = "solve";
    pub(crate) const LAMBDA: f64 = 1e-3;
    pub(crate) const ROW_NORM: f64 = 1.0;
    pub(crate) const ROW_MAP: &str = "clip";
    pub(crate) const INTERCEPT: f64 = 1.0;
    pub(crate) const EPSILON: f64 = 1.0;
    pub(crate) const EXCESS_RISK: f64 = 1e-3;
    pub(crate) const ORDER: f64 = 2.0;
    pub(crate) const RELEASES: u64 = 1;
    pub(crate) const MAX_GROUP: u64 = 1;
}

const STEPS: Form = Form::Count(1, MOST_STEPS);
const SHARE: Interval = Interval { low: 0.0, with_low: true, high: 1.0, with_high: false };
const PASSES: &str = "passes over the data";

/// A setting that belongs to some mechanisms only.
const fn of(
    mechanisms: &'static [&'static str],
) -> Option<(&'static str, &'static [&'static str])> {
    Some(("mechanism", mechanisms))
}

/// A row of which nothing is said.
const BLANK: Row = Row {
    name: "",
    flag: "",
    text: &[],
    group: Group::Promise,
    internal: false,
    form: Form::Text,
    code: Code::Range,
    unit: "",
    default: Fallback::Nothing,
    only: None,
    placeholder: "",
    field: |settings| &settings.face,
    field_mut: |settings| &mut settings.face,
};

fn is_unset<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Writes [`Settings`] and [`SETTINGS`] from the same rows, which stand under their groups. A row without
/// a form has the plain one of its type.
macro_rules! settings {
    ($($group:ident {$(
        $(#[doc = $text:literal])*
        $name:ident: $type:ty $(, json($($json:tt)*))? {
            $($property:ident: $value:expr),* $(,)?
        }
    )*})*) => {
        /// What `efface train` is asked for. `None` means "the default", which the plan names.
        #[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Settings {$($(
            $(#[doc = $text])*
            #[serde(skip_serializing_if = "is_unset" $(, $($json)*)?)]
            pub $name: $type,
        )*)*}

        /// Every setting, in the order of help pages.
        pub static SETTINGS: [Row; [$($(stringify!($name)),*),*].len()] = [$($(Row {
            name: stringify!($name),
            flag: {
                const BYTES: [u8; stringify!($name).len()] = hyphens(stringify!($name));
                match std::str::from_utf8(&BYTES) {
                    Ok(flag) => flag,
                    Err(_) => "",
                }
            },
            text: &[$($text),*],
            field: |settings| &settings.$name as &dyn Field,
            field_mut: |settings| &mut settings.$name as &mut dyn Field,
            $($property: $value,)*
            ..Row { group: Group::$group, form: <$type as Plain>::FORM, ..BLANK }
        }),*),*];
    };
}

settings! {
    Model {
        /// The loss: `logistic` or `huber-hinge` for two classes, `softmax` for two or more, `squared` for
        /// numbers; `squared-classes`, of `ridge`, for two classes or more
        loss: Option<String> {
            form: Form::Name(|| Loss::NAMES.to_vec()),
            code: Code::Loss,
            default: Fallback::Name(default::LOSS),
        }

        /// The loss was chosen by the label column of the first table, which certificates say
        loss_from_data: bool {
            internal: true,
            only: Some(("loss", &["squared"])),
        }

        /// Labels have another type than the names of their classes would give them, which certificates say
        label_type_from_data: bool {
            internal: true,
        }

        /// How columns become numbers: `fitted`, by means, scales and categories that are computed from
        /// the records and again with every request, or `declared`, by public constants alone
        ///
        /// Fitted preprocessing takes tables as they are: numbers of any scale, words, dates, missing
        /// values. It is part of what certificates cover, for `solve`, `retrain` and `ridge` in `perfect` state,
        /// but the release then holds exact statistics of the records, so that nothing is claimed of those
        /// who remain. `differential-privacy`, other mechanisms, `secret` state, a schema and whatever declares
        /// a public constant of the rows, of y or of N go with declared preprocessing, which takes numbers
        /// as they are.
        preprocess: Option<String> {
            form: Form::Name(|| PREPROCESSING.to_vec()),
            default: Fallback::Follows(
                "fitted where nothing else asks for declared",
            ),
        }

        /// Random features that each row becomes, by a public map: `rff:P` for P random Fourier features,
        /// `random-conv:FxK` for F random filters of K x K on images, `gated:P` for P gated ones
        ///
        /// What is learnt is then linear in the features, and not in the columns. Kind, sizes and `seed` (0
        /// unless given, as in `random-conv:128x6,seed=7`) are public, chosen without the records; the map looks
        /// at one row alone, so that certificates cover models of features like any others. It takes
        /// numbers that are declared, not fitted. `rff` has `gamma` for the kernel exp(-gamma d^2) of two rows at a
        /// distance of d, by default 1 over the square of `norm`, and with `gated` it shortens longer rows to `norm`, 1 by default; images are
        /// `image=HEIGHTxWIDTH`, which IDX files say themselves. Features of many records need a small
        /// `§lambda`, such as 1e-6.
        /// `network:VAULT` takes the hidden features of the network that `dp-sgd` trained in another vault, before
        /// its last layer, or with `,layer=2` before the second last. With `ridge` and `solve` a deletion
        /// leaves the network as it is and solves the last layer again; certificates bound both together, for
        /// all records deleted since the network was trained.
        features: Option<String> {
            code: Code::Features,
            placeholder: "KIND:SIZE",
        }

        /// The layers of a network, from a row to its classes: `dense:64`, `conv:16x8/2` for 16 filters of 8 x
        /// 8 at steps of 2, `pool`, `groupnorm:4`, `tanh`, `relu`, or `linear` for none
        ///
        /// The layer of the classes is added. Filters need the shape of the images, `image=HEIGHTxWIDTH` or
        /// `image=CHANNELSxHEIGHTxWIDTH`, which IDX files say themselves; `seed=NUMBER` is the public seed of
        /// the weights that training starts from. All of it is public, chosen without the records.
        network: Option<String> {
            code: Code::Network,
            default: Fallback::Follows("dense:64"),
            only: of(&["dp-sgd", "shards"]),
            placeholder: "LAYER,...",
        }

        /// Texts that say that there is no value, with commas between them: of features, labels and subjects
        ///
        /// They are the only ones then, exactly as they are written, beside empty cells. Rows without a label are left
        /// out with `§drop-unlabelled`; a record without a subject is a person of its own. Of columns that a schema
        /// declares, the schema says which texts are missing.
        missing: Option<String> {
            default: Fallback::Follows("empty cells, `NA`, `null`, `nan`, `none`, `?` and the like, but for subjects"),
            placeholder: "TEXT,...",
        }

        /// Categories that fewer records have are merged into one; 1 merges none
        min_frequency: Option<u64> {
            form: Form::Count(1, u32::MAX as u64),
            unit: "records",
            default: Fallback::Follows("one in 5,000 of the records, at least 1 and at most 5"),
            only: Some(("preprocess", &["fitted"])),
        }

        /// Strength of the regularisation; 0 for `noisy-gd` with a radius only
        ///
        /// It multiplies half the squared length of the weights, added to the mean loss: scikit-learn's
        /// C is 1/(n lambda). Choose it from public knowledge, or on public data: every model tried on
        /// the private data is one more release that no certificate covers.
        lambda: Option<f64> {
            form: Form::Number(Interval::AT_LEAST_ZERO),
            default: Fallback::Follows("1e-3; with fitted preprocessing 1/n of the current n"),
        }

        /// Bound on the Euclidean norm of a row, as public knowledge
        ///
        /// With `§features` it is that of a row of features, which are at most 1 long, or little more.
        row_norm: Option<f64> {
            form: Form::Number(Interval::up_to(MOST_NORM)),
            default: Fallback::Follows("1; with fitted preprocessing four times the root of the number of columns, or sixteen times to predict numbers"),
        }

        /// What is done to rows, in training and prediction: `clip` scales longer ones down to the
        /// bound, `unit` scales all rows to it, `refuse` refuses longer ones
        row_map: Option<String> {
            form: Form::Name(|| ROW_MAPS.to_vec()),
            code: Code::RowMap,
            default: Fallback::Name(default::ROW_MAP),
        }

        /// The constant appended to each row, whose weight is regularised like the others; 0 for none
        intercept: Option<f64> {
            form: Form::Number(Interval::AT_LEAST_ZERO),
            default: Fallback::Follows("1; with fitted preprocessing the bound on rows"),
        }

        /// The declared range of y, as public knowledge; numbers outside are refused
        target_range: Option<(f64, f64)> {
            code: Code::TargetRange,
            only: Some(("loss", &["squared"])),
            placeholder: "LOW,HIGH",
        }

        /// The range was read off the data and is assumed to be public, which certificates say
        target_range_from_data: bool {
            internal: true,
            only: Some(("loss", &["squared"])),
        }

        /// Where residuals are clipped, in half ranges of y: the loss is Huber's; `inf` for nowhere
        ///
        /// Without a clip it is the squared loss itself, for `solve`, `retrain` and `ridge` only.
        clip: Option<f64>, json(with = "unbounded") {
            form: Form::Number(Interval::POSITIVE_OR_INFINITE),
            unit: "half ranges of y",
            default: Fallback::Number(1.0),
            only: Some(("loss", &["squared"])),
        }

        /// Width of the smooth part of the hinge
        hinge_width: Option<f64> {
            default: Fallback::Number(1.0),
            only: Some(("loss", &["huber-hinge"])),
        }

        /// What sums are divided by: `fixed`, a public constant, or `mean`, the current number of
        /// records
        normalizer: Option<String> {
            form: Form::Name(|| vec!["fixed", "mean"]),
            code: Code::Normalizer,
            default: Fallback::Follows("fixed; `distributed-descent`: mean"),
        }

        /// N, as public knowledge: the number of records, or the sum of their weights
        ///
        /// Without it N is the first number of records, or the sum of their weights rounded to a whole
        /// number: a value taken from the data. Then nothing can be claimed in which the number of
        /// records is private.
        public_n: Option<u64> {
            unit: "records",
            default: Fallback::Data("the first number of records"),
        }

        /// Maximum number of records
        capacity: Option<u64> {
            unit: "records",
            default: Fallback::Follows("1.25 N, with weights 1.25 times the first number of records"),
            only: Some(("normalizer", &["fixed"])),
        }

        /// Maximum weight of a record, as public knowledge
        ///
        /// Noise grows with it. The default is read off the data, and certificates say so:
        /// `deletion-privacy` and `differential-privacy` are not claimed then.
        max_weight: Option<f64> {
            default: Fallback::Data("the largest of the first records'"),
        }

        /// What records of a class count: `balanced`, or `CLASS=WEIGHT` for each class
        ///
        /// Weights by class are public knowledge; a class that is not listed counts 1. `balanced` is
        /// n/(k n_c) for n records, k classes and n_c records of the class, counted again with every
        /// request: it needs `§preprocess fitted`.
        class_weight: Vec<String> {
            code: Code::Weights,
            only: Some(("loss", &["logistic", "softmax", "huber-hinge", "squared-classes"])),
            placeholder: "CLASS=WEIGHT",
        }

        /// Minimum number of records, as public knowledge
        minimum: Option<u64> {
            unit: "records",
            only: Some(("normalizer", &["mean"])),
        }
    }

    Mechanism {
        /// How the model is trained and how it forgets
        ///
        /// `solve` starts from the published model, finds the optimum to a measured distance and
        /// publishes with fresh noise; `retrain` does the same from a fresh start; `noisy-gd` takes
        /// noisy gradient steps; `descent-to-delete` takes exact ones and publishes with noise. `ridge`
        /// solves the squared loss from whole-number sums: removal is exact and there is no noise, so
        /// the remaining records get no guarantee. `dp-sgd` trains a network with noise that is enough for a
        /// number of deletions, which then compute nothing; `shards` trains a network on each of several shards
        /// without noise, and trains those anew that a request touches: exact, too. `distributed-descent` averages models of the parts
        /// of a sample and keeps the sample uniform, so that a request touches few parts.
        mechanism: Option<String> {
            form: Form::Name(|| MechanismName::ALL.map(MechanismName::name).to_vec()),
            code: Code::Mechanism,
            default: Fallback::Name(default::MECHANISM),
        }

        /// The solver; with `§state secret`, `newton` serves requests from the changed rows alone while
        /// a bound lasts
        solver: Option<String> {
            form: Form::Name(|| Solver::ALL.map(Solver::name).to_vec()),
            code: Code::Solver,
            default: Fallback::Follows("automatic, by the number of parameters"),
            only: of(&["solve", "retrain", "distributed-descent"]),
        }

        /// Weights to start from, an NPZ file as exported or an NPY file
        ///
        /// For `solve` it saves time and changes no claim. For `noisy-gd` state how it was made. Other
        /// mechanisms start from zeros.
        start: Option<Vec<u8>>, json(skip) {
            only: of(&["solve", "noisy-gd"]),
        }

        /// The start was made without the private data
        start_public: bool {
            only: of(&["noisy-gd"]),
        }

        /// The start was made privately, from data that may hold the same records
        ///
        /// Differential privacy for a group of records together, one world lacking them. Claims then
        /// state the totals.
        start_privacy: Option<Privacy> {
            only: of(&["noisy-gd"]),
        }

        /// Size of a step
        eta: Option<f64> {
            default: Fallback::Follows("2/(L+m), or what the accountant allows; 1/L if m = 0; `dp-sgd`: 0.4 over its clip, less where the noise of a step is longer than 0.35 clips, and 0.002 with the optimizer `adam`; `shards`: 0.05"),
            only: of(&["noisy-gd", "descent-to-delete", "dp-sgd", "shards"]),
        }

        /// Radius of the ball that contains the weights, as public knowledge
        ///
        /// Bounds then use the ball too, and `§lambda 0` is allowed.
        radius: Option<f64> {
            only: of(&["noisy-gd"]),
        }

        /// Batches that steps visit in turn; each step reads one of them, and a record's batch is a hash of its id
        ///
        /// For large tables: a request then makes steps over a few batches and not over all records. `§steps`
        /// and `§removal-steps` count these steps. What a batch may hold is public: six standard deviations
        /// more records than N over their number, or than `§capacity` over it where that is given; an
        /// addition to a full batch is refused.
        batches: Option<u64> {
            form: Form::Count(2, 1 << 20),
            unit: "batches",
            only: of(&["noisy-gd"]),
        }

        /// Steps of the first training; of `dp-sgd` of each, on batches
        steps: Option<u64> {
            form: STEPS,
            unit: "steps",
            only: of(&["noisy-gd", "descent-to-delete", "dp-sgd"]),
        }

        /// Probability with which a record takes part in a step, drawn afresh for each
        rate: Option<f64> {
            form: Form::Number(Interval::up_to(1.0)),
            default: Fallback::Follows("8 over the root of N"),
            only: of(&["dp-sgd"]),
        }

        /// Bound on the norm of one record's gradient; longer ones are shortened to it
        gradient_clip: Option<f64> {
            default: Fallback::Number(0.1),
            only: of(&["dp-sgd"]),
        }

        /// How weights follow the noisy sums of gradients
        ///
        /// `sgd` takes steps of `§eta` times the sum, with `§momentum`; `adam` divides them by the root of
        /// the mean of their squares (Kingma and Ba, 2015; decays 0.9 and 0.999). Either sees noisy sums
        /// alone, so that noise and promises are the same.
        optimizer: Option<String> {
            form: Form::Name(|| OPTIMISERS.to_vec()),
            code: Code::Settings,
            default: Fallback::Name("sgd"),
            only: of(&["dp-sgd"]),
        }

        /// Share of the last step that each step repeats; not with `§optimizer adam`
        momentum: Option<f64> {
            form: Form::Number(SHARE),
            default: Fallback::Number(0.9),
            only: of(&["dp-sgd", "shards"]),
        }

        /// Share of the average of the weights that each step keeps; their average over steps is the model
        ///
        /// An exponential moving average of what may be published at every step. With 0 the weights of the
        /// last step are the model.
        average: Option<f64> {
            form: Form::Number(SHARE),
            default: Fallback::Follows("1 - 10/T for T steps: about the last tenth of them"),
            only: of(&["dp-sgd"]),
        }

        /// Shards that have a network each; a record's shard is a hash of its subject, or of its id
        ///
        /// A request trains those shards anew that hold a record of it, so that one record costs as much as
        /// its share of the training. Predictions are the mean of the networks' log-probabilities; with more shards
        /// each network sees fewer records. Shards, layers and schedule are public, chosen without the records.
        shards: Option<u64> {
            form: Form::Count(1, 4096),
            unit: "shards",
            default: Fallback::Count(10),
            only: of(&["shards"]),
        }

        /// Passes of a training over the records of a shard
        epochs: Option<u64> {
            form: Form::Count(1, 1 << 20),
            unit: PASSES,
            default: Fallback::Count(8),
            only: of(&["shards"]),
        }

        /// Records of each step of a training
        batch_size: Option<u64> {
            form: Form::Count(1, 1 << 20),
            unit: "records",
            default: Fallback::Count(64),
            only: of(&["shards"]),
        }

        /// Steps for each request
        removal_steps: Option<u64> {
            form: STEPS,
            unit: PASSES,
            default: Fallback::Follows("the fewest that meet the target"),
            only: of(&["noisy-gd"]),
        }

        /// Which theorem's procedure
        ///
        /// `perfect` goes on from the published weights; `secret` from the unperturbed ones, which it
        /// keeps; `regularised` and `weak` do so too, and choose lambda from `§diameter`.
        variant: Option<String> {
            form: Form::Name(|| Variant::ALL.map(Variant::name).to_vec()),
            code: Code::Variant,
            default: Fallback::Name("perfect"),
            only: of(&["descent-to-delete"]),
        }

        /// The parameter xi
        ///
        /// `descent-to-delete` in its variant `weak`: how the steps of updates grow, i^(2 xi) times
        /// those of the first for update i, xi from 1 to 16. `distributed-descent`: the size of its
        /// sample, N^xi positions, xi from 1 to 4/3.
        xi: Option<f64> {
            default: Fallback::Number(1.0),
            only: of(&["descent-to-delete", "distributed-descent"]),
        }

        /// The parameter I
        ///
        /// `descent-to-delete`: steps of an update, each for up to `§max-group` deleted or added
        /// records; 10 where the variant chooses lambda. `distributed-descent` with `§accountant
        /// descent`: the I of Theorem 4.5, from which its noise and its budget of steps follow.
        iterations: Option<u64> {
            form: STEPS,
            unit: PASSES,
            default: Fallback::Follows("the fewest that noise, target or theorem allow"),
            only: of(&["descent-to-delete", "distributed-descent"]),
        }

        /// Diameter of the ball around 0 that holds the weights
        diameter: Option<f64> {
            default: Fallback::Follows("one that holds every optimum"),
            only: of(&["descent-to-delete"]),
        }

        /// Independent copies, of which the best is published after noise
        copies: Option<u64> {
            form: Form::Count(1, 64),
            default: Fallback::Count(1),
            only: of(&["distributed-descent"]),
        }
    }

    Promise {
        /// The epsilon that no request may exceed, for the notion of the target
        epsilon: Option<f64> {
            unit: "nats",
            default: Fallback::Number(default::EPSILON),
        }

        /// The delta of the target
        delta: Option<f64> {
            form: Form::Number(Interval::UNIT),
            default: Fallback::Follows("1e-6, or 1/(10 N) if that is less"),
        }

        /// The privacy notion of the target (epsilon, delta)
        notion: Option<String> {
            form: Form::Name(|| Notion::ALL.map(Notion::name).to_vec()),
            code: Code::Notion,
            default: Fallback::Follows("indistinguishable-from-retraining; `ridge` and `shards`: exact-removal"),
        }

        /// The accountant whose bound must meet epsilon: the tight `gdp`, or a published one
        accountant: Option<String> {
            form: Form::Name(|| Accountant::ALL.map(Accountant::name).to_vec()),
            code: Code::Accountant,
            default: Fallback::Follows("gdp, or the mechanism's own"),
        }

        /// Order of the Rényi notions
        order: Option<f64> {
            form: Form::Number(Interval::above(1.0)),
            default: Fallback::Number(default::ORDER),
        }

        /// How many releases a requester may have seen; without it, requests must be chosen without
        /// looking at releases
        interactions: Option<u64> {
            form: Form::Count(0, MOST_COUNT),
            unit: "releases",
            only: Some(("notion", &["deletion-privacy"])),
        }

        /// What is kept after a request: `perfect`, nothing that saw deleted records, or `secret`, also
        /// weights without noise, which allow a counted number of releases
        state: Option<String> {
            form: Form::Name(|| vec!["perfect", "secret"]),
            code: Code::State,
            default: Fallback::Follows("perfect where the mechanism has a choice"),
        }

        /// Number of releases covered jointly
        releases: Option<u64> {
            unit: "releases",
            default: Fallback::Count(default::RELEASES),
        }

        /// Maximum number of records per person that differential privacy and deletion-privacy protect
        /// together; people with more are refused under these notions
        ///
        /// `descent-to-delete`: also the records that one update stands for.
        max_group: Option<u64> {
            unit: "records",
            default: Fallback::Count(default::MAX_GROUP),
        }

        /// What gradients are clipped by and deletions are counted in
        ///
        /// With `subject`, all records of one are drawn and clipped together, a deletion takes whole
        /// subjects, and `§max-group` counts subjects.
        unit: Option<String> {
            form: Form::Name(|| [Unit::Record, Unit::Subject].map(Unit::name).to_vec()),
            code: Code::Settings,
            default: Fallback::Follows("subject where records name subjects, else record"),
            only: of(&["dp-sgd"]),
        }

        /// How many deleted records, or subjects with `§unit subject`, the noise is enough for, before the
        /// model is trained anew
        ///
        /// `ridge`, `solve` and `retrain` have it with `§extractor-training`, whose noise it is then.
        deletions: Option<u64> {
            form: Form::Count(1, 1024),
            unit: "records or subjects",
            default: Fallback::Count(1),
            only: of(&["dp-sgd", "ridge", "solve", "retrain"]),
        }

        /// Standard deviation of the noise on each weight (`noisy-gd`: sigma of the diffusion; `dp-sgd`: on a sum
        /// of gradients, in multiples of `§gradient-clip`)
        ///
        /// Choose it like lambda: from public knowledge or on public data.
        noise: Option<f64> {
            default: Fallback::Follows("chosen by the excess risk, or to meet the target"),
            placeholder: "SIGMA",
        }

        /// Allowed excess risk of the output noise, which determines sigma (not `noisy-gd`)
        excess_risk: Option<f64> {
            default: Fallback::Follows("1e-3; with fitted preprocessing at most 0.01 over the root of n"),
        }

        /// The features were made by a private extractor, from data that may hold the same records
        ///
        /// Figures as for `§start-privacy`; with any mechanism.
        extractor_privacy: Option<Privacy> {}

        /// The public model that rows are outputs of, as certificates name it: its name, the digest of its
        /// weights
        ///
        /// It was made without these records, stays as it is, and gives each row from its raw record alone.
        /// Certificates take that on your word, and say that they cover neither what the model was made from
        /// nor the raw records.
        extractor: Option<String> {
            placeholder: "NAME",
        }

        /// The rows are features of an extractor that DP-SGD trained elsewhere, on data that may hold the
        /// same records: noise multiplier, sampling rate and number of its steps
        ///
        /// Phases stand one after the other between semicolons, `noise=1.1,rate=0.01,steps=900;noise=2,...`.
        /// After the last, `clip=1` may say what gradients were clipped to, and `deleted=3` how many records
        /// were deleted since that training already. Each record must have been drawn by itself with the
        /// rate, afresh in each step (Poisson sampling): numbers of shuffled batches hide less. With `ridge`,
        /// `solve` and `retrain`; certificates bound extractor and model together for all records deleted
        /// since, at most `§deletions`, and say that the training is taken on your word.
        extractor_training: Option<String> {
            placeholder: "noise=SIGMA,rate=Q,steps=T",
        }

        /// Lines to add to what every certificate does not cover
        ///
        /// For instance how features were scaled, or how settings were chosen.
        not_covered: Vec<String> {}

        /// A seed for the noise: for tests only; certificates then say `not for release` and never
        /// verify
        seed: Option<u64> {
            form: Form::Count(0, u64::MAX),
            placeholder: "NUMBER",
        }

        /// What a face of the engine wants back with the model, in its own words: how it spells
        /// classes, and what it was called with
        ///
        /// No certificate says anything of it; it must hold nothing that is not public.
        face: Option<String> {
            internal: true,
        }
    }
}
