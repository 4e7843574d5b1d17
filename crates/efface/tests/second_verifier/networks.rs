//! Random certificates of networks, and rules that they break.

use efface_privacy::accountant::Accountant;
use efface_privacy::certificate::{
    Certificate, Constant, DECLARED, Ground, NETWORK, Origin, RequestKind, SHARDS,
};
use efface_privacy::claim::{Claim, Question, evaluate, in_words};
use efface_privacy::event::{Adjacency, DpSgd, Event, Segment, Unit};
use efface_privacy::quantity::Decimal;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::Files;
use crate::breaks::{Break, listed, reworded, scaled, twice, unassume, unlisted};
use crate::draw::{Draw, certificate, constant};

/// Honest certificates of networks.
const NETWORKS: u64 = 24;

/// The assumptions that every certificate of the event rests on.
pub(super) fn grounds(event: &Event) -> Vec<&'static str> {
    match event {
        Event::DpSgd(_) => named(&NETWORK),
        Event::Composed(event) if event.given.training.is_some() => named(&NETWORK),
        Event::Composed(event) if event.given.declared.is_some() => {
            ["rows"].into_iter().chain(DECLARED.map(|(name, _)| name)).collect()
        }
        Event::Shards(_) => named(&SHARDS),
        _ => vec!["rows"],
    }
}

fn named(grounds: &[Ground]) -> Vec<&'static str> {
    ["rows"].into_iter().chain(grounds.iter().map(|(name, _, _)| *name)).collect()
}

impl Draw {
    /// An event in which units are drawn often enough to have no lumps, and that reveals something.
    pub(super) fn trained(&mut self, deleted: bool, private: bool) -> DpSgd {
        let subject = self.coin() || (private && deleted);
        let whole = self.unit() < 0.2;
        let segments = 1 + if deleted { self.count(3) - 1 } else { 0 };
        let segments: Vec<Segment> = (0..segments)
            .map(|_| Segment {
                steps: 200 + self.count(2000),
                deleted: if deleted { self.count(10) } else { 0 },
            })
            .collect();
        let rate = if whole { 1.0 } else { self.number(-1.5, -0.3) };
        let (steps, units) = (400.0_f64, 4.0);
        let noise = rate * units * steps.sqrt() / self.number(-0.7, 0.3);
        let clip = self.number(-2.0, 1.0);
        let earlier = self.count(500);
        DpSgd {
            parameters: self.count(1_000_000),
            unit: if subject { Unit::Subject } else { Unit::Record },
            rows_per_unit: if subject { self.count(50) } else { 1 },
            clip: Decimal(clip),
            noise: Decimal(noise.max(0.8)),
            grid: Decimal(clip * noise.max(0.8) * 2.0_f64.powi(-21)),
            rate: Decimal(rate),
            group: self.count(5),
            releases: 1 + self.count(30),
            segments,
            earlier_steps: if !deleted || self.coin() { earlier } else { 0 },
        }
    }

    /// A certificate of a network that holds.
    fn network(&mut self, index: u64) -> Certificate {
        let (private, deleted) = (self.coin(), self.unit() < 0.7);
        let mut event = self.trained(deleted, private);
        let kind = match (deleted, index % 3) {
            (false, 0) => RequestKind::Train,
            (false, _) => RequestKind::Refresh,
            (true, 0) => RequestKind::Add,
            (true, 1) => RequestKind::Update,
            (true, _) => RequestKind::Delete,
        };
        if kind == RequestKind::Train {
            event.earlier_steps = 0;
        }
        let most = event.deleted() * event.rows_per_unit;
        let records = match kind {
            RequestKind::Refresh => Some(0),
            _ if private => None,
            RequestKind::Delete | RequestKind::Update => Some(self.count(most)),
            _ => Some(self.count(1000)),
        };
        let delta = self.number(-12.0, -3.0);
        let claims = claims(&event, delta, private);
        let place = if kind == RequestKind::Train { 0 } else { index + 1 };
        let mut whole = certificate(Event::DpSgd(event), claims, delta, place, private);
        (whole.request.kind, whole.request.records) = (kind, records);
        whole
    }
}

