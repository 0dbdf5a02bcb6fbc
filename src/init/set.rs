//! `--set KEY=VALUE`: sets any key in the text of oracle.toml, and keeps the comments.

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, Value};

use crate::config::{PARSER_KEYS, checking_parsers, key_and_value};
use crate::evaluation::FormName;

use super::InitError;
use super::program::System;

/// One `--set`.
#[derive(Clone, Debug)]
pub(super) struct Setting {
    written: String,
    key: Vec<String>,
    value: Value,
    /// Whether options for another build tool than the tree's are ignored, not refused.
    is_lenient: bool,
}

impl Setting {
    /// Parses `KEY=VALUE`. The key is dotted. A value that is not TOML is taken as a string.
    pub(super) fn parse(written: &str) -> Result<Self, InitError> {
        let (key, value) = key_and_value(written)
            .map_err(|why| InitError::Set { written: written.to_owned(), why: why.to_owned() })?;
        Ok(Self { written: written.to_owned(), key, value, is_lenient: false })
    }

    /// This setting for older commits, which another tool may build.
    pub(super) fn of_the_past(&self) -> Self {
        Self { is_lenient: true, ..self.clone() }
    }

    fn refuse(&self, why: impl Into<String>) -> InitError {
        InitError::Set { written: self.written.clone(), why: why.into() }
    }

    fn words(&self) -> Vec<&str> {
        self.key.iter().map(String::as_str).collect()
    }

    /// The words that this setting adds to the build command: `build.cmake="-DGGML_CUDA=ON"`.
    /// `None` if the setting is a key of oracle.toml.
    pub(super) fn build_words(&self, system: System) -> Result<Option<&str>, InitError> {
        if !self.is_of_the_build() || self.target().is_some() {
            return Ok(None);
        }
        let tool = self.key[1].as_str();
        if tool != system.name() {
            if self.is_lenient {
                return Ok(None);
            }
            let why = format!("this tree is built with {0}: write build.{0}", system.name());
            return Err(self.refuse(why));
        }
        self.value.as_str().map(Some).ok_or_else(|| self.refuse("expected a string"))
    }

    /// Whether the setting changes the build command, and is not a key of oracle.toml.
    pub(super) fn is_of_the_build(&self) -> bool {
        matches!(self.words()[..], ["build", "cmake" | "cargo" | "make" | "target"])
    }

    /// The program or suite to measure (`build.target`), by its name in the build.
    pub(super) fn target(&self) -> Option<&str> {
        matches!(self.words()[..], ["build", "target"]).then(|| self.value.as_str()).flatten()
    }

    /// The error for a target that does not exist; `None` for older commits.
    pub(super) fn no_target(&self, names: &str) -> Option<InitError> {
        let why = format!("no program or suite has this name; there is {names}");
        (!self.is_lenient).then(|| self.refuse(why))
    }

    /// Whether the setting is the command of some measure.
    pub(super) fn names_command(&self) -> bool {
        matches!(self.words()[..], ["measure", _, "command"])
    }

    /// Whether the value contains this text, such as a placeholder.
    pub(super) fn mentions(&self, placeholder: &str) -> bool {
        self.value.as_str().is_some_and(|value| value.contains(placeholder))
    }

    /// Whether the setting declares this input.
    pub(super) fn names_input(&self, name: &str) -> bool {
        self.words() == ["inputs", name]
    }

    /// Whether the setting is `build.commands`.
    pub(super) fn names_build(&self) -> bool {
        self.words() == ["build", "commands"]
    }

    /// Whether the setting is the command of this measure.
    pub(super) fn is_command_of(&self, measure: &str) -> bool {
        self.words() == ["measure", measure, "command"]
    }

    /// Whether the setting is this key of this measure, or a key below it.
    pub(super) fn is_of_measure(&self, measure: &str, key: &str) -> bool {
        matches!(self.words()[..], ["measure", name, first, ..] if name == measure && first == key)
    }

