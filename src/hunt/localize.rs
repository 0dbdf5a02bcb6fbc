//! From the first bad commit to its cause: which files and hunks of its change make the step, and
//! whether a revert makes the bad endpoint good.
//!
//! Each test builds the parent with some parts of the change. The hunt's own oracle judges the
//! build. The threshold of these tests lies halfway between the levels of parent and commit.

mod backport;
mod before_edits;
mod beside;
mod change;
mod clues;
mod conflict;
mod contradiction;
mod dropped;
mod earlier_fix;
mod end_levels;
mod end_need;
mod end_rest;
mod end_runs;
mod end_without;
mod gains;
mod head_name;
mod held_lines;
mod idle_commit;
mod inside_pins;
mod isolation;
mod joint;
mod journaled;
mod last_good;
mod later_lack;
mod later_steps;
pub(crate) mod left;
mod lines;
mod logits;
mod lost_step;
mod moved;
mod named_gains;
mod noisy_steps;
mod open_change;
mod others;
mod own_head;
mod own_lines;
mod pairs;
mod parents_alone;
mod part_info;
mod patched;
mod pin_moves;
mod places;
mod present_fix;
mod remnant;
mod repeat;
mod reversal;
mod revert;
mod roles;
mod same_level;
pub(crate) mod step;
mod tensors;
mod third_value;
mod traded;
pub(crate) mod trials;
mod undone;
mod unneeded;
mod unused_paths;
mod votes;
mod worse_end;

use std::collections::BTreeMap;

use crate::differ::BuiltSources;
use crate::evaluation::{Cause, CauseEnd, Culprit, Finding, Outcome, Target, Unexplained};
use crate::git::History;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::inquiry::{OTHER_RECIPE, note_limit};
use crate::store::journal::{Event, OtherGuard};

use change::Change;
use isolation::{Localization, Rank};
use journaled::JournaledTrials;
use open_change::OpenChange;

