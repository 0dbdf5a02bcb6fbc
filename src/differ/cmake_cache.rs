//! Reads `CMakeCache.txt`.

use std::collections::BTreeMap;

use super::build_folders::BuildFolders;

/// The entries of a cache, without CMake's internal state.
pub(crate) fn cmake_cache(text: &str, place: &BuildFolders) -> BTreeMap<String, String> {
    let lines = text.lines().map(str::trim_end);
    let lines = lines.filter(|line| !line.starts_with(['#', '/']));
    lines.filter_map(|line| entry(line, place)).collect()
}

/// `NAME:TYPE=VALUE`; a name with a colon is in quotes.
fn entry(line: &str, place: &BuildFolders) -> Option<(String, String)> {
    let (name, rest) = match line.strip_prefix('"') {
        Some(quoted) => quoted.split_once("\":")?,
        None => line.split_once(':')?,
    };
    let (kind, value) = rest.split_once('=')?;
    let is_kept = match kind {
        // Results of a project's checks are INTERNAL too: `HAVE_AVX512:INTERNAL=1`.
        "INTERNAL" => !name.contains('-') && !OWN.iter().any(|start| name.starts_with(start)),
        "STATIC" => false,
        _ => true,
    };
    // CMake quotes a value that ends with a space.
    let bare = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\''));
    is_kept.then(|| (name.to_owned(), place.without(bare.unwrap_or(value))))
}

/// Prefixes of CMake's own names.
const OWN: [&str; 3] = ["CMAKE_", "_", "FIND_PACKAGE_MESSAGE_DETAILS_"];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn entries_are_read_without_what_cmake_only_remembers() {
        let commit = "1".repeat(40).parse().unwrap();
        let place = BuildFolders::new(Path::new("/s/src"), Path::new("/s/build"), &commit);
        let text = "# This is the CMakeCache file.\n\
                    //Flags used by the C compiler.\n\
                    CMAKE_C_FLAGS:STRING=-O2 -g\n\
                    \n\
                    //less exact\nENGINE_FAST:BOOL=ON\n\
                    EMPTY:STRING=\n\
                    PADDED:STRING=' x '\n\
                    ROOT:PATH=/s/src/deps\n\
                    \"odd:name\":UNINITIALIZED=a=b\n\
                    engine_BINARY_DIR:STATIC=/s/build\n\
                    CMAKE_C_FLAGS-ADVANCED:INTERNAL=1\n\
                    CMAKE_CACHEFILE_DIR:INTERNAL=/s/build\n\
                    _OPENMP:INTERNAL=1\n\
                    HAVE_AVX512:INTERNAL=1\n";
        let found = cmake_cache(text, &place);
        let expected = [
            ("CMAKE_C_FLAGS", "-O2 -g"),
            ("EMPTY", ""),
            ("ENGINE_FAST", "ON"),
            ("HAVE_AVX512", "1"),
            ("PADDED", " x "),
            ("ROOT", "{src}/deps"),
            ("odd:name", "a=b"),
        ];
        let found: Vec<_> = found.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(found, expected);
    }
}
