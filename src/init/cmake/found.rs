//! The declarations in CMake files, and the commands that build from them.

use std::collections::{BTreeMap, BTreeSet};

use crate::init::program::{
    Build, OptionToDisable, OptionalFolder, Parts, Program, Recipe, System, below, quoted,
};
use crate::init::tree::{Origin, Tree, parent};

use super::reader::Command;

/// The last word in the name of an option that chooses a backend or processor features.
const BACKENDS: [&str; 16] = [
    "CUDA", "HIP", "HIPBLAS", "CUBLAS", "VULKAN", "METAL", "SYCL", "OPENCL", "MUSA", "CANN",
    "BLAS", "OPENBLAS", "OPENMP", "NATIVE", "KLEIDIAI", "WEBGPU",
];

/// The declarations in the files.
#[derive(Debug, Default)]
pub(super) struct CMakeFacts {
    pub(super) executables: Vec<Executable>,
    /// The sources of each library.
    pub(super) libraries: BTreeMap<String, Vec<String>>,
    /// The files that declare each library or add to it.
    pub(super) homes: BTreeMap<String, Vec<String>>,
    pub(super) links: BTreeMap<String, Vec<String>>,
    pub(super) properties: BTreeMap<(String, String), String>,
    pub(super) options: Vec<Switch>,
    pub(super) offs: Vec<OptionToDisable>,
    pub(super) idle: Vec<OptionalFolder>,
    /// The place of the first declared test.
    pub(super) test: Option<Origin>,
    /// Functions that warn about deprecated options.
    warning: BTreeSet<String>,
    /// Pairs of an option's old and new name.
    renames: Vec<(String, String)>,
}

/// `option(NAME …)`.
#[derive(Debug)]
pub(super) struct Switch {
    pub(super) name: String,
    pub(super) is_off: bool,
    /// On by a literal `ON`, not by a variable such as the platform.
    pub(super) is_on: bool,
    pub(super) from: Origin,
}

/// `add_executable`.
#[derive(Debug)]
pub(super) struct Executable {
    pub(super) name: String,
    pub(super) from: Origin,
    pub(super) sources: Vec<String>,
    /// The folder where it is built, below `{build}`; with a `$` if it is not fully known.
    pub(super) folder: String,
    /// Options that it depends on and that are off by default.
    pub(super) switches: Vec<String>,
}

impl CMakeFacts {
    /// Notes a function or macro if its body warns about something deprecated.
    pub(super) fn defined(&mut self, function: &Command, body: &[Command]) {
        if let Some(name) = function.arguments.first().filter(|_| warns(body)) {
            self.warning.insert(name.text.to_lowercase());
        }
    }

    /// Notes the rename in a call of a function that warns about deprecated options:
    /// `name(WARNING OLD NEW)`.
    pub(super) fn called(&mut self, name: &str, words: &[String]) {
        if let [.., old, new] = words
            && self.warning.contains(name)
            && is_option(old)
            && is_option(new)
        {
            self.renames.push((old.clone(), new.clone()));
        }
    }

    /// Notes the rename in `if(OLD)` if the branch warns that something is deprecated and has
    /// `set(NEW ON)`.
    pub(super) fn replaced(&mut self, condition: &Command, body: &[Command]) {
        let [old] = condition.arguments.as_slice() else { return };
        if !is_option(&old.text) || !warns(body) {
            return;
        }
        for set in body.iter().filter(|command| command.name == "set") {
            if let [new, value, ..] = set.arguments.as_slice()
                && value.text == "ON"
                && is_option(&new.text)
            {
                self.renames.push((old.text.clone(), new.text.clone()));
            }
        }
    }

