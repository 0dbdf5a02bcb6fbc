//! Files that the measured programs do not read: a commit that touches only these cannot change
//! the figures, so a hunt need not test it. If such a commit did change them, the hunt notices
//! it, because a first bad commit is compared with its real parents.

use std::collections::BTreeSet;

use super::draft::Draft;
use super::measured::{Measured, Purpose};
use super::program::{Build, Program, System};
use super::tree::{Tree, ending, parent, stem};

/// The pattern for Markdown anywhere.
const MARKDOWN: &str = "**/*.md";

/// Top folders of services and editors. No build reads them.
const SERVICES: [&str; 8] = [
    ".github",
    ".gitlab",
    ".circleci",
    ".buildkite",
    ".devops",
    ".devcontainer",
    ".vscode",
    ".idea",
];

/// Endings of files that people read and programs do not.
const PAGES: [&str; 12] =
    ["md", "rst", "adoc", "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "pdf", "drawio"];

/// The files that the draft's measures are built from, as far as the build files and the includes
/// tell.
pub(super) fn reads(build: &Build, draft: &Draft) -> BTreeSet<String> {
    let mut files: BTreeSet<String> = draft.rests_on.iter().cloned().collect();
    for measured in &draft.measures {
        files.extend(measured.reads.iter().cloned());
        files.extend(build.parts.of(&measured.program.name));
    }
    files
}

/// Patterns for files of the tree that the draft's measures do not read, sorted. `is_sure`: whether
/// the programs that the measures run are known.
pub(super) fn unread(tree: &Tree, build: &Build, draft: &Draft, is_sure: bool) -> Vec<String> {
    let mut patterns = pages(tree);
    // A suite may run every program of the tree.
    let is_program = |m: &Measured| m.purpose != Purpose::Suite && !m.program.sources.is_empty();
    if is_sure && !draft.measures.is_empty() && draft.measures.iter().all(is_program) {
        let measured: Vec<&str> = draft.measures.iter().map(|m| m.program.name.as_str()).collect();
        let others = build.programs.iter().filter(|o| !measured.contains(&o.name.as_str()));
        let mut candidates: BTreeSet<String> = others.filter_map(|o| of_other(build, o)).collect();
        candidates.extend(tests(tree, build));
        candidates.retain(|pattern| !is_read(pattern, &draft.reads));
        patterns.extend(candidates);
    }
    patterns.retain(|pattern| {
        // Leaves out names with pattern characters, and names that another pattern covers.
        let is_plain = !folder(pattern).unwrap_or(pattern).contains(['*', '?', '[', '\\']);
        is_plain || pattern == MARKDOWN
    });
    patterns.sort();
    patterns.dedup();
    let folders: Vec<String> =
        patterns.iter().filter_map(|p| Some(folder(p)?.to_owned())).collect();
    patterns.retain(|pattern| {
        let path = folder(pattern).unwrap_or(pattern);
        !folders.iter().any(|folder| is_in(path, folder))
    });
    patterns
}

/// Whether a pattern of [`unread`] covers one of these files.
pub(super) fn is_read(pattern: &str, files: &BTreeSet<String>) -> bool {
    match folder(pattern) {
        Some(folder) => {
            let first = files.range(format!("{folder}/")..).next();
            first.is_some_and(|file| is_in(file, folder))
        }
        None => files.contains(pattern),
    }
}

/// The folder of a pattern such as `docs/**`; `None` for a single file and for `**/*.md`.
fn folder(pattern: &str) -> Option<&str> {
    pattern.strip_suffix("/**")
}

fn is_in(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Patterns for pages anywhere, and for top folders that have only pages.
fn pages(tree: &Tree) -> Vec<String> {
    let is_page = |file: &str| PAGES.contains(&ending(file).to_lowercase().as_str());
    let mut patterns = Vec::new();
    if tree.files().any(|file| ending(file) == "md") {
        patterns.push(MARKDOWN.to_owned());
    }
    let mut files = tree.files().peekable();
    while let Some(file) = files.next() {
        let Some((top, _)) = file.split_once('/') else { continue };
        let mut is_unread = is_page(file);
        let mut are_md = ending(file) == "md";
        while let Some(next) = files.next_if(|next| is_in(next, top)) {
            is_unread &= is_page(next);
            are_md &= ending(next) == "md";
        }
        if SERVICES.contains(&top) || is_unread && !are_md {
            patterns.push(format!("{top}/**"));
        }
    }
    patterns
}

/// The pattern for files of another program alone: its folder, if CMake declares it there, or its
/// main source.
fn of_other(build: &Build, program: &Program) -> Option<String> {
    let home = parent(&program.from.file);
    if build.system == System::Cmake && home != parent(&build.file) {
        return Some(format!("{home}/**"));
    }
    let main = program.sources.first()?;
    let is_own = build.system == System::Cargo || stem(main) == program.name;
    is_own.then(|| main.clone())
}

/// Patterns for folders of tests. No program is built from such a folder, unless one of its files
/// is known to be read.
fn tests(tree: &Tree, build: &Build) -> BTreeSet<String> {
    let root = parent(&build.file);
    let mut folders = BTreeSet::new();
    for file in tree.below(root) {
        let inner = file[root.len()..].trim_start_matches('/');
        let Some((top, _)) = inner.split_once('/') else { continue };
        let is_one = matches!(top, "tests" | "test")
            || build.system == System::Cargo && matches!(top, "examples" | "benches");
        if is_one {
            folders.insert(format!("{}/**", &file[..file.len() - inner.len() + top.len()]));
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::super::builds::builds;
    use super::super::measures;
    use super::super::notes::Notes;
    use super::super::tree::tests::tree;
    use super::*;

    const PPL: &str = "int main(void) { printf(\"Final estimate: PPL = %f\", x); }\n";

    fn unread_in(files: &[(&str, &str)]) -> Vec<String> {
        let (_folder, tree) = tree(files);
        let all = builds(&tree, &[]);
        measures::draft(&tree, all, &[], &mut Notes::default()).unwrap().unread
    }

    #[test]
    fn folders_of_other_programs_are_not_read_unless_the_program_links_them() {
        let unread = unread_in(&[
            (
                "CMakeLists.txt",
                "add_subdirectory(src)\nadd_subdirectory(tools/ppl)\nadd_subdirectory(tools/server)\nadd_subdirectory(tools/quantize)\n",
            ),
            (
                "src/CMakeLists.txt",
                "add_library(engine e.c)\ntarget_link_libraries(engine quants)\n",
            ),
            ("src/e.c", ""),
            (
                "tools/ppl/CMakeLists.txt",
                "add_executable(ppl ppl.c)\ntarget_link_libraries(ppl PRIVATE engine)\n",
            ),
            ("tools/ppl/ppl.c", PPL),
            ("tools/server/CMakeLists.txt", "add_executable(server s.c)\n"),
            ("tools/server/s.c", ""),
            ("tools/server/README.md", ""),
            (
                "tools/quantize/CMakeLists.txt",
                "add_library(quants q.c)\nadd_executable(quantize main.c)\n",
            ),
            ("tools/quantize/q.c", ""),
            ("tools/quantize/main.c", ""),
            (".github/workflows/ci.yml", ""),
            ("docs/a.md", ""),
            ("docs/b.png", ""),
            ("media/c.png", ""),
            ("media/d.bin", ""),
            ("tests/CMakeLists.txt", ""),
        ]);
        assert_eq!(unread, ["**/*.md", ".github/**", "docs/**", "tests/**", "tools/server/**"]);
    }

    #[test]
    fn beside_the_program_only_the_main_files_of_others_are_not_read() {
        let unread = unread_in(&[
            (
                "Makefile",
                "all: ppl chat\nppl: ppl.c engine.c\n\t$(CC) -o $@ $^\nchat: chat.c engine.c\n\t$(CC) -o $@ $^\n",
            ),
            ("ppl.c", PPL),
            ("engine.c", ""),
            ("chat.c", ""),
        ]);
        assert_eq!(unread, ["chat.c"]);
        let unread = unread_in(&[
            ("Cargo.toml", "[package]\nname = \"engine\"\n"),
            ("src/lib.rs", ""),
            ("src/bin/ppl.rs", "fn main() { say(\"Final estimate: PPL = {}\", x); }\n"),
            ("src/bin/server.rs", ""),
            ("examples/one.rs", ""),
            ("tests/two.rs", ""),
        ]);
        assert_eq!(unread, ["examples/**", "src/bin/server.rs", "tests/**"]);
    }

    #[test]
    fn a_suite_may_read_everything_but_pages() {
        let unread = unread_in(&[
            (
                "Makefile",
                "test: unit\n\t./unit\nunit: unit.c\n\t$(CC) -o $@ $^\nchat: chat.c\n\t$(CC) -o $@ $^\n",
            ),
            ("unit.c", "printf(\"[PASS]\");"),
            ("chat.c", ""),
            ("README.md", ""),
        ]);
        assert_eq!(unread, ["**/*.md"]);
    }

    #[test]
    fn a_pattern_covers_a_folder_or_one_file() {
        let files: BTreeSet<String> = ["a/b/c.c", "a/bc.c"].map(str::to_owned).into();
        for (pattern, wanted) in [
            ("a/b/**", true),
            ("a/**", true),
            ("a/bc.c", true),
            ("a/bc/**", false),
            ("b/**", false),
        ] {
            assert_eq!(is_read(pattern, &files), wanted, "{pattern}");
        }
    }
}
