//! The prior over the first bad commit: how likely each commit is before any run of it.

/// What the builds of both ends of a range show about the change of one commit. Later variants are
/// likelier to make a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeReach {
    /// It changes only files that make no difference: documents, and sources that no build compiles
    /// or of which both builds made the same code.
    Idle,
    /// It changes something that a build may read, such as a header or a recipe.
    Open,
    /// It changes a source of which the builds made different code.
    Code,
}

impl ChangeReach {
    /// The weight in the prior: from 1 to 8. The bound limits what a wrong prior costs: at most
    /// ln 8 nats of evidence, about 2.1/(d²/2) runs.
    pub fn weight(self) -> f64 {
        match self {
            Self::Idle => 1.0,
            Self::Open => 4.0,
            Self::Code => 8.0,
        }
    }
}
