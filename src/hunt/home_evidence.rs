//! What a hunt knows about the files in the user's home folder: whether builds or runs keep
//! something there, and what the endpoints showed with them. An engine that only reads settings is
//! hunted with them, since the user asks about these endpoints. An engine that keeps results there
//! is hunted with an empty home folder, and the answer says what the endpoints showed before.

use crate::evaluation::{Phase, Target};
use crate::store::journal::Event;
use crate::ui::text;

use super::HuntError;
use super::driver::Driver;

impl Driver<'_> {
    /// A file that a build or run of a check wrote into its empty home folder, or else one that
    /// changed during the hunt and that an empty home folder has too, by a link. `None` if builds
    /// and runs only read what is in the home folder, as far as these checks show.
    pub(super) fn file_kept_at_home(&self) -> Result<Option<String>, HuntError> {
        for entry in self.hunt.entries_in_force()? {
            let Event::Run(run) = entry.event else { continue };
            if run.phase != Phase::Confirm {
                continue;
            }
            let stored = self.oracle.store.run(&run.run_key, &run.attempt)?;
            if let Some(path) = stored.and_then(|stored| stored.record.wrote_home) {
                return Ok(Some(path));
            }
        }
        Ok(self.change_in_home())
    }

    /// The targets that the endpoints showed with the user's home folder, before the hunt began
    /// again with an empty one; no targets if they showed no regression. `None` if the hunt did not
    /// begin again for this reason.
    pub(super) fn shown_with_user_home(&self) -> Result<Option<Vec<Target>>, HuntError> {
        let events: Vec<Event> =
            self.hunt.entries()?.into_iter().map(|entry| entry.event).collect();
        Ok(shown_before_empty_home(&events).map(<[Target]>::to_vec))
    }
}

fn shown_before_empty_home(events: &[Event]) -> Option<&[Target]> {
    let turned = events.iter().rposition(|event| matches!(event, Event::Home { empty: true }))?;
    let shown = events[..turned].iter().rev().find_map(|event| match event {
        Event::Targets { targets, .. } => Some(targets.as_slice()),
        _ => None,
    });
    Some(shown.unwrap_or_default())
}

/// What the endpoints showed, good before bad: "ppl 7 → 7.5".
pub(super) fn levels(shown: &[Target]) -> String {
    let words = |target: &Target| match target {
        Target::Guard(target) => {
            let values = text::values(&target.baseline, &target.bad);
            format!("{} {values}", target.guard.metric)
        }
        Target::Failure { failure, .. } => {
            format!("a failure of bad ({})", text::line(&failure.detail))
        }
    };
    match shown {
        [] => "no regression".to_owned(),
        all => all.iter().map(words).collect::<Vec<_>>().join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;
    use crate::oracle::fixture::target;
    use crate::store::journal::SearchMethod;

    fn targets([good, bad]: [f64; 2]) -> Event {
        let targets = vec![Target::Guard(target(GuardForm::MaxIncrease(0.1), good, bad))];
        let steadiness = SearchMethod::BitIdentical;
        Event::Targets { targets, steadiness, others: Vec::new() }
    }

    fn shown(events: &[Event]) -> Option<String> {
        shown_before_empty_home(events).map(levels)
    }

    #[test]
    fn the_first_ends_are_those_before_the_empty_home_folder() {
        let [user, empty] = [false, true].map(|empty| Event::Home { empty });
        let [first, second] = [targets([7.0, 7.5]), targets([6.5, 6.7])];
        let all = [first.clone(), user.clone(), empty.clone(), second];
        assert_eq!(shown(&all).as_deref(), Some("ppl 7 → 7.5"));
        assert_eq!(shown(&all[1..]).as_deref(), Some("no regression"));
        assert_eq!(shown(&[first, user]), None);
    }
}
