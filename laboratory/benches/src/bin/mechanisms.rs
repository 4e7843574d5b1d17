//! Every mechanism on MNIST 3 versus 8 at one target: accuracy, work per deletion, what is claimed.
//!
//! `docs/mechanisms.md` shows columns of its output. Arguments choose among the cases by name; none
//! takes all.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use efface::{Code, EventBound, Notion, Settings, Source, Which};
use efface_bench::Failure;
use efface_bench::bench::{mean, median, run, say};
use efface_bench::data;
use efface_bench::rows::Rows;
use efface_bench::shop::{Run, Shop};
use efface_bench::table::{Table, ms};
use efface_learn::Loss;
use efface_privacy::accountant::Accountant;
use efface_privacy::certificate::Certificate;
use efface_privacy::claim::Requests;
use efface_privacy::event::State;
use efface_privacy::quantity::Decimal;

/// Deletions, one record each.
const DELETIONS: usize = 100;
/// As many where one takes thousands of passes.
const FEW: usize = 10;
/// Releases covered jointly in `secret` state; then a refresh.
const JOINT: u64 = 26;
/// Noise of `noisy-gd` that leaves the accuracy as it is.
const NOISE: f64 = 0.03;
/// eta = 1/(2L) for unit rows and lambda 1e-3, rounded down: the published accountants allow such steps.
const PUBLISHED: f64 = 1.99;
/// The accuracy is measured after every so many deletions.
const EVERY: usize = 10;

fn main() -> ExitCode {
    run("Every mechanism on MNIST 3 versus 8", || {
        let split = data::mnist(&["3", "8"])?;
        let (train, test) = (Rows::read(&split.train)?, Rows::read(&split.test)?);
        let n = train.len();
        say(&format!(
            "{n} rows of unit length, no intercept, lambda 1e-3, capacity n, epsilon 1 and delta 1/n \
             for closeness to retraining; {DELETIONS} deletions of one record each ({FEW} for \
             \"published\", which takes thousands of passes for each); in `secret` state \
             {JOINT} releases are covered jointly, then a refresh. \"Learning\" is the time from the \
             first pass until the noise is drawn, none where no pass is made; the request around it \
             opens the vault, wipes the row, reads the others, certifies and commits. Each bound is given \
             after the first deletion and after the last.\n"
        ))?;
        let shop = Shop::open()?;
        let (mut work, mut claims) = (
            Table::new(&[
                "mechanism",
                "state",
                "noise",
                "accuracy",
                "passes to train",
                "passes per deletion",
                "learning",
                "whole request",
                "refreshes",
            ]),
            Table::new(&[
                "mechanism",
                "claim",
                "requests",
                "certified by",
                "by other accountants",
                "DP of the rest, all releases",
            ]),
        );
        let numbers = train.as_numbers(&shop.folder().join("numbers.csv"))?;
        let asked: Vec<String> = std::env::args().skip(1).collect();
        let wanted = |case: &Case| asked.is_empty() || asked.iter().any(|name| name == case.name);
        for case in cases(n).into_iter().filter(wanted) {
            let source = if case.numbers { &numbers } else { &split.train };
            match serve(&shop, source, &train, &test, &case) {
                Ok(story) => story.tell(&case, &mut work, &mut claims),
                Err(error) => {
                    work.row([case.name.to_owned(), format!("refused: {error}")]);
                }
            }
        }
        say(&work.render())?;
        say(&claims.render())
    })
}

/// A row of the tables.
struct Case {
    name: &'static str,
    settings: Settings,
    deletions: usize,
    /// Learns the class as a number, -1 or 1.
    numbers: bool,
}

fn cases(n: usize) -> Vec<Case> {
    let base = Settings {
        lambda: Some(1e-3),
        intercept: Some(0.0),
        row_map: Some("unit".to_owned()),
        epsilon: Some(1.0),
        delta: Some(1.0 / n as f64),
        public_n: Some(n as u64),
        capacity: Some(n as u64),
        ..Settings::default()
    };
    let secret =
        Settings { state: Some("secret".to_owned()), releases: Some(JOINT), ..base.clone() };
    let named =
        |name: &str, from: &Settings| Settings { mechanism: Some(name.to_owned()), ..from.clone() };
    let case = |name, settings| Case { name, settings, deletions: DELETIONS, numbers: false };
    vec![
        case("retrain", named("retrain", &base)),
        case("solve", base.clone()),
        case("solve, secret", secret.clone()),
        case(
            "solve, Newton memory",
            Settings { solver: Some("newton".to_owned()), ..secret.clone() },
        ),
        case("noisy-gd", Settings { noise: Some(NOISE), ..named("noisy-gd", &base) }),
        case(
            "noisy-gd, short steps",
            Settings { noise: Some(NOISE), eta: Some(PUBLISHED), ..named("noisy-gd", &base) },
        ),
        case("descent, perfect", named("descent-to-delete", &base)),
        Case {
            deletions: FEW,
            ..case(
                "descent, perfect, published",
                Settings {
                    accountant: Some("descent".to_owned()),
                    ..named("descent-to-delete", &base)
                },
            )
        },
        case(
            "descent, secret",
            Settings { variant: Some("secret".to_owned()), ..named("descent-to-delete", &secret) },
        ),
        case(
            "distributed-descent",
            Settings {
                capacity: None,
                normalizer: Some("mean".to_owned()),
                ..named("distributed-descent", &secret)
            },
        ),
        Case {
            numbers: true,
            ..case(
                "ridge",
                Settings {
                    loss: Some("squared".to_owned()),
                    target_range: Some((-1.0, 1.0)),
                    epsilon: None,
                    delta: None,
                    ..named("ridge", &base)
                },
            )
        },
    ]
}

