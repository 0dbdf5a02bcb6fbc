//! What programs asked git. Pure: reads the events that git writes into the file of
//! `GIT_TRACE2_EVENT` (git 2.22 or newer), one JSON object a line.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::evaluation::GitQuestion;

use super::command_question::questions;

/// One step of a git command.
#[derive(Deserialize)]
struct TraceEvent {
    event: String,
    /// The process. A git command below another one has the name of that one before a `/`.
    sid: String,
    #[serde(default)]
    argv: Vec<String>,
    #[serde(default)]
    worktree: Option<PathBuf>,
}

/// What the commands of a build or a run asked git.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct AskedGit {
    /// The questions to the repository, or to one below it.
    pub questions: BTreeSet<GitQuestion>,
    /// How many commands used the repository itself, or have a command of git below them that did.
    /// Each opened its `.git` once: git hands the folder on to commands below it.
    pub commands: usize,
}

/// What commands asked the repository whose worktree is `top`, or one below it. Commands that git
/// itself starts do not count: `git submodule` describes each pin.
pub(crate) fn asked_git(events: &str, top: &Path) -> AskedGit {
    let mut asked: BTreeMap<String, BTreeSet<GitQuestion>> = BTreeMap::new();
    let (mut commands, mut elsewhere) = (BTreeSet::new(), BTreeSet::new());
    let events = events.lines().filter_map(|line| serde_json::from_str::<TraceEvent>(line).ok());
    for TraceEvent { event, sid, argv, worktree } in events {
        let own = sid.split('/').next().unwrap_or_default();
        if worktree.as_deref() == Some(top) {
            commands.insert(own.to_owned());
        }
        if own != sid {
            continue;
        }
        let asks: &[GitQuestion] = match event.as_str() {
            "start" => questions(argv.get(1..).unwrap_or_default()),
            // What an alias stands for.
            "alias" => questions(&argv),
            _ => &[],
        };
        if worktree.is_some_and(|worktree| !worktree.starts_with(top)) {
            elsewhere.insert(sid.clone());
        }
        asked.entry(sid).or_default().extend(asks.iter().copied());
    }
    asked.retain(|sid, _| !elsewhere.contains(sid));
    AskedGit { questions: asked.into_values().flatten().collect(), commands: commands.len() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{self, Invocation};

    #[test]
    fn commands_of_other_repositories_and_below_other_commands_do_not_count() {
        let start = |sid: &str, command: &str| {
            format!(r#"{{"event":"start","sid":"{sid}","argv":["git","{command}"]}}"#)
        };
        let within = |sid: &str, folder: &str| {
            format!(r#"{{"event":"def_repo","sid":"{sid}","repo":1,"worktree":"{folder}"}}"#)
        };
        let alias = r#"{"event":"alias","sid":"a","alias":"st","argv":["name-rev","HEAD"]}"#;
        let told = |lines: &[String]| {
            let asked = asked_git(&lines.join("\n"), Path::new("/slot/src"));
            asked.questions.contains(&GitQuestion::References)
        };
        let asks = start("a", "show-ref");
        assert!(told(std::slice::from_ref(&asks)));
        assert!(told(&["no event".to_owned(), asks.clone(), within("a", "/slot/src/sub")]));
        assert!(told(&[start("a", "status"), alias.to_owned()]));
        assert!(!told(&[asks.clone(), within("a", "/slot/build/_deps/fmt-src")]));
        assert!(told(&[asks, within("b", "/slot/build/_deps/fmt-src")]));
        assert!(!told(&[start("a", "submodule"), start("a/b", "name-rev")]));
        assert!(!told(&[]));
    }

    #[test]
    fn a_command_counts_once_with_all_commands_below_it() {
        let within = |sid: &str| {
            format!(r#"{{"event":"def_repo","sid":"{sid}","repo":1,"worktree":"/slot/src"}}"#)
        };
        let counted = |sids: &[&str]| {
            let events: Vec<String> = sids.iter().map(|sid| within(sid)).collect();
            asked_git(&events.join("\n"), Path::new("/slot/src")).commands
        };
        assert_eq!(counted(&["a", "b"]), 2);
        // `git submodule` is a script: only commands below it use the repository.
        assert_eq!(counted(&["a/b", "a/c/d", "a/e"]), 1);
    }

    #[test]
    fn git_below_a_shell_writes_events_that_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        let file = top.join("events");
        let run = |script: &str, file: &Path| {
            let shell = Invocation::new("sh").args(["-c", script]).cwd(&top).git_events(file);
            process::tool(&shell).unwrap()
        };
        run("git init -q .", Path::new("/dev/null"));
        for (script, is_asking) in
            [("git rev-parse --git-dir", false), ("git tag --points-at HEAD | cat", true)]
        {
            std::fs::remove_file(&file).ok();
            run(script, &file);
            let events = std::fs::read_to_string(&file).unwrap();
            let asked = asked_git(&events, &top);
            let expected = is_asking.then_some(GitQuestion::References).into_iter().collect();
            assert_eq!(asked, AskedGit { questions: expected, commands: 1 }, "{script}: {events}");
            assert_eq!(asked_git(&events, &top.join("other")), AskedGit::default(), "{events}");
        }
        // Where git cannot write, it works as before.
        let said = run("git rev-parse --is-inside-work-tree", &top.join("none/events"));
        assert_eq!((said.stdout.as_slice(), said.stderr.as_slice()), (&b"true\n"[..], &b""[..]));
    }
}
