//! Unclear commits: a mend fits the sizes of several found commits equally well. The texts of their
//! changes at the newer end tell which of them do not explain that end, and whether another commit
//! must be sought. Only where values repeat.

use std::collections::BTreeMap;

use crate::evaluation::{CommitId, Culprit, Metric};
use crate::git::{Change, History};
use crate::hunt::HuntError;
use crate::hunt::distinct::distinct;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::ui::text;

use super::account::Ledger;
use super::culprit_status::{CulpritStatus, FoundCommit};
use super::hidden_cause::WhyHidden;

/// What the newer end has of a change's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextAtEnd {
    /// All of it.
    Whole,
    /// Nothing: each of its files is as before the change.
    Restored,
    /// Nothing, but other lines may do the same.
    Gone,
    /// A part, or the text does not tell.
    Untold,
}

/// What the texts of all unclear commits of a metric tell.
#[derive(Debug, PartialEq, Eq)]
enum Told {
    /// No change is left: none of these commits explains the newer end.
    AllGone,
    /// Some changes may be left.
    Left {
        /// The found commits, by index, whose change is taken back.
        restored: Vec<usize>,
        /// The changes of all others are whole, so no text shows that one of them was undone.
        are_whole: bool,
    },
}

impl Driver<'_> {
    /// Decides about unclear commits by their texts at the newer end, for each metric:
    ///
    /// - If all changes are gone, the commits from the first of them on are candidates.
    /// - Otherwise a commit whose change is taken back there counts as undone.
    /// - If the changes of all others are whole, the commits after the last worse one before the
    ///   last mend are candidates too. The mend is elsewhere, and such a commit may have made the
    ///   metric worse again unseen, because the level after the mend is that of the newer end.
    pub(crate) fn settle_unclear_by_text(
        &self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<(), HuntError> {
        if !self.values_repeat(&whole.targets) {
            return Ok(());
        }
        let newer = &whole.newer;
        let mut texts = Vec::new();
        for (place, found) in ledger.found.iter().enumerate() {
            if found.status == CulpritStatus::Unclear && found.among.is_none() {
                texts.push((place, self.text_at_end(ledger, &found.culprit, newer)?));
            }
        }
        if texts.is_empty() {
            return Ok(());
        }
        let order = self.oracle.history.commits(&self.whole())?;
        for (metric, texts) in by_metric(&ledger.found, &texts) {
            let places: Vec<usize> = texts.iter().map(|(place, _)| *place).collect();
            match told(&texts) {
                Told::AllGone => {
                    self.seek_from_first(ledger, &metric, &places, newer, &order)?;
                }
                Told::Left { restored, are_whole } => {
                    for place in restored {
                        self.set_taken_back(ledger, place, newer)?;
                    }
                    if are_whole {
                        self.seek_after_mends(ledger, &metric, &places, newer, &order)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn text_at_end(
        &self,
        ledger: &Ledger,
        culprit: &Culprit,
        newer: &CommitId,
    ) -> Result<TextAtEnd, HuntError> {
        let history = &self.oracle.history;
        let change = history.change_until(&culprit.parent, &culprit.info.commit, newer)?;
        Ok(match history.contains_change(newer, &change) {
            Some(false)
                if history.has_all_files_as_before(newer, &change)
                    && self.is_gone_in_a_mend(ledger, culprit)? =>
            {
                TextAtEnd::Restored
            }
            Some(false) => TextAtEnd::Gone,
            Some(true) if !history.is_gone_in_part(newer, &change) => TextAtEnd::Whole,
            Some(true) | None => TextAtEnd::Untold,
        })
    }

    /// Whether the change is there before a known mend and gone after it. A commit that moves the
    /// change elsewhere takes its text away too, but the level stays.
    fn is_gone_in_a_mend(&self, ledger: &Ledger, culprit: &Culprit) -> Result<bool, HuntError> {
        let history = &self.oracle.history;
        let commit = &culprit.info.commit;
        for mend in ledger.mends() {
            let Some(before) = &mend.before else { continue };
            if !history.is_ancestor(commit, before)? {
                continue;
            }
            let change = history.change_until(&culprit.parent, commit, &mend.by)?;
            let is_in = |commit: &CommitId| history.contains_change(commit, &change);
            if is_in(before) == Some(true) && is_in(&mend.by) == Some(false) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Makes the commits from the first of these found commits on candidates. `places`: their
    /// indices. `order`: the commits between the endpoints, oldest first.
    fn seek_from_first(
        &self,
        ledger: &mut Ledger,
        metric: &Metric,
        places: &[usize],
        newer: &CommitId,
        order: &[CommitId],
    ) -> Result<(), HuntError> {
        let own = commits_at(&ledger.found, places);
        let position = |commit: &CommitId| order.iter().position(|one| one == commit);
        let Some((first, commit)) =
            places.iter().copied().zip(&own).min_by_key(|(_, commit)| position(commit))
        else {
            return Ok(());
        };
        let later = self.beside_or_after(commit, newer)?;
        let among = distinct([commit.clone()].into_iter().chain(later).chain(own.iter().cloned()));
        let steps = places.iter().filter_map(|place| ledger.found[*place].step(Some(metric)));
        let left = steps.fold(0.0, f64::max);
        for place in places.iter().copied().filter(|place| *place != first) {
            self.set_taken_back(ledger, place, newer)?;
        }
        let why = Some(WhyHidden::GoneAtEnd);
        ledger.found[first].status = CulpritStatus::Hides { among, left, undone_by: None, why };
        Ok(())
    }

    /// Makes the commits after the last worse one before the last mend candidates. The parameters
    /// are those of [`Self::seek_from_first`].
    fn seek_after_mends(
        &self,
        ledger: &mut Ledger,
        metric: &Metric,
        places: &[usize],
        newer: &CommitId,
        order: &[CommitId],
    ) -> Result<(), HuntError> {
        let position = |commit: &CommitId| order.iter().position(|one| one == commit);
        let last = ledger.mends_of(metric).max_by_key(|mend| position(&mend.by)).cloned();
        let Some(mend) = last else { return Ok(()) };
        let own = commits_at(&ledger.found, places);
        let before = mend.before.as_ref();
        let Some(from) = before.or_else(|| own.iter().max_by_key(|commit| position(commit))) else {
            return Ok(());
        };
        let mut after = self.beside_or_after(from, newer)?;
        after.retain(|commit| !own.contains(commit));
        if after.is_empty() {
            return Ok(());
        }
        let at_end = own.iter().filter(|commit| ledger.is_unclear(commit));
        let names = text::joined(at_end.map(|commit| commit.short().to_owned()).collect());
        let why = format!(
            "the {} end has all that {names} changed, and {metric} got better at {} at the latest: \
             one of these commits may have made it worse again",
            ledger.terms.newer(),
            mend.by.short()
        );
        ledger.candidates.push((after, why.into()));
        Ok(())
    }

    /// Marks an unclear commit as undone by the first known mend that lacks its text, or by the
    /// newer end. `place`: its index.
    fn set_taken_back(
        &self,
        ledger: &mut Ledger,
        place: usize,
        newer: &CommitId,
    ) -> Result<(), HuntError> {
        if ledger.found[place].status != CulpritStatus::Unclear {
            return Ok(());
        }
        let lacks = |history: &History, by: &CommitId, change: &Change| {
            history.contains_change(by, change) == Some(false)
        };
        let mend = self.mend_where(ledger, &ledger.found[place].culprit, lacks)?;
        let by = mend.unwrap_or_else(|| newer.clone());
        ledger.found[place].status = CulpritStatus::Undone { by, again: false };
        Ok(())
    }
}

impl Ledger {
    /// Whether it is open whether a later commit undid this one or another one.
    fn is_unclear(&self, commit: &CommitId) -> bool {
        let is_it = |found: &FoundCommit| found.culprit.info.commit == *commit;
        self.found.iter().any(|found| is_it(found) && found.status == CulpritStatus::Unclear)
    }
}

/// The found commits at these indices.
fn commits_at(found: &[FoundCommit], places: &[usize]) -> Vec<CommitId> {
    places.iter().map(|place| found[*place].culprit.info.commit.clone()).collect()
}

/// The texts of unclear commits, by the metrics that these move. Each with the commit's index.
fn by_metric(
    found: &[FoundCommit],
    texts: &[(usize, TextAtEnd)],
) -> BTreeMap<Metric, Vec<(usize, TextAtEnd)>> {
    let mut groups: BTreeMap<Metric, Vec<(usize, TextAtEnd)>> = BTreeMap::new();
    for one in texts {
        for effect in &found[one.0].culprit.effects {
            let group = groups.entry(effect.metric.clone()).or_default();
            // Two guards of one metric have an effect each.
            if !group.contains(one) {
                group.push(*one);
            }
        }
    }
    groups
}

/// What the texts of a metric's unclear commits tell. Each comes with the commit's index.
fn told(texts: &[(usize, TextAtEnd)]) -> Told {
    if texts.iter().all(|(_, text)| matches!(text, TextAtEnd::Restored | TextAtEnd::Gone)) {
        return Told::AllGone;
    }
    let is_restored = |text: &TextAtEnd| *text == TextAtEnd::Restored;
    let restored = texts.iter().filter(|(_, text)| is_restored(text));
    let restored = restored.map(|(place, _)| *place).collect();
    let mut left = texts.iter().filter(|(_, text)| !is_restored(text));
    let are_whole = left.all(|(_, text)| *text == TextAtEnd::Whole);
    Told::Left { restored, are_whole }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Effect;
    use crate::oracle::fixture::{culprit, effect};

    use TextAtEnd::{Gone, Restored, Untold, Whole};

    fn told_of(texts: &[TextAtEnd]) -> Told {
        let texts: Vec<_> = texts.iter().copied().enumerate().collect();
        told(&texts)
    }

    fn left(restored: &[usize], are_whole: bool) -> Told {
        Told::Left { restored: restored.to_vec(), are_whole }
    }

    #[test]
    fn commits_without_a_change_at_the_end_explain_nothing_together() {
        for texts in [[Restored, Restored], [Restored, Gone], [Gone, Gone]] {
            assert_eq!(told_of(&texts), Told::AllGone, "{texts:?}");
        }
    }

    #[test]
    fn only_a_change_whose_files_are_as_before_is_dropped() {
        assert_eq!(told_of(&[Restored, Whole]), left(&[0], true));
        assert_eq!(told_of(&[Untold, Restored, Whole]), left(&[1], false));
        // Other lines may do what the gone ones did.
        assert_eq!(told_of(&[Gone, Whole]), left(&[], false));
    }

    #[test]
    fn whole_changes_do_not_show_that_one_of_them_was_undone() {
        assert_eq!(told_of(&[Whole, Whole]), left(&[], true));
        assert_eq!(told_of(&[Whole, Untold]), left(&[], false));
    }

    #[test]
    fn each_metric_is_a_question_of_its_own() {
        let ppl = effect(6.0, 6.5, 0.1);
        let speed = Effect { metric: Metric::of("speed"), ..ppl.clone() };
        let found = |effects| FoundCommit::new(Culprit { effects, ..culprit('5', '4') });
        let found = [found(vec![ppl.clone(), ppl]), found(vec![speed])];
        let groups = by_metric(&found, &[(0, Whole), (1, Restored)]);
        let groups: Vec<_> = groups.into_values().collect();
        assert_eq!(groups, [vec![(0, Whole)], vec![(1, Restored)]]);
    }
}
