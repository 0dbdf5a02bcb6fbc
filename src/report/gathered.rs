//! Gathers what the events of a journal say, and makes a report of it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use crate::evaluation::{CommitId, Culprit, Finding, Limits, Lineage, Outcome, Phase};
use crate::store::journal::{Begun, BuildDone, Event, Judged, Options, Plan, RunDone, Unread};
use crate::ui::text;

use super::environment::environment;
use super::guards::Guards;
use super::measured::Measured;
use super::model::{
    AccountLine, Commands, Endpoint, FirstBad, MeasuredCommit, Report, Rise, SCHEMA, SearchLine,
    StepLine,
};
use super::posterior::{Searches, likeliest_first, say_how_likely};
use super::{cause, hosts, matrix, repeats, shapes, short, timed};

/// Who or what stopped a hunt.
#[derive(Clone, Copy)]
enum Stop<'a> {
    Person,
    /// A tool or the disk failed, with the reason in a sentence.
    Outside(&'a str),
}

/// What the events of a journal say, in order of time.
#[derive(Default)]
pub(super) struct Gathered<'a> {
    is_driven: bool,
    measured: Measured<'a>,
    guards: Guards<'a>,
    judged: Vec<&'a Judged>,
    /// Index in `judged` of the first verdict after the last change of the machine.
    steps_from: usize,
    searches: Searches<'a>,
    follower: short::SearchFollower<'a>,
    confirmed: Vec<&'a Culprit>,
    notes: Vec<String>,
    /// Nodes of the cluster that were set aside, and why.
    set_aside: BTreeMap<&'a str, &'a str>,
    /// The logs of tests of parts of a change, by attempt name.
    trial_logs: BTreeMap<String, String>,
    /// The logs of other runs that explain the first bad commit, by attempt name.
    inquiry_logs: BTreeMap<String, String>,
    /// The runs whose tensors were compared.
    dumped: BTreeSet<&'a str>,
    commands: Commands,
    unread: Option<&'a Unread>,
    plan: Option<&'a Plan>,
    stopped: Option<Stop<'a>>,
    /// New limits of a resumed hunt.
    limits: Option<&'a Limits>,
    finding: Option<&'a Finding>,
    /// The judged commits, oldest first; empty until the hunt ends.
    order: &'a [CommitId],
}

impl<'a> Gathered<'a> {
    /// Nothing yet. `is_driven`: whether a process drives the hunt right now; `dumped`: the runs
    /// whose tensors were compared.
    pub(super) fn new(is_driven: bool, dumped: BTreeSet<&'a str>) -> Self {
        Self { is_driven, dumped, ..Self::default() }
    }

    /// The machine changed, or checks are left out: what was found before does not count.
    fn begin_anew(&mut self, attempts: &'a [String]) {
        self.measured.machine_changed(attempts);
        self.confirmed.clear();
        self.steps_from = self.judged.len();
        self.searches = Searches::default();
        self.follower = short::SearchFollower::default();
    }

