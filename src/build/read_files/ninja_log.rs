//! Reads ninja's log of dependencies, `.ninja_deps`. Ninja moves the rules that compilers write into
//! this log and removes the files. The log is read here: `ninja -t deps` would need the same ninja,
//! and the build's environment.
//!
//! Source: the comment in ninja's `src/deps_log.h`, versions 3 and 4 of the format.

use super::make_rules::Rule;

const SIGNATURE: &[u8] = b"# ninjadeps\n";

/// A record is at most this long, bytes; ninja stops reading at a longer one too.
const LONGEST: usize = (1 << 19) - 1;

/// The newest record of each output. `None` if this is no such log, or if it is damaged.
pub(super) fn rules(bytes: &[u8]) -> Option<Vec<Rule>> {
    let mut rest = bytes.strip_prefix(SIGNATURE)?;
    let mtime = match take(&mut rest)? {
        3 => 4,
        4 => 8,
        _ => return None,
    };
    let mut paths: Vec<String> = Vec::new();
    let mut needs: Vec<Option<Vec<usize>>> = Vec::new();
    while !rest.is_empty() {
        let head = take(&mut rest)?;
        let size = usize::try_from(head & 0x7fff_ffff).ok()?;
        let (mut record, after) = rest.split_at_checked(size)?;
        rest = after;
        if size > LONGEST {
            return None;
        }
        if head >> 31 == 0 {
            let (path, checksum) = record.split_at_checked(size.checked_sub(4)?)?;
            if !u32::from_le_bytes(checksum.try_into().ok()?) != u32::try_from(paths.len()).ok()? {
                return None;
            }
            // Up to three zeros fill the path to a multiple of four.
            let end = path.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            paths.push(String::from_utf8(path[..end].to_owned()).ok()?);
            needs.push(None);
        } else {
            let output = usize::try_from(take(&mut record)?).ok()?;
            record = record.get(mtime..)?;
            let mut of = Vec::new();
            while !record.is_empty() {
                of.push(usize::try_from(take(&mut record)?).ok()?);
            }
            *needs.get_mut(output)? = Some(of);
        }
    }
    let path = |id: usize| paths.get(id).cloned();
    let rules = needs.iter().enumerate().filter_map(|(output, of)| Some((output, of.as_ref()?)));
    let rule = |(output, of): (usize, &Vec<usize>)| {
        let needs = of.iter().map(|id| path(*id)).collect::<Option<Vec<_>>>()?;
        Some(Rule { targets: vec![path(output)?], needs })
    };
    rules.map(rule).collect()
}

/// Takes the next number.
fn take(rest: &mut &[u8]) -> Option<u32> {
    let (number, after) = rest.split_first_chunk::<4>()?;
    *rest = after;
    Some(u32::from_le_bytes(*number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(id: u32, path: &str) -> Vec<u8> {
        let mut bytes = path.as_bytes().to_vec();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let size = u32::try_from(bytes.len() + 4).unwrap();
        [&size.to_le_bytes(), bytes.as_slice(), &(!id).to_le_bytes()].concat()
    }

    fn deps(output: u32, needs: &[u32]) -> Vec<u8> {
        let size = u32::try_from(12 + 4 * needs.len()).unwrap() | 1 << 31;
        let ids: Vec<u8> = needs.iter().flat_map(|id| id.to_le_bytes()).collect();
        [&size.to_le_bytes(), output.to_le_bytes().as_slice(), &[7; 8], &ids].concat()
    }

    fn log(records: &[Vec<u8>]) -> Vec<u8> {
        [SIGNATURE, &4_u32.to_le_bytes(), &records.concat()].concat()
    }

    #[test]
    fn the_newest_record_of_an_output_counts() {
        let paths = [path(0, "a.o"), path(1, "a.c"), path(2, "table.h")];
        let whole = log(&[paths.concat(), deps(0, &[1, 2]), deps(0, &[1])]);
        let of = |needs: &[&str]| Rule {
            targets: vec!["a.o".to_owned()],
            needs: needs.iter().map(|need| (*need).to_owned()).collect(),
        };
        assert_eq!(rules(&whole), Some(vec![of(&["a.c"])]));
        let before = &whole[..whole.len() - deps(0, &[1]).len()];
        assert_eq!(rules(before), Some(vec![of(&["a.c", "table.h"])]));
    }

    #[test]
    fn a_damaged_log_says_nothing() {
        let whole = log(&[path(0, "a.o"), path(1, "a.c"), deps(0, &[1])]);
        for length in 0..whole.len() {
            // A log that ends between two records is one that ninja could have left.
            let known = rules(&whole[..length]);
            assert!(known.is_none_or(|rules| rules.is_empty()), "{length}");
        }
        assert_eq!(rules(&log(&[path(1, "a.o")])), None, "another checksum");
        assert_eq!(rules(&log(&[path(0, "a.o"), deps(0, &[5])])), None, "no such path");
        assert_eq!(rules(&[SIGNATURE, &9_u32.to_le_bytes()].concat()), None);
    }
}
