//! A Markdown page under construction. Only this module writes Markdown syntax.

use crate::report::links::target;
use crate::report::tables::{Cell, Output, Table};
use crate::report::words;
use crate::ui::text;

use super::escape::inline;

/// The page; texts are escaped as they are added.
#[derive(Default)]
pub(super) struct Page {
    text: String,
}

impl Page {
    /// Adds a heading; escapes the text.
    pub(super) fn heading(&mut self, level: usize, words: &str) {
        self.block(&format!("{} {}", "#".repeat(level), inline(words)));
    }

    /// Adds a paragraph; escapes the text.
    pub(super) fn paragraph(&mut self, words: &str) {
        self.block(&inline(words));
    }

    /// Adds a list; escapes the texts.
    pub(super) fn items(&mut self, items: impl Iterator<Item = String>) {
        let items: Vec<_> = items.map(|item| format!("- {}", inline(&item))).collect();
        self.block(&items.join("\n"));
    }

    /// Adds finished Markdown, after a blank line.
    pub(super) fn block(&mut self, markdown: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(markdown);
        self.text.push('\n');
    }

    /// Adds a table with a heading; nothing if the table has no rows.
    pub(super) fn titled(&mut self, level: usize, words: &str, table: &Table) {
        if !table.rows.is_empty() {
            self.heading(level, words);
            self.table(table);
        }
    }

    /// Adds a table; nothing if it has no rows.
    pub(super) fn table(&mut self, table: &Table) {
        if table.rows.is_empty() {
            return;
        }
        let titles: Vec<_> = table.columns.iter().map(|column| inline(column)).collect();
        let row = |cells: &[String]| format!("| {} |", cells.join(" | "));
        let rule = format!("|{}", " --- |".repeat(titles.len()));
        let rows = table.rows.iter().map(|cells| row(&cells.iter().map(cell).collect::<Vec<_>>()));
        let lines: Vec<_> = [row(&titles), rule].into_iter().chain(rows).collect();
        self.block(&lines.join("\n"));
    }

    /// The text of the page.
    pub(super) fn finish(self) -> String {
        self.text
    }
}

fn cell(cell: &Cell) -> String {
    match cell {
        Cell::Text(words) => inline(words),
        Cell::Name(commit) => commit.to_string(),
        Cell::Commit(commit, subject) => inline(&text::commit(commit, subject)),
        Cell::Lines(added, removed) => words::changed_lines(*added, *removed),
        Cell::Verdict(verdict) => verdict.to_string(),
        // `endpoint [7.21](logs/a.log) [7.21](logs/b.log); confirm [7.21](logs/c.log)`.
        Cell::Samples(phases) => {
            let shown = |(phase, outputs): &(_, Vec<_>)| format!("{phase} {}", links(outputs));
            phases.iter().map(shown).collect::<Vec<_>>().join("; ")
        }
        Cell::Outputs(outputs) => links(outputs),
    }
}

fn links(outputs: &[Output]) -> String {
    outputs.iter().map(link).collect::<Vec<_>>().join(" ")
}

fn link(output: &Output) -> String {
    let words = inline(&output.words);
    // An empty text would leave nothing to click on.
    let words = if words.is_empty() { "(empty)" } else { &words };
    let reused = if output.reused { " (reused)" } else { "" };
    format!("[{words}]({}){reused}", target(output.log.as_bytes()))
}
