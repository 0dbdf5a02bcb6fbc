//! What `init` tells the user besides the file. Each step adds its lines.

/// Lines that are printed besides the file.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// What the text is based on.
    pub(super) found: Vec<String>,
    /// What the user should check.
    pub(super) unsure: Vec<String>,
    /// Whether the lines are printed. If not, lines that take time to find are not looked for.
    pub(super) are_read: bool,
}
