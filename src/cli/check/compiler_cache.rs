//! The compiler cache: whether the build uses one, and the lines of oracle.toml that let it.

use std::path::PathBuf;

use crate::config::{Command, Config, Template};

use super::lines::Lines;
use super::programs::find;
use super::shared_cache;

/// The names of compiler caches.
const CACHES: [&str; 2] = ["ccache", "sccache"];

/// The usual names of compilers.
const COMPILERS: [&str; 6] = ["cc", "c++", "gcc", "g++", "clang", "clang++"];

/// Reports compiler caches, and whether several slots share their files. If none is used, offers the
/// lines that let the build use one.
pub(crate) fn check(lines: &mut Lines, config: &Config) {
    if config.build.commands.is_empty() {
        return;
    }
    let mut is_used = false;
    for name in CACHES {
        let Some(path) = find(name) else { continue };
        let how = said_to_use(config, name).or_else(|| linked_compiler(name));
        let Some(how) = how else { continue };
        is_used = true;
        let counted = match name {
            "sccache" => "the report counts its hits if its server runs before the build starts",
            _ => "the report counts its hits",
        };
        let direct = "only builds of a search use its direct mode";
        lines.ok(name, &format!("{}, used: {how}; {counted}; {direct}", path.display()));
        shared_cache::check(lines, config, name);
    }
    if is_used || only_links(config) {
        return;
    }
    let is_cargo = config.build.commands.iter().any(|command| program(command) == "cargo");
    // ccache does not know Rust.
    let mut fitting = CACHES.into_iter().filter(|name| !is_cargo || *name == "sccache");
    let installed = fitting.find_map(|name| Some((name, find(name)?)));
    let (name, about) = if let Some((name, path)) = installed {
        let about = format!(
            "{} is not named in [build]; neighbouring commits share most files. Unless the build \
             finds it by itself, write under [build]:",
            path.display()
        );
        (name, about)
    } else {
        let about = "not installed; neighbouring commits share most files. Install it, then write \
                     under [build]:";
        (if is_cargo { "sccache" } else { "ccache" }, about.to_owned())
    };
    // A launcher that the commands name already may be another cache, or one that is not in PATH.
    if let Some(settings) = settings(config, name) {
        lines.tip(name, &about, &settings);
    }
}

/// Whether every command is a compiler that makes a program from sources in one call. Caches keep
/// only objects, so they do not help there.
fn only_links(config: &Config) -> bool {
    config
        .build
        .commands
        .iter()
        .all(|command| is_compiler(command) && command.words.iter().all(|word| word.text() != "-c"))
}

fn is_compiler(command: &Command) -> bool {
    COMPILERS.contains(&program(command))
}

/// The lines of `[build]` with which the build uses a cache. `None` if each compiler that CMake
/// would run through the cache has a launcher already.
fn settings(config: &Config, cache: &str) -> Option<Vec<String>> {
    let build = &config.build;
    if build.commands.iter().any(|command| program(command) == "cargo") {
        return Some(vec![env(config, &[("RUSTC_WRAPPER", cache.to_owned())])]);
    }
    let is_make = |command: &Command| ["make", "gmake"].contains(&program(command));
    let named = |name: &str| build.env.get(name).map(|value| value.text().to_owned());
    // Variables of the environment: those that the configuration sets already, else both.
    let wrapped = |name: &'static str, usual: &str| {
        (name, format!("{cache} {}", named(name).unwrap_or_else(|| usual.to_owned())))
    };
    let both = [wrapped("CC", "cc"), wrapped("CXX", "c++")];
    let is_named = named("CC").is_some() || named("CXX").is_some();
    if !is_named && build.commands.iter().any(|command| program(command) == "cmake") {
        let added = |command: &Command| launchers(command, cache);
        let is_any = build.commands.iter().any(|command| !added(command).is_empty());
        return is_any.then(|| vec![commands(config, added)]);
    }
    if !is_named && build.commands.iter().any(is_make) {
        // A makefile's own `CC = gcc` outranks the environment, and yields to the command line.
        return Some(vec![commands(config, |command| {
            if !is_make(command) {
                return Vec::new();
            }
            both.iter().map(|(name, value)| format!("{name}='{value}'")).collect()
        })]);
    }
    if build.commands.iter().any(is_compiler) {
        // No variable changes which compiler such a command starts.
        let commands = build.commands.iter().map(|command| {
            let before = if is_compiler(command) { format!("{cache} ") } else { String::new() };
            quoted(&format!("{before}{}", command.text))
        });
        return Some(vec![format!("commands = [{}]", commands.collect::<Vec<_>>().join(", "))]);
    }
    Some(vec![env(config, &both)])
}

