//! What has been spent over time, drawn, and what can still be served.

use efface_page::number::{bound, counted};
use efface_page::{Section, Table};
use efface_privacy::claim::Notion;

use super::ReportData;
use super::chart::{BLACK, Line, chart};
use crate::outcome::NotionStatus;

/// With more points than this their marks would be one band.
const BAND: usize = 200;

/// Shapes around points, as SVG writes paths.
const DISC: &str = "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z";
const SQUARE: &str = "M-4 -4h8v8h-8z";

/// Epsilon of every certificate by the model's version, finite and above 0 only.
pub(super) fn spent(data: &ReportData) -> Section {
    let section = Section::new("Budgets over time");
    let wanted = data.plan.target.notion;
    let of = |notion: Notion| -> Vec<(f64, f64)> {
        let points = data.certificates.iter().filter_map(|c| {
            let claim = c.claims.iter().find(|claim| claim.notion == notion)?;
            let epsilon = claim.epsilon.0;
            (epsilon.is_finite() && epsilon > 0.0).then_some((c.model.version as f64, epsilon))
        });
        points.collect()
    };
    let line = |name, colour, mark, points: Vec<_>| {
        let mark = if points.len() > BAND { "" } else { mark };
        Line { name, colour, dashed: false, mark, points }
    };
    let mut lines = vec![line(wanted.name(), "#0072b2", DISC, of(wanted))];
    if wanted != Notion::DifferentialPrivacy {
        let points = of(Notion::DifferentialPrivacy);
        lines.push(line("differential-privacy of the rest", "#d55e00", SQUARE, points));
    }
    lines.retain(|line| !line.points.is_empty());
    let versions = || lines.iter().flat_map(|line| line.points.iter().map(|point| point.0));
    let (first, last) =
        (versions().fold(f64::INFINITY, f64::min), versions().fold(f64::NEG_INFINITY, f64::max));
    if first > last {
        return section.text("No certificate has an epsilon above 0: there is nothing to draw.");
    }
    let mut spoken = String::from("Epsilon by version.");
    for Line { name, points, .. } in &lines {
        let (Some(from), Some(to)) = (points.first(), points.last()) else { continue };
        let ends = [from, to]
            .map(|(version, epsilon)| format!("{} at version {version}", bound(*epsilon)));
        spoken += &format!(" {name}: {}.", ends.join(", "));
    }
    let limit = data.plan.target.epsilon.0;
    if limit.is_finite() && limit > 0.0 {
        spoken += &format!(" Promised at training: {}.", bound(limit));
        // One version has no length to draw a line over.
        let room = if first == last { 0.5 } else { 0.0 };
        let points = vec![(first - room, limit), (last + room, limit)];
        let name = "promised at training";
        lines.push(Line { name, colour: BLACK, dashed: true, mark: "", points });
    }
    section.figure(
        chart(&lines, &spoken),
        "Epsilon of every certificate by the model's version; the scale is logarithmic. The \
         numbers are in the table above.",
    )
}

/// What the next request can earn.
pub(super) fn left(data: &ReportData) -> Section {
    let mut section = Section::new("What can still be served");
    if let Some(left) = data.status.releases_left {
        let private = data.plan.target.notion == Notion::DifferentialPrivacy;
        let until = if private { "of those promised" } else { "before a refresh" };
        section = section.text(format!("{} left {until}.", counted(left, "release")));
    }
    if let Some((left, unit)) = data.status.deletions_left.zip(data.status.deletions_of) {
        section = section.text(format!("{} can still be deleted.", counted(left, unit.name())));
    }
    let table = Table::new("Each notion, for the next request", &["Notion", "Available", "Note"]);
    section.table(table.rows(NotionStatus::table(&data.status.notions)))
}
