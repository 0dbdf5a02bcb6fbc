//! Makes the answer of a hunt from the ledger: the named commits, the candidates and the rest.
//! Pure.

use crate::evaluation::{
    Account, Basis, CommitId, Contribution, Culprit, Finding, Metric, Outcome, Target, Unexplained,
};
use crate::hunt::commit_order::CommitOrder;
use crate::hunt::confirm::effect::weight;
use crate::hunt::distinct::distinct;
use crate::hunt::terms::SearchTerms;
use crate::hunt::why::CandidatesReason;
use crate::ui::text;

use super::account::Ledger;
use super::culprit_status::{CulpritStatus, FoundCommit, Mend, MendContext, apply_mend};

/// Maximum number of commits of which a sentence names each.
const MOST_NAMED: usize = 8;
/// How many commits a sentence names if there are more.
const FIRST_NAMED: usize = 3;

impl Ledger {
    /// Decides which found commits a mend undid; `around` has an entry for each found commit.
    pub(crate) fn apply_mend(&mut self, mend: &Mend, around: &[MendContext]) {
        apply_mend(&mut self.found, mend, around);
    }

    /// The answer. `order`: the commits between the endpoints. `first_only`: one commit is enough,
    /// even if it does not explain the whole change.
    pub(crate) fn close(
        mut self,
        contributions: Vec<Contribution>,
        order: &CommitOrder,
        first_only: bool,
    ) -> Finding {
        // The hunt may find an earlier commit after a later one.
        let history = order.commits();
        let place =
            |found: &FoundCommit| history.iter().position(|c| *c == found.culprit.info.commit);
        self.found.sort_by_cached_key(place);
        self.doubt_what_is_too_much();
        self.open_spans();
        let accounts = self.accounts();
        self.doubt();
        self.leave_out_untested();
        self.lower_if_perhaps_mended();
        self.note_what_was_undone();
        let undone_steps = self.undone_steps();
        self.join_named();
        self.tell_what_landed_again();
        let culprits = self.reported();
        let main = main_of(&self.found);
        let open_steps = self.open_steps(history);
        let mut notes = std::mem::take(&mut self.notes);
        let besides = |notes: &mut Vec<String>,
                       candidates: &[(Vec<CommitId>, CandidatesReason)]| {
            for (commits, why) in candidates {
                notes.push(format!("besides, {}", candidates_sentence(commits, why, self.terms)));
            }
            for crossing in &self.crossings {
                notes.push(format!("besides, small steps add up: {}", small_sentence(crossing)));
            }
        };
        let unexplained = match main {
            Some(_) if !first_only => self.unexplained(&accounts),
            _ => Vec::new(),
        };
        // If no commit is named in the end, none explains anything.
        let accounts = if main.is_some() { accounts } else { self.accounts() };
        let (outcome, summary, candidates) = if let Some(main) = main
            && !unexplained.is_empty()
        {
            besides(&mut notes, &self.candidates);
            let confirmed = culprits.iter().map(|culprit| &culprit.info.commit);
            let open = self.candidates.iter().flat_map(|(commits, _)| commits);
            let in_question = self.in_question(&unexplained, order);
            let tested = self.left_out.without(&in_question);
            if tested.len() < in_question.len() {
                notes.push(self.left_out.note());
            }
            let all = distinct(confirmed.chain(open).chain(&tested).cloned());
            let summary = culprit_sentence(&culprits[main], self.terms);
            let rest = rest_sentence(culprits.len(), &unexplained, self.terms);
            (Outcome::Candidates, format!("{summary}; {rest}"), all)
        } else if let Some(main) = main {
            let culprit = &culprits[main];
            besides(&mut notes, &self.candidates);
            (
                Outcome::Culprit,
                culprit_sentence(culprit, self.terms),
                vec![culprit.info.commit.clone()],
            )
        } else if let [(commits, why), others @ ..] = self.candidates.as_slice() {
            let all = distinct(self.candidates.iter().flat_map(|(commits, _)| commits).cloned());
            let summary = if others.is_empty() || commits.len() == all.len() {
                candidates_sentence(commits, why, self.terms)
            } else {
                let (sought, group) = (self.terms.sought(), group_sentence(commits, why, &all));
                format!("the {sought} is one of {}: {}; {group}", all.len(), names(&all))
            };
            let groups = others.iter().map(|(commits, why)| group_sentence(commits, why, &all));
            notes.extend(groups.map(|group| format!("besides, {group}")));
            besides(&mut notes, &[]);
            (Outcome::Candidates, summary, all)
        } else if let Some(crossing) = self.crossings.first() {
            let crossings = self.crossings.iter().map(|crossing| &crossing.info.commit);
            let singles = contributions.iter().filter(|c| c.commits == 1).map(|c| &c.to);
            let all = distinct(crossings.chain(singles).cloned());
            let summary = format!("{}; no single commit is blamed", small_sentence(crossing));
            (Outcome::Gradual, summary, all)
        } else {
            let all = self.after_what_was_undone(order);
            let candidates = self.left_out.without(&all);
            if candidates.len() < all.len() {
                notes.push(self.left_out.note());
            }
            return Finding { candidates, accounts, undone_steps, notes, ..nothing() };
        };
        Finding {
            main: main.filter(|_| outcome == Outcome::Culprit),
            culprits,
            candidates,
            accounts,
            unexplained,
            open_steps: if outcome == Outcome::Candidates { open_steps } else { Vec::new() },
            undone_steps,
            contributions,
            notes,
            next: distinct(self.candidates.iter().filter_map(|(_, why)| why.next().cloned())),
            ..Finding::plain(outcome, summary)
        }
    }

