//! Random events and honest certificates of them.

use efface_privacy::accountant::Accountant;
use efface_privacy::certificate::{
    Assumption, Certificate, Chain, Constant, Evidence, GENESIS, ModelRef, NETWORK, Noise, Origin,
    RANDOMNESS, Request, RequestKind, SCHEMA, SHARDS, Scope, Signature, event_constants,
};
use efface_privacy::claim::{
    Claim, Notion, Question, Requests, WEIGHTS, evaluate, in_words, scope,
};
use efface_privacy::event::{
    Adjacency, Composed, Descent, DistributedDescent, Event, ExactRemoval, Given, NoisyGd,
    Normalizer, OutputNoise, Phase, Procedure, Refitted, Setting, State, Variant, What,
};
use efface_privacy::loss::{LossName, Parameter, Task};
use efface_privacy::quantity::Decimal;
use rand_chacha::ChaCha20Rng;
use rand_core::Rng;

use crate::phases::{add_up, changes_nothing, phases, touch, touched};
use crate::weights::{balanced, weight};

/// How far a dishonest number is from the honest one: well beyond the margin of 1e-9 by which each
/// stage of the accounting rounds up. An epsilon is so far off, relatively, and once more in itself:
/// margins are those of mu, of distances and of ln delta, and of a small epsilon they may be more
/// than 1e-9 of it.
const LIE: f64 = 1e-7;

/// Random numbers, and what is made of them.
pub(super) struct Draw(pub(super) ChaCha20Rng);

impl Draw {
    pub(super) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn coin(&mut self) -> bool {
        self.unit() < 0.5
    }

    /// Uniform in the exponent between 10^low and 10^high.
    pub(super) fn number(&mut self, low: f64, high: f64) -> f64 {
        10_f64.powf(low + (high - low) * self.unit())
    }

    /// A count up to `most`, small ones as likely as large ones.
    pub(super) fn count(&mut self, most: u64) -> u64 {
        (self.number(0.0, (most as f64).log10()) as u64).clamp(1, most)
    }

    fn setting(&mut self, mean: bool) -> (Setting, u64) {
        let n = 10 + self.count(10_000_000);
        let setting = Setting {
            parameters: self.count(1_000_000),
            normalizer: if mean {
                Normalizer::Mean { minimum: n }
            } else {
                Normalizer::Fixed { n, capacity: 2 * n + 200 }
            },
            lipschitz: Decimal(self.number(-1.0, 1.0)),
            smoothness: Decimal(self.number(-2.0, 1.0)),
            strong_convexity: Decimal(self.number(-8.0, 0.5)),
            group: self.count(10),
        };
        (setting, n)
    }

    pub(super) fn output_noise(&mut self, private: bool) -> Event {
        let refitted = !private && self.unit() < 0.3;
        let mean = self.coin() || refitted;
        let (setting, records) = self.setting(mean);
        let noise = self.number(-4.0, 1.0);
        let secret = self.coin() && !refitted;
        let min_frequency = crate::refitted::fewest(self.count(30), records);
        Event::OutputNoise(OutputNoise {
            setting,
            procedure: Procedure::Solve,
            distance: Decimal(noise * self.number(-7.0, 1.5)),
            noise: Decimal(noise),
            grid: Decimal(grid(noise)),
            state: if secret { State::Secret } else { State::Perfect },
            joint_releases: if secret { self.count(50) } else { 1 },
            releases: self.count(1000),
            records: (refitted || !private && self.coin()).then_some(records),
            preprocessing: refitted.then_some(Refitted { min_frequency }),
        })
    }