/// What a hundred deletions were like.
struct Story {
    trained: Run,
    accuracies: Vec<f64>,
    passes: Vec<f64>,
    learning: Vec<f64>,
    whole: Vec<f64>,
    refreshes: u64,
    /// The certificate of the first deletion.
    first: String,
    /// The certificate of the last one.
    last: String,
}

fn serve(
    shop: &Shop,
    source: &Source<'_>,
    train: &Rows,
    test: &Rows,
    case: &Case,
) -> Result<Story, Failure> {
    let file = case.name.replace([' ', ','], "-");
    let trained = shop.train(&file, source, case.settings.clone())?;
    let accuracy = || test.accuracy(Loss::Logistic, &shop.weights(&file)?);
    let mut story = Story {
        accuracies: vec![accuracy()?],
        first: String::new(),
        last: String::new(),
        trained,
        passes: Vec::new(),
        learning: Vec::new(),
        whole: Vec::new(),
        refreshes: 0,
    };
    let picked = train.pick(0, case.deletions);
    let picked = if case.numbers {
        picked.iter().map(|row| efface::row_id(*row as u64)).collect()
    } else {
        train.ids(&picked)
    };
    for (number, id) in picked.into_iter().enumerate() {
        let mut spent = (0.0, 0.0, 0.0);
        let deleted = match shop.delete(&file, Which::Ids(vec![id.clone()])) {
            Ok(deleted) => deleted,
            Err(error) if exhausted(&error) => {
                let fresh = shop.refresh(&file)?;
                story.refreshes += 1;
                spent = effort(&fresh);
                shop.delete(&file, Which::Ids(vec![id]))?
            }
            Err(error) => return Err(error),
        };
        let this = effort(&deleted);
        story.passes.push(spent.0 + this.0);
        story.learning.push(spent.1 + this.1);
        story.whole.push(spent.2 + this.2);
        story.last = deleted.served.certificate;
        if number == 0 {
            story.first = story.last.clone();
        }
        if (number + 1) % EVERY == 0 {
            story.accuracies.push(accuracy()?);
        }
    }
    Ok(story)
}

/// Whether a request was refused only because the jointly covered releases are made.
fn exhausted(error: &Failure) -> bool {
    error.downcast_ref::<efface::Error>().is_some_and(|e| e.code() == Code::ReleasesExhausted)
}

/// Passes, seconds of the mechanism, seconds in all.
fn effort(run: &Run) -> (f64, f64, f64) {
    let work = run.served.work.as_ref();
    let passes = work.map_or(0, |work| work.passes + work.hessian_products + work.hessians);
    (passes as f64, run.phases.learning, run.phases.total())
}

impl Story {
    fn tell(&self, case: &Case, work: &mut Table, claims: &mut Table) {
        let Ok(certificate) = Certificate::parse(&self.last) else { return };
        let name = case.name.to_owned();
        let noise = certificate.constants.iter().find(|c| c.name.ends_with("noise"));
        work.row([
            name.clone(),
            state(certificate.event.state()).to_owned(),
            noise.map_or("none".to_owned(), |c| short(&c.value)),
            format!("{:.4}", mean(&self.accuracies)),
            format!("{:.0}", effort(&self.trained).0),
            format!("{:.0} ({:.1} on average)", median(&self.passes), mean(&self.passes)),
            ms(median(&self.learning)),
            ms(median(&self.whole)),
            self.refreshes.to_string(),
        ]);
        let bounds = |text| efface::bounds(text, None).unwrap_or_default();
        let (first, last) = (bounds(&self.first), bounds(&self.last));
        let private = certificate.claims.iter().find(|c| c.notion == Notion::DifferentialPrivacy);
        for claim in certificate.claims.iter().filter(|c| c.notion != Notion::DifferentialPrivacy) {
            let told = |accountant: Accountant| {
                let by = |bounds: &[EventBound]| {
                    let of = |b: &&EventBound| {
                        b.notion == claim.notion.name() && b.accountant == accountant
                    };
                    bounds.iter().find(of).and_then(|b| b.epsilon)
                };
                let shown = |epsilon: Option<Decimal>| {
                    epsilon.map_or("none".to_owned(), |epsilon| format!("{:.3}", epsilon.0))
                };
                let (first, last) = (by(&first), by(&last));
                first.or(last)?;
                Some(format!("{} {}, {}", accountant.name(), shown(first), shown(last)))
            };
            let mut others: Vec<Accountant> =
                first.iter().chain(&last).map(|b| b.accountant).collect();
            others.dedup();
            others.retain(|accountant| *accountant != claim.accountant);
            let mut others: Vec<String> = others.into_iter().filter_map(told).collect();
            others.sort();
            others.dedup();
            claims.row([
                name.clone(),
                claim.notion.name().to_owned(),
                requests(claim.requests),
                told(claim.accountant).unwrap_or_else(|| {
                    format!("{} {:.3}", claim.accountant.name(), claim.epsilon.0)
                }),
                if others.is_empty() { "none".to_owned() } else { others.join("; ") },
                private.map_or("none".to_owned(), |c| format!("{:.1}", c.epsilon.0)),
            ]);
        }
    }
}

fn state(state: State) -> &'static str {
    match state {
        State::Perfect => "perfect",
        State::Secret => "secret",
    }
}

fn requests(requests: Requests) -> String {
    match requests {
        Requests::Any => "any".to_owned(),
        Requests::NonAdaptive => "non-adaptive".to_owned(),
        Requests::PAdaptive(p) => format!("p-adaptive, {p}"),
    }
}

/// A number in four digits.
fn short(text: &str) -> String {
    text.parse::<f64>().map_or_else(|_| text.to_owned(), |x| format!("{x:.3e}"))
}
