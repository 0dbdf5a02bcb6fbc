//! Where a verification measures: in a store of its own. An interrupted verification goes on in the
//! store that it began.

use crate::config::Config;
use crate::git::Repository;
use crate::hunt::HuntError;
use crate::hunt::begin::gather;
use crate::hunt::begin::open::begun;
use crate::oracle::Facts;
use crate::report::Report;
use crate::store::journal::Begun;
use crate::store::{KeyHasher, OwnStore, Store};

/// The store of a verification, and the machine as it is now.
pub(super) struct Place {
    pub(super) own: OwnStore,
    pub(super) facts: Facts,
    /// Whether the verification was interrupted and goes on.
    pub(super) goes_on: bool,
}

impl Place {
    /// Looks for an interrupted verification with the same report, configuration and question.
    /// Returns its place if inputs, environment and machine have not changed since. Otherwise makes
    /// a new place.
    pub(super) fn of(
        repository: &Repository,
        report: &Report,
        config: &Config,
        fix: Option<&str>,
    ) -> Result<Self, HuntError> {
        let (folder, top) = (repository.common_dir(), repository.top());
        let report = serde_json::to_string(report).expect("a report is plain data");
        let subject = KeyHasher::new("verification")
            .field("report", &report)
            .field("config", config.text())
            .field("fix", fix.unwrap_or_default())
            .hex();
        if let Some(own) = Store::interrupted_verification(folder, &subject)? {
            let facts = gather(config, &own.store, top)?;
            if begun(&own.hunt).is_ok_and(|begun| is_as_begun(&begun, &facts)) {
                return Ok(Self { own, facts, goes_on: true });
            }
        }
        let own = Store::for_verification(folder, &subject)?;
        let facts = gather(config, &own.store, top)?;
        Ok(Self { own, facts, goes_on: false })
    }
}

/// Whether nothing that measurements depend on has changed since the verification began.
fn is_as_begun(begun: &Begun, facts: &Facts) -> bool {
    begun.inputs == facts.inputs
        && begun.links == facts.links
        && begun.environment == facts.environment
        && begun.surroundings == facts.surroundings
        && begun.machine == facts.machine
}
