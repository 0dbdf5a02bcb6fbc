//! What is known about one commit: whether it builds, and the results of its runs.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{
    Checks, CommitId, Failure, Guard, Loaded, Metric, Phase, PrintedUnits, Reading, Resource,
    Resources, Target, TextLength, Value, ValueForms, ValuePlaces,
};
use crate::search;

/// One run that counts.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// The attempt in the store.
    pub attempt: String,
    /// The parsed output, or how the run failed.
    pub result: Result<Reading, Failure>,
    /// Whether the run failed for lack of a resource. Then the commit is untestable, never bad.
    pub starved: bool,
    /// Why the run was made.
    pub phase: Phase,
    /// The hunt that made the run.
    pub hunt: Option<String>,
    /// Its time and memory.
    pub used: Resources,
    /// When the run started, if it was taken from the store (RFC 3339, UTC).
    pub stored_at: Option<String>,
    /// When the build was finished; runs with the same time used the same build.
    pub built: String,
    /// The files that the run loaded, if known.
    pub loaded: Option<Loaded>,
}

impl Sample {
    /// The value of a metric of this sample's measure, if the run gave one.
    pub(crate) fn value(&self, metric: &Metric) -> Option<Value> {
        let reading = self.result.as_ref().ok()?;
        let resource = || self.used.value(Resource::of(metric)?);
        reading.values.get(metric).cloned().or_else(resource)
    }

    /// Whether both runs succeeded, are bit-identical, and have the same value of the metric, which
    /// may be a time.
    pub(crate) fn is_alike(&self, other: &Self, metric: &Metric) -> bool {
        match (&self.result, &other.result) {
            (Ok(a), Ok(b)) => a.same_bits(b) && self.value(metric) == other.value(metric),
            _ => false,
        }
    }

    /// All values of the run, with `wall_s` and `peak_rss_mib`.
    pub(crate) fn values(&self, measure: &str) -> BTreeMap<Metric, Value> {
        let mut values = match &self.result {
            Ok(reading) => reading.values.clone(),
            Err(_) => BTreeMap::new(),
        };
        values.extend(self.used.metrics(measure));
        values
    }
}

/// The build failure or the samples of one commit.
#[derive(Clone, Debug)]
pub(crate) struct Observation {
    /// The commit.
    pub commit: CommitId,
    /// How its build failed, if it did.
    pub build_failure: Option<Failure>,
    /// When the build failed, if that was taken from the store (RFC 3339, UTC).
    pub build_stored_at: Option<String>,
    /// Whether the build failed for lack of a resource: the commit is untestable, never bad.
    pub build_starved: bool,
    /// The runs of each measure, oldest first.
    pub samples: BTreeMap<String, Vec<Sample>>,
}

impl Observation {
    /// The samples of a measure; empty if the measure was not run.
    pub(crate) fn of(&self, measure: &str) -> &[Sample] {
        self.samples.get(measure).map_or(&[], Vec::as_slice)
    }

    /// The number of runs of the measure that has the fewest.
    pub(crate) fn fewest_runs(&self) -> usize {
        self.samples.values().map(Vec::len).min().unwrap_or(0)
    }

    /// A metric's values over the runs that gave one.
    pub(crate) fn values(&self, metric: &Metric) -> Vec<Value> {
        self.of(&metric.measure).iter().filter_map(|s| s.value(metric)).collect()
    }

    /// A metric's finite values over the runs.
    pub(crate) fn numbers(&self, metric: &Metric) -> Vec<f64> {
        self.values(metric).iter().filter_map(Value::number).filter(|x| x.is_finite()).collect()
    }

    /// The level of a metric: the common value if all runs agree, else the median of its finite
    /// numbers.
    pub(crate) fn level(&self, metric: &Metric) -> Option<Value> {
        let values = self.values(metric);
        let first = values.first()?;
        if values.iter().all(|v| v == first) {
            return Some(first.clone());
        }
        crate::stats::median(&self.numbers(metric)).map(Value::Number)
    }

    /// Whether more than half of a metric's runs give the same number (true without numbers), so
    /// that the level is not a midpoint of two alternating values.
    pub(crate) fn has_majority(&self, metric: &Metric) -> bool {
        let numbers = self.numbers(metric);
        let says = |x: f64| numbers.iter().filter(|y| y.to_bits() == x.to_bits()).count();
        numbers.is_empty() || numbers.iter().any(|x| 2 * says(*x) > numbers.len())
    }

    /// Whether a metric's level can be compared with that of other commits: most runs give the same
    /// number, or all give nearly the same.
    pub(crate) fn has_level(&self, metric: &Metric, tolerance: f64) -> bool {
        self.has_majority(metric) || search::is_level(self.numbers(metric), tolerance)
    }

    /// The readings of a measure's runs, oldest first.
    pub(crate) fn readings(&self, measure: &str) -> impl Iterator<Item = &Reading> {
        self.of(measure).iter().filter_map(|sample| sample.result.as_ref().ok())
    }

