//! The sources of a program: the files that its build names, and the files they include.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use super::literals::Literals;
use super::text::{Fact, Text};
use super::tree::{Tree, ending, is_c, join, parent, stem};

/// Maximum number of files of one program. No engine's tool has more; later files are libraries'.
const MOST: usize = 120;

/// A source file with its string literals.
pub(super) struct Source {
    pub(super) file: String,
    pub(super) text: Rc<Text>,
    /// Empty if the text was not worth a look.
    pub(super) literals: Rc<Literals>,
    /// The build names the file; it is not only included.
    pub(super) own: bool,
}

impl Source {
    pub(super) fn is_rust(&self) -> bool {
        ending(&self.file) == "rs"
    }
}

/// Reads the given files, the headers that they include with quotes, and the sources with a
/// header's name: the options are often parsed in a file that all tools share. Literals are
/// extracted only from texts that `may` accepts, since extracting all of them is slow.
pub(super) fn read(tree: &Tree, own: &[String], may: impl Fn(&Text) -> bool) -> Vec<Source> {
    let mut queue: VecDeque<(String, bool)> = own.iter().map(|file| (file.clone(), true)).collect();
    let mut seen: BTreeSet<String> = own.iter().cloned().collect();
    let mut names = None;
    let mut sources = Vec::new();
    while let Some((file, own)) = queue.pop_front() {
        let Some(text) = tree.text(&file) else { continue };
        for header in &text.fact::<Includes>().0 {
            let names = names.get_or_insert_with(|| by_name(tree));
            for found in resolve(tree, names, &file, header) {
                if seen.len() < MOST && seen.insert(found.clone()) {
                    queue.push_back((found, false));
                }
            }
        }
        let literals = if may(&text) { text.fact() } else { Rc::new(Literals(Vec::new())) };
        sources.push(Source { file, text, literals, own });
    }
    sources
}

/// Reads only the given files whose text `may` accepts. Includes are not followed.
pub(super) fn own(tree: &Tree, files: &[String], may: impl Fn(&Text) -> bool) -> Vec<Source> {
    let read = |file: &String| {
        let text = tree.text(file).filter(|text| may(text))?;
        Some(Source { file: file.clone(), literals: text.fact(), text, own: true })
    };
    files.iter().filter_map(read).collect()
}

/// The headers that a text includes with quotes.
struct Includes(Vec<String>);

impl Fact for Includes {
    fn read(text: &Text) -> Self {
        let headers = text.match_indices("include").filter_map(|(at, word)| {
            let before = text[..at].rsplit('\n').next()?.trim();
            let line = text[at + word.len()..].lines().next()?;
            let header = line.trim_start().strip_prefix('"')?.split_once('"')?.0;
            (before == "#").then(|| header.to_owned())
        });
        Self(headers.collect())
    }
}

/// Sources and headers by file name without folder and ending.
fn by_name(tree: &Tree) -> HashMap<&str, Vec<&str>> {
    let mut names: HashMap<&str, Vec<&str>> = HashMap::new();
    for file in tree.files() {
        if is_c(file) || is_header(file) {
            names.entry(stem(file)).or_default().push(file);
        }
    }
    names
}

fn is_header(file: &str) -> bool {
    matches!(ending(file), "h" | "hh" | "hpp" | "hxx" | "inc" | "cuh")
}

/// The header that `from` includes, and the source with the header's name. If several files
/// fit, the one with the nearest path is taken.
fn resolve(tree: &Tree, names: &HashMap<&str, Vec<&str>>, from: &str, header: &str) -> Vec<String> {
    let beside = join(parent(from), header);
    let called = names.get(stem(header)).map(Vec::as_slice).unwrap_or_default();
    let header = if tree.has(&beside) {
        Some(beside)
    } else {
        let tail = format!("/{header}");
        let fits = called.iter().filter(|file| **file == header || file.ends_with(&tail));
        fits.max_by_key(|file| near(file, from)).map(|file| (*file).to_owned())
    };
    let Some(header) = header else { return Vec::new() };
    // The source may be in another folder: `include/engine.h` has `src/engine.c`.
    let source = called.iter().filter(|file| is_c(file)).max_by_key(|file| near(file, &header));
    let mut found: Vec<String> = source.map(|file| (*file).to_owned()).into_iter().collect();
    found.push(header);
    found
}

/// How near two paths are: a longer common beginning first, then a shorter path.
fn near(path: &str, to: &str) -> (usize, Reverse<usize>) {
    let shared = path.bytes().zip(to.bytes()).take_while(|(a, b)| a == b).count();
    (shared, Reverse(path.len()))
}

#[cfg(test)]
mod tests {
    use super::super::tree::tests::tree;
    use super::*;

    #[test]
    fn headers_lead_to_the_sources_behind_them() {
        let (_folder, tree) = tree(&[
            ("tools/ppl.c", "#include \"args.h\"\n#include <stdio.h>\n# include \"engine.h\"\n"),
            ("tools/args.h", ""),
            ("tools/args.c", "#include \"args.h\"\n"),
            ("other/args.c", ""),
            ("include/engine.h", "#include \"../tools/ppl.c\"\n"),
            ("src/engine.c", ""),
        ]);
        let sources = read(&tree, &["tools/ppl.c".to_owned(), "gone.c".to_owned()], |_| true);
        let files: Vec<_> = sources.iter().map(|source| source.file.as_str()).collect();
        let wanted =
            ["tools/ppl.c", "tools/args.c", "tools/args.h", "src/engine.c", "include/engine.h"];
        assert_eq!(files, wanted);
        assert!(sources[0].own && !sources[1].own);
    }
}
