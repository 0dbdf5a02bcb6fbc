//! The project's documents in a terminal: Markdown as plain text, and where a document is found.

use std::fmt::Write;

use super::style::{HEADLINE, HINT};
use super::wrap::wrap;

/// The folder of the documents on the web.
const WEB: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/");

/// The address of a document, `oracle-toml` for example.
pub fn url(topic: &str) -> String {
    format!("{WEB}{topic}.md")
}

/// Where a reader finds a document, offline and on the web.
pub(crate) fn cite(topic: &str) -> String {
    let name = topic.rsplit('/').next().unwrap_or(topic);
    format!("`bisect-ppl help {name}` or {}", url(topic))
}

/// A document's Markdown for a terminal of this width: headings in bold, links as their text, and
/// each row of a table as a paragraph.
pub fn document(markdown: &str, columns: usize) -> String {
    let mut shown = String::new();
    let mut header: Option<Vec<String>> = None;
    let mut is_code = false;
    for line in markdown.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        } else if is_code || line.starts_with("    ") {
            // Code is copied, so its lines stay whole.
            let indent = if is_code { "    " } else { "" };
            shown.extend([indent, line, "\n"]);
        } else if let Some(title) = line.strip_prefix('#') {
            let title = title.trim_start_matches('#').trim();
            let title = plain(title);
            // Writing to a string cannot fail.
            let _ = writeln!(shown, "{HEADLINE}{title}{HEADLINE:#}");
        } else if let Some(row) = line.strip_prefix('|') {
            let cells = cells(row);
            match &header {
                None => header = Some(cells),
                Some(_) if cells.iter().all(|cell| cell.chars().all(|c| "-: ".contains(c))) => {}
                Some(names) => shown.push_str(&table_row(names, &cells, columns)),
            }
            continue;
        } else {
            shown.push_str(&wrap(&plain(line), columns));
            shown.push('\n');
        }
        header = None;
    }
    shown
}

/// A row of a table: the first cell, and the others below it with their columns' names.
fn table_row(names: &[String], cells: &[String], columns: usize) -> String {
    let mut cells = cells.iter();
    let first = cells.next().map(String::as_str).unwrap_or_default();
    let mut text = format!("  {HINT}{first}{HINT:#}\n");
    for (index, cell) in cells.enumerate().filter(|(_, cell)| !cell.is_empty()) {
        // In a table of two columns the second needs no name.
        let name = names.get(index + 1).filter(|name| names.len() > 2 && !name.is_empty());
        let name = name.map(|name| format!("{name}: ")).unwrap_or_default();
        text.push_str(&wrap(&format!("      {name}{cell}"), columns));
        text.push('\n');
    }
    text
}

/// The cells of a row; `\|` is part of a cell.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_end_matches('|').replace("\\|", "\u{0}");
    row.split('|').map(|cell| plain(&cell.replace('\u{0}', "|")).trim().to_owned()).collect()
}

/// A line without emphasis, and with links as their text.
fn plain(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, (label, after))) =
        rest.split_once('[').and_then(|(before, link)| Some((before, link.split_once("](")?)))
    {
        let Some((target, after)) = after.split_once(')') else { break };
        // `[[measure]]` and `[a, b]` are not links.
        if label.contains(['[', ']']) {
            let (kept, left) = rest.split_at(before.len() + 1);
            text.push_str(kept);
            rest = left;
            continue;
        }
        text.push_str(before.trim_end_matches('!'));
        text.push_str(label);
        if target.starts_with("http") {
            text.extend([" <", target, ">"]);
        }
        rest = after;
    }
    text.push_str(rest);
    text.replace("**", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(markdown: &str) -> String {
        anstream::adapter::strip_str(&document(markdown, 60)).to_string()
    }

    #[test]
    fn markdown_reads_as_text() {
        let text = "# Exit **codes**\n\nSee [limits](limits.md), [git](https://git-scm.com) and \
                    `[[guard]]` in [oracle.toml](oracle-toml.md), for all that is not here.\n\n\
                    | code | meaning |\n|---|---|\n| 0 | a first bad commit was found, and it was \
                    confirmed |\n\n| a | b | c |\n|-|-|-|\n| x \\| y | | z |\n\n```sh\nls  -l\n```\n\n    tree\n";
        insta::assert_snapshot!(shown(text), @r"
        Exit codes

        See limits, git <https://git-scm.com> and `[[guard]]` in
          oracle.toml, for all that is not here.

          0
              a first bad commit was found, and it was confirmed

          x | y
              c: z

            ls  -l

            tree
        ");
    }

    #[test]
    fn a_document_is_cited_by_command_and_address() {
        assert_eq!(
            cite("engines/llama.cpp"),
            "`bisect-ppl help llama.cpp` or \
             https://github.com/bisect-ppl/bisect-ppl/blob/main/docs/engines/llama.cpp.md"
        );
    }
}
