//! Names of files in lines of code, such as `k2.cl` or `kernels/fast`. The search reads words, not
//! grammars, so it may be wrong; only the choice of further measurements depends on it.

use std::collections::BTreeSet;

use super::coined::code_lines;
use super::file_kinds::is_document;

/// The words in some lines of a file that may name other files, without those in comments: they have
/// an ending or a folder. Steps to the same or an upper folder (`./`, `../`) are left out. The name of
/// a folder keeps its last `/`. A document names none.
pub(crate) fn file_names(path: &str, lines: &[String]) -> BTreeSet<String> {
    if is_document(path) {
        return BTreeSet::new();
    }
    let is_part = |c: char| c.is_alphanumeric() || "._-+/".contains(c);
    let words = code_lines(path, lines).flat_map(|code| code.split(move |c| !is_part(c)));
    let names = words.map(without_steps).filter(|word| may_be_file(word));
    names.map(str::to_owned).collect()
}

/// Whether a file at this path has that name: the name is its last part, or that of its folder with
/// the folders above. A name that ends with `/` is that of a folder anywhere in the path.
pub(crate) fn has_file_name(path: &str, name: &str) -> bool {
    if name.ends_with('/') {
        // The path may be that of the folder itself, which is a submodule or a link.
        return format!("/{path}/").contains(&format!("/{name}"));
    }
    let rest = path.strip_suffix(name);
    let is_it = rest.is_some_and(|before| before.is_empty() || before.ends_with('/'));
    let is_below =
        name.contains('/') && path.strip_prefix(name).is_some_and(|behind| behind.starts_with('/'));
    is_it || is_below
}

/// A word without `./` and `../` before it, and without marks that end a sentence. One `/` stays at
/// the end of a folder.
fn without_steps(word: &str) -> &str {
    let bare = word.trim_end_matches(['.', '/']);
    let is_folder = word[bare.len()..].starts_with('/');
    let mut rest = if is_folder { &word[..=bare.len()] } else { bare };
    while let Some(next) = ["./", "../", "/"].iter().find_map(|step| rest.strip_prefix(*step)) {
        rest = next;
    }
    rest
}

fn may_be_file(word: &str) -> bool {
    let name = word.rsplit('/').next().unwrap_or(word);
    let has_ending = name.rsplit_once('.').is_some_and(|(stem, ending)| {
        !stem.is_empty() && ending.starts_with(|c: char| c.is_ascii_alphabetic())
    });
    (has_ending || word.contains('/')) && word.chars().any(|c| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(path: &str, line: &str) -> Vec<String> {
        file_names(path, &[line.to_owned()]).into_iter().collect()
    }

    #[test]
    fn words_with_an_ending_or_a_folder_may_name_files() {
        assert_eq!(names("run.sh", r#"load "../kernels/k2.cl" # as k1.cl"#), ["kernels/k2.cl"]);
        assert_eq!(names("a.c", "#include \"fast.h\" // not slow.h"), ["fast.h"]);
        assert_eq!(names("current", "kernels/v2/"), ["kernels/v2/"]);
        assert_eq!(names("run.conf", "t=v2/"), ["v2/"]);
        assert_eq!(names("run.conf", "t=./v2//."), ["v2/"]);
        assert_eq!(names("CMakeLists.txt", "file(GLOB SRC ../avx/*.cl)"), ["avx/"]);
        assert_eq!(names("run.sh", "cd ../.. && ls / ./ ../ 1.5/"), [""; 0]);
        assert_eq!(names("run.sh", "x = 1.5 + y; see below. a / b"), [""; 0]);
        assert_eq!(names("docs/use.md", "load k2.cl"), [""; 0]);
    }

    #[test]
    fn a_file_has_its_name_with_and_without_its_folders() {
        for name in ["src/kernels/k2.cl", "kernels/k2.cl", "k2.cl"] {
            assert!(has_file_name("src/kernels/k2.cl", name), "{name}");
        }
        assert!(!has_file_name("src/kernels/k2.cl", "2.cl"));
        assert!(has_file_name("kernels/v2/a.cl", "kernels/v2"));
        assert!(!has_file_name("kernels/v20/a.cl", "kernels/v2"));
        assert!(!has_file_name("fast.h/a.cl", "fast.h"));
        for path in ["v2/a.cl", "v2/deep/a.cl", "kernels/v2/a.cl", "kernels/v2"] {
            assert!(has_file_name(path, "v2/"), "{path}");
        }
        for path in ["v20/a.cl", "kernels/av2/a.cl", "v2.cl"] {
            assert!(!has_file_name(path, "v2/"), "{path}");
        }
    }
}
