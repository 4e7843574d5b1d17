//! What must go on from one certificate of a network to the next.

use efface_privacy::certificate::{Request, RequestKind};
use efface_privacy::event::{DpSgd, Unit};

use crate::error::ensure;

/// A training anew counts all steps before, as every refresh is one and an addition may be; any other
/// request keeps the steps there were, takes back no deletion, and what it deletes may have been in each of
/// them.
pub(super) fn goes_on(request: &Request, now: &DpSgd, then: &DpSgd) -> Result<(), String> {
    let before = then.earlier_steps.saturating_add(then.steps());
    let adds = matches!(request.kind, RequestKind::Add | RequestKind::Update);
    if request.kind == RequestKind::Refresh || adds && now.earlier_steps == before {
        if now.earlier_steps != before {
            return Err(format!(
                "it counts {} earlier steps, but {before} were made",
                now.earlier_steps
            ));
        }
        let anew = now.segments.len() == 1 && now.deleted() == 0;
        return ensure(anew, "a training anew has one segment, and nobody deleted since");
    }
    let same = now.earlier_steps == then.earlier_steps;
    ensure(same, "its earlier steps are not those of the previous one")?;
    let pairs = || now.segments.iter().zip(&then.segments);
    let go_on = now.segments.len() >= then.segments.len()
        && pairs().all(|(now, then)| now.steps == then.steps);
    ensure(go_on, "its segments do not continue the previous ones")?;
    let counted = pairs().all(|(now, then)| now.deleted >= then.deleted);
    ensure(counted, "its segments count fewer deleted units than the previous ones")?;
    let removes = matches!(request.kind, RequestKind::Delete | RequestKind::Update);
    let records = request.records.unwrap_or(1);
    let least = match now.unit {
        _ if !removes => 0,
        Unit::Record => records,
        Unit::Subject => records.div_ceil(now.rows_per_unit.max(1)),
    };
    // Nobody knows which segments it was in.
    let added = pairs().map(|(now, then)| now.deleted - then.deleted).min().unwrap_or(0);
    if added < least {
        return Err(format!("it deleted at least {least} units, but counts {added} more"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use efface_privacy::event::Segment;
    use efface_privacy::quantity::Decimal;

    fn event(segments: &[(u64, u64)], earlier_steps: u64) -> DpSgd {
        let segment = |&(steps, deleted)| Segment { steps, deleted };
        DpSgd {
            parameters: 10,
            unit: Unit::Subject,
            rows_per_unit: 4,
            clip: Decimal(1.0),
            noise: Decimal(2.0),
            grid: Decimal(1e-9),
            rate: Decimal(0.1),
            group: 1,
            releases: 1,
            segments: segments.iter().map(segment).collect(),
            earlier_steps,
        }
    }

    fn request(kind: RequestKind, records: u64) -> Request {
        Request {
            id: "r".to_owned(),
            kind,
            records: Some(records),
            subjects: None,
            received_at: String::new(),
        }
    }

    #[test]
    fn steps_and_deletions_add_up() {
        let then = event(&[(100, 2), (50, 1)], 30);
        let delete = request(RequestKind::Delete, 5);
        goes_on(&delete, &event(&[(100, 4), (50, 3)], 30), &then).unwrap();
        goes_on(&delete, &event(&[(100, 4), (50, 3), (20, 0)], 30), &then).unwrap();
        for (segments, earlier, why) in [
            // Five records are of two subjects at least.
            (&[(100, 3), (50, 2)][..], 30, "at least 2 units"),
            (&[(100, 2), (50, 3)], 30, "at least 2 units"),
            (&[(100, 1), (50, 3)], 30, "fewer deleted units"),
            (&[(100, 4)], 30, "do not continue"),
            (&[(99, 4), (50, 3)], 30, "do not continue"),
            (&[(100, 4), (50, 3)], 29, "earlier steps"),
        ] {
            let refused = goes_on(&delete, &event(segments, earlier), &then).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
        let add = request(RequestKind::Add, 5);
        goes_on(&add, &event(&[(100, 2), (50, 1), (9, 0)], 30), &then).unwrap();
        goes_on(&add, &event(&[(100, 0)], 180), &then).unwrap();
        goes_on(&add, &event(&[(100, 1)], 180), &then).unwrap_err();
        goes_on(&delete, &event(&[(100, 5)], 180), &then).unwrap_err();
    }

    #[test]
    fn a_refresh_counts_all_steps_before_it() {
        let then = event(&[(100, 2), (50, 1)], 30);
        let refresh = request(RequestKind::Refresh, 0);
        goes_on(&refresh, &event(&[(100, 0)], 180), &then).unwrap();
        let refused = goes_on(&refresh, &event(&[(100, 0)], 30), &then).unwrap_err();
        assert!(refused.contains("but 180 were made"), "{refused}");
    }
}
