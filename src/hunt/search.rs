//! One stretch of history: `git bisect run` names a commit, the confirmation tests the claim,
//! and a claim that does not hold is searched again with what is known now.

use crate::config::BuildMode;
use crate::evaluation::{Aim, CommitId, Culprit, Finding, Phase, Target, Verdict};
use crate::git::{BisectSession, End, Range};
use crate::oracle::{Observation, Recorder};
use crate::process::{self, Keep, LogFile};
use crate::search::Step;
use crate::store::journal::{Event, SearchBy, SearchEnd, Steadiness};

use super::HuntError;
use super::account::Stretch;
use super::confirm::{Claim, Confirmed};
use super::driver::Driver;
use super::heading::Heading;
use super::lead::Lead;
use super::posterior::posterior;
use super::ruler::CHANGED;
use super::sampler::Sampler;
use super::short;
use super::verdict::{Place, write_down};

/// How often a claim may fall before nobody is named.
const MOST_ROUNDS: usize = 3;

/// How many claims may be refuted before each run counts as one vote only.
const MOST_REFUTED: usize = 2;

/// How many side branches may be set aside.
const MOST_ASIDES: usize = 8;

/// How many paths a note names.
const MOST_NAMED: usize = 5;

/// What a stretch came to.
#[derive(Debug)]
pub(super) enum Searched {
    /// The commit that was sought, confirmed; and what was measured on the bad side of its step.
    Culprit(Box<Culprit>, Observation),
    /// The crossing commit, whose own step is too small to blame it.
    Gradual(Box<Culprit>, Observation),
    /// One of these, and why it could not be narrowed.
    Candidates(Vec<CommitId>, String),
    /// One of these, of which only the newest can be tested.
    Untestable(Vec<CommitId>),
    /// There is nothing to be found here after all, and why.
    Nothing(String),
    /// Builds on top of others and clean ones say different things of a commit, and how.
    BuildsDisagree(String),
}

/// Searches a stretch until an answer survives its confirmation.
pub(super) fn search(driver: &mut Driver<'_>, stretch: Stretch) -> Result<Searched, HuntError> {
    let lead = Lead::of(&stretch.targets, driver.begun.options.search);
    let Some(target) = lead.noisy().cloned() else { return with_git(driver, stretch, &lead) };
    let mut sampler = Sampler::default();
    let (target, ends) = match driver.ends(&stretch, &target, &mut sampler)? {
        Ok(ends) => ends,
        Err(why) => return Ok(Searched::Nothing(why)),
    };
    // Levels are what this stretch's own ends measure, and they say anew how to search it.
    let lead = Lead::of(&[Target::Guard(target.clone())], driver.begun.options.search);
    if lead.method == Steadiness::Sequential {
        let is_last_word = driver.begun.options.search == SearchBy::GitBisect;
        match with_git(driver, stretch.clone(), &lead)? {
            // One run or two per commit were not enough: the posterior weighs them all.
            Searched::Candidates(..) | Searched::Untestable(_) | Searched::BuildsDisagree(_)
                if !is_last_word => {}
            found => return Ok(found),
        }
    }
    let searched = posterior(driver, &stretch, &target, ends, sampler)?;
    if stretch.paths.is_empty() || !matches!(searched, Searched::Candidates(..)) {
        return Ok(searched);
    }
    // The filter may have hidden what did it: what was measured is not measured again.
    let wider = Stretch { paths: Vec::new(), ..stretch.clone() };
    let searched = search(driver, wider)?;
    if let Searched::Culprit(culprit, _) | Searched::Gradual(culprit, _) = &searched {
        driver.name_what_was_hidden(culprit, &stretch.paths)?;
    }
    Ok(searched)
}

