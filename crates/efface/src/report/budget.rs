//! What has been spent over time, drawn, and what can still be served.

use efface_page::figure::{Axis, Figure, Ink, Mark, Panel, Series};
use efface_page::number::{bound, counted};
use efface_page::{Section, Table};
use efface_privacy::claim::Notion;

use super::Facts;
use crate::outcome::NotionStatus;

/// With more points than this their marks would be one band.
const BAND: usize = 200;

/// Epsilon of every certificate by the model's version, finite and above 0 only.
pub(super) fn spent(facts: &Facts) -> Section {
    let section = Section::new("Budgets over time");
    let wanted = facts.target.notion;
    let of = |notion: Notion| -> Vec<(f64, f64)> {
        let points = facts.certificates.iter().filter_map(|c| {
            let claim = c.claims.iter().find(|claim| claim.notion == notion)?;
            let epsilon = claim.epsilon.0;
            (epsilon.is_finite() && epsilon > 0.0).then_some((c.model.version as f64, epsilon))
        });
        points.collect()
    };
    let mut lines = vec![(wanted.name(), Ink::BLUE, Mark::DISC, of(wanted))];
    if wanted != Notion::DifferentialPrivacy {
        let points = of(Notion::DifferentialPrivacy);
        lines.push(("differential-privacy of the rest", Ink::RED, Mark::SQUARE, points));
    }
    lines.retain(|(.., points)| !points.is_empty());
    let limit = Some(facts.target.epsilon.0).filter(|e| e.is_finite() && *e > 0.0);
    let mut spoken = String::from("Epsilon by version.");
    let mut panel = Panel::new("", Axis::whole("version of the model"), Axis::log("epsilon"));
    let versions = || lines.iter().flat_map(|(.., points)| points.iter().map(|point| point.0));
    let (first, last) =
        (versions().fold(f64::INFINITY, f64::min), versions().fold(f64::NEG_INFINITY, f64::max));
    if first > last {
        return section.text("No certificate has an epsilon above 0: there is nothing to draw.");
    }
    for (name, ink, mark, points) in lines {
        let (Some(from), Some(to)) = (points.first(), points.last()) else { continue };
        spoken += &format!(
            " {name}: {} at version {}, {} at version {}.",
            bound(from.1),
            from.0,
            bound(to.1),
            to.0
        );
        let mark = if points.len() > BAND { Mark::NONE } else { mark };
        panel = panel.with(Series::new(name, 0, points).ink(ink).mark(mark));
    }
    if let Some(limit) = limit {
        spoken += &format!(" Promised at training: {}.", bound(limit));
        // One version has no length to draw a line over.
        let room = if first == last { 0.5 } else { 0.0 };
        let line = vec![(first - room, limit), (last + room, limit)];
        let promised = Series::new("promised at training", 0, line).ink(Ink::BLACK);
        panel = panel.with(promised.mark(Mark::NONE).dashed());
    }
    let figure = Figure::new("", vec![panel]).sized(560, 300).spoken(spoken);
    section.figure(
        figure.svg(),
        "Epsilon of every certificate by the model's version; the scale is logarithmic. The \
         numbers are in the table above.",
    )
}

/// What the next request can earn.
pub(super) fn left(facts: &Facts) -> Section {
    let mut section = Section::new("What can still be served");
    if let Some(left) = facts.status.releases_left {
        let private = facts.target.notion == Notion::DifferentialPrivacy;
        let until = if private { "of those promised" } else { "before a refresh" };
        section = section.text(format!("{} left {until}.", counted(left, "release")));
    }
    if let Some((left, unit)) = facts.status.deletions_left.zip(facts.status.deletions_of) {
        section = section.text(format!("{} can still be deleted.", counted(left, unit.name())));
    }
    let table = Table::new("Each notion, for the next request", &["Notion", "Available", "Note"]);
    section.table(table.rows(NotionStatus::table(&facts.status.notions)))
}
