//! Whether a program asked git how HEAD relates to branches and tags. Pure: reads the events that
//! git writes into the file of `GIT_TRACE2_EVENT` (git 2.22 or newer), one JSON object a line.
//!
//! HEAD of a modified tree is a commit of our own that no reference leads to (`laid_commit`). A
//! build that asks git for such references may give another result there, although its files are
//! right.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

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

/// Options of git before its command that are followed by a value.
const WITH_VALUE: [&str; 6] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"];

/// Whether a command asked for references of the repository whose worktree is `top`, or of one
/// below it. Commands that git itself starts do not count: `git submodule` describes each pin.
pub(crate) fn asked_references(events: &str, top: &Path) -> bool {
    let (mut asking, mut elsewhere) = (BTreeSet::new(), BTreeSet::new());
    let events = events.lines().filter_map(|line| serde_json::from_str::<TraceEvent>(line).ok());
    let own = events.filter(|event| !event.sid.contains('/'));
    for TraceEvent { event, sid, argv, worktree } in own {
        let asks = match event.as_str() {
            "start" => asks_references(argv.get(1..).unwrap_or_default()),
            // What an alias stands for.
            "alias" => asks_references(&argv),
            _ => false,
        };
        if worktree.is_some_and(|worktree| !worktree.starts_with(top)) {
            elsewhere.insert(sid.clone());
        }
        if asks {
            asking.insert(sid);
        }
    }
    asking.difference(&elsewhere).next().is_some()
}

/// Whether the answer to this command depends on which references lead to HEAD. `words`: those
/// after `git`.
///
/// In a worktree of ours HEAD is detached at every commit, so its own name (`symbolic-ref`,
/// `rev-parse --abbrev-ref`, `status --branch`, `branch --show-current`) is always the same. What
/// differs at every commit (`describe` with a distance, `rev-parse HEAD`) tells no reference.
fn asks_references(words: &[String]) -> bool {
    let mut words = words.iter().map(String::as_str);
    let command = loop {
        match words.next() {
            None => return false,
            Some(word) if WITH_VALUE.contains(&word) => {
                words.next();
            }
            Some(word) if word.starts_with('-') => {}
            Some(word) => break word,
        }
    };
    let options: Vec<&str> = words.take_while(|word| *word != "--").collect();
    let has = |wanted: &[&str]| {
        options.iter().any(|option| wanted.contains(&option.split('=').next().unwrap_or_default()))
    };
    match command {
        "for-each-ref" | "show-ref" | "name-rev" | "ls-remote" => true,
        "branch" | "tag" => {
            has(&["--contains", "--no-contains", "--merged", "--no-merged", "--points-at"])
                || has(&["--format"])
        }
        "describe" => has(&["--exact-match", "--contains"]) || options.contains(&"--candidates=0"),
        "log" | "show" | "rev-list" => {
            let names = ["%d", "%D", "%(decorate", "%S"];
            has(&["--decorate", "--source", "--all", "--branches", "--tags", "--remotes"])
                || options.iter().any(|option| names.iter().any(|name| option.contains(name)))
        }
        "rev-parse" => has(&["--all", "--branches", "--tags", "--remotes", "--glob"]),
        "merge-base" => has(&["--is-ancestor"]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{self, Invocation};

    fn asks(line: &str) -> bool {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        asks_references(&words)
    }

    #[test]
    fn a_question_for_references_to_head_is_told_from_others() {
        for line in [
            "branch --contains HEAD",
            "branch -r --contains=HEAD",
            "-C sub -c core.pager=cat --no-pager branch -a --contains HEAD",
            "for-each-ref --contains HEAD",
            "show-ref",
            "describe --exact-match --tags",
            "describe --contains HEAD",
            "name-rev --name-only HEAD",
            "tag --points-at HEAD",
            "log -1 --decorate",
            "log -1 --format=%h%d",
            "merge-base --is-ancestor HEAD main",
        ] {
            assert!(asks(line), "{line}");
        }
        for line in [
            "",
            "--version",
            "rev-parse HEAD",
            "rev-parse --short HEAD",
            "rev-parse --abbrev-ref HEAD",
            "rev-list --count HEAD",
            "log -1 --format=%h",
            "log -1 --format=%ad --date=short",
            "status --porcelain",
            "status -sb",
            "diff --quiet HEAD",
            "describe --always --dirty",
            "describe --tags --long",
            "tag --sort=-v:refname",
            "branch --show-current",
            "log -- --all",
        ] {
            assert!(!asks(line), "{line}");
        }
    }

    #[test]
    fn commands_of_other_repositories_and_below_other_commands_do_not_count() {
        let start = |sid: &str, command: &str| {
            format!(r#"{{"event":"start","sid":"{sid}","argv":["git","{command}"]}}"#)
        };
        let within = |sid: &str, folder: &str| {
            format!(r#"{{"event":"def_repo","sid":"{sid}","repo":1,"worktree":"{folder}"}}"#)
        };
        let alias = r#"{"event":"alias","sid":"a","alias":"n","argv":["name-rev","HEAD"]}"#;
        let told = |lines: &[String]| asked_references(&lines.join("\n"), Path::new("/slot/src"));
        let asks = start("a", "show-ref");
        assert!(told(std::slice::from_ref(&asks)));
        assert!(told(&["no event".to_owned(), asks.clone(), within("a", "/slot/src/sub")]));
        assert!(told(&[start("a", "n"), alias.to_owned()]));
        assert!(!told(&[asks.clone(), within("a", "/slot/build/_deps/fmt-src")]));
        assert!(told(&[asks, within("b", "/slot/build/_deps/fmt-src")]));
        assert!(!told(&[start("a", "submodule"), start("a/b", "name-rev")]));
        assert!(!told(&[]));
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
            assert_eq!(asked_references(&events, &top), is_asking, "{script}: {events}");
            assert!(!asked_references(&events, &top.join("other")), "{events}");
        }
        // Where git cannot write, it works as before.
        let said = run("git rev-parse --is-inside-work-tree", &top.join("none/events"));
        assert_eq!((said.stdout.as_slice(), said.stderr.as_slice()), (&b"true\n"[..], &b""[..]));
    }
}
