//! Searches one range: `git bisect run` or the posterior names a commit and the confirmation tests
//! the claim. If a claim fails, the search goes on with the confirmation's runs.

use crate::config::BuildMode;
use crate::evaluation::{Aim, CommitId, Culprit, Finding, Phase, Target, Verdict};
use crate::git::{BisectSession, End, Range};
use crate::oracle::{Observation, Recorder};
use crate::process::{self, Keep, LogFile};
use crate::search::Step;
use crate::store::journal::{Event, SearchBy, SearchEnd, SearchMethod};

use super::HuntError;
use super::account::SearchRange;
use super::confirm::{Claim, ConfirmationOutcome};
use super::driver::Driver;
use super::orientation::SearchOrientation;
use super::posterior::posterior;
use super::ruler::CHANGED;
use super::sampler::Sampler;
use super::short_text;
use super::strategy::SearchStrategy;
use super::verdict::{VerdictContext, write_down};

/// Maximum number of failed claims before the search ends with candidates.
const MOST_ROUNDS: usize = 3;

/// Number of failed claims after which the range is searched by failure rates.
const MOST_REFUTED: usize = 2;

/// Maximum number of side branches that one search sets aside.
const MOST_ASIDES: usize = 8;

/// Maximum number of paths in a note.
const MOST_NAMED: usize = 5;

/// The result of searching a range.
#[derive(Debug)]
pub(super) enum Searched {
    /// The confirmed commit, and the runs on the bad side of its step.
    Culprit(Box<Culprit>, Observation),
    /// The commit that crosses the threshold by a step too small to blame it, and its runs.
    Gradual(Box<Culprit>, Observation),
    /// Candidates, and why the search cannot decide between them.
    Candidates(Vec<CommitId>, String),
    /// Candidates of which only the newest can be tested.
    Untestable(Vec<CommitId>),
    /// The range has no step to find. The text says why.
    Nothing(String),
    /// Incremental and clean builds of a commit give different verdicts. The text says how.
    BuildsDisagree(String),
}

/// Searches a range until a confirmation holds or the search gives up.
pub(super) fn search(
    driver: &mut Driver<'_>,
    search_range: SearchRange,
) -> Result<Searched, HuntError> {
    let strategy = SearchStrategy::of(&search_range.targets, driver.begun.options.search);
    let Some(target) = strategy.noisy().cloned() else {
        return with_git(driver, search_range, &strategy);
    };
    let mut sampler = Sampler::default();
    let (target, ends) = match driver.ends(&search_range, &target, &mut sampler)? {
        Ok(ends) => ends,
        Err(why) => return Ok(Searched::Nothing(why)),
    };
    // The levels of this range's own ends may ask for another search method.
    let strategy =
        SearchStrategy::of(&[Target::Guard(target.clone())], driver.begun.options.search);
    if strategy.method == SearchMethod::Sequential {
        let is_last_word = driver.begun.options.search == SearchBy::GitBisect;
        match with_git(driver, search_range.clone(), &strategy)? {
            // One or two runs a commit were not enough, so the posterior uses all runs together.
            Searched::Candidates(..) | Searched::Untestable(_) | Searched::BuildsDisagree(_)
                if !is_last_word => {}
            found => return Ok(found),
        }
    }
    let searched = posterior(driver, &search_range, &target, ends, sampler)?;
    if search_range.paths.is_empty() || !matches!(searched, Searched::Candidates(..)) {
        return Ok(searched);
    }
    // The path filter may exclude the first bad commit. The wider search reuses all runs.
    let wider = SearchRange { paths: Vec::new(), ..search_range.clone() };
    let searched = search(driver, wider)?;
    if let Searched::Culprit(culprit, _) | Searched::Gradual(culprit, _) = &searched {
        driver.name_what_was_hidden(culprit, &search_range.paths)?;
    }
    Ok(searched)
}

