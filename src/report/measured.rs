//! The commits of a hunt with their builds, runs and verdicts.

use std::collections::HashMap;

use crate::evaluation::{
    CommitId, ExclusionReason, Failure, Metric, Neighbours, Phase, Resource, TextLength, Value,
    Verdict,
};
use crate::store::journal::{BuildDone, Judged, RunDone};

use super::model::{BuildLine, ExcludedRunLine, MeasuredCommit, RunLine, SampleLine};
use super::neighbours;
use super::words::failure_text;

/// Commits in order of first appearance.
#[derive(Default)]
pub(super) struct Measured<'a> {
    commits: Vec<OneCommit<'a>>,
    index: HashMap<CommitId, usize>,
    /// How much text the endpoints' runs of each measure read.
    texts: HashMap<&'a str, TextLength>,
    /// Runs that no longer count, and why.
    outdated: HashMap<&'a str, ExclusionReason>,
}

struct OneCommit<'a> {
    id: CommitId,
    builds: Vec<&'a BuildDone>,
    runs: Vec<&'a RunDone>,
    judged: Option<&'a Judged>,
    /// The commit of which this one is a neighbour, and on which side: it was measured for this.
    beside: Option<(&'a CommitId, Neighbours)>,
    /// The first line of its message, if an event says it.
    subject: Option<&'a str>,
    /// The search whose verdict counts.
    search_number: usize,
}

impl<'a> Measured<'a> {
    /// Adds a build. After a resume the journal may repeat an attempt; the first entry counts.
    pub(super) fn build(&mut self, build: &'a BuildDone) {
        let commit = self.commit(&build.commit);
        if commit.builds.iter().all(|known| known.attempt != build.attempt) {
            commit.builds.push(build);
        }
    }

    /// Adds a run. Returns whether the run read a different amount of text than the endpoints'
    /// runs.
    pub(super) fn run(&mut self, run: &'a RunDone) -> bool {
        if let (Some(text), Phase::Endpoint) = (run.text, run.phase) {
            self.texts.entry(&run.measure).or_insert(text);
        }
        let is_other = other_text(run, &self.texts).is_some();
        let commit = self.commit(&run.commit);
        if commit.runs.iter().all(|known| known.attempt != run.attempt) {
            commit.runs.push(run);
        }
        is_other
    }

    /// Allows search `again` to replace the verdicts of search `search_number`, whose result did
    /// not hold.
    pub(super) fn redo(&mut self, search_number: usize, again: usize) {
        for commit in self.commits.iter_mut().filter(|commit| commit.search_number == search_number)
        {
            commit.search_number = again;
        }
    }

    /// Sets the verdict of a commit. If several searches judged the commit, the first one counts:
    /// it uses the hunt's own baseline. A later search uses the level of a found commit as
    /// baseline, and so calls that commit good.
    pub(super) fn judge(&mut self, judged: &'a Judged) {
        let commit = self.commit(&judged.commit);
        if commit.judged.is_none() || judged.search_number <= commit.search_number {
            commit.judged = Some(judged);
            commit.search_number = judged.search_number;
        }
    }

    /// Notes that a commit was measured as a neighbour of another one.
    pub(super) fn beside(
        &mut self,
        commit: &CommitId,
        subject: &'a str,
        of: &'a CommitId,
        side: Neighbours,
    ) {
        let commit = self.commit(commit);
        (commit.beside, commit.subject) = (Some((of, side)), Some(subject));
    }

    /// Drops all verdicts, and excludes these runs: the machine changed after them.
    pub(super) fn machine_changed(&mut self, attempts: &'a [String]) {
        self.leave_out(attempts, &ExclusionReason::MachineChanged);
        for commit in &mut self.commits {
            (commit.judged, commit.search_number) = (None, 0);
        }
    }

    /// Excludes these runs: they were made in another slot, which gives other values.
    pub(super) fn leave_out_other_slots(&mut self, attempts: &'a [String]) {
        self.leave_out(attempts, &ExclusionReason::OtherSlot);
    }

    /// Excludes these runs: they were the first ones of their builds, and not like the later ones.
    pub(super) fn leave_out_first_runs(&mut self, attempts: &'a [String]) {
        self.leave_out(attempts, &ExclusionReason::WarmUp);
    }

    /// Excludes these runs: they were made on a node that is slower or faster than the others.
    pub(super) fn leave_out_other_node(&mut self, attempts: &'a [String]) {
        self.leave_out(attempts, &ExclusionReason::OtherNode);
    }

    fn leave_out(&mut self, attempts: &'a [String], why: &ExclusionReason) {
        self.outdated.extend(attempts.iter().map(|attempt| (attempt.as_str(), why.clone())));
    }

    pub(super) fn into_commits(self) -> Vec<MeasuredCommit> {
        let Self { commits, texts, outdated, .. } = self;
        commits.into_iter().map(|commit| commit.into_line(&texts, &outdated)).collect()
    }

