//! Differences between a commit's build and its parent's build, apart from the source itself.

use std::collections::HashSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The kind of a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DifferenceIn {
    /// A named constant and its value in the source.
    Constant,
    /// One word of a compiler's command line.
    Flag,
    /// An entry of a `CMakeCache.txt`.
    CmakeCache,
    /// The version of a resolved or installed package.
    Package,
    /// The output of an environment probe when the commit was built.
    Probe,
    /// Whether a file is compiled at all.
    CompiledFile,
}

impl DifferenceIn {
    /// The name of this kind.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Constant => "Constant",
            Self::Flag => "Compiler flag",
            Self::CmakeCache => "CMake cache",
            Self::Package => "Package",
            Self::Probe => "Probe",
            Self::CompiledFile => "Compiled file",
        }
    }

    /// The plural name of this kind, for sentences.
    pub(crate) fn plural(self) -> &'static str {
        match self {
            Self::Constant => "named constants of the change",
            Self::Flag => "compiler flags",
            Self::CmakeCache => "CMake's cache",
            Self::Package => "resolved packages",
            Self::Probe => "output of the probes",
            Self::CompiledFile => "compiled files",
        }
    }
}

/// One difference. A flag has no name, only `before` and `now`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Difference {
    /// The kind.
    #[serde(rename = "in")]
    pub kind: DifferenceIn,
    /// The name: of the constant, cache entry, package, probe or file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The file with this value, by its path after the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The value in the parent; `None` if absent there.
    pub before: Option<String>,
    /// The value in the commit; `None` if absent there.
    pub now: Option<String>,
    /// How many compiled files or targets have the difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
}

/// The number of compiled files or targets in which a flag differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Spread {
    /// How many differ.
    pub count: usize,
    /// How many both builds compiled.
    pub of: usize,
    /// What is counted: files or targets.
    pub unit: Unit,
}

/// The unit for which compiler flags are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Unit {
    /// Each compiled file.
    #[default]
    File,
    /// Each CMake target, with all its files of one language together.
    Target,
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "file",
            Self::Target => "target",
        })
    }
}

impl Difference {
    /// A difference of a named thing; `sides`: before, now.
    pub(crate) fn named(kind: DifferenceIn, name: &str, sides: [Option<&str>; 2]) -> Self {
        let [before, now] = sides.map(|side| side.map(str::to_owned));
        Self { kind, name: Some(name.to_owned()), place: None, before, now, spread: None }
    }

    /// Sets the file that holds the value.
    #[must_use]
    pub(crate) fn in_place(self, place: &str) -> Self {
        Self { place: Some(place.to_owned()), ..self }
    }

    /// Whether both the parent and the commit have a value.
    pub(crate) fn is_change(&self) -> bool {
        self.before.is_some() && self.now.is_some()
    }

    /// The label of this difference: `Newly compiled` or the like, else its kind.
    pub(crate) fn label(&self) -> &'static str {
        match (self.kind, &self.before, &self.now) {
            (DifferenceIn::CompiledFile, None, _) => "Newly compiled",
            (DifferenceIn::CompiledFile, _, None) => "No longer compiled",
            _ => self.kind.label(),
        }
    }

    /// `384 → 128`, `ON (only now)`, `ON (no longer)`.
    pub(crate) fn sides(&self) -> String {
        match (&self.before, &self.now) {
            (Some(before), Some(now)) => format!("{} → {}", shown(before), shown(now)),
            (None, Some(now)) => format!("{} (only now)", shown(now)),
            (Some(before), None) => format!("{} (no longer)", shown(before)),
            (None, None) => String::new(),
        }
    }

    /// The number of files or targets, in words.
    pub(crate) fn spread_in_words(&self) -> Option<String> {
        let Spread { count, of, unit } = self.spread?;
        let s = if of == 1 { "" } else { "s" };
        Some(format!("in {count} of {of} {unit}{s}"))
    }
}

fn shown(value: &str) -> &str {
    if value.is_empty() { "(empty)" } else { value }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.name, self.kind) {
            // The label contains the rest.
            (Some(name), DifferenceIn::CompiledFile) => f.write_str(name)?,
            (Some(name), _) => write!(f, "{name}: {}", self.sides())?,
            (None, _) => f.write_str(&self.sides())?,
        }
        if let Some(place) = &self.place {
            write!(f, " in {place}")?;
        }
        match self.spread_in_words() {
            Some(spread) => write!(f, " {spread}"),
            None => Ok(()),
        }
    }
}

/// All known differences between a commit's build and its parent's build.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Differences {
    /// The differences, the most relevant first.
    pub found: Vec<Difference>,
    /// How many differences are left out of `found`.
    #[serde(default)]
    pub more: usize,
    /// The kinds that are known for both builds, and so were compared.
    pub compared: Vec<DifferenceIn>,
}

/// Maximum number of differences in `found`.
const MOST: usize = 500;

impl Differences {
    /// Sorts `found`, removes duplicates, and cuts it at `MOST`.
    pub(crate) fn new(mut found: Vec<Difference>, mut compared: Vec<DifferenceIn>) -> Self {
        found.sort_by_key(rank);
        // A header that defines a name in several `#if` branches gives duplicates.
        let mut seen = HashSet::new();
        found.retain(|one| seen.insert(one.clone()));
        let more = found.len().saturating_sub(MOST);
        found.truncate(MOST);
        compared.sort_unstable();
        compared.dedup();
        Self { found, more, compared }
    }

