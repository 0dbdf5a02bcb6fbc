//! Named commits whose whole step other commits may have gained back. If the other named commits
//! explain the bad end without such a commit, its change may be undone there. A test of the bad end
//! without the commit would tell. Pure.

use crate::evaluation::{Account, CommitId, Culprit, Finding, Metric};
use crate::hunt::open_doubt::lower_confidence;

/// Lowers the confidence in these commits, if no test shows that the bad end needs them.
pub(super) fn doubt(finding: &mut Finding, is_tested: impl Fn(&CommitId) -> bool) {
    let named = &finding.culprits;
    let gained: Vec<Option<Metric>> =
        named.iter().map(|one| gained_back(&finding.accounts, named, one)).collect();
    for (culprit, gained) in finding.culprits.iter_mut().zip(gained) {
        if gained.is_some() && !is_tested(&culprit.info.commit) {
            lower_confidence(culprit);
            culprit.doubts.gained_back = gained;
        }
    }
}

/// The metric on which other named commits explain the bad end without this one, because some of
/// what all of them made worse was gained back.
fn gained_back(accounts: &[Account], named: &[Culprit], one: &Culprit) -> Option<Metric> {
    let step_of = |culprit: &Culprit, metric: &Metric| {
        let effect = culprit.effect_on(metric).filter(|_| culprit.undone_by.is_none());
        effect.and_then(|effect| effect.own_step)
    };
    let is_gained_back = |account: &&Account| {
        let mut others = named.iter().filter(|other| other.info.commit != one.info.commit);
        let left = account.rest + account.overlap.unwrap_or(0.0);
        account.is_exceeded()
            && step_of(one, &account.metric).is_some_and(|step| left + step <= account.limit)
            && others.any(|other| step_of(other, &account.metric).is_some())
    };
    accounts.iter().find(is_gained_back).map(|account| account.metric.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Outcome;
    use crate::hunt::open_doubt::MOST_CERTAIN;
    use crate::oracle::fixture::{culprit, effect};

    /// Whether commits with these steps are doubted, if the bad end is worse by `total`.
    fn doubted(steps: [f64; 2], total: f64) -> [bool; 2] {
        let named = |name, parent, step| {
            let mut one = Culprit { confidence: 0.999, ..culprit(name, parent) };
            one.effects = vec![effect(7.0, 7.0 + step, 0.1)];
            one.effects[0].own_step = Some(step);
            one
        };
        let culprits = vec![named('2', '1', steps[0]), named('6', '5', steps[1])];
        let explained: f64 = steps.iter().sum();
        let account = Account {
            metric: culprits[0].effects[0].metric.clone(),
            total,
            explained,
            rest: total - explained,
            in_small_steps: false,
            taken_back: None,
            overlap: None,
            error: None,
            limit: 0.1,
        };
        let finding = Finding::plain(Outcome::Culprit, "two commits");
        let mut finding = Finding { culprits, accounts: vec![account], ..finding };
        let mut tested = finding.clone();
        doubt(&mut tested, |_| true);
        assert_eq!(tested, finding);
        doubt(&mut finding, |_| false);
        let is_doubted = |place: usize| {
            let Culprit { confidence, doubts, .. } = &finding.culprits[place];
            assert_eq!(doubts.gained_back.is_some(), *confidence <= MOST_CERTAIN);
            doubts.gained_back.is_some()
        };
        [is_doubted(0), is_doubted(1)]
    }

    #[test]
    fn a_whole_step_that_others_gained_back_lowers_the_confidence() {
        assert_eq!(doubted([1.0, 0.9], 1.9), [false; 2]);
        // Less than either step was gained back.
        assert_eq!(doubted([1.0, 0.9], 1.3), [false; 2]);
        // As much as the smaller step, which the tolerance does not tell from the larger one.
        assert_eq!(doubted([1.0, 0.9], 0.98), [true; 2]);
        assert_eq!(doubted([1.0, 0.5], 1.0), [false, true]);
    }
}
