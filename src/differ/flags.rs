//! Reads compile flags from the files and the output of build systems.

use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;
use serde::Deserialize;

use crate::evaluation::Compiled;

use super::build_folders::BuildFolders;

/// An entry of a compilation database (<https://clang.llvm.org/docs/JSONCompilationDatabase.html>).
#[derive(Deserialize)]
struct Entry {
    directory: String,
    file: String,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

/// Adds the commands of a `compile_commands.json`; nothing if the file cannot be parsed.
pub(crate) fn compile_commands(text: &str, place: &BuildFolders, compiled: &mut Compiled) {
    let entries: Vec<Entry> = serde_json::from_str(text).unwrap_or_default();
    for entry in entries {
        let words = match (entry.arguments, entry.command) {
            (Some(words), _) => words,
            (None, Some(command)) => shlex::split(&command).unwrap_or_default(),
            (None, None) => continue,
        };
        let file = place.path(Path::new(&entry.directory), Path::new(&entry.file));
        compiled.add(&file, flags(words, Some(&entry.file), place));
    }
}

/// Adds the flags of a CMake `flags.make`, separately for each language. The file's folder
/// `CMakeFiles/TARGET.dir` names the target.
pub(crate) fn flags_make(text: &str, target: &str, place: &BuildFolders, compiled: &mut Compiled) {
    let mut found: Vec<(&str, [&str; 3])> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((name, value)) = line.split_once(" = ") else { continue };
        let Some((language, what)) = name.rsplit_once('_') else { continue };
        let parts = ["FLAGS", "DEFINES", "INCLUDES"];
        let Some(part) = parts.iter().position(|part| *part == what) else { continue };
        let known = found.iter().position(|(known, _)| *known == language);
        let known = known.unwrap_or_else(|| {
            found.push((language, [""; 3]));
            found.len() - 1
        });
        found[known].1[part] = value;
    }
    for (language, values) in found {
        let words = values.iter().flat_map(|value| shlex::split(value).unwrap_or_default());
        let words = flags(words.collect(), None, place);
        compiled.add(&format!("{target} ({language})"), words);
    }
}

/// Adds the compile command in a line of build output, if there is one: make and `ninja -v` print
/// theirs. The file is stored under the path that the command uses.
pub(crate) fn printed_command(line: &str, place: &BuildFolders, compiled: &mut Compiled) {
    if !line.contains(" -c ") || line.len() > LONGEST_COMMAND {
        return;
    }
    for command in line.split(" && ") {
        let words = shlex::split(command).unwrap_or_default();
        // Skips ninja's `[3/14]` and compiler launchers.
        let is_before =
            |word: &String| word.starts_with('[') || LAUNCHERS.contains(&file_name(word));
        let words: Vec<String> = words.into_iter().skip_while(is_before).collect();
        let is_compiler = words.first().is_some_and(|word| COMPILER.is_match(file_name(word)));
        let is_source = |word: &&String| !word.starts_with('-') && is_source(word);
        let source = words.iter().skip(1).rfind(is_source).cloned();
        if let Some(source) = source.filter(|_| is_compiler && words.iter().any(|w| w == "-c")) {
            compiled.add(&place.without(&source), flags(words, Some(&source), place));
        }
    }
}

/// Longer lines are not commands.
const LONGEST_COMMAND: usize = 128 << 10;

/// Compiler launchers, which stand before a compiler.
const LAUNCHERS: [&str; 3] = ["ccache", "sccache", "distcc"];

/// Names of compilers, with optional target and version: `aarch64-linux-gnu-g++-13`.
static COMPILER: LazyLock<Regex> = LazyLock::new(|| {
    let name = r"cc|c\+\+|gcc|g\+\+|clang|clang\+\+|nvcc|hipcc|icc|icpc|icx|icpx|dpcpp|emcc|em\+\+";
    Regex::new(&format!(r"^(?:[\w.]+-)*(?:{name})(?:-\d[\d.]*)?$")).expect("a constant of ours")
});

/// A path without its folder.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

pub(crate) fn is_source(word: &str) -> bool {
    let ending = file_name(word).rsplit_once('.').map_or("", |(_, ending)| ending);
    ["c", "cc", "cl", "cpp", "cu", "cxx", "hip", "m", "mm", "s", "S"].contains(&ending)
}

/// Flags whose value may be the next word.
const WITH_NEXT: [&str; 21] = [
    "-D",
    "-I",
    "-T",
    "-U",
    "-Xclang",
    "-Xcompiler",
    "-Xlinker",
    "-Xptxas",
    "-arch",
    "-framework",
    "-gencode",
    "-idirafter",
    "-imacros",
    "-include",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-mllvm",
    "-target",
    "-x",
    "--param",
];

/// The flags of a command. Leaves out the output file, the source file and the options for
/// dependency files. A flag and its value are one entry.
fn flags(words: Vec<String>, file: Option<&str>, place: &BuildFolders) -> Vec<String> {
    let is_file = |word: &str| {
        let name = |path: &str| Path::new(path).file_name().map(ToOwned::to_owned);
        !word.starts_with('-') && file.is_some_and(|file| name(word) == name(file))
    };
    let mut found = Vec::new();
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-o" | "-MF" | "-MT" | "-MQ" => drop(words.next()),
            "-c" | "-MD" | "-MMD" | "-MP" | "-M" | "-MM" | "--" => {}
            glued if WITH_NEXT.contains(&glued) => {
                let next = words.next().unwrap_or_default();
                let between = if glued.len() == 2 && glued != "-x" { "" } else { " " };
                found.push(place.without(&format!("{glued}{between}{next}")));
            }
            word if is_file(word) => {}
            word => found.push(place.without(word)),
        }
    }
    found
}

#[cfg(test)]
mod tests;
