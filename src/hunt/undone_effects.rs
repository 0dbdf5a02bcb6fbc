//! Effects of found commits that are gone at later commits. One effect may be gone while the others
//! last, so each is known by itself. Pure.

use crate::evaluation::{CommitId, Culprit, Metric, Target};

/// A later commit at which effects of a found commit are gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UndoneEffects {
    pub(crate) found: CommitId,
    /// The later commit.
    pub(crate) at: CommitId,
    /// The metrics of these effects; empty if the found commit is known by its failure alone.
    pub(crate) metrics: Vec<Metric>,
    /// Whether the found commit has other effects.
    pub(crate) is_in_part: bool,
}

impl UndoneEffects {
    /// Whether one of these targets shows that the effects are gone.
    pub(crate) fn is_shown_by(&self, targets: &[Target]) -> bool {
        let is_own = |target: &Target| {
            target.guard().is_some_and(|target| self.metrics.contains(&target.guard.metric))
        };
        self.metrics.is_empty() || targets.iter().any(is_own)
    }
}

/// A found commit with only the effects that are not known to be gone later. `None` if none is
/// left.
pub(crate) fn with_lasting_effects(culprit: &Culprit, undone: &[UndoneEffects]) -> Option<Culprit> {
    let is_own = |one: &&UndoneEffects| one.found == culprit.info.commit;
    let mut lasting = culprit.clone();
    for gone in undone.iter().filter(is_own) {
        lasting.effects.retain(|effect| !gone.metrics.contains(&effect.metric));
        if lasting.effects.is_empty() {
            return None;
        }
    }
    Some(lasting)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Effect, GuardForm};
    use crate::oracle::fixture::{self, commit, effect, target, unchanged};

    fn gone(found: char, metrics: &[&str]) -> UndoneEffects {
        let metrics = metrics.iter().map(|name| Metric::of(name)).collect();
        UndoneEffects { found: commit(found), at: commit('8'), metrics, is_in_part: true }
    }

    #[test]
    fn the_other_effects_of_a_commit_last() {
        let launch = Effect { metric: Metric::of("launch"), ..effect(0.0, 1.0, 0.0) };
        let culprit =
            Culprit { effects: vec![launch, effect(6.0, 7.0, 0.1)], ..fixture::culprit('5', '4') };
        let left = |undone: &[UndoneEffects]| -> Vec<String> {
            let lasting = with_lasting_effects(&culprit, undone);
            let effects = lasting.into_iter().flat_map(|lasting| lasting.effects);
            effects.map(|effect| effect.metric.to_string()).collect()
        };
        assert_eq!(left(&[]), ["launch", "ppl"]);
        assert_eq!(left(&[gone('5', &["launch"])]), ["ppl"]);
        assert_eq!(left(&[gone('6', &["launch"])]), ["launch", "ppl"]);
        assert!(left(&[gone('5', &["launch"]), gone('5', &["ppl"])]).is_empty());
    }

    #[test]
    fn a_failure_is_gone_as_a_whole() {
        let failing = fixture::culprit('5', '4');
        assert!(with_lasting_effects(&failing, &[]).is_some());
        assert!(with_lasting_effects(&failing, &[gone('5', &[])]).is_none());
    }

    #[test]
    fn only_targets_of_the_gone_effects_show_that() {
        let ppl = [Target::Guard(target(GuardForm::MaxIncrease(0.1), 6.0, 7.0))];
        let launch = [Target::Guard(unchanged("384", "128"))];
        assert!(gone('5', &["ppl"]).is_shown_by(&ppl) && gone('5', &[]).is_shown_by(&ppl));
        assert!(!gone('5', &["ppl"]).is_shown_by(&launch));
    }
}
