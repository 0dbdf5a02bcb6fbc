//! A program that the tree can build, and the commands that build it.

use std::collections::BTreeMap;

use super::tree::Origin;

/// A build system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum System {
    Cmake,
    Cargo,
    Make,
}

impl System {
    /// The NAME in `--set build.NAME`, which is also the name of its program.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Cmake => "cmake",
            Self::Cargo => "cargo",
            Self::Make => "make",
        }
    }

    /// Whether a file of this name and ending is one of its build files.
    pub(super) fn owns(self, name: &str, ending: &str) -> bool {
        match self {
            Self::Cmake => name == "CMakeLists.txt" || ending == "cmake",
            Self::Cargo => name == "Cargo.toml",
            Self::Make => ["Makefile", "makefile", "GNUmakefile"].contains(&name) || ending == "mk",
        }
    }

    /// The name of the build system in messages.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Cmake => "CMake",
            Self::Cargo => "Cargo",
            Self::Make => "make",
        }
    }
}

/// One program.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) name: String,
    /// Where the build declares it.
    pub(super) from: Origin,
    /// Its sources, as far as the build names them.
    pub(super) sources: Vec<String>,
    pub(super) recipe: Recipe,
}

/// The commands of oracle.toml that build one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recipe {
    pub(super) system: System,
    /// The command that configures the build, once for all programs.
    pub(super) configure: Option<String>,
    pub(super) build: String,
    /// The path of the built program.
    pub(super) path: String,
    /// Doubts about the recipe, as messages.
    pub(super) unsure: Vec<String>,
}

impl Recipe {
    /// The command that takes the build options.
    pub(super) fn main_command(&mut self) -> &mut String {
        self.configure.as_mut().unwrap_or(&mut self.build)
    }
}

/// What was read from the build files of one build system.
#[derive(Debug)]
pub(super) struct Build {
    pub(super) system: System,
    /// The main build file.
    pub(super) file: String,
    pub(super) programs: Vec<Program>,
    /// Test suites. The `path` of a suite's recipe is its whole command, not a path.
    pub(super) suites: Vec<Program>,
    /// How everything is built, for a program that the user names.
    pub(super) whole: Recipe,
    /// Options that choose a backend, with the place of their declaration.
    pub(super) options: Vec<(String, Origin)>,
    /// All options, with the place of their declaration.
    pub(super) switches: Vec<(String, Origin)>,
    /// Options that are off by default.
    pub(super) off: Vec<String>,
    /// Options to switch off.
    pub(super) offs: Vec<OptionToDisable>,
    /// Folders that are built only with an option that is off by default.
    pub(super) idle: Vec<OptionalFolder>,
    /// Renamed options that the build files mention, as pairs of old and new name.
    pub(super) renames: Vec<(String, String)>,
    /// The targets that programs are linked from.
    pub(super) parts: Parts,
}

/// The targets of a build, by name.
#[derive(Debug, Default)]
pub(super) struct Parts {
    /// The files of each target: its sources, and the file that declares it.
    pub(super) files: BTreeMap<String, Vec<String>>,
    /// The targets that each target links.
    pub(super) links: BTreeMap<String, Vec<String>>,
}

impl Parts {
    /// The files of a target and of all targets that it links, directly or through others.
    pub(super) fn of(&self, target: &str) -> Vec<String> {
        let mut targets = vec![target];
        let mut at = 0;
        while let Some(target) = targets.get(at) {
            for link in self.links.get(*target).into_iter().flatten() {
                if !targets.contains(&link.as_str()) {
                    targets.push(link);
                }
            }
            at += 1;
        }
        targets.iter().filter_map(|target| self.files.get(*target)).flatten().cloned().collect()
    }
}

/// An option that is on by default and requires a package that no measurement needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OptionToDisable {
    pub(super) option: String,
    pub(super) package: String,
    pub(super) from: Origin,
}

/// A folder that is not built by default, and the option that builds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OptionalFolder {
    pub(super) folder: String,
    pub(super) option: String,
}

impl Build {
    /// Whether the build declares an option of this name.
    pub(super) fn is_declared(&self, name: &str) -> bool {
        self.switches.iter().any(|(known, _)| known == name)
    }

    /// The name that this build uses for an option that it does not declare as `name`.
    pub(super) fn called(&self, name: &str) -> Option<String> {
        let mut names = vec![name.to_owned()];
        // All names that renames connect with `name`, directly or through others.
        let mut at = 0;
        while let Some(name) = names.get(at).cloned() {
            for (old, new) in &self.renames {
                let other =
                    [(old, new), (new, old)].into_iter().find(|(one, _)| is_same(one, &name));
                if let Some((_, other)) = other.filter(|(_, other)| !names.contains(other)) {
                    names.push(other.clone());
                }
            }
            at += 1;
        }
        // The nearest name first: `name` with another prefix, then the names of renames.
        names.iter().find_map(|name| {
            let declared = (self.is_declared(name)).then(|| name.clone());
            declared.or_else(|| self.with_other_prefix(name))
        })
    }

    fn with_other_prefix(&self, name: &str) -> Option<String> {
        let is_it = |known: &&str| is_same(known, name);
        let mut known: Vec<&str> = self.switches.iter().map(|(name, _)| name.as_str()).collect();
        known.dedup();
        let mut same = known.into_iter().filter(|name| is_it(name));
        let (Some(one), None) = (same.next(), same.next()) else { return None };
        Some(one.to_owned())
    }

    /// A build with only these fields set.
    pub(super) fn of(system: System, file: String, programs: Vec<Program>, whole: Recipe) -> Self {
        Self {
            system,
            file,
            programs,
            whole,
            suites: Vec::new(),
            options: Vec::new(),
            switches: Vec::new(),
            off: Vec::new(),
            offs: Vec::new(),
            idle: Vec::new(),
            renames: Vec::new(),
            parts: Parts::default(),
        }
    }
}

/// Whether two option names differ at most in the prefix before the first `_`.
fn is_same(one: &str, other: &str) -> bool {
    one == other || tail(one).is_some_and(|end| tail(other) == Some(end))
}

fn tail(option: &str) -> Option<&str> {
    option.split_once('_').map(|(_, tail)| tail)
}

/// A path below a placeholder, quoted as a word of a command: `{src}/a`, `'{src}/a b'`.
pub(super) fn below(placeholder: &str, path: &str) -> String {
    let path = path.replace('{', "{{").replace('}', "}}");
    if path.is_empty() { placeholder.to_owned() } else { quoted(&format!("{placeholder}/{path}")) }
}

/// The word, quoted if a shell would split or expand it.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./+:@%=,-{}".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_made_of_what_it_links() {
        let words = |all: &str| all.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let parts = Parts {
            files: [("a", "a.c"), ("b", "b.c b.txt"), ("c", "c.c"), ("d", "d.c")]
                .map(|(name, files)| (name.to_owned(), words(files)))
                .into(),
            links: [("a", "PRIVATE b"), ("b", "c"), ("c", "b")]
                .map(|(name, links)| (name.to_owned(), words(links)))
                .into(),
        };
        assert_eq!(parts.of("a"), ["a.c", "b.c", "b.txt", "c.c"]);
        assert!(parts.of("none").is_empty());
    }

    #[test]
    fn words_are_quoted_where_they_must_be() {
        assert_eq!(below("{src}", ""), "{src}");
        assert_eq!(below("{src}", "a-b/c"), "{src}/a-b/c");
        let odd = below("{src}", "a b/{x}");
        assert_eq!(shlex::split(&odd).unwrap(), ["{src}/a b/{{x}}"]);
    }
}