    pub(super) fn see(&mut self, event: &'a Event) {
        match event {
            Event::Begun(_)
            | Event::FailureHunt { .. }
            | Event::Neighbours { .. }
            | Event::Localizing { .. }
            | Event::EndWithout { .. }
            | Event::Level(_)
            | Event::Tensors(_)
            | Event::Trial(_)
            | Event::Sweeping { .. }
            | Event::Swept(_)
            | Event::Ahead(_)
            | Event::TookOver { .. }
            | Event::Home { .. }
            | Event::HomeChecked
            | Event::GitFolder(_)
            | Event::PutBack(_)
            | Event::NoDirectMode
            | Event::ConfirmsElsewhere { .. } => {}
            Event::OneSlot { attempts } => self.measured.leave_out_other_slots(attempts),
            Event::NodeSetAside { node, why, attempts } => {
                self.measured.leave_out_other_node(attempts);
                self.set_aside.insert(node, why);
            }
            Event::WarmsUp { attempts, .. } => self.measured.leave_out_first_runs(attempts),
            Event::MachineChanged { attempts, .. } => self.begin_anew(attempts),
            Event::ChecksLeftOut { .. } => self.begin_anew(&[]),
            Event::Resumed { limits, .. } => {
                self.limits = limits.as_ref().or(self.limits);
                self.stopped = None;
                // If a limit had ended the hunt, its answer is out of date.
                (self.finding, self.order) = (None, &[]);
            }
            // This build has only a part of the change.
            Event::Build(BuildDone { phase: Phase::Localize, attempt, log, .. })
            | Event::Run(RunDone { phase: Phase::Localize, attempt, log, .. }) => {
                self.trial_logs.insert(attempt.clone(), log.clone());
            }
            // This build or run explains the first bad commit further.
            Event::Build(BuildDone { phase: Phase::Inquiry, attempt, log, .. })
            | Event::Run(RunDone { phase: Phase::Inquiry, attempt, log, .. }) => {
                self.inquiry_logs.insert(attempt.clone(), log.clone());
            }
            Event::Build(build) => {
                self.measured.build(build);
                if !build.commands.is_empty() && build.prepare.is_none() {
                    self.commands.build.clone_from(&build.commands);
                }
            }
            // The run whose tensors were compared may have been made for another purpose.
            Event::Run(run) if self.dumped.contains(run.attempt.as_str()) => {
                self.inquiry_logs.insert(run.attempt.clone(), run.log.clone());
            }
            Event::Run(run) => {
                // A reader who repeats a run needs the command for the full text.
                if !self.measured.run(run) {
                    self.commands.measures.insert(run.measure.clone(), run.argv.clone());
                }
            }
            Event::Judged(judged) => {
                self.measured.judge(judged);
                self.judged.push(judged);
            }
            Event::Neighbour { commit, subject, of, side } => {
                self.measured.beside(commit, subject, of, *side);
            }
            Event::Targets { targets, steadiness, others } => {
                self.guards = Guards::seen(targets, *steadiness, others);
            }
            Event::Unread(unread) => self.unread = Some(unread),
            Event::Plan(plan) => self.plan = Some(plan),
            Event::Search { .. } => self.began_search(event),
            Event::Weighed(weighed) => self.searches.weighed(weighed),
            Event::SearchEnd { search_number, end } => self.searches.ended(*search_number, end),
            Event::Confirmed(culprit) => self.confirm(culprit),
            Event::Contradicted { commit, reason } => {
                self.unconfirm(commit);
                self.note(format!("{}: the claim did not hold: {reason}", commit.short()));
            }
            Event::Note { text } => self.note(text.clone()),
            Event::Stopped { world, fault } => {
                let why = if *world { Stop::Outside(&fault.reason) } else { Stop::Person };
                self.stopped = Some(why);
            }
            Event::Ended { finding, order } => {
                self.finding = Some(finding);
                self.order = order;
            }
        }
    }

    fn began_search(&mut self, event: &'a Event) {
        let Event::Search {
            search_number, good, bad, commits, targets, paths, chunks, method, ..
        } = event
        else {
            return;
        };
        if let Some(before) = self.follower.see(event) {
            self.measured.redo(before, *search_number);
        }
        let line = SearchLine {
            search_number: *search_number,
            good: good.clone(),
            bad: bad.clone(),
            commits: *commits,
            paths: paths.clone(),
            chunks: *chunks,
            method: *method,
            named: None,
        };
        self.searches.began(line, targets);
    }

    fn confirm(&mut self, culprit: &'a Culprit) {
        self.unconfirm(&culprit.info.commit);
        self.confirmed.push(culprit);
    }

    fn unconfirm(&mut self, commit: &CommitId) {
        self.confirmed.retain(|culprit| culprit.info.commit != *commit);
    }

