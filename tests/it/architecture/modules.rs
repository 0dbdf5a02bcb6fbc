//! The modules of the crate, and which file imports what from which other file.

use std::collections::{BTreeMap, BTreeSet};

use super::syntax::{Code, Import};

/// The path of a module from the crate's root; empty for the root.
type ModulePath = Vec<String>;

/// For each file the files that it imports from, each with the imported names. A module counts
/// under its own name.
pub(super) type Graph = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// All modules that `lib.rs` declares, directly or not. Modules of unit tests are not among them.
pub(super) struct Modules(BTreeMap<ModulePath, Module>);

struct Module {
    file: String,
    code: Code,
}

/// The target of a path.
enum Target {
    Module(ModulePath),
    /// An item of this module.
    Item(ModulePath, String),
}

impl Target {
    fn module(&self) -> &ModulePath {
        match self {
            Self::Module(module) | Self::Item(module, _) => module,
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Module(module) => module.last().cloned().unwrap_or_default(),
            Self::Item(_, name) => name.clone(),
        }
    }
}

impl Modules {
    /// Reads the modules from these files: path below `src` → text.
    pub(super) fn of(files: &BTreeMap<String, String>) -> Self {
        let mut modules = Self(BTreeMap::new());
        modules.add(ModulePath::new(), "lib.rs", Code::of(&files["lib.rs"]), files);
        modules
    }

    fn add(
        &mut self,
        path: ModulePath,
        file: &str,
        mut code: Code,
        files: &BTreeMap<String, String>,
    ) {
        for (name, inner) in std::mem::take(&mut code.inner) {
            self.add(child(&path, &name), file, inner, files);
        }
        for name in &code.files {
            let path = child(&path, name);
            let stem = path.join("/");
            let file = [format!("{stem}.rs"), format!("{stem}/mod.rs")];
            let file = file.iter().find(|file| files.contains_key(*file));
            let file =
                file.unwrap_or_else(|| panic!("the file of `mod {name};` ({stem}) is missing"));
            self.add(path, file, Code::of(&files[file]), files);
        }
        self.0.insert(path, Module { file: file.to_owned(), code });
    }

    /// Which file imports what from which other file. An imported name counts for the file that
    /// defines it, not for a module that exports it again. A parent that only exports its own
    /// child's items does not import them.
    pub(super) fn imports(&self) -> Graph {
        let mut graph = Graph::new();
        for (module, Module { file, code }) in &self.0 {
            let mut add = |target: &Target, name: String| {
                let other = &self.0[target.module()].file;
                if other != file {
                    let names = graph.entry(file.clone()).or_default().entry(other.clone());
                    names.or_default().insert(name);
                }
            };
            for import in &code.imports {
                let Some(target) = self.resolve(module, &import.path, &mut Vec::new()) else {
                    continue;
                };
                let is_below = target.module().starts_with(module);
                if import.is_public && is_below && !code.mentions(&import.name) {
                    continue;
                }
                let is_all = import.name == Import::ALL;
                add(&target, if is_all { Import::ALL.to_owned() } else { target.name() });
            }
            for path in code.paths.iter().filter(|path| path.len() > 1) {
                if let Some(target) = self.resolve(module, path, &mut Vec::new()) {
                    add(&target, target.name());
                }
            }
        }
        graph
    }

    /// The target of a path in this module; `None` for another crate. `seen` holds the names that
    /// are being looked up, since modules may export each other's names.
    fn resolve(
        &self,
        module: &ModulePath,
        path: &[String],
        seen: &mut Vec<(ModulePath, String)>,
    ) -> Option<Target> {
        let ups = path.iter().take_while(|part| *part == "super").count();
        let (mut current, begin) = match path.first()?.as_str() {
            "crate" => (ModulePath::new(), 1),
            "self" => (module.clone(), 1),
            _ => (module[..module.len().checked_sub(ups)?].to_vec(), ups),
        };
        for (place, name) in path.iter().enumerate().skip(begin) {
            match self.look_up(&current, name, seen) {
                Some(Target::Module(inner)) => current = inner,
                Some(item) => return Some(item),
                // The first word of a path may be another crate.
                None if place == 0 => return None,
                None => return Some(Target::Item(current, name.clone())),
            }
        }
        Some(Target::Module(current))
    }

    /// The target of a name in this module: a child, an item, or an import.
    fn look_up(
        &self,
        module: &ModulePath,
        name: &str,
        seen: &mut Vec<(ModulePath, String)>,
    ) -> Option<Target> {
        let key = (module.clone(), name.to_owned());
        if seen.contains(&key) {
            return None;
        }
        seen.push(key);
        let child = child(module, name);
        if self.0.contains_key(&child) {
            return Some(Target::Module(child));
        }
        let code = &self.0[module].code;
        if code.items.contains(name) {
            return Some(Target::Item(module.clone(), name.to_owned()));
        }
        let (all, named): (Vec<_>, Vec<_>) =
            code.imports.iter().partition(|import| import.name == Import::ALL);
        let named = named.iter().filter(|import| import.name == name);
        let mut found = named.filter_map(|import| self.resolve(module, &import.path, seen));
        if let Some(target) = found.next() {
            return Some(target);
        }
        all.iter().find_map(|import| match self.resolve(module, &import.path, seen)? {
            Target::Module(other) => self.look_up(&other, name, seen),
            Target::Item(..) => None,
        })
    }
}

fn child(module: &ModulePath, name: &str) -> ModulePath {
    let mut child = module.clone();
    child.push(name.to_owned());
    child
}
