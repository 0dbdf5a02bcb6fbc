//! What CMake files declare, and the commands that build it.

use std::collections::BTreeMap;

use crate::init::program::{Build, Idle, Off, Program, Recipe, System, below, quoted};
use crate::init::tree::{Origin, Tree, base};

/// What an option's name ends with that chooses a backend, or how the processor is used.
const BACKENDS: [&str; 16] = [
    "CUDA", "HIP", "HIPBLAS", "CUBLAS", "VULKAN", "METAL", "SYCL", "OPENCL", "MUSA", "CANN",
    "BLAS", "OPENBLAS", "OPENMP", "NATIVE", "KLEIDIAI", "WEBGPU",
];

/// What the files declare.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) executables: Vec<Executable>,
    /// A library's sources.
    pub(super) libraries: BTreeMap<String, Vec<String>>,
    pub(super) links: BTreeMap<String, Vec<String>>,
    pub(super) properties: BTreeMap<(String, String), String>,
    pub(super) options: Vec<Switch>,
    pub(super) offs: Vec<Off>,
    pub(super) idle: Vec<Idle>,
    /// The first test that is declared.
    pub(super) test: Option<Origin>,
}

/// `option(NAME …)`.
#[derive(Debug)]
pub(super) struct Switch {
    pub(super) name: String,
    pub(super) is_off: bool,
    /// In so many words, and not by what the platform is.
    pub(super) is_on: bool,
    pub(super) from: Origin,
}

/// `add_executable`.
#[derive(Debug)]
pub(super) struct Executable {
    pub(super) name: String,
    pub(super) from: Origin,
    pub(super) sources: Vec<String>,
    /// Where it is built, with `{build}` in it, as far as known.
    pub(super) folder: String,
    /// Options that are off unless told otherwise, and that it depends on.
    pub(super) switches: Vec<String>,
}

impl Found {
    /// All of it.
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
            ..Build::of(System::Cmake, file, programs, whole)
        }
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
        // Today's tools are a few lines around a library that lies beside them.
        for library in self.links.get(name).into_iter().flatten() {
            let beside = |file: &&String| base_folder(file) == base_folder(&from.file);
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

fn base_folder(file: &str) -> &str {
    &file[..file.len() - base(file).len()]
}

/// All tests that the tree declares, run by CMake's own runner.
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