/// Lets git choose the commits.
fn with_git(
    driver: &mut Driver<'_>,
    mut search_range: SearchRange,
    strategy: &SearchStrategy,
) -> Result<Searched, HuntError> {
    if let Some(searched) = short_text::search(driver, &search_range, strategy)? {
        return Ok(searched);
    }
    let mut dropped = Vec::new();
    let step = strategy.noisy().and_then(|target| {
        let is_paired = target.noise?.paired;
        let levels =
            SearchOrientation::of(search_range.aim, target).levels(target.levels()?, is_paired);
        Some(Step::between(&levels, levels.step(), is_paired))
    });
    let is_alone = driver.begun.options.search == SearchBy::GitBisect;
    let most = if strategy.noisy().is_some() && !is_alone { 1 } else { MOST_ROUNDS };
    let (mut round, mut asides) = (0, 0);
    let mut last_word = String::new();
    while round < most {
        let number = driver.searches;
        let end = bisect(driver, &search_range, strategy)?;
        driver.searches += 1;
        let commit = match end {
            SearchEnd::Candidates(commits) => return Ok(Searched::Untestable(commits)),
            SearchEnd::FirstBad(commit) => commit,
        };
        let claim = Claim {
            commit: &commit,
            targets: &search_range.targets,
            strategy,
            step,
            search_number: number,
            ends: search_range.ends(),
            aim: search_range.aim,
            aside: &search_range.aside,
        };
        match driver.confirm(claim)? {
            ConfirmationOutcome::Culprit(culprit, seen) => {
                driver.name_what_was_hidden(&culprit, filter_of(&search_range, &dropped))?;
                return Ok(Searched::Culprit(culprit, seen));
            }
            ConfirmationOutcome::Small(culprit, seen) => {
                driver.name_what_was_hidden(&culprit, filter_of(&search_range, &dropped))?;
                return Ok(Searched::Gradual(culprit, seen));
            }
            ConfirmationOutcome::Unsure(commits, why) => {
                driver.contradicted(&commit, &why)?;
                return Ok(Searched::Candidates(commits, why));
            }
            ConfirmationOutcome::ParentAlready(parent, why) => {
                driver.contradicted(&commit, &why)?;
                if asides < MOST_ASIDES
                    && let Some(aside) = driver.side_branch(&search_range, &commit, &parent)?
                {
                    search_range.aside.push(aside);
                    asides += 1;
                    continue;
                }
                let [old, _] = search_range.ends();
                if !driver.oracle.history.is_ancestor(old, &parent)? {
                    return Ok(Searched::Candidates(vec![commit, parent], why));
                }
                if !driver.was_told(&parent, search_range.aim.older(), number)? && parent != *old {
                    // The path filter excluded the first bad commit, or git inferred the verdict.
                    search_range = search_range.up_to(parent);
                    if !search_range.paths.is_empty() {
                        dropped = std::mem::take(&mut search_range.paths);
                    }
                    round += 1;
                    continue;
                }
                last_word = why;
            }
            ConfirmationOutcome::NotReproduced(why) => {
                driver.contradicted(&commit, &why)?;
                last_word = why;
            }
            ConfirmationOutcome::Undecided(why) => {
                driver.contradicted(&commit, &why)?;
                last_word = why;
                // Searching again does not help if runs of one commit differ.
                round = most;
            }
        }
        if driver.oracle.config.build.mode == BuildMode::Incremental {
            return Ok(Searched::BuildsDisagree(last_word));
        }
        round += 1;
        if strategy.noisy().is_none()
            && round >= MOST_REFUTED
            && let Some(searched) = driver.search_by_rates(&search_range, strategy, &last_word)?
        {
            return Ok(searched);
        }
    }
    let why = format!("measurements of one commit contradict each other: {last_word}");
    let (range, why) = driver.open_range(&search_range, &why)?;
    Ok(Searched::Candidates(range, why))
}

/// The reason for candidates that cannot be tested.
pub(super) const UNTESTABLE: &str = "the other commits between them cannot be tested";

/// The path filter with which a search began, even if it was dropped since.
fn filter_of<'a>(search_range: &'a SearchRange, dropped: &'a [String]) -> &'a [String] {
    if dropped.is_empty() { &search_range.paths } else { dropped }
}

