//! A plan: the table, what each choice claims, what is refused, and what to do.

use std::path::Path;

use efface::planner::{Advice, Choice, Count, Lasts, Refusal, TimeOrigin, seconds};
use efface::{Claim, Notion, Requests, Schedule, rounded_up};
use serde_json::json;

use super::{Output, counted, paragraph, to_value};
use crate::failure::Result;

/// From this epsilon on differential privacy is called weak.
const WEAK: f64 = 10.0;

impl Output {
    /// Shows a plan; `written` is the file it was written to.
    pub(crate) fn plan(&mut self, advice: &Advice, written: Option<&Path>) -> Result<()> {
        if self.is_json() {
            let mut value = to_value(advice)?;
            if let Some(object) = value.as_object_mut() {
                object.insert("plan_file".into(), json!(written));
            }
            return self.value(&value);
        }
        self.text(&in_text(advice, written))
    }
}

fn in_text(advice: &Advice, written: Option<&Path>) -> String {
    let mut lines = head(advice);
    lines.push(String::new());
    lines.push(row([
        "",
        "choice",
        "sigma",
        "found by",
        "passes, at most",
        "a request",
        "a month",
        "risk",
    ]));
    lines.extend(advice.choices.iter().map(|choice| choice_row(choice, advice)));
    let rate = advice.workload.deletions_per_month;
    let baseline = &advice.baseline;
    lines.push(row([
        "-",
        &baseline.name,
        "none",
        "",
        &passes(&baseline.request),
        &seconds(baseline.month_seconds / rate),
        &seconds(baseline.month_seconds),
        &risk(baseline.excess_risk, true),
    ]));
    lines.push(paragraph("", &format!("ranking: {}", advice.ranking)).trim_start().to_owned());
    for choice in &advice.choices {
        lines.push(String::new());
        lines.extend(details(choice));
    }
    lines.push(String::new());
    lines.push(paragraph(&baseline.name, &format!("claims {}", baseline.claims)));
    if !advice.refused.is_empty() {
        lines.push("\nrefused".into());
        lines.extend(advice.refused.iter().map(refused));
    }
    lines.push(String::new());
    lines.extend(advice.advice.iter().map(|text| paragraph("advice", text)));
    if let Some(path) = written {
        lines.push(format!("written to {}", path.display()));
    }
    lines.join("\n")
}

fn head(advice: &Advice) -> Vec<String> {
    let sizes = &advice.sizes;
    let from = if sizes.from_data { "read off the data" } else { "as given" };
    let classes = match sizes.classes {
        0 => "regression".to_owned(),
        classes => format!("{classes} classes"),
    };
    let stored =
        sizes.entries.map_or_else(String::new, |entries| format!(" ({entries:.1} stored a row)"));
    let time = match advice.pass.origin {
        TimeOrigin::Given => "as given".to_owned(),
        TimeOrigin::Measured { rows } => {
            format!("measured here on {}", counted(rows, "synthetic row"))
        }
    };
    let groups = match &advice.workload.groups[..] {
        [one] => counted(*one, "record"),
        several => {
            let sizes: Vec<String> = several.iter().map(u64::to_string).collect();
            format!("{} records in turns", sizes.join(", "))
        }
    };
    let mut lines = vec![
        format!(
            "data       {}, {}{stored}, {classes}: {from}",
            counted(sizes.records, "record"),
            counted(sizes.features, "feature"),
        ),
        format!("workload   {} requests a month, of {groups}", advice.workload.deletions_per_month,),
        format!("a pass     {}, {time}", seconds(advice.pass.ms / 1000.0)),
    ];
    // The target that was asked for, where a choice is not beyond it.
    let asked = |choice: &&Choice| choice.fixed.target.notion != Notion::ExactRemoval;
    if let Some(choice) = advice.choices.iter().find(asked).or(advice.choices.first()) {
        let target = &choice.fixed.target;
        lines.push(format!(
            "target     {}, epsilon {}{}; excess risk {:.1e}",
            target.notion.name(),
            target.epsilon,
            match target.notion {
                Notion::IndistinguishableFromRetraining | Notion::DifferentialPrivacy =>
                    format!(" at delta {:.2e}", target.delta.0),
                Notion::ExactRemoval => String::new(),
                _ => format!(" of order {}", target.order),
            },
            advice.excess_risk_allowed,
        ));
    }
    lines
}

/// One line of the table, at most 100 columns.
fn row(cells: [&str; 8]) -> String {
    let [rank, name, sigma, found, passes, request, month, risk] = cells;
    // A long name takes the room of the empty cells behind it.
    let name = if name.len() > 19 {
        format!("{name:<37}{sigma:<5}")
    } else {
        format!("{name:<19}  {sigma:>8}  {found:<15}")
    };
    format!("{rank:>2} {name:<46} {passes:>18}  {request:>9}  {month:>9}  {risk:>8}")
        .trim_end()
        .to_owned()
}

