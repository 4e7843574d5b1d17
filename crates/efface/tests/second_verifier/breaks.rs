//! Certificates that break one rule each: a table, long because each rule stands in it.

use efface_privacy::certificate::{
    Assumption, Certificate, Constant, Evidence, GENESIS, Origin, RequestKind,
};
use efface_privacy::claim::{Claim, Notion, Requests, evaluate, in_words};
use efface_privacy::event::{
    Adjacency, Descent, Event, ExactRemoval, NoisyGd, Normalizer, Phase, State,
};
use efface_privacy::quantity::Decimal;

use crate::draw::constant;

/// A way to break one rule; false where the certificate has nothing it could break.
pub(super) type Break = fn(&mut Certificate) -> bool;

pub(super) fn assume(certificate: &mut Certificate, name: &str, value: &str, evidence: Evidence) {
    let (name, value) = (name.to_owned(), value.to_owned());
    certificate.assumptions.push(Assumption { name, value, evidence });
}

pub(super) fn unassume(certificate: &mut Certificate, name: &str) -> bool {
    let before = certificate.assumptions.len();
    certificate.assumptions.retain(|assumption| assumption.name != name);
    certificate.assumptions.len() < before
}

/// An assumption in other words.
pub(super) fn reworded(certificate: &mut Certificate, name: &str) -> bool {
    let found = certificate.assumptions.iter_mut().find(|assumption| assumption.name == name);
    found.map(|assumption| assumption.value = "nothing to assume".to_owned()).is_some()
}

pub(super) fn unlisted(certificate: &mut Certificate, name: &str) -> bool {
    let before = certificate.constants.len();
    certificate.constants.retain(|constant| constant.name != name);
    certificate.constants.len() < before
}

pub(super) fn claims_of(certificate: &Certificate, notion: Notion) -> bool {
    certificate.claims.iter().any(|claim| claim.notion == notion)
}

fn removes(certificate: &Certificate) -> bool {
    certificate.claims.iter().any(|claim| claim.adjacency == Some(Adjacency::Remove))
}

pub(super) fn listed<'a>(certificate: &'a mut Certificate, name: &str) -> Option<&'a mut Constant> {
    certificate.constants.iter_mut().find(|constant| constant.name == name)
}

pub(super) fn twice(certificate: &mut Certificate, name: &str) -> bool {
    let Some(again) = listed(certificate, name).cloned() else { return false };
    certificate.constants.push(again);
    true
}

pub(super) fn scaled(certificate: &mut Certificate, name: &str, factor: f64) -> bool {
    let Some(constant) = listed(certificate, name) else { return false };
    let Ok(Decimal(number)) = constant.value.parse() else { return false };
    constant.value = Decimal(number * factor).to_string();
    true
}

/// Phases of an event whose steps must follow `removal-steps`.
fn fixed(certificate: &mut Certificate) -> Option<&mut NoisyGd> {
    let claimed = removes(certificate) || claims_of(certificate, Notion::DeletionPrivacy);
    match &mut certificate.event {
        Event::NoisyGd(event) if claimed && event.phases.len() > 1 => Some(event),
        _ => None,
    }
}

pub(super) fn exact(certificate: &mut Certificate) -> Option<&mut ExactRemoval> {
    match &mut certificate.event {
        Event::ExactRemoval(event) => Some(event),
        _ => None,
    }
}

/// Often enough for a sum to leave its range.
fn halve(grid: &mut f64) -> bool {
    *grid /= f64::from(1 << 12);
    true
}

/// The same claims of a changed event, computed anew, so that only a rule about them is broken.
fn claim_anew(certificate: &mut Certificate) {
    let event = &certificate.event;
    let again = |claim: &Claim| evaluate(event, &claim.question().ok()?, claim.accountant).ok();
    certificate.claims = certificate.claims.iter().filter_map(again).collect();
}

/// As [`BREAKS`], of what must be listed and said in fixed words.
pub(super) const STATED_BREAKS: &[(&str, Break)] = &[
    ("assumptions", |c| reworded(c, "randomness")),
    ("objective", |c| unlisted(c, "schema")),
    ("objective", |c| unlisted(c, "classes")),
    ("objective", |c| unlisted(c, "target-range")),
];

