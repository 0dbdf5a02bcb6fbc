//! A failed build or run, and which failures count as the same.

mod evidence;
mod signature;

use serde::{Deserialize, Serialize};

use super::ended::ABORT;
use super::failure_log::{FailureMessage, FailureReason, normalised};
use super::{Ended, FailureKind, Unreadable, Value};

pub use evidence::Evidence;
pub(crate) use evidence::{NonFinite, Printed};

use evidence::ComparisonKey;
use signature::{ended_in, signature};

/// A failed build or run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "FailureRecord", into = "FailureRecord")]
pub struct Failure {
    /// What went wrong.
    pub kind: FailureKind,
    /// One sentence for people, never compared.
    pub detail: String,
    /// Typed details; `None` in records of older versions, and if the kind is enough.
    pub evidence: Option<Box<Evidence>>,
    /// The text that a record of an older version has instead of typed details.
    old_text: Option<String>,
}

/// A failure as it is in records and journals.
#[derive(Serialize, Deserialize)]
struct FailureRecord {
    kind: FailureKind,
    signature: String,
    detail: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    evidence: Option<Box<Evidence>>,
}

impl From<FailureRecord> for Failure {
    fn from(record: FailureRecord) -> Self {
        let FailureRecord { kind, signature, detail, evidence } = record;
        let mut failure = Self { kind, detail, evidence, old_text: None };
        if failure.mark().is_none() {
            failure.old_text = Some(signature);
        }
        failure
    }
}

impl From<Failure> for FailureRecord {
    fn from(failure: Failure) -> Self {
        let signature = failure.signature();
        let Failure { kind, detail, evidence, old_text: _ } = failure;
        Self { kind, signature, detail, evidence }
    }
}

impl Failure {
    /// A failure that its kind describes completely.
    pub fn plain(kind: FailureKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), evidence: None, old_text: None }
    }

    /// A failure with its evidence.
    pub fn new(kind: FailureKind, evidence: Evidence, detail: impl Into<String>) -> Self {
        Self { evidence: Some(evidence.into()), ..Self::plain(kind, detail) }
    }

    /// A failure as an older version recorded it: only a text distinguishes it from others.
    #[cfg(test)]
    pub(crate) fn of_old(kind: FailureKind, signature: &str, detail: impl Into<String>) -> Self {
        let signature = signature.to_owned();
        FailureRecord { kind, signature, detail: detail.into(), evidence: None }.into()
    }

    /// The failure of a NaN or infinity printed at `place` (a metric, or `chunk 3`).
    pub(crate) fn not_finite(place: &str, number: f64) -> Self {
        let printed = Printed { what: NonFinite::of(number), place: normalised(place) };
        let evidence = Evidence { printed: Some(printed), ..Evidence::default() };
        let detail = format!("{place} is {}", Value::Number(number));
        Self::new(FailureKind::Nan, evidence, detail)
    }

    /// The failure of an output without a value.
    pub fn unreadable(why: Unreadable, detail: impl Into<String>) -> Self {
        let evidence = Evidence { unreadable: Some(why), ..Evidence::default() };
        Self::new(FailureKind::Unreadable, evidence, detail)
    }

    /// Adds the output's lines about the failure; the line for people goes into `detail`.
    #[must_use]
    pub(crate) fn heard(mut self, heard: FailureReason) -> Self {
        let FailureReason { said, shown } = heard;
        if !shown.is_empty() {
            let is_reason = !matches!(said, FailureMessage::Reached(_)) || self.ended_by_itself();
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
        matches!(self.ended(), Some(Ended::Exited(_) | Ended::Signaled(ABORT)))
    }

    /// How the command ended, if known.
    pub fn ended(&self) -> Option<&Ended> {
        self.evidence.as_ref()?.ended.as_ref()
    }

    /// How a build command ended, from the text of an older record.
    pub(crate) fn ended_in_old_text(&self) -> Option<Ended> {
        self.old_text.as_deref().and_then(ended_in)
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

    /// The text for the failure in records: `signal 11 (SIGSEGV)`, `exit code 3`; empty if nothing
    /// distinguishes failures of the kind.
    pub fn signature(&self) -> String {
        match (&self.old_text, &self.evidence) {
            (Some(text), _) => text.clone(),
            (None, Some(evidence)) => signature(self.kind, evidence),
            (None, None) => String::new(),
        }
    }

    /// The detail by which the failure is compared; `None` in a record of an older version.
    fn mark(&self) -> Option<ComparisonKey<'_>> {
        match &self.evidence {
            Some(evidence) => evidence.mark(self.kind),
            None => Evidence::default().mark(self.kind).is_some().then_some(ComparisonKey::Kind),
        }
    }

    /// Whether two failures count as the same: same kind and evidence. In a search for a failure, a
    /// commit with the same failure is bad.
    pub(crate) fn is_same_failure(&self, other: &Self) -> bool {
        let is_same = match (self.mark(), other.mark()) {
            (Some(own), Some(other)) => own == other,
            // A record of an older version has only its text.
            _ => self.signature() == other.signature(),
        };
        let agree = match (&self.evidence, &other.evidence) {
            (Some(own), Some(other)) => own.agrees(other),
            _ => true,
        };
        self.kind == other.kind && is_same && agree
    }

    /// Whether the output names a specific reason, which two unrelated failures hardly share. An
    /// exit code, a signal, a time-out or a NaN alone may be equal by chance.
    pub(crate) fn is_telling(&self) -> bool {
        let said = self.evidence.as_ref().and_then(|evidence| evidence.said.as_ref());
        said.is_some_and(FailureMessage::is_telling)
    }
}

#[cfg(test)]
mod tests;
