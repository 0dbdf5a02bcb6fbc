//! The bundled demo engine. The program contains its sources, history and trained weights, and
//! writes them out as a git repository.

mod layout;
mod plan;
mod scenario;

pub use layout::{LayoutError, lay_out};
pub use plan::{Plan, PlanError, Verb};
pub use scenario::{Scenario, ScenarioError, names, scenario};

use include_dir::{Dir, include_dir};

/// Everything below `demo/`.
static DEMO: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/demo");

/// The demo's configuration: the example `oracle.toml` at the top of this project.
pub const ORACLE_TOML: &str = include_str!("../../oracle.toml");
