//! A Markdown page under construction. All methods but [`Page::block`] escape the text they add.

use std::fmt::Write as _;

use askama::filters::{Html, escape};

use crate::report::change::{Shown, name};
use crate::report::facts::Fact;
use crate::report::links::Logs;
use crate::report::tables::{Cell, Output, Table};
use crate::report::words;
use crate::ui::text;

use super::escape::{fenced_as, inline};

/// The page; texts are escaped as they are added.
pub(super) struct Page<'l> {
    logs: &'l Logs,
    text: String,
}

impl<'l> Page<'l> {
    /// An empty page with these links.
    pub(super) fn new(logs: &'l Logs) -> Self {
        Self { logs, text: String::new() }
    }

    /// Adds a line with a link to a log.
    pub(super) fn log(&mut self, log: &str) {
        let output = Output { words: log.to_owned(), log: log.to_owned(), stored: None };
        self.block(&format!("Log: {}", self.link(&output)));
    }

    /// Adds a heading.
    pub(super) fn heading(&mut self, level: usize, words: &str) {
        self.block(&format!("{} {}", "#".repeat(level), inline(words)));
    }

    /// Adds a paragraph.
    pub(super) fn paragraph(&mut self, words: &str) {
        self.block(&inline(words));
    }

    /// Adds a list of facts. A fact may have a link to a page.
    pub(super) fn facts(&mut self, facts: &[Fact]) {
        let item = |fact: &Fact| {
            let words = inline(&fact.words);
            // This program made or checked the URL: no character of it ends the link.
            let words = match &fact.link {
                Some(link) => format!("[{words}](<{link}>)"),
                None => words,
            };
            match fact.label {
                Some(label) => format!("- {}: {words}", inline(label)),
                None => format!("- {words}"),
            }
        };
        self.block(&facts.iter().map(item).collect::<Vec<_>>().join("\n"));
    }

    /// Adds the diff of a file, folded or not.
    pub(super) fn diff(&mut self, shown: &Shown<'_>) {
        let file = shown.file;
        let lines = words::changed_lines(Some(file.added), Some(file.removed));
        let name = name(file);
        let mut text = shown.lines.join("\n");
        if shown.cut > 0 {
            let _ = write!(text, "\n… {} more lines: bisect-ppl report --diff", shown.cut);
        }
        let block = fenced_as("diff", &text);
        if shown.is_open {
            self.paragraph(&format!("{name} {lines}"));
            self.block(&block);
        } else {
            let name = escape(text::line(&name), Html).expect("a string takes everything");
            self.block(&format!("<details><summary><code>{name}</code> {lines}</summary>"));
            self.block(&block);
            self.block("</details>");
        }
    }

    /// Adds a list.
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
        let rows = table
            .rows
            .iter()
            .map(|cells| row(&cells.iter().map(|cell| self.cell(cell)).collect::<Vec<_>>()));
        let lines: Vec<_> = [row(&titles), rule].into_iter().chain(rows).collect();
        self.block(&lines.join("\n"));
    }

    /// The text of the page.
    pub(super) fn finish(self) -> String {
        self.text
    }
}

impl Page<'_> {
    fn cell(&self, cell: &Cell) -> String {
        match cell {
            Cell::Text(words) => inline(words),
            Cell::Name(commit) => commit.to_string(),
            Cell::Commit(commit, subject) => inline(&text::commit(commit, subject)),
            Cell::Lines(added, removed) => words::changed_lines(*added, *removed),
            Cell::Verdict(verdict) => verdict.to_string(),
            // `endpoint [7.21](logs/a.log) [7.21](logs/b.log); confirm [7.21](logs/c.log)`.
            Cell::Samples(phases) => {
                let shown =
                    |(phase, outputs): &(_, Vec<_>)| format!("{phase} {}", self.links(outputs));
                phases.iter().map(shown).collect::<Vec<_>>().join("; ")
            }
            Cell::Outputs(outputs) => self.links(outputs),
        }
    }

    fn links(&self, outputs: &[Output]) -> String {
        outputs.iter().map(|output| self.link(output)).collect::<Vec<_>>().join(" ")
    }

    fn link(&self, output: &Output) -> String {
        let words = inline(&output.words);
        // An empty text could not be clicked.
        let words = if words.is_empty() { "(empty)" } else { &words };
        let stored = output.stored.as_deref().map(|stored| format!(" {}", inline(stored)));
        let stored = stored.unwrap_or_default();
        format!("[{words}]({}){stored}", self.logs.path(&output.log))
    }
}
