//! Judges the merge bases of two ends of which the older one is not an ancestor of the newer one,
//! and looks behind a bad merge base for a commit from which the search can begin.

use crate::evaluation::{Aim, CommitId, Finding, Judgement, Outcome, Phase, Target, Value};
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::terms::SearchTerms;
use crate::oracle::{Observation, Request, measures_of};
use crate::store::journal::Event;
use crate::ui::text;

use super::behind_base::LookBehind;
use super::targets::{Chosen, unmeasurable};

impl Driver<'_> {
    /// If the older end is not an ancestor of the newer end, judges their merge bases. If one does
    /// not have the older end's verdict, the hunt ends, unless a later commit on the way to the
    /// newer end has this verdict again: returns this commit, and the search begins there.
    /// Criss-cross merges give several merge bases, and git asks about each.
    pub(super) fn check_merge_bases(
        &mut self,
        chosen: &Chosen,
    ) -> Result<Result<Option<CommitId>, Box<Finding>>, HuntError> {
        let terms = self.terms();
        let [old, new] = self.begun.ends().map(CommitId::clone);
        if self.oracle.history.is_ancestor(&old, &new)? {
            return Ok(Ok(None));
        }
        let [older, newer] = [terms.older(), terms.newer()];
        let bases = self.oracle.history.merge_bases(&old, &new)?;
        let mut open = None;
        for base in &bases {
            let mut judgement = self.judge(base, &chosen.targets)?;
            let name = base.short();
            if terms.is_newer(judgement.verdict) {
                let looked = self.look_behind(base, &bases, chosen)?;
                if let Some(start) = &looked.start {
                    self.note_start(base, &judgement, start)?;
                    return Ok(Ok(Some(start.clone())));
                }
                // A build or run that shows the newer end's value by chance must not end the hunt.
                if self.repeats_as(terms.newer(), base, &chosen.targets)?.is_some() {
                    if let Some(finding) = self.rest_after_base(base, chosen)? {
                        return Ok(Err(finding));
                    }
                    return Ok(Err(self.denial_by_base(base, &judgement, &looked)));
                }
                judgement = self.judge(base, &chosen.targets)?;
            }
            let reason = &judgement.reason;
            if terms.is_older(judgement.verdict) {
                self.note_better_base(base, chosen)?;
            } else if terms.is_newer(judgement.verdict) {
                open = open.or(Some(format!(
                    "{older} is not an ancestor of {newer}, and not all runs of their merge base \
                     {name} are {newer}"
                )));
            } else {
                open = open.or(Some(format!(
                    "{older} is not an ancestor of {newer}, and their merge base {name} cannot be \
                     measured: {reason}"
                )));
            }
        }
        Ok(open.map_or(Ok(None), |summary| Err(unmeasurable(summary))))
    }

    /// The finding if a merge base has the newer end's verdict, and no commit from which the search
    /// can begin was found behind it.
    fn denial_by_base(
        &self,
        base: &CommitId,
        judgement: &Judgement,
        looked: &LookBehind,
    ) -> Box<Finding> {
        let terms = self.terms();
        let [older, newer] = [terms.older(), terms.newer()];
        let [_, new] = self.begun.ends();
        let summary = format!(
            "{older} is not an ancestor of {newer}, and their merge base {} is {newer} already \
             ({}): the problem was {}",
            base.short(),
            judgement.reason,
            looked.in_words(terms)
        );
        let next = looked.next(base, new, terms).into_iter().collect();
        Box::new(Finding { next, ..Finding::plain(Outcome::NoRegression, summary) })
    }

    /// Notes that a merge base is better than the good end: up to the level of the good end, no
    /// commit on the way to the bad end counts.
    fn note_better_base(&mut self, base: &CommitId, chosen: &Chosen) -> Result<(), HuntError> {
        if !self.terms().explains_levels() {
            return Ok(());
        }
        let seen = self.known_runs(base, &measures_of(&chosen.targets))?;
        let mut guards = chosen.targets.iter().filter_map(Target::guard);
        let better = guards.find_map(|target| {
            let level = seen.level(&target.guard.metric)?.number()?;
            let baseline = target.baseline.number().filter(|_| target.noise.is_none())?;
            let is_better = target.guard.is_worse_by(level, baseline, target.limit.max(0.0));
            is_better.then_some((target, level))
        });
        let Some((target, level)) = better else { return Ok(()) };
        let (base, bad) = (base.short(), self.begun.bad.commit.short());
        let text = format!(
            "the merge base {base} is better than good ({} {} there, {} at good). On the way to \
             bad, only what is worse than good counts; `bisect-ppl start --good {base} --bad \
             {bad}` hunts for all that is worse than {base}",
            target.guard.metric,
            text::value(&Value::Number(level)),
            text::value(&target.baseline)
        );
        Ok(self.oracle.recorder.event(Event::Note { text })?)
    }

    /// Lets the hunt begin at this commit in place of the older end.
    pub(super) fn begin_at(&mut self, start: &CommitId) -> Result<(), HuntError> {
        let info = self.oracle.history.named(start)?;
        self.begun.commits = self.commits_after(start)?;
        match self.terms().aim() {
            Aim::Regression => self.begun.good = info,
            Aim::Fix => self.begun.bad = info,
        }
        self.oracle.pool.free_all();
        Ok(())
    }

    fn note_start(
        &mut self,
        base: &CommitId,
        judgement: &Judgement,
        start: &CommitId,
    ) -> Result<(), HuntError> {
        let terms = self.terms();
        let [older, newer] = [terms.older(), terms.newer()];
        let text = format!(
            "{older} is not an ancestor of {newer}, and their merge base {} is {newer} already \
             ({}), but {} on the way to {newer} is {older} again: the search begins there",
            base.short(),
            judgement.reason,
            start.short()
        );
        Ok(self.oracle.recorder.event(Event::Note { text })?)
    }

    /// Judges some commits between a merge base and the newer end: what was mended on the way to
    /// the older end may have been mended on this way too, and broken again later.
    fn look_behind(
        &mut self,
        base: &CommitId,
        bases: &[CommitId],
        chosen: &Chosen,
    ) -> Result<LookBehind, HuntError> {
        let terms = self.terms();
        let mut measured = 0;
        let [_, new] = self.begun.ends();
        // The newer end is measured, and is no place to begin.
        let between = self.oracle.history.descending(base, new)?.len().saturating_sub(1);
        for place in self.places_behind(base, bases)? {
            // With a path filter, nothing may be left to search.
            if self.commits_after(&place)? == 0 {
                continue;
            }
            let verdict = self.judge(&place, &chosen.targets)?.verdict;
            measured += usize::from(terms.is_older(verdict) || terms.is_newer(verdict));
            if !terms.is_older(verdict) {
                continue;
            }
            let seen = self.known_runs(&place, &measures_of(&chosen.targets))?;
            // The search takes its ends for sure, so a single build or run must not choose one.
            if is_worse_later(&seen, &chosen.targets, terms)
                && self.repeats_as(terms.older(), &place, &chosen.targets)?.is_some()
            {
                return Ok(LookBehind { start: Some(place), measured, between });
            }
        }
        Ok(LookBehind { start: None, measured, between })
    }

    /// How many commits a search from here to the newer end would have.
    fn commits_after(&self, older: &CommitId) -> Result<usize, HuntError> {
        let options = &self.begun.options;
        let [_, newer] = self.begun.ends();
        let range = Range {
            first_parent: options.first_parent,
            paths: options.paths.clone(),
            ..Range::between(older, newer)
        };
        Ok(self.oracle.history.count(&range)?)
    }

    /// The finding if the bad end is worse than a merge base that is bad already: only a part of
    /// the regression was there at the base, and another hunt has to look for the rest.
    fn rest_after_base(
        &mut self,
        base: &CommitId,
        chosen: &Chosen,
    ) -> Result<Option<Box<Finding>>, HuntError> {
        if !self.terms().explains_levels() {
            return Ok(None);
        }
        let bad = self.begun.bad.commit.short().to_owned();
        for target in &chosen.targets {
            let Target::Guard(target) = target else { continue };
            let metric = &target.guard.metric;
            let measures = [metric.measure.clone()];
            let look = Request::look(base, &measures, Phase::Endpoint);
            let level = self.oracle.evaluate(look)?.level(metric);
            let levels = level.as_ref().and_then(Value::number).zip(target.bad.number());
            let Some((level, end)) = levels else { continue };
            if !target.guard.is_worse_by(level, end, target.limit.max(0.0)) {
                continue;
            }
            let base = base.short();
            let summary = format!(
                "good is not an ancestor of bad, and their merge base {base} is between the two: \
                 {metric} {} at good, {} at {base}, {} at bad",
                text::value(&target.baseline),
                text::value(&Value::Number(level)),
                text::value(&target.bad)
            );
            let next = format!(
                "`bisect-ppl start --good {base} --bad {bad}` hunts for what came after {base}"
            );
            return Ok(Some(Box::new(Finding {
                next: vec![next],
                ..Finding::plain(Outcome::EndpointUnmeasurable, summary)
            })));
        }
        Ok(None)
    }
}

