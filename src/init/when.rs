//! Finds the `when` of an override: a condition that separates older commits from newer ones.

use std::fmt;

use crate::evaluation::CommitId;
use crate::git::{EntryKind, GitError};

use super::draft::Draft;
use super::objects::Objects;
use super::toml_text::quoted;

/// The longest text of a `contains` condition.
const LONGEST: usize = 120;

/// The `when` of an override.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum When {
    Missing(String),
    Exists(String),
    Contains(String, String),
    /// `lacks_ancestor`: true for every commit that does not descend from this one.
    Lacks(CommitId),
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(path) => write!(f, "{{ missing = {} }}", quoted(path)),
            Self::Exists(path) => write!(f, "{{ exists = {} }}", quoted(path)),
            Self::Contains(path, text) => {
                write!(f, "{{ contains = [{}, {}] }}", quoted(path), quoted(text))
            }
            Self::Lacks(commit) => write!(f, "{{ lacks_ancestor = {} }}", quoted(commit.as_str())),
        }
    }
}

/// A commit and the draft that was read from its tree.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) commit: &'a CommitId,
    pub(super) draft: &'a Draft,
}

/// A condition that separates the commits around `old` from the later commits around `new`. The
/// drafts of the two differ. The condition is about a file that the drafts were read from, and
/// is true at every commit of `holds` and at none of `fails`. If none is found, the condition is
/// that a commit does not descend from `new`.
pub(super) fn separate(
    objects: &Objects,
    old: At<'_>,
    new: At<'_>,
    holds: &[&CommitId],
    fails: &[&CommitId],
) -> Result<When, GitError> {
    for candidate in candidates(objects, old, new)? {
        let is = |commit: &CommitId, wanted: bool| -> Result<bool, GitError> {
            Ok(is_so(objects, commit, &candidate)? == Some(wanted))
        };
        // The commits nearest to the change are checked first: a wrong candidate fails there.
        let mut fits = true;
        for (commit, wanted) in
            holds.iter().map(|c| (c, true)).chain(fails.iter().rev().map(|c| (c, false)))
        {
            if !is(commit, wanted)? {
                fits = false;
                break;
            }
        }
        if fits {
            return Ok(candidate);
        }
    }
    Ok(When::Lacks(new.commit.clone()))
}

fn candidates(objects: &Objects, old: At<'_>, new: At<'_>) -> Result<Vec<When>, GitError> {
    let mut candidates = Vec::new();
    for file in &new.draft.rests_on {
        if objects.history().at(old.commit, file)? == EntryKind::Nothing {
            candidates.push(When::Missing(file.clone()));
        }
    }
    for file in &old.draft.rests_on {
        if objects.history().at(new.commit, file)? == EntryKind::Nothing {
            candidates.push(When::Exists(file.clone()));
        }
    }
    let words = words_gone(old.draft, new.draft);
    // A line that has a word which only the older commands have is better evidence than a file that
    // came or went with the change.
    let mut telling = Vec::new();
    for file in &old.draft.rests_on {
        let (before, after) = (objects.read(old.commit, file)?, objects.read(new.commit, file)?);
        if let Some((before, after)) = before.zip(after) {
            let texts = before.lines().flat_map(|line| texts(line, &words));
            let gone = texts.filter(|text| !after.contains(text));
            telling.extend(gone.map(|text| When::Contains(file.clone(), text.to_owned())));
        }
    }
    telling.extend(candidates);
    Ok(telling)
}

/// Words of the older draft's commands that the newer draft's commands do not have.
fn words_gone(old: &Draft, new: &Draft) -> Vec<String> {
    let words = |draft: &Draft| -> Vec<String> {
        let commands = draft.measures.iter().map(|m| m.command.clone());
        let all: Vec<String> = draft.commands().into_iter().chain(commands).collect();
        let is_part = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
        let words = all.iter().flat_map(|text| text.split(|c: char| !is_part(c)));
        words.map(|word| word.strip_prefix("-D").unwrap_or(word).to_owned()).collect()
    };
    let newer = words(new);
    let mut gone = words(old);
    gone.retain(|word| word.len() > 2 && !newer.contains(word));
    gone.sort();
    gone.dedup();
    gone
}

/// The beginnings of a line, each up to one of these words and the character after it.
fn texts<'l>(line: &'l str, words: &[String]) -> Vec<&'l str> {
    let line = line.trim();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let end = |word: &String| {
        let at = line.find(word.as_str())?;
        let end = at + word.len();
        let is_whole = !line[..at].ends_with(is_part) && !line[end..].starts_with(is_part);
        let closing = line[end..].chars().next().filter(|c| !c.is_whitespace());
        is_whole.then(|| end + closing.map_or(0, char::len_utf8))
    };
    let found = words.iter().filter_map(end).map(|end| &line[..end]);
    found.filter(|text| text.len() <= LONGEST && !text.contains(char::is_control)).collect()
}

/// Whether a condition holds at a commit; `None` if the objects here do not tell.
fn is_so(objects: &Objects, commit: &CommitId, when: &When) -> Result<Option<bool>, GitError> {
    let there = |path: &str| -> Result<Option<bool>, GitError> {
        Ok(match objects.history().at(commit, path)? {
            EntryKind::Unknown => None,
            EntryKind::Nothing => Some(false),
            EntryKind::File(_) | EntryKind::Other => Some(true),
        })
    };
    Ok(match when {
        When::Missing(path) => there(path)?.map(|is| !is),
        When::Exists(path) => there(path)?,
        When::Contains(path, text) => match there(path)? {
            Some(true) => objects.read(commit, path)?.map(|whole| whole.contains(text)),
            other => other,
        },
        When::Lacks(_) => None,
    })
}
