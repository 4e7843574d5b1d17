//! Every mechanism on MNIST 3 versus 8 at one target: accuracy, work per deletion, what is claimed. Its
//! output is the table of `docs/mechanisms.md`.

use efface::{Code, EventBound, Notion, Settings};
use efface_privacy::accountant::Accountant;
use efface_privacy::certificate::Certificate;
use efface_privacy::claim::Requests;
use efface_privacy::event::State;
use efface_privacy::quantity::Decimal;

use super::Asked;
use crate::Failure;
use crate::data::{Split, mnist};
use crate::measure::{mean, median, say};
use crate::shop::{Run, Shop};
use crate::table::{Table, ms};

/// Digits 3 and 8 among the 60,000 images that are learnt from.
const RECORDS: u64 = 11_982;
const IMAGES: u64 = 60_000;
/// Deletions, one record each.
const DELETIONS: u64 = 100;
/// As many where one takes thousands of passes, and in the quick variant.
const FEW: u64 = 10;
/// Releases covered jointly in `secret` state; then a refresh.
const JOINT: u64 = 26;
/// Noise of `noisy-gd` that leaves the accuracy as it is.
const NOISE: f64 = 0.03;
/// eta = 1/(2L) for unit rows and lambda 1e-3, rounded down: the published accountants allow such steps.
const PUBLISHED: f64 = 1.99;
/// The accuracy is measured after every so many deletions.
const EVERY: u64 = 10;

/// A row of the tables.
struct Case {
    name: &'static str,
    settings: Settings,
    deletions: u64,
}

pub(super) fn run(asked: &Asked) -> Result<(), Failure> {
    let cases = cases(if asked.quick { FEW } else { DELETIONS });
    asked.check(cases.iter().map(|case| case.name))?;
    let split = mnist([3, 8])?;
    say(&format!(
        "{RECORDS} rows of unit length, no intercept, lambda 1e-3, capacity n, epsilon 1 and delta 1/n \
         for closeness to retraining; {} deletions of one record each ({FEW} for \"published\", which takes \
         thousands of passes for each); in `secret` state {JOINT} releases are covered jointly, then a \
         refresh. \"Learning\" is the time from the first pass until the noise is drawn, none where no pass \
         is made; the request around it opens the vault, wipes the row, reads the others, certifies and \
         commits. Each bound is given after the first deletion and after the last.\n",
        cases[0].deletions
    ))?;
    let shop = Shop::open()?;
    let mut work = Table::new(&[
        "mechanism",
        "state",
        "noise",
        "accuracy",
        "passes to train",
        "passes per deletion",
        "learning",
        "whole request",
        "refreshes",
    ]);
    let mut claims = Table::new(&[
        "mechanism",
        "claim",
        "requests",
        "certified by",
        "by other accountants",
        "DP of the rest, first release",
        "DP of the rest, all releases",
    ]);
    for case in cases.into_iter().filter(|case| asked.wants(case.name)) {
        match serve(&shop, &split, &case) {
            Ok(story) => story.show(case.name, &mut work, &mut claims)?,
            Err(error) => work.row([case.name.to_owned(), format!("refused: {error}")]),
        }
    }
    say(&work.render())?;
    say(&claims.render())
}

fn cases(deletions: u64) -> Vec<Case> {
    let base = Settings {
        lambda: Some(1e-3),
        intercept: Some(0.0),
        row_map: Some("unit".to_owned()),
        epsilon: Some(1.0),
        delta: Some(1.0 / RECORDS as f64),
        public_n: Some(RECORDS),
        capacity: Some(RECORDS),
        ..Settings::default()
    };
    let secret =
        Settings { state: Some("secret".to_owned()), releases: Some(JOINT), ..base.clone() };
    let named =
        |name: &str, from: &Settings| Settings { mechanism: Some(name.to_owned()), ..from.clone() };
    let case = |name, settings| Case { name, settings, deletions };
    let noisy = Settings { noise: Some(NOISE), ..named("noisy-gd", &base) };
    let descent = named("descent-to-delete", &base);
    let published = Settings { accountant: Some("descent".to_owned()), ..descent.clone() };
    vec![
        case("retrain", named("retrain", &base)),
        case("solve", base.clone()),
        case("solve, secret", secret.clone()),
        case(
            "solve, Newton memory",
            Settings { solver: Some("newton".to_owned()), ..secret.clone() },
        ),
        case("noisy-gd", noisy.clone()),
        case("noisy-gd, short steps", Settings { eta: Some(PUBLISHED), ..noisy }),
        case("descent, perfect", descent),
        Case { deletions: FEW, ..case("descent, perfect, published", published) },
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
        case("ridge", Settings { epsilon: None, delta: None, ..named("ridge", &base) }),
    ]
}

/// What a sequence of deletions was like.
struct Story {
    trained: Run,
    /// Each deletion, with the refresh before it where one was due.
    deleted: Vec<(Option<Run>, Run)>,
    accuracies: Vec<f64>,
}

