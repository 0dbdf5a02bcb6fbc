//! That runs read files as the commit has them, although its build wrote them, as text.

use crate::evaluation::PutBack;
use crate::ui::text;

/// The most files that are named.
const MOST_PATHS: usize = 3;

/// `builds write tables.sh, which git tracks, and the runs of ppl read it as the commit has it,
/// because tracked files are put back after each build`.
pub(crate) fn in_words(found: &PutBack) -> String {
    let it = if found.paths.len() == 1 { "it" } else { "them" };
    format!(
        "builds write {}, which git tracks, and the runs of {} read {it} as the commit has {it}, \
         because tracked files are put back after each build",
        files(&found.paths),
        text::line(&found.measure)
    )
}

/// The first files, and how many more there are: `a, b and c`.
pub(crate) fn files(paths: &[String]) -> String {
    let more = paths.len().saturating_sub(MOST_PATHS);
    let more = (more > 0).then(|| format!("{more} more"));
    let named = paths.iter().take(MOST_PATHS).map(|path| text::line(path));
    text::joined(named.chain(more).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(paths: &[&str]) -> String {
        let paths = paths.iter().map(|path| (*path).to_owned()).collect();
        let commit = "1".repeat(40).parse().unwrap();
        in_words(&PutBack { measure: "ppl".to_owned(), commit, paths })
    }

    #[test]
    fn files_that_are_put_back_are_named() {
        assert_eq!(
            told(&["tables.sh"]),
            "builds write tables.sh, which git tracks, and the runs of ppl read it as the commit has \
             it, because tracked files are put back after each build"
        );
        let several = told(&["a\n", "b", "c", "d", "e"]);
        assert!(several.contains("read them as the commit has them"), "{several}");
        assert!(several.contains("2 more, which git tracks"), "{several}");
        assert!(!several.contains('\n'), "{several}");
    }
}
