//! Begins a hunt again under other conditions, if a result shows that they matter: clean builds, no
//! direct mode of a compiler cache, an empty home folder, or the machine as it is now.

use crate::config::HomeUse;
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
            Searched::DirectModeMatters(why) => self.begin_without_direct_mode(&why).map(Err),
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

    /// Starts the hunt again with clean builds only: incremental builds gave other verdicts. The
    /// runs of clean builds still count, so those of rejected claims confirm no other claim.
    fn begin_clean(&mut self, why: &str) -> Result<Finding, HuntError> {
        let text = format!(
            "incremental and clean builds give different verdicts ({why}): incremental builds no \
             longer count, and from now on every build is clean"
        );
        self.oracle.recorder.event(Event::Note { text })?;
        self.oracle.recipes.config.build.set_always_clean();
        self.is_clean = true;
        self.run_again()
    }

    /// Starts the hunt again without the direct mode of compiler caches: fresh builds without it
    /// gave other verdicts.
    fn begin_without_direct_mode(&mut self, why: &str) -> Result<Finding, HuntError> {
        let text = format!(
            "fresh builds without the direct mode of the compiler cache give another verdict \
             ({why}): in this mode, which misses headers that a commit adds, the cache answers \
             with objects of other commits. Builds with it no longer count, and from now on no \
             build uses it"
        );
        self.oracle.recorder.event(Event::Note { text })?;
        self.oracle.recorder.event(Event::NoDirectMode)?;
        self.oracle.recipes.config.build.direct_mode = false;
        self.oracle.pool.free_all();
        self.run_anew()
    }

    /// Drives the hunt from its endpoints on. Nothing counts that the driver found before.
    pub(super) fn run_anew(&mut self) -> Result<Finding, HuntError> {
        self.excluded_runs.clear();
        self.run_again()
    }

    /// As [`Self::run_anew`], but runs of rejected claims stay excluded.
    fn run_again(&mut self) -> Result<Finding, HuntError> {
        self.searches = 0;
        self.undone.clear();
        self.compared.clear();
        self.is_flaky = false;
        self.run()
    }
}
