//! Verification: every number recomputed from the event alone.

use serde::Serialize;
use serde_json::Value;

use super::consistent::{MOST, consistent};
use super::elsewhere::{DECLARED, on_the_users_word};
use super::listed::{CLASS_WEIGHT, EXTRACTOR, FEATURES, is_listed, listed, weighted};
use super::objective::objective;
use super::{
    Certificate, Constant, Origin, RequestKind, Signature, TYPES, document_hash, grounds, key_id,
    read_off, signature_holds,
};
use crate::accountant::pld;
use crate::claim::{Claim, Notion, PUBLIC_MODEL, Requests, WEIGHTS, evaluate, in_words, scope};
use crate::event::{Adjacency, Event, Normalizer, What};
use crate::quantity::Decimal;

/// How one check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// The checked statement holds.
    Holds,
    /// The checked statement does not hold.
    Fails,
    /// The given material does not decide it.
    Undecided,
    /// No promise depends on it, but a reader should know.
    Notice,
}

/// One line of a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Short name of the check, such as `hash`.
    pub name: String,
    /// Whether it holds, fails or is undecided.
    pub outcome: CheckOutcome,
    /// Why it holds or not, in words.
    pub reason: String,
}

/// All checks of one certificate.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verdict {
    /// In the order they were made.
    pub checks: Vec<Check>,
}

impl Verdict {
    /// Adds a check to the report.
    pub fn push(&mut self, name: &str, outcome: CheckOutcome, reason: impl Into<String>) {
        self.checks.push(Check { name: name.to_owned(), outcome, reason: reason.into() });
    }

    /// Fails if one check fails, else undecided if one is, else holds.
    #[must_use]
    pub fn outcome(&self) -> CheckOutcome {
        let any = |s| self.checks.iter().any(|check| check.outcome == s);
        if any(CheckOutcome::Fails) {
            CheckOutcome::Fails
        } else if any(CheckOutcome::Undecided) {
            CheckOutcome::Undecided
        } else {
            CheckOutcome::Holds
        }
    }

    /// Checks the signature over the hash that an entry states, once that was [checked](Self::hashed).
    pub(super) fn signed(&mut self, stated: &Signature, hash: &str, trusted: Option<&[u8; 32]>) {
        let mut key = [0u8; 32];
        let decoded = hex::decode_to_slice(&stated.public_key, &mut key).is_ok();
        let id = &stated.key_id;
        let result = if !decoded || key_id(&key) != *id {
            Err("the key id does not match the key".into())
        } else if !signature_holds(&key, hash, &stated.value) {
            Err("the signature is not by the stated key".into())
        } else if self.outcome() == CheckOutcome::Fails {
            Err("what was signed is not this body".into())
        } else if let Some(trusted) = trusted {
            let other = || format!("signed by key {id}, not the trusted {}", key_id(trusted));
            if *trusted == key { Ok("signed by the trusted key".into()) } else { Err(other()) }
        } else {
            let reason = format!("signed by key {id}; give the key you trust to check this");
            return self.push("signature", CheckOutcome::Undecided, reason);
        };
        self.check("signature", result);
    }

    /// Checks the hash that an entry states.
    pub(super) fn hashed(&mut self, document: &Value, stated: &str) {
        let result = match document_hash(document) {
            Ok(hash) if hash == stated => Ok("the hash matches the body".into()),
            Ok(hash) => Err(format!("the body was changed: it hashes to {hash}, not {stated}")),
            Err(error) => Err(error.to_string()),
        };
        self.check("hash", result);
    }

    pub(super) fn check(&mut self, name: &str, result: Result<String, String>) {
        match result {
            Ok(reason) => self.push(name, CheckOutcome::Holds, reason),
            Err(reason) => self.push(name, CheckOutcome::Fails, reason),
        }
    }
}

/// Checks hash, signature, claims, constants and scope of a certificate's text.
///
/// `trusted` is the public key the reader trusts; without one the signature is undecided.
///
/// # Errors
/// Fails if the text is no certificate of the schema this build knows.
pub fn verify(text: &str, trusted: Option<&[u8; 32]>) -> Result<Verdict, super::ParseError> {
    let certificate = Certificate::parse(text)?;
    let document: Value = serde_json::from_str(text)?;
    let mut verdict = Verdict::default();
    verdict.hashed(&document, &certificate.chain.hash);
    verdict.signed(&certificate.signature, &certificate.chain.hash, trusted);
    release(&certificate, &mut verdict);
    verdict.check("noise", noise(&certificate));
    verdict.check("constants", constants(&certificate));
    verdict.check("objective", objective(&certificate));
    verdict.check("assumptions", assumptions(&certificate));
    verdict.check("consistency", consistent(&certificate));
    verdict.check("scope", covered(&certificate));
    if certificate.claims.is_empty() {
        verdict.push("claims", CheckOutcome::Fails, "the certificate has no claim");
    }
    for (number, claim) in certificate.claims.iter().enumerate() {
        let name = format!("claim {}: {}", number + 1, claim.notion.name());
        let result =
            origin_rule(&certificate, claim).and_then(|()| recompute(&certificate.event, claim));
        verdict.check(&name, result);
    }
    Ok(verdict)
}

