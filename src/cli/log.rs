//! `log`: the hunt's search over the whole range as a log that `git bisect replay` takes in any
//! clone.

use crate::evaluation::{Aim, CommitId, Phase, Verdict};
use crate::git::Range;
use crate::hunt::{self, HuntError};
use crate::store::journal::Event;
use crate::ui::Ui;

use super::args::Hunt;
use super::{Failed, exit, hunt_here};

/// `log`.
pub fn run(args: &Hunt, ui: Ui) -> Result<u8, Failed> {
    let (repository, hunt) = hunt_here(args.hunt.as_deref())?;
    let (mut range, mut aim) = (None, Aim::Regression);
    let mut marks: Vec<(CommitId, Verdict)> = Vec::new();
    let (mut whole, mut skipped) = (0, 0);
    for entry in hunt.entries().map_err(Failed::store)? {
        match entry.event {
            Event::Begun(begun) => {
                aim = begun.options.aim;
                let [old, new] = begun.ends();
                range = Some(Range {
                    old: vec![old.clone()],
                    new: new.clone(),
                    first_parent: begun.options.first_parent,
                    paths: begun.options.paths,
                });
                marks.extend(begun.options.skip.into_iter().map(|commit| (commit, Verdict::Skip)));
                skipped = marks.len();
            }
            // The whole range may be searched more than once: the last one has the answer.
            Event::Search { stretch, good, bad, .. } => {
                let [old, new] = aim.turned([&good, &bad]);
                let is_all = |range: &Range| range.old.contains(old) && range.new == *new;
                if range.as_ref().is_some_and(is_all) && stretch != whole {
                    whole = stretch;
                    marks.truncate(skipped);
                }
            }
            Event::Judged(judged) if judged.stretch == whole && judged.phase != Phase::Endpoint => {
                // The last word on a commit is its confirmation's.
                marks.retain(|(commit, _)| *commit != judged.commit);
                marks.push((judged.commit, judged.judgement.verdict));
            }
            _ => {}
        }
    }
    let range = range.ok_or_else(|| Failed::hunt(HuntError::NoBeginning))?;
    let git = |error: crate::git::GitError| Failed::hunt(error.into());
    let begun = hunt::begun(&hunt).map_err(Failed::hunt)?;
    let history = hunt::history(&repository, &begun).map_err(git)?;
    let text = history.replay_log(&range, aim, &marks).map_err(git)?;
    ui.out(&text).map_err(Failed::stdout)?;
    Ok(exit::DONE)
}
