//! Finds the files that calls of CMake may read. Compilers record what they read, so calls that
//! only hand sources to compilers do not count for sources. Any call that is not known here may
//! read the files that it names, directly or through variables.
//!
//! Source: `cmake-language(7)` and `cmake-commands(7)`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use super::names::Names;
use super::words::words;

mod calls;

use calls::{Call, calls};

/// Calls that read no files, or only CMake files, which count as read anyway. Most of them hand
/// sources to compilers or set properties.
const HARMLESS: [&str; 59] = [
    "add_compile_definitions",
    "add_compile_options",
    "add_definitions",
    "add_dependencies",
    "add_executable",
    "add_library",
    "add_link_options",
    "add_subdirectory",
    "add_test",
    "block",
    "break",
    "check_c_compiler_flag",
    "check_cxx_compiler_flag",
    "check_include_file_cxx",
    "check_ipo_supported",
    "check_language",
    "cmake_dependent_option",
    "cmake_minimum_required",
    "cmake_parse_arguments",
    "cmake_policy",
    "continue",
    "define_property",
    "elseif",
    "enable_language",
    "enable_testing",
    "endblock",
    "export",
    "find_dependency",
    "find_library",
    "find_package",
    "find_program",
    "get_directory_property",
    "get_property",
    "get_target_property",
    "if",
    "include",
    "include_directories",
    "include_guard",
    "link_directories",
    "link_libraries",
    "mark_as_advanced",
    "math",
    "message",
    "option",
    "project",
    "return",
    "separate_arguments",
    "set_property",
    "set_source_files_properties",
    "set_target_properties",
    "set_tests_properties",
    "source_group",
    "target_compile_definitions",
    "target_compile_features",
    "target_compile_options",
    "target_include_directories",
    "target_link_libraries",
    "target_link_options",
    "target_sources",
];

/// Of these, those that name source files.
const WITH_SOURCES: [&str; 4] =
    ["add_executable", "add_library", "set_source_files_properties", "target_sources"];

/// Calls that move values from variables to variables.
const FLOW: [&str; 8] =
    ["cmake_path", "foreach", "get_filename_component", "list", "set", "string", "unset", "while"];

/// Kinds of `file(…)` that do not read the content of files.
const FILE_FLOW: [&str; 10] = [
    "GLOB",
    "GLOB_RECURSE",
    "MAKE_DIRECTORY",
    "REAL_PATH",
    "RELATIVE_PATH",
    "REMOVE",
    "REMOVE_RECURSE",
    "TO_CMAKE_PATH",
    "TO_NATIVE_PATH",
    "WRITE",
];

/// Variables for the folder of the CMake file, or for the top folder.
static OWN_FOLDER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^\$\{(?:CMAKE_CURRENT_(?:SOURCE|LIST)_DIR|CMAKE_SOURCE_DIR|PROJECT_SOURCE_DIR)\}/?$",
    )
    .expect("a constant of ours")
});

static REFERENCE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\$\{(\w+)\}").expect("a constant of ours"));

/// What the texts of CMake name.
#[derive(Debug, Default)]
pub(super) struct CmakeNames {
    /// In calls that may read files.
    pub(super) read: Names,
    /// In calls that pass files on, to variables or to compilers.
    pub(super) named: Names,
}

/// Reads the texts, by path. `is_off`: whether a variable of the cache is false. `installs`:
/// whether the build installs, which reads what `install` names.
pub(super) fn cmake_names(
    texts: &BTreeMap<String, String>,
    is_off: &dyn Fn(&str) -> bool,
    installs: bool,
) -> CmakeNames {
    let all: Vec<(&str, Call)> = texts
        .iter()
        .flat_map(|(path, text)| calls(text).into_iter().map(move |call| (path.as_str(), call)))
        .collect();
    let set: BTreeSet<String> = all
        .iter()
        .filter(|(_, call)| call.name == "set")
        .filter_map(|(_, call)| call.args.first().cloned())
        .collect();
    let is_off = |name: &str| !set.contains(name) && is_off(name);
    let all = alive(all, &is_off);
    let reading = Reading::of(&all, installs);
    let tainted = reading.tainted(&all);
    let mut found = CmakeNames::default();
    for (path, call) in &all {
        let is_read = match reading.kind(call) {
            Kind::Reads => true,
            Kind::Flow => call.has_argument_in(&tainted),
            Kind::Harmless if WITH_SOURCES.contains(&call.name.as_str()) => false,
            Kind::Harmless => continue,
        };
        for arg in call.args_read() {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            if is_read && OWN_FOLDER.is_match(arg) {
                let is_top = !arg.contains("CURRENT");
                found.read.add_below(if is_top { "" } else { folder });
            }
            let into = if is_read { &mut found.read } else { &mut found.named };
            into.add_all(words(arg));
        }
    }
    found
}

