//! Cargo trees: packages, their programs and examples.

use toml::{Table, Value};

use super::program::{Build, Program, Recipe, System, below, quoted};
use super::tree::{Origin, Tree, ending, join, parent, stem};

/// Reads the Cargo build in the folder `root`; `None` if no valid Cargo.toml is tracked there.
pub(super) fn read(tree: &Tree, root: &str) -> Option<Build> {
    let file = join(root, "Cargo.toml");
    let manifest = manifest(tree, &file)?;
    let mut reader =
        Reader { tree, root, locked: tree.has(&join(root, "Cargo.lock")), programs: Vec::new() };
    reader.package(root, &file, &manifest);
    for member in members(tree, root, &manifest) {
        let file = join(&member, "Cargo.toml");
        if let Some(manifest) = self::manifest(tree, &file) {
            reader.package(&member, &file, &manifest);
        }
    }
    let whole = reader.recipe(&[], "");
    let Reader { programs, .. } = reader;
    Some(Build::of(System::Cargo, file, programs, whole))
}

fn manifest(tree: &Tree, file: &str) -> Option<Table> {
    tree.text(file)?.parse().ok()
}

/// The folders of the workspace's members. A `*` stands for one path component.
fn members(tree: &Tree, root: &str, manifest: &Table) -> Vec<String> {
    let patterns =
        manifest.get("workspace").and_then(|w| w.get("members")).and_then(Value::as_array);
    let patterns: Vec<glob::Pattern> = patterns
        .into_iter()
        .flatten()
        .filter_map(|pattern| glob::Pattern::new(&join(root, pattern.as_str()?)).ok())
        .collect();
    let options = glob::MatchOptions { require_literal_separator: true, ..Default::default() };
    let manifests = tree.below(root).filter_map(|file| file.strip_suffix("/Cargo.toml"));
    let is_member =
        |folder: &&str| patterns.iter().any(|pattern| pattern.matches_with(folder, options));
    manifests.filter(is_member).map(str::to_owned).collect()
}

struct Reader<'t> {
    tree: &'t Tree,
    root: &'t str,
    locked: bool,
    programs: Vec<Program>,
}

/// A declared or discovered target.
struct Target {
    name: String,
    path: String,
    line: Option<usize>,
    features: Vec<String>,
}