fn claims(event: &DpSgd, delta: f64, private: bool) -> Vec<Claim> {
    let adjacency = if private { Adjacency::Remove } else { Adjacency::Replace };
    let questions =
        [Question::Indistinguishable { delta }, Question::Differential { delta, adjacency }];
    let event = Event::DpSgd(event.clone());
    questions.map(|question| evaluate(&event, &question, Accountant::Pld).unwrap()).to_vec()
}

/// The event, for whoever breaks it.
fn event(certificate: &mut Certificate) -> Option<&mut DpSgd> {
    match &mut certificate.event {
        Event::DpSgd(event) => Some(event),
        _ => None,
    }
}

fn change(certificate: &mut Certificate, change: fn(&mut DpSgd)) -> bool {
    event(certificate).is_some_and(|event| {
        change(event);
        true
    })
}

pub(super) fn of_kind(certificate: &Certificate, kinds: &[RequestKind]) -> bool {
    kinds.contains(&certificate.request.kind)
}

const NEW: [RequestKind; 2] = [RequestKind::Train, RequestKind::Refresh];
const REMOVES: [RequestKind; 2] = [RequestKind::Delete, RequestKind::Update];

/// The start of the name of a check that must fail, and how to make it fail.
const NETWORK_BREAKS: &[(&str, Break)] = &[
    // A bound for fewer units or steps than the event has.
    ("claim 1", |c| {
        let served = !of_kind(c, &NEW);
        change(c, |e| e.segments.iter_mut().for_each(|s| s.deleted += 1)) && served
    }),
    ("claim 1", |c| {
        let served = !of_kind(c, &NEW);
        change(c, |e| e.segments.iter_mut().for_each(|s| s.steps *= 2)) && served
    }),
    ("claim 1", |c| change(c, |e| e.segments.push(Segment { steps: 300, deleted: 9 }))),
    ("claim 2", |c| change(c, |e| e.earlier_steps += e.steps())),
    ("claim 2", |c| change(c, |e| e.group += 1)),
    ("claim 2", |c| change(c, |e| e.noise.0 *= 0.9)),
    ("claim 2", |c| change(c, |e| e.rate.0 *= if e.rate.0 < 0.9 { 1.1 } else { 2.0 })),
    // Events that no run has.
    ("claim ", |c| change(c, |e| e.grid.0 = e.clip.0 * e.noise.0 * 1e-6)),
    ("claim ", |c| change(c, |e| e.grid.0 = 0.0)),
    ("claim ", |c| change(c, |e| e.clip.0 = f64::INFINITY)),
    ("claim ", |c| change(c, |e| e.parameters = 0)),
    ("claim ", |c| change(c, |e| e.rows_per_unit = 0)),
    ("claim ", |c| change(c, |e| e.earlier_steps = 1 << 40)),
    ("claim ", |c| change(c, |e| e.segments[0].deleted = 1025)),
    ("claim ", |c| change(c, |e| e.segments[0].steps = 0)),
    ("claim ", |c| change(c, |e| e.segments.clear())),
    ("claim ", |c| change(c, |e| e.group = 1025)),
    ("claim ", |c| {
        let records = event(c).is_some_and(|e| e.unit == Unit::Record);
        change(c, |e| e.rows_per_unit = 2) && records
    }),
    // What Rényi divergences say: missing, another number, below epsilon.
    ("claim 1", |c| c.claims[0].rdp_epsilon.take().is_some_and(|bound| bound.0 > 0.0)),
    ("claim 2", |c| c.claims[1].rdp_epsilon.take().is_some()),
    ("claim 1", |c| second_bound(c, 0, |bound, _| bound * 1.001)),
    ("claim 2", |c| second_bound(c, 1, |bound, _| bound * 0.999)),
    ("claim 1", |c| second_bound(c, 0, |_, epsilon| epsilon * 0.98)),
    ("claim 1", |c| above_second_bound(c, 0)),
    ("claim 2", |c| above_second_bound(c, 1)),
    // A number that no other accountant may be named for.
    ("claim 1", |c| {
        c.claims[0].accountant = Accountant::Gdp;
        true
    }),
    // Requests that the event does not show.
    ("consistency", |c| {
        change(c, |e| e.segments.iter_mut().for_each(|s| s.deleted = 0))
            && of_kind(c, &[RequestKind::Delete])
    }),
    ("consistency", |c| {
        let all = event(c).map_or(0, |e| e.deleted() * e.rows_per_unit);
        c.request.records = Some(all + 1);
        of_kind(c, &REMOVES)
    }),
    ("consistency", |c| change(c, |e| e.segments[0].deleted += 1) && of_kind(c, &NEW)),
    ("consistency", |c| {
        let again = |e: &mut DpSgd| e.segments.push(e.segments[0]);
        change(c, again) && of_kind(c, &NEW)
    }),
    ("consistency", |c| {
        change(c, |e| e.earlier_steps = u64::from(e.earlier_steps == 0)) && of_kind(c, &NEW)
    }),
    ("consistency", |c| {
        (c.request.kind, c.request.records) = (RequestKind::Refresh, Some(0));
        event(c).is_some_and(|e| e.deleted() > 0)
    }),
    ("consistency", |c| {
        let counted = event(c).is_some_and(|e| e.unit == Unit::Record && e.deleted() > 0);
        c.request.records = None;
        counted
    }),
    ("claim 2", |c| {
        c.request.records = Some(1);
        !of_kind(c, &[RequestKind::Refresh]) && c.claims[1].adjacency == Some(Adjacency::Remove)
    }),
    // Constants of the event, and none of a convex objective.
    ("constants", |c| scaled(c, "noise", 1.5)),
    ("constants", |c| scaled(c, "clip", 0.5)),
    ("constants", |c| scaled(c, "rate", 0.5)),
    ("constants", |c| scaled(c, "steps", 2.0)),
    ("constants", |c| scaled(c, "gradient-grid", 2.0)),
    ("constants", |c| scaled(c, "rows-per-unit", 2.0)),
    ("constants", |c| twice(c, "unit")),
    ("objective", |c| {
        c.constants.push(constant("smoothness", "1".to_owned()));
        true
    }),
    ("assumptions", |c| reworded(c, "batches")),
    ("assumptions", |c| reworded(c, "gradients")),
    ("objective", |c| unlisted(c, "schema")),
    ("assumptions", |c| unassume(c, "rows")),
    ("assumptions", |c| unassume(c, "gradients")),
    ("assumptions", |c| unassume(c, "batches")),
    ("assumptions", |c| unassume(c, "network")),
    ("assumptions", |c| from_data(c, "clip")),
    ("assumptions", |c| from_data(c, "rows-per-unit")),
    ("assumptions", |c| {
        unassume(c, "row-count");
        from_data(c, "rate")
    }),
    ("scope", |c| {
        let before = c.scope.does_not_cover.len();
        c.scope.does_not_cover.retain(|limit| !limit.contains("which batch"));
        c.scope.does_not_cover.len() < before
    }),
];

