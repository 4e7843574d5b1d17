//! Random certificates of networks of shards, and rules that they break.

use efface_privacy::accountant::Accountant;
use efface_privacy::certificate::{Certificate, RequestKind};
use efface_privacy::claim::{Notion, Question, Requests, evaluate, in_words};
use efface_privacy::event::{Adjacency, Event, Shards, State, Unit};
use efface_privacy::quantity::Decimal;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::Files;
use crate::breaks::{Break, reworded, scaled, twice, unassume};
use crate::draw::{Draw, certificate, constant};
use crate::networks::{from_data, of_kind};

/// Honest certificates of shards.
const SHARDED: u64 = 40;

const NEW: [RequestKind; 2] = [RequestKind::Train, RequestKind::Refresh];

impl Draw {
    /// A certificate of shards that holds.
    fn sharded(&mut self, index: u64) -> Certificate {
        let shards = self.count(Shards::MOST);
        let unit = if self.coin() { Unit::Subject } else { Unit::Record };
        let kind = match index % 5 {
            0 => RequestKind::Train,
            1 => RequestKind::Refresh,
            2 => RequestKind::Add,
            3 => RequestKind::Update,
            _ => RequestKind::Delete,
        };
        let records = self.count(1000);
        let most = if kind == RequestKind::Update && unit == Unit::Subject { 2 } else { 1 };
        let retrained = match kind {
            _ if NEW.contains(&kind) => shards,
            // As many as there may be, more often than not.
            _ if self.coin() => shards.min(most * records),
            _ => self.count(shards.min(records)),
        };
        let event = Shards {
            parameters: shards * self.count(100_000),
            unit,
            shards,
            retrained,
            arithmetic: self.count(9),
            releases: 1 + self.count(30),
        };
        let event = Event::Shards(event);
        let claim = evaluate(&event, &Question::Exact, Accountant::Exact).unwrap();
        let place = if kind == RequestKind::Train { 0 } else { index };
        let mut whole = certificate(event, vec![claim], 1e-6, place, false);
        whole.request.kind = kind;
        whole.request.records = Some(if kind == RequestKind::Refresh { 0 } else { records });
        if kind == RequestKind::Refresh {
            whole.model.digest_before = None;
        }
        whole
    }
}

fn change(certificate: &mut Certificate, change: fn(&mut Shards)) -> bool {
    match &mut certificate.event {
        Event::Shards(event) => {
            change(event);
            true
        }
        _ => false,
    }
}

/// The start of the name of a check that must fail, and how to make it fail.
const SHARD_BREAKS: &[(&str, Break)] = &[
    // Events that no run has.
    ("claim 1", |c| change(c, |e| e.parameters = 0)),
    ("claim 1", |c| change(c, |e| (e.shards, e.retrained, e.parameters) = (2, 1, 7))),
    ("claim 1", |c| change(c, |e| e.shards = 0)),
    ("claim 1", |c| change(c, |e| (e.shards, e.parameters) = (4097, 4097))),
    ("claim 1", |c| change(c, |e| e.retrained = 0)),
    ("claim 1", |c| change(c, |e| e.retrained = e.shards + 1)),
    ("claim 1", |c| change(c, |e| e.arithmetic = 0)),
    // More than exact removal, or less than what it is.
    ("claim 1", |c| {
        c.claims[0].accountant = Accountant::Gdp;
        true
    }),
    ("claim 1", |c| {
        c.claims[0].requests = Requests::NonAdaptive;
        c.claims[0].words = in_words(&c.claims[0]);
        true
    }),
    ("claim 1", |c| {
        c.claims[0].group = "1".to_owned();
        true
    }),
    ("claim 1", |c| {
        c.claims[0].state = State::Secret;
        true
    }),
    ("claim 1", |c| {
        let claim = &mut c.claims[0];
        (claim.notion, claim.delta) = (Notion::DifferentialPrivacy, Some(Decimal(1e-6)));
        claim.adjacency = Some(Adjacency::Replace);
        claim.words = in_words(claim);
        true
    }),
    ("claim 1", |c| {
        c.claims[0].reference =
            c.claims[0].reference.replace(", under the names that they have", "");
        true
    }),
    // Requests that the event does not show.
    ("consistency", |c| {
        let part = |e: &mut Shards| e.retrained = (e.retrained - 1).max(1);
        let several = matches!(&c.event, Event::Shards(event) if event.shards > 1);
        several && of_kind(c, &NEW) && change(c, part)
    }),
    ("consistency", |c| {
        let Event::Shards(event) = &c.event else { return false };
        let fewer = event.retrained.saturating_sub(1);
        c.request.records = Some(fewer);
        fewer > 0 && of_kind(c, &[RequestKind::Delete, RequestKind::Add])
    }),
    ("consistency", |c| {
        let Event::Shards(event) = &c.event else { return false };
        let fewer = event.retrained.div_ceil(2).saturating_sub(1);
        c.request.records = Some(fewer);
        fewer > 0 && of_kind(c, &[RequestKind::Update])
    }),
    ("consistency", |c| {
        c.request.records = None;
        true
    }),
    ("consistency", |c| {
        c.model.digest_before = Some("11".repeat(32));
        of_kind(c, &[RequestKind::Refresh])
    }),
    // Constants of the event, and none of a convex objective.
    ("constants", |c| scaled(c, "shards", 2.0)),
    ("constants", |c| scaled(c, "arithmetic", 2.0)),
    ("constants", |c| scaled(c, "parameters", 2.0)),
    ("constants", |c| scaled(c, "max-group", 2.0)),
    ("constants", |c| twice(c, "unit")),
    ("objective", |c| {
        c.constants.push(constant("max-weight", "1".to_owned()));
        true
    }),
    ("noise", |c| {
        c.noise.sampler = "exact-grid".to_owned();
        true
    }),
    ("assumptions", |c| reworded(c, "shards")),
    ("assumptions", |c| reworded(c, "determinism")),
    ("assumptions", |c| unassume(c, "rows")),
    ("assumptions", |c| unassume(c, "shards")),
    ("assumptions", |c| unassume(c, "determinism")),
    ("assumptions", |c| unassume(c, "network")),
    ("assumptions", |c| from_data(c, "shards")),
    ("assumptions", |c| from_data(c, "arithmetic")),
    ("assumptions", |c| {
        c.constants.push(constant("eta", "1".to_owned()));
        from_data(c, "eta")
    }),
    ("assumptions", |c| {
        c.constants.push(constant("epochs", "1".to_owned()));
        from_data(c, "epochs")
    }),
    ("scope", |c| {
        c.scope.does_not_cover.retain(|limit| !limit.starts_with("the names of the remaining"));
        true
    }),
    ("scope", |c| {
        c.scope.does_not_cover.retain(|limit| !limit.starts_with("which networks changed"));
        true
    }),
    ("scope", |c| {
        c.scope.covers.push(
            "the kept sums, which depend on the remaining rows and public constants only"
                .to_owned(),
        );
        true
    }),
];

#[test]
fn both_verifiers_agree_on_shards() {
    let mut files = Files::new();
    let mut draw = Draw(ChaCha20Rng::from_seed([11; 32]));
    let honest: Vec<Certificate> = (0..SHARDED).map(|index| draw.sharded(index)).collect();
    files.honest(&honest);
    files.broken(&honest, 7, SHARD_BREAKS);
    files.compare();
}
