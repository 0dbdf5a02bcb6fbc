//! Before the answer "no regression": whether the build of one endpoint changed what the other one
//! shows. A build that installs into a fixed place, such as a virtual environment or `~/.local`,
//! overwrites what the kept build of the other endpoint runs, and both then show the same.

use crate::evaluation::{CommitId, Finding, Phase, Reading};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::{Observation, Request, guarded_measures};
use crate::ui::text;

use super::targets::unmeasurable;

/// Runs of the new build. If only the first one differs, the difference is one of cold runs.
pub(super) const RUNS_OF_NEW_BUILD: usize = 2;

const CURE: &str = "install below {build} (with CMake: -DCMAKE_INSTALL_PREFIX={build}/prefix; for \
                    Python: a virtual environment in {build}), run the program from there, and \
                    start a new hunt";

impl Driver<'_> {
    /// The finding that the build of one endpoint changed the value of the other one. It is suspected
    /// if the first run of an endpoint differs from all later ones, and these show the other
    /// endpoint's value. Then the endpoint is built once more: if its runs show the first value
    /// again, the suspicion is right. If the new build or its runs fail, nobody knows, and that is
    /// the finding.
    pub(super) fn overwritten(
        &mut self,
        good: &Observation,
        bad: &Observation,
    ) -> Result<Option<Box<Finding>>, HuntError> {
        for (own, other) in [(good, bad), (bad, good)] {
            for measure in guarded_measures(&self.guards()) {
                let Some([before, after]) = changed(own, other, &measure) else { continue };
                let measures = [measure];
                let seen = self.measure_new_build(&own.commit, &measures, RUNS_OF_NEW_BUILD)?;
                match Overwriting::of(&seen, &measures[0], before) {
                    Overwriting::Shown => return Ok(Some(refusal(own, other, before, after))),
                    Overwriting::Unknown(why) => {
                        return Ok(Some(unknown(own, other, [before, after], &why)));
                    }
                    Overwriting::None => {}
                }
            }
        }
        Ok(None)
    }

    /// Runs of a new build, with the home folder that the endpoints' runs had: the build may have
    /// installed something there.
    pub(super) fn measure_new_build(
        &mut self,
        commit: &CommitId,
        measures: &[String],
        runs: usize,
    ) -> Result<Observation, HuntError> {
        let look = Request::look(commit, measures, Phase::Confirm);
        let request = Request { runs, ..look };
        Ok(self.with_user_home(|driver| driver.oracle.evaluate(request))?)
    }
}

/// What a new build of an endpoint shows.
#[derive(Debug, PartialEq, Eq)]
enum Overwriting {
    /// Its runs show the first value again: the other endpoint's build had overwritten something.
    Shown,
    /// Not all of its runs show the first value: there is another reason for that value.
    None,
    /// It has too few values, for this reason.
    Unknown(String),
}

impl Overwriting {
    /// `seen`: the new build's runs. `before`: the reading of the endpoint's first run.
    fn of(seen: &Observation, measure: &str, before: &Reading) -> Self {
        let again: Vec<&Reading> = seen.readings(measure).collect();
        if again.iter().any(|reading| !reading.same_bits(before)) {
            return Self::None;
        }
        if again.len() >= RUNS_OF_NEW_BUILD {
            return Self::Shown;
        }
        let failure = seen.first_failure().map(|failure| failure.detail.clone());
        Self::Unknown(failure.unwrap_or_else(|| "it has no value".to_owned()))
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
    let values = both_values(before, after);
    let (own, other) = (own.commit.short(), other.commit.short());
    with_cure(format!(
        "a build writes outside its folder: {own} shows {values}, the second since {other} was \
         built; a new build of {own} shows the first again"
    ))
}

/// The finding if no new build tells why the first run of an endpoint differs from the later ones.
fn unknown(
    own: &Observation,
    other: &Observation,
    [before, after]: [&Reading; 2],
    why: &str,
) -> Box<Finding> {
    let values = both_values(before, after);
    let (own, other) = (own.commit.short(), other.commit.short());
    with_cure(format!(
        "{own} shows {values}, the second since {other} was built: perhaps a build writes outside \
         its folder. A new build of {own} does not tell: {why}"
    ))
}

fn with_cure(summary: String) -> Box<Finding> {
    Box::new(Finding { next: vec![CURE.to_owned()], ..*unmeasurable(summary) })
}

/// "ppl 10 and then ppl 12".
fn both_values(before: &Reading, after: &Reading) -> String {
    let changed = before.values.iter().find_map(|(metric, value)| {
        let later = after.values.get(metric).filter(|later| *later != value)?;
        Some(format!("{metric} {} and then {metric} {}", text::value(value), text::value(later)))
    });
    changed.unwrap_or_else(|| "one result and then another".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::FailureKind;
    use crate::oracle::fixture::{at, failed};

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

    #[test]
    fn a_new_build_without_values_is_no_answer() {
        let own = at('a', &[10.0, 12.0]);
        let [before, after] = changed(&own, &at('b', &[12.0]), "ppl").unwrap();
        let said = |values: &[f64]| Overwriting::of(&at('a', values), "ppl", before);
        assert_eq!(said(&[10.0, 10.0]), Overwriting::Shown);
        assert_eq!(said(&[10.0, 12.0]), Overwriting::None);
        assert_eq!(said(&[12.0]), Overwriting::None);
        let mut crashed = at('a', &[10.0]);
        crashed.samples.get_mut("ppl").unwrap().push(failed(FailureKind::Crash, "no tables"));
        let Overwriting::Unknown(why) = Overwriting::of(&crashed, "ppl", before) else {
            panic!("one value is too few")
        };
        let finding = unknown(&own, &at('b', &[12.0]), [before, after], &why);
        assert!(
            finding.summary.contains("does not tell: crashes: no tables"),
            "{}",
            finding.summary
        );
    }
}
