//! A commit's engine with the ruler of another commit (`[ruler] paths`): its recipe, its runs, and
//! what they show in words.

use crate::config::Config;
use crate::evaluation::{CommitId, Phase, Target};
use crate::oracle::{Observation, Request};
use crate::ui::text;

use super::HuntError;
use super::driver::Driver;

impl Driver<'_> {
    /// The recipe of a commit with the ruler of another one. `None` if no ruler is declared, or if
    /// the files are the same: the rulers are equal, or an overlay replaces both.
    pub(crate) fn recipe_with_ruler_of(
        &self,
        engine: &CommitId,
        other: &CommitId,
    ) -> Result<Option<Config>, HuntError> {
        let recipes = &self.oracle.recipes;
        if recipes.config.ruler.is_empty() {
            return Ok(None);
        }
        let own = recipes.at(engine)?;
        let exchanged = own.with_ruler_of(other);
        let is_same = recipes.tree_of(engine, &own)? == recipes.tree_of(engine, &exchanged)?;
        Ok((!is_same).then_some(exchanged))
    }

    /// Runs of a commit with a recipe that has another commit's ruler. They are no results of the
    /// commit.
    pub(crate) fn evaluate_with_ruler(
        &mut self,
        engine: &CommitId,
        recipe: &Config,
        measures: &[String],
        runs: usize,
    ) -> Result<Observation, HuntError> {
        Ok(self.oracle.evaluate(Request {
            runs,
            recipe: Some(recipe),
            keep: false,
            ..Request::look(engine, measures, Phase::Ruler)
        })?)
    }
}

/// What runs with another commit's ruler show: `A with the ruler of B yields ppl 7`.
pub(crate) fn told(seen: &Observation, other: &CommitId, targets: &[Target]) -> String {
    let engine = seen.commit.short();
    format!("{engine} with the ruler of {} yields {}", other.short(), in_words(seen, targets))
}

/// The measured levels or the failure, for people.
pub(crate) fn in_words(seen: &Observation, targets: &[Target]) -> String {
    if let Some(failure) = seen.first_failure() {
        return format!("nothing, since it {}", failure.kind);
    }
    let level = |target: &Target| match target {
        Target::Guard(target) => {
            let metric = &target.guard.metric;
            Some(format!("{metric} {}", text::value(&seen.level(metric)?)))
        }
        Target::Failure { .. } => Some("no failure".to_owned()),
    };
    let levels: Vec<String> = targets.iter().filter_map(level).collect();
    if levels.is_empty() { "nothing".to_owned() } else { levels.join(", ") }
}

/// The overlay that gives every commit this commit's ruler, in words.
pub(crate) fn overlay_of(from: &CommitId, paths: &[String]) -> String {
    format!("an [[overlay]] with from = \"{}\" and paths = {paths:?}", from.short())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;
    use crate::oracle::fixture::{at, commit, target};

    #[test]
    fn the_overlay_and_the_level_are_told_as_a_person_writes_them() {
        let paths = ["bench/**".to_owned(), "golden".to_owned()];
        let from = commit('2');
        let overlay = overlay_of(&from, &paths);
        let short = from.short();
        assert_eq!(
            overlay,
            format!(
                "an [[overlay]] with from = \"{short}\" and paths = [\"bench/**\", \"golden\"]"
            )
        );
        let targets = [Target::Guard(target(GuardForm::MaxIncrease(0.2), 7.0, 7.5))];
        let seen = at('1', &[7.25]);
        let engine = seen.commit.short();
        assert_eq!(
            told(&seen, &from, &targets),
            format!("{engine} with the ruler of {short} yields ppl 7.25")
        );
    }
}
