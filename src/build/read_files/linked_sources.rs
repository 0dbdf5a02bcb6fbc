//! Reads from which source files a program or a shared library was linked. A compiler that compiles
//! and links in one step leaves neither an object file nor a dependency record.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use object::read::{Object, ObjectSymbol};
use object::{SymbolKind, elf};

/// Largest program to read, bytes.
const LARGEST: u64 = 512 << 20;

/// The names without folders of the source files of an ELF file, from its symbols of the kind
/// `STT_FILE`; empty if it was stripped. `None` if this is no ELF file. A file that is too large
/// counts as stripped.
pub(super) fn linked_sources(path: &Path) -> Option<BTreeSet<String>> {
    let mut file = File::open(path).ok()?;
    let mut magic = [0; 4];
    file.read_exact(&mut magic).ok()?;
    if magic != elf::ELFMAG {
        return None;
    }
    let mut names = BTreeSet::new();
    if file.metadata().ok()?.len() > LARGEST {
        return Some(names);
    }
    let bytes = std::fs::read(path).ok()?;
    let Ok(parsed) = object::File::parse(bytes.as_slice()) else { return Some(names) };
    for symbol in parsed.symbols().filter(|symbol| symbol.kind() == SymbolKind::File) {
        let Ok(name) = symbol.name() else { continue };
        let name = name.rsplit('/').next().unwrap_or(name);
        names.insert(of_kernels(name).unwrap_or_else(|| name.to_owned()));
    }
    Some(names)
}

/// Nvcc compiles the host part of `k.cu` as `tmpxft_0000_0000-6_k.cudafe1.cpp`.
fn of_kernels(name: &str) -> Option<String> {
    let (_, rest) = name.strip_prefix("tmpxft_")?.split_once('-')?;
    let (_, rest) = rest.split_once('_')?;
    Some(format!("{}.cu", rest.strip_suffix(".cudafe1.cpp")?))
}

#[cfg(test)]
mod tests;
