//! What else is not the same in a commit's build and in its parent's, besides the source as such.

use std::collections::HashSet;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Where something can differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DifferenceIn {
    /// A constant with a name, as the source gives it a value.
    Constant,
    /// A word of a compiler's command.
    Flag,
    /// An entry of a `CMakeCache.txt`.
    CmakeCache,
    /// The version of a package that was resolved or installed.
    Package,
    /// What a probe of the environment said when the commit was built.
    Probe,
    /// Whether a file is compiled at all.
    CompiledFile,
}

impl DifferenceIn {
    /// What one of that kind is called.
    pub fn label(self) -> &'static str {
        match self {
            Self::Constant => "Constant",
            Self::Flag => "Compiler flag",
            Self::CmakeCache => "CMake cache",
            Self::Package => "Package",
            Self::Probe => "Probe",
            Self::CompiledFile => "Compiled file",
        }
    }

    /// What all of that kind is called.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Constant => "named constants of the change",
            Self::Flag => "compiler flags",
            Self::CmakeCache => "CMake's cache",
            Self::Package => "resolved packages",
            Self::Probe => "what the probes said",
            Self::CompiledFile => "the files that are compiled",
        }
    }
}

/// One thing that differs. A flag has no name: it is what it is before and what it is now.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Difference {
    /// In what.
    #[serde(rename = "in")]
    pub kind: DifferenceIn,
    /// Its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The file that says so, as it is called now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// What it was; `None` where there was none.
    pub before: Option<String>,
    /// What it is; `None` where there is none any more.
    pub now: Option<String>,
    /// In how many files, and of how many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
}

/// Of how many compiled things something is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Spread {
    /// So many.
    pub count: usize,
    /// Of so many that both builds compiled.
    pub of: usize,
    /// Files, or targets with all their files.
    pub unit: Unit,
}

/// What flags are known of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Each compiled file.
    #[default]
    File,
    /// Each target of CMake's, all its files of one language together.
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
    /// Something with a name.
    pub fn named(kind: DifferenceIn, name: &str, sides: [Option<&str>; 2]) -> Self {
        let [before, now] = sides.map(|side| side.map(str::to_owned));
        Self { kind, name: Some(name.to_owned()), place: None, before, now, spread: None }
    }

    /// As the file there says.
    #[must_use]
    pub fn in_place(self, place: &str) -> Self {
        Self { place: Some(place.to_owned()), ..self }
    }

    /// Whether both sides have it.
    pub fn is_change(&self) -> bool {
        self.before.is_some() && self.now.is_some()
    }

    /// `384 → 128`, `ON (only now)`, `ON (no longer)`.
    pub fn sides(&self) -> String {
        match (&self.before, &self.now) {
            (Some(before), Some(now)) => format!("{} → {}", shown(before), shown(now)),
            (None, Some(now)) => format!("{} (only now)", shown(now)),
            (Some(before), None) => format!("{} (no longer)", shown(before)),
            (None, None) => String::new(),
        }
    }

    /// In how many files or targets, in words.
    pub fn spread_in_words(&self) -> Option<String> {
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
        if let Some(name) = &self.name {
            write!(f, "{name}: ")?;
        }
        f.write_str(&self.sides())?;
        if let Some(place) = &self.place {
            write!(f, " in {place}")?;
        }
        match self.spread_in_words() {
            Some(spread) => write!(f, " {spread}"),
            None => Ok(()),
        }
    }
}

/// All that differs between a commit and its parent besides, as far as it was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Differences {
    /// What does, the most telling first.
    pub found: Vec<Difference>,
    /// How many more do than are listed.
    #[serde(default)]
    pub more: usize,
    /// What could be compared, since it is known of both.
    pub compared: Vec<DifferenceIn>,
}

/// So many are listed.
const MOST: usize = 500;

impl Differences {
    /// What was looked at, and what came of it.
    pub fn new(mut found: Vec<Difference>, mut compared: Vec<DifferenceIn>) -> Self {
        found.sort_by_key(rank);
        // A header that gives a name its value in several `#if`s says the same several times.
        let mut seen = HashSet::new();
        found.retain(|one| seen.insert(one.clone()));
        let more = found.len().saturating_sub(MOST);
        found.truncate(MOST);
        compared.sort_unstable();
        compared.dedup();
        Self { found, more, compared }
    }

    /// How many differ.
    pub fn count(&self) -> usize {
        self.found.len() + self.more
    }
}

/// What changed tells more than what came or went, a value more than a bare name, and what can
/// change a result more than where headers are looked for and what is warned of.
fn rank(one: &Difference) -> (bool, bool, DifferenceIn, bool) {
    let came_or_went = !one.is_change() && one.kind != DifferenceIn::Flag;
    let is_bare =
        came_or_went && [&one.before, &one.now].into_iter().flatten().all(String::is_empty);
    (!can_matter(one), came_or_went, one.kind, is_bare)
}

fn can_matter(one: &Difference) -> bool {
    let is_aside = |flag: &String| {
        let aside = ["-I", "-isystem", "-iquote", "-L", "-W", "-w", "-fdiagnostics", "-g"];
        aside.iter().any(|start| flag.starts_with(start)) && !passes_on(flag)
    };
    let sides = [&one.before, &one.now];
    match one.kind {
        DifferenceIn::Flag => sides.into_iter().flatten().any(|flag| !is_aside(flag)),
        DifferenceIn::CompiledFile => false,
        _ => true,
    }
}

/// `-Wl,`, `-Wa,`, `-Wp,` hand what follows to another program, and so does `-gencode` in effect.
fn passes_on(flag: &str) -> bool {
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
    }

    #[test]
    fn what_can_matter_comes_first() {
        let warns = flag(None, Some("-Wall"));
        let came = constant([None, Some("1")]);
        let [block, fast] = [constant([Some("2"), Some("1")]), flag(None, Some("-ffast-math"))];
        let arch = flag(None, Some("-gencode arch=compute_90,code=sm_90"));
        let mixed = vec![warns.clone(), came.clone(), arch.clone(), fast.clone(), block.clone()];
        let told = Differences::new(mixed, vec![DifferenceIn::Flag, DifferenceIn::Flag]);
        assert_eq!(told.found, [block, arch, fast, came.clone(), warns]);
        assert_eq!((told.count(), told.compared.as_slice()), (5, [DifferenceIn::Flag].as_slice()));
        // Repeats are told once, bare names last.
        let bare = constant([None, Some("")]);
        let told = Differences::new(vec![bare.clone(), came.clone(), bare.clone()], Vec::new());
        assert_eq!(told.found, [came, bare]);
        let many = (0..MOST + 3).map(|n| constant([None, Some(&n.to_string())])).collect();
        let many = Differences::new(many, Vec::new());
        assert_eq!((many.found.len(), many.more, many.count()), (MOST, 3, MOST + 3));
    }
}