    /// The commits that are named, in order of history.
    pub(super) fn named(&self) -> impl Iterator<Item = &Culprit> {
        self.found.iter().filter(|found| found.is_named()).map(|found| &found.culprit)
    }

    /// The named commits as the report shows them. Once runs of one commit were seen to differ, no
    /// claim rests on values that always repeat.
    fn reported(&self) -> Vec<Culprit> {
        let mut culprits: Vec<Culprit> = self.named().cloned().collect();
        let exact = culprits.iter_mut().filter(|one| one.basis == Basis::BitExact);
        for culprit in exact.filter(|_| self.is_flaky) {
            culprit.basis = Basis::Sequential;
        }
        culprits
    }

    /// Whether the change of at least one found commit still stands.
    pub(crate) fn has_answer(&self) -> bool {
        self.found.iter().any(FoundCommit::stands)
    }

    /// The commits that the last one that undid a found step does not contain. One of them caused
    /// what the newer end shows.
    fn after_what_was_undone(&self, order: &CommitOrder) -> Vec<CommitId> {
        let history = order.commits();
        let undone_by = |found: &FoundCommit| match &found.status {
            CulpritStatus::Undone { by, .. } => history.iter().position(|commit| commit == by),
            _ => None,
        };
        match self.found.iter().filter_map(undone_by).max() {
            Some(last) => order.not_in(&history[last]),
            None => history.to_vec(),
        }
    }

    /// Records in each commit whose change was undone and landed again which commit undid it. Not
    /// if only a branch undid it: the change was never gone on the line that kept it.
    fn tell_what_landed_again(&mut self) {
        for found in &mut self.found {
            let is_kept = self.kept_beside.contains(&found.culprit.info.commit);
            if let CulpritStatus::Undone { by, again: true } = &found.status
                && !is_kept
            {
                found.culprit.undone_by = Some(by.clone());
            }
        }
    }

    pub(crate) fn accounts(&self) -> Vec<Account> {
        let mut accounts = Vec::new();
        for target in &self.targets {
            let Target::Guard(target) = target else { continue };
            let metric = &target.guard.metric;
            if target.is_rate() {
                // A failure rate has no steps to add up, whatever its runs print.
                continue;
            }
            let (Some(good), Some(bad)) = (target.baseline.number(), target.bad.number()) else {
                continue;
            };
            let total = target.guard.worsening(good, bad);
            // One step per culprit, though two guards of one metric have an effect each.
            let step = |culprit: &Culprit| culprit.effect_on(metric)?.own_step;
            // Not `sum`: the sum of no numbers is -0, and the report would show the sign.
            let steps = self.standing_culprits().filter_map(step);
            let explained = steps.fold(0.0, |sum, x| sum + x);
            let rest = total - explained;
            let taken_back = self.masked(target);
            // A tiny rest is a rounding error of the sum.
            let is_rounding = rest.abs() <= 1e-9 * total.abs().max(explained.abs());
            if accounts.iter().all(|account: &Account| account.metric != *metric) {
                accounts.push(Account {
                    in_small_steps: self.small_steps.contains(metric),
                    metric: metric.clone(),
                    total,
                    explained,
                    rest: if is_rounding { 0.0 } else { rest },
                    taken_back: (taken_back > 0.0).then_some(taken_back),
                    overlap: self.overlap(metric),
                    error: target.noise.map(|_| self.error_of_rest(target)),
                    limit: target.limit,
                });
            }
        }
        accounts
    }

    /// What the account of a metric has twice, because each of two commits makes the step alone.
    fn overlap(&self, metric: &Metric) -> Option<f64> {
        let step = |commit: &CommitId| {
            let mut own = self.standing_culprits().filter(|one| one.info.commit == *commit);
            own.find_map(|one| one.effect_on(metric)?.own_step)
        };
        let [one, other] = self.either.as_ref()?;
        Some(step(one)?.min(step(other)?)).filter(|twice| *twice > 0.0)
    }
}

