//! The failures that a search looks for. A crash or a time-out counts only if the next run fails
//! too, because the machine may have caused it. That is not so for the failure of the bad endpoint
//! if the good endpoint never showed it: it may come and go, and then a run that works does not
//! refute it.

use std::collections::BTreeMap;

use crate::evaluation::{CommitId, Failure, Phase};
use crate::store::journal::{Entry, Event};

use super::{Request, Sample};

/// The failures that a search looks for, by measure.
#[derive(Clone, Debug, Default)]
pub(crate) struct SoughtFailures {
    by_measure: BTreeMap<String, Failure>,
    /// The good endpoint. If one of its runs fails, the machine is to blame.
    good: Option<CommitId>,
    /// The bad endpoint: localisations test it with patches.
    bad: Option<CommitId>,
}

impl SoughtFailures {
    /// The failures that the last search in the journal looks for, without those that any run of
    /// the good endpoint showed. A localisation runs it only with patches and an inquiry with
    /// another recipe, which may make the failure.
    pub(crate) fn of(entries: &[Entry], [good, bad]: [&CommitId; 2]) -> Self {
        let last = entries.iter().rev().find_map(|entry| match &entry.event {
            Event::Search { targets, .. } => Some(targets.as_slice()),
            _ => None,
        });
        let mut by_measure = BTreeMap::new();
        for target in last.unwrap_or_default() {
            if let Some((measure, failure)) = target.failure_of_runs() {
                by_measure.insert(measure.to_owned(), failure.clone());
            }
        }
        for entry in entries {
            if let Event::Run(run) = &entry.event
                && run.commit == *good
                && !matches!(run.phase, Phase::Localize | Phase::Inquiry)
                && let Some(shown) = &run.failure
            {
                by_measure.retain(|measure, failure: &mut Failure| {
                    *measure != run.measure || !failure.is_same_failure(shown)
                });
            }
        }
        Self { by_measure, good: Some(good.clone()), bad: Some(bad.clone()) }
    }

    /// Whether a failed run counts although the next run works: the run shows a sought failure. The
    /// bad endpoint is tested without the commit that is to blame for the failure, so a run that
    /// still shows it is evidence against the claim.
    pub(super) fn has_failure_of(
        &self,
        request: Request<'_>,
        measure: &str,
        sample: &Sample,
    ) -> bool {
        let is_judged = match request.phase {
            Phase::Search | Phase::Confirm => self.good.as_ref() != Some(request.commit),
            Phase::Localize => self.bad.as_ref() == Some(request.commit),
            _ => false,
        };
        let sought = self.by_measure.get(measure).filter(|_| is_judged);
        let shown = sample.result.as_ref().err().filter(|_| !sample.starved);
        sought.zip(shown).is_some_and(|(sought, shown)| sought.is_same_failure(shown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::FailureKind;
    use crate::oracle::fixture::{commit, failed, failure, ppl};

    fn sought() -> SoughtFailures {
        let by_measure = [("ppl".to_owned(), failure(FailureKind::Crash, "signal 11"))].into();
        SoughtFailures { by_measure, good: Some(commit('1')), bad: Some(commit('3')) }
    }

    #[test]
    fn only_the_sought_failure_counts_and_not_at_the_good_end() {
        let counts = |digit, phase, measure: &str, sample: &Sample| {
            let (commit, measures) = (commit(digit), [String::from(measure)]);
            let request = Request::look(&commit, &measures, phase);
            sought().has_failure_of(request, measure, sample)
        };
        let crash = failed(FailureKind::Crash, "signal 11");
        assert!(counts('2', Phase::Search, "ppl", &crash));
        assert!(counts('2', Phase::Confirm, "ppl", &crash));
        assert!(!counts('1', Phase::Search, "ppl", &crash));
        assert!(!counts('2', Phase::Endpoint, "ppl", &crash));
        // Tests of the bad end with a patch, and of other commits with parts of a change.
        assert!(counts('3', Phase::Localize, "ppl", &crash));
        assert!(!counts('2', Phase::Localize, "ppl", &crash));
        assert!(!counts('1', Phase::Localize, "ppl", &crash));
        assert!(!counts('2', Phase::Search, "speed", &crash));
        assert!(!counts('2', Phase::Search, "ppl", &failed(FailureKind::Crash, "signal 6")));
        assert!(!counts('2', Phase::Search, "ppl", &ppl(7.0)));
        let starved = Sample { starved: true, ..crash };
        assert!(!counts('2', Phase::Search, "ppl", &starved));
    }
}