fn release(certificate: &Certificate, verdict: &mut Verdict) {
    if certificate.not_for_release {
        verdict.push("release", CheckOutcome::Fails, "made with a user-given seed: for tests only");
    }
}

fn noise(certificate: &Certificate) -> Result<String, String> {
    let noise = &certificate.noise;
    let grid = certificate.event.grid();
    let seeded = if certificate.not_for_release { "chacha20-user-seed" } else { "chacha20" };
    let (sampler, generator) =
        if grid.is_some() { ("exact-grid", seeded) } else { ("none", "none") };
    if noise.sampler != sampler {
        return Err(format!("`sampler` must be `{sampler}`, got `{}`", noise.sampler));
    }
    if noise.generator != generator {
        return Err(format!("`generator` must be `{generator}`, got `{}`", noise.generator));
    }
    if noise.grid != grid {
        let shown = |grid: Option<Decimal>| grid.map_or("none".to_owned(), |g| g.to_string());
        return Err(format!(
            "the grid is {} here but {} in the event",
            shown(noise.grid),
            shown(grid)
        ));
    }
    Ok(match grid {
        Some(_) => "exact sampling on the grid of the event".into(),
        None if certificate.event.given_training().is_some() => {
            "nothing random is released but what the network's training was".into()
        }
        None if certificate.event.is_declared() => {
            "nothing random is released but what the extractor's training was, as declared".into()
        }
        None => "nothing random is released".into(),
    })
}

/// Every constant of the event must be listed, once, with the event's value.
fn constants(certificate: &Certificate) -> Result<String, String> {
    let expected = event_constants(&certificate.event);
    for (name, value) in &expected {
        let stated = listed(certificate, name)?;
        if stated != value {
            return Err(format!("`{name}` is {stated} here but {value} in the event"));
        }
    }
    Ok(format!("all {} constants of the event are listed with their origin", expected.len()))
}

/// Returns the constants an event holds, by the names certificates list them under.
#[must_use]
pub fn event_constants(event: &Event) -> Vec<(&'static str, String)> {
    let mut list = vec![
        ("parameters", event.parameters().to_string()),
        ("max-group", event.group().to_string()),
    ];
    if let Some(setting) = event.setting() {
        list.push(("lipschitz", setting.lipschitz.to_string()));
        list.push(("smoothness", setting.smoothness.to_string()));
        list.push(("lambda", setting.strong_convexity.to_string()));
        match setting.normalizer {
            Normalizer::Fixed { n, capacity } => {
                list.push(("n", n.to_string()));
                list.push(("capacity", capacity.to_string()));
            }
            Normalizer::Mean { minimum } => list.push(("minimum", minimum.to_string())),
        }
    }
    list.extend(event.account().constants());
    list
}

/// DP and deletion-privacy in the remove sense need constants that are not from the data; any
/// claim at a delta needs that delta listed.
fn origin_rule(certificate: &Certificate, claim: &Claim) -> Result<(), String> {
    let private = matches!(claim.notion, Notion::DeletionPrivacy | Notion::DifferentialPrivacy);
    let normalizer = certificate.event.setting().map(|setting| setting.normalizer);
    if private && let Some(constant) = read_off(&certificate.constants, normalizer).next() {
        return Err(format!(
            "`{}` was computed from the records, and one protected record could have changed it",
            constant.name
        ));
    }
    let typed = |c: &&Constant| TYPES.contains(&c.name.as_str()) && c.origin == Origin::Data;
    if claim.notion == Notion::ExactRemoval
        && let Some(constant) = certificate.constants.iter().find(typed)
    {
        return Err(format!("`{}` follows the records, and so does what is kept", constant.name));
    }
    let private_count = private && claim.adjacency == Some(Adjacency::Remove);
    if private_count
        && let Some(constant) = certificate.constants.iter().find(|c| c.origin == Origin::Data)
    {
        return Err(format!(
            "`{}` was computed from the data, so nothing can be claimed with a private row count",
            constant.name
        ));
    }
    let kind = certificate.request.kind;
    // A refresh that follows no model is the first release without the erased records.
    let completes = kind == RequestKind::Refresh && certificate.model.digest_before.is_none();
    let removal = completes || matches!(kind, RequestKind::Delete | RequestKind::Update);
    if claim.notion == Notion::DeletionPrivacy && !removal {
        return Err("deletion-privacy is claimed of a request that deletes nothing".into());
    }
    if private_count {
        hidden_counts(certificate)?;
    }
    if private_count || claim.notion == Notion::DeletionPrivacy {
        let listed = |name| listed(certificate, name).map(str::to_owned);
        certificate.event.account().steps_are_fixed(&listed)?;
    }
    if let Requests::PAdaptive(p) = claim.requests
        && p > MOST
    {
        return Err("`p-adaptive` is beyond 2^53".into());
    }
    if let Some(delta) = claim.delta
        && listed(certificate, "delta")? != delta.to_string()
    {
        return Err(format!("`delta` {delta} is not the constant listed"));
    }
    Ok(())
}