/// The words with which a command that configures by CMake lets each compiler run through a cache.
/// None for a language that has a launcher: a second word would replace the user's.
fn launchers(command: &Command, cache: &str) -> Vec<String> {
    let words = || command.words.iter().map(Template::text);
    let configures = program(command) == "cmake"
        && !words().any(|word| ["--build", "--install"].contains(&word));
    if !configures {
        return Vec::new();
    }
    let cuda = words().any(|word| word.contains("CUDA") && word.ends_with("=ON"));
    let languages = ["C", "CXX", "CUDA"].into_iter().take(if cuda { 3 } else { 2 });
    let names = languages.map(|language| format!("CMAKE_{language}_COMPILER_LAUNCHER"));
    // `-DNAME=…`, `-DNAME:STRING=…`, or `-D` and `NAME=…` as two words.
    let is_named = |name: &str| {
        let sets_it = |word: &str| {
            let word = word.strip_prefix("-D").unwrap_or(word);
            word.strip_prefix(name).is_some_and(|rest| rest.starts_with(['=', ':']))
        };
        words().any(sets_it)
    };
    names.filter(|name| !is_named(name)).map(|name| format!("-D{name}={cache}")).collect()
}

/// `commands = [...]` with words added to some of the commands.
fn commands(config: &Config, added: impl Fn(&Command) -> Vec<String>) -> String {
    let commands = config.build.commands.iter().map(|command| {
        let mut words = vec![command.text.clone()];
        words.extend(added(command));
        quoted(&words.join(" "))
    });
    format!("commands = [{}]", commands.collect::<Vec<_>>().join(", "))
}

/// `env = { ... }` with variables added to those that are there.
fn env(config: &Config, added: &[(&str, String)]) -> String {
    let is_new = |name: &str| added.iter().all(|(one, _)| *one != name);
    let kept = config.build.env.iter().filter(|(name, _)| is_new(name));
    let kept = kept.map(|(name, value)| (name.as_str(), value.text().to_owned()));
    let all = kept.chain(added.iter().cloned());
    let pairs: Vec<String> =
        all.map(|(name, value)| format!("{name} = {}", quoted(&value))).collect();
    format!("env = {{ {} }}", pairs.join(", "))
}

/// A string of TOML.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// The name of a command's program.
fn program(command: &Command) -> &str {
    let word = command.words.first().map(Template::text).unwrap_or_default();
    word.rsplit('/').next().unwrap_or(word)
}

/// The text of the configuration that names a compiler cache.
fn said_to_use(config: &Config, name: &str) -> Option<String> {
    let is_it = |word: &str| {
        // `sccache` contains `ccache`, so only whole words count.
        let mut parts = word.split(|c: char| !c.is_alphanumeric());
        parts.any(|part| part == name)
    };
    let env = config.build.env.iter().find(|(_, value)| is_it(value.text()));
    let mut words = config.build.commands.iter().flat_map(|command| &command.words);
    env.map(|(name, value)| format!("{name}={}", value.text()))
        .or_else(|| words.find(|word| is_it(word.text())).map(|word| word.text().to_owned()))
}

