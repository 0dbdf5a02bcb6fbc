//! Measures with some placeholders replaced: the cells of a matrix, and other numbers of threads.

use std::collections::BTreeMap;

use super::template::Instead;
use super::{Command, Measure, Placeholder, Template};

impl Measure {
    /// The same measure under another name, with some placeholders replaced.
    #[must_use]
    pub(super) fn replaced(
        &self,
        name: String,
        with: &impl Fn(&Placeholder) -> Option<Instead>,
    ) -> Self {
        let command = |command: &Command| {
            Command::of(command.words.iter().map(|word| word.replaced(with)).collect())
        };
        let env: BTreeMap<String, Template> =
            self.env.iter().map(|(name, value)| (name.clone(), value.replaced(with))).collect();
        Self {
            name,
            command: command(&self.command),
            before: self.before.iter().map(command).collect(),
            after: self.after.iter().map(command).collect(),
            cwd: self.cwd.as_ref().map(|cwd| cwd.replaced(with)),
            env,
            ..self.clone()
        }
    }

    /// The same measure with this number of threads, called `NAME[threads=N]`; `None` if it does
    /// not use `{threads}`.
    pub fn with_threads(&self, threads: u32) -> Option<Self> {
        if !self.templates().flat_map(Template::placeholders).any(|p| *p == Placeholder::Threads) {
            return None;
        }
        let with = |placeholder: &Placeholder| {
            (*placeholder == Placeholder::Threads).then(|| Instead::Text(threads.to_string()))
        };
        // A cell of a matrix has the name of a cell already.
        let name = match self.name.strip_suffix(']') {
            Some(cell) => format!("{cell},threads={threads}]"),
            None => format!("{}[threads={threads}]", self.name),
        };
        Some(self.replaced(name, &with))
    }
}
