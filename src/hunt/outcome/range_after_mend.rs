//! Goes on with the search after a commit at which a found commit's step is gone.

use crate::evaluation::{GuardTarget, Target};
use crate::hunt::range::SearchRange;
use crate::oracle::Observation;

use super::account::Ledger;
use super::culprit_status::Mend;

/// Adds the mends at a commit with the older end's verdict, one for each metric that went back
/// there; returns the range to search from there. `before`: the runs of the found commit.
pub(super) fn goes_on_from(
    ledger: &mut Ledger,
    search_range: &SearchRange,
    seen: &Observation,
    before: &Observation,
) -> SearchRange {
    let by = seen.commit.clone();
    let mut mends: Vec<Mend> = Vec::new();
    let mut targets = Vec::new();
    for target in &search_range.targets {
        let Target::Guard(guarded) = target else {
            targets.push(target.clone());
            continue;
        };
        let Some(level) = seen.level(&guarded.guard.metric) else { continue };
        let mend = mend_at(ledger, search_range, guarded, [seen, before]);
        // In noise, the verdict may rest on the first metric alone.
        if mends.is_empty() || mend.amount > guarded.limit.max(0.0) / 2.0 {
            mends.push(mend);
        }
        targets.push(Target::Guard(GuardTarget { baseline: level, ..guarded.clone() }));
    }
    if mends.is_empty() {
        mends.push(Mend {
            by: by.clone(),
            before: None,
            metric: None,
            amount: f64::INFINITY,
            left: 0.0,
            limit: 0.0,
            repeats: false,
        });
    }
    // A failure has one mend, whatever the metrics beside it show.
    if search_range.targets.iter().any(|target| target.failure().is_some()) {
        mends.truncate(1);
    }
    for mend in mends {
        ledger.mended(mend);
    }
    // In a hunt for a fix the baseline is the newer end's level, so the targets stay the same.
    let keeps_targets = !search_range.explains_levels();
    let targets = if keeps_targets { search_range.targets.clone() } else { targets };
    SearchRange { older: by, targets, ..search_range.clone() }
}

/// The mend of a metric at the first of two commits; the second one is the found commit.
fn mend_at(
    ledger: &Ledger,
    search_range: &SearchRange,
    target: &GuardTarget,
    [seen, before]: [&Observation; 2],
) -> Mend {
    let metric = &target.guard.metric;
    let levels = [seen, before].map(|seen| seen.level(metric));
    let is_same = levels[0] == levels[1];
    let [here, there] = levels.map(|level| level?.number());
    // In a hunt for a fix, the levels after the mend are bad again: the rest is their distance from
    // the bad end.
    let left = if search_range.explains_levels() {
        here.and_then(|x| ledger.beyond_good(metric, x))
    } else {
        let ends = here.zip(target.bad.number());
        ends.map(|(here, bad)| target.guard.worsening(here, bad))
    };
    let amount = here.zip(there).map(|(x, y)| search_range.terms.step(&target.guard, x, y));
    let unknown = if is_same { 0.0 } else { f64::INFINITY };
    Mend {
        by: seen.commit.clone(),
        before: None,
        metric: Some(metric.clone()),
        amount: amount.filter(|x| x.is_finite()).unwrap_or(unknown),
        left: left.unwrap_or(0.0),
        limit: target.limit,
        repeats: target.noise.is_none(),
    }
}
