//! How a build was configured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::ReadFiles;

/// A build's configuration, read from its files after the build. `{src}`, `{build}` and
/// `{commit}` replace the slot's paths and the commit's name, so that builds can be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Setup {
    /// Entries of each `CMakeCache.txt`, by its path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub caches: BTreeMap<String, BTreeMap<String, String>>,
    /// The compiler command of each file, by its path.
    #[serde(default, skip_serializing_if = "Compiled::is_empty")]
    pub files: Compiled,
    /// The compiler command of each target, if the commands of single files are unknown.
    #[serde(default, skip_serializing_if = "Compiled::is_empty")]
    pub targets: Compiled,
    /// Digests of the code in object files, by their paths.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub objects: BTreeMap<String, String>,
    /// Package versions, by the file or folder that states them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub packages: BTreeMap<String, BTreeMap<String, String>>,
    /// The output of the environment probes, if they ran again for this build.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub probes: BTreeMap<String, String>,
    /// The files that the build read; `None` if it compiled nothing, failed, or was incremental.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<ReadFiles>,
}

/// The compiled files or targets and their commands. Each distinct command is stored once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Compiled {
    /// The commands, compiler first, without words that name a single file. Of repeated words only
    /// the last is kept, since compilers use the last.
    pub commands: Vec<Vec<String>>,
    /// Name of the file or target → index in `commands`.
    pub by: BTreeMap<String, usize>,
}

impl Setup {
    /// Whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Compiled {
    /// Whether no compiled file or target is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.by.is_empty()
    }

    /// Adds a file or target. If it is compiled several times, the words of all its commands are
    /// merged.
    pub(crate) fn add(&mut self, name: &str, words: Vec<String>) {
        let known = self.by.get(name).map(|&place| self.commands[place].clone());
        let mut all: Vec<String> = Vec::new();
        for word in known.unwrap_or_default().into_iter().chain(words) {
            all.retain(|before| *before != word);
            all.push(word);
        }
        let place = self.commands.iter().position(|command| *command == all);
        let place = place.unwrap_or_else(|| {
            self.commands.push(all);
            self.commands.len() - 1
        });
        self.by.insert(name.to_owned(), place);
    }

    /// The command of a file or target.
    #[cfg(test)]
    pub(crate) fn command(&self, name: &str) -> Option<&[String]> {
        self.commands.get(*self.by.get(name)?).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_command_that_many_share_stands_once() {
        let mut compiled = Compiled::default();
        compiled.add("a.c", words("cc -O2 -g -O3 -O2"));
        compiled.add("b.c", words("cc -g -O3 -O2"));
        compiled.add("c.c", words("cc"));
        assert_eq!(compiled.commands, [words("cc -g -O3 -O2"), words("cc")]);
        compiled.add("c.c", words("cc -fPIC"));
        assert_eq!(compiled.command("c.c"), Some(words("cc -fPIC").as_slice()));
        let text = serde_json::to_string(&compiled).unwrap();
        assert_eq!(serde_json::from_str::<Compiled>(&text).unwrap(), compiled);
    }

    #[test]
    fn an_empty_setup_is_written_as_an_empty_object() {
        assert_eq!(serde_json::to_string(&Setup::default()).unwrap(), "{}");
        assert!(serde_json::from_str::<Setup>("{}").unwrap().is_empty());
    }
}
