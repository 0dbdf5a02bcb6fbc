//! What the runs of the good endpoint say of ports that other programs hold. If such a run says that
//! an address is in use and works all the same (an engine without its metrics), a later run that
//! says this too does not fail for want of the port.

use crate::config::Measure;
use crate::process::read_log;
use crate::store::StoreError;

use super::OracleError;
use super::parts::Oracle;
use super::port_watch::address_in_use;

impl Oracle {
    /// The output lines which say that an address is in use: one list for each stored run of the good
    /// endpoint that counts and worked. Runs with connections to such a port do not count.
    pub(super) fn addresses_in_use_at_good(
        &self,
        measure: &Measure,
    ) -> Result<Vec<Vec<String>>, OracleError> {
        let Some(control) = &self.control else { return Ok(Vec::new()) };
        let good = &control.commit;
        let recipe = self.recipes.at(good)?;
        let Some(measure) = recipe.measure(&measure.name) else { return Ok(Vec::new()) };
        let key = self.recipes.run_key_of(good, &recipe, measure)?;
        let mut found = Vec::new();
        for run in self.store.runs(&key)? {
            if run.record.ended.is_success() {
                let log = read_log(&run.log).map_err(StoreError::at(&run.log))?;
                found.push(log.lines().filter_map(|(_, line)| address_in_use(line)).collect());
            }
        }
        Ok(found)
    }
}