    /// Applies the setting to a document.
    pub(super) fn apply(&self, document: &mut DocumentMut) -> Result<(), InitError> {
        let words = self.words();
        match words.as_slice() {
            ["measure", name, path @ .., key] => {
                let is_parser = path.is_empty() && *key == "parser";
                let tells_checks =
                    || self.value.as_str().is_some_and(|it| checking_parsers().contains(&it));
                if is_parser && !tells_checks() {
                    remove_required_checks(document, name);
                }
                let table = self.entry(document, "measure", "name", name)?;
                if is_parser {
                    for former in PARSER_KEYS {
                        table.remove(former);
                    }
                }
                self.put(table, path, key)
            }
            ["require", name, key] => {
                // A `[[require]]` has either `checks` or `pattern`.
                let other = if *key == "checks" { "pattern" } else { "checks" };
                let fits = |table: &Table| !table.contains_key(other);
                let table = entry(document, "require", "measure", name, fits);
                self.put(self.table_or_refuse("require", table)?, &[], key)
            }
            ["guard", metric @ .., key] if !metric.is_empty() => {
                // The name of a metric may contain a dot.
                let table = self.entry(document, "guard", "metric", &metric.join("."))?;
                let forms = FormName::ALL.map(FormName::key);
                if forms.contains(key) {
                    for other in forms.iter().filter(|form| *form != key) {
                        table.remove(other);
                    }
                }
                self.put(table, &[], key)
            }
            [list @ ("measure" | "guard" | "require"), ..] => {
                Err(self.refuse(format!("name one of them: {list}.NAME.KEY")))
            }
            [path @ .., key] => self.put(document.as_table_mut(), path, key),
            [] => Err(self.refuse("the key is empty")),
        }
    }

    /// The entry of `[[list]]` whose `key` is `name`, created if there is none.
    fn entry<'d>(
        &self,
        document: &'d mut DocumentMut,
        list: &str,
        key: &str,
        name: &str,
    ) -> Result<&'d mut Table, InitError> {
        self.table_or_refuse(list, entry(document, list, key, name, |_| true))
    }

    fn table_or_refuse<'d>(
        &self,
        list: &str,
        entry: Option<&'d mut Table>,
    ) -> Result<&'d mut Table, InitError> {
        entry.ok_or_else(|| self.refuse(format!("{list} is not an array of tables")))
    }

    fn put(&self, table: &mut Table, path: &[&str], last: &str) -> Result<(), InitError> {
        let mut table = table;
        for part in path {
            let item = table.entry(part).or_insert_with(|| Item::Table(Table::new()));
            table =
                item.as_table_mut().ok_or_else(|| self.refuse(format!("`{part}` is no table")))?;
        }
        let mut value = self.value.clone();
        value.decor_mut().set_prefix(" ");
        value.decor_mut().set_suffix("  # --set");
        match table.get_mut(last) {
            Some(Item::Value(old)) => *old = value,
            _ => {
                table.insert(last, Item::Value(value));
            }
        }
        Ok(())
    }
}

/// The first entry of `[[list]]` whose `key` is `name` and that `fits`, created if there is none.
/// `None` if `list` is not a list of tables.
fn entry<'d>(
    document: &'d mut DocumentMut,
    list: &str,
    key: &str,
    name: &str,
    fits: impl Fn(&Table) -> bool,
) -> Option<&'d mut Table> {
    let item = document.entry(list).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let tables = item.as_array_of_tables_mut()?;
    let is_it = |table: &Table| table.get(key).and_then(Item::as_str) == Some(name) && fits(table);
    let at = if let Some(at) = tables.iter().position(is_it) {
        at
    } else {
        let mut table = Table::new();
        table.insert(key, toml_edit::value(name));
        table.decor_mut().set_prefix("\n");
        tables.push(table);
        tables.len() - 1
    };
    tables.get_mut(at)
}

