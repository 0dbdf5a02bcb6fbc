//! What a hunt knows about the files in the user's home folder: whether builds or runs keep
//! something there, and what the endpoints showed with them. An engine that only reads settings is
//! hunted with them, since the user asks about these endpoints. An engine that keeps results there
//! is hunted with an empty home folder, and the answer says what the endpoints showed before.

use crate::evaluation::{GuardTarget, Phase, Target, Value};
use crate::store::journal::Event;
use crate::ui::text;

use super::HuntError;
use super::driver::Driver;

/// What to do if settings in the home folder matter.
pub(super) const HUNT_WITH_HOME: &str = "if no file in your home folder carries results from one \
                                         commit to another, set `home = \"shared\"` under \
                                         [environment] to hunt with it";

impl Driver<'_> {
    /// A file that a build or run of a check wrote into its empty home folder, or else one that
    /// changed during the hunt and that an empty home folder has too, by a link. `None` if builds
    /// and runs only read what is in the home folder, as far as these checks show.
    pub(super) fn file_kept_at_home(&self) -> Result<Option<String>, HuntError> {
        for entry in &self.hunt.entries_in_force()? {
            let Event::Run(run) = &entry.event else { continue };
            if run.phase != Phase::Confirm {
                continue;
            }
            let stored = self.oracle.store.run(&run.run_key, &run.attempt)?;
            if let Some(path) = stored.and_then(|stored| stored.record.wrote_home.clone()) {
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
            self.hunt.entries()?.iter().map(|entry| entry.event.clone()).collect();
        Ok(shown_before_empty_home(&events).map(<[Target]>::to_vec))
    }

    /// What the endpoints showed with the user's home folder, and what they show with an empty one,
    /// if both are a regression, but not the same one. Then the user's settings matter, and the
    /// regression with an empty home folder may have another cause.
    pub(super) fn other_step_without_settings(&self) -> Result<Option<[String; 2]>, HuntError> {
        let events: Vec<Event> =
            self.hunt.entries()?.iter().map(|entry| entry.event.clone()).collect();
        Ok(other_step_with_empty_home(&events).map(|steps| steps.map(levels)))
    }
}

/// The targets before and after the hunt began again with an empty home folder, if they are two
/// regressions.
fn other_step_with_empty_home(events: &[Event]) -> Option<[&[Target]; 2]> {
    let shown = shown_before_empty_home(events).filter(|shown| !shown.is_empty())?;
    let turned = events.iter().rposition(|event| matches!(event, Event::Home { empty: true }))?;
    let now = events[turned..].iter().find_map(|event| match event {
        Event::Targets { targets, .. } => Some(targets.as_slice()),
        _ => None,
    })?;
    is_other_step(shown, now).then_some([shown, now])
}

/// Whether two lists of targets show different regressions: a metric of both has another level, or
/// they have no metric and no failure in common.
fn is_other_step(one: &[Target], other: &[Target]) -> bool {
    let is_failure =
        |target: &Target| target.failure().is_some() || target.failure_of_runs().is_some();
    let fails = |targets: &[Target]| targets.iter().any(is_failure);
    let mut common = fails(one) && fails(other);
    for target in one.iter().filter_map(Target::guard) {
        let now = Target::on(other, &target.guard.metric).and_then(Target::guard);
        if now.is_some_and(|now| has_other_levels(target, now)) {
            return true;
        }
        common |= now.is_some();
    }
    !common
}

/// Whether the level of an endpoint differs by more than the tolerance, or one of the targets is a
/// failure rate. False for levels in noise: they move by themselves there.
fn has_other_levels(one: &GuardTarget, other: &GuardTarget) -> bool {
    if one.failure.is_some() != other.failure.is_some() {
        return true;
    }
    if one.noise.is_some() || other.noise.is_some() {
        return false;
    }
    let differs = |a: &Value, b: &Value| match (a.number(), b.number()) {
        (Some(a), Some(b)) if a.is_finite() && b.is_finite() => {
            one.guard.worsening(a, b).abs() > one.limit.abs()
        }
        _ => a != b,
    };
    differs(&one.baseline, &other.baseline) || differs(&one.bad, &other.bad)
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
        Target::Guard(GuardTarget { failure: Some(failure), .. }) => {
            format!("a failure in some runs of bad ({})", text::line(&failure.detail))
        }
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
    use crate::evaluation::{FailureKind, GuardForm};
    use crate::oracle::fixture::{fails_alike, target};
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

    #[test]
    fn another_step_with_an_empty_home_folder_is_seen() {
        let empty = Event::Home { empty: true };
        let told = |user: [f64; 2], now: [f64; 2]| {
            let events = [targets(user), empty.clone(), targets(now)];
            other_step_with_empty_home(&events).map(|steps| steps.map(levels))
        };
        let steps = told([7.0, 7.5], [7.0, 7.8]).unwrap();
        assert_eq!(steps, ["ppl 7 → 7.5", "ppl 7 → 7.8"]);
        assert!(told([7.0, 7.5], [6.5, 7.5]).is_some());
        assert_eq!(told([7.0, 7.5], [7.0, 7.5]), None);
        assert_eq!(told([7.0, 7.5], [7.05, 7.55]), None);
        assert_eq!(other_step_with_empty_home(&[empty.clone(), targets([7.0, 7.5])]), None);
        assert_eq!(other_step_with_empty_home(&[targets([7.0, 7.5]), empty]), None);
    }

    #[test]
    fn a_failure_and_a_level_are_different_regressions() {
        let guard = |good, bad| Target::Guard(target(GuardForm::MaxIncrease(0.1), good, bad));
        let failure = || fails_alike(Some("ppl"), FailureKind::Crash, "crash");
        assert!(is_other_step(&[failure()], &[guard(7.0, 7.5)]));
        assert!(!is_other_step(&[failure()], &[failure()]));
        assert!(!is_other_step(&[guard(7.0, 7.5)], &[guard(7.0, 7.5)]));
    }
}
