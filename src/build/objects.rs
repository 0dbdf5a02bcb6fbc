//! Digests of the code in object files. They tell whether a changed source file compiles to the
//! same code as before.

use std::fs;
use std::path::Path;

use object::read::{Object, ObjectSection, ObjectSymbol, RelocationTarget};
use object::{File, SectionKind};
use sha2::{Digest, Sha256};

/// Largest built file to read, bytes.
pub(super) const LARGEST: u64 = 64 << 20;

/// The digest of the code and data that an object file brings into a program, in hexadecimal.
/// Debug information, notes and string constants are left out, because they may hold paths. `None`
/// if this is no object file, or if its code is only made when it is linked.
pub(super) fn code_digest(path: &Path) -> Option<String> {
    if fs::symlink_metadata(path).ok()?.len() > LARGEST {
        return None;
    }
    let bytes = fs::read(path).ok()?;
    let file = File::parse(bytes.as_slice()).ok()?;
    let mut digest = Sha256::new();
    let mut has_code = false;
    for section in file.sections() {
        let name = section.name().ok()?;
        if name.starts_with(".gnu.lto_") || name == ".llvmbc" {
            return None;
        }
        let is_used = matches!(
            section.kind(),
            SectionKind::Text
                | SectionKind::Data
                | SectionKind::ReadOnlyData
                | SectionKind::ReadOnlyDataWithRel
                | SectionKind::UninitializedData
                | SectionKind::Tls
                | SectionKind::UninitializedTls
        );
        if !is_used || name.starts_with(".note") || name == ".eh_frame" {
            continue;
        }
        has_code = true;
        part(&mut digest, name.as_bytes());
        digest.update(section.size().to_le_bytes());
        part(&mut digest, section.data().ok()?);
        for (at, relocation) in section.relocations() {
            let target = target(&file, relocation.target())?;
            digest.update(at.to_le_bytes());
            part(&mut digest, target.name.as_bytes());
            // An offset into string constants depends on the length of paths before it.
            let addend = if target.is_string { 0 } else { relocation.addend() };
            digest.update(addend.to_le_bytes());
            part(&mut digest, format!("{:?}", relocation.flags()).as_bytes());
        }
    }
    let all = u64::from_be_bytes(*digest.finalize().first_chunk::<8>()?);
    has_code.then(|| format!("{all:016x}"))
}

/// What a relocation points at.
struct Target<'f> {
    name: &'f str,
    /// Whether this is a section of string constants.
    is_string: bool,
}

fn target<'f>(file: &'f File<'_>, target: RelocationTarget) -> Option<Target<'f>> {
    let section = match target {
        RelocationTarget::Symbol(index) => {
            let symbol = file.symbol_by_index(index).ok()?;
            let name = symbol.name().ok()?;
            if !name.is_empty() && !name.starts_with(".L") {
                return Some(Target { name, is_string: false });
            }
            file.section_by_index(symbol.section_index()?).ok()?
        }
        RelocationTarget::Section(index) => file.section_by_index(index).ok()?,
        _ => return Some(Target { name: "", is_string: false }),
    };
    // Long strings may be in a section with another name than short ones.
    let is_string = section.kind() == SectionKind::ReadOnlyString;
    Some(Target { name: if is_string { "" } else { section.name().ok()? }, is_string })
}

/// Adds bytes with their length, so that neighbours do not run together.
fn part(digest: &mut Sha256, bytes: &[u8]) {
    digest.update(bytes.len().to_le_bytes());
    digest.update(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::{Invocation, tool};

    /// The digest of a source that is compiled in this folder.
    fn compiled(folder: &Path, source: &str, flags: &[&str]) -> Option<String> {
        fs::create_dir_all(folder).unwrap();
        let (input, output) = (folder.join("a.c"), folder.join("a.o"));
        fs::write(&input, source).unwrap();
        let compiler = Invocation::new("cc").args(["-c", "-O2", "-g"]).args(flags);
        let compiler = compiler.arg(&input).arg("-o").arg(&output).cwd(folder);
        assert!(tool(&compiler).unwrap().ended.is_success());
        code_digest(&output)
    }

    #[test]
    fn only_what_a_program_gets_counts() {
        let folder = tempfile::tempdir().unwrap();
        let source = "\
            const char *where(void) { return __FILE__; }\n\
            static int table[3] = { 1, 2, 3 };\n\
            int other(int);\n\
            int f(int x) { return other(table[x % 3]) + x * 2; }\n";
        let place = |name: &str| folder.path().join(name);
        let known = compiled(&place("a"), source, &[]).unwrap();
        assert_eq!(known.len(), 16);
        // In a folder with a longer name, with another comment.
        let commented = format!("{source}/* words */\n");
        assert_eq!(compiled(&place("longer/folder"), &commented, &[]), Some(known.clone()));
        for (old, new) in [("x * 2", "x * 3"), ("{ 1, 2, 3 }", "{ 1, 2, 4 }"), ("other", "another")]
        {
            let changed = source.replace(old, new);
            assert_ne!(compiled(&place("a"), &changed, &[]), Some(known.clone()), "{new}");
        }
        assert_ne!(compiled(&place("a"), source, &["-O0"]), Some(known));
        assert_eq!(compiled(&place("a"), source, &["-flto", "-fno-fat-lto-objects"]), None);
        assert_eq!(code_digest(&place("a").join("a.c")), None);
    }
}