/// The start of the name of a check that must fail, and how to make it fail.
pub(super) const BREAKS: &[(&str, Break)] = &[
    ("hash", |c| {
        c.chain.hash = "00".repeat(32);
        true
    }),
    ("release", |c| {
        c.noise.generator = "chacha20-user-seed".to_owned();
        c.not_for_release = true;
        true
    }),
    ("noise", |c| {
        c.not_for_release = true;
        c.event.grid().is_some()
    }),
    ("noise", |c| {
        let none = c.event.grid().is_none();
        c.noise.sampler = "exact-grid".to_owned();
        c.noise.generator = "chacha20".to_owned();
        none
    }),
    // Longer rows, a steeper or more curved loss than the setting allows.
    ("objective", |c| scaled(c, "row-norm", 3.0)),
    ("objective", |c| scaled(c, "intercept", 4.0)),
    ("objective", |c| scaled(c, "hinge-width", 1e-9)),
    ("objective", |c| {
        let row = listed(c, "row-norm").and_then(|row| row.value.parse().ok());
        exact(c).is_some_and(|e| {
            e.row_bound = Decimal(row.map_or(0.0, |row: Decimal| row.0));
            true
        })
    }),
    ("objective", |c| {
        exact(c).is_some_and(|e| {
            e.target_bound = Decimal(0.99);
            true
        })
    }),
    // The largest |y| there was, which goes with no record.
    ("objective", |c| {
        let declared = exact(c).is_some_and(|e| e.preprocessing.is_none());
        let bound = listed(c, "target-bound").filter(|_| declared);
        bound.map(|bound| bound.origin = Origin::Data).is_some()
    }),
    ("objective", |c| {
        let bounded = !matches!(c.event.core(), Event::OutputNoise(_));
        let clip = listed(c, "clip");
        clip.is_some_and(|clip| {
            clip.value = "inf".to_owned();
            bounded
        })
    }),
    ("objective", |c| {
        let number = listed(c, "row-norm");
        number.is_some_and(|number| {
            number.value = format!("-{}", number.value);
            true
        })
    }),
    ("objective", |c| {
        let loss = listed(c, "loss");
        loss.is_some_and(|loss| {
            loss.value = "hinge".to_owned();
            true
        })
    }),
    ("objective", |c| {
        let logistic = exact(c).is_some();
        listed(c, "loss").is_some_and(|loss| {
            loss.value = "logistic".to_owned();
            logistic
        })
    }),
    ("objective", |c| twice(c, "loss")),
    ("objective", |c| {
        let listed = c.constants.len();
        c.constants.retain(|constant| !["clip", "hinge-width"].contains(&constant.name.as_str()));
        c.constants.len() < listed
    }),
    // Grids on which a sum could overflow, or that are none.
    ("claim ", |c| exact(c).is_some_and(|e| halve(&mut e.row_grid.0))),
    ("claim ", |c| exact(c).is_some_and(|e| halve(&mut e.target_grid.0))),
    ("claim ", |c| {
        exact(c).is_some_and(|e| {
            e.row_grid.0 *= 1.5;
            true
        })
    }),
    ("claim ", |c| {
        exact(c).is_some_and(|e| {
            e.setting.lipschitz.0 = 0.0;
            true
        })
    }),
    ("noise", |c| {
        c.noise.generator = "chacha20-user-seed".to_owned();
        true
    }),
    ("noise", |c| {
        c.noise.sampler = "continuous-float64".to_owned();
        true
    }),
    ("noise", |c| c.noise.grid.as_mut().map(|grid| grid.0 /= 2.0).is_some()),
    ("constants", |c| !c.constants.remove(0).name.is_empty()),
    ("constants", |c| twice(c, "lambda")),
    ("constants", |c| {
        listed(c, "max-group").is_some_and(|group| {
            group.value.push('0');
            true
        })
    }),
    ("assumptions", |c| unassume(c, "rows")),
    ("assumptions", |c| unassume(c, "randomness")),
    ("assumptions", |c| unassume(c, "group")),
    ("assumptions", |c| unassume(c, "stored-rows")),
    ("assumptions", |c| {
        c.claims.iter().any(|claim| claim.adjacency == Some(Adjacency::Replace))
            && unassume(c, "row-count")
    }),
    ("assumptions", |c| {
        c.claims.retain(|claim| claim.adjacency.is_none());
        if let Some(n) = listed(c, "n") {
            n.origin = Origin::Data;
        }
        listed(c, "n").is_some() && !c.claims.is_empty() && unassume(c, "row-count")
    }),
    ("assumptions", |c| {
        c.constants.push(Constant { origin: Origin::Data, ..constant("classes", "a,b".into()) });
        true
    }),
    ("assumptions", |c| {
        c.constants.push(Constant { origin: Origin::Data, ..constant("schema", "00".into()) });
        true
    }),
    ("assumptions", |c| {
        c.constants.retain(|constant| constant.name != "target-range");
        c.constants
            .push(Constant { origin: Origin::Data, ..constant("target-range", "0,1".into()) });
        unassume(c, "target-range");
        true
    }),
    ("consistency", |c| {
        c.model.version += 1;
        true
    }),
    ("consistency", |c| {
        c.chain.index = if c.chain.index == 0 { 1 } else { 0 };
        true
    }),
    ("consistency", |c| {
        let first = c.chain.previous == GENESIS;
        c.chain.previous = if first { "ab".repeat(32) } else { GENESIS.to_owned() };
        true
    }),
    ("consistency", |c| {
        let first = c.request.kind == RequestKind::Train;
        c.request.kind = if first { RequestKind::Add } else { RequestKind::Train };
        true
    }),
    ("consistency", |c| {
        let first = c.model.digest_before.is_none();
        c.model.digest_before = first.then(|| "11".repeat(32));
        true
    }),
    // Requests that the event does not show.
    ("consistency", |c| {
        phases_vec(c).is_some_and(|phases| {
            phases.clear();
            true
        })
    }),
    ("consistency", |c| {
        c.request.records = Some(0);
        !matches!(c.request.kind, RequestKind::Train | RequestKind::Refresh)
    }),
    ("consistency", |c| {
        c.request.records = None;
        match core(&mut c.event) {
            Event::Descent(_) | Event::DistributedDescent(_) => true,
            Event::NoisyGd(event) => event.replaced.is_some(),
            Event::OutputNoise(event) => event.records.is_some(),
            _ => false,
        }
    }),
    // What passes for a refresh starts a new count of releases.
    ("consistency", |c| {
        let changes = !matches!(c.request.kind, RequestKind::Train | RequestKind::Refresh);
        c.request.kind = RequestKind::Refresh;
        changes && c.event.state() == State::Secret
    }),
    ("consistency", |c| {
        (c.request.kind, c.request.records) = (RequestKind::Refresh, Some(0));
        c.chain.index > 0 && c.event.state() == State::Perfect
    }),
    ("consistency", |c| {
        (c.request.kind, c.request.records) = (RequestKind::Refresh, Some(0));
        let secret = c.chain.index > 0 && c.event.state() == State::Secret;
        secret && phases_of(c).is_some_and(|phases| phases.len() > 1)
    }),
    ("consistency", |c| ask(c, RequestKind::Delete, |before| before.only_then + 1)),
    ("consistency", |c| ask(c, RequestKind::Add, |before| before.only_now + 1)),
    ("consistency", |c| {
        ask(c, RequestKind::Update, |before| before.only_then.min(before.only_now) + 1)
    }),
    ("consistency", |c| {
        c.request.kind = RequestKind::Delete;
        c.request.records = None;
        before(c).is_some_and(|before| {
            before.only_then = 0;
            true
        })
    }),
    ("consistency", |c| {
        let single = phases_of(c).is_some_and(|phases| phases.len() == 1);
        c.request.kind = RequestKind::Add;
        c.request.records = Some(1);
        single && c.chain.index > 0
    }),
    ("consistency", |c| {
        if !ask(c, RequestKind::Add, |before| before.only_now) {
            return false;
        }
        let Event::NoisyGd(event) = core(&mut c.event) else { return false };
        event.replaced.as_mut().and_then(|list| list.last_mut()).is_some_and(|last| {
            *last = 0;
            true
        })
    }),
    ("consistency", |c| {
        let Event::Composed(event) = &c.event else { return false };
        let Some(removed) = event.removed else { return false };
        c.request.kind = RequestKind::Delete;
        c.request.records = Some(removed + 1);
        c.chain.index > 0
    }),
    ("consistency", |c| {
        let normalizer = c.event.setting().map(|setting| setting.normalizer);
        let mean = matches!(normalizer, Some(Normalizer::Mean { .. }));
        let Some([.., before, _]) = phases_of(c) else { return false };
        let Some(records) = &mut before.records else { return false };
        *records += 1;
        mean && before.releases == 1
    }),
    // Deleted in all fewer than one phase saw.
    ("claim ", |c| {
        let Event::Composed(event) = &mut c.event else { return false };
        let phases = match &mut *event.inner {
            Event::NoisyGd(inner) => &mut inner.phases,
            Event::Descent(inner) => &mut inner.phases,
            _ => return false,
        };
        let [.., before, _] = &mut phases[..] else { return false };
        let Some(removed) = event.removed else { return false };
        before.only_then = removed + 1;
        true
    }),
    // Choices that are said to follow from the data.
    ("assumptions", |c| from_data(c, "lambda") && !chooses_lambda(c)),
    ("assumptions", |c| from_data(c, "max-group")),
    ("assumptions", |c| from_data(c, "radius")),
    ("assumptions", |c| from_data(c, "given")),
    ("assumptions", |c| from_data(c, "given-group")),
    ("assumptions", |c| from_data(c, "start")),
    ("assumptions", |c| unassume(c, "start")),
    // Numbers at which formulas lose their digits.
    ("claim ", |c| tiny(c, |event| event.radius.as_mut())),
    ("claim ", |c| tiny(c, |event| Some(&mut event.step))),
    ("scope", |c| {
        c.scope.covers.push("every copy there is".to_owned());
        true
    }),
    ("scope", |c| {
        let limits = &mut c.scope.does_not_cover;
        let position = c.chain.index as usize % limits.len();
        !limits.remove(position).is_empty()
    }),
    ("claims", |c| {
        c.claims.clear();
        true
    }),
    // Deletion-privacy where nothing is deleted.
    ("claim ", |c| {
        c.request.kind = RequestKind::Add;
        claims_of(c, Notion::DeletionPrivacy)
    }),
    ("claim ", |c| {
        c.request.kind = RequestKind::Refresh;
        claims_of(c, Notion::DeletionPrivacy)
    }),
    // More releases seen than the claim counts.
    ("claim ", |c| {
        let most = c.event.releases();
        c.claims.iter_mut().any(|claim| {
            let adaptive = matches!(claim.requests, Requests::PAdaptive(_)) && most > 1;
            if adaptive {
                claim.requests = Requests::PAdaptive(most - 2);
                claim.words = in_words(claim);
            }
            adaptive
        })
    }),
    // A delta that is not the constant listed.
    ("claim ", |c| {
        c.constants.retain(|constant| constant.name != "delta");
        c.claims.iter().any(|claim| claim.delta.is_some())
    }),
    ("claim ", |c| c.claims.iter().any(|claim| claim.delta.is_some()) && twice(c, "delta")),
    ("claim ", |c| {
        listed(c, "delta").unwrap().value = "0.123".to_owned();
        c.claims.iter().any(|claim| claim.delta.is_some())
    }),
    // Another spelling of the same number.
    ("claim ", |c| {
        listed(c, "delta").unwrap().value.insert(0, '0');
        c.claims.iter().any(|claim| claim.delta.is_some())
    }),
    ("objective", |c| {
        listed(c, "row-norm").is_some_and(|norm| {
            norm.value.push_str("e0");
            true
        })
    }),
    // Histories of descent-to-delete that contradict themselves.
    ("claim ", |c| descent(c, |event| event.updates += 1 << 20)),
    ("claim ", |c| descent(c, |event| event.updates = event.releases.saturating_sub(2)) && late(c)),
    ("claim ", |c| descent(c, |event| event.phases[0].releases = 2)),
    // The steps of one request lent to another; more records touched than steps were made for.
    ("claim ", |c| {
        let Event::Descent(event) = core(&mut c.event) else { return false };
        let [_, .., before, last] = &mut event.phases[..] else { return false };
        last.steps -= 1;
        before.steps += 1;
        event.longest = event.longest.max(before.steps);
        event.phases.len() > 2 && event.iterations > 1
    }),
    ("claim ", |c| {
        let Event::Descent(event) = core(&mut c.event) else { return false };
        let [.., before, _] = &mut event.phases[..] else { return false };
        before.only_then += 2 * event.setting.group;
        before.records = before.records.map(|records| records + 2 * event.setting.group);
        true
    }),
    ("claim ", |c| descent(c, |event| event.longest = event.phases[0].steps - 1)),
    ("claim ", |c| descent(c, |event| event.xi = event.xi.xor(Some(Decimal(1.0))))),
    ("claim ", |c| descent(c, |event| event.tail = Some(Decimal(1.5)))),
    ("claim ", |c| descent(c, |event| event.joint_releases = 0)),
    // Constants from the data, and counts, where the row count is private.
    ("claim ", |c| {
        c.constants.push(Constant { origin: Origin::Data, ..constant("steps-hint", "1".into()) });
        assume(c, "row-count", "said", Evidence::Assumed);
        removes(c)
    }),
    ("claim ", |c| {
        c.request.records = Some(3);
        removes(c)
    }),
    ("claim ", |c| {
        let private = removes(c);
        match &mut c.event {
            Event::OutputNoise(e) => {
                e.records = Some(match e.setting.normalizer {
                    Normalizer::Fixed { n, .. } => n,
                    Normalizer::Mean { minimum } => minimum,
                });
                private
            }
            _ => false,
        }
    }),
    ("claim ", |c| {
        let private = removes(c);
        match &mut c.event {
            Event::NoisyGd(e) => {
                e.phases[0].records = Some(1);
                private
            }
            _ => false,
        }
    }),
    ("claim ", |c| {
        removes(c)
            && fixed(c).is_some_and(|event| {
                event.phases[0].only_then = 3;
                true
            })
    }),
    ("claim ", |c| {
        removes(c)
            && fixed(c).is_some_and(|event| {
                event.phases[0].only_now -= 1;
                true
            })
    }),
    // Under `mean` the row count is public.
    ("claim ", |c| {
        let private = removes(c);
        let Event::NoisyGd(event) = &mut c.event else { return false };
        event.setting.normalizer = Normalizer::Mean { minimum: 1000 };
        c.constants.push(constant("minimum", "1000".to_owned()));
        claim_anew(c);
        private
    }),
    // Steps that follow the request.
    ("claim ", |c| fixed(c).is_some() && twice(c, "removal-steps")),
    ("claim ", |c| {
        c.constants.retain(|constant| constant.name != "removal-steps");
        fixed(c).is_some()
    }),
    ("claim ", |c| {
        listed(c, "removal-steps").is_some_and(|steps| {
            steps.value.push('0');
            true
        }) && fixed(c).is_some()
    }),
    ("claim ", |c| {
        let changed = fixed(c).is_some_and(|event| {
            let phase = event.phases.last_mut().unwrap();
            phase.steps += 1;
            event.longest = event.longest.max(phase.steps);
            true
        });
        claim_anew(c);
        changed
    }),
    // What follows from the event, in fields and in words.
    ("claim ", |c| {
        let claim = c.claims.iter_mut().find(|claim| claim.requests == Requests::NonAdaptive);
        claim.is_some_and(|claim| {
            claim.requests = Requests::Any;
            claim.words = in_words(claim);
            true
        })
    }),
    ("claim ", |c| {
        let claim = c.claims.iter_mut().find(|claim| claim.requests == Requests::NonAdaptive);
        claim.is_some_and(|claim| {
            claim.words =
                claim.words.replace("for requests chosen without looking at releases, ", "");
            true
        })
    }),
    ("claim ", |c| {
        c.claims[0].reference.push_str(", nearly");
        true
    }),
];

