//! How files were compiled, from what build systems write about it.

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

/// Adds what a `compile_commands.json` says; nothing where it cannot be read.
pub fn compile_commands(text: &str, place: &BuildFolders, compiled: &mut Compiled) {
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

/// Adds what a `flags.make` of CMake's says of the target whose folder it lies in
/// (`CMakeFiles/TARGET.dir`), each language by itself.
pub fn flags_make(text: &str, target: &str, place: &BuildFolders, compiled: &mut Compiled) {
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

/// Adds the command in a line that a build printed, if it compiles a file: make and `ninja -v`
/// print theirs. A file is called as the command calls it.
pub fn printed_command(line: &str, place: &BuildFolders, compiled: &mut Compiled) {
    if !line.contains(" -c ") || line.len() > LONGEST_COMMAND {
        return;
    }
    for command in line.split(" && ") {
        let words = shlex::split(command).unwrap_or_default();
        // `[3/14]`, and what hands on to the compiler.
        let is_before = |word: &String| word.starts_with('[') || LAUNCHERS.contains(&tool(word));
        let words: Vec<String> = words.into_iter().skip_while(is_before).collect();
        let is_compiler = words.first().is_some_and(|word| COMPILER.is_match(tool(word)));
        let is_source = |word: &&String| !word.starts_with('-') && is_source(word);
        let source = words.iter().skip(1).rfind(is_source).cloned();
        if let Some(source) = source.filter(|_| is_compiler && words.iter().any(|w| w == "-c")) {
            compiled.add(&place.without(&source), flags(words, Some(&source), place));
        }
    }
}

/// Longer lines are no command.
const LONGEST_COMMAND: usize = 128 << 10;

/// What may stand before a compiler.
const LAUNCHERS: [&str; 3] = ["ccache", "sccache", "distcc"];

/// Compilers, with the machine they compile for and with their version: `aarch64-linux-gnu-g++-13`.
static COMPILER: LazyLock<Regex> = LazyLock::new(|| {
    let name = r"cc|c\+\+|gcc|g\+\+|clang|clang\+\+|nvcc|hipcc|icc|icpc|icx|icpx|dpcpp|emcc|em\+\+";
    Regex::new(&format!(r"^(?:[\w.]+-)*(?:{name})(?:-\d[\d.]*)?$")).expect("a constant of ours")
});

/// The name of a program, without where it lies.
fn tool(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

fn is_source(word: &str) -> bool {
    let ending = tool(word).rsplit_once('.').map_or("", |(_, ending)| ending);
    ["c", "cc", "cl", "cpp", "cu", "cxx", "hip", "m", "mm", "s", "S"].contains(&ending)
}

/// Words that belong to the one that follows.
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

/// The words of a command that are about how and not about what: where the result goes, which
/// file it is and which headers it names are left out. A flag and what belongs to it are one.
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
