//! A plan as a page: the table, what each choice claims, what is refused, and what to do.

use efface_page::number::{bound, counted, duration, near};
use efface_page::{Item, Page, Section, Table, words};
use efface_privacy::claim::{Claim, Notion};
use efface_privacy::quantity::Decimal;

use crate::plan::{NoisySteps, Schedule};
use crate::planner::{Advice, Choice, Count, Lasts, Refusal, TimeOrigin};

/// From this epsilon on differential privacy is called weak.
const WEAK: f64 = 10.0;

impl Advice {
    /// The plan as a page.
    #[must_use]
    pub fn page(&self) -> Page {
        let rate = self.workload.deletions_per_month;
        let baseline = &self.baseline;
        let head = [
            ">",
            "choice",
            "state",
            ">sigma",
            ">passes, at most",
            ">a request",
            ">a month",
            ">risk",
            ">epsilon",
        ];
        let mut table = Table::new("", &head);
        for choice in self.choices.iter().filter(|choice| !choice.beyond) {
            table.row([
                choice.rank.to_string(),
                choice.name.clone(),
                words::state(choice.fixed.state).to_owned(),
                noise(choice),
                passes(&choice.request),
                duration(choice.month_seconds / rate),
                duration(choice.month_seconds),
                choice.excess_risk.map_or("unknown".to_owned(), |x| risk(x, choice.accurate)),
                epsilon(choice),
            ]);
        }
        table.row([
            "-".to_owned(),
            baseline.name.clone(),
            String::new(),
            "none".to_owned(),
            passes(&baseline.request),
            duration(baseline.month_seconds / rate),
            duration(baseline.month_seconds),
            risk(baseline.excess_risk, true),
            "none".to_owned(),
        ]);
        let ranking =
            format!("ranking: {}; `!` marks an excess risk above the limit", self.ranking);
        let none = format!("claims {}", baseline.claims);
        Page::new("")
            .of("Plan")
            .with(self.about())
            .with(Section::new("").table(table).text(ranking))
            .with(self.beyond())
            .with_all(self.choices.iter().map(details))
            .with(Section::new(&baseline.name).folded().list([none]))
            .with(Section::new("refused").list(self.refusals()))
            .with(Section::new("advice").list(&self.advice))
    }

    /// Why choices are refused, those of one reason together.
    fn refusals(&self) -> Vec<Item> {
        let mut groups: Vec<(Vec<&str>, &Refusal)> = Vec::new();
        for refusal in &self.refused {
            let same = |(_, other): &&mut (Vec<&str>, &Refusal)| {
                other.reason == refusal.reason && other.hint == refusal.hint
            };
            match groups.iter_mut().find(same) {
                Some((names, _)) => names.push(&refusal.name),
                None => groups.push((vec![&refusal.name], refusal)),
            }
        }
        groups.into_iter().map(|(names, refusal)| refused(&names, refusal)).collect()
    }

    /// What learns by a network or from random features: what it costs, and no accuracy.
    fn beyond(&self) -> Section {
        let head = [
            ">",
            "choice",
            ">training",
            ">a deletion",
            "deletions in advance",
            ">a month",
            ">sigma",
            ">epsilon, up to",
        ];
        let mut table = Table::new("beyond linear models; no accuracy is predicted", &head);
        for choice in self.choices.iter().filter(|choice| choice.beyond) {
            let advance = match choice.lasts {
                Lasts::Until { requests, .. } => counted(requests, "request"),
                Lasts::Always | Lasts::AtLeast { .. } => "any number".to_owned(),
            };
            table.row([
                choice.rank.to_string(),
                choice.name.clone(),
                duration(choice.training_seconds()),
                match choice.request_seconds() {
                    0.0 => "nothing".to_owned(),
                    seconds => duration(seconds),
                },
                advance,
                duration(choice.month_seconds),
                noise(choice),
                // This epsilon is for all deletions together.
                match &choice.fixed.schedule {
                    Schedule::Sampled(_) => bound(choice.fixed.target.epsilon.0),
                    _ => epsilon(choice),
                },
            ]);
        }
        Section::new("").table(table)
    }

