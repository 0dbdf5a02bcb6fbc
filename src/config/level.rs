//! Levels of the engine, from its kernels to its training, and how much each may differ.

/// One `[[level]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Its name, unique.
    pub name: String,
    /// The measures that check it.
    pub measures: Vec<String>,
    /// The largest difference between parent and commit, in each metric's unit. `None`: the
    /// level's name decides.
    pub tolerance: Option<f64>,
    /// For training: how many steps the measures train.
    pub steps: Option<u32>,
}

/// What may differ between a commit and its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LevelTolerance {
    /// Every number by at most this.
    Of(f64),
    /// Training: losses by at most `loss`, other numbers by at most `weights`.
    Training {
        /// For metrics whose names begin with `loss`.
        loss: f64,
        /// For all others.
        weights: f64,
    },
    /// Long training: only the trend of the losses counts.
    Trend,
}

/// From this many steps on, losses can agree only in their trend.
const LONG: u32 = 100;

impl Level {
    /// What may differ on this level.
    pub fn allows(&self) -> LevelTolerance {
        let own = self.tolerance.map(LevelTolerance::Of);
        own.or_else(|| tolerance_of(&self.name, self.steps)).unwrap_or(LevelTolerance::Of(0.0))
    }
}

/// What may differ on a level of this name, in f32; `None` if the name has no tolerance.
pub(super) fn tolerance_of(name: &str, steps: Option<u32>) -> Option<LevelTolerance> {
    let of = |tolerance| Some(LevelTolerance::Of(tolerance));
    let name = if is_training(name) { "training" } else { name };
    match (name, steps) {
        ("kernel" | "gradients", _) | ("training", Some(0..=1)) => of(1e-5),
        ("layer" | "stage", _) => of(1e-4),
        ("forward", _) => of(1e-3),
        ("training", Some(2..=5)) => Some(LevelTolerance::Training { loss: 1e-2, weights: 1e-3 }),
        ("training", Some(steps)) if steps < LONG => {
            Some(LevelTolerance::Training { loss: 1e-1, weights: 1e-2 })
        }
        ("training", Some(_)) => Some(LevelTolerance::Trend),
        _ => None,
    }
}

/// Whether a level of this name compares training runs: `training`, `training-20`.
pub(super) fn is_training(name: &str) -> bool {
    name.strip_prefix("training").is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_the_training_the_more_may_differ() {
        let of = |steps| tolerance_of("training", Some(steps));
        assert_eq!(of(1), Some(LevelTolerance::Of(1e-5)));
        assert_eq!(of(5), Some(LevelTolerance::Training { loss: 0.01, weights: 1e-3 }));
        assert_eq!(of(20), Some(LevelTolerance::Training { loss: 0.1, weights: 1e-2 }));
        assert_eq!(of(100), Some(LevelTolerance::Trend));
        assert_eq!(tolerance_of("training", None), None);
        assert_eq!(tolerance_of("sampling", None), None);
        // Several numbers of steps are several levels.
        assert_eq!(tolerance_of("training-20", Some(20)), of(20));
        assert_eq!(tolerance_of("training20", Some(20)), None);
    }
}