    pub(super) fn noisy_gd(&mut self, private: bool) -> Event {
        let mean = !private && self.coin();
        let (mut setting, records) = self.setting(mean);
        if self.unit() < 0.1 {
            setting.strong_convexity = Decimal(0.0);
        }
        let curvature = setting.smoothness.0 + setting.strong_convexity.0;
        let noise = self.number(-4.0, 0.0);
        let removal = self.count(1000);
        let most = 2 * records + 200;
        // Under `mean` a steady size: as many records gone as new.
        let steady = mean && self.coin();
        let mut phases: Vec<Phase> = (0..self.count(12))
            .map(|position| {
                let merged = position > 0 && self.unit() < 0.2;
                let releases = if merged { self.count(20) } else { 1 };
                let steps = if position == 0 { self.count(1_000_000) } else { removal * releases };
                Phase {
                    steps,
                    releases,
                    only_then: if private { most } else { self.count(100) - 1 },
                    only_now: if private { most } else { self.count(100) - 1 },
                    records: (!private).then(|| records + 100 + self.count(100)),
                }
            })
            .collect();
        touch(&mut phases);
        if steady {
            phases.iter_mut().for_each(|phase| phase.only_now = phase.only_then);
        }
        if let Some(last) = phases.last_mut() {
            (last.only_then, last.only_now) = (0, 0);
        }
        let merged = phases.iter().any(|phase| phase.releases > 1);
        let most = phases.iter().map(|p| p.only_then.max(p.only_now)).max().unwrap_or(0);
        let replaced = (!private && !merged).then(|| {
            // The last request explains the largest difference; the others are free.
            let requests = phases.len() - 1;
            (0..requests)
                .map(|request| if request + 1 == requests { most } else { self.count(50) - 1 })
                .collect()
        });
        if mean {
            add_up(&mut phases);
        }
        let mut event = NoisyGd {
            setting,
            step: Decimal(1.998 * self.unit() / curvature),
            noise: Decimal(noise),
            grid: Decimal(grid(noise)),
            rounding: Decimal(noise * self.number(-14.0, -9.0)),
            radius: self.coin().then(|| Decimal(noise * self.number(-1.0, 3.0))),
            replaced,
            longest: phases.iter().map(|phase| phase.steps).max().unwrap(),
            learning: phases[0].steps,
            releases: phases.iter().map(|phase| phase.releases).sum(),
            phases,
            batches: None,
        };
        if !mean && self.unit() < 0.4 {
            crate::batches::batches(&mut event, private, |most| self.0.next_u64() % most);
        }
        Event::NoisyGd(event)
    }

    /// The event on top of something given, sometimes.
    fn built_on(&mut self, inner: Event, private: bool) -> Event {
        if self.unit() < 0.6 {
            return inner;
        }
        let gone = phases(&inner).iter().map(|phase| phase.only_then).max().unwrap_or(0);
        let mut given = Given {
            what: if self.coin() { What::Extractor } else { What::Start },
            epsilon: None,
            delta: None,
            mu: None,
            group: self.count(20),
            training: None,
            declared: None,
        };
        if self.coin() {
            given.mu = Some(Decimal(self.number(-3.0, 0.5)));
        } else {
            given.epsilon = Some(Decimal(self.number(-3.0, 0.5)));
            given.delta = Some(Decimal(if self.coin() { 0.0 } else { self.number(-12.0, -6.0) }));
        }
        let removed = (!private).then(|| gone + self.count(20) - 1);
        Event::Composed(Composed { given, removed, inner: Box::new(inner) })
    }

    pub(super) fn exact_removal(&mut self, private: bool) -> Event {
        let mean = self.coin();
        let (mut setting, records) = self.setting(mean);
        let refitted = mean && !private && setting.parameters % 3 > 0;
        setting.lipschitz = Decimal(f64::INFINITY);
        let capacity = match setting.normalizer {
            Normalizer::Fixed { capacity, .. } => capacity,
            Normalizer::Mean { .. } => 1 << 24,
        };
        let max_weight = (setting.group % 3 == 0).then_some(setting.group);
        let most = capacity * max_weight.unwrap_or(1);
        let bits = ((62 - most.next_power_of_two().ilog2()) / 2).min(22);
        let mut part = |least: f64| {
            let bound = self.number(least, least.max(0.0) + 3.0);
            let grid = (bound.log2().ceil() - f64::from(bits)).exp2();
            (Decimal(bound), Decimal(grid))
        };
        let (row_bound, row_grid) = part(-3.0);
        // y that is scaled by the records is as large as the root of their number.
        let least = if refitted { 0.5 * (records as f64).log10() } else { 0.0 };
        let (target_bound, target_grid) = part(least);
        let releases = self.count(1000);
        let min_frequency = crate::refitted::fewest(1 + releases % 30, records);
        Event::ExactRemoval(ExactRemoval {
            setting,
            row_bound,
            row_grid,
            target_bound,
            target_grid,
            releases,
            max_weight,
            records: refitted.then_some(records),
            preprocessing: refitted.then_some(Refitted { min_frequency }),
        })
    }