fn serve(shop: &Shop, split: &Split, case: &Case) -> Result<Story, Failure> {
    let file = case.name.replace([' ', ','], "-");
    let trained = shop.train(&file, &split.train, case.settings.clone())?;
    let accuracy = || shop.accuracy(&file, &split.test);
    let mut story = Story { accuracies: vec![accuracy()?], trained, deleted: Vec::new() };
    for number in 1..=case.deletions {
        let id = shop.known(&file, 7919 * number % IMAGES)?;
        let served = match shop.delete(&file, vec![id.clone()]) {
            Ok(deleted) => (None, deleted),
            Err(error) if exhausted(&error) => {
                (Some(shop.refresh(&file)?), shop.delete(&file, vec![id])?)
            }
            Err(error) => return Err(error),
        };
        story.deleted.push(served);
        if number % EVERY == 0 {
            story.accuracies.push(accuracy()?);
        }
    }
    Ok(story)
}

/// Whether a request was refused only because the jointly covered releases are made.
fn exhausted(error: &Failure) -> bool {
    error.downcast_ref::<efface::Error>().is_some_and(|e| e.code() == Code::ReleasesExhausted)
}

fn passes(run: &Run) -> f64 {
    let work = run.served.work.as_ref();
    work.map_or(0, |work| work.passes + work.hessian_products + work.hessians) as f64
}

impl Story {
    fn show(&self, name: &str, work: &mut Table, claims: &mut Table) -> Result<(), Failure> {
        let [Some((_, first)), Some((_, last))] = [self.deleted.first(), self.deleted.last()]
        else {
            return Err("nothing was deleted".into());
        };
        let spent = |of: fn(&Run) -> f64| -> Vec<f64> {
            let sum =
                |(refresh, run): &(Option<Run>, Run)| refresh.as_ref().map_or(0.0, of) + of(run);
            self.deleted.iter().map(sum).collect()
        };
        let certificate = Certificate::parse(&last.served.certificate)?;
        let state = match certificate.event.state() {
            State::Perfect => "perfect",
            State::Secret => "secret",
        };
        let noise = certificate.constants.iter().find(|c| c.name.ends_with("noise"));
        let noise = noise.and_then(|noise| noise.value.parse::<f64>().ok());
        let steps = spent(passes);
        work.row([
            name.to_owned(),
            state.to_owned(),
            noise.map_or("none".to_owned(), |noise| format!("{noise:.3e}")),
            format!("{:.4}", mean(&self.accuracies)),
            format!("{:.0}", passes(&self.trained)),
            format!("{:.0} ({:.1} on average)", median(steps.clone()), mean(&steps)),
            ms(median(spent(|run| run.learning))),
            ms(median(spent(Run::total))),
            self.deleted.iter().filter(|(refresh, _)| refresh.is_some()).count().to_string(),
        ]);
        let bounds = |run: &Run| efface::bounds(&run.served.certificate, None).unwrap_or_default();
        let (first, last) = (bounds(first), bounds(last));
        for claim in certificate.claims.iter().filter(|c| c.notion != Notion::DifferentialPrivacy) {
            let by = |bounds: &[EventBound], accountant: Accountant| {
                let found = bounds.iter().find(|bound| {
                    bound.notion == claim.notion.name() && bound.accountant == accountant
                });
                found.and_then(|bound| bound.epsilon)
            };
            let shown = |epsilon: Option<Decimal>| {
                epsilon.map_or("none".to_owned(), |epsilon| format!("{:.3}", epsilon.0))
            };
            // What an accountant says after the first deletion and after the last.
            let said = |accountant: Accountant| {
                let (first, last) = (by(&first, accountant), by(&last, accountant));
                first.or(last)?;
                Some(format!("{} {}, {}", accountant.name(), shown(first), shown(last)))
            };
            let others = first.iter().chain(&last).map(|bound| bound.accountant);
            let others = others.filter(|accountant| *accountant != claim.accountant);
            let mut others: Vec<String> = others.filter_map(said).collect();
            others.sort();
            others.dedup();
            let requests = match claim.requests {
                Requests::Any => "any".to_owned(),
                Requests::NonAdaptive => "non-adaptive".to_owned(),
                Requests::PAdaptive(p) => format!("p-adaptive, {p}"),
            };
            let own = format!("{} {:.3}", claim.accountant.name(), claim.epsilon.0);
            claims.row([
                name.to_owned(),
                claim.notion.name().to_owned(),
                requests,
                said(claim.accountant).unwrap_or(own),
                if others.is_empty() { "none".to_owned() } else { others.join("; ") },
                self.trained.epsilon(Notion::DifferentialPrivacy),
                self.deleted
                    .last()
                    .map_or_else(String::new, |(_, run)| run.epsilon(Notion::DifferentialPrivacy)),
            ]);
        }
        Ok(())
    }
}
