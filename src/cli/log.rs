//! `log`: prints the hunt's search over the whole range as input for `git bisect replay`, which
//! works in any clone.

use crate::evaluation::{CommitId, Phase, Verdict};
use crate::git::Range;
use crate::hunt;
use crate::store::journal::Event;
use crate::ui::Ui;

use super::args::Hunt;
use super::locate::hunt_here;
use super::{Failed, exit};

/// `log`.
pub(crate) fn run(args: &Hunt, ui: Ui) -> Result<u8, Failed> {
    let (repository, hunt) = hunt_here(args.hunt.as_deref())?;
    let begun = hunt::begun(&hunt).map_err(Failed::hunt)?;
    let git = |error: crate::git::GitError| Failed::hunt(error.into());
    let history = hunt::history(&repository, &begun).map_err(git)?;
    let aim = begun.options.aim;
    let [old, new] = begun.ends();
    let entries = hunt.entries().map_err(Failed::store)?;
    let unread = entries.iter().find_map(|entry| match &entry.event {
        Event::Unread(unread) => Some(unread.paths.clone()),
        _ => None,
    });
    let paths =
        hunt::PathFilter { asked: begun.options.paths.clone(), unread: unread.unwrap_or_default() };
    let range = Range {
        old: vec![old.clone()],
        new: new.clone(),
        first_parent: begun.options.first_parent,
        paths: paths.specs(),
    };
    let skips = begun.options.skip.iter().map(|commit| (commit.clone(), Verdict::Skip));
    let mut marks: Vec<(CommitId, Verdict)> = skips.collect();
    let skipped = marks.len();
    let mut whole = 0;
    for entry in &entries {
        match &entry.event {
            // A hunt may search the whole range several times: the last search has the answer.
            Event::Search { search_number, good, bad, .. } => {
                let is_whole = *good == begun.good.commit && *bad == begun.bad.commit;
                if is_whole && *search_number != whole {
                    whole = *search_number;
                    marks.truncate(skipped);
                }
            }
            Event::Judged(judged)
                if judged.search_number == whole && judged.phase != Phase::Endpoint =>
            {
                // The verdict of a confirmation replaces that of the search.
                marks.retain(|(commit, _)| *commit != judged.commit);
                marks.push((judged.commit.clone(), judged.judgement.verdict));
            }
            _ => {}
        }
    }
    let text = history.replay_log(&range, aim, &marks).map_err(git)?;
    ui.out(&text).map_err(Failed::stdout)?;
    Ok(exit::DONE)
}
