//! Random numbers from the script's seed and the number of the run or build.

use crate::script::Script;
use crate::world::count;

/// The random generator of one run or build.
pub(crate) struct Chance {
    state: u64,
    run: usize,
}

impl Chance {
    pub(crate) fn of(script: &Script) -> Self {
        Self::by(script, "chance")
    }

    fn by(script: &Script, counter: &str) -> Self {
        let run = count(counter);
        let seed = script.number("seed").unwrap_or(1);
        let state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ ((run as u64) << 20);
        Self { state, run }
    }

    /// A uniform number in [0, 1), by `SplitMix64` (Steele, Lea and Flood, 2014).
    pub(crate) fn uniform(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// This run's deviation from its level: noise, outlier, drift and jump.
    pub(crate) fn stray(&mut self, script: &Script) -> f64 {
        let real = |key: &str| script.get(key).map(|text| text.parse::<f64>().expect("a number"));
        let sd = real("noise").unwrap_or(0.0);
        let (a, b) = (1.0 - self.uniform(), self.uniform());
        let mut stray = sd * (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos();
        if self.uniform() < real("outliers").unwrap_or(0.0) {
            stray -= 10.0 * sd * (1.0 - self.uniform()).ln();
        }
        if let Some((amplitude, runs)) = script.get("drift").and_then(|d| d.split_once(' ')) {
            let turns = self.run as f64 / runs.parse::<f64>().expect("runs");
            let amplitude: f64 = amplitude.parse().expect("an amplitude");
            stray += amplitude * (std::f64::consts::TAU * turns).sin();
        }
        if let Some((size, runs)) = script.get("jump").and_then(|jump| jump.split_once(' '))
            && self.run >= runs.parse().expect("runs")
        {
            stray += size.parse::<f64>().expect("a size");
        }
        stray
    }
}

/// For a setting `RATE WHAT`: WHAT and the generator, if the event happens this time; else `None`.
pub(crate) fn happens<'s>(
    script: &'s Script,
    key: &str,
    counter: &str,
) -> Option<(&'s str, Chance)> {
    let (rate, what) = script.get(key)?.split_once(' ').expect("RATE WHAT");
    let mut chance = Chance::by(script, counter);
    (chance.uniform() < rate.parse().expect("a rate")).then_some((what, chance))
}

/// The value that a flake of this run or build prints instead of the commit's own.
pub(crate) fn disturbed(script: &Script) -> Option<f64> {
    let real = |word: &str| word.parse::<f64>().expect("a perplexity");
    if let Some((value, mut chance)) = happens(script, "flake", "chance") {
        return Some(match value.split_once("..") {
            Some((low, high)) => real(low) + (real(high) - real(low)) * chance.uniform(),
            None => real(value),
        });
    }
    script.get("shown").map(real)
}
