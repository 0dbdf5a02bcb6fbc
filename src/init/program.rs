//! A program that the tree can build, and the commands that build it.

use super::tree::Origin;

/// What builds a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum System {
    Cmake,
    Cargo,
    Make,
}

impl System {
    /// Its name in `build.NAME` of `--set`, which is its program's too.
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

    /// For people.
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
    /// What comes before, once for all programs.
    pub(super) configure: Option<String>,
    pub(super) build: String,
    /// Where the program then lies.
    pub(super) path: String,
    /// What is not certain about it.
    pub(super) unsure: Vec<String>,
}

impl Recipe {
    /// The command that options of the build belong to.
    pub(super) fn main_command(&mut self) -> &mut String {
        self.configure.as_mut().unwrap_or(&mut self.build)
    }
}

/// Build files that were read: what they make, and what else is worth saying of them.
#[derive(Debug)]
pub(super) struct Build {
    pub(super) system: System,
    /// The file that it begins with.
    pub(super) file: String,
    pub(super) programs: Vec<Program>,
    /// What checks them: the path of such a program's recipe is the whole command.
    pub(super) suites: Vec<Program>,
    /// How everything is built, for a program that the user names.
    pub(super) whole: Recipe,
    /// Options that choose a backend, with where they are declared.
    pub(super) options: Vec<(String, Origin)>,
    /// All options, in the same manner.
    pub(super) switches: Vec<(String, Origin)>,
    /// Those that are off by themselves.
    pub(super) off: Vec<String>,
    /// Options to be off.
    pub(super) offs: Vec<Off>,
    /// Folders of the tree that are built only where an option is on that is off.
    pub(super) idle: Vec<Idle>,
    /// Options of two names, as the build itself says.
    pub(super) renames: Vec<(String, String)>,
}

/// An option that is on, and that asks for a package which no figure depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Off {
    pub(super) option: String,
    pub(super) package: String,
    pub(super) from: Origin,
}

/// A folder that is not built, and the option that would have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Idle {
    pub(super) folder: String,
    pub(super) option: String,
}

impl Build {
    /// Whether it has an option of this name.
    pub(super) fn is_declared(&self, name: &str) -> bool {
        self.switches.iter().any(|(known, _)| known == name)
    }

    /// What an option that it does not have by this name is called in it.
    pub(super) fn called(&self, name: &str) -> Option<String> {
        let mut names = vec![name.to_owned()];
        // Those that stand for it, and those that stand for these.
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
        // The nearest name first: its own with another prefix, then what it was renamed to.
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

    /// A build with nothing but these said of it.
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
        }
    }
}

/// Whether two options are one but for what stands before the first `_`.
fn is_same(one: &str, other: &str) -> bool {
    one == other || tail(one).is_some_and(|end| tail(other) == Some(end))
}

fn tail(option: &str) -> Option<&str> {
    option.split_once('_').map(|(_, tail)| tail)
}

/// A path below a placeholder, as a word of a command: `{src}/a`, `'{src}/a b'`.
pub(super) fn below(placeholder: &str, path: &str) -> String {
    let path = path.replace('{', "{{").replace('}', "}}");
    if path.is_empty() { placeholder.to_owned() } else { quoted(&format!("{placeholder}/{path}")) }
}

/// Quoted where a shell would split it or read something into it.
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
    fn words_are_quoted_where_they_must_be() {
        assert_eq!(below("{src}", ""), "{src}");
        assert_eq!(below("{src}", "a-b/c"), "{src}/a-b/c");
        let odd = below("{src}", "a b/{x}");
        assert_eq!(shlex::split(&odd).unwrap(), ["{src}/a b/{{x}}"]);
    }
}