/// The index of the named commit that stands and has the largest own step in units of its
/// tolerance.
fn main_of(found: &[FoundCommit]) -> Option<usize> {
    let size = |culprit: &Culprit| match culprit.effects.first() {
        Some(effect) => weight(effect),
        None => f64::INFINITY,
    };
    let mut best: Option<(usize, f64)> = None;
    for (index, found) in found.iter().filter(|found| found.is_named()).enumerate() {
        let size = size(&found.culprit);
        if found.stands() && best.is_none_or(|(_, largest)| size > largest) {
            best = Some((index, size));
        }
    }
    best.map(|(index, _)| index)
}

/// The sentence that names a commit, with its step.
pub(crate) fn culprit_sentence(culprit: &Culprit, terms: SearchTerms) -> String {
    let (commit, sought) = (culprit.info.commit.short(), terms.sought());
    match step_sentence(culprit, terms) {
        Some(step) => format!("{commit} is the {sought}: {step}"),
        None => format!("{commit} is the {sought}"),
    }
}

/// What a commit changed: `ppl 7.21 → 7.52 (own step 0.31, tolerance 0.05)`, or how it fails.
pub(super) fn step_sentence(culprit: &Culprit, terms: SearchTerms) -> Option<String> {
    match (culprit.effects.first(), &culprit.failure) {
        (Some(effect), _) => {
            let levels = text::values(&effect.parent, &effect.commit);
            Some(match effect.own_step {
                Some(step) => format!(
                    "{} {levels} (own step {}, tolerance {})",
                    effect.metric,
                    text::difference(step),
                    text::figure(effect.limit)
                ),
                None => format!("{} {levels}", effect.metric),
            })
        }
        (None, Some(failure)) => {
            Some(format!("{} {} ({})", terms.bad_side(), failure.kind, failure.detail))
        }
        (None, None) => None,
    }
}

fn small_sentence(crossing: &Culprit) -> String {
    let commit = crossing.info.commit.short();
    let step = |metric: &Metric, step: f64, limit: f64| {
        format!(
            "the threshold of {metric} is crossed at {commit}, whose own step is only {} of a \
             tolerance of {}",
            text::difference(step),
            text::figure(limit)
        )
    };
    match crossing.effects.first() {
        Some(effect) => step(&effect.metric, effect.own_step.unwrap_or(0.0), effect.limit),
        None => format!("the threshold is crossed at {commit}"),
    }
}

/// A sentence that says what the confirmed commits do not explain. `confirmed`: their number.
fn rest_sentence(confirmed: usize, unexplained: &[Unexplained], terms: SearchTerms) -> String {
    let they = if confirmed == 1 { "it does" } else { "the confirmed commits do" };
    let end = terms.newer();
    let what: Vec<String> = unexplained.iter().map(ToString::to_string).collect();
    format!("{they} not explain all that the {end} end shows of {}", what.join(", "))
}

/// A sentence that names the candidates and the reason.
fn candidates_sentence(commits: &[CommitId], why: &CandidatesReason, terms: SearchTerms) -> String {
    let sought = terms.sought();
    match (commits, why) {
        // The step may be the ruler's, so the reason alone says whether it is the commit's.
        ([_], CandidatesReason::RulerChanged { why, .. }) => why.clone(),
        ([only], _) => format!("the {sought} may be {}; {why}", only.short()),
        _ => format!("the {sought} is one of {}: {}; {why}", commits.len(), names(commits)),
    }
}

/// Some of the candidates, and the reason that holds for them. `all`: all candidates.
fn group_sentence(commits: &[CommitId], why: &CandidatesReason, all: &[CommitId]) -> String {
    match commits {
        [only] => format!("{}: {why}", only.short()),
        _ if commits.len() == all.len() => format!("all of them: {why}"),
        _ => format!("{} of them ({}): {why}", commits.len(), names(commits)),
    }
}

/// The short names of these commits, or of the first ones if there are many: nobody reads a line of
/// thirty hashes.
pub(crate) fn names(commits: &[CommitId]) -> String {
    let is_long = commits.len() > MOST_NAMED;
    let shown = if is_long { FIRST_NAMED } else { commits.len() };
    let names: Vec<_> = commits.iter().take(shown).map(CommitId::short).collect();
    let more = if is_long { format!(" and {} more", commits.len() - shown) } else { String::new() };
    names.join(", ") + &more
}

/// The finding of a hunt that has no commit to name.
fn nothing() -> Finding {
    Finding::plain(Outcome::Candidates, "the search ended without a commit to name")
}
