//! How a build or a run can fail, and whether the commit or the machine is at fault.

use serde::{Deserialize, Serialize};

use super::complaint::{Heard, Said, normalised};
use super::ended::ABORT;
use super::{Ended, FailureKind, Value};

/// A failed build or run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What went wrong.
    pub kind: FailureKind,
    /// How the command ended: `signal 11 (SIGSEGV)`, `exit code 3`; or another text that tells
    /// this failure from others of its kind.
    pub signature: String,
    /// One sentence for people.
    pub detail: String,
    /// Details to compare with other failures; `None` in records of older versions, and if
    /// `kind` and `signature` are enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Box<Evidence>>,
}

/// Details that tell a failure from others of its kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// How the command ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// The `[[prepare]]` that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The NaN or infinity that was printed in place of a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<Printed>,
    /// Whether at least one chunk of the text was done. The count is not compared: a crash loses
    /// the output that is still in the engine's buffers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_chunks: Option<bool>,
    /// The output's lines about the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Said>,
}

/// A number that is not finite, and its place in the output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Printed {
    /// What was printed.
    pub what: NonFinite,
    /// Where: the metric, or `chunk #`.
    pub place: String,
}

/// A number that is not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NonFinite {
    /// Not a number, of either sign.
    Nan,
    /// Plus infinity.
    Infinity,
    /// Minus infinity.
    MinusInfinity,
}

impl NonFinite {
    fn of(number: f64) -> Self {
        match number {
            f64::INFINITY => Self::Infinity,
            f64::NEG_INFINITY => Self::MinusInfinity,
            _ => Self::Nan,
        }
    }

    fn number(self) -> f64 {
        match self {
            Self::Nan => f64::NAN,
            Self::Infinity => f64::INFINITY,
            Self::MinusInfinity => f64::NEG_INFINITY,
        }
    }
}

impl Failure {
    /// A failure that `kind` and `signature` describe completely.
    pub fn new(kind: FailureKind, signature: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { kind, signature: signature.into(), detail: detail.into(), evidence: None }
    }

    /// The failure of a NaN or infinity printed at `place` (a metric, or `chunk 3`).
    pub fn not_finite(place: &str, number: f64) -> Self {
        let printed = Printed { what: NonFinite::of(number), place: normalised(place) };
        let evidence = Evidence { printed: Some(printed), ..Evidence::default() };
        let detail = format!("{place} is {}", Value::Number(number));
        Self { evidence: Some(evidence.into()), ..Self::new(FailureKind::Nan, "", detail) }
    }

    /// Adds the output's lines about the failure; the line for people goes into `detail`.
    #[must_use]
    pub fn heard(mut self, heard: Heard) -> Self {
        let Heard { said, shown } = heard;
        if !shown.is_empty() {
            let is_reason = !matches!(said, Said::Reached(_)) || self.ended_by_itself();
            self.detail = if is_reason {
                format!("{}: {shown}", self.detail)
            } else {
                format!("{}; its last line was `{shown}`", self.detail)
            };
        }
        self.evidence.get_or_insert_default().said = Some(said);
        self
    }

    /// Whether the program ended itself: an exit code, or SIGABRT.
    fn ended_by_itself(&self) -> bool {
        let ended = self.evidence.as_ref().and_then(|evidence| evidence.ended.as_ref());
        matches!(ended, Some(Ended::Exited(_) | Ended::Signaled(ABORT)))
    }

    /// How the command ended, if known.
    pub fn ended(&self) -> Option<&Ended> {
        self.evidence.as_ref()?.ended.as_ref()
    }

    /// The `[[prepare]]` that failed.
    pub fn step(&self) -> Option<&str> {
        self.evidence.as_ref()?.step.as_deref()
    }

    /// The NaN or infinity that was printed, if that is the failure.
    pub fn printed(&self) -> Option<Value> {
        let printed = self.evidence.as_ref()?.printed.as_ref()?;
        Some(Value::Number(printed.what.number()))
    }

    /// Whether two failures count as the same one: same kind, signature and evidence. A search
    /// for a failure calls commits bad that fail alike.
    pub fn alike(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.signature == other.signature
            && match (&self.evidence, &other.evidence) {
                (Some(own), Some(other)) => own.alike(other),
                _ => true,
            }
    }

    /// Whether the output names a specific reason, which two unrelated failures hardly share.
    /// An exit code, a signal, a time-out or a NaN alone may be alike by chance.
    pub fn is_telling(&self) -> bool {
        let said = self.evidence.as_ref().and_then(|evidence| evidence.said.as_ref());
        said.is_some_and(Said::is_telling)
    }
}

impl Evidence {
    /// Evidence that holds only how a command ended.
    pub fn of(ended: &Ended) -> Self {
        Self { ended: Some(ended.clone()), ..Self::default() }
    }

    /// Compares all but `ended`: the failure's `signature` already covers that.
    fn alike(&self, other: &Self) -> bool {
        let said = match (&self.said, &other.said) {
            (Some(own), Some(other)) => own.alike(other),
            (own, other) => own.is_some() == other.is_some(),
        };
        // If a line gives a specific reason, `in_chunks` adds nothing.
        let is_telling = self.said.as_ref().is_some_and(Said::is_telling);
        self.step == other.step
            && self.printed == other.printed
            && said
            && (is_telling || self.in_chunks == other.in_chunks)
    }
}

/// Whether the commit or the machine causes a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The commit: SEGV, ABRT, BUS, ILL, FPE, SYS, NaN, or a missing program of its own build.
    Commit,
    /// The machine: a tool outside the tree is missing, or the disk is full.
    World,
    /// Unclear, the machine until a control run (of the good endpoint's kept build) works. Then
    /// the commit is skipped: it needs more of a resource than there is.
    Resource,
    /// Unclear: a control run decides. If the control run works, the commit is at fault.
    Unclear,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_printed_is_found_again() {
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let failure = Failure::not_finite("chunk 3", number);
            let printed = failure.printed().unwrap().number().unwrap();
            assert_eq!(printed.total_cmp(&number), std::cmp::Ordering::Equal);
        }
        assert_eq!(Failure::new(FailureKind::Crash, "exit code 1", "nan").printed(), None);
    }

    #[test]
    fn nan_and_infinities_are_different_failures_wherever_they_stand() {
        let all = [
            Failure::not_finite("chunk 3", f64::NAN),
            Failure::not_finite("chunk 3", f64::INFINITY),
            Failure::not_finite("chunk 3", f64::NEG_INFINITY),
            Failure::not_finite("the final estimate", f64::NAN),
            Failure::not_finite("kld.mean", f64::NAN),
        ];
        for (i, one) in all.iter().enumerate() {
            for (j, other) in all.iter().enumerate() {
                assert_eq!(one.alike(other), i == j, "{one:?} {other:?}");
            }
            assert!(!one.is_telling());
        }
        assert!(all[0].alike(&Failure::not_finite("chunk 5", f64::NAN)));
    }

    #[test]
    fn records_of_old_are_read_and_compared_as_they_were() {
        let old = r#"{"kind":"crash","signature":"exit code 1","detail":"ended with exit code 1"}"#;
        let old: Failure = serde_json::from_str(old).unwrap();
        let new = Failure::new(FailureKind::Crash, "exit code 1", "");
        let said = Said::Reached("loading".to_owned());
        let new = new.heard(Heard { said, shown: String::new() });
        assert!(old.alike(&new) && !old.is_telling());
        let text = serde_json::to_string(&new).unwrap();
        assert_eq!(serde_json::from_str::<Failure>(&text).unwrap(), new);
    }
}