impl Reader<'_> {
    fn package(&mut self, folder: &str, file: &str, manifest: &Table) {
        let Some(package) = manifest.get("package").and_then(Value::as_table) else { return };
        let Some(name) = package.get("name").and_then(Value::as_str) else { return };
        let found = |key: &str| package.get(key).and_then(Value::as_bool).unwrap_or(true);
        let mut bins = self.declared(folder, file, manifest, "bin");
        if found("autobins") {
            self.discover(&mut bins, folder, "src/bin");
            let main = join(folder, "src/main.rs");
            let is_declared = bins.iter().any(|bin| bin.path == main || bin.name == name);
            if self.tree.has(&main) && !is_declared {
                let name = name.to_owned();
                bins.push(Target { name, path: main, line: None, features: Vec::new() });
            }
        }
        let mut examples = self.declared(folder, file, manifest, "example");
        if found("autoexamples") {
            self.discover(&mut examples, folder, "examples");
        }
        for (kind, targets) in [("bin", bins), ("example", examples)] {
            for target in targets {
                self.add(folder, file, name, kind, target);
            }
        }
    }

    /// `[[bin]]` or `[[example]]`.
    fn declared(&self, folder: &str, file: &str, manifest: &Table, kind: &str) -> Vec<Target> {
        let Some(text) = self.tree.text(file) else { return Vec::new() };
        let tables = manifest.get(kind).and_then(Value::as_array);
        let targets = tables.into_iter().flatten().filter_map(|table| {
            let name = table.get("name")?.as_str()?;
            let usual = match kind {
                "bin" => [
                    format!("src/bin/{name}.rs"),
                    format!("src/bin/{name}/main.rs"),
                    "src/main.rs".to_owned(),
                ],
                _ => [
                    format!("examples/{name}.rs"),
                    format!("examples/{name}/main.rs"),
                    String::new(),
                ],
            };
            let path = table.get("path").and_then(Value::as_str).map(|path| join(folder, path));
            let path = path.or_else(|| {
                usual.iter().map(|path| join(folder, path)).find(|path| self.tree.has(path))
            })?;
            let features = table.get("required-features").and_then(Value::as_array);
            let features = features.into_iter().flatten().filter_map(Value::as_str);
            let quoted = format!("\"{name}\"");
            let named =
                |line: &str| line.trim_start().starts_with("name") && line.contains(&quoted);
            Some(Target {
                name: name.to_owned(),
                path,
                line: text.lines().position(named).map(|index| index + 1),
                features: features.map(str::to_owned).collect(),
            })
        });
        targets.collect()
    }

    /// Adds the targets that Cargo finds by itself: files, and folders with a `main.rs`.
    fn discover(&self, targets: &mut Vec<Target>, folder: &str, below: &str) {
        let place = join(folder, below);
        let inside = self.tree.below(&place).filter(|file| ending(file) == "rs");
        for file in inside {
            let name = match file[place.len() + 1..].split('/').collect::<Vec<_>>().as_slice() {
                [_] => stem(file),
                [name, "main.rs"] => name,
                _ => continue,
            };
            if !targets.iter().any(|target| target.name == name || target.path == file) {
                let (name, path) = (name.to_owned(), file.to_owned());
                targets.push(Target { name, path, line: None, features: Vec::new() });
            }
        }
    }

    fn add(&mut self, folder: &str, file: &str, package: &str, kind: &str, target: Target) {
        let Target { name, path, line, features } = target;
        let mut words = Vec::new();
        if folder != self.root {
            words.push(format!("-p {}", quoted(package)));
        }
        if !features.is_empty() {
            words.push(format!("--features {}", quoted(&features.join(","))));
        }
        words.push(format!("--{kind} {}", quoted(&name)));
        let place = if kind == "bin" { "release" } else { "release/examples" };
        let recipe = self.recipe(&words, &below("{build}", &format!("{place}/{name}")));
        let sources = self.sources(folder, &path);
        let from = line.map_or_else(|| Origin::new(&path, 1), |line| Origin::new(file, line));
        self.programs.push(Program { name, from, sources, recipe });
    }

    /// The sources of a program: its main file, the files in its own folder if it has one, and
    /// the package's library.
    fn sources(&self, folder: &str, path: &str) -> Vec<String> {
        let library = join(folder, "src");
        let own = if stem(path) == "main" { parent(path) } else { path };
        let bins = join(folder, "src/bin");
        let is_source = |file: &&str| {
            ending(file) == "rs"
                && *file != path
                && (!file.starts_with(&format!("{bins}/")) || file.starts_with(&format!("{own}/")))
        };
        let mut sources = vec![path.to_owned()];
        sources.extend(self.tree.below(own).filter(is_source).map(str::to_owned));
        if own != library {
            sources.extend(self.tree.below(&library).filter(is_source).map(str::to_owned));
        }
        sources
    }

    fn recipe(&self, words: &[String], path: &str) -> Recipe {
        let mut build = vec!["cargo build --release".to_owned()];
        let mut unsure = Vec::new();
        if self.locked {
            build.push("--locked".to_owned());
        } else {
            let what = "no Cargo.lock is tracked: a commit is built with the dependencies of \
                        today, which may differ from those it was written with";
            unsure.push(what.to_owned());
        }
        if !self.root.is_empty() {
            let file = below("{src}", &join(self.root, "Cargo.toml"));
            build.push(format!("--manifest-path {file}"));
        }
        build.push("--target-dir {build} -j{jobs}".to_owned());
        build.extend_from_slice(words);
        Recipe {
            system: System::Cargo,
            configure: None,
            build: build.join(" "),
            path: path.to_owned(),
            unsure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::tests::tree;
    use super::*;

    fn programs(files: &[(&str, &str)]) -> Vec<(String, String, String)> {
        let (_folder, tree) = tree(files);
        let build = read(&tree, "").unwrap();
        let programs = build.programs.into_iter();
        programs.map(|p| (p.name, p.recipe.build, p.recipe.path)).collect()
    }

    #[test]
    fn programs_are_declared_or_found() {
        let found = programs(&[
            (
                "Cargo.toml",
                "[package]\nname = \"engine\"\n\n[[bin]]\nname = \"ppl\"\npath = \"tools/ppl.rs\"\nrequired-features = [\"tools\"]\n",
            ),
            ("Cargo.lock", ""),
            ("src/main.rs", ""),
            ("src/bin/bench.rs", ""),
            ("src/bin/two/main.rs", ""),
            ("src/bin/two/part.rs", ""),
            ("examples/ex.rs", ""),
            ("tools/ppl.rs", ""),
        ]);
        let names: Vec<_> = found.iter().map(|(name, ..)| name.as_str()).collect();
        assert_eq!(names, ["ppl", "bench", "two", "engine", "ex"]);
        let start = "cargo build --release --locked --target-dir {build} -j{jobs}";
        assert_eq!(found[0].1, format!("{start} --features tools --bin ppl"));
        assert_eq!(found[0].2, "{build}/release/ppl");
        assert_eq!(found[4].2, "{build}/release/examples/ex");
    }

    #[test]
    fn members_of_a_workspace_are_named_by_their_package() {
        let found = programs(&[
            ("Cargo.toml", "[workspace]\nmembers = [\"crates/*\", \"tool\"]\n"),
            ("crates/a/Cargo.toml", "[package]\nname = \"pkg-a\"\n"),
            ("crates/a/src/main.rs", ""),
            ("crates/a/deep/Cargo.toml", "[package]\nname = \"no-member\"\n"),
            ("crates/a/deep/src/main.rs", ""),
            ("tool/Cargo.toml", "[package]\nname = \"tool\"\n"),
            ("tool/src/main.rs", ""),
        ]);
        let names: Vec<_> = found.iter().map(|(name, ..)| name.as_str()).collect();
        assert_eq!(names, ["pkg-a", "tool"]);
        assert!(found[0].1.ends_with("-j{jobs} -p pkg-a --bin pkg-a"), "{}", found[0].1);
        assert!(!found[0].1.contains("--locked"), "there is no Cargo.lock");
    }
}