    /// How many differences there are.
    pub(crate) fn count(&self) -> usize {
        self.found.len() + self.more
    }
}

/// Sort key, the most relevant first. Differences that cannot change a result come last, such as
/// header paths and warning flags. Changed values come before values that appear or disappear.
/// Within a kind, names without a value come last.
fn rank(one: &Difference) -> (bool, bool, u8, bool) {
    let has_sides = !matches!(one.kind, DifferenceIn::Flag | DifferenceIn::CompiledFile);
    let came_or_went = has_sides && !one.is_change();
    let is_bare =
        came_or_went && [&one.before, &one.now].into_iter().flatten().all(String::is_empty);
    (!can_matter(one), came_or_went, position(one.kind), is_bare)
}

/// The position of a kind. The kinds that the build surely used come first; a constant may be in a
/// file that the measured program does not contain.
fn position(kind: DifferenceIn) -> u8 {
    match kind {
        DifferenceIn::CompiledFile => 0,
        DifferenceIn::Flag => 1,
        DifferenceIn::Constant => 2,
        DifferenceIn::CmakeCache => 3,
        DifferenceIn::Package => 4,
        DifferenceIn::Probe => 5,
    }
}

fn can_matter(one: &Difference) -> bool {
    let is_harmless = |flag: &String| {
        let harmless = ["-I", "-isystem", "-iquote", "-L", "-W", "-w", "-fdiagnostics", "-g"];
        harmless.iter().any(|start| flag.starts_with(start)) && !is_exception(flag)
    };
    let sides = [&one.before, &one.now];
    match one.kind {
        DifferenceIn::Flag => sides.into_iter().flatten().any(|flag| !is_harmless(flag)),
        _ => true,
    }
}

/// Whether a flag can change a result although it begins like a harmless one. `-Wl,`, `-Wa,` and
/// `-Wp,` pass options to another program; `-gencode` selects the code for a GPU.
fn is_exception(flag: &str) -> bool {
    ["-Wl,", "-Wa,", "-Wp,", "-gencode"].iter().any(|start| flag.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flag(before: Option<&str>, now: Option<&str>) -> Difference {
        let [before, now] = [before, now].map(|side| side.map(str::to_owned));
        let spread = Some(Spread { count: 14, of: 231, unit: Unit::File });
        Difference { kind: DifferenceIn::Flag, name: None, place: None, before, now, spread }
    }

    fn constant(sides: [Option<&str>; 2]) -> Difference {
        Difference::named(DifferenceIn::Constant, "BLOCK", sides).in_place("kernels/attn.cu")
    }

    #[test]
    fn each_is_said_in_a_few_words() {
        let words = constant([Some("384"), Some("128")]).to_string();
        assert_eq!(words, "BLOCK: 384 → 128 in kernels/attn.cu");
        assert_eq!(flag(Some("-O3"), Some("-O2")).to_string(), "-O3 → -O2 in 14 of 231 files");
        let only = flag(None, Some("-ffast-math")).to_string();
        assert_eq!(only, "-ffast-math (only now) in 14 of 231 files");
        let empty = Difference::named(DifferenceIn::CmakeCache, "FLAGS", [Some(""), Some("-g")]);
        assert_eq!(empty.to_string(), "FLAGS: (empty) → -g");
        assert_eq!(constant([Some("1"), None]).sides(), "1 (no longer)");
        assert_eq!(constant([Some("1"), None]).label(), "Constant");
        let file = |sides| Difference::named(DifferenceIn::CompiledFile, "src/packed.c", sides);
        let new = file([None, Some("compiled")]);
        assert_eq!((new.label(), new.to_string().as_str()), ("Newly compiled", "src/packed.c"));
        assert_eq!(file([Some("compiled"), None]).label(), "No longer compiled");
    }

    #[test]
    fn what_can_matter_comes_first() {
        let warns = flag(None, Some("-Wall"));
        let came = constant([None, Some("1")]);
        let [block, fast] = [constant([Some("2"), Some("1")]), flag(None, Some("-ffast-math"))];
        let arch = flag(None, Some("-gencode arch=compute_90,code=sm_90"));
        let file = Difference::named(DifferenceIn::CompiledFile, "a.c", [None, Some("compiled")]);
        let mixed = [&warns, &came, &arch, &fast, &block, &file].map(Difference::clone);
        let told = Differences::new(mixed.to_vec(), vec![DifferenceIn::Flag, DifferenceIn::Flag]);
        assert_eq!(told.found, [file, arch, fast, block, came.clone(), warns]);
        assert_eq!((told.count(), told.compared.as_slice()), (6, [DifferenceIn::Flag].as_slice()));
        // Duplicates appear once, bare names last.
        let bare = constant([None, Some("")]);
        let told = Differences::new(vec![bare.clone(), came.clone(), bare.clone()], Vec::new());
        assert_eq!(told.found, [came, bare]);
        let many = (0..MOST + 3).map(|n| constant([None, Some(&n.to_string())])).collect();
        let many = Differences::new(many, Vec::new());
        assert_eq!((many.found.len(), many.more, many.count()), (MOST, 3, MOST + 3));
    }
}
