//! The expected answer of a hunt.

/// An outcome, and the labels of the commits that it names.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    /// These first bad commits, in order of history.
    FirstBad(Vec<String>),
    /// The first bad commit is one of exactly these.
    OneOf(Vec<String>),
    /// No commit is blamed; the commit that crosses the threshold comes first.
    Gradual(Vec<String>),
    TooNoisy,
    NoRegression,
    Unmeasurable,
    /// No hunt starts.
    Refused,
    /// The machine is at fault; `resume` continues.
    Stopped,
}

impl Answer {
    pub(crate) fn exit_code(&self) -> i32 {
        match self {
            Self::FirstBad(_) => 0,
            Self::Refused => 2,
            Self::OneOf(_) | Self::Gradual(_) | Self::TooNoisy => 3,
            Self::NoRegression | Self::Unmeasurable => 4,
            Self::Stopped => 5,
        }
    }

    pub(crate) fn outcome(&self) -> Option<&'static str> {
        match self {
            Self::FirstBad(_) => Some("culprit"),
            Self::OneOf(_) => Some("candidates"),
            Self::Gradual(_) => Some("gradual"),
            Self::TooNoisy => Some("noise-too-large"),
            Self::NoRegression => Some("no-regression"),
            Self::Unmeasurable => Some("endpoint-unmeasurable"),
            Self::Stopped => Some("interrupted"),
            Self::Refused => None,
        }
    }

    /// Whether the report's culprits and candidates are exactly these commits.
    pub(crate) fn is_told_by(&self, [culprits, candidates]: &[Vec<String>; 2]) -> bool {
        let sorted = |labels: &[String]| {
            let mut labels = labels.to_vec();
            labels.sort();
            labels
        };
        match self {
            Self::FirstBad(labels) => {
                culprits == labels && candidates.len() == 1 && labels.contains(&candidates[0])
            }
            Self::OneOf(labels) => culprits.is_empty() && sorted(candidates) == sorted(labels),
            Self::Gradual(labels) => culprits.is_empty() && candidates == labels,
            _ => culprits.is_empty() && candidates.is_empty(),
        }
    }
}
