//! The roles of the changed files: which are necessary for the step, and which are innocent.

use std::collections::BTreeMap;

use crate::evaluation::{CauseEnd, Effect, FileRole, Shows};
use crate::hunt::HuntError;

use super::change::Part;
use super::clues::Clues;
use super::isolation::{Found, Localization};
use super::part_info::IDLE;
use super::step;

impl Localization<'_, '_> {
    /// The role of each changed file.
    ///
    /// A file is necessary if only one set was found, all of it is in this file, and the rest of
    /// the change shows nothing of the step.
    ///
    /// A file is innocent under three conditions. The set with its context makes the whole step of
    /// the only metric that moved. The file has no part of the set or of its context. And no such
    /// file hides the effect of another one.
    ///
    /// If there are dependents, no file gets a role.
    pub(super) fn roles(
        &mut self,
        found: &[Found],
        dependents: &[Part],
        end: &CauseEnd,
    ) -> Result<BTreeMap<String, FileRole>, HuntError> {
        let only = match found {
            [one] if *end == CauseEnd::Complete && one.is_minimal => Some(one),
            _ => None,
        };
        let is_whole = match only {
            Some(one) => self.is_whole(one)?,
            None => false,
        };
        let role = |part: Part| {
            let Some(one) = only else { return FileRole::Unknown };
            let is_in = |parts: &[Part]| parts.iter().any(|own| own.file == part.file);
            let is_all = one.parts.iter().all(|own| own.file == part.file);
            match is_in(&one.parts) {
                true if is_all && dependents.is_empty() => FileRole::Necessary,
                false if is_whole && dependents.is_empty() && !is_in(&one.context) => {
                    FileRole::Innocent
                }
                _ => FileRole::Unknown,
            }
        };
        let whole = self.change.whole();
        let role_of = |part: &Part| (*part, role(*part));
        let mut roles: Vec<(Part, FileRole)> = whole.iter().map(role_of).collect();
        let is_innocent = |(part, role): &(Part, FileRole)| {
            let is_it = *role == FileRole::Innocent;
            is_it.then_some(*part)
        };
        let open: Vec<Part> = roles.iter().filter_map(is_innocent).collect();
        let code = self.code_of(&open)?;
        if !self.hide_nothing(&code)? {
            for (_, role) in roles.iter_mut().filter(|(part, _)| code.contains(part)) {
                *role = FileRole::Unknown;
            }
        }
        Ok(roles.into_iter().map(|(part, role)| (self.change.path(part), role)).collect())
    }

    /// The files whose change may have an effect. Left out are documents, comments, and sources
    /// that the builds did not compile or compiled to the same code.
    fn code_of(&self, files: &[Part]) -> Result<Vec<Part>, HuntError> {
        let clues = Clues::of(&self.change, files, self.culprit, &self.built)?;
        let weights = clues.hints().weights;
        let is_code = |number: &usize| weights.get(number).is_none_or(|weight| *weight > IDLE);
        Ok((0..files.len()).filter(is_code).map(|number| files[number]).collect())
    }

    /// Whether no file hides the effect of another one. Tests some sets of the files on the parent:
    /// none may show anything. For any two files, one of the tests has one file without the other.
    fn hide_nothing(&mut self, files: &[Part]) -> Result<bool, HuntError> {
        let numbered = || files.iter().enumerate();
        let mut bit = 1;
        while bit < files.len() {
            let set: Vec<Part> =
                numbered().filter(|(at, _)| at & bit != 0).map(|(_, part)| *part).collect();
            match self.test(&set)? {
                Some((Shows::Nothing, place)) if self.is_at_parent(place) => {}
                _ => return Ok(false),
            }
            bit *= 2;
        }
        Ok(true)
    }

    /// Whether a set with its context makes the whole step of the only metric that moved.
    fn is_whole(&mut self, one: &Found) -> Result<bool, HuntError> {
        let mut parts = [one.context.as_slice(), one.parts.as_slice()].concat();
        parts.sort_unstable();
        if self.culprit.effects.len() > 1
            || self.change.without(&self.change.whole(), &parts)?.is_empty()
        {
            return Ok(self.culprit.effects.len() <= 1);
        }
        let Some(place) = self.tested(&parts)? else { return Ok(false) };
        let level = |effect: &Effect| self.trials[place].levels.get(&effect.metric);
        Ok(self.culprit.effects.first().is_none_or(|effect| {
            // Without a level the step is a failure.
            level(effect).is_none_or(|level| step::is_whole(effect, level))
        }))
    }
}