impl Driver<'_> {
    /// If the path filter excludes the commit, writes a note with the paths that the filter lacks.
    pub(super) fn name_what_was_hidden(
        &mut self,
        culprit: &Culprit,
        filter: &[String],
    ) -> Result<(), HuntError> {
        let touching = Range {
            old: culprit.parents.clone(),
            new: culprit.info.commit.clone(),
            first_parent: false,
            paths: filter.to_vec(),
        };
        if filter.is_empty() || self.oracle.history.count(&touching)? > 0 {
            return Ok(());
        }
        let named: Vec<&str> =
            culprit.files.iter().take(MOST_NAMED).map(|file| file.path.as_str()).collect();
        let more = culprit.files.len().saturating_sub(named.len());
        let text = format!(
            "the path filter ({}) hid {}, so it was dropped: what that commit touches is not in \
             it: {}{}",
            filter.join(" "),
            culprit.info.commit.short(),
            named.join(", "),
            if more > 0 { format!(", and {more} more") } else { String::new() }
        );
        Ok(self.oracle.recorder.event(Event::Note { text })?)
    }

    pub(super) fn contradicted(
        &mut self,
        commit: &CommitId,
        reason: &str,
    ) -> Result<(), HuntError> {
        let event = Event::Contradicted { commit: commit.clone(), reason: reason.to_owned() };
        Ok(self.oracle.recorder.event(event)?)
    }
}

/// Writes the start of a search to the journal; returns git's range.
pub(super) fn open_search(
    driver: &mut Driver<'_>,
    search_range: &SearchRange,
    strategy: &SearchStrategy,
) -> Result<Range, HuntError> {
    let [old, new] = search_range.ends();
    let range = Range {
        old: [old]
            .into_iter()
            .chain(search_range.aside.iter().flat_map(|aside| &aside.tips))
            .cloned()
            .collect(),
        new: new.clone(),
        first_parent: driver.begun.options.first_parent,
        paths: search_range.paths.clone(),
    };
    let (targets, chunks) = sought(driver, strategy);
    driver.oracle.recorder.event(Event::Search {
        search_number: driver.searches,
        good: search_range.good.clone(),
        bad: search_range.bad.clone(),
        commits: driver.oracle.history.count(&range)?,
        targets,
        paths: search_range.paths.clone(),
        method: Some(strategy.method),
        chunks,
        clean: driver.is_clean,
    })?;
    Ok(range)
}

/// Runs `git bisect` over the search range.
pub(super) fn bisect(
    driver: &mut Driver<'_>,
    search_range: &SearchRange,
    strategy: &SearchStrategy,
) -> Result<SearchEnd, HuntError> {
    let skip = driver.begun.options.skip.clone();
    let range = open_search(driver, search_range, strategy)?;
    let number = driver.searches;
    let path = driver.hunt.bisect_repository();
    let session =
        BisectSession::open(driver.oracle.history.repository(), &path, &search_range.bad)?;
    session.start(&range, search_range.aim)?;
    replay(driver, &session, search_range, strategy, &skip)?;
    if ended(&session)?.is_none() {
        run_git(driver, &session, number)?;
    }
    let end = match ended(&session)? {
        Some(End::FirstBad(commit)) => SearchEnd::FirstBad(commit),
        Some(End::Candidates(commits)) => SearchEnd::Candidates(commits),
        Some(End::NoTestable) if !search_range.paths.is_empty() => {
            let wider = SearchRange { paths: Vec::new(), ..search_range.clone() };
            return bisect(driver, &wider, strategy);
        }
        Some(End::NoTestable) => SearchEnd::Candidates(driver.oracle.history.commits(&range)?),
        // Later searches have other ends, whose merge bases the endpoints' check did not cover.
        Some(End::MergeBaseBad(_)) if number > 0 => {
            SearchEnd::Candidates(driver.oracle.history.commits(&range)?)
        }
        Some(End::MergeBaseBad(commit)) => {
            return Err(HuntError::World(format!(
                "git says that the merge base {} is {}, which was measured as {}",
                commit.short(),
                search_range.aim.newer(),
                search_range.aim.older()
            )));
        }
        None => return Err(why_git_stopped(driver)?),
    };
    session.reset()?;
    driver.oracle.recorder.event(Event::SearchEnd { search_number: number, end: end.clone() })?;
    Ok(end)
}

