//! The bundled engine: its sources, its history and its trained weights, inside this program;
//! laid out as a real git repository.

mod layout;
mod plan;
mod scenario;

pub use layout::{LayoutError, lay_out};
pub use plan::{Plan, PlanError, Verb};
pub use scenario::{Scenario, ScenarioError, names, scenario};

use include_dir::{Dir, include_dir};

/// Everything below `demo/`.
static DEMO: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/demo");

/// The worked example at the top of the project, which is the demo's configuration.
pub const ORACLE_TOML: &str = include_str!("../../oracle.toml");
