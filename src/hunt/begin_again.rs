//! Begins a hunt again under other conditions, if a result shows that they matter: clean builds, no
//! direct mode of a compiler cache, one home folder for all, the machine as it is now, or without
//! checks that pass or fail by chance.

use crate::config::HomeUse;
use crate::evaluation::Finding;
use crate::store::journal::Event;
use crate::ui::text;

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
        let searched = self.with_machine(search_range, searched)?;
        match self.with_newer_end(&search_range.targets, searched)? {
            Searched::BuildsDisagree(why) if !self.is_clean => self.begin_clean(&why).map(Err),
            Searched::DirectModeMatters(why) => self.begin_without_direct_mode(&why).map(Err),
            Searched::HomeMatters(why) => self.begin_with_one_home(&why).map(Err),
            Searched::MachineChanged(change) => self.begin_after_change(change).map(Err),
            Searched::ChecksVary(checks) => {
                self.leave_out_checks(&checks)?;
                self.run_again().map(Err)
            }
            searched => Ok(Ok(searched)),
        }
    }

    /// Starts the hunt again with the same home folder for every build and run: an empty one if
    /// they keep files there, which may carry results from one commit to another. If they only
    /// read what is there, it is the user's: without its settings the endpoints would be others.
    fn begin_with_one_home(&mut self, why: &str) -> Result<Finding, HuntError> {
        match self.file_kept_at_home()? {
            Some(path) => self.begin_with_empty_home(why, &path),
            None => self.begin_with_user_home(why),
        }
    }

    /// Starts the hunt again with the user's home folder for every build and run.
    fn begin_with_user_home(&mut self, why: &str) -> Result<Finding, HuntError> {
        let text = format!(
            "with an empty home folder, {why}: builds and runs only read what is in your home \
             folder, such as settings, so from now on every build and run gets yours \
             (`[environment] home`)"
        );
        self.oracle.recorder.event(Event::Note { text })?;
        self.oracle.recorder.event(Event::Home { empty: false })?;
        self.oracle.recipes.config.home = HomeUse::Shared;
        // The build key does not tell a kept build of a confirmation, which had an empty home
        // folder, from one with the user's.
        self.oracle.pool.free_all();
        self.run_anew()
    }

    /// Starts the hunt again with an empty home folder for every build and run. `kept`: a file that
    /// builds or runs keep in the user's.
    pub(super) fn begin_with_empty_home(
        &mut self,
        why: &str,
        kept: &str,
    ) -> Result<Finding, HuntError> {
        let text = format!(
            "with an empty home folder, {why}: builds or runs keep files in the home folder ({}), \
             which may carry results from one commit to another, so from now on every build and \
             run gets an empty one (`[environment] home`)",
            text::line(kept)
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
    pub(super) fn run_again(&mut self) -> Result<Finding, HuntError> {
        self.searches = 0;
        self.undone.clear();
        self.earlier_good = None;
        self.compared.clear();
        self.is_flaky = false;
        self.run()
    }
}
