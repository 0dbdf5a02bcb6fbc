//! What a build or a run asks git about HEAD. Git appends the steps of its commands to a file
//! beside the checkout, which changes nothing that git prints.
//!
//! Some programs read a repository without such a git: libgit2, a script, or git after `env -i`.
//! A program that looks for the repository of the checkout opens its `.git`, and each git command
//! does so once. If `.git` was opened more often than git's steps tell, another program asked.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::evaluation::GitQuestion;
use crate::files;
use crate::git::asked_git;

use super::Slot;
use super::open_count::OpenCount;

/// The file to which git below a build or a run of this slot writes its steps.
pub(crate) fn git_events(slot: &Slot) -> PathBuf {
    slot.root().join("git-events")
}

/// A watch on what is asked in a slot's checkout, active until it is
/// [finished](GitWatch::finish).
#[derive(Debug)]
pub(crate) struct GitWatch {
    opened: OpenCount,
    events: PathBuf,
    src: PathBuf,
}

impl GitWatch {
    /// Begins to watch. What was asked before does not count.
    pub(crate) fn begin(slot: &Slot) -> Self {
        let (events, src) = (git_events(slot), slot.src());
        // If the file cannot be removed, its old entries count too. At worst this costs a control.
        std::fs::remove_file(&events).ok();
        Self { opened: OpenCount::of(&src.join(".git")), events, src }
    }

    /// What was asked. Git before 2.22 writes no events, so its questions count as unseen ones.
    pub(crate) fn finish(self) -> BTreeSet<GitQuestion> {
        let opened = self.opened.finish();
        let events = files::read(&self.events).unwrap_or_default();
        let top = self.src.canonicalize().unwrap_or(self.src);
        let asked = asked_git(&String::from_utf8_lossy(&events), &top);
        let mut questions = asked.questions;
        if opened > asked.commands {
            questions.insert(GitQuestion::Unseen);
        }
        questions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Slots;
    use crate::process::{self, Invocation};

    #[test]
    fn what_was_asked_before_does_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let slot = Slots::new(&folder.path().join("slots")).unwrap().acquire(|_| false).unwrap();
        let event = r#"{"event":"start","sid":"a","argv":["git","name-rev","HEAD"]}"#;
        std::fs::write(git_events(&slot), event).unwrap();
        assert!(GitWatch::begin(&slot).finish().is_empty());
        let watch = GitWatch::begin(&slot);
        std::fs::write(git_events(&slot), event).unwrap();
        assert_eq!(watch.finish(), BTreeSet::from([GitQuestion::References]));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_question_that_git_does_not_write_down_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let slot = Slots::new(&folder.path().join("slots")).unwrap().acquire(|_| false).unwrap();
        let top = folder.path().join("repo");
        for path in [&top, &slot.src()] {
            std::fs::create_dir_all(path).unwrap();
        }
        let run = |script: &str, cwd: &std::path::Path| {
            let shell = Invocation::new("sh").args(["-c", script]).cwd(cwd);
            assert!(
                process::tool(&shell.git_events(git_events(&slot))).unwrap().ended.is_success()
            );
        };
        run("git init -q .", &top);
        // A worktree's `.git` is a file.
        let file = format!("gitdir: {}\n", top.join(".git").display());
        std::fs::write(slot.src().join(".git"), file).unwrap();
        for (script, is_unseen) in [
            ("true", false),
            ("git status -s && git rev-parse --git-dir", false),
            ("cat .git", true),
            ("git status -s && env -u GIT_TRACE2_EVENT git rev-parse --git-dir", true),
        ] {
            let watch = GitWatch::begin(&slot);
            run(script, &slot.src());
            let asked = watch.finish();
            assert_eq!(asked.contains(&GitQuestion::Unseen), is_unseen, "{script}: {asked:?}");
        }
    }
}
