//! What changed in the git folder that all worktrees share, as text.

use crate::evaluation::{ChangedDuring, GitFolderChange};
use crate::ui::text;

/// `tuned/1 in the repository's git folder changed during the build of 0123456789; all commits share
/// this folder, so a value may come from another commit's file`.
pub(crate) fn in_words(change: &GitFolderChange) -> String {
    let GitFolderChange { during, commit, paths, more } = change;
    let commit = commit.as_ref().map(|commit| commit.short().to_owned());
    let during = match (during, commit) {
        (_, None) => "while a build or run went on".to_owned(),
        (ChangedDuring::Build, Some(commit)) => format!("during the build of {commit}"),
        (ChangedDuring::Step(name), Some(commit)) => {
            format!("during the step {} of {commit}", text::line(name))
        }
        (ChangedDuring::Run(measure), Some(commit)) => {
            format!("during a run of {} at {commit}", text::line(measure))
        }
    };
    let more = (*more > 0).then(|| format!("{more} more"));
    let paths: Vec<String> = paths.iter().map(|path| text::line(path)).chain(more).collect();
    format!(
        "{} in the repository's git folder changed {during}; all commits share this folder, so a \
         value may come from another commit's file",
        paths.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(during: ChangedDuring, commit: Option<char>, more: usize) -> GitFolderChange {
        let commit = commit.map(|digit| digit.to_string().repeat(40).parse().unwrap());
        let paths = ["config", "tuned/1\n"].map(str::to_owned).to_vec();
        GitFolderChange { during, commit, paths, more }
    }

    #[test]
    fn a_change_names_its_paths_and_what_went_on() {
        let build = in_words(&change(ChangedDuring::Build, Some('1'), 0));
        let end = "in the repository's git folder changed during the build of 1111111111; all \
                   commits share this folder, so a value may come from another commit's file";
        assert!(build.starts_with("config, tuned/1") && build.ends_with(end), "{build}");
        assert!(!build.contains('\n'), "{build}");
        let run = in_words(&change(ChangedDuring::Run("ppl".to_owned()), Some('2'), 4));
        assert!(run.contains(", 4 more in the repository's git folder"), "{run}");
        assert!(run.contains("changed during a run of ppl at 2222222222;"), "{run}");
        let step = in_words(&change(ChangedDuring::Step("tune".to_owned()), Some('3'), 0));
        assert!(step.contains("changed during the step tune of 3333333333;"), "{step}");
    }

    #[test]
    fn with_several_slots_no_commit_is_named() {
        let told = in_words(&change(ChangedDuring::Build, None, 0));
        assert!(told.contains("changed while a build or run went on;"), "{told}");
    }
}
