//! The bundled demo engine. The program contains its sources, history and trained weights, and
//! writes them out as a git repository.

mod embedded;
mod layout;
mod plan;
mod scenario;

#[cfg(test)]
use embedded::ORACLE_TOML;
pub use layout::{LayoutError, lay_out};
pub use plan::{Plan, PlanError, Verb};
pub use scenario::{Scenario, ScenarioError, names, scenario};