    /// The checks that failed in a measure's last run, if its output names them.
    pub(crate) fn failed_checks(&self, measure: &str) -> Checks {
        self.readings(measure).last().map(|reading| reading.failed.clone()).unwrap_or_default()
    }

    /// The checks that failed in every run of a measure, and those that failed in any. Both are the
    /// same if runs repeat; a check that fails by chance is only among the second ones.
    pub(crate) fn always_and_ever_failed(&self, measure: &str) -> [Checks; 2] {
        let mut failed = self.readings(measure).map(|reading| &reading.failed);
        let first = failed.next().cloned().unwrap_or_default();
        failed
            .fold([first.clone(), first], |[always, ever], own| [always.among(own), ever.with(own)])
    }

    /// The metrics that the runs of a measure yielded.
    pub(crate) fn yielded(&self, measure: &str) -> BTreeSet<Metric> {
        self.of(measure).iter().flat_map(|sample| sample.values(measure).into_keys()).collect()
    }

    /// How much text the runs of a measure read, from the first run whose output states it.
    pub(crate) fn text(&self, measure: &str) -> Option<TextLength> {
        self.readings(measure).find_map(Reading::text_length)
    }

    /// The build failure, or the failure of the first failed run.
    pub(crate) fn first_failure(&self) -> Option<&Failure> {
        let mut samples = self.samples.values().flatten();
        let failed = || samples.find_map(|sample| sample.result.as_ref().err());
        self.build_failure.as_ref().or_else(failed)
    }

    /// The checks that ran, from the measure's first run that lists them.
    pub(crate) fn checks(&self, measure: &str) -> Option<&Checks> {
        self.readings(measure).find_map(Reading::checks)
    }

    /// The checks that were skipped in a measure's first run that lists checks.
    pub(crate) fn skipped_checks(&self, measure: &str) -> Checks {
        let listing = self.readings(measure).find(|reading| reading.checks().is_some());
        listing.map(|reading| reading.skipped.clone()).unwrap_or_default()
    }

    /// The units behind a metric's numbers, from the first run whose output has them.
    pub(crate) fn units(&self, metric: &Metric) -> Option<&PrintedUnits> {
        self.readings(&metric.measure).find_map(|reading| reading.units.get(metric))
    }

    /// The forms that a metric's value has in all runs of its measure; `None` if these have none in
    /// common.
    pub(crate) fn forms(&self, metric: &Metric) -> Option<ValueForms> {
        let mut all = self.readings(&metric.measure).map(|reading| reading.forms.get(metric));
        let first = all.next()??.clone();
        all.try_fold(first, |common, forms| common.common(forms?))
    }

    /// What the places of a metric's values say in all runs of its measure; `None` if these have
    /// nothing in common.
    pub(crate) fn places(&self, metric: &Metric) -> Option<ValuePlaces> {
        let mut all = self.readings(&metric.measure).map(|reading| reading.places.get(metric));
        let first = all.next()??.clone();
        all.try_fold(first, |common, places| common.common(places?))
    }

    /// Whether all runs of the metric's measure are bit-identical: every parsed value, the
    /// per-chunk ones included, and the metric itself (which may be a time).
    pub(crate) fn repeats(&self, metric: &Metric) -> bool {
        let values = self.values(metric);
        values.len() == self.of(&metric.measure).len()
            && values.windows(2).all(|pair| pair[0] == pair[1])
            && self.is_same_each_time(&metric.measure)
    }

    /// Whether all runs of the measure gave values, the same bit for bit.
    pub(crate) fn is_same_each_time(&self, measure: &str) -> bool {
        let readings = self.of(measure).iter().map(|sample| sample.result.as_ref().ok());
        let readings: Option<Vec<_>> = readings.collect();
        readings.is_some_and(|all| all.windows(2).all(|pair| pair[0].same_bits(pair[1])))
    }

    /// The attempts of all samples.
    pub(crate) fn attempts(&self) -> Vec<String> {
        self.samples.values().flatten().map(|s| s.attempt.clone()).collect()
    }
}

/// The target's measure; `None` if the target is a build failure.
fn measure_of(target: &Target) -> Option<&str> {
    match target {
        Target::Guard(target) => Some(&target.guard.metric.measure),
        Target::Failure { measure, .. } => measure.as_deref(),
    }
}

/// The measures that these targets need, sorted, each once.
pub(crate) fn measures_of(targets: &[Target]) -> Vec<String> {
    sorted(targets.iter().filter_map(measure_of))
}

/// The measures that these guards need, sorted, each once.
pub(crate) fn guarded_measures(guards: &[Guard]) -> Vec<String> {
    sorted(guards.iter().map(|guard| guard.metric.measure.as_str()))
}

fn sorted<'a>(measures: impl Iterator<Item = &'a str>) -> Vec<String> {
    let each: BTreeSet<&str> = measures.collect();
    each.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