/// The targets of a search, and how many chunks of the text its runs read (`None`: all).
fn sought(driver: &Driver<'_>, strategy: &SearchStrategy) -> (Vec<Target>, Option<u32>) {
    match &driver.short {
        Some(short) => (short.targets.clone(), Some(short.chunks)),
        None => (strategy.targets.clone(), None),
    }
}

/// Marks known commits in the bisect session: those to skip, and those that the hunt judged before,
/// such as in an interrupted search. Verdicts are derived again from stored runs. If a commit was
/// confirmed, only the runs of its confirmation count.
fn replay(
    driver: &mut Driver<'_>,
    session: &BisectSession,
    search_range: &SearchRange,
    strategy: &SearchStrategy,
    skip: &[CommitId],
) -> Result<(), HuntError> {
    for commit in skip {
        session.mark(Verdict::Skip, commit)?;
    }
    // Mark merge bases too. Otherwise `git bisect run` asks for them, and silently ends if there is
    // more than one (git 2.39 and 2.47).
    let history = &driver.oracle.history;
    let [old, new] = search_range.ends();
    if !history.is_ancestor(old, new)? {
        for base in history.merge_bases(old, new)? {
            let phase = Phase::Search;
            let (judgement, _) =
                driver.oracle.judge_until_decided(&base, &strategy.targets, phase, None)?;
            session.mark(judgement.verdict, &base)?;
        }
    }
    let (targets, chunks) = sought(driver, strategy);
    let (mut known, mut read) = (Vec::new(), None);
    for entry in driver.hunt.entries()? {
        if let Event::Search { chunks, .. } = entry.event {
            read = chunks;
        } else if let Event::Judged(judged) = entry.event {
            // A verdict counts only for the part of the text that its runs read.
            let over = read.filter(|_| judged.phase == Phase::Search);
            if over != chunks {
                continue;
            }
            match known.iter_mut().find(|(commit, _)| *commit == judged.commit) {
                Some((_, verdict)) => *verdict = judged.judgement.verdict,
                None => known.push((judged.commit, judged.judgement.verdict)),
            }
        }
    }
    for (commit, before) in known {
        let is_between = driver.oracle.history.is_ancestor(old, &commit)?
            && driver.oracle.history.is_ancestor(&commit, new)?;
        let is_end = commit == *old || commit == *new;
        if !is_between || is_end || ended(session)?.is_some() {
            continue;
        }
        let phase = match chunks {
            // The confirmation reads the full text, so its runs do not count here.
            Some(_) => Phase::Search,
            None => driver.phase_of_truth(&commit, &targets)?,
        };
        let (mut judgement, observation) =
            driver.oracle.judge_until_decided(&commit, &targets, phase, chunks)?;
        if judgement.verdict != before {
            short_text::over(&mut judgement, chunks);
            let place = VerdictContext { search_number: driver.searches, phase, left: None };
            write_down(&mut driver.oracle, &observation, &judgement, place)?;
        }
        // Mark only commits that narrow the search: git refuses a new one older than an old one.
        if still_open(session, &driver.oracle.history, &commit)? {
            session.mark(judgement.verdict, &commit)?;
        }
    }
    Ok(())
}

/// Whether a verdict on this commit narrows git's search: the commit is an ancestor of the one
/// marked new, but of none marked old.
fn still_open(
    session: &BisectSession,
    history: &crate::git::History,
    commit: &CommitId,
) -> Result<bool, HuntError> {
    let Some(state) = session.state()? else { return Ok(false) };
    let Some(new) = &state.new else { return Ok(true) };
    if commit == new || !history.is_ancestor(commit, new)? {
        return Ok(false);
    }
    for old in &state.old {
        if history.is_ancestor(commit, old)? {
            return Ok(false);
        }
    }
    Ok(true)
}

