//! The metrics that every run has, whatever the engine prints.

use serde::{Deserialize, Serialize};

use super::{Metric, Value};

/// A metric that the system measures of every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Wall-clock seconds.
    WallTime,
    /// Largest resident set, MiB.
    PeakMemory,
}

impl Resource {
    /// All resources.
    pub(crate) const ALL: [Self; 2] = [Self::WallTime, Self::PeakMemory];

    /// All names.
    pub(crate) const NAMES: [&str; 2] = [Self::WallTime.name(), Self::PeakMemory.name()];

    /// The metric's name after the measure's, as in oracle.toml.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WallTime => "wall_s",
            Self::PeakMemory => "peak_rss_mib",
        }
    }

    /// The resource that a metric measures; `None` for a metric that the engine prints.
    pub fn of(metric: &Metric) -> Option<Self> {
        let name = metric.name.as_deref()?;
        Self::ALL.into_iter().find(|resource| resource.name() == name)
    }

    /// The metric of this resource for a measure.
    pub fn metric(self, measure: &str) -> Metric {
        Metric::named(measure, self.name())
    }
}

/// What the system measured of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Resources {
    /// Wall-clock seconds.
    pub wall_s: f64,
    /// Largest resident set of the engine and the children it waited for, MiB, if known.
    pub peak_rss_mib: Option<f64>,
}

impl Resources {
    /// The value of a resource, if known.
    pub fn value(&self, resource: Resource) -> Option<Value> {
        match resource {
            Resource::WallTime => Some(self.wall_s),
            Resource::PeakMemory => self.peak_rss_mib,
        }
        .map(Value::Number)
    }

    /// The metrics of a measure's run.
    pub fn metrics(&self, measure: &str) -> impl Iterator<Item = (Metric, Value)> {
        let known = Resource::ALL.map(|of| Some((of.metric(measure), self.value(of)?)));
        known.into_iter().flatten()
    }
}
