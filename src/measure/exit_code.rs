//! Uses the exit code as the value.

use crate::config::MeasureKind;
use crate::evaluation::{
    Ended, Evidence, Failure, FailureKind, Metric, Reading, Unreadable, Value,
};

/// The exit code that means "cannot tell" in `git bisect run`.
const CANNOT_TELL: i32 = 125;

/// The reading of a run that exited: the exit code as a number, or as decimal text if the measure
/// is a fact. A run that did not exit has no code. 125 means that the run cannot tell, which is
/// neither a pass nor a failure.
pub(super) fn read(measure: &str, kind: MeasureKind, ended: &Ended) -> Result<Reading, Failure> {
    let Ended::Exited(code) = ended else {
        return Err(Failure::unreadable(
            Unreadable::NoExitCode,
            format!("there is no exit code: {ended}"),
        ));
    };
    if *code == CANNOT_TELL {
        return Err(Failure::new(
            FailureKind::Require,
            Evidence::of(ended),
            "the program says that it cannot tell (exit code 125)",
        ));
    }
    let value = match kind {
        MeasureKind::Number => Value::Number(f64::from(*code)),
        MeasureKind::Fact => Value::Fact(code.to_string()),
    };
    Ok(Reading { values: [(Metric::of(measure), value)].into(), ..Reading::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_run_that_ends_by_itself_has_a_code() {
        let value = |kind, ended: Ended| {
            read("smoke", kind, &ended).ok().map(|r| r.values[&Metric::of("smoke")].clone())
        };
        assert_eq!(value(MeasureKind::Number, Ended::Exited(0)), Some(Value::Number(0.0)));
        assert_eq!(value(MeasureKind::Number, Ended::Exited(3)), Some(Value::Number(3.0)));
        assert_eq!(value(MeasureKind::Fact, Ended::Exited(3)), Some(Value::Fact("3".into())));
        assert_eq!(value(MeasureKind::Number, Ended::Exited(125)), None);
        assert_eq!(value(MeasureKind::Number, Ended::Signaled(11)), None);
        assert_eq!(value(MeasureKind::Number, Ended::TimedOut), None);
    }
}