impl Driver<'_> {
    /// Whether a search up to this one gave the commit this verdict. Confirmations do not count.
    fn was_told(
        &self,
        commit: &CommitId,
        verdict: Verdict,
        search_number: usize,
    ) -> Result<bool, HuntError> {
        Ok(self.hunt.entries()?.into_iter().any(|entry| match entry.event {
            Event::Judged(judged) => {
                judged.commit == *commit
                    && judged.judgement.verdict == verdict
                    && judged.phase != Phase::Confirm
                    && judged.search_number <= search_number
            }
            _ => false,
        }))
    }

    /// The phase whose runs decide a commit's verdict: its confirmation if it had one.
    fn phase_of_truth(
        &self,
        commit: &CommitId,
        targets: &[crate::evaluation::Target],
    ) -> Result<Phase, HuntError> {
        let measures = crate::oracle::measures_of(targets);
        let confirmed = self.hunt.entries()?.into_iter().any(|entry| match entry.event {
            Event::Judged(judged) => judged.phase == Phase::Confirm && judged.commit == *commit,
            _ => false,
        });
        Ok(if confirmed && !measures.is_empty() { Phase::Confirm } else { Phase::Search })
    }
}

fn ended(session: &BisectSession) -> Result<Option<End>, HuntError> {
    Ok(session.state()?.and_then(|state| state.end))
}

fn run_git(driver: &Driver<'_>, session: &BisectSession, number: usize) -> Result<(), HuntError> {
    let oracle = [
        driver.program.clone().into_os_string(),
        "oracle".into(),
        "--hunt".into(),
        driver.hunt.id().into(),
    ];
    // The oracle first ends its engine, which has a grace period of its own.
    let git = session.run_invocation(oracle).grace(std::time::Duration::from_secs(30));
    let log = driver.hunt.path().join(format!("logs/bisect-{number}.log"));
    let file = LogFile { path: &log, header: &[], sync: false };
    process::run(&git, &driver.stop, &file, &mut |_, _| Keep::No)?;
    if driver.stop.is_requested() {
        return Err(HuntError::Stopped);
    }
    Ok(())
}

/// The error if git stopped without an answer. The oracle wrote the reason to the journal.
fn why_git_stopped(driver: &Driver<'_>) -> Result<HuntError, HuntError> {
    let budget = driver.oracle.config.statistics.max_runs;
    let spent = Recorder::of(driver.hunt)?.made() >= budget;
    let since = driver.hunt.entries()?.into_iter().rev();
    let last =
        since.take_while(|entry| !matches!(entry.event, Event::Search { .. })).find_map(|entry| {
            match entry.event {
                Event::Stopped { reason, world } => Some((reason, world)),
                _ => None,
            }
        });
    Ok(match last {
        Some((_, true)) if spent => HuntError::Budget(budget),
        Some((reason, true)) => HuntError::World(reason),
        Some((_, false)) => HuntError::Stopped,
        None => HuntError::World(format!(
            "git bisect run stopped without an answer; see logs/ in {}",
            driver.hunt.path().display()
        )),
    })
}

/// A sentence that names the candidates and the reason.
pub(super) fn candidates_sentence(commits: &[CommitId], why: &str, aim: Aim) -> String {
    let sought = aim.sought();
    let names: Vec<_> = commits.iter().map(CommitId::short).collect();
    match names.as_slice() {
        // A changed ruler is mentioned before the engine.
        [only] if why.starts_with(CHANGED) => {
            format!("{why}; if the engine did it, the {sought} may be {only}")
        }
        [only] => format!("the {sought} may be {only}; {why}"),
        _ => format!("the {sought} is one of {}: {}; {why}", names.len(), names.join(", ")),
    }
}

/// The finding of a hunt that has no commit to name.
pub(super) fn nothing() -> Finding {
    Finding::plain(
        crate::evaluation::Outcome::Candidates,
        "the search ended without a commit to name",
    )
}
