//! Whether the newer end still shows the change that a search explains. A confirmation measures the
//! claimed commit and its parents, but not this end. If its build or all of its runs are of an
//! earlier hunt, something outside that no key contains may have changed since, and a later commit
//! may undo the change now. So a new build of this end is run.

use crate::evaluation::{CommitId, GuardTarget, Metric, Phase, Target};
use crate::oracle::{Observation, Request, Sample, measures_of};
use crate::store::journal::{Entry, Event, RunDone};

use super::HuntError;
use super::driver::Driver;
use super::earlier_runs::{days, difference, is_made_by};
use super::machine_change::MachineChange;
use super::searched::Searched;

/// Number of runs of the new build that must all contradict the earlier results. If the first one
/// does not, there is no second one.
const LOOKS: usize = 3;

impl Driver<'_> {
    /// The result of a search; or the change since an earlier hunt, if the newer end no longer
    /// shows what that hunt saw there. A confirmation that is taken over from an earlier hunt is
    /// not checked: nothing is measured then, and the answer says so.
    pub(super) fn with_newer_end(
        &mut self,
        targets: &[Target],
        searched: Searched,
    ) -> Result<Searched, HuntError> {
        let found = match &searched {
            Searched::Culprit(culprit, _) | Searched::Gradual(culprit, _)
                if culprit.confirmed_before.is_none() =>
            {
                culprit.info.commit.clone()
            }
            _ => return Ok(searched),
        };
        match self.newer_end_change(&found, targets) {
            // The next run meets the limit too.
            Err(HuntError::Limit(_)) => Ok(searched),
            change => Ok(change?.map_or(searched, Searched::MachineChanged)),
        }
    }

    /// What changed since an earlier hunt built or measured the newer end. `found`: the confirmed
    /// commit, of which there are fresh runs.
    fn newer_end_change(
        &mut self,
        found: &CommitId,
        targets: &[Target],
    ) -> Result<Option<MachineChange>, HuntError> {
        let [_, end] = self.begun.ends().map(CommitId::clone);
        let measures = measures_of(targets);
        // After a change of the machine, nothing that an earlier hunt left counts any more.
        if end == *found || measures.is_empty() || self.oracle.stored.has_outdated() {
            return Ok(None);
        }
        let own = self.own_hunts();
        let mut known = self.known_runs(&end, &measures)?;
        for runs in known.samples.values_mut() {
            runs.retain(|run| run.phase != Phase::Confirm || !is_made_by(run, &own));
        }
        let entries = self.hunt.entries()?;
        let has_build = takes_build(&entries, Some(&end));
        if !has_build && !has_only_earlier_runs(&known, &own) {
            return Ok(None);
        }
        let look = Request::look(&end, &measures, Phase::Confirm);
        let mut told = None;
        for runs in 1..=LOOKS {
            let request = Request { runs, ..look };
            // With the home folder of the runs with which these are compared.
            let fresh = self.with_user_home(|driver| driver.oracle.evaluate(request))?;
            told = contradiction(&known, &fresh, targets);
            if told.is_none() || fresh.build_failure.is_some() {
                break;
            }
        }
        self.oracle.pool.free_all_but(&self.begun.good.commit);
        let Some(told) = told else { return Ok(None) };
        let earlier = known.samples.values().flatten().filter(|run| !is_made_by(run, &own));
        let days = days(earlier.filter_map(|run| run.stored_at.as_deref()));
        let text = format!(
            "a new build of the {} end {} does not show what the earlier one showed ({told}): \
             something outside may have changed since an earlier hunt built or measured it{}. \
             Builds and runs of earlier hunts no longer count, and the hunt begins again",
            self.terms().newer(),
            end.short(),
            days.map(|days| format!(" ({days})")).unwrap_or_default(),
        );
        let attempts = outdated(&entries, &measures);
        Ok(Some(MachineChange { text, measures, attempts }))
    }
}

/// Whether the hunt took a build of an earlier hunt; with a commit, a build of this commit.
fn takes_build(entries: &[Entry], of: Option<&CommitId>) -> bool {
    entries.iter().any(|entry| match &entry.event {
        Event::Build(done) => done.is_taken() && of.is_none_or(|commit| done.commit == *commit),
        _ => false,
    })
}

/// Whether earlier hunts made all runs of a measure.
fn has_only_earlier_runs(known: &Observation, own: &[String]) -> bool {
    known
        .samples
        .values()
        .any(|runs| !runs.is_empty() && !runs.iter().any(|run| is_made_by(run, own)))
}

