//! Normalises a line: removes what differs between two runs with the same failure.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

/// Maximum length of a line, in characters.
const LONGEST: usize = 200;

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a pattern of our own")
}

/// Terminal colours and cursor movements.
static ESCAPES: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07)"));

/// The beginning of a path, up to and including a folder of a slot. Slots have numbers.
static SLOT: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"/[^\s:'"`(),<>=]*/\d+/(?:src|build|cache|out)/"#));

/// The folders of an absolute path. Only the last name stays.
static FOLDERS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?P<before>^|[\s:'"`(\[,<>=@])/(?:[^\s/:'"`(),\[\]<>=]+/)+(?P<name>[^\s/:'"`(),\[\]<>=]*)"#,
    )
});

/// Patterns and their replacements, in this order.
static REPLACED: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        // Relative prefixes, as in `../src/a.c`.
        (r"(?:\.{1,2}/)+", ""),
        // Temporary files of compilers.
        (r"\bcc[A-Za-z0-9]{6}\.(o|s|res|ltrans\S*)\b", "cc#.$1"),
        (r"\b(?:rustc|tmp)[A-Za-z0-9_]{6,8}\b", "tmp#"),
        // Addresses, and words that may be commits: 7 or more hexadecimal digits.
        (r"\+0x[0-9a-fA-F]+", ""),
        (r"\b0x[0-9a-fA-F]+\b", "#"),
        (r"\b[a-f]*[0-9][0-9a-f]{6,39}\b", "#"),
        (r"\b[a-f]+[0-9][0-9a-f]{5,38}\b", "#"),
        // The number of a rank, worker, device and so on.
        (r"(?i)\b(rank|worker|thread|device|gpu|cpu|pid|tid|lwp)[ _:=-]?\d+", "$1#"),
        // Line numbers; the file name stays.
        (r"(\.\w+):\d+(?::\d+)?", "$1"),
        (r"([A-Za-z_][\w.+-]*):\d+(?::\d+)?:", "$1:"),
        (r"\[(\w+):\d+: ", "[$1: "),
        (r"(\.\w+)\(\d+(?:,\d+)?\)", "$1"),
        (r",? \bline \d+", ""),
        // Dates, times, and every other number that is not part of a name.
        (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*", "#"),
        (r"(^|[^A-Za-z0-9_])[-+]?\d+(?:\.\d+)*(?:[eE][-+]?\d+)?", "$1#"),
        // Progress bars, and lists of numbers.
        (r"(?:\[#\]#,?\s*)+", "[#]#"),
        (r"(\[#\]#)[\[\]#….,]*$", "$1"),
        (r"#(?:[ ,;|/:x]*#)+", "#"),
        (r"\.{3,}|={3,}|-{3,}|#{2,}|\*{4,}", "…"),
        (r"\s+", " "),
    ]
    .into_iter()
    .map(|(pattern, with)| (regex(pattern), with))
    .collect()
});

/// A line for people: without colours and control characters, of bounded length.
pub(super) fn shown(line: &str) -> String {
    let plain = ESCAPES.replace_all(line, "");
    let plain = plain.chars().map(|c| if c.is_control() { ' ' } else { c });
    let plain: String = plain.take(4 * LONGEST).collect();
    let plain = plain.trim();
    if plain.chars().count() <= LONGEST {
        return plain.to_owned();
    }
    plain.chars().take(LONGEST).chain(['…']).collect()
}

/// A line in a form that is the same for every commit, folder and day. Addresses, numbers, dates
/// and commits become `#`. A path keeps its part below the slot, or else its file name. Names of
/// functions and symbols stay; line numbers are removed.
pub(crate) fn normalised(line: &str) -> String {
    let plain = ESCAPES.replace_all(line, "");
    let plain: String = plain
        .chars()
        .map(|c| match c {
            '‘' | '’' | '`' => '\'',
            '“' | '”' => '"',
            c if c.is_control() => ' ',
            c => c,
        })
        .take(4 * LONGEST)
        .collect();
    let mut text = Cow::Owned(plain);
    let mut replace = |pattern: &Regex, with: &str| {
        if let Cow::Owned(new) = pattern.replace_all(&text, with) {
            text = Cow::Owned(new);
        }
    };
    replace(&SLOT, "");
    replace(&FOLDERS, "$before$name");
    for (pattern, with) in &*REPLACED {
        replace(pattern, with);
    }
    text.trim().chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_differs_goes_and_names_stay() {
        for (line, wanted) in [
            ("/a/cache/slots/0/src/ggml/quant.c:12:3: error: x", "ggml/quant.c: error: x"),
            ("/tmp/x7/build-3/foo.cu(12): error: y", "foo.cu: error: y"),
            ("../../src/foo.c:3: bad", "src/foo.c: bad"),
            ("arena: 76800 floats wanted, 17664 left", "arena: # floats wanted, # left"),
            ("at 0x7f9c1f8b76a8 in q4_0_gemm+0x1f", "at # in q4_0_gemm"),
            ("version 6c7c037 of 2026-01-02 10:11:12.5Z", "version # of #"),
            ("[1]7.0123,[2]6.9,[3]-1e-5,", "[#]#"),
            ("shape [2, 3, 4] against [2,3]", "shape [#] against [#]"),
            ("\x1b[31mloading\x1b[0m ........  ", "loading …"),
            ("rank3: CUDA error on device 2", "rank#: CUDA error on device#"),
            ("  File \"/usr/lib/a.py\", line 3 in load", "File \"a.py\" in load"),
            ("error[E0308]: mismatched ‘types’", "error[E0308]: mismatched 'types'"),
            ("/tmp/cc7sHTnv.o: in main", "cc#.o: in main"),
            ("type f16 with sm_90 and blk.12.attn", "type f16 with sm_90 and blk.#.attn"),
        ] {
            assert_eq!(normalised(line), wanted, "{line}");
        }
    }

    proptest! {
        #[test]
        fn numbers_addresses_and_folders_do_not_matter(
            n in 0_u32..1_000_000, x in 0.0..1e6_f64, at in 0x1000_u64.., folder in "[a-z0-9]{1,8}",
        ) {
            let line = |n: u32, x: f64, at: u64, folder: &str| normalised(&format!(
                "/tmp/{folder}/work/engine.cpp:{n}: tensor {n} at 0x{at:x} took {x:.3} ms"
            ));
            prop_assert_eq!(line(n, x, at, &folder), line(1, 0.5, 0x4000, "other"));
        }

        #[test]
        fn a_normalised_line_is_short_and_has_no_escapes(line in "\\PC{0,80}") {
            let once = normalised(&line);
            prop_assert!(once.chars().count() <= LONGEST);
            let escapes = once.contains('\x1b');
            prop_assert!(!escapes);
        }
    }
}