/// Claims about a private row count need numbers of steps that do not follow a request's size, and
/// a certificate that states no count.
fn hidden_counts(certificate: &Certificate) -> Result<(), String> {
    let request = &certificate.request;
    if request.kind != RequestKind::Refresh && request.records.is_some() {
        return Err("it states a number of records, which the claim assumes to be private".into());
    }
    if certificate.event.account().states_counts()? {
        return Err("its event states counts that the claim assumes to be private".into());
    }
    Ok(())
}

/// Names of constants that no honest plan computes from the records or their number.
const PUBLIC: [&str; 27] = [
    CLASS_WEIGHT,
    FEATURES,
    EXTRACTOR,
    "radius",
    "batches",
    "start",
    "max-group",
    "loss",
    "row-norm",
    "intercept",
    "clip",
    "hinge-width",
    "given",
    "trunk",
    "network",
    "unit",
    "rows-per-unit",
    "shards",
    "arithmetic",
    "epochs",
    "momentum",
    "optimizer",
    "beta1",
    "beta2",
    "adam-epsilon",
    "network-start",
    "network-input",
];

/// Returns whether a constant may come from the data. Lambda may if the variant chooses it. With fitted
/// preprocessing lambda may, the first labels may also tell regression from classification, and the bound on
/// rows follows the number of records if numbers are predicted.
fn may_follow_data(certificate: &Certificate, name: &str) -> bool {
    match (name, certificate.event.core()) {
        ("eta" | "batch-size", Event::Shards(_)) => false,
        ("lambda", Event::Descent(event)) => event.variant.chooses_lambda(),
        ("lambda" | "loss", event) if event.preprocessing().is_some() => true,
        ("row-norm" | "intercept", event) if event.preprocessing().is_some() => {
            listed(certificate, "loss") == Ok("squared")
        }
        ("lambda", _) => false,
        _ => !PUBLIC.contains(&name) && !name.starts_with("given-"),
    }
}

/// Returns whether the claims hold for the start of learning, as the event states it.
fn start_is_accounted(event: &Event) -> bool {
    matches!(event, Event::Composed(event) if event.given.what == What::Start)
}

/// Returns whether steps are over batches, of which an assumption says how records come into them.
fn over_batches(core: &Event) -> bool {
    matches!(core, Event::NoisyGd(event) if event.batches.is_some())
}

/// Checks that the assumptions of claims are stated.
fn assumptions(certificate: &Certificate) -> Result<String, String> {
    let forbidden =
        |c: &&Constant| c.origin == Origin::Data && !may_follow_data(certificate, &c.name);
    if let Some(constant) = certificate.constants.iter().find(forbidden) {
        return Err(format!(
            "`{}` is marked as computed from the data, but must be a choice",
            constant.name
        ));
    }
    let started = is_listed(certificate, "start");
    let counted = certificate.constants.iter().any(Constant::follows_row_count);
    let replace = certificate.claims.iter().any(|c| c.adjacency == Some(Adjacency::Replace));
    let private = certificate
        .claims
        .iter()
        .any(|c| matches!(c.notion, Notion::DeletionPrivacy | Notion::DifferentialPrivacy));
    let core = certificate.event.core();
    grounds::check(certificate)?;
    let fixed = grounds::grounds(certificate).into_iter().map(|(name, _, _)| (name, true));
    let needed = [
        ("rows", true),
        ("stored-rows", matches!(core, Event::ExactRemoval(_)) && core.preprocessing().is_none()),
        ("row-count", replace || counted),
        ("group", private || core.grid().is_some()),
        ("weights", weighted(certificate)),
        (CLASS_WEIGHT, is_listed(certificate, CLASS_WEIGHT)),
        (FEATURES, is_listed(certificate, FEATURES)),
        (EXTRACTOR, is_listed(certificate, EXTRACTOR)),
        ("preprocessing", certificate.event.preprocessing().is_some()),
        ("batches", over_batches(core)),
        ("given", matches!(certificate.event, Event::Composed(_))),
        ("start", started && !start_is_accounted(&certificate.event)),
    ];
    let declared = if certificate.event.is_declared() {
        on_the_users_word(&certificate.assumptions)?;
        &DECLARED[..]
    } else {
        &[]
    };
    let declared = declared.iter().map(|(name, _)| (*name, true));
    let read = certificate.constants.iter().filter(|constant| constant.is_read_off());
    let read = read.map(|constant| (constant.name.as_str(), true));
    for (name, needed) in needed.into_iter().chain(fixed).chain(declared).chain(read) {
        if needed && !certificate.assumptions.iter().any(|a| a.name == name) {
            return Err(format!("the assumption `{name}` is not stated"));
        }
    }
    Ok(format!("{} assumptions are stated", certificate.assumptions.len()))
}

