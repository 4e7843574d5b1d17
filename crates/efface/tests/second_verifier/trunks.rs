//! Random certificates of models on a network's features, and rules that they break.

use efface_privacy::certificate::{Certificate, Constant, RequestKind};
use efface_privacy::claim::{Notion, Question, evaluate};
use efface_privacy::event::{
    Adjacency, Composed, DeclaredTraining, DpSgd, Event, Given, Refitted, Segment, Unit, What,
};
use efface_privacy::quantity::Decimal;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::breaks::{Break, listed, scaled, twice, unassume};
use crate::draw::{Draw, certificate, constant};
use crate::phases::phases;
use crate::{Files, composed, understate, with};

/// Honest certificates of models on a network's features.
const TRUNKS: u64 = 24;

/// Whether features are a network's.
pub(super) fn trained(event: &Event) -> bool {
    matches!(event, Event::Composed(event) if event.given.training.is_some())
}

/// The constant that names its vault.
pub(super) fn vault(event: &Event) -> Option<Constant> {
    trained(event).then(|| constant("trunk", "another vault".to_owned()))
}

/// Features that a training made.
pub(super) fn on_features(training: Option<DpSgd>, declared: Option<DeclaredTraining>) -> Given {
    Given {
        what: What::Extractor,
        epsilon: None,
        delta: None,
        mu: None,
        group: 1,
        training: training.map(Box::new),
        declared: declared.map(Box::new),
    }
}

impl Draw {
    /// A certificate of a model on what was given; none if it promises nothing.
    pub(super) fn composed(
        &mut self,
        given: Given,
        removed: u64,
        inner: Event,
        index: u64,
    ) -> Option<Certificate> {
        let event =
            Event::Composed(Composed { given, removed: Some(removed), inner: Box::new(inner) });
        let delta = self.number(-9.0, -3.0);
        let mut claims = self.claims(&event, delta, false);
        // Far apart nothing is promised, and both say so after long sums.
        claims.retain(|claim| claim.epsilon.0 < 60.0);
        if claims.first()?.notion != Notion::IndistinguishableFromRetraining {
            return None;
        }
        let place = if removed == 0 && phases(&event).len() < 2 { 0 } else { index + 1 };
        Some(certificate(event, claims, delta, place, false))
    }

    /// A certificate of a model on a network's features that holds.
    fn on_a_trunk(&mut self, index: u64) -> Certificate {
        loop {
            let inner = match index % 4 {
                0 => self.exact_removal(false),
                1 => self.noisy_gd(false),
                _ => self.output_noise(false),
            };
            let few = inner.parameters() > 1 && inner.parameters() <= 1 << 16;
            if inner.preprocessing().is_some() || inner.group() > 1000 || !few {
                continue;
            }
            let before = self.coin();
            let mut training = self.trained(before, false);
            (training.unit, training.rows_per_unit) = (Unit::Record, 1);
            // Far enough apart for sums without a grid, near enough to say something.
            training.noise.0 *= 2.0;
            training.grid.0 *= 2.0;
            let gone = phases(&inner).iter().map(|phase| phase.only_then).max().unwrap_or(0);
            let removed = gone + self.count(8) - 1;
            if gone > 60 {
                continue;
            }
            let given = on_features(Some(training), None);
            if let Some(certificate) = self.composed(given, removed, inner, index) {
                return certificate;
            }
        }
    }
}

fn change(certificate: &mut Certificate, change: fn(&mut DpSgd)) -> bool {
    change(composed(certificate).given.training.as_mut().unwrap());
    true
}

fn exact(certificate: &Certificate) -> bool {
    certificate.event.grid().is_none()
}

pub(super) fn told(certificate: &mut Certificate, name: &str, value: &str) -> bool {
    listed(certificate, name).map(|constant| constant.value = value.to_owned()).is_some()
}