    fn distributed_descent(&mut self) -> Event {
        let (setting, records) = self.setting(true);
        let noise = self.number(-4.0, 1.0);
        let sample = self.count(10_000_000);
        Event::DistributedDescent(DistributedDescent {
            setting,
            sample,
            parts: self.count(sample),
            copies: self.count(10),
            distance: Decimal(noise * self.number(-7.0, 0.5)),
            iterations: self.coin().then(|| self.count(100)),
            noise: Decimal(noise),
            grid: Decimal(grid(noise)),
            state: State::Secret,
            joint_releases: self.count(50),
            releases: self.count(1000),
            records,
        })
    }

    fn descent(&mut self, delta: f64) -> Event {
        let mean = self.coin();
        let (mut setting, records) = self.setting(mean);
        setting.strong_convexity = Decimal(self.number(-3.0, 0.5));
        let (beta, m) = (setting.smoothness.0, setting.strong_convexity.0);
        let variant = Variant::ALL[self.0.next_u64() as usize % 4];
        let best = self.coin();
        let (noise, diameter) = (self.number(-4.0, 0.0), self.number(0.0, 2.0));
        let step = (2.0 / (beta + 2.0 * m)).next_down() * if best { 1.0 } else { 0.7 };
        let phase =
            |steps, records| Phase { steps, releases: 1, only_then: 0, only_now: 0, records };
        let iterations = self.count(300);
        // Long enough for the theorems, more often than not.
        let rate = -(-step * m).ln_1p();
        let far = (diameter * m * records as f64 / setting.lipschitz.0).max(1.0).ln();
        let enough = 1 + iterations + (2.0 * far / rate).ceil() as u64;
        let learning = if self.unit() < 0.8 { enough } else { 1 + iterations };
        let now = |draw: &mut Self| mean.then(|| records + 20 + draw.count(5));
        let mut event = Descent {
            setting,
            variant,
            xi: (variant == Variant::Weak).then(|| Decimal(1.0 + 2.0 * self.unit())),
            tail: (variant == Variant::Perfect && self.coin()).then_some(Decimal(0.5 * delta)),
            iterations,
            step: Decimal(step),
            diameter: Decimal(diameter),
            noise: Decimal(noise),
            grid: Decimal(grid(noise)),
            rounding: Decimal(noise * self.number(-14.0, -9.0)),
            phases: vec![phase(learning, mean.then_some(records))],
            updates: 0,
            longest: learning,
            joint_releases: if variant == Variant::Perfect { 1 } else { 4 + self.count(50) },
            releases: 1,
        };
        for _ in 1..self.count(12) {
            let (deleted, added) = (self.count(10), self.count(3));
            let updates = event.updates + (deleted + added).div_ceil(event.setting.group);
            let Some(steps) = event.steps_between(event.updates, updates) else { break };
            for phase in &mut event.phases {
                phase.only_then += deleted;
                phase.only_now += added;
            }
            let records = now(self);
            event.phases.push(phase(steps, records));
            if mean {
                add_up(&mut event.phases);
            }
            event.updates = updates;
            event.longest = event.longest.max(steps);
            event.releases += 1;
        }
        if variant != Variant::Perfect && self.coin() {
            event.releases += self.count(20);
        }
        Event::Descent(event)
    }

