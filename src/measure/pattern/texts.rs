//! What a group took from lines that say the same around it.

/// The first and the last text.
#[derive(Debug)]
pub(super) struct Texts {
    first: String,
    last: String,
}

impl Texts {
    pub(super) fn new(taken: &str) -> Self {
        Self { first: taken.to_owned(), last: taken.to_owned() }
    }

    pub(super) fn add(&mut self, taken: &str) {
        taken.clone_into(&mut self.last);
    }

    /// Whether the first or the last text is this one.
    pub(super) fn have(&self, text: &str) -> bool {
        self.first == text || self.last == text
    }
}
