//! Begins a hunt again under other conditions, if a result shows that they matter: clean builds, an
//! empty home folder, or the machine as it is now.

use crate::config::{BuildMode, HomeUse};
use crate::evaluation::Finding;
use crate::store::journal::Event;

use super::HuntError;
use super::driver::Driver;
use super::range::SearchRange;
use super::searched::Searched;

impl Driver<'_> {
    /// The result of a search; or the hunt's finding, if the result shows that the hunt must begin
    /// again under other conditions.
    pub(super) fn unless_begun_again(
        &mut self,
        search_range: &SearchRange,
        searched: Searched,
    ) -> Result<Result<Searched, Finding>, HuntError> {
        match self.with_machine(search_range, searched)? {
            Searched::BuildsDisagree(why) if !self.is_clean => self.begin_clean(&why).map(Err),
            Searched::HomeMatters(why) => self.begin_with_empty_home(&why).map(Err),
            Searched::MachineChanged(change) => self.begin_after_change(change).map(Err),
            searched => Ok(Ok(searched)),
        }
    }

    /// Starts the hunt again with an empty home folder for every build and run.
    pub(super) fn begin_with_empty_home(&mut self, why: &str) -> Result<Finding, HuntError> {
        let text = format!(
            "with an empty home folder, {why}: something in the home folder carries results from \
             one commit to another, so from now on every build and run gets an empty one \
             (`[environment] home`)"
        );
        self.oracle.recorder.event(Event::Note { text })?;
        self.oracle.recorder.event(Event::Home { empty: true })?;
        self.oracle.recipes.config.home = HomeUse::Empty;
        self.oracle.pool.free_all();
        self.run_anew()
    }

    /// Starts the hunt again with clean builds only: incremental builds gave other verdicts.
    fn begin_clean(&mut self, why: &str) -> Result<Finding, HuntError> {
        let text = format!(
            "incremental and clean builds give different verdicts ({why}): incremental builds no \
             longer count, and from now on every build is clean"
        );
        self.oracle.recorder.event(Event::Note { text })?;
        self.oracle.recipes.config.build.mode = BuildMode::Clean;
        self.is_clean = true;
        self.run_anew()
    }

    /// Drives the hunt from its endpoints on. Nothing counts that the driver found before.
    pub(super) fn run_anew(&mut self) -> Result<Finding, HuntError> {
        self.searches = 0;
        self.excluded_runs.clear();
        self.undone.clear();
        self.compared.clear();
        self.is_flaky = false;
        self.run()
    }
}