/// Removes the `[[require]]` entries of a measure that have `checks`.
fn remove_required_checks(document: &mut DocumentMut, measure: &str) {
    let requires = document.get_mut("require").and_then(Item::as_array_of_tables_mut);
    let is_its = |table: &Table| {
        table.get("measure").and_then(Item::as_str) == Some(measure) && table.contains_key("checks")
    };
    if let Some(requires) = requires {
        requires.retain(|table| !is_its(table));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# head\nversion = 1\n\n[run]           # how\n# threads = 2\n\n[[measure]]\nname = \"ppl\"   # first\nparser = \"regex\"\npattern = 'x'\n\n[[guard]]\nmetric = \"ppl\"\nmax_increase = 0.05     # a guess\n";

    fn set(settings: &[&str]) -> Result<String, String> {
        let mut document: DocumentMut = TEXT.parse().unwrap();
        for written in settings {
            let setting = Setting::parse(written).map_err(|error| error.to_string())?;
            setting.apply(&mut document).map_err(|error| error.to_string())?;
        }
        Ok(document.to_string())
    }

    #[test]
    fn values_are_set_and_comments_kept() {
        let text = set(&["run.threads=8", "guard.ppl.max_increase=0.1", "build.mode=incremental"])
            .unwrap();
        assert!(text.contains("# head\n"), "{text}");
        assert!(text.contains("threads = 8  # --set"), "{text}");
        assert!(text.contains("max_increase = 0.1  # --set\n"), "{text}");
        assert!(text.contains("[build]\nmode = \"incremental\"  # --set\n"), "{text}");
        assert!(!text.contains("a guess"), "the comment spoke of the former value: {text}");
    }

    #[test]
    fn entries_are_found_by_their_names_or_made() {
        let text = set(&[
            "measure.ppl.parser=llama-perplexity",
            "measure.speed.command='{build}/bench -m x'",
            "guard.speed.tg.max_decrease_percent=5",
            "guard.ppl.max_increase_percent=1",
            "measure.ppl.failures.crash=bad",
        ])
        .unwrap();
        let read: toml::Table = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(read["measure"].as_array().unwrap().len(), 2);
        assert_eq!(read["measure"][0]["failures"]["crash"].as_str(), Some("bad"));
        assert!(read["measure"][0].get("pattern").is_none());
        assert_eq!(read["guard"][1]["metric"].as_str(), Some("speed.tg"));
        assert!(read["guard"][0].get("max_increase").is_none(), "a guard has one form");
    }

    #[test]
    fn a_requirement_of_checks_stands_beside_a_pattern_and_goes_with_its_parser() {
        let set = |settings: &[&str]| {
            let written = ["measure.ppl.parser=parity", "require.ppl.checks=same-set"];
            set(&[&written[..], settings].concat()).unwrap().parse::<toml::Table>().unwrap()
        };
        let both = set(&["require.ppl.pattern=cuda", "require.ppl.pattern=CUDA"]);
        assert_eq!(both["require"][0]["checks"].as_str(), Some("same-set"));
        assert_eq!(both["require"][1]["pattern"].as_str(), Some("CUDA"));
        assert_eq!(both["require"].as_array().unwrap().len(), 2);
        let junit = set(&["measure.ppl.parser=junit"]);
        assert_eq!(junit["require"].as_array().unwrap().len(), 1);
        let exit = set(&["measure.ppl.parser=exit-code"]);
        assert!(exit.get("require").is_none_or(|list| list.as_array().unwrap().is_empty()));
    }

    #[test]
    fn bare_words_are_strings_and_all_else_is_toml() {
        let value = |written: &str| Setting::parse(written).unwrap().value.to_string();
        assert_eq!(value("a=8"), "8");
        assert_eq!(value("a=true"), "true");
        assert_eq!(value("a=[\"x\", \"y\"]"), "[\"x\", \"y\"]");
        assert_eq!(value("a=30m"), "\"30m\"");
        assert_eq!(value("a=-DX=ON -DY=OFF"), "\"-DX=ON -DY=OFF\"");
        assert_eq!(value("a="), "\"\"");
    }

    #[test]
    fn what_reaches_nothing_is_refused() {
        for written in
            ["threads", "=8", "a b=1", "measure=1", "guard.ppl=1", "run.threads.x=1", "version.x=1"]
        {
            let result = set(&["run.threads=2", written]);
            assert!(result.is_err(), "{written}: {result:?}");
        }
    }

    #[test]
    fn words_of_the_build_belong_to_its_tool() {
        let setting = Setting::parse("build.cmake=-DGGML_CUDA=ON").unwrap();
        assert_eq!(setting.build_words(System::Cmake).unwrap(), Some("-DGGML_CUDA=ON"));
        assert!(setting.build_words(System::Make).is_err());
        assert_eq!(setting.of_the_past().build_words(System::Make).unwrap(), None);
        let jobs = Setting::parse("build.jobs=4").unwrap();
        assert_eq!(jobs.build_words(System::Make).unwrap(), None);
    }
}
