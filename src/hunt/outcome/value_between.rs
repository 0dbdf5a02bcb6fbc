//! Notes that a fact had a third value between the only named commit and the newer end. Later
//! commits then changed the named commit's value and brought it back, and the answer names neither
//! of them.

use crate::evaluation::{CommitId, Target, Value};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;

use super::account::Ledger;

impl Driver<'_> {
    /// Adds a note for each fact that the only commit named for it set, that the newer end shows,
    /// and that a measured commit between the two does not show. Makes no runs.
    pub(crate) fn note_values_between(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<(), HuntError> {
        if !whole.explains_levels() || !self.values_repeat(&whole.targets) {
            return Ok(());
        }
        for target in whole.targets.iter().filter_map(Target::guard) {
            let metric = &target.guard.metric;
            let moving = ledger.named().filter(|one| one.effect_on(metric).is_some());
            let moving: Vec<_> = moving.cloned().collect();
            let [culprit] = moving.as_slice() else { continue };
            let Some(effect) = culprit.effect_on(metric) else { continue };
            if !matches!(effect.commit, Value::Fact(_)) || target.bad != effect.commit {
                continue;
            }
            let found = &culprit.info.commit;
            let mut levels = Vec::new();
            for commit in self.order()? {
                let history = &self.oracle.history;
                if history.is_ancestor(found, &commit)?
                    && history.is_ancestor(&commit, &whole.newer)?
                {
                    let seen = self.known_runs(&commit, std::slice::from_ref(&metric.measure))?;
                    levels.extend(seen.level(metric).map(|level| (commit, level)));
                }
            }
            let known = [&target.baseline, &effect.parent, &effect.commit];
            if let Some((at, third)) = third_value(&levels, known) {
                ledger.note(format!(
                    "{metric} is {third} at {}: a commit after {} changed it, and a later one made \
                     it {} again",
                    at.short(),
                    found.short(),
                    effect.commit
                ));
            }
        }
        Ok(())
    }
}

/// The first fact that is none of the known ones, and its commit.
fn third_value<'l>(
    levels: &'l [(CommitId, Value)],
    known: [&Value; 3],
) -> Option<&'l (CommitId, Value)> {
    levels.iter().find(|(_, level)| matches!(level, Value::Fact(_)) && !known.contains(&level))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::commit;

    #[test]
    fn a_value_is_a_third_one_if_neither_the_ends_nor_the_step_have_it() {
        let fact = |text: &str| Value::Fact(text.to_owned());
        let levels = |texts: [&str; 3]| {
            let all = ['3', '4', '5'].into_iter().zip(texts);
            all.map(|(digit, text)| (commit(digit), fact(text))).collect::<Vec<_>>()
        };
        let [good, bad] = ["avx2", "scalar"].map(fact);
        let third = |texts| third_value(&levels(texts), [&good, &good, &bad]).cloned();
        assert_eq!(third(["scalar", "sse", "scalar"]), Some((commit('4'), fact("sse"))));
        // A mend is told elsewhere.
        assert_eq!(third(["scalar", "avx2", "scalar"]), None);
    }
}
