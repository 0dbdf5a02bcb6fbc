//! A change of the machine that makes earlier runs incomparable with later ones.

/// A change of the machine between the first runs of the endpoints and now.
#[derive(Debug)]
pub(crate) struct MachineChange {
    /// What shows it, in a sentence.
    pub(crate) text: String,
    /// The measures whose runs no longer count.
    pub(crate) measures: Vec<String>,
    /// The runs of these measures from before.
    pub(crate) attempts: Vec<String>,
}