impl Driver<'_> {
    /// Adds to a finding which parts of its main first bad commit make the step.
    pub(crate) fn localize(&mut self, mut finding: Finding) -> Result<Finding, HuntError> {
        let Some(culprit) = self.main_to_explain(&finding).cloned() else { return Ok(finding) };
        let cause = self.cause_or_reason(&culprit, Rank::Main, &mut finding)?;
        finding.cause = Some(cause);
        Ok(finding)
    }

    /// The cause inside a first bad commit, or why it is not known. Adds the roles of the commit's
    /// files to the finding.
    fn cause_or_reason(
        &mut self,
        culprit: &Culprit,
        rank: Rank,
        finding: &mut Finding,
    ) -> Result<Cause, HuntError> {
        // The commit is found: a machine fault must not lose the answer now.
        let cause = match self.cause(culprit, rank) {
            Err(error) if self.must_end(&error) => return Err(error),
            Err(fault) => {
                note_limit(finding, &fault);
                unknown(culprit, fault.to_string())
            }
            Ok(cause) => cause,
        };
        for own in finding.culprits.iter_mut().filter(|own| own.info == culprit.info) {
            for file in &mut own.files {
                file.role = cause.role(&file.path);
            }
        }
        Ok(cause)
    }

    /// The finding, or candidates if a test of the endpoints contradicts it.
    pub(crate) fn unless_contradicted(
        &mut self,
        mut finding: Finding,
    ) -> Result<Finding, HuntError> {
        let Some(cause) = &finding.cause else { return Ok(finding) };
        let (targets, _) = self.sought()?;
        let mut unexplained = contradiction::found(&finding, cause, &targets);
        if unexplained.is_empty() {
            unexplained = self.left_by_account(&finding, &targets);
        }
        if !unexplained.is_empty() {
            return self.incomplete(finding, unexplained);
        }
        let worse = worse_end::found(&finding, cause, &targets);
        if worse.is_empty() {
            return Ok(finding);
        }
        let order = self.possible_commits(&mut finding)?;
        let commits = self.since_last_good(&finding, &worse, &order)?;
        Ok(worse_end::as_candidates(finding, worse, &commits))
    }

    /// The finding, or candidates if nothing tells whether some named commits' changes last.
    pub(crate) fn unless_open(
        &self,
        mut finding: Finding,
        open: &[OpenChange],
    ) -> Result<Finding, HuntError> {
        if open.is_empty() || finding.outcome != Outcome::Culprit {
            return Ok(finding);
        }
        let order = self.possible_commits(&mut finding)?;
        let end = self.terms().newer().to_string();
        let is_other = self.is_end_of_other_recipe(&finding)?;
        Ok(open_change::with_open_changes(finding, open, &order, &end, is_other))
    }

    /// The finding, or candidates if a test contradicts it: a test of an endpoint to which the
    /// changes of all named commits were added, or from which they were removed.
    pub(crate) fn unless_jointly_contradicted(
        &mut self,
        finding: Finding,
    ) -> Result<Finding, HuntError> {
        let (targets, _) = self.sought()?;
        let mut unexplained = contradiction::found_jointly(&finding, &targets);
        if unexplained.is_empty() {
            unexplained = self.left_by_account(&finding, &targets);
        }
        if unexplained.is_empty() {
            return Ok(finding);
        }
        self.incomplete(finding, unexplained)
    }

    /// See [`contradiction::incomplete`].
    fn incomplete(
        &mut self,
        mut finding: Finding,
        unexplained: Vec<Unexplained>,
    ) -> Result<Finding, HuntError> {
        let order = self.possible_commits(&mut finding)?;
        let earlier = self.after_last_good(&finding, &unexplained, &order)?;
        let is_other = self.is_end_of_other_recipe(&finding)?;
        let terms = self.terms();
        Ok(contradiction::incomplete(finding, unexplained, &order, terms, is_other, &earlier))
    }

    /// Whether the newer end has another recipe than one of the named commits.
    fn is_end_of_other_recipe(&self, finding: &Finding) -> Result<bool, HuntError> {
        let recipes = &self.oracle.recipes;
        let [_, newer] = self.begun.ends();
        let end = recipes.at(newer)?;
        for culprit in &finding.culprits {
            if recipes.at(&culprit.info.commit)?.text() != end.text() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What the account leaves and the bad end still shows without the named commits. Nothing if
    /// one commit is enough.
    fn left_by_account(&self, finding: &Finding, targets: &[Target]) -> Vec<Unexplained> {
        let is_enough = self.begun.options.first_only;
        if is_enough { Vec::new() } else { contradiction::left(finding, targets) }
    }

    /// The hunt's targets, with the guards that got a search of their own, and the guards that it
    /// does not search for.
    pub(crate) fn sought(&self) -> Result<(Vec<Target>, Vec<OtherGuard>), HuntError> {
        let entries = self.hunt.entries()?;
        let mut found = entries.iter().rev().filter_map(|entry| match &entry.event {
            Event::Targets { targets, others, .. } => Some((targets.clone(), others.clone())),
            _ => None,
        });
        let (mut targets, mut others) = found.next().unwrap_or_default();
        let added = &self.added_targets;
        others.retain(|other| {
            let is_its =
                |target: &Target| target.guard().is_some_and(|target| target.guard == other.guard);
            !added.iter().any(is_its)
        });
        targets.extend(added.iter().cloned());
        Ok((targets, others))
    }

    fn cause(&mut self, culprit: &Culprit, rank: Rank) -> Result<Cause, HuntError> {
        let none = |why: &str| unknown(culprit, why.to_owned());
        let within = self.oracle.recipes.engine.within.as_ref();
        let is_submodule = within.is_some_and(|within| within.files.is_empty());
        if is_submodule && self.oracle.history.has_submodules(&culprit.info.commit)? {
            return Ok(none("the submodule has submodules of its own"));
        }
        if self.common_recipe(culprit)?.is_none() {
            return Ok(none(OTHER_RECIPE));
        }
        let (whole, others) = self.sought()?;
        let journaled = JournaledTrials::of(&self.hunt.entries()?, &culprit.info.commit);
        if self.is_flaky {
            return Ok(none("runs or builds of one commit differ"));
        }
        let options = &self.begun.options;
        let targets = match step::targets(culprit, &whole, self.terms(), options.search) {
            Ok(targets) => targets,
            Err(why) => return Ok(none(why)),
        };
        // Builds name a dependency's files by their paths in the engine, and the change does not.
        let built = match &self.oracle.recipes.engine.within {
            Some(_) => BuiltSources::default(),
            None => self.built_sources(&culprit.parent, &culprit.info.commit)?,
        };
        let history = History::open(self.oracle.history.repository())?;
        let change = Change::of(&history, &culprit.parent, culprit)?;
        let is_begun = journaled.is_begun;
        let mut localization = Localization {
            driver: self,
            culprit,
            change,
            targets,
            whole,
            others,
            trials: Vec::new(),
            trees: BTreeMap::new(),
            said: BTreeMap::new(),
            built,
            journaled,
            rank,
            is_spent: false,
        };
        if !is_begun {
            localization.announce()?;
        }
        localization.run()
    }
}

/// The cause is unknown, for the reason `why`.
fn unknown(culprit: &Culprit, why: String) -> Cause {
    Cause {
        commit: culprit.info.commit.clone(),
        parent: culprit.parent.clone(),
        sets: Vec::new(),
        end: CauseEnd::NotSeparable(why),
        dependents: Vec::new(),
        trials: Vec::new(),
        without: None,
        roles: BTreeMap::new(),
        revert: None,
        broken_too: None,
        in_part: false,
        backport: None,
    }
}
