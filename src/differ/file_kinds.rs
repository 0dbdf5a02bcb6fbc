//! Kinds of files that their names show: headers and documents.

use super::constant_syntax::is_code;

/// Whether other files read this one when they are compiled.
pub(crate) fn is_header(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    ["cuh", "h", "hh", "hpp", "hxx", "inc", "inl", "ipp", "pyi"].contains(&ending)
}

/// Whether the name shows that no build reads the file.
pub(crate) fn is_document(path: &str) -> bool {
    const ENDINGS: [&str; 4] = ["md", "rst", "adoc", "html"];
    const NAMES: [&str; 7] =
        ["AUTHORS", "CHANGELOG", "CHANGES", "CONTRIBUTING", "LICENSE", "NEWS", "README"];
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_in_docs = path.split('/').any(|folder| matches!(folder, "doc" | "docs"));
    ENDINGS.contains(&ending) || NAMES.contains(&stem) || is_in_docs && !is_code(path)
}