/// The runs that no longer count. If the hunt took builds of earlier hunts, that is all runs
/// outside confirmations, otherwise those from the store.
fn outdated(entries: &[Entry], measures: &[String]) -> Vec<String> {
    let is_any = takes_build(entries, None);
    let is_outdated = |run: &RunDone| {
        run.phase != Phase::Confirm && measures.contains(&run.measure) && (is_any || run.reused)
    };
    let runs = entries.iter().filter_map(|entry| match &entry.event {
        Event::Run(run) if is_outdated(run) => Some(run.attempt.clone()),
        _ => None,
    });
    runs.collect()
}

/// How runs of a new build contradict the known results, in words; `None` if one of them does not.
fn contradiction(known: &Observation, fresh: &Observation, targets: &[Target]) -> Option<String> {
    if let Some(failure) = &fresh.build_failure {
        let told = || format!("the build fails now: {}", failure.detail);
        return (!fresh.build_starved).then(told);
    }
    targets.iter().find_map(|target| match target {
        Target::Guard(target) => {
            let measure = &target.guard.metric.measure;
            moved(known.of(measure), fresh.of(measure), Some(target))
        }
        Target::Failure { measure, .. } => {
            let measure = measure.as_ref()?;
            moved(known.of(measure), fresh.of(measure), None)
        }
    })
}

/// How all fresh runs differ from the known ones by more than the tolerance, in words. Without a
/// target, only failures are compared.
fn moved(known: &[Sample], fresh: &[Sample], target: Option<&GuardTarget>) -> Option<String> {
    if known.is_empty() {
        return None;
    }
    let known: Vec<&Sample> = known.iter().collect();
    let metrics: Vec<&Metric> = target.into_iter().map(|target| &target.guard.metric).collect();
    let differs = |run: &Sample| {
        let is_near = target.is_some_and(|target| is_within_tolerance(&known, run, target));
        difference(&known, run, &metrics).filter(|_| !is_near)
    };
    let told: Option<Vec<String>> = fresh.iter().map(differs).collect();
    told?.into_iter().next()
}

/// Whether the run's value is within the tolerance of a known one.
fn is_within_tolerance(known: &[&Sample], run: &Sample, target: &GuardTarget) -> bool {
    let number = |run: &Sample| run.value(&target.guard.metric)?.number();
    let Some(now) = number(run) else { return false };
    known.iter().copied().filter_map(number).any(|x| (x - now).abs() <= target.limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{FailureKind, GuardForm};
    use crate::oracle::fixture::{at, failed, fails_alike, ppl, seen, target, unbuildable};

    const CRASH: FailureKind = FailureKind::Crash;

    fn told(known: &[f64], fresh: &[f64]) -> Option<String> {
        let target = Target::Guard(target(GuardForm::MaxIncrease(0.1), 7.0, 7.5));
        contradiction(&at('2', known), &at('2', fresh), &[target])
    }

    #[test]
    fn all_runs_of_a_new_build_must_be_beyond_the_tolerance() {
        assert_eq!(told(&[7.5, 7.5], &[7.0]).as_deref(), Some("ppl was 7.5, and is 7 now"));
        assert!(told(&[7.5], &[9.0, 9.0]).is_some() && told(&[7.5], &[f64::NAN]).is_some());
        assert_eq!(told(&[7.5], &[7.5]), None);
        assert_eq!(told(&[7.5], &[7.45]), None, "it is within the tolerance");
        assert_eq!(told(&[7.5], &[7.0, 7.5]), None, "one run shows the same");
        assert_eq!(told(&[7.2, 7.6, 7.9], &[6.8]), None, "it is within the noise");
        assert!(told(&[7.5, 7.6, 7.55], &[7.0, 7.05, 6.9]).is_some());
        assert_eq!(told(&[], &[7.0]), None);
        assert_eq!(told(&[7.5], &[]), None);
    }

    #[test]
    fn a_failure_must_come_again() {
        let targets = [fails_alike(Some("ppl"), CRASH, "11")];
        let known = seen('2', "ppl", [failed(CRASH, "11"), failed(CRASH, "11")]);
        let told = |run| contradiction(&known, &seen('2', "ppl", [run]), &targets);
        assert_eq!(told(failed(CRASH, "11")), None);
        assert_eq!(told(ppl(7.0)).as_deref(), Some("a run failed, and works now"));
        let unbuilt = unbuildable('2', "no header");
        assert!(contradiction(&known, &unbuilt, &targets).unwrap().starts_with("the build fails"));
    }

    #[test]
    fn the_end_is_checked_if_earlier_hunts_made_all_runs_of_a_measure() {
        let by = |hunt: &str| Sample { hunt: Some(hunt.to_owned()), ..ppl(7.5) };
        let own = ["now".to_owned()];
        let only = |hunts: &[&str]| {
            has_only_earlier_runs(&seen('2', "ppl", hunts.iter().map(|hunt| by(hunt))), &own)
        };
        assert!(only(&["old"]) && only(&["old", "older"]));
        assert!(!only(&["old", "now"]) && !only(&["now"]) && !only(&[]));
    }
}