/// Another second bound of a claim that promises something.
fn second_bound(c: &mut Certificate, claim: usize, change: fn(f64, f64) -> f64) -> bool {
    let claim = &mut c.claims[claim];
    let (Some(Decimal(bound)), epsilon) = (claim.rdp_epsilon, claim.epsilon.0) else {
        return false;
    };
    claim.rdp_epsilon = Some(Decimal(change(bound, epsilon)));
    epsilon > 0.0 && epsilon.is_finite() && bound.is_finite()
}

/// An epsilon that is stated higher than it is, and higher than any computation finds it.
fn above_second_bound(c: &mut Certificate, claim: usize) -> bool {
    let claim = &mut c.claims[claim];
    let Some(Decimal(bound)) = claim.rdp_epsilon else { return false };
    claim.epsilon = Decimal(bound * 1.02);
    claim.words = in_words(claim);
    bound > 0.0 && bound.is_finite()
}

pub(super) fn from_data(certificate: &mut Certificate, name: &str) -> bool {
    let found: Option<&mut Constant> = listed(certificate, name);
    found.map(|constant| constant.origin = Origin::Data).is_some()
}

#[test]
fn both_verifiers_agree_on_networks() {
    let mut files = Files::new();
    let mut draw = Draw(ChaCha20Rng::from_seed([9; 32]));
    let honest: Vec<Certificate> = (0..NETWORKS).map(|index| draw.network(index)).collect();
    files.honest(&honest);
    files.lies(&honest, 5, |lying| draw.lie(&mut lying.claims));
    files.broken(&honest, 5, NETWORK_BREAKS);
    files.compare();
}
