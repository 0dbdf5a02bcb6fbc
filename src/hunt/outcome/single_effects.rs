//! The effects of a found commit one by one: a mend may undo one of them and leave the others.
//! Pure.

use crate::evaluation::{Culprit, Metric};
use crate::hunt::confirm::effect::weight;

use super::account::Ledger;
use super::culprit_status::{CulpritStatus, FoundCommit};

impl Ledger {
    /// Lists each effect on one of these metrics as a found commit of its own, before the commit's
    /// other effects, so that it has a status of its own.
    pub(super) fn split_effects(&mut self, mended: &[Metric]) {
        for mut found in std::mem::take(&mut self.found) {
            // A failure hides the levels of all metrics.
            if found.culprit.failure.is_none() {
                for metric in mended {
                    self.found.extend(found.split_off(metric));
                }
            }
            self.found.push(found);
        }
    }

    /// Joins the effects of one commit that have the same status.
    pub(super) fn join_effects(&mut self) {
        self.join_if(|one, other| one.status == other.status && one.among == other.among);
    }

    /// Joins the named effects of each commit: the report names a commit once.
    pub(super) fn join_named(&mut self) {
        self.join_if(|one, other| one.is_named() && other.is_named());
    }

    /// Joins the entries of one commit that `is_alike` accepts. One that stands keeps its status.
    fn join_if(&mut self, is_alike: impl Fn(&FoundCommit, &FoundCommit) -> bool) {
        let mut joined: Vec<FoundCommit> = Vec::new();
        for found in std::mem::take(&mut self.found) {
            let is_same = |one: &&mut FoundCommit| {
                one.culprit.info.commit == found.culprit.info.commit && is_alike(one, &found)
            };
            match joined.iter_mut().find(is_same) {
                Some(one) => {
                    one.add_effects(&found.culprit);
                    let effects = &mut one.culprit.effects;
                    effects.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
                    if found.stands() {
                        one.status = CulpritStatus::Stands;
                    }
                    one.perhaps_mended_by =
                        one.perhaps_mended_by.take().or(found.perhaps_mended_by);
                }
                None => joined.push(found),
            }
        }
        self.found = joined;
    }
}

impl FoundCommit {
    /// Takes the effect on a metric away, as a found commit of its own. `None` if the commit has no
    /// such effect, or no other one.
    fn split_off(&mut self, metric: &Metric) -> Option<Self> {
        let (own, others) = std::mem::take(&mut self.culprit.effects)
            .into_iter()
            .partition::<Vec<_>, _>(|effect| effect.metric == *metric);
        if own.is_empty() || others.is_empty() {
            self.culprit.effects = [own, others].concat();
            return None;
        }
        self.culprit.effects = others;
        let culprit = Culprit { effects: own, ..self.culprit.clone() };
        Some(Self { culprit, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Aim, Effect, GuardForm, Outcome, Target, Value};
    use crate::hunt::commit_order::CommitOrder;
    use crate::hunt::outcome::culprit_status::{Mend, MendContext};
    use crate::hunt::terms::SearchTerms;
    use crate::oracle::fixture::{commit, culprit, effect, target, unchanged};

    fn launch() -> Metric {
        Metric::of("launch")
    }

    /// A commit that makes `ppl` worse and the launch another one.
    fn both(digit: char, parent: char) -> Culprit {
        let [from, to] = ["384", "128"].map(|fact| Value::Fact(fact.to_owned()));
        let fact = Effect {
            metric: launch(),
            parent: from,
            commit: to,
            own_step: None,
            ..effect(0.0, 0.0, 0.0)
        };
        Culprit { effects: vec![fact, effect(6.0, 6.5, 0.1)], ..culprit(digit, parent) }
    }

    fn ledger() -> Ledger {
        let targets = [
            Target::Guard(unchanged("384", "128")),
            Target::Guard(target(GuardForm::MaxIncrease(0.1), 6.0, 6.5)),
        ];
        let mut ledger = Ledger::new(&targets, SearchTerms::of(Aim::Regression));
        ledger.found.push(FoundCommit::new(both('5', '4')));
        ledger
    }

    #[test]
    fn a_mend_of_one_effect_leaves_the_other_one() {
        let mut ledger = ledger();
        ledger.split_effects(&[launch()]);
        let mend = Mend {
            by: commit('8'),
            before: None,
            metric: Some(launch()),
            amount: f64::INFINITY,
            left: 0.0,
            limit: 0.0,
            repeats: true,
        };
        let around = MendContext { is_before: true, ..MendContext::default() };
        ledger.apply_mend(&mend, &vec![around; ledger.found.len()]);
        ledger.join_effects();
        assert_eq!(ledger.found.len(), 2);
        let told = ledger.close(Vec::new(), &CommitOrder::line("456789"), false);
        // The commit is named for one of its effects, and nobody explains the other one.
        assert_eq!(told.outcome, Outcome::Candidates);
        assert_eq!(told.culprits.len(), 1);
        assert!(told.culprits[0].effect_on(&launch()).is_none());
        assert_eq!(told.unexplained.len(), 1);
    }

    #[test]
    fn effects_with_one_status_are_one_commit() {
        let mut ledger = ledger();
        ledger.split_effects(&[launch()]);
        ledger.join_effects();
        let [found] = &ledger.found[..] else { panic!("{:?}", ledger.found) };
        assert_eq!(found.culprit.effects.len(), 2);
        // An effect that was brought back belongs to the same named commit.
        ledger.split_effects(&[launch()]);
        ledger.found[0].status = CulpritStatus::Undone { by: commit('8'), again: true };
        ledger.join_effects();
        assert_eq!(ledger.found.len(), 2);
        ledger.join_named();
        assert!(ledger.found.len() == 1 && ledger.found[0].stands());
    }
}
