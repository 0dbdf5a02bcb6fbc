//! Before the answer "no regression": whether the build of one endpoint changed what the other one
//! shows. A build that installs into a fixed place, such as a virtual environment or `~/.local`,
//! overwrites what the kept build of the other endpoint runs, and both then show the same.

use crate::evaluation::{Finding, Phase, Reading};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::{Observation, Request, guarded_measures};
use crate::ui::text;

use super::targets::unmeasurable;

/// Runs of the new build. If only the first one differs, the difference is one of cold runs.
const RUNS_OF_NEW_BUILD: usize = 2;

const CURE: &str = "install below {build} (with CMake: -DCMAKE_INSTALL_PREFIX={build}/prefix; for \
                    Python: a virtual environment in {build}), run the program from there, and \
                    start a new hunt";

impl Driver<'_> {
    /// The finding that the build of one endpoint changed the value of the other one. It is suspected
    /// if the first run of an endpoint differs from all later ones, and these show the other
    /// endpoint's value. Then the endpoint is built once more: if its runs show the first value
    /// again, the suspicion is right.
    pub(super) fn overwritten(
        &mut self,
        good: &Observation,
        bad: &Observation,
    ) -> Result<Option<Box<Finding>>, HuntError> {
        for (own, other) in [(good, bad), (bad, good)] {
            for measure in guarded_measures(&self.guards()) {
                let Some([before, after]) = changed(own, other, &measure) else { continue };
                let measures = [measure];
                let look = Request::look(&own.commit, &measures, Phase::Confirm);
                let seen = self.oracle.evaluate(Request { runs: RUNS_OF_NEW_BUILD, ..look })?;
                let again: Vec<&Reading> = seen.readings(&measures[0]).collect();
                let is_back = again.len() >= RUNS_OF_NEW_BUILD
                    && again.iter().all(|reading| reading.same_bits(before));
                if is_back {
                    return Ok(Some(refusal(own, other, before, after)));
                }
            }
        }
        Ok(None)
    }
}

/// The reading of an endpoint's first run, and the one that all its later runs share with all runs
/// of the other endpoint, bit for bit. `None` if there is no such reading, or if it is the first
/// run's too.
fn changed<'o>(
    own: &'o Observation,
    other: &Observation,
    measure: &str,
) -> Option<[&'o Reading; 2]> {
    let mut readings = own.readings(measure);
    let [before, after] = [readings.next()?, readings.next()?];
    let is_after = |reading: &Reading| reading.same_bits(after);
    let mut others = other.readings(measure).peekable();
    let is_changed = !before.same_bits(after)
        && readings.all(is_after)
        && others.peek().is_some()
        && others.all(is_after);
    is_changed.then_some([before, after])
}

fn refusal(
    own: &Observation,
    other: &Observation,
    before: &Reading,
    after: &Reading,
) -> Box<Finding> {
    let changed = before.values.iter().find_map(|(metric, value)| {
        let later = after.values.get(metric).filter(|later| *later != value)?;
        Some(format!("{metric} {} and then {metric} {}", text::value(value), text::value(later)))
    });
    let values = changed.unwrap_or_else(|| "one result and then another".to_owned());
    let (own, other) = (own.commit.short(), other.commit.short());
    let finding = unmeasurable(format!(
        "a build writes outside its folder: {own} shows {values}, the second since {other} was \
         built; a new build of {own} shows the first again"
    ));
    Box::new(Finding { next: vec![CURE.to_owned()], ..*finding })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::at;

    #[test]
    fn only_a_first_run_that_differs_from_both_ends_is_doubted() {
        let is_changed =
            |own: &[f64], other: &[f64]| changed(&at('a', own), &at('b', other), "ppl").is_some();
        assert!(is_changed(&[10.0, 12.0, 12.0], &[12.0, 12.0]));
        assert!(!is_changed(&[12.0, 12.0, 12.0], &[12.0, 12.0]));
        assert!(!is_changed(&[10.0, 12.0, 12.1], &[12.0, 12.0]));
        assert!(!is_changed(&[10.0, 12.0, 12.0], &[12.0, 11.0]));
        assert!(!is_changed(&[10.0], &[12.0, 12.0]));
    }

    #[test]
    fn the_refusal_names_both_values() {
        let [own, other] = [at('a', &[10.0, 12.0]), at('b', &[12.0])];
        let [before, after] = changed(&own, &other, "ppl").unwrap();
        let finding = refusal(&own, &other, before, after);
        assert!(finding.summary.contains("shows ppl 10 and then ppl 12"), "{}", finding.summary);
    }
}