fn choice_row(choice: &Choice, advice: &Advice) -> String {
    let schedule = &choice.fixed.schedule;
    let sigma = schedule.noise().map_or("none".to_owned(), |sigma| format!("{sigma:.2e}"));
    let found = match schedule {
        Schedule::Output(plan) => format!("tau {:.2e}", plan.distance),
        Schedule::Steps { plan, .. } => format!("{} steps", plan.learning_steps),
        Schedule::Descent(plan) => format!("{} steps", plan.learning_steps),
        Schedule::Parts { plan, .. } => format!("{} parts", plan.parts),
        Schedule::Sums => "exact sums".to_owned(),
        Schedule::Perturbed(_) => String::new(),
    };
    let rate = advice.workload.deletions_per_month;
    row([
        &choice.rank.to_string(),
        &choice.name,
        &sigma,
        &found,
        &passes(&choice.request),
        &seconds(choice.month_seconds / rate),
        &seconds(choice.month_seconds),
        &risk(choice.excess_risk, choice.accurate),
    ])
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

/// A count, or its leading digits where it is long.
fn whole(count: u64) -> String {
    if count < 10_000_000 { count.to_string() } else { format!("{:.1e}", count as f64) }
}

/// A usual number of passes: of few, decimals may matter.
fn about(passes: f64) -> String {
    match passes {
        0.0 => "0".to_owned(),
        p if p < 0.01 => "0.01".to_owned(),
        p if p < 0.995 => format!("{p:.2}"),
        p if p < 999.5 && p.fract() != 0.0 => format!("{p:.1}"),
        p => whole(p.round() as u64),
    }
}

fn risk(value: f64, within: bool) -> String {
    format!("{value:.1e}{}", if within { "" } else { "!" })
}

fn details(choice: &Choice) -> Vec<String> {
    let lasts = match choice.lasts {
        Lasts::Always => "unlimited requests".to_owned(),
        Lasts::AtLeast { requests } => format!("simulated {requests} requests, all served"),
        Lasts::Until { requests, months, refresh } => format!(
            "{requests} requests ({months:.1} months) until {}",
            if refresh { "a refresh" } else { "a new model" }
        ),
    };
    let steps = match &choice.fixed.schedule {
        Schedule::Steps { plan, fewest } => {
            let (learning, step) = (plan.learning_steps, plan.step);
            let each = if *fewest {
                "the fewest a request that meet the target".to_owned()
            } else {
                format!("{} a request", plan.removal_steps)
            };
            let over = match choice.settings.radius {
                Some(_) => "; risk is relative to the best weights in the ball",
                None => "",
            };
            format!("; eta {:.3}, {learning} steps of training, {each}{over}", step)
        }
        Schedule::Descent(plan) => {
            let (learning, iterations) = (plan.learning_steps, plan.iterations);
            let each = match choice.fixed.setting.group {
                1 => "record".to_owned(),
                group => counted(group, "record"),
            };
            let from = if choice.request.exact && is_level(&choice.steps) { "" } else { "from " };
            format!(
                "; eta {:.3}, {learning} steps of training, {from}{iterations} for every {each} \
                 deleted",
                plan.step
            )
        }
        Schedule::Sums => "; requests read the changed rows alone".to_owned(),
        _ => format!(
            "; training ~{} passes, at most {}{}{}",
            about(choice.training.passes_usually),
            whole(choice.training.passes_at_most),
            foreseen(choice),
            with_hessians(&choice.request),
        ),
    };
    let state = match choice.fixed.state {
        efface::State::Perfect => "perfect",
        efface::State::Secret => "secret",
    };
    let excess = if choice.accurate {
        String::new()
    } else {
        format!("; predicted excess risk {:.1e} is above the limit", choice.excess_risk)
    };
    let title = format!("{} {}: {}", choice.rank, choice.name, choice.says);
    let mut lines = vec![paragraph(&title, &format!("{state} state; {lasts}{steps}{excess}"))];
    lines.extend(
        choice
            .claims
            .iter()
            .map(|claim| paragraph("", &claimed(claim)).trim_start_matches('\n').to_owned()),
    );
    lines
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

/// What a request is worth where Hessians add to its gradient passes.
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
    let at = match (claim.delta, claim.order) {
        (Some(delta), _) => format!(" at delta {:.2e}", delta.0),
        (None, Some(order)) => format!(" of order {order}"),
        (None, None) => String::new(),
    };
    let requests = match claim.requests {
        Requests::Any => "any requests".to_owned(),
        Requests::NonAdaptive => "non-adaptive requests".to_owned(),
        Requests::PAdaptive(p) => format!("requesters who saw {p} releases"),
    };
    let weak = claim.notion == Notion::DifferentialPrivacy && claim.epsilon.0 > WEAK;
    let by = match claim.accountant.name() {
        "gdp" | "exact" => String::new(),
        other => format!(" by `{other}`"),
    };
    format!(
        "claims {}{by}: epsilon {}{at}{}, group {}, {requests}, {}",
        claim.notion.name(),
        rounded_up(claim.epsilon.0),
        if weak { " (weak)" } else { "" },
        claim.group,
        counted(claim.releases, "release"),
    )
}

fn refused(refusal: &Refusal) -> String {
    let hint = refusal.hint.as_deref().map_or_else(String::new, |hint| format!("; {hint}"));
    paragraph(&format!("  {}", refusal.name), &format!("{}{hint}", refusal.reason))
}