    /// What a certificate may claim of an event; about the row count only where it is private.
    pub(super) fn claims(&mut self, event: &Event, delta: f64, private: bool) -> Vec<Claim> {
        let order = 1.0 + self.number(-3.0, 3.0);
        let adjacency = if private { Adjacency::Remove } else { Adjacency::Replace };
        let deletion = |requests| Question::Deletion { order, adjacency, requests };
        let seen = event.releases() + self.count(100) - 2;
        let questions = [
            Question::Indistinguishable { delta },
            Question::Renyi { order },
            deletion(Requests::NonAdaptive),
            deletion(Requests::PAdaptive(seen)),
            Question::Differential { delta, adjacency },
            Question::Exact,
        ];
        let mut claims = Vec::new();
        for question in &questions {
            for accountant in Accountant::ALL {
                claims.extend(evaluate(event, question, accountant).ok());
            }
        }
        claims
    }

    /// A certificate that holds, with at least one claim.
    pub(super) fn honest(&mut self, index: u64) -> Certificate {
        loop {
            let private = self.coin();
            let least = if self.coin() { -290.0 } else { -12.0 };
            let delta = self.number(least, -0.5);
            let event = match self.0.next_u64() % 6 {
                0 if !private => self.descent(delta),
                1 if !private => self.distributed_descent(),
                2 => self.exact_removal(private),
                0 | 1 | 3 => self.output_noise(private),
                _ => self.noisy_gd(private),
            };
            let event = self.built_on(event, private);
            let mut claims = self.claims(&event, delta, private);
            // Without a request before it only a training fits, or a refresh.
            let alone = phases(&event).len() == 1 && event.state() == State::Perfect;
            let first = alone || self.unit() < 0.2;
            if first || changes_nothing(&event) {
                claims.retain(|claim| claim.notion != Notion::DeletionPrivacy);
            }
            if !claims.is_empty() {
                let place = if first { 0 } else { index + 1 };
                return certificate(event, claims, delta, place, private);
            }
        }
    }

    /// Makes one number of one claim a little too good.
    pub(super) fn lie(&mut self, claims: &mut [Claim]) {
        let position = self.0.next_u64() as usize % claims.len();
        let claim = &mut claims[position];
        // The grid of losses adds far more than rounding.
        let grid = claim.accountant == Accountant::Pld;
        let (number, off) = match self.0.next_u64() % 3 {
            0 => (&mut claim.epsilon, LIE),
            1 if claim.mu.is_some() => (claim.mu.as_mut().unwrap(), 0.0),
            _ => (&mut claim.advantage, 0.0),
        };
        let worse = number.0 * (1.0 - if grid { 0.01 } else { LIE }) - off;
        if worse > 0.0 {
            number.0 = worse;
        }
        claim.words = in_words(claim);
    }
}

/// A power of two at most 2^-29 of the noise.
fn grid(noise: f64) -> f64 {
    (noise.log2().floor() - 30.0).exp2()
}

pub(super) fn constant(name: &str, value: String) -> Constant {
    Constant { name: name.to_owned(), value, origin: Origin::User }
}