/// A compiler in PATH that is a link to the cache.
fn linked_compiler(name: &str) -> Option<String> {
    let is_it = |path: &PathBuf| {
        let real = path.canonicalize().ok();
        real.is_some_and(|real| real.file_name().is_some_and(|file| file == name))
    };
    let path = COMPILERS.into_iter().filter_map(find).find(is_it)?;
    Some(format!("{} is a link to it", path.display()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn config(build: &str) -> Config {
        let text = format!(
            "version = 1\n[build]\n{build}\n[[measure]]\nname = 'a'\ncommand = 'a'\n\
             parser = 'exit-code'\n[[guard]]\nmetric = 'a'\nmax = 0\n"
        );
        Config::parse(&text, Path::new("/"), "oracle.toml").unwrap()
    }

    #[test]
    fn a_compiler_cache_is_known_by_its_whole_name() {
        let launcher = config("commands = ['cmake -DCMAKE_C_COMPILER_LAUNCHER=ccache']");
        let said = said_to_use(&launcher, "ccache");
        assert_eq!(said.as_deref(), Some("-DCMAKE_C_COMPILER_LAUNCHER=ccache"));
        assert_eq!(said_to_use(&launcher, "sccache"), None);
        let wrapped = config("commands = ['make']\nenv = { CC = '/usr/bin/sccache gcc' }");
        assert_eq!(said_to_use(&wrapped, "sccache").as_deref(), Some("CC=/usr/bin/sccache gcc"));
        assert_eq!(said_to_use(&wrapped, "ccache"), None);
    }

    #[test]
    fn nothing_is_offered_where_each_command_makes_a_program() {
        assert!(only_links(&config("commands = ['gcc -O3 -o {build}/run run.c -lm']")));
        assert!(!only_links(&config("commands = ['gcc -c a.c', 'gcc -o {build}/run a.o']")));
        assert!(!only_links(&config("commands = ['make']")));
    }

    #[test]
    fn the_offered_lines_are_read_and_use_the_cache() {
        let offered = |build: &str, cache: &str| {
            let lines = settings(&config(build), cache).unwrap();
            let kept = build.lines().filter(|line| {
                let key = line.split(' ').next().unwrap_or_default();
                lines.iter().all(|new| !new.starts_with(&format!("{key} =")))
            });
            let with: Vec<&str> = kept.chain(lines.iter().map(String::as_str)).collect();
            let said = said_to_use(&config(&with.join("\n")), cache);
            assert!(said.is_some(), "{build}: {lines:?}");
            lines.join("\n")
        };
        let cmake =
            "commands = ['cmake -S {src} -B {build} -DGGML_CUDA=ON', 'cmake --build {build}']";
        assert_eq!(
            offered(cmake, "ccache"),
            "commands = [\"cmake -S {src} -B {build} -DGGML_CUDA=ON \
             -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
             -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache\", \"cmake --build {build}\"]"
        );
        assert_eq!(
            offered("commands = ['mkdir {build}/o', 'gcc -c a.c -o {build}/o/a.o']", "ccache"),
            "commands = [\"mkdir {build}/o\", \"ccache gcc -c a.c -o {build}/o/a.o\"]"
        );
        assert_eq!(
            offered("commands = ['make -C {src}']", "sccache"),
            "commands = [\"make -C {src} CC='sccache cc' CXX='sccache c++'\"]"
        );
        assert_eq!(
            offered("commands = ['make -C {src}']\nenv = { CC = 'gcc', V = '1' }", "ccache"),
            "env = { V = \"1\", CC = \"ccache gcc\", CXX = \"ccache c++\" }"
        );
        assert_eq!(
            offered("commands = ['cargo build']", "sccache"),
            "env = { RUSTC_WRAPPER = \"sccache\" }"
        );
        assert_eq!(
            offered("commands = ['sh build.sh']", "ccache"),
            "env = { CC = \"ccache cc\", CXX = \"ccache c++\" }"
        );
    }

    #[test]
    fn a_language_with_a_launcher_gets_no_second_one() {
        let added = |command: &str| {
            let config = config(&format!("commands = ['{command}', 'cmake --build {{build}}']"));
            config
                .build
                .commands
                .iter()
                .flat_map(|one| launchers(one, "ccache"))
                .collect::<Vec<_>>()
        };
        let [c, cxx] = ["C", "CXX"].map(|one| format!("-DCMAKE_{one}_COMPILER_LAUNCHER=ccache"));
        assert_eq!(added("cmake -B {build}"), [c.clone(), cxx.clone()]);
        let named = "cmake -B {build} -DCMAKE_C_COMPILER_LAUNCHER=/opt/bin/ccache";
        assert_eq!(added(named), [cxx]);
        assert_eq!(added("cmake -D CMAKE_CXX_COMPILER_LAUNCHER:STRING=distcc -B {build}"), [c]);
        let both = format!("{named} -DCMAKE_CXX_COMPILER_LAUNCHER=distcc");
        assert_eq!(added(&both), Vec::<String>::new());
        let commands = format!("commands = ['{both}', 'cmake --build {{build}}']");
        assert_eq!(settings(&config(&commands), "ccache"), None);
    }
}
