//! Random certificates of models on features whose training is declared, and rules that they break.

use efface_privacy::certificate::{
    Certificate, DECLARED, DECLARED_EXTRACTOR, Evidence, RequestKind,
};
use efface_privacy::claim::{Question, evaluate};
use efface_privacy::event::{DeclaredSteps, DeclaredTraining, Event, What};
use efface_privacy::quantity::Decimal;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng;

use crate::breaks::{Break, assume, listed, reworded, twice, unassume};
use crate::draw::{Draw, constant};
use crate::trunks::{on_features, told};
use crate::{Files, composed, failing, understate, with};

/// Honest certificates of models on features of a training that is declared.
const DECLARATIONS: u64 = 20;

impl Draw {
    /// Phases with noise that hides some of a few units.
    fn drawings(&mut self) -> Vec<DeclaredSteps> {
        let count = self.count(3);
        (0..count)
            .map(|_| {
                let whole = self.unit() < 0.2;
                let rate = if whole { 1.0 } else { self.number(-1.5, -0.3) };
                let noise = rate * 160.0 / self.number(-0.7, 0.3);
                let steps = 200 + self.count(1000);
                DeclaredSteps { noise: Decimal(noise.max(1.6)), rate: Decimal(rate), steps }
            })
            .collect()
    }

    /// A certificate of a model on features of a declared training that holds.
    fn on_a_declaration(&mut self, index: u64) -> Certificate {
        loop {
            let inner = match index % 3 {
                0 => self.exact_removal(false),
                _ => self.output_noise(false),
            };
            let few = inner.parameters() > 1 && inner.parameters() <= 1 << 16;
            if inner.preprocessing().is_some() || inner.group() > 1000 || !few {
                continue;
            }
            let clip = self.coin().then(|| Decimal(self.number(-2.0, 1.0)));
            let deleted = if self.coin() { self.count(4) } else { 0 };
            let training = DeclaredTraining { phases: self.drawings(), clip, deleted };
            let removed = self.count(8) - 1;
            let given = on_features(None, Some(training));
            if let Some(certificate) = self.composed(given, removed, inner, index) {
                return certificate;
            }
        }
    }
}

fn change(certificate: &mut Certificate, change: fn(&mut DeclaredTraining)) -> bool {
    change(composed(certificate).given.declared.as_mut().unwrap());
    true
}

/// Somebody is deleted, so that the training tells something of them.
fn gone(certificate: &mut Certificate) -> bool {
    let event = composed(certificate);
    event.removed.unwrap() + event.given.declared.as_ref().unwrap().deleted > 0
}

/// The words of an assumption: about a declared training there are no others.
pub(super) fn said_of(name: &str, declared: bool) -> &'static str {
    let found = DECLARED.iter().find(|(known, _)| declared && *known == name);
    found.map_or("said", |(_, words)| words)
}

/// The model is named, with what is assumed of it.
fn named(certificate: &mut Certificate, evidence: Evidence, words: &str) -> bool {
    certificate.constants.push(constant("extractor", "mine 1".to_owned()));
    assume(certificate, DECLARED_EXTRACTOR.0, words, evidence);
    true
}

fn said(certificate: &mut Certificate, name: &str, evidence: Evidence) -> bool {
    let found = certificate.assumptions.iter_mut().find(|assumption| assumption.name == name);
    found.map(|assumption| assumption.evidence = evidence).is_some()
}