/// A loss and rows that the event's setting allows, as long as they may be or somewhat shorter.
fn objective(event: &Event, index: u64) -> Vec<Constant> {
    let Some(setting) = event.setting() else {
        let loss = constant("loss", LossName::Softmax.name().to_owned());
        return [vec![loss], declared_as(event, LossName::Softmax)].concat();
    };
    let load = crate::batches::load(event, setting);
    let weighted = weight(event, index).is_some();
    let balanced = balanced(event, index);
    let heaviest = weight(event, index).or(balanced).unwrap_or(1.0);
    // Balanced weights are 1 on average.
    let weight = weight(event, index).unwrap_or(1.0);
    let (steepest, curved) = (setting.lipschitz.0 / heaviest, setting.smoothness.0 / load / weight);
    let mut row = match event.core() {
        Event::ExactRemoval(event) => curved.sqrt().min(event.row_bound.0),
        _ => f64::INFINITY,
    };
    let reach = (weight * load / setting.strong_convexity.0).sqrt();
    // Those whose gradients have a bound, whatever is exact.
    let steep = LossName::ALL.into_iter().filter(|loss| *loss != LossName::SquaredClasses);
    let losses: Vec<LossName> = steep.collect();
    let drawn = match balanced {
        // A loss of classes.
        Some(_) => 1 + losses.iter().position(|&l| l == LossName::Softmax).unwrap() as u64,
        None => index % (1 + losses.len() as u64),
    };
    let (loss, parameter) = match (event.core(), drawn.checked_sub(1)) {
        (Event::ExactRemoval(_), odd) => {
            let classes = balanced.is_some() || odd.is_some_and(|drawn| drawn % 2 == 1);
            (if classes { LossName::SquaredClasses } else { LossName::Squared }, None)
        }
        (Event::OutputNoise(event), None) => {
            let refitted = event.preprocessing.and(event.records);
            let y = refitted.map_or(1.0, |records| (records as f64).sqrt());
            // r (r reach + y) = G
            let most = 2.0 * steepest / (y + (y * y + 4.0 * reach * steepest).sqrt());
            row = row.min(most).min(curved.sqrt());
            (LossName::Squared, Some((Parameter::Clip, f64::INFINITY)))
        }
        (_, any) => {
            let loss = losses[any.unwrap_or(0) as usize];
            let parameter = loss.parameter().map(|parameter| match parameter {
                Parameter::Clip => (parameter, 0.75),
                Parameter::HingeWidth => (parameter, 0.3),
            });
            let bounds = loss.link_bounds(parameter.map(|(_, value)| value)).unwrap();
            row = row.min(steepest / bounds.derivative).min((curved / bounds.curvature).sqrt());
            (loss, parameter)
        }
    };
    let shorter = index % 7 >= 4;
    let row = if shorter { row * 0.6 } else { row * (1.0 - 1e-13) };
    let mut constants = vec![
        constant("loss", loss.name().to_owned()),
        constant("row-norm", Decimal(0.8 * row).to_string()),
        constant("intercept", Decimal(0.6 * row).to_string()),
    ];
    constants
        .extend(parameter.map(|(name, value)| constant(name.name(), Decimal(value).to_string())));
    // Shorter rows leave room for weights. Exact sums state theirs themselves.
    let roomy = shorter && event.preprocessing().is_none();
    if (weighted || roomy) && event.grid().is_some() {
        constants.push(constant("max-weight", Decimal(weight).to_string()));
    }
    constants.extend(crate::targets::targets(event, loss, index));
    if balanced.is_some() {
        constants.push(constant("class-weight", "balanced".to_owned()));
    }
    constants.extend(crate::features::features(event, index));
    constants.extend(declared_as(event, loss));
    constants
}

/// What declared preprocessing was declared as.
fn declared_as(event: &Event, loss: LossName) -> Vec<Constant> {
    let learnt = match loss.task() {
        Task::Regression => ("target-range", "-1,1"),
        Task::Binary | Task::Multiclass => ("classes", "no,yes"),
    };
    let listed = [("schema", "ab"), learnt].map(|(name, value)| constant(name, value.to_owned()));
    if event.preprocessing().is_some() { Vec::new() } else { listed.into() }
}

/// An assumption, in the words and on the evidence that it must have.
fn said(event: &Event, name: &str, declared: bool) -> Assumption {
    let fixed = match event {
        Event::Shards(_) => &SHARDS,
        _ => &NETWORK,
    };
    let network = matches!(event.core(), Event::DpSgd(_) | Event::Shards(_))
        || crate::trunks::vault(event).is_some();
    let mut fixed = fixed.iter().filter(|_| network).chain(&RANDOMNESS[..1]);
    match fixed.find(|(known, _, _)| *known == name) {
        Some(ground) => Assumption::from(*ground),
        None => Assumption {
            name: name.to_owned(),
            value: crate::declared::said_of(name, declared).to_owned(),
            evidence: Evidence::Declared,
        },
    }
}