    /// The target that was asked for, in words; none without a choice.
    #[must_use]
    pub fn target(&self) -> Option<String> {
        // The target of a choice that does not go beyond it.
        let asked = |choice: &&Choice| choice.fixed.target.notion != Notion::ExactRemoval;
        let choice = self.choices.iter().find(asked).or(self.choices.first())?;
        let target = choice.fixed.target;
        let (delta, order, _) = target.question().parameters();
        let epsilon = words::epsilon(target.epsilon.0, delta.map(Decimal), order.map(Decimal));
        Some(format!("{}, {epsilon}", target.notion.name()))
    }

    /// What the plan is for.
    pub(super) fn about(&self) -> Section {
        let sizes = &self.sizes;
        let from = if sizes.from_data { "read off the data" } else { "as given" };
        let classes = match sizes.classes {
            0 => "regression".to_owned(),
            classes => format!("{classes} classes"),
        };
        let stored = sizes
            .entries
            .map_or_else(String::new, |entries| format!(" ({entries:.1} stored a row)"));
        let time = match self.pass.origin {
            TimeOrigin::Given => "as given".to_owned(),
            TimeOrigin::Counted => "counted".to_owned(),
            TimeOrigin::Measured { rows } => {
                format!("measured here on {}", counted(rows, "synthetic row"))
            }
        };
        let groups = match &self.workload.groups[..] {
            [one] => counted(*one, "record"),
            several => {
                let sizes: Vec<String> = several.iter().map(u64::to_string).collect();
                format!("{} records in turns", sizes.join(", "))
            }
        };
        let (records, features) =
            (counted(sizes.records, "record"), counted(sizes.features, "feature"));
        let rate = self.workload.deletions_per_month;
        let allowed = near(self.excess_risk_allowed, 2);
        let mut facts = vec![
            ("data", format!("{records}, {features}{stored}, {classes}: {from}")),
            (
                "workload",
                format!(
                    "{rate} {} a month, of {groups}",
                    if rate == 1.0 { "request" } else { "requests" }
                ),
            ),
            ("a pass", format!("{}, {time}", duration(self.pass.ms / 1000.0))),
        ];
        facts.extend(
            self.target().map(|target| ("target", format!("{target}; excess risk {allowed}"))),
        );
        Section::new("").facts(facts)
    }
}

impl Lasts {
    /// How many requests it serves, in words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Always => "unlimited requests".to_owned(),
            Self::AtLeast { requests } => format!("simulated {requests} requests, all served"),
            Self::Until { requests, months, refresh } => format!(
                "{requests} requests ({months:.1} months) until {}",
                if *refresh { "a refresh" } else { "a new model" }
            ),
        }
    }
}

/// `~21, <= 36120` for solvers, `45 exactly` for fixed schedules.
fn passes(count: &Count) -> String {
    let (usually, most) = (count.passes_usually, whole(count.passes_at_most));
    match count.exact {
        true if usually == count.passes_at_most as f64 => format!("{most} exactly"),
        true => format!("{}, <= {most}", about(usually)),
        false if usually < 9.95 => format!("~{}, <= {most}", about(usually)),
        false => format!("~{usually:.0}, <= {most}"),
    }
}

/// sigma of what a choice publishes.
fn noise(choice: &Choice) -> String {
    choice.fixed.schedule.noise().map_or("none".to_owned(), |sigma| near(sigma, 3))
}

/// The epsilon of the first claim.
fn epsilon(choice: &Choice) -> String {
    choice.claims.first().map_or("none".to_owned(), |claim| bound(claim.epsilon.0))
}

/// A count, or its leading digits if it is long.
fn whole(count: u64) -> String {
    near(count as f64, 2)
}

/// A usual number of passes: of few, decimals may matter.
fn about(passes: f64) -> String {
    match passes {
        p if p > 0.0 && p < 0.01 => "0.01".to_owned(),
        p if p < 0.995 => near(p, 2),
        p => near(p, 3),
    }
}

fn risk(value: f64, within: bool) -> String {
    format!("{}{}", near(value, 2), if within { "" } else { "!" })
}

