//! What a build was configured with.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What lay in source and build when a build had ended. Paths of the slot are `{src}` and
/// `{build}`, and the commit's own name is `{commit}`, so that two builds can be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// Entries of each `CMakeCache.txt`, by its path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub caches: BTreeMap<String, BTreeMap<String, String>>,
    /// How each file was compiled, by its path.
    #[serde(default, skip_serializing_if = "Compiled::is_empty")]
    pub files: Compiled,
    /// How the files of a target were compiled, where it is not known of each file.
    #[serde(default, skip_serializing_if = "Compiled::is_empty")]
    pub targets: Compiled,
    /// Versions of packages, by the file or folder that tells them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub packages: BTreeMap<String, BTreeMap<String, String>>,
    /// What the probes of the environment said, where they were asked anew.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub probes: BTreeMap<String, String>,
}

/// What was compiled, each with the words of its command; commands that many share stand once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compiled {
    /// The commands, compiler first, without what names the one file. Of words that stand in it
    /// twice the last is kept, since that is the one that holds.
    pub commands: Vec<Vec<String>>,
    /// Which of them it is.
    pub by: BTreeMap<String, usize>,
}

impl Setup {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Compiled {
    /// Whether nothing was compiled, as far as it is known.
    pub fn is_empty(&self) -> bool {
        self.by.is_empty()
    }

    /// Adds one. What is compiled several times has the words of all its commands.
    pub fn add(&mut self, name: &str, words: Vec<String>) {
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

    /// The words of one's command.
    pub fn command(&self, name: &str) -> Option<&[String]> {
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
    fn of_nothing_nothing_is_written() {
        assert_eq!(serde_json::to_string(&Setup::default()).unwrap(), "{}");
        assert!(serde_json::from_str::<Setup>("{}").unwrap().is_empty());
    }
}