    /// Adds a note, unless it is there: a resumed hunt repeats some notes.
    fn note(&mut self, text: String) {
        if !self.notes.contains(&text) {
            self.notes.push(text);
        }
    }

    pub(super) fn report(
        mut self,
        begun: &Begun,
        at: &str,
        history: Vec<Lineage>,
        folder: &Path,
    ) -> Report {
        let interrupted = self.finding.is_none().then(|| self.interrupted());
        let finding = self.finding.or(interrupted.as_ref()).cloned();
        let finding = finding.unwrap_or_else(|| Finding::plain(Outcome::Interrupted, ""));
        for note in &finding.notes {
            self.note(note.clone());
        }
        let culprit = finding.culprit().map(FirstBad::from);
        let accounts: Vec<_> = finding.accounts.iter().map(AccountLine::from).collect();
        let main = culprit.as_ref().and_then(|c| c.effect.as_ref()).map(|e| &e.metric);
        let account = accounts.iter().find(|a| Some(&a.metric) == main).or(accounts.first());
        let candidates = match &culprit {
            Some(culprit) if finding.candidates.is_empty() => vec![culprit.commit.clone()],
            _ => finding.candidates.clone(),
        };
        let culprits: Vec<FirstBad> = finding.culprits.iter().map(FirstBad::from).collect();
        let subjects = subjects(begun, &finding, &self.judged);
        let mut commits = self.measured.into_commits();
        for commit in &mut commits {
            let subject = subjects.get(&commit.commit).map(|s| (*s).to_owned());
            commit.subject = subject.or_else(|| commit.subject.take());
        }
        sort(&mut commits, self.order, begun.ends()[0], &history);
        let posterior = self.searches.posterior();
        let candidates = likeliest_first(candidates, &posterior);
        say_how_likely(&mut commits, &posterior);
        Report {
            schema: SCHEMA.to_owned(),
            hunt: begun.hunt.clone(),
            tool: begun.tool.clone(),
            outcome: finding.outcome,
            summary: finding.summary.clone(),
            good: Endpoint::new(&begun.good, &begun.asked.0),
            bad: Endpoint::new(&begun.bad, &begun.asked.1),
            within: begun.within.clone(),
            shapes: finding.shapes.as_ref().map(|shapes| shapes::line(shapes, &self.inquiry_logs)),
            other_causes: cause::others(&finding, &self.trial_logs),
            joint_revert: cause::joint_revert(&finding, begun.options.aim, &self.trial_logs),
            joint_backport: cause::joint_backport(&finding, &self.trial_logs),
            cause: cause::main(&finding, begun.options.aim, self.trial_logs),
            inquiry: finding.inquiry.clone(),
            inquiry_logs: self.inquiry_logs.clone(),
            parents: culprit.as_ref().map(|c| c.parents.clone()).unwrap_or_default(),
            culprit,
            candidates,
            account: account.cloned(),
            contributions: finding.contributions.iter().map(Rise::from).collect(),
            matrix: matrix::of(&self.guards.lines(), &culprits),
            culprits,
            guards: self.guards.lines(),
            target_failure: self.guards.failure(),
            steadiness: self.guards.steadiness(),
            searches: self.searches.lines(),
            posterior,
            failed: Vec::new(),
            repeats: repeats::of(&commits),
            timed: timed::of(&commits),
            hosts: hosts::of(&commits, &self.set_aside),
            build_nodes: Vec::new(),
            unread: self.unread.cloned(),
            plan: self.plan.cloned(),
            totals: crate::report::model::Totals::default(),
            ahead: None,
            notes: self.notes,
            next: finding.next.clone(),
            unexplained: finding.unexplained.clone(),
            open_steps: finding.open_steps.clone(),
            undone_steps: finding.undone_steps.clone(),
            limit: finding.limit.clone(),
            inputs: begun.inputs.clone(),
            environment: environment(&begun.environment, &begun.surroundings),
            machine: begun.machine.clone(),
            commands: self.commands,
            options: Options {
                limits: self.limits.cloned().unwrap_or_else(|| begun.options.limits.clone()),
                ..begun.options.clone()
            },
            range: begun.commits,
            began: at.to_owned(),
            git: begun.git.clone(),
            config_sha256: begun.config_sha256.clone(),
            checkout: begun.checkout.clone(),
            recheck: None,
            steps: steps(&self.judged[self.steps_from..]),
            history,
            until: String::new(),
            is_unpacked: false,
            is_running: self.is_driven && self.stopped.is_none(),
            candidate_changes: Vec::new(),
            slots: begun.slots.clone(),
            forge: None,
            folder: folder.to_owned(),
            commits,
            accounts,
        }
    }

