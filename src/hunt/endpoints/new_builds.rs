//! Before "no regression" is said although the endpoints differ with an empty home folder: whether
//! new builds of both differ with the user's home folder too. Then that folder is not the reason,
//! but something between the builds or runs that counted and the new ones: files outside the
//! repository that builds read, a variable, or the slot.

use crate::evaluation::Finding;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::machine_change::MachineChange;
use crate::oracle::{Observation, guarded_measures};
use crate::ui::text;

use super::noise::EndpointPolicy;
use super::overwritten::RUNS_OF_NEW_BUILD;
use super::targets::{choose, unmeasurable};

impl Driver<'_> {
    /// The finding of the hunt that begins again, if new builds of the endpoints show a regression
    /// with the user's home folder. `None` if they show none, or after a limit.
    pub(super) fn begin_if_new_builds_differ(
        &mut self,
        good: &Observation,
        bad: &Observation,
        policy: &EndpointPolicy,
    ) -> Result<Option<Box<Finding>>, HuntError> {
        let guards = self.guards();
        let measures = guarded_measures(&guards);
        let mut seen = Vec::new();
        for end in [good, bad] {
            match self.measure_new_build(&end.commit, &measures, RUNS_OF_NEW_BUILD) {
                Err(HuntError::Limit(_)) => return Ok(None),
                end => seen.push(end?),
            }
        }
        if choose(&seen[0], &seen[1], &guards, policy).is_err() {
            return Ok(None);
        }
        let shown = "new builds of both endpoints show a regression, and those before showed none";
        if self.slots() > 1 {
            let why = format!("{shown}: slots may differ, so the hunt begins again with one slot");
            return self.use_one_slot(good, bad, why).map(Box::new).map(Some);
        }
        if self.oracle.stored.has_outdated() {
            let summary = format!("{shown}, also after the hunt began again");
            return Ok(Some(unmeasurable(summary)));
        }
        let attempts = [good.attempts(), bad.attempts()].concat();
        let made = text::plural(attempts.len(), "run");
        let text = format!(
            "{shown}: something outside the repository, which builds or runs read, may have \
             changed since then. The {made} of before no longer count, and the hunt begins again"
        );
        let change = MachineChange { text, measures, attempts };
        self.begin_after_change(change).map(Box::new).map(Some)
    }
}
