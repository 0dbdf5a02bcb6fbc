//! Make trees. The Makefile is parsed, and make is not called: `make -pn` would run every
//! `$(shell …)`, and `init` must not run anything of the tree.

mod reader;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::program::{Build, Program, Recipe, System, below, quoted};
use super::suites::suite_name_score;
use super::tree::{Origin, Tree, base, ending, inside, is_c, join, parent, stem};

use reader::{Makefile, stem_of, substitute};

/// Usual names of the variable that holds the build folder.
const FOLDERS: [&str; 14] = [
    "BUILD",
    "BUILD_DIR",
    "BUILDDIR",
    "BUILD_PATH",
    "O",
    "OUT",
    "OUT_DIR",
    "OUTDIR",
    "OUTPUT_DIR",
    "OBJDIR",
    "OBJ_DIR",
    "BINDIR",
    "BIN_DIR",
    "BIN",
];

/// Reads the make build in the folder `root`; `None` if no Makefile is tracked there.
pub(super) fn read(tree: &Tree, root: &str) -> Option<Build> {
    let names = ["GNUmakefile", "makefile", "Makefile"];
    let file = names.iter().map(|name| join(root, name)).find(|file| tree.has(file))?;
    let makefile = Makefile::read(tree, root, &file);
    let reader = Reader { tree, root, makefile: &makefile };
    let mut programs: Vec<Program> = Vec::new();
    // Programs that can be built outside the tree come first. The others are built in the tree.
    for folder in FOLDERS.iter().filter(|name| makefile.has_variable(name)) {
        reader.programs(Some(folder), &mut programs);
    }
    reader.programs(None, &mut programs);
    let whole = reader.recipe(None, None, String::new());
    let suites = reader.suites();
    Some(Build { suites, ..Build::of(System::Make, file, programs, whole) })
}

/// A target: the prerequisites and recipe lines of all its rules.
#[derive(Debug, Default)]
struct Target {
    needs: Vec<String>,
    recipe: Vec<String>,
    from: Option<Origin>,
}

struct Reader<'t> {
    tree: &'t Tree,
    root: &'t str,
    makefile: &'t Makefile,
}

