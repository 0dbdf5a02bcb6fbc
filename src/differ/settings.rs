//! Settings: names with values, such as `fused = true`, `"fused": true`, `set(ENG_FUSED ON)` or
//! `-DENG_FUSED=1`. One file may override what another file sets, so the name alone joins commits
//! that change the same setting in different files. The search reads lines, not grammars, so it may
//! be wrong; only the choice of further measurements depends on it.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::git::ChangedLines;

use super::coined::code_lines;
use super::constant_syntax::Language;
use super::file_kinds::is_document;

/// Shorter names occur anywhere, so they tell nothing.
const SHORTEST: usize = 2;
/// Longer lines are skipped: they are tables or generated files.
const LONGEST: usize = 1000;
/// A commit that changes more switches at once does more than to switch something.
const MOST_SWITCHES: usize = 3;

/// A name with its value in a changed line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Setting {
    name: String,
    value: String,
    /// Whether the file configures a build or the engine, and is no source code.
    is_configured: bool,
}

/// The settings that a change removes, and those that it adds, without those that it only moves.
#[derive(Debug)]
struct ChangedSettings {
    removed: Vec<Setting>,
    added: Vec<Setting>,
}

/// The names of the settings that get another value. In a configuration file also those of the
/// switches that are added or removed: they take the place of a default, or it takes theirs.
pub(crate) fn changed_settings(change: &[ChangedLines]) -> BTreeSet<String> {
    let changed = ChangedSettings::of(change);
    let names = |side: &[Setting]| -> BTreeSet<String> {
        side.iter().map(|setting| setting.name.clone()).collect()
    };
    let (before, now) = (names(&changed.removed), names(&changed.added));
    let switched = changed.both().filter(|setting| setting.is_configured && setting.is_switch());
    let switched: BTreeSet<String> = switched.map(|setting| setting.name.clone()).collect();
    before.intersection(&now).cloned().chain(switched).collect()
}

/// Whether the change only sets a few switches in configuration files. Documents do not count.
pub(crate) fn only_sets_switches(change: &[ChangedLines]) -> bool {
    let mut files = change.iter().filter(|file| !is_document(&file.path));
    let only_has_settings = |file: &ChangedLines| {
        let lines = [&file.removed, &file.added].into_iter().flatten();
        is_configuration(&file.path)
            && code_lines(&file.path, lines)
                .all(|line| line.trim().is_empty() || !settings_in(&file.path, line).is_empty())
    };
    if !files.all(only_has_settings) {
        return false;
    }
    let changed = ChangedSettings::of(change);
    let names: BTreeSet<&String> = changed.both().map(|setting| &setting.name).collect();
    (1..=MOST_SWITCHES).contains(&names.len()) && changed.both().all(Setting::is_switch)
}

/// Those of these names that some lines of a file have, without those in comments. `--no-fused`
/// names `fused`. A document names nothing.
pub(crate) fn names_among(
    path: &str,
    lines: &[String],
    names: &BTreeSet<String>,
) -> BTreeSet<String> {
    if names.is_empty() || is_document(path) {
        return BTreeSet::new();
    }
    let words = code_lines(path, lines).flat_map(words_in);
    words.filter(|word| names.contains(word)).collect()
}

impl ChangedSettings {
    fn of(change: &[ChangedLines]) -> Self {
        let (mut removed, mut added): (Vec<Setting>, Vec<Setting>) = (Vec::new(), Vec::new());
        for file in change.iter().filter(|file| !is_document(&file.path)) {
            let read = |lines: &[String]| -> Vec<Setting> {
                let code = code_lines(&file.path, lines);
                code.flat_map(|line| settings_in(&file.path, line)).collect()
            };
            removed.extend(read(&file.removed));
            added.extend(read(&file.added));
        }
        // What only moves to another place or file keeps its value.
        removed.retain(|before| {
            let is_same = |now: &Setting| now.name == before.name && now.value == before.value;
            let same = added.iter().position(is_same);
            same.map(|place| added.remove(place)).is_none()
        });
        Self { removed, added }
    }

    fn both(&self) -> impl Iterator<Item = &Setting> {
        self.removed.iter().chain(&self.added)
    }
}

impl Setting {
    /// Whether the value only switches something on or off.
    fn is_switch(&self) -> bool {
        is_switch(&self.value)
    }
}

fn is_switch(value: &str) -> bool {
    const SWITCHES: [&str; 12] = [
        "0", "1", "true", "false", "on", "off", "yes", "no", "enable", "disable", "enabled",
        "disabled",
    ];
    SWITCHES.iter().any(|switch| value.eq_ignore_ascii_case(switch))
}