fn recompute(event: &Event, claim: &Claim) -> Result<String, String> {
    let question = claim.question().map_err(|e| e.to_string())?;
    let fresh = evaluate(event, &question, claim.accountant).map_err(|e| e.to_string())?;
    let above = |stated: Decimal, exact: Decimal| stated.0 >= exact.0 * (1.0 - 1e-12);
    let mut pairs = vec![
        ("epsilon", claim.epsilon, fresh.epsilon),
        ("advantage", claim.advantage, fresh.advantage),
    ];
    pairs.extend(claim.mu.zip(fresh.mu).map(|(stated, exact)| ("mu", stated, exact)));
    for (name, stated, exact) in pairs {
        if !above(stated, exact) {
            return Err(format!("`{name}` is {stated}, but the event supports only {exact}"));
        }
    }
    if claim.mu.is_some() != fresh.mu.is_some() {
        return Err("`mu` must be stated if and only if the accountant has one".into());
    }
    second_bound(claim, fresh.rdp_epsilon)?;
    if claim.words != in_words(claim) {
        return Err("the sentence does not match the numbers".into());
    }
    let same = Claim {
        epsilon: claim.epsilon,
        rdp_epsilon: claim.rdp_epsilon,
        mu: claim.mu,
        advantage: claim.advantage,
        words: claim.words.clone(),
        ..fresh.clone()
    };
    if same != *claim {
        return Err("group, state, reference, releases or theorem do not match the event".into());
    }
    if fresh.epsilon.0 == f64::INFINITY {
        return Ok("epsilon is infinite: no guarantee".into());
    }
    Ok(format!("epsilon {} recomputed from the event", fresh.epsilon))
}

/// If epsilon comes from distributions of losses, the bound of Rényi divergences must be stated exactly and
/// must not contradict it.
fn second_bound(claim: &Claim, fresh: Option<Decimal>) -> Result<(), String> {
    let (stated, exact) = match (claim.rdp_epsilon, fresh) {
        (None, None) => return Ok(()),
        (Some(_), None) => {
            return Err(
                "`rdp_epsilon` is stated, but no distribution of losses is behind epsilon".into()
            );
        }
        (None, Some(_)) => {
            return Err(
                "`rdp_epsilon` is missing beside an epsilon of distributions of losses".into()
            );
        }
        (Some(stated), Some(exact)) => (stated, exact),
    };
    let same = stated == exact || (stated.0 / exact.0 - 1.0).abs() <= 1e-9;
    if !same {
        return Err(format!("`rdp_epsilon` is {stated}, but the event's is {exact}"));
    }
    if claim.epsilon.0 < f64::INFINITY && !pld::event::agrees(claim.epsilon.0, stated.0) {
        return Err(format!("`epsilon` is {}, above `rdp_epsilon`, {stated}", claim.epsilon));
    }
    Ok(())
}

fn covered(certificate: &Certificate) -> Result<String, String> {
    let (covers, mut required) = scope(&certificate.event);
    if weighted(certificate) {
        required.push(WEIGHTS.to_owned());
    }
    if !certificate.event.is_declared() && is_listed(certificate, EXTRACTOR) {
        required.extend(PUBLIC_MODEL.map(str::to_owned));
    }
    if let Some(more) = certificate.scope.covers.iter().find(|text| !covers.contains(text)) {
        return Err(format!("\"{more}\" is not covered"));
    }
    let listed = &certificate.scope.does_not_cover;
    match required.iter().find(|limit| !listed.contains(limit)) {
        Some(limit) => Err(format!("the limit \"{limit}\" is missing")),
        None => Ok(format!("{} limits are stated", listed.len())),
    }
}
