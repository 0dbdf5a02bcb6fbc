//! A Markdown page under construction: the only place that writes its syntax.

use super::escape::inline;

/// What is in a cell or an item is already Markdown: use [`inline`] on the way in.
#[derive(Default)]
pub(super) struct Page {
    text: String,
}

impl Page {
    /// A heading of that level; the text is somebody's and is escaped.
    pub(super) fn heading(&mut self, level: usize, words: &str) {
        self.block(&format!("{} {}", "#".repeat(level), inline(words)));
    }

    /// A paragraph; the text is somebody's and is escaped.
    pub(super) fn paragraph(&mut self, words: &str) {
        self.block(&inline(words));
    }

    /// A list; the texts are somebody's and are escaped.
    pub(super) fn items<'a>(&mut self, items: impl IntoIterator<Item = &'a str>) {
        let items: Vec<_> = items.into_iter().map(|item| format!("- {}", inline(item))).collect();
        self.block(&items.join("\n"));
    }

    /// A block of Markdown of our own, a blank line before it.
    pub(super) fn block(&mut self, markdown: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(markdown);
        self.text.push('\n');
    }

    /// A table of finished cells; rows have as many as there are columns. Nothing without rows.
    pub(super) fn table<const N: usize>(&mut self, columns: [&str; N], rows: Vec<[String; N]>) {
        self.wide_table(&columns, &rows.into_iter().map(Vec::from).collect::<Vec<_>>());
    }

    /// The same with a number of columns that is not known beforehand.
    pub(super) fn wide_table(&mut self, columns: &[&str], rows: &[Vec<String>]) {
        if rows.is_empty() {
            return;
        }
        let titles: Vec<_> = columns.iter().map(|column| inline(column)).collect();
        let row = |cells: &[String]| format!("| {} |", cells.join(" | "));
        let rule = format!("|{}", " --- |".repeat(columns.len()));
        let lines: Vec<_> =
            [row(&titles), rule].into_iter().chain(rows.iter().map(|cells| row(cells))).collect();
        self.block(&lines.join("\n"));
    }

    /// The page.
    pub(super) fn finish(self) -> String {
        self.text
    }
}