    fn commit(&mut self, id: &CommitId) -> &mut OneCommit<'a> {
        let next = self.commits.len();
        let at = *self.index.entry(id.clone()).or_insert(next);
        if at == next {
            self.commits.push(OneCommit {
                id: id.clone(),
                builds: Vec::new(),
                runs: Vec::new(),
                judged: None,
                beside: None,
                subject: None,
                search_number: 0,
            });
        }
        &mut self.commits[at]
    }
}

impl OneCommit<'_> {
    fn into_line(
        self,
        texts: &HashMap<&str, TextLength>,
        outdated: &HashMap<&str, ExclusionReason>,
    ) -> MeasuredCommit {
        let judgement = self.judged.map(|judged| &judged.judgement);
        let apart = |run: &RunDone| {
            run.apart.clone().or_else(|| outdated.get(run.attempt.as_str()).cloned())
        };
        let counted = self.runs.iter().filter(|run| apart(run).is_none());
        let unjudged = || match self.beside {
            Some((of, side)) => neighbours::reason(of, side),
            None if counted.clone().any(|run| run.phase == Phase::Endpoint) => {
                "measured; an end gets its verdict when both ends are measured".to_owned()
            }
            None => "not judged".to_owned(),
        };
        MeasuredCommit {
            commit: self.id,
            subject: self.subject.map(str::to_owned),
            verdict: judgement.map_or(Verdict::Unknown, |j| j.verdict),
            reason: judgement.map_or_else(unjudged, |j| j.reason.clone()),
            skip: judgement.and_then(|j| j.skip),
            broken: judgement.map(|j| j.broken.clone()).unwrap_or_default(),
            p_bad: None,
            runs: self.runs.iter().map(|run| run_line(run, apart(run))).collect(),
            samples: counted.flat_map(|run| samples(run, texts)).collect(),
            apart: self.runs.iter().filter_map(|run| Some(apart_line(run, apart(run)?))).collect(),
            builds: self.builds.into_iter().map(build_line).collect(),
        }
    }
}

/// The amount of text that a run read, if it differs from that of the endpoints' runs.
fn other_text(run: &RunDone, texts: &HashMap<&str, TextLength>) -> Option<TextLength> {
    let whole = texts.get(run.measure.as_str())?;
    run.text.filter(|text| text.differs_from(*whole))
}

/// The samples of a run, one for each value. A failed run without a value gets one sample with a
/// link to its log.
fn samples(run: &RunDone, texts: &HashMap<&str, TextLength>) -> Vec<SampleLine> {
    let chunks = other_text(run, texts).map(|text| text.chunks);
    let failure = run.failure.as_ref().map(failure_text);
    let sample = |metric: &Metric, value| SampleLine {
        metric: metric.clone(),
        value,
        log: run.log.clone(),
        phase: run.phase,
        reused: run.reused,
        stored_at: run.stored_at.clone(),
        same_as: run.same_as.clone(),
        attempt: run.attempt.clone(),
        host: host_name(run),
        slot: None,
        failure: failure.clone(),
        failed: run.failure.clone(),
        chunks,
    };
    let mut samples = Vec::new();
    if failure.is_some() && run.values.keys().all(|metric| Resource::of(metric).is_some()) {
        let printed = run.failure.as_ref().and_then(Failure::printed);
        samples.push(sample(&Metric::of(&run.measure), printed));
    }
    samples.extend(run.values.iter().map(|(metric, value)| sample(metric, Some(value.clone()))));
    samples
}

/// The line of an excluded run.
fn apart_line(run: &RunDone, why: ExclusionReason) -> ExcludedRunLine {
    ExcludedRunLine {
        measure: run.measure.clone(),
        why,
        log: run.log.clone(),
        phase: run.phase,
        reused: run.reused,
        stored_at: run.stored_at.clone(),
        same_as: run.same_as.clone(),
        attempt: run.attempt.clone(),
        host: host_name(run),
    }
}

fn host_name(run: &RunDone) -> Option<String> {
    run.host.as_ref().map(|host| host.name.clone())
}

fn build_line(build: &BuildDone) -> BuildLine {
    BuildLine {
        attempt: build.attempt.clone(),
        log: build.log.clone(),
        phase: build.phase,
        reused: build.reused,
        stored_at: build.stored_at.clone(),
        wall_s: build.wall_s,
        failure: build.failure.as_ref().map(failure_text),
        failed: build.failure.clone(),
        prepare: build.prepare.clone(),
        compiler_cache: build.compiler_cache,
        node: build.node.clone(),
        slot: None,
        commands: build.commands.clone(),
    }
}

fn run_line(run: &RunDone, apart: Option<ExclusionReason>) -> RunLine {
    let resident = run.values.get(&Resource::PeakMemory.metric(&run.measure));
    RunLine {
        measure: run.measure.clone(),
        attempt: run.attempt.clone(),
        log: run.log.clone(),
        phase: run.phase,
        reused: run.reused,
        stored_at: run.stored_at.clone(),
        same_as: run.same_as.clone(),
        wall_s: run.wall_s,
        peak_rss_mib: resident.and_then(Value::number),
        argv: run.argv.clone(),
        repeats: run.repeats.clone(),
        apart,
        host: run.host.as_deref().cloned(),
        slot: None,
        machine: run.machine.as_deref().cloned(),
    }
}