/// Lets git choose the commits.
fn with_git(
    driver: &mut Driver<'_>,
    mut stretch: Stretch,
    lead: &Lead,
) -> Result<Searched, HuntError> {
    if let Some(searched) = short::search(driver, &stretch, lead)? {
        return Ok(searched);
    }
    let mut dropped = Vec::new();
    let step = lead.noisy().and_then(|target| {
        let is_paired = target.noise?.paired;
        let levels = Heading::of(stretch.aim, target).levels(target.levels()?, is_paired);
        Some(Step::between(&levels, levels.step(), is_paired))
    });
    let is_alone = driver.begun.options.search == SearchBy::GitBisect;
    let most = if lead.noisy().is_some() && !is_alone { 1 } else { MOST_ROUNDS };
    let (mut round, mut asides) = (0, 0);
    let mut last_word = String::new();
    while round < most {
        let number = driver.stretches;
        let end = bisect(driver, &stretch, lead)?;
        driver.stretches += 1;
        let commit = match end {
            SearchEnd::Candidates(commits) => return Ok(Searched::Untestable(commits)),
            SearchEnd::FirstBad(commit) => commit,
        };
        let claim = Claim {
            commit: &commit,
            targets: &stretch.targets,
            lead,
            step,
            stretch: number,
            ends: stretch.ends(),
            aim: stretch.aim,
            aside: &stretch.aside,
        };
        match driver.confirm(claim)? {
            Confirmed::Culprit(culprit, seen) => {
                driver.name_what_was_hidden(&culprit, filter_of(&stretch, &dropped))?;
                return Ok(Searched::Culprit(culprit, seen));
            }
            Confirmed::Small(culprit, seen) => {
                driver.name_what_was_hidden(&culprit, filter_of(&stretch, &dropped))?;
                return Ok(Searched::Gradual(culprit, seen));
            }
            Confirmed::Unsure(commits, why) => {
                driver.contradicted(&commit, &why)?;
                return Ok(Searched::Candidates(commits, why));
            }
            Confirmed::ParentToo(parent, why) => {
                driver.contradicted(&commit, &why)?;
                if asides < MOST_ASIDES
                    && let Some(aside) = driver.side_branch(&stretch, &commit, &parent)?
                {
                    stretch.aside.push(aside);
                    asides += 1;
                    continue;
                }
                let [old, _] = stretch.ends();
                if !driver.oracle.history.is_ancestor(old, &parent)? {
                    return Ok(Searched::Candidates(vec![commit, parent], why));
                }
                if !driver.was_told(&parent, stretch.aim.older(), number)? && parent != *old {
                    // The filter hid what did it, or a commit that git believed untested.
                    stretch = stretch.up_to(parent);
                    if !stretch.paths.is_empty() {
                        dropped = std::mem::take(&mut stretch.paths);
                    }
                    round += 1;
                    continue;
                }
                last_word = why;
            }
            Confirmed::NotSo(why) => {
                driver.contradicted(&commit, &why)?;
                last_word = why;
            }
            Confirmed::Undecided(why) => {
                driver.contradicted(&commit, &why)?;
                last_word = why;
                // Runs of one commit that differ do not get better by searching again.
                round = most;
            }
        }
        if driver.oracle.config.build.mode == BuildMode::Incremental {
            return Ok(Searched::BuildsDisagree(last_word));
        }
        round += 1;
        if lead.noisy().is_none()
            && round >= MOST_REFUTED
            && let Some(searched) = driver.search_by_rates(&stretch, lead, &last_word)?
        {
            return Ok(searched);
        }
    }
    let why = format!("measurements of one commit contradict each other: {last_word}");
    let (range, why) = driver.open_range(&stretch, &why)?;
    Ok(Searched::Candidates(range, why))
}

/// Why candidates are left where the rest cannot be tested.
pub(super) const UNTESTABLE: &str = "the other commits between them cannot be tested";

/// The path filter that a search began with, whether it was dropped since or not.
fn filter_of<'a>(stretch: &'a Stretch, dropped: &'a [String]) -> &'a [String] {
    if dropped.is_empty() { &stretch.paths } else { dropped }
}

impl Driver<'_> {
    /// Where a path filter hid the commit, and was dropped for it: says which paths it lacks.
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

/// Writes down that a stretch is searched, and how; returns its range.
pub(super) fn open_stretch(
    driver: &mut Driver<'_>,
    stretch: &Stretch,
    lead: &Lead,
) -> Result<Range, HuntError> {
    let [old, new] = stretch.ends();
    let range = Range {
        old: [old]
            .into_iter()
            .chain(stretch.aside.iter().flat_map(|aside| &aside.tips))
            .cloned()
            .collect(),
        new: new.clone(),
        first_parent: driver.begun.options.first_parent,
        paths: stretch.paths.clone(),
    };
    let (targets, chunks) = sought(driver, lead);
    driver.oracle.recorder.event(Event::Search {
        stretch: driver.stretches,
        good: stretch.good.clone(),
        bad: stretch.bad.clone(),
        commits: driver.oracle.history.count(&range)?,
        targets,
        paths: stretch.paths.clone(),
        method: Some(lead.method),
        chunks,
        clean: driver.is_clean,
    })?;
    Ok(range)
}

/// Lets git drive the oracle over the stretch.
pub(super) fn bisect(
    driver: &mut Driver<'_>,
    stretch: &Stretch,
    lead: &Lead,
) -> Result<SearchEnd, HuntError> {
    let skip = driver.begun.options.skip.clone();
    let range = open_stretch(driver, stretch, lead)?;
    let number = driver.stretches;
    let path = driver.hunt.bisect_repository();
    let session = BisectSession::open(driver.oracle.history.repository(), &path, &stretch.bad)?;
    session.start(&range, stretch.aim)?;
    replay(driver, &session, stretch, lead, &skip)?;
    if ended(&session)?.is_none() {
        run_git(driver, &session, number)?;
    }
    let end = match ended(&session)? {
        Some(End::FirstBad(commit)) => SearchEnd::FirstBad(commit),
        Some(End::Candidates(commits)) => SearchEnd::Candidates(commits),
        Some(End::NoTestable) if !stretch.paths.is_empty() => {
            let wider = Stretch { paths: Vec::new(), ..stretch.clone() };
            return bisect(driver, &wider, lead);
        }
        Some(End::NoTestable) => SearchEnd::Candidates(driver.oracle.history.commits(&range)?),
        // A part of the range, the ends of which nobody compared before.
        Some(End::MergeBaseBad(_)) if number > 0 => {
            SearchEnd::Candidates(driver.oracle.history.commits(&range)?)
        }
        Some(End::MergeBaseBad(commit)) => {
            return Err(HuntError::World(format!(
                "git says that the merge base {} is {}, which was measured as {}",
                commit.short(),
                stretch.aim.newer(),
                stretch.aim.older()
            )));
        }
        None => return Err(why_git_stopped(driver)?),
    };
    session.reset()?;
    driver.oracle.recorder.event(Event::SearchEnd { stretch: number, end: end.clone() })?;
    Ok(end)
}