/// The start of the name of a check that must fail, and how to make it fail.
const DECLARED_BREAKS: &[(&str, Break)] = &[
    ("claim 1", |c| {
        let removed = composed(c).removed.unwrap();
        composed(c).removed = Some(removed + 2);
        true
    }),
    ("claim 1", |c| change(c, |e| e.deleted += 2)),
    ("claim 1", |c| gone(c) && change(c, |e| e.phases.iter_mut().for_each(|p| p.noise.0 *= 0.7))),
    ("claim 1", |c| gone(c) && change(c, |e| e.phases.iter_mut().for_each(|p| p.steps *= 2))),
    ("claim 1", |c| {
        gone(c)
            && change(c, |e| {
                let (noise, rate) = (Decimal(8.0), Decimal(0.5));
                e.phases.push(DeclaredSteps { noise, rate, steps: 2000 });
            })
    }),
    // What was built on it alone.
    ("claim 1", |c| {
        if c.event.grid().is_none() || !gone(c) {
            return false;
        }
        let delta = c.claims[0].delta.unwrap().0;
        let head = evaluate(
            &composed(c).inner.clone(),
            &Question::Indistinguishable { delta },
            c.claims[0].accountant,
        )
        .unwrap();
        let far = head.epsilon.0 < 0.9 * c.claims[0].epsilon.0;
        (c.claims[0].epsilon, c.claims[0].advantage) = (head.epsilon, head.advantage);
        c.claims[0].words = efface_privacy::claim::in_words(&c.claims[0]);
        far
    }),
    // As if nothing were taken on anybody's word.
    ("claim 1", |c| {
        let claim = &mut c.claims[0];
        claim.words = claim.words.replace("if the extractor was trained as declared, ", "");
        true
    }),
    ("claim 1", |c| change(c, |e| e.phases.clear())),
    ("claim 1", |c| change(c, |e| e.phases[0].noise.0 = 0.0)),
    ("claim 1", |c| change(c, |e| e.phases[0].rate.0 = 1.5)),
    ("claim 1", |c| change(c, |e| (e.phases[0].rate.0, e.phases[0].noise.0) = (1.0, 2e6))),
    ("claim 1", |c| {
        // More work than one epsilon is worth, whatever it is.
        (c.claims[0].epsilon, c.claims[0].advantage) = (Decimal(1e9), Decimal(1.0));
        c.claims[0].words = efface_privacy::claim::in_words(&c.claims[0]);
        composed(c).removed = Some(100);
        change(c, |e| {
            e.phases =
                (0..64).map(|more| DeclaredSteps { steps: 10 + more, ..e.phases[0] }).collect();
            e.phases.iter_mut().for_each(|phase| phase.rate.0 = 0.1);
        })
    }),
    ("claim 1", |c| change(c, |e| e.phases[0].steps = 0)),
    ("claim 1", |c| change(c, |e| e.phases[0].steps = 1 << 40)),
    ("claim 1", |c| change(c, |e| e.deleted = 1025)),
    ("claim 1", |c| change(c, |e| e.clip = Some(Decimal(0.0)))),
    ("claim 1", |c| with(c, |e| e.removed = Some(1025))),
    ("claim 1", |c| with(c, |e| e.removed = None)),
    ("claim 1", |c| with(c, |e| e.given.group = 50)),
    ("claim 1", |c| with(c, |e| e.given.what = What::Start)),
    ("claim 1", |c| with(c, |e| e.given.mu = Some(Decimal(0.0)))),
    ("claim 1", |c| with(c, |e| e.given.declared = None)),
    ("consistency", |c| {
        (composed(c).removed, c.request.records) = (None, None);
        c.request.kind != RequestKind::Refresh && c.chain.index > 0
    }),
    ("constants", |c| told(c, "given-training", "noise=9,rate=0.5,steps=1")),
    ("constants", |c| {
        let text = listed(c, "given-training").unwrap().value.clone();
        told(c, "given-training", &format!("{text};{text}"))
    }),
    ("constants", |c| {
        let text = listed(c, "given-training").unwrap().value.clone();
        told(c, "given-training", &format!("{text},clip=1"))
    }),
    ("constants", |c| twice(c, "given-training")),
    ("constants", |c| told(c, "given-steps", "1")),
    ("constants", |c| told(c, "given-deleted", "4000")),
    ("constants", |c| told(c, "given-clip", "1e9")),
    ("assumptions", |c| unassume(c, "given")),
    ("assumptions", |c| unassume(c, "given-rows")),
    ("assumptions", |c| unassume(c, "given-gradients")),
    ("assumptions", |c| unassume(c, "given-batches")),
    ("assumptions", |c| unassume(c, "given-noise")),
    // Nobody but whoever trained it knows.
    ("assumptions", |c| said(c, "given", Evidence::Enforced)),
    ("assumptions", |c| said(c, "given-gradients", Evidence::Enforced)),
    ("assumptions", |c| said(c, "given-batches", Evidence::Measured)),
    ("assumptions", |c| said(c, "given-noise", Evidence::Enforced)),
    ("assumptions", |c| said(c, "given-rows", Evidence::Enforced)),
    ("assumptions", |c| reworded(c, "given")),
    ("assumptions", |c| reworded(c, "given-rows")),
    ("assumptions", |c| reworded(c, "given-gradients")),
    ("assumptions", |c| reworded(c, "given-batches")),
    ("assumptions", |c| reworded(c, "given-noise")),
    ("assumptions", |c| {
        let mut more = c.assumptions.iter().find(|one| one.name == "given").unwrap().clone();
        more.name = "given-checks".to_owned();
        c.assumptions.push(more);
        true
    }),
    ("assumptions", |c| named(c, Evidence::Enforced, DECLARED_EXTRACTOR.1)),
    ("assumptions", |c| named(c, Evidence::Declared, "checked by efface")),
    // Features of a network here go with its training.
    ("objective", |c| {
        let (many, digest) = (c.event.parameters() - 1, "7f".repeat(32));
        c.constants.retain(|constant| constant.name != "features");
        let map = format!("network:{many},{digest},version=1");
        c.constants.push(constant("features", map));
        true
    }),
    ("scope", |c| {
        let before = c.scope.does_not_cover.len();
        c.scope.does_not_cover.retain(|limit| !limit.contains("as declared"));
        c.scope.does_not_cover.len() < before
    }),
    ("scope", |c| {
        c.scope
            .covers
            .push("the network that makes the features, kept and used with the weights".into());
        true
    }),
];

#[test]
fn both_verifiers_agree_on_models_of_features_of_a_declared_training() {
    let mut files = Files::new();
    let mut draw = Draw(ChaCha20Rng::from_seed([12; 32]));
    let honest: Vec<Certificate> =
        (0..DECLARATIONS).map(|index| draw.on_a_declaration(index)).collect();
    files.honest(&honest);
    let mut open = honest[0].clone();
    named(&mut open, Evidence::Declared, DECLARED_EXTRACTOR.1);
    assert!(failing(files.add("named.json".to_owned(), &open)).is_empty());
    let several = honest.iter().filter(|c| match &c.event {
        Event::Composed(event) => event.given.declared.as_ref().unwrap().phases.len() > 1,
        _ => false,
    });
    assert!(several.count() > 4);
    files.lies(&honest, 6, understate);
    files.broken(&honest, 3, DECLARED_BREAKS);
    files.compare();
}