/// Whether the file's name says that it configures a build or the engine.
fn is_configuration(path: &str) -> bool {
    const ENDINGS: [&str; 12] = [
        "cfg",
        "conf",
        "config",
        "env",
        "ini",
        "json",
        "jsonc",
        "options",
        "properties",
        "toml",
        "yaml",
        "yml",
    ];
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map_or(name, |(_, ending)| ending);
    ENDINGS.contains(&ending)
        || matches!(Language::of(path), Some(Language::Cmake | Language::Make))
}

/// The settings in a line of a file. Of a variable in source code, only a switch is one.
fn settings_in(path: &str, line: &str) -> Vec<Setting> {
    static ANY: LazyLock<Regex> = LazyLock::new(|| {
        // A name, perhaps in quotes or after `-D` or `--`; `=` or `:`; a value.
        regex(concat!(
            r#"(?:^|[\s,;({\["'])(?:-D|--?)?["']?([A-Za-z_][\w.-]*)["']?\s*(?:[:+?]?=|:)\s*"#,
            r#"("[^"]*"|'[^']*'|[^\s,;(){}\[\]=/][^\s,;(){}\[\]]*)"#,
        ))
    });
    static DEFINED: LazyLock<Regex> =
        LazyLock::new(|| regex(r#"(?:^|[\s,;("'])-D([A-Za-z_]\w*)(?:=([^\s,;)"']+))?"#));
    // A switch as a whole line of a configuration file: `fused on`.
    static WORDS: LazyLock<Regex> =
        LazyLock::new(|| regex(r"^\s*([A-Za-z_][\w.-]*)\s+(?i:(on|off|true|false|yes|no))\s*$"));
    // The switch of a program's option: `parser.add_argument("--fused", default=False)`.
    static OPTION: LazyLock<Regex> =
        LazyLock::new(|| regex(r#"["']--([A-Za-z][\w-]*)["'].*?\b(?i:(true|false|on|off))\b"#));
    if line.len() > LONGEST {
        return Vec::new();
    }
    let is_configured = is_configuration(path);
    let setting = |key: &str, value: &str| {
        let name = plain(key.rsplit(['.', '>']).next().unwrap_or(key));
        let value = value.trim_matches(['"', '\'']).to_owned();
        (name.len() >= SHORTEST).then_some(Setting { name, value, is_configured })
    };
    let Some(language) = Language::of(path) else {
        let words = WORDS.captures(line).filter(|_| is_configured);
        let found = ANY.captures_iter(line).chain(words);
        return found.filter_map(|found| setting(&found[1], &found[2])).collect();
    };
    let named = language.read(line);
    let named = named.filter(|one| is_configured || !one.is_variable || is_switch(&one.value));
    let own = named.and_then(|one| setting(&one.name, &one.value));
    let defined = DEFINED.captures_iter(line);
    // Compilers define such a name as 1.
    let value = |found: &Captures<'_>| found.get(2).map_or("1", |value| value.as_str()).to_owned();
    let defined = defined.filter_map(|found| setting(&found[1], &value(&found)));
    let option = OPTION.captures(line).and_then(|found| setting(&found[1], &found[2]));
    own.into_iter().chain(defined).chain(option).collect()
}

/// The words of a line as names: with their hyphens, without an option's mark, and part by part.
fn words_in(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-') {
        words.push(plain(word));
        words.extend(word.strip_prefix("-D").map(plain));
        words.extend(word.split('-').map(str::to_owned));
    }
    words
}

/// A name in the one form that all files share: `--no-flash-attn` and `flash_attn` are the same.
fn plain(word: &str) -> String {
    let word = word.trim_matches('-').replace('-', "_");
    word.strip_prefix("no_").map_or_else(|| word.clone(), str::to_owned)
}

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant of ours")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, removed: &[&str], added: &[&str]) -> ChangedLines {
        let [removed, added] =
            [removed, added].map(|lines| lines.iter().map(|line| (*line).to_owned()).collect());
        ChangedLines { path: path.to_owned(), removed, added, ..ChangedLines::default() }
    }

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[track_caller]
    fn changes(path: &str, removed: &[&str], added: &[&str], names: &[&str]) {
        assert_eq!(changed_settings(&[file(path, removed, added)]), set(names));
    }

    #[test]
    fn a_name_with_another_value_is_a_changed_setting_in_each_form() {
        changes("a.conf", &["fused=false"], &["fused=true # tuned"], &["fused"]);
        changes("a.json", &["\"fast\": false,"], &["\"fast\": true,"], &["fast"]);
        changes(
            "b.json",
            &["{\"fast\": 3, \"kv\": 1}"],
            &["{\"fast\": 4, \"kv\": 2}"],
            &["fast", "kv"],
        );
        changes("a.yaml", &["env: {ENG_FAST: 0}"], &["env: {ENG_FAST: 1}"], &["ENG_FAST"]);
        changes("a.toml", &["x.fused = 'a'"], &["x.fused = 'b'"], &["fused"]);
        changes("run.sh", &["eng --no-fast-rope=1"], &["eng --no-fast-rope=0"], &["fast_rope"]);
        changes("run.sh", &["cmake -DENG_FAST=ON -B b"], &["cmake -DENG_FAST=OFF"], &["ENG_FAST"]);
        changes("a.cmake", &["option(FAST \"x\" ON)"], &["option(FAST \"x\" OFF)"], &["FAST"]);
        changes("Makefile", &["CFLAGS += -DFAST"], &["CFLAGS += -DFAST=0"], &["CFLAGS", "FAST"]);
        changes("a.h", &["#define FAST 64"], &["#define FAST 128"], &["FAST"]);
        changes("a.cpp", &["  cfg.fused = false;"], &["  cfg.fused = true;"], &["fused"]);
        changes("a.conf", &["fused off"], &["fused on"], &["fused"]);
        let [off, on] = ["False", "True"]
            .map(|value| format!("p.add_argument(\"--flash-attn\", default={value})"));
        changes("eng.py", &[&off], &[&on], &["flash_attn"]);
    }

    #[test]
    fn what_moves_or_is_no_setting_or_has_no_name_is_not_a_changed_setting() {
        changes("a.conf", &["fused=1", "kv=4"], &["kv=5", "fused = 1"], &["kv"]);
        changes("a.conf", &["n=4"], &["n=5"], &[]);
        changes("a.conf", &["ppl+00 = 0.4"], &["ppl+00 = 0.8"], &[]);
        changes("a.conf", &["part 00 is well"], &["part 00 fails"], &[]);
        changes("a.conf", &["see https://a.b/c"], &["see https://a.b/d"], &[]);
        changes("a.cpp", &["int block = 64;"], &["int block = 128;"], &[]);
        changes("README.md", &["fused=false"], &["fused=true"], &[]);
        let moved = [file("a.conf", &["fused=1"], &[]), file("b.conf", &[], &["fused=1"])];
        assert!(changed_settings(&moved).is_empty());
    }

    #[test]
    fn a_switch_alone_is_a_changed_setting_in_a_configuration_file_only() {
        changes("a.conf", &[], &["fused=true"], &["fused"]);
        changes("a.conf", &["fused=off"], &[], &["fused"]);
        changes("a.conf", &[], &["threads=8"], &[]);
        changes("a.cpp", &[], &["  cfg.fused = true;"], &[]);
        changes("run.sh", &[], &["fused=true"], &[]);
    }

    #[test]
    fn a_line_names_a_setting_in_code_options_and_strings() {
        let names = set(&["fused", "flash_attn"]);
        let found = |path: &str, line: &str| {
            names_among(path, &[line.to_owned()], &names).into_iter().collect::<Vec<_>>()
        };
        assert_eq!(found("arch.conf", "fused=false"), ["fused"]);
        assert_eq!(found("run.sh", "./eng --no-flash-attn --x"), ["flash_attn"]);
        assert_eq!(found("run.sh", "make X=-Dfused"), ["fused"]);
        assert_eq!(found("eng.py", "if c[\"fused\"]: n-fused"), ["fused"]);
        assert!(found("eng.py", "unfused = 1 # fused").is_empty());
        assert!(found("README.md", "fused").is_empty());
    }

    #[test]
    fn a_small_change_of_switches_alone_is_told_from_others() {
        let flip = file("a.conf", &["fused=false"], &["# landed", "fused=true"]);
        let json = file("a.json", &[" \"kvc\": 8"], &[" \"kv_cache\": 8,", " \"fused\": true"]);
        let comma = file("a.json", &[" \"kvc\": 8"], &[" \"kvc\": 8,", " \"fused\": true"]);
        assert!(only_sets_switches(&[flip.clone(), file("README.md", &["a"], &["b"])]));
        assert!(only_sets_switches(&[comma]) && !only_sets_switches(&[json]));
        assert!(!only_sets_switches(&[]) && !only_sets_switches(&[flip, file("a.c", &[], &["x"])]));
        assert!(!only_sets_switches(&[file("a.conf", &["n_ctx=8"], &["n_ctx=9"])]));
        assert!(!only_sets_switches(&[file("a.conf", &["ppl+1 = 0"], &["ppl+1 = 1"])]));
        let many = ["aaa=1", "bbb=1", "ccc=1", "ddd=1"];
        assert!(!only_sets_switches(&[file("a.conf", &[], &many)]));
    }
}
