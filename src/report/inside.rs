//! Sentences about hunts inside dependencies: about those that a hunt started, and, if the hunt is
//! inside a dependency itself, about the engine into which it builds the commits.

use crate::evaluation::{CommitId, Outcome};
use crate::store::journal::Event;
use crate::store::{FollowUpAttempt, FollowUpResult, HuntDir, StoreError};
use crate::ui::text;

use super::model::{FirstBad, InsideLine, Report};

/// The hunts that a hunt started, each with the first bad commit that moves the dependency.
pub(super) fn of(hunt: &HuntDir) -> Result<Vec<(CommitId, InsideLine)>, StoreError> {
    let of = |tried: FollowUpAttempt| Ok((tried.commit, line(hunt, tried.path, tried.went)?));
    hunt.inside()?.into_iter().map(of).collect()
}

fn line(hunt: &HuntDir, path: String, went: FollowUpResult) -> Result<InsideLine, StoreError> {
    let mut line = InsideLine {
        path,
        hunt: None,
        outcome: None,
        culprit: None,
        engine: None,
        summary: String::new(),
    };
    let id = match went {
        FollowUpResult::Nowhere(why) => return Ok(InsideLine { summary: why, ..line }),
        FollowUpResult::On(id) => id,
    };
    let inside = hunt.beside(&id);
    if !inside.journal_path().exists() {
        let summary = "it is not in the store any more".to_owned();
        return Ok(InsideLine { hunt: Some(id), summary, ..line });
    }
    line.outcome = Some(Outcome::Interrupted);
    for entry in &inside.entries()? {
        match &entry.event {
            Event::Begun(begun) => {
                let within = begun.within.as_ref();
                line.engine = within.map(|within| within.commit.commit.clone());
            }
            Event::Ended { finding, .. } => {
                line.outcome = Some(finding.outcome);
                line.culprit = finding.culprit().map(|culprit| culprit.info.clone());
                line.summary.clone_from(&finding.summary);
            }
            Event::Resumed { .. } => {
                line.outcome = Some(Outcome::Interrupted);
                (line.culprit, line.summary) = (None, String::new());
            }
            _ => {}
        }
    }
    Ok(InsideLine { hunt: Some(id), ..line })
}

/// A sentence for each hunt inside a dependency of a first bad commit.
pub(super) fn words(first: &FirstBad) -> Vec<String> {
    first.inside.iter().map(sentence).collect()
}

fn sentence(line: &InsideLine) -> String {
    let InsideLine { path, summary, .. } = line;
    let Some(hunt) = &line.hunt else { return format!("{path} was not searched: {summary}") };
    let engine = line.engine.as_ref().map(|engine| format!(", built into {}", engine.short()));
    let engine = engine.unwrap_or_default();
    match (&line.culprit, line.outcome) {
        (Some(culprit), _) => {
            let name = text::commit(&culprit.commit, &culprit.subject);
            format!("{path}: {name}, by {} (hunt {hunt}{engine})", culprit.author)
        }
        (None, None) => format!("{path}: hunt {hunt}: {summary}"),
        (None, Some(Outcome::Interrupted)) => {
            format!("{path}: hunt {hunt} has not ended; `bisect-ppl resume {hunt}`")
        }
        (None, Some(_)) => format!("{path}: no commit is named: {summary} (hunt {hunt}{engine})"),
    }
}

/// The description of a hunt's commits if they belong to a dependency.
pub(super) fn around(report: &Report) -> Option<String> {
    let within = report.within.as_ref()?;
    Some(format!(
        "commits of {}, each built into {}, which hunt {} found; this answer rests on that one",
        within.what(),
        text::commit(&within.commit.commit, &within.commit.subject),
        within.hunt
    ))
}