    /// The build that these declarations make.
    pub(super) fn build(mut self, tree: &Tree, root: &str, file: String) -> Build {
        let programs = self.executables.iter().map(|e| self.program(tree, root, e)).collect();
        let whole = Recipe {
            system: System::Cmake,
            configure: Some(configure(root, &[])),
            build: "cmake --build {build} -j{jobs}".to_owned(),
            path: String::new(),
            unsure: Vec::new(),
        };
        let off = self.options.iter().filter(|o| o.is_off).map(|o| o.name.clone()).collect();
        Build {
            suites: self.test.take().map(|from| suite(from, &whole)).into_iter().collect(),
            options: self.backends(),
            switches: self.options.iter().map(|o| (o.name.clone(), o.from.clone())).collect(),
            off,
            offs: std::mem::take(&mut self.offs),
            idle: std::mem::take(&mut self.idle),
            renames: std::mem::take(&mut self.renames),
            parts: self.parts(),
            ..Build::of(System::Cmake, file, programs, whole)
        }
    }

    fn parts(&mut self) -> Parts {
        let mut files = std::mem::take(&mut self.libraries);
        for (target, homes) in std::mem::take(&mut self.homes) {
            files.entry(target).or_default().extend(homes);
        }
        for executable in &self.executables {
            let own = files.entry(executable.name.clone()).or_default();
            own.extend(executable.sources.iter().cloned());
            own.push(executable.from.file.clone());
        }
        Parts { files, links: std::mem::take(&mut self.links) }
    }

    fn backends(&self) -> Vec<(String, Origin)> {
        let chosen = self.options.iter().filter(|option| {
            option.name.rsplit('_').next().is_some_and(|last| BACKENDS.contains(&last))
        });
        let mut options: Vec<_> = chosen.map(|o| (o.name.clone(), o.from.clone())).collect();
        options.dedup_by(|a, b| a.0 == b.0);
        options
    }

    fn program(&self, tree: &Tree, root: &str, executable: &Executable) -> Program {
        let Executable { name, from, sources, folder, switches } = executable;
        let property =
            |key: &str| self.properties.get(&(name.clone(), key.to_owned())).map(String::as_str);
        let folder = property("RUNTIME_OUTPUT_DIRECTORY").unwrap_or(folder);
        let file = property("OUTPUT_NAME").unwrap_or(name);
        let mut unsure = Vec::new();
        let path = if folder.contains('$') {
            unsure.push(format!("where CMake puts `{name}` is not known: {from} says {folder}"));
            format!("{{build}}/bin/{file}")
        } else {
            format!("{folder}/{file}")
        };
        let switches: Vec<&str> = switches.iter().map(String::as_str).collect();
        let mut all = sources.clone();
        // A tool may be a few lines around a library in the same folder. Then the library's sources
        // count.
        for library in self.links.get(name).into_iter().flatten() {
            let beside = |file: &&String| parent(file) == parent(&from.file);
            let linked = self.libraries.get(library).into_iter().flatten();
            all.extend(linked.filter(beside).cloned());
        }
        all.retain(|file| tree.has(file));
        Program {
            name: name.clone(),
            from: from.clone(),
            sources: all,
            recipe: Recipe {
                system: System::Cmake,
                configure: Some(configure(root, &switches)),
                build: format!("cmake --build {{build}} -j{{jobs}} --target {}", quoted(name)),
                path: quoted(&path),
                unsure,
            },
        }
    }
}

/// Whether one of these commands prints a message with `deprecated`, nested blocks included.
fn warns(body: &[Command]) -> bool {
    body.iter().filter(|command| command.name == "message").any(|message| {
        message.arguments.iter().any(|argument| argument.text.to_lowercase().contains("deprecated"))
    })
}

/// Whether a word looks like the name of an option: `A_NAME`.
fn is_option(word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    word.contains('_') && word.chars().all(is_part)
}

/// The suite of all tests that the tree declares, run by `ctest`.
fn suite(from: Origin, whole: &Recipe) -> Program {
    let path = "ctest --test-dir {build} --output-on-failure".to_owned();
    let recipe = Recipe { path, ..whole.clone() };
    Program { name: "ctest".to_owned(), from, sources: Vec::new(), recipe }
}

fn configure(root: &str, switches: &[&str]) -> String {
    let src = below("{src}", root);
    let mut words = vec![format!("cmake -B {{build}} -S {src} -DCMAKE_BUILD_TYPE=Release")];
    words.extend(switches.iter().map(|switch| format!("-D{switch}=ON")));
    words.join(" ")
}