    /// The finding of an unfinished hunt. It lists the confirmed commits but no main one: a larger
    /// step may still be found.
    fn interrupted(&self) -> Finding {
        let (why, then) = match self.stopped {
            Some(Stop::Person) => ("The hunt was stopped.".to_owned(), RESUME),
            Some(Stop::Outside(reason)) => {
                let reason = reason.trim_end_matches('.');
                (format!("The hunt was stopped: {reason}."), RESUME)
            }
            None if self.is_driven => ("The hunt is running.".to_owned(), ""),
            None => (DIED.to_owned(), RESUME),
        };
        let left = self.judged.iter().rev().find_map(|judged| judged.left);
        let are = if self.is_driven && self.stopped.is_none() { "are" } else { "were" };
        let left = left.map_or_else(String::new, |(commits, steps)| {
            format!(
                " About {} over {} {are} left.",
                text::plural(steps, "more step"),
                text::plural(commits, "commit")
            )
        });
        let mut finding = Finding::plain(Outcome::Interrupted, format!("{why}{left}{then}"));
        finding.culprits = self.confirmed.iter().map(|culprit| (*culprit).clone()).collect();
        finding
    }
}

/// The reason shown if the driver ended without an event in the journal.
const DIED: &str = "The hunt's process ended unexpectedly: it was killed, or ran out of memory, or \
                    the machine went down.";

/// What to do after an interruption.
const RESUME: &str = " `bisect-ppl resume` goes on with it.";

/// Sorts in order of history: in that of `judged`, which the journal's end lists, or if it is empty
/// in that of `history`. Commits that the list does not have come last.
fn sort(commits: &mut [MeasuredCommit], judged: &[CommitId], old: &CommitId, history: &[Lineage]) {
    let order: Vec<&CommitId> = if judged.is_empty() && !history.is_empty() {
        [old].into_iter().chain(history.iter().map(|one| &one.commit)).collect()
    } else {
        judged.iter().collect()
    };
    let places: HashMap<_, _> = order.into_iter().zip(0..).collect();
    commits.sort_by_key(|commit| places.get(&commit.commit).copied().unwrap_or(usize::MAX));
}

/// The steps of all searches. A resumed search repeats its verdicts; the first ones count.
fn steps(judged: &[&Judged]) -> Vec<StepLine> {
    let mut seen = HashSet::new();
    let searched = judged.iter().filter(|judged| judged.phase == Phase::Search);
    let new = searched.filter(|judged| seen.insert((judged.search_number, &judged.commit)));
    new.map(|judged| StepLine {
        search_number: judged.search_number,
        commit: judged.commit.clone(),
        verdict: judged.judgement.verdict,
        left: judged.left.map(|(commits, _)| commits),
    })
    .collect()
}

fn subjects<'f>(
    begun: &'f Begun,
    finding: &'f Finding,
    judged: &[&'f Judged],
) -> HashMap<CommitId, &'f str> {
    [&begun.good, &begun.bad]
        .into_iter()
        .chain(finding.culprits.iter().map(|culprit| &culprit.info))
        .map(|info| (info.commit.clone(), info.subject.as_str()))
        .chain(judged.iter().map(|judged| (judged.commit.clone(), judged.subject.as_str())))
        .collect()
}