/// What a choice does and claims.
fn details(choice: &Choice) -> Section {
    let lasts = choice.lasts.words();
    let training = format!(
        "training ~{} passes, at most {}{}{}",
        about(choice.training.passes_usually),
        whole(choice.training.passes_at_most),
        foreseen(choice),
        with_hessians(&choice.request),
    );
    let steps = match &choice.fixed.schedule {
        Schedule::Steps(NoisySteps { plan, fewest }) => {
            let each = match fewest {
                true => "the fewest a request that meet the target".to_owned(),
                false => format!("{} a request", plan.removal_steps),
            };
            let over = match choice.settings.radius {
                Some(_) => "; risk is relative to the best weights in the ball",
                None => "",
            };
            let (eta, learning) = (near(plan.step, 4), plan.learning_steps);
            format!("eta {eta}, {learning} steps of training, {each}{over}")
        }
        Schedule::Descent(plan) => {
            let each = match choice.fixed.setting.group {
                1 => "record".to_owned(),
                group => counted(group, "record"),
            };
            let from = if choice.request.exact && is_level(&choice.steps) { "" } else { "from " };
            let (learning, iterations) = (plan.learning_steps, plan.iterations);
            let eta = near(plan.step, 4);
            format!(
                "eta {eta}, {learning} steps of training, {from}{iterations} for every {each} deleted"
            )
        }
        Schedule::Sums if choice.settings.preprocess.as_deref() == Some("fitted") => {
            "exact sums over all rows, again with every request".to_owned()
        }
        Schedule::Sums => "exact sums; requests read the changed rows alone".to_owned(),
        Schedule::Output(plan) => {
            format!("stopping distance {}; {training}", near(plan.distance, 3))
        }
        Schedule::Parts(averages) => format!("{} parts; {training}", averages.plan.parts),
        Schedule::Sampled(plan) => format!(
            "network {}, {} weights; {} steps at rate {}, noise {} times the clip; enough for {}; {training}",
            plan.network,
            plan.weights,
            plan.steps,
            near(plan.rate.0, 3),
            near(plan.noise.0, 3),
            counted(plan.deletions, "deletion"),
        ),
        Schedule::Sharded(plan) => format!(
            "network {}, {} weights; {} of {}; {training}",
            plan.network,
            plan.weights,
            counted(plan.shards, "shard"),
            counted(plan.epochs, "epoch"),
        ),
    };
    let state = words::state(choice.fixed.state);
    let excess = match choice.excess_risk {
        Some(risk) if !choice.accurate => {
            format!("; predicted excess risk {} is above the limit", near(risk, 2))
        }
        _ => String::new(),
    };
    Section::new(format!("{} {}: {}", choice.rank, choice.name, choice.says))
        .folded()
        .list([format!("{state} state; {lasts}; {steps}{excess}")])
        .list(features(choice))
        .list(choice.claims.iter().map(claimed))
        .list(&choice.notes)
}

/// The random features that a choice learns from, and by which lambda.
fn features(choice: &Choice) -> Option<String> {
    let features = choice.settings.features.as_deref()?;
    let lambda = near(choice.fixed.setting.strong_convexity.0, 3);
    Some(format!("features {features}, lambda {lambda}"))
}

/// Whether all requests take as many steps.
fn is_level(steps: &[u64]) -> bool {
    steps.windows(2).all(|pair| pair[0] == pair[1])
}

/// When a memory needs its first pass.
fn foreseen(choice: &Choice) -> String {
    match choice.without_pass {
        None => String::new(),
        Some(0) => "; when a pass is needed cannot be predicted from public constants".to_owned(),
        Some(records) => format!(
            "; no pass until more than {} changed since training or a refresh",
            counted(records, "record")
        ),
    }
}

/// What a request is worth if Hessians add to its gradient passes.
fn with_hessians(request: &Count) -> String {
    if request.work_usually <= request.passes_usually {
        return String::new();
    }
    format!(
        "; including other work a request usually costs as much as {} passes",
        about(request.work_usually)
    )
}

fn claimed(claim: &Claim) -> String {
    let weak = claim.notion == Notion::DifferentialPrivacy && claim.epsilon.0 > WEAK;
    let by = match claim.accountant.name() {
        "gdp" | "exact" => String::new(),
        other => format!(" by `{other}`"),
    };
    format!(
        "claims {}{by}: {}{}, group {}, {}, {}",
        claim.notion.name(),
        words::epsilon(claim.epsilon.0, claim.delta, claim.order),
        if weak { " (weak)" } else { "" },
        claim.group,
        words::requests(claim.requests),
        counted(claim.releases, "release"),
    )
}

fn refused(names: &[&str], refusal: &Refusal) -> Item {
    let hint = refusal.hint.as_deref().map_or_else(String::new, |hint| format!("; {hint}"));
    Item::new(names.join(", "), format!("{}{hint}", refusal.reason))
}