pub(super) fn core(event: &mut Event) -> &mut Event {
    match event {
        Event::Composed(event) => core(&mut event.inner),
        other => other,
    }
}

fn phases_of(c: &mut Certificate) -> Option<&mut [Phase]> {
    phases_vec(c).map(Vec::as_mut_slice)
}

fn phases_vec(c: &mut Certificate) -> Option<&mut Vec<Phase>> {
    match core(&mut c.event) {
        Event::NoisyGd(event) => Some(&mut event.phases),
        Event::Descent(event) => Some(&mut event.phases),
        _ => None,
    }
}

/// The phase before the request.
fn before(c: &mut Certificate) -> Option<&mut Phase> {
    match phases_of(c) {
        Some([.., before, _]) => Some(before),
        _ => None,
    }
}

/// Another request, of a number of records that follows from the phase before it.
fn ask(c: &mut Certificate, kind: RequestKind, records: fn(&Phase) -> u64) -> bool {
    let Some(records) = before(c).map(|before| records(before)) else { return false };
    c.request.kind = kind;
    c.request.records = Some(records);
    c.chain.index > 0
}

fn from_data(c: &mut Certificate, name: &str) -> bool {
    for more in ["row-count", "start"] {
        assume(c, more, "said", Evidence::Declared);
    }
    listed(c, name).is_some_and(|constant| {
        constant.origin = Origin::Data;
        true
    })
}

fn chooses_lambda(c: &mut Certificate) -> bool {
    matches!(core(&mut c.event), Event::Descent(event) if event.variant.chooses_lambda())
}

/// Makes a number of noisy gradient descent too small.
fn tiny(c: &mut Certificate, number: fn(&mut NoisyGd) -> Option<&mut Decimal>) -> bool {
    let Event::NoisyGd(event) = core(&mut c.event) else { return false };
    number(event).is_some_and(|number| {
        *number = Decimal(1e-101);
        true
    })
}

/// Changes an event of descent-to-delete, if it is one.
fn descent(c: &mut Certificate, change: fn(&mut Descent)) -> bool {
    let Event::Descent(event) = core(&mut c.event) else { return false };
    change(event);
    true
}

/// Whether descent-to-delete served two requests since learning.
fn late(c: &Certificate) -> bool {
    matches!(c.event.core(), Event::Descent(event) if event.phases.len() > 2
        && event.releases == event.phases.iter().map(|phase| phase.releases).sum::<u64>())
}