/// Whether the newer end differs from a commit by more than the tolerance of a target, in the
/// direction of the hunt. In noise, and for what has no number, the commit's verdict is enough.
fn is_worse_later(seen: &Observation, targets: &[Target], terms: SearchTerms) -> bool {
    targets.iter().any(|target| {
        let Target::Guard(target) = target else { return true };
        let level = seen.level(&target.guard.metric).and_then(|level| level.number());
        let levels = level.zip(terms.newer_level(target).number());
        let Some((level, end)) = levels.filter(|_| target.noise.is_none()) else { return true };
        let [good, bad] = terms.good_and_bad([level, end]);
        target.guard.is_worse_by(good, bad, target.limit.max(0.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;
    use crate::oracle::fixture::{at, noisy, target};

    const UP: GuardForm = GuardForm::MaxIncrease(0.1);

    #[test]
    fn a_search_begins_only_where_the_newer_end_is_beyond_the_tolerance() {
        let is_start = |level: f64, target| {
            let terms = SearchTerms::of(Aim::Regression);
            is_worse_later(&at('5', &[level]), &[Target::Guard(target)], terms)
        };
        assert!(is_start(7.0, target(UP, 7.0, 7.15)));
        assert!(!is_start(7.08, target(UP, 7.0, 7.15)));
        assert!(is_start(7.08, noisy(UP, 7.0, 7.15)));
        // In a hunt for a fix, the newer end is the better one.
        let terms = SearchTerms::of(Aim::Fix);
        let targets = [Target::Guard(target(UP, 7.0, 7.15))];
        assert!(is_worse_later(&at('5', &[7.15]), &targets, terms));
        assert!(!is_worse_later(&at('5', &[7.08]), &targets, terms));
    }
}