/// The start of the name of a check that must fail, and how to make it fail.
const TRUNK_BREAKS: &[(&str, Break)] = &[
    // A bound that leaves out who was deleted, before or since.
    ("claim 1", |c| {
        let removed = composed(c).removed.unwrap();
        composed(c).removed = Some(removed + 2);
        true
    }),
    ("claim 1", |c| change(c, |e| e.segments.iter_mut().for_each(|s| s.deleted += 1))),
    ("claim 1", |c| change(c, |e| e.segments.push(Segment { steps: 900, deleted: 12 }))),
    ("claim 1", |c| change(c, |e| e.noise.0 *= 0.5)),
    ("claim 1", |c| change(c, |e| e.rate.0 *= if e.rate.0 < 0.5 { 2.0 } else { 1.5 })),
    // The network's part alone, as if what was built on it hid nothing.
    ("claim 1", |c| {
        let mut alone = composed(c).clone();
        let Event::OutputNoise(inner) = &mut *alone.inner else { return false };
        (inner.distance.0, inner.grid.0) = (inner.distance.0 * 1e-9, inner.noise.0 * 1e-18);
        let claim = &c.claims[0];
        let question = Question::Indistinguishable { delta: claim.delta.unwrap().0 };
        let least = evaluate(&Event::Composed(alone), &question, claim.accountant).unwrap();
        let far = least.epsilon.0 < 0.9 * claim.epsilon.0;
        c.claims[0] = least;
        far
    }),
    // Without what Rényi divergences say.
    ("claim 1", |c| c.claims[0].rdp_epsilon.take().is_some()),
    // What was built on it alone.
    ("claim 1", |c| {
        if exact(c) {
            return false;
        }
        let delta = c.claims[0].delta.unwrap().0;
        let question = Question::Indistinguishable { delta };
        let by = c.claims[0].accountant;
        let head = evaluate(&composed(c).inner, &question, by).unwrap();
        c.claims[0].epsilon = head.epsilon;
        c.claims[0].advantage = head.advantage;
        c.claims[0].words = efface_privacy::claim::in_words(&c.claims[0]);
        true
    }),
    ("claim 2", |c| !exact(c) && c.claims.len() > 1 && change(c, |e| e.earlier_steps += 3000)),
    // Trainings that no run has, and figures beside one.
    ("claim 1", |c| change(c, |e| e.unit = Unit::Subject)),
    ("claim 1", |c| change(c, |e| e.segments.clear())),
    ("claim 1", |c| change(c, |e| e.grid.0 = 0.0)),
    ("claim 1", |c| change(c, |e| e.segments[0].deleted = 1025)),
    ("claim 1", |c| with(c, |e| e.removed = Some(u64::MAX >> 12))),
    ("claim 1", |c| with(c, |e| e.given.group = 50)),
    ("claim 1", |c| with(c, |e| e.given.what = What::Start)),
    ("claim 1", |c| with(c, |e| e.given.mu = Some(Decimal(0.0)))),
    ("claim 1", |c| with(c, |e| e.given.training = None)),
    ("claim 1", |c| with(c, |e| e.removed = None)),
    ("consistency", |c| {
        (composed(c).removed, c.request.records) = (None, None);
        c.request.kind != RequestKind::Refresh && c.chain.index > 0
    }),
    ("consistency", |c| {
        let removed = composed(c).removed.unwrap();
        c.request.kind = RequestKind::Delete;
        c.request.records = Some(removed + 1);
        c.chain.index > 0
    }),
    ("constants", |c| scaled(c, "given-noise", 2.0)),
    ("constants", |c| scaled(c, "given-steps", 0.5)),
    ("constants", |c| told(c, "given-deleted", "4000")),
    ("constants", |c| twice(c, "given-clip")),
    // The features must be those of the network, whose vault is told.
    ("objective", |c| {
        let digest = "7f".repeat(31);
        let many = c.event.parameters() - 1;
        told(c, "features", &format!("network:{many},{digest},version=1"))
    }),
    ("objective", |c| {
        let many = c.event.parameters() - 1;
        told(c, "features", &format!("gated:{many},norm=1.0,seed=0,version=1"))
    }),
    ("objective", |c| {
        let many = c.event.parameters();
        let digest = "7f".repeat(32);
        told(c, "features", &format!("network:{many},{digest},version=1")) && many > 2
    }),
    ("objective", |c| {
        c.constants.retain(|constant| constant.name != "features");
        true
    }),
    ("objective", |c| {
        c.constants.retain(|constant| constant.name != "trunk");
        true
    }),
    ("objective", |c| told(c, "trunk", "vault")),
    ("objective", |c| {
        let Event::ExactRemoval(inner) = &mut *composed(c).inner else { return false };
        inner.preprocessing = Some(Refitted { min_frequency: 1 });
        true
    }),
    ("assumptions", |c| unassume(c, "given")),
    ("assumptions", |c| unassume(c, "gradients")),
    ("assumptions", |c| unassume(c, "batches")),
    ("assumptions", |c| unassume(c, "network")),
    ("assumptions", |c| unassume(c, "features")),
    ("scope", |c| {
        let before = c.scope.does_not_cover.len();
        c.scope.does_not_cover.retain(|limit| !limit.contains("`trunk`"));
        c.scope.does_not_cover.len() < before
    }),
    ("scope", |c| {
        c.scope.covers.push("whatever the network's vault publishes".to_owned());
        true
    }),
];

#[test]
fn both_verifiers_agree_on_models_of_a_networks_features() {
    let mut files = Files::new();
    let mut draw = Draw(ChaCha20Rng::from_seed([11; 32]));
    let honest: Vec<Certificate> = (0..TRUNKS).map(|index| draw.on_a_trunk(index)).collect();
    files.honest(&honest);
    let replaced =
        |c: &&Certificate| c.claims.iter().any(|claim| claim.adjacency == Some(Adjacency::Replace));
    assert!(honest.iter().filter(replaced).count() > 5);
    assert!(honest.iter().filter(|c| c.request.kind == RequestKind::Delete).count() > 2);
    files.lies(&honest, 8, understate);
    files.broken(&honest, 5, TRUNK_BREAKS);
    files.compare();
}