impl Reader<'_> {
    /// Adds the programs that are built below the variable `folder`, or, if it is `None`, the
    /// programs that are built in the tree.
    fn programs(&self, folder: Option<&str>, programs: &mut Vec<Program>) {
        let given: Vec<(&str, &str)> = folder.iter().map(|name| (*name, "{build}")).collect();
        for (target, about) in self.targets(&given) {
            for (path, words) in self.made(&target, &about, &given) {
                let is_moved = path.strip_prefix("{build}/");
                if is_moved.is_some() != folder.is_some() || !is_program(&path) {
                    continue;
                }
                let name = base(&path).to_owned();
                if programs.iter().any(|known| known.name == name) {
                    continue;
                }
                let Some(from) = about.from.clone() else { continue };
                let place = match is_moved {
                    Some(inner) => below("{build}", inner),
                    None => below("{src}", &join(self.root, &path)),
                };
                let sources = self.sources(&name, about.needs.iter().chain(&words));
                let recipe = self.recipe(folder, Some(&target), place);
                programs.push(Program { name, from, sources, recipe });
            }
        }
    }

    /// Every target by its expanded name. Pattern rules and make's own rules are included.
    fn targets(&self, given: &[(&str, &str)]) -> BTreeMap<String, Target> {
        let mut targets: BTreeMap<String, Target> = BTreeMap::new();
        for rule in &self.makefile.rules {
            let needs = self.makefile.words(&rule.needs, given);
            for name in self.makefile.words(&rule.targets, given) {
                let pattern = rule.pattern.as_ref().map(|p| self.makefile.expand(p, given));
                let of_stem = |need: &String| match &pattern {
                    Some(pattern) => stem_of(pattern, &name)
                        .map_or_else(|| need.clone(), |stem| need.replacen('%', stem, 1)),
                    None => need.clone(),
                };
                let needs: Vec<String> = needs.iter().map(of_stem).collect();
                let target = targets.entry(name).or_default();
                target.needs.extend(needs);
                target.recipe.extend(rule.recipe.iter().cloned());
                target.from.get_or_insert_with(|| Origin::new(&rule.file, rule.line));
            }
        }
        self.add_implied(&mut targets, given);
        targets
    }

    /// Adds targets that some rule needs and that a pattern rule or make's own rules build.
    fn add_implied(&self, targets: &mut BTreeMap<String, Target>, given: &[(&str, &str)]) {
        let wanted: Vec<(String, Option<Origin>)> = targets
            .iter()
            .flat_map(|(name, about)| {
                let own = about.recipe.is_empty().then(|| name.clone());
                about.needs.iter().cloned().chain(own).map(|need| (need, about.from.clone()))
            })
            .filter(|(need, _)| !need.contains(['%', '$']) && is_program(need))
            .collect();
        for (name, from) in wanted {
            let known = targets.get(&name);
            if known.is_some_and(|about| !about.recipe.is_empty()) {
                continue;
            }
            let needs = known.map(|about| about.needs.clone()).unwrap_or_default();
            let Some(mut about) =
                self.implied(&name, given).or_else(|| self.built_in(&name, &needs))
            else {
                continue;
            };
            about.needs.extend(needs);
            about.from = about.from.or(from);
            targets.insert(name, about);
        }
    }

    /// The target as a pattern rule of the Makefile builds it.
    fn implied(&self, name: &str, given: &[(&str, &str)]) -> Option<Target> {
        self.makefile.rules.iter().find_map(|rule| {
            let patterns = self.makefile.words(&rule.targets, given);
            let (pattern, _) = patterns
                .iter()
                .filter(|pattern| pattern.contains('%') && !rule.recipe.is_empty())
                .find_map(|pattern| Some((pattern, stem_of(pattern, name)?)))?;
            let needs = self.makefile.words(&rule.needs, given);
            Some(Target {
                needs: needs.iter().map(|need| substitute(pattern, need, name)).collect(),
                recipe: rule.recipe.clone(),
                from: Some(Origin::new(&rule.file, rule.line)),
            })
        })
    }

    /// The target as make's own rules build it: `ppl` from `ppl.c`, or from `ppl.o`.
    fn built_in(&self, name: &str, needs: &[String]) -> Option<Target> {
        let is_object = |need: &&String| ending(need) == "o" && stem(need) == name;
        let mut sources = self.tree.within(parent_of(self.root, name));
        let source = sources.find(|file| is_c(file) && stem(file) == base(name));
        let is_made = source.is_some() || needs.iter().any(|need| is_object(&need));
        is_made.then(|| Target {
            needs: source.map(|file| inside(self.root, file).to_owned()).into_iter().collect(),
            recipe: vec!["$(LINK) -o $@".to_owned()],
            from: None,
        })
    }

    /// The programs that a target's recipe links, each with the words of its command.
    fn made(
        &self,
        target: &str,
        about: &Target,
        given: &[(&str, &str)],
    ) -> Vec<(String, Vec<String>)> {
        let mut made = Vec::new();
        for command in &about.recipe {
            let words = self.makefile.words(command, given);
            let compiles =
                words.iter().any(|word| matches!(word.as_str(), "-c" | "-shared" | "-E"));
            let place = words.iter().position(|word| word == "-o").and_then(|at| words.get(at + 1));
            let Some(path) = place.filter(|_| !compiles) else { continue };
            let is_target = matches!(path.as_str(), "$@" | "${@}" | "$(@)" | "'$@'" | "\"$@\"");
            let path = if is_target { target.to_owned() } else { path.clone() };
            made.push((path.trim_start_matches("./").to_owned(), words));
        }
        made
    }

    /// The tracked sources of a program, from the sources and objects it is linked from.
    fn sources<'w>(&self, name: &str, words: impl Iterator<Item = &'w String>) -> Vec<String> {
        let mut sources = Vec::new();
        for word in words {
            let file = join(self.root, word);
            if is_c(&file) && self.tree.has(&file) {
                sources.push(file);
            } else if ending(word) == "o" {
                let called = |found: &&str| is_c(found) && stem(found) == stem(word);
                sources.extend(self.tree.below(self.root).find(called).map(str::to_owned));
            }
        }
        sources.sort();
        sources.dedup();
        // The source with the program's name comes first.
        sources.sort_by_key(|file| stem(file) != name);
        sources
    }

    /// Targets that are test suites. They are built and run in the tree, since their programs
    /// expect the libraries where the Makefile puts them by default.
    fn suites(&self) -> Vec<Program> {
        let targets = self.targets(&[]);
        let is_plain = |name: &str| !name.contains(['%', '$', '/', '.']);
        let mut suites = Vec::new();
        for (name, about) in &targets {
            if suite_name_score(name) == 0 || !is_plain(name) {
                continue;
            }
            let Some(from) = about.from.clone() else { continue };
            if let Some(suite) = self.suite_that_is_built(name, about, &from) {
                suites.push(suite);
                continue;
            }
            // The suite's prerequisites are the build. A prerequisite that is itself a suite is
            // left out: it may fail, and that must not fail the build.
            let is_built = |need: &&String| {
                targets.contains_key(*need) && (suite_name_score(need) == 0 || !is_plain(need))
            };
            let needs: Vec<String> =
                about.needs.iter().filter(is_built).map(|need| quoted(need)).collect();
            let mut recipe = self.recipe(None, None, String::new());
            if !needs.is_empty() {
                recipe.build = format!("{} {}", recipe.build, needs.join(" "));
            }
            recipe.path = format!("make -C {} {}", below("{src}", self.root), quoted(name));
            let words = about.recipe.iter().flat_map(|line| self.makefile.words(line, &[]));
            let mut sources = Vec::new();
            for word in words {
                let word = word.trim_start_matches("./");
                let file = join(self.root, word);
                if self.tree.has(&file) {
                    sources.push(file);
                } else if let Some(program) = targets.get(word) {
                    sources.extend(self.sources(base(word), program.needs.iter()));
                }
            }
            suites.push(Program { name: name.clone(), from, sources, recipe });
        }
        suites.sort_by(|a, b| (&a.from.file, a.from.line).cmp(&(&b.from.file, b.from.line)));
        suites
    }

    /// A suite that is a program: the target's recipe only links the program, so the program has
    /// to be run after the build.
    fn suite_that_is_built(&self, name: &str, about: &Target, from: &Origin) -> Option<Program> {
        let [command] = about.recipe.as_slice() else { return None };
        let made = self.made(name, about, &[]);
        let (_, words) = made.iter().find(|(path, _)| path == name && !command.contains("&&"))?;
        Some(Program {
            name: name.to_owned(),
            from: from.clone(),
            sources: self.sources(name, about.needs.iter().chain(words)),
            recipe: self.recipe(None, Some(name), below("{src}", &join(self.root, name))),
        })
    }

    fn recipe(&self, folder: Option<&str>, target: Option<&str>, path: String) -> Recipe {
        let mut words = vec![format!("make -C {}", below("{src}", self.root))];
        words.extend(folder.map(|folder| format!("{folder}={{build}}")));
        words.push("-j{jobs}".to_owned());
        words.extend(target.map(quoted));
        let build = words.join(" ");
        Recipe { system: System::Make, configure: None, build, path, unsure: Vec::new() }
    }
}

/// Whether a path may be a program: not an object, a library, a source, or unexpanded text.
fn is_program(path: &str) -> bool {
    let name = base(path);
    let plain = !path.contains(['$', '%', '*', '`', '(', '\'', '"']) && !name.is_empty();
    plain && !path.starts_with('/') && matches!(ending(name), "" | "out" | "bin")
}

fn parent_of<'p>(root: &'p str, name: &'p str) -> &'p str {
    if root.is_empty() { parent(name) } else { root }
}