/// The calls that are not in a branch for a variable that is off.
fn alive<'t>(all: Vec<(&'t str, Call)>, is_off: &dyn Fn(&str) -> bool) -> Vec<(&'t str, Call)> {
    let is_dead = |call: &Call| {
        let is_and = call.args.get(1).is_none_or(|word| word == "AND");
        let or = call.args.iter().any(|word| word == "OR");
        call.args.first().is_some_and(|name| is_off(name)) && is_and && !or
    };
    let mut branches: Vec<bool> = Vec::new();
    let mut alive = Vec::new();
    for (path, call) in all {
        match call.name.as_str() {
            "if" => branches.push(is_dead(&call)),
            "elseif" => set_last(&mut branches, is_dead(&call)),
            "else" => set_last(&mut branches, false),
            "endif" => drop(branches.pop()),
            _ => {}
        }
        if !branches.contains(&true) {
            alive.push((path, call));
        }
    }
    alive
}

fn set_last(branches: &mut [bool], is_dead: bool) {
    if let Some(branch) = branches.last_mut() {
        *branch = is_dead;
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Harmless,
    Flow,
    Reads,
}

/// Which calls may read files.
struct Reading {
    installs: bool,
    /// Functions of the texts that call nothing that may read files.
    harmless: BTreeSet<String>,
}

impl Reading {
    fn of(all: &[(&str, Call)], installs: bool) -> Self {
        let mut bodies: BTreeMap<String, Vec<&Call>> = BTreeMap::new();
        for (_, call) in all {
            if let Some(function) = &call.within {
                bodies.entry(function.clone()).or_default().push(call);
            }
        }
        let mut reading = Self { installs, harmless: bodies.keys().cloned().collect() };
        loop {
            let reads =
                |body: &Vec<&Call>| body.iter().any(|call| reading.kind(call) == Kind::Reads);
            let worse: Vec<String> = bodies
                .iter()
                .filter(|(name, body)| reading.harmless.contains(*name) && reads(body))
                .map(|(name, _)| name.clone())
                .collect();
            if worse.is_empty() {
                return reading;
            }
            reading.harmless.retain(|name| !worse.contains(name));
        }
    }

    fn kind(&self, call: &Call) -> Kind {
        let name = call.name.as_str();
        let is_end = name.starts_with("end") || ["function", "macro", "else"].contains(&name);
        let is_install = name == "install" && !self.installs;
        let is_path = name == "file"
            && call.args.first().is_some_and(|kind| FILE_FLOW.contains(&kind.as_str()));
        if FLOW.contains(&name) || is_path {
            Kind::Flow
        } else if is_end || is_install || HARMLESS.contains(&name) || self.harmless.contains(name) {
            Kind::Harmless
        } else {
            Kind::Reads
        }
    }

    /// The variables whose values may reach a call that reads files.
    fn tainted(&self, all: &[(&str, Call)]) -> BTreeSet<String> {
        let known: BTreeSet<String> = all.iter().flat_map(|(_, call)| call.values_used()).collect();
        let mut tainted = BTreeSet::new();
        for (_, call) in all.iter().filter(|(_, call)| self.kind(call) == Kind::Reads) {
            call.add_variables(&known, &mut tainted);
        }
        loop {
            let before = tainted.len();
            for (_, call) in all.iter().filter(|(_, call)| self.kind(call) == Kind::Flow) {
                if call.has_argument_in(&tainted) {
                    call.add_variables(&known, &mut tainted);
                }
            }
            if tainted.len() == before {
                return tainted;
            }
        }
    }
}

impl Call {
    /// The arguments, without the folder that a command starts in.
    fn args_read(&self) -> impl Iterator<Item = &String> {
        let is_after = |at: usize| at > 0 && self.args[at - 1] == "WORKING_DIRECTORY";
        self.args.iter().enumerate().filter(move |(at, _)| !is_after(*at)).map(|(_, arg)| arg)
    }

    /// The variables whose values the call uses: `${X}`, and the lists of `foreach`.
    fn values_used(&self) -> Vec<String> {
        let mut used = Vec::new();
        for arg in self.args_read() {
            used.extend(REFERENCE.captures_iter(arg).map(|found| found[1].to_owned()));
        }
        if self.name == "foreach" {
            let lists = self.args.iter().skip_while(|arg| *arg != "LISTS").skip(1);
            used.extend(lists.cloned());
        }
        used
    }

    /// Adds the variables that the call uses or sets.
    fn add_variables(&self, known: &BTreeSet<String>, tainted: &mut BTreeSet<String>) {
        tainted.extend(self.values_used());
        tainted.extend(self.args_read().filter(|arg| known.contains(*arg)).cloned());
    }

    fn has_argument_in(&self, tainted: &BTreeSet<String>) -> bool {
        self.args.iter().any(|arg| tainted.contains(arg))
    }
}

/// Whether a value in a CMake cache is false, as `if` reads it.
pub(super) fn is_false(value: &str) -> bool {
    let value = value.to_ascii_uppercase();
    ["", "0", "FALSE", "IGNORE", "N", "NO", "NOTFOUND", "OFF"].contains(&value.as_str())
        || value.ends_with("-NOTFOUND")
}

#[cfg(test)]
mod tests;