/// What a search of the stretch judges by, and how much of the text it reads.
fn sought(driver: &Driver<'_>, lead: &Lead) -> (Vec<Target>, Option<u32>) {
    match &driver.short {
        Some(short) => (short.targets.clone(), Some(short.chunks)),
        None => (lead.targets.clone(), None),
    }
}

/// Tells git what is known already: the commits that were to be skipped, and every verdict
/// that an interrupted search of this stretch, or an earlier round of it, came to. The verdicts
/// are derived anew, from the samples and with the confirmation's word above the search's.
fn replay(
    driver: &mut Driver<'_>,
    session: &BisectSession,
    stretch: &Stretch,
    lead: &Lead,
    skip: &[CommitId],
) -> Result<(), HuntError> {
    for commit in skip {
        session.mark(Verdict::Skip, commit)?;
    }
    // They were measured with the endpoints. `git bisect run` would ask about them too, and ends
    // without a word where it has to ask about a second one (2.39 and 2.47 both do).
    let history = &driver.oracle.history;
    let [old, new] = stretch.ends();
    if !history.is_ancestor(old, new)? {
        for base in history.merge_bases(old, new)? {
            let phase = Phase::Search;
            let (judgement, _) = driver.oracle.settle(&base, &lead.targets, phase, None)?;
            session.mark(judgement.verdict, &base)?;
        }
    }
    let (targets, chunks) = sought(driver, lead);
    let (mut known, mut read) = (Vec::new(), None);
    for entry in driver.hunt.entries()? {
        if let Event::Search { chunks, .. } = entry.event {
            read = chunks;
        } else if let Event::Judged(judged) = entry.event {
            // A verdict over another part of the text is none on this one.
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
            // The confirmation reads the full text.
            Some(_) => Phase::Search,
            None => driver.phase_of_truth(&commit, &targets)?,
        };
        let (mut judgement, observation) =
            driver.oracle.settle(&commit, &targets, phase, chunks)?;
        if judgement.verdict != before {
            short::over(&mut judgement, chunks);
            let place = Place { stretch: driver.stretches, phase, left: None };
            write_down(&mut driver.oracle, &observation, &judgement, place)?;
        }
        // Only what narrows the search: git refuses a new one that is older than an old one.
        if still_open(session, &driver.oracle.history, &commit)? {
            session.mark(judgement.verdict, &commit)?;
        }
    }
    Ok(())
}

/// Whether a verdict on this commit can still tell git anything: it lies between the
/// newest old one and the oldest new one it knows.
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
    /// Whether the search of this stretch was told this verdict of a commit.
    fn was_told(
        &self,
        commit: &CommitId,
        verdict: Verdict,
        stretch: usize,
    ) -> Result<bool, HuntError> {
        Ok(self.hunt.entries()?.into_iter().any(|entry| match entry.event {
            Event::Judged(judged) => {
                judged.commit == *commit
                    && judged.judgement.verdict == verdict
                    && judged.phase != Phase::Confirm
                    && judged.stretch <= stretch
            }
            _ => false,
        }))
    }

    /// Which runs a commit is judged by: those of its confirmation where it had one.
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
    // The oracle below ends its own engine first, which may take its own grace.
    let git = session.run_invocation(oracle).grace(std::time::Duration::from_secs(30));
    let log = driver.hunt.path().join(format!("logs/bisect-{number}.log"));
    let file = LogFile { path: &log, header: &[], sync: false };
    process::run(&git, &driver.stop, &file, &mut |_, _| Keep::No)?;
    if driver.stop.is_requested() {
        return Err(HuntError::Stopped);
    }
    Ok(())
}

/// Git stopped without an answer: the oracle said why in the journal.
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

/// For the account: an outcome in place of a stretch that has none.
pub(super) fn candidates_sentence(commits: &[CommitId], why: &str, aim: Aim) -> String {
    let sought = aim.sought();
    let names: Vec<_> = commits.iter().map(CommitId::short).collect();
    match names.as_slice() {
        // What measures comes before what is measured.
        [only] if why.starts_with(CHANGED) => {
            format!("{why}; if the engine did it, the {sought} may be {only}")
        }
        [only] => format!("the {sought} may be {only}; {why}"),
        _ => format!("the {sought} is one of {}: {}; {why}", names.len(), names.join(", ")),
    }
}

/// A stretch with nothing to name is never silent.
pub(super) fn nothing() -> Finding {
    Finding::plain(
        crate::evaluation::Outcome::Candidates,
        "the search ended without a commit to name",
    )
}
