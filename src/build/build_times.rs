//! Whether two built files differ only in the time of their build, which `__DATE__`, `__TIME__` or
//! `date` put into programs.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use object::File;
use object::read::{Object, ObjectSection};
use regex::bytes::Regex;

use super::objects::LARGEST;

/// Times and dates as compilers and `date` write them, and seconds since 1970.
const TIMES: &str = r"(?x-u)
    \d\d:\d\d:\d\d
    | (?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),?\x20)?
      (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\x20[\x20\d]\d(?:\x20\d{4})?
    | \d{4}-\d\d-\d\d
    | \b1\d{9}\b";

/// Whether two files have the same content, but for times in texts. Of a program, its sections
/// count, without notes: the linker's build id depends on all the rest. False for files that cannot
/// be read or are very large.
pub(crate) fn differ_only_in_times(one: &Path, other: &Path) -> bool {
    let one = without_times(one);
    one.is_some() && one == without_times(other)
}

/// The parts of a file, without times.
fn without_times(path: &Path) -> Option<Vec<Vec<u8>>> {
    static KNOWN: LazyLock<Regex> = LazyLock::new(|| Regex::new(TIMES).expect("a valid pattern"));
    let about = fs::symlink_metadata(path).ok()?;
    if !about.is_file() || about.len() > LARGEST {
        return None;
    }
    let bytes = fs::read(path).ok()?;
    let without = |bytes: &[u8]| KNOWN.replace_all(bytes, &b""[..]).into_owned();
    let Ok(program) = File::parse(bytes.as_slice()) else { return Some(vec![without(&bytes)]) };
    let mut parts = Vec::new();
    for section in program.sections() {
        let name = section.name().ok()?;
        // A debug link has a checksum of another file, which contains the times too.
        if name.starts_with(".note") || name == ".gnu_debuglink" {
            continue;
        }
        let place = format!("{name} {} {}", section.address(), section.size());
        parts.extend([place.into_bytes(), without(section.data().ok()?)]);
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{Invocation, tool};

    #[test]
    fn a_program_is_the_same_at_another_time_and_not_with_another_text() {
        let folder = tempfile::tempdir().unwrap();
        let compiled = |name: &str, built: &str, value: &str| {
            let (source, program) = (folder.path().join("a.c"), folder.path().join(name));
            let text = format!(
                "#include <stdio.h>\nint main(void) {{ printf(\"built %s, %s\\n\", \"{built}\", \
                 \"{value}\"); return 0; }}\n"
            );
            fs::write(&source, text).unwrap();
            let compiler = Invocation::new("cc").arg("-O2").arg(&source).arg("-o").arg(&program);
            assert!(tool(&compiler.cwd(folder.path())).unwrap().ended.is_success());
            program
        };
        let first = compiled("first", "Nov 26 2026 11:18:30", "7.0");
        let later = compiled("later", "Nov 27 2026 09:05:02", "7.0");
        let other = compiled("other", "Nov 26 2026 11:18:30", "7.5");
        assert!(differ_only_in_times(&first, &later) && differ_only_in_times(&first, &first));
        assert!(!differ_only_in_times(&first, &other));
        assert!(!differ_only_in_times(&first, &folder.path().join("none")));
    }

    #[test]
    fn times_in_texts_are_known_in_their_usual_forms() {
        let folder = tempfile::tempdir().unwrap();
        let same = |one: &str, other: &str| {
            let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
            fs::write(&a, one).unwrap();
            fs::write(&b, other).unwrap();
            differ_only_in_times(&a, &b)
        };
        assert!(same("at Thu Nov 26 11:18:30 UTC 2026", "at Fri Nov 27 01:02:03 UTC 2026"));
        assert!(same("built=2026-11-26T11:18:30Z", "built=2026-11-27T01:02:03Z"));
        assert!(same("{\"built\": 1795691910}", "{\"built\": 1795691977}"));
        assert!(!same("scale = 7.0", "scale = 7.5"));
        assert!(!same("n = 11795691910", "n = 11795691977"));
        assert!(!same("11:18:30 a", "11:18:30 b"));
    }
}
