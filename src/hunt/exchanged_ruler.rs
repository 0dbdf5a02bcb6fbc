//! A commit's engine with the ruler of another commit (`[ruler] paths`): its recipe, its runs, and
//! what they show in words.

use crate::config::Config;
use crate::evaluation::{Aim, CommitId, Phase, Target};
use crate::git::GitError;
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

    /// How to hunt for the same with the ruler of `from` at every commit. `None` if no overlay does
    /// that: `from` has no file of the ruler or a submodule, or the commits are those of a
    /// dependency.
    pub(crate) fn next_with_ruler_of(
        &self,
        from: &CommitId,
        ends: [&CommitId; 2],
    ) -> Result<Option<String>, HuntError> {
        if self.begun.within.is_some() {
            return Ok(None);
        }
        let paths = &self.oracle.recipes.config.ruler;
        match self.oracle.history.check_layer(from, paths) {
            Err(GitError::NothingToLay { .. } | GitError::SubmoduleToLay { .. }) => Ok(None),
            checked => {
                checked?;
                Ok(Some(hunt_with_ruler(from, paths, ends, self.terms().aim())))
            }
        }
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

/// How to hunt with the ruler of `from` at every commit: words with the command, and below them the
/// lines for `oracle.toml`. `ends`: the older and the newer end of that hunt.
fn hunt_with_ruler(from: &CommitId, paths: &[String], ends: [&CommitId; 2], aim: Aim) -> String {
    let [older, newer] = ends.map(CommitId::short);
    let ends = match aim {
        Aim::Regression => format!("--good {older} --bad {newer}"),
        Aim::Fix => format!("--find-fix --good {newer} --bad {older}"),
    };
    let from = from.short();
    let quoted = |path: &String| toml_edit::Value::from(path.as_str()).to_string();
    let paths: Vec<String> = paths.iter().map(quoted).collect();
    format!(
        "add the lines below at the end of oracle.toml, which give every commit the ruler of \
         {from}; then `bisect-ppl start {ends}` hunts with this ruler\n[[overlay]]\nfrom = \
         \"{from}\"\npaths = [{}]",
        paths.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;
    use crate::oracle::fixture::{at, commit, target};

    #[test]
    fn a_level_is_told_with_its_engine_and_its_ruler() {
        let targets = [Target::Guard(target(GuardForm::MaxIncrease(0.2), 7.0, 7.5))];
        let seen = at('1', &[7.25]);
        let (engine, from) = (seen.commit.short(), commit('2'));
        assert_eq!(
            told(&seen, &from, &targets),
            format!("{engine} with the ruler of {} yields ppl 7.25", from.short())
        );
    }

    #[test]
    fn the_lines_for_the_file_are_an_overlay_with_the_ruler() {
        let paths = ["bench/**".to_owned(), "a \"b\".txt".to_owned()];
        let [older, newer, from] = ['1', '9', '2'].map(commit);
        for (aim, command) in [
            (Aim::Regression, format!("start --good {} --bad {}`", older.short(), newer.short())),
            (
                Aim::Fix,
                format!("start --find-fix --good {} --bad {}`", newer.short(), older.short()),
            ),
        ] {
            let next = hunt_with_ruler(&from, &paths, [&older, &newer], aim);
            let (words, lines) = next.split_once('\n').unwrap();
            assert!(words.contains(&command), "{words}");
            let file: toml::Value = toml::from_str(lines).unwrap();
            let overlay = &file["overlay"][0];
            assert_eq!(overlay["from"].as_str(), Some(from.short()));
            let read = overlay["paths"].as_array().unwrap().iter();
            let read: Vec<&str> = read.filter_map(toml::Value::as_str).collect();
            assert_eq!(read, paths);
        }
    }
}