pub(super) fn certificate(
    event: Event,
    claims: Vec<Claim>,
    delta: f64,
    index: u64,
    private: bool,
) -> Certificate {
    let grid = event.grid();
    let mut constants: Vec<Constant> =
        event_constants(&event).into_iter().map(|(name, value)| constant(name, value)).collect();
    crate::refitted::follow_records(&event, &mut constants);
    constants.push(constant("delta", Decimal(delta).to_string()));
    constants.extend(objective(&event, index));
    constants.extend(crate::trunks::vault(&event));
    if let Event::NoisyGd(e) = event.core() {
        let latest = e.phases.last().unwrap();
        let removal = if e.phases.len() > 1 { latest.steps / latest.releases } else { 7 };
        constants.push(constant("removal-steps", removal.to_string()));
    }
    if index.is_multiple_of(4) {
        constants.push(constant("start", "00".to_owned()));
    }
    let mut assumptions = crate::networks::grounds(&event);
    if grid.is_some() || crate::trunks::vault(&event).is_some() {
        assumptions.push("randomness");
    }
    if grid.is_some() || claims.iter().any(|claim| claim.adjacency.is_some()) {
        assumptions.push("group");
    }
    if matches!(event.core(), Event::ExactRemoval(_)) && event.preprocessing().is_none() {
        assumptions.push("stored-rows");
    }
    if !private {
        assumptions.push("row-count");
    }
    let declared = matches!(&event, Event::Composed(e) if e.given.declared.is_some());
    if matches!(event, Event::Composed(_)) && !declared {
        assumptions.push("given");
    }
    if event.preprocessing().is_some() {
        assumptions.push("preprocessing");
    }
    if crate::batches::of(&event).is_some() && !assumptions.contains(&"batches") {
        assumptions.push("batches");
    }
    if crate::features::features(&event, index).is_some() {
        assumptions.push("features");
    }
    let vouched = matches!(&event, Event::Composed(e) if e.given.what == What::Start);
    if index.is_multiple_of(4) && !vouched {
        assumptions.push("start");
    }
    let (covers, mut does_not_cover) = scope(&event);
    if balanced(&event, index).is_some() {
        assumptions.push("class-weight");
    }
    if constants.iter().any(|constant| constant.name == "max-weight") {
        assumptions.push("weights");
        does_not_cover.push(WEIGHTS.to_owned());
    }
    let assumptions = assumptions.into_iter().map(|name| said(&event, name, declared)).collect();
    let first = index == 0;
    let kind = match index % 3 {
        _ if first => RequestKind::Train,
        _ if phases(&event).len() == 1 => RequestKind::Refresh,
        _ if changes_nothing(&event) => RequestKind::Add,
        0 => RequestKind::Update,
        1 if !claims.iter().any(|claim| claim.notion == Notion::DeletionPrivacy) => {
            RequestKind::Add
        }
        _ => RequestKind::Delete,
    };
    Certificate {
        schema: SCHEMA.to_owned(),
        id: format!("vault/{index}"),
        vault: "vault".to_owned(),
        issued_at: "2026-01-02T03:04:05Z".to_owned(),
        not_for_release: false,
        request: Request {
            id: "escapes: \u{1f600} \u{7f} \u{2028} \" \\ \u{1}".to_owned(),
            kind,
            records: (!private || kind == RequestKind::Refresh).then(|| touched(&event, kind)),
            subjects: index.is_multiple_of(6).then(|| "cd".repeat(32)),
            received_at: "2026-01-02T03:04:05Z".to_owned(),
        },
        model: ModelRef {
            digest_before: (!first).then(|| "11".repeat(32)),
            digest_after: "00".repeat(32),
            version: event.releases(),
        },
        claims,
        event,
        constants,
        assumptions,
        noise: Noise {
            sampler: if grid.is_some() { "exact-grid" } else { "none" }.to_owned(),
            generator: if grid.is_some() { "chacha20" } else { "none" }.to_owned(),
            grid,
        },
        scope: Scope { covers, does_not_cover },
        chain: Chain {
            index,
            previous: if first { GENESIS.to_owned() } else { "ab".repeat(32) },
            hash: String::new(),
        },
        signature: Signature {
            key_id: String::new(),
            public_key: String::new(),
            value: String::new(),
        },
    }
}
