//! CMake trees.
//!
//! The files are read, not run. `set`, `option`, `project`, `add_subdirectory`, `include`,
//! `foreach`, `file(GLOB)`, `add_executable`, `add_library`, `target_link_libraries` and
//! `set_target_properties` are interpreted. Functions and macros are not called. If one warns about
//! old names of options, the new names are read from its calls. A condition on another platform is
//! false. A condition on the folder of the file is evaluated. Both branches of every other
//! condition are read.

mod found;
mod reader;
mod scope;
#[cfg(test)]
mod tests;

use super::program::{Build, OptionToDisable, OptionalFolder};
use super::tree::{Origin, Tree, is_c, join};

use found::{CMakeFacts, Executable, Switch};
use reader::{Command, Commands};
use scope::{Scope, truth};

/// The deepest nesting of files, the deepest nesting of blocks, the most rounds of a loop, and the
/// most commands in all. Real trees need less.
const DEEPEST: usize = 24;
const NESTED: usize = 256;
const ROUNDS: usize = 200;
const COMMANDS: usize = 200_000;
/// The value of a loop's variable that cannot be read from the file. Names and paths with a `$` in
/// them are left out, and the other commands of the loop are read once.
const UNKNOWN: &str = "$";
/// So many bytes of text, or tries of a file against a pattern, count as a further command.
const AS_ONE: usize = 1 << 10;

/// Packages that programs use only to fetch or serve models over the network.
const NETWORK: [&str; 2] = ["CURL", "OpenSSL"];

/// Reads the CMake build in the folder `root`; `None` if no CMakeLists.txt is tracked there.
pub(super) fn read(tree: &Tree, root: &str) -> Option<Build> {
    let file = join(root, "CMakeLists.txt");
    tree.text(&file)?;
    let found = CMakeFacts::default();
    let mut walk = Walk { tree, found, open: Vec::new(), nested: 0, left: COMMANDS };
    let mut scope = Scope::root(root);
    walk.file(&file, &mut scope, 0);
    Some(walk.found.build(tree, root, file))
}

struct Walk<'t> {
    tree: &'t Tree,
    found: CMakeFacts,
    /// The files being read: each is included by the one before it.
    open: Vec<String>,
    /// How many blocks and files are being read.
    nested: usize,
    /// How many commands may still be read.
    left: usize,
}

impl Walk<'_> {
    /// Reads a file. A file that includes itself is read once: each further reading would read it
    /// again.
    fn file(&mut self, file: &str, scope: &mut Scope, depth: usize) {
        if depth > DEEPEST || self.open.iter().any(|open| open == file) {
            return;
        }
        let Some(text) = self.tree.text(file) else { return };
        self.open.push(file.to_owned());
        self.run(&text.fact::<Commands>().0, file, scope, depth);
        self.open.pop();
    }

    /// Counts work that is more than that of one command.
    fn spend(&mut self, amount: usize) {
        self.left = self.left.saturating_sub(amount / AS_ONE);
    }

    /// As [`Scope::words`]; long texts count.
    fn words(&mut self, command: &Command, scope: &Scope) -> Vec<String> {
        let words = scope.words(&command.arguments);
        self.spend(words.iter().map(String::len).sum());
        words
    }

    fn run(&mut self, commands: &[Command], file: &str, scope: &mut Scope, depth: usize) {
        if self.nested == NESTED {
            return;
        }
        self.nested += 1;
        self.commands(commands, file, scope, depth);
        self.nested -= 1;
    }

    fn commands(&mut self, commands: &[Command], file: &str, scope: &mut Scope, depth: usize) {
        let mut at = 0;
        while let Some(command) = commands.get(at).filter(|_| self.left > 0) {
            self.left -= 1;
            let close = match command.name.as_str() {
                "if" => "endif",
                "foreach" => "endforeach",
                "function" => "endfunction",
                "macro" => "endmacro",
                _ => {
                    self.command(command, file, scope, depth);
                    at += 1;
                    continue;
                }
            };
            let end = at + block(&commands[at..], &command.name, close);
            let body = &commands[at + 1..end.min(commands.len())];
            match close {
                "endfunction" | "endmacro" => self.found.defined(command, body),
                "endif" => self.condition(command, body, file, scope, depth),
                "endforeach" => self.each(command, body, file, scope, depth),
                _ => {}
            }
            at = end + 1;
        }
    }

    /// Reads the branches of an `if` that may be taken.
    fn condition(
        &mut self,
        first: &Command,
        body: &[Command],
        file: &str,
        scope: &mut Scope,
        depth: usize,
    ) {
        let mut condition = Some(first);
        let mut rest = body;
        loop {
            let end = branch(rest);
            let holds = condition.map_or(Some(true), |command| truth(&command.arguments, scope));
            if holds != Some(false) {
                let before = scope.switches.len();
                if holds.is_none()
                    && let Some(condition) = condition
                {
                    self.needed(condition, scope);
                    self.option_to_disable(condition, &rest[..end], file);
                    self.found.replaced(condition, &rest[..end]);
                }
                self.run(&rest[..end], file, scope, depth);
                scope.switches.truncate(before);
            }
            let Some(next) = rest.get(end) else { return };
            if holds == Some(true) {
                return;
            }
            condition = (next.name == "elseif").then_some(next);
            rest = &rest[end + 1..];
        }
    }

    /// Notes the options that a condition such as `A` or `A AND B` needs and that are off by
    /// default.
    fn needed(&self, condition: &Command, scope: &mut Scope) {
        let words: Vec<&str> = condition.arguments.iter().map(|a| a.text.as_str()).collect();
        if words.iter().any(|word| matches!(*word, "NOT" | "OR" | "(" | ")")) {
            return;
        }
        for word in words.iter().filter(|word| **word != "AND") {
            let known = self.found.options.iter().find(|option| option.name == *word);
            if known.is_some_and(|option| option.is_off) {
                scope.switches.push((*word).to_owned());
            }
        }
    }

    /// Notes an option to switch off: it is on, and the build fails if a network package is not
    /// installed. A measurement reads files from the disk and needs no network.
    fn option_to_disable(&mut self, condition: &Command, body: &[Command], file: &str) {
        let [option] = condition.arguments.as_slice() else { return };
        let is_on = |known: &&Switch| known.name == option.text && known.is_on;
        if !self.found.options.iter().any(|known| is_on(&known)) {
            return;
        }
        let is_fatal = |command: &Command| {
            command.name == "message"
                && command.arguments.first().is_some_and(|a| a.text == "FATAL_ERROR")
        };
        let ends = body.iter().any(is_fatal);
        let asks = |command: &&Command| {
            let words: Vec<&str> = command.arguments.iter().map(|a| a.text.as_str()).collect();
            command.name == "find_package"
                && words.first().is_some_and(|package| NETWORK.contains(package))
                && (ends || words.contains(&"REQUIRED"))
        };
        let Some(command) = body.iter().find(asks) else { return };
        if !self.found.offs.iter().any(|off| off.option == option.text) {
            self.found.offs.push(OptionToDisable {
                option: option.text.clone(),
                package: command.arguments[0].text.clone(),
                from: Origin::new(file, command.line),
            });
        }
    }

    fn each(
        &mut self,
        first: &Command,
        body: &[Command],
        file: &str,
        scope: &mut Scope,
        depth: usize,
    ) {
        let words = self.words(first, scope);
        let Some((name, items)) = words.split_first() else { return };
        let items = loop_items(items, scope);
        for item in items.iter().take(ROUNDS) {
            scope.set(name, item.clone());
            self.run(body, file, scope, depth);
        }
    }

    fn command(&mut self, command: &Command, file: &str, scope: &mut Scope, depth: usize) {
        let words = self.words(command, scope);
        let Some((first, rest)) = words.split_first() else { return };
        let from = Origin::new(file, command.line);
        match command.name.as_str() {
            "set" => scope.set(first, until(rest, &["CACHE", "PARENT_SCOPE"]).join(";")),
            "project" => scope.project(first),
            "option" => {
                let default = command.arguments.get(2).map_or("OFF", |a| a.text.as_str());
                let default = default.to_ascii_uppercase();
                let is_off = matches!(default.as_str(), "OFF" | "NO" | "FALSE" | "0");
                let is_on = matches!(default.as_str(), "ON" | "YES" | "TRUE" | "1");
                self.found.options.push(Switch { name: first.clone(), is_off, is_on, from });
            }
            "add_subdirectory" => {
                let Some(folder) = scope.path(first) else { return };
                if let Some(option) = scope.switches.last() {
                    let (folder, option) = (folder.clone(), option.clone());
                    self.found.idle.push(OptionalFolder { folder, option });
                }
                let built = rest.first().filter(|word| *word != "EXCLUDE_FROM_ALL");
                self.spend(scope.length());
                let mut inner = scope.below(&folder, first, built.map(String::as_str));
                self.file(&join(&folder, "CMakeLists.txt"), &mut inner, depth + 1);
            }
            "include" => {
                if let Some(path) = scope.path(first) {
                    self.file(&path, scope, depth + 1);
                }
            }
            "file" if first.starts_with("GLOB") => self.glob(first, rest, scope),
            "list" if first == "APPEND" => {
                if let Some((name, values)) = rest.split_first() {
                    let mut all = scope.list(name);
                    all.extend(values.iter().cloned());
                    scope.set(name, all.join(";"));
                }
            }
            "add_executable" => self.executable(first, rest, from, scope),
            "add_library" | "target_sources" => {
                let sources = self.sources(rest, scope);
                self.found.libraries.entry(first.clone()).or_default().extend(sources);
                self.found.homes.entry(first.clone()).or_default().push(file.to_owned());
            }
            "target_link_libraries" => {
                self.found.links.entry(first.clone()).or_default().extend(rest.iter().cloned());
            }
            "set_target_properties" => self.properties(&words),
            "add_test" => {
                self.found.test.get_or_insert(from);
            }
            _ => self.found.called(&command.name, &words),
        }
    }

    fn glob(&mut self, kind: &str, rest: &[String], scope: &mut Scope) {
        let Some((name, patterns)) = rest.split_first() else { return };
        let options = glob::MatchOptions {
            require_literal_separator: kind != "GLOB_RECURSE",
            ..Default::default()
        };
        let patterns = patterns.iter().filter_map(|pattern| scope.path(pattern));
        let patterns: Vec<_> = patterns.filter_map(|p| glob::Pattern::new(&p).ok()).collect();
        self.spend(self.tree.files().count() * patterns.len());
        let fits = |file: &&str| patterns.iter().any(|pattern| pattern.matches_with(file, options));
        let files = self.tree.files().filter(fits).map(|file| format!("{{src}}/{file}"));
        scope.set(name, files.collect::<Vec<_>>().join(";"));
    }

    fn executable(&mut self, name: &str, rest: &[String], from: Origin, scope: &Scope) {
        if rest.iter().any(|word| matches!(word.as_str(), "ALIAS" | "IMPORTED"))
            || name.contains('$')
        {
            return;
        }
        let folder = ["CMAKE_RUNTIME_OUTPUT_DIRECTORY", "EXECUTABLE_OUTPUT_PATH"]
            .iter()
            .find_map(|variable| scope.get(variable).filter(|value| !value.is_empty()))
            .map_or_else(|| scope.built(), |folder| scope.built_path(&folder));
        let sources = self.sources(rest, scope);
        let switches = scope.switches.clone();
        self.found.executables.push(Executable {
            name: name.to_owned(),
            from,
            sources,
            folder,
            switches,
        });
    }

    fn sources(&self, words: &[String], scope: &Scope) -> Vec<String> {
        let paths = words.iter().filter_map(|word| scope.path(word));
        paths.filter(|path| is_c(path) && self.tree.has(path)).collect()
    }

    fn properties(&mut self, words: &[String]) {
        let Some(middle) = words.iter().position(|word| word == "PROPERTIES") else { return };
        for target in &words[..middle] {
            for pair in words[middle + 1..].chunks_exact(2) {
                self.found.properties.insert((target.clone(), pair[0].clone()), pair[1].clone());
            }
        }
    }
}

/// The values of the variable of a `foreach`. `words`: those after the variable's name.
fn loop_items(words: &[String], scope: &Scope) -> Vec<String> {
    let [first, rest @ ..] = words else { return Vec::new() };
    match (first.as_str(), rest) {
        // Several lists at once, into several variables.
        _ if words.iter().any(|word| word == "ZIP_LISTS") => vec![UNKNOWN.to_owned()],
        ("IN", rest) => {
            let lists = rest.iter().skip_while(|word| *word != "LISTS").skip(1);
            let lists = lists.take_while(|word| *word != "ITEMS");
            let items = rest.iter().skip_while(|word| *word != "ITEMS").skip(1);
            lists.flat_map(|list| scope.list(list)).chain(items.cloned()).collect()
        }
        ("RANGE", rest) => numbers(rest),
        _ => words.to_vec(),
    }
}

/// The numbers of `RANGE`, both ends included: `[start] end [step]`. One unknown value if a word
/// is no number, such as an unknown variable.
fn numbers(words: &[String]) -> Vec<String> {
    let known: Option<Vec<usize>> = words.iter().map(|word| word.parse().ok()).collect();
    let (start, end, step) = match known.as_deref() {
        Some([end]) => (0, *end, 1),
        Some([start, end]) => (*start, *end, 1),
        Some([start, end, step]) => (*start, *end, *step),
        _ => return vec![UNKNOWN.to_owned()],
    };
    // CMake counts down too.
    let numbers: Vec<usize> = if start <= end {
        (start..=end).step_by(step.max(1)).take(ROUNDS).collect()
    } else {
        (end..=start).rev().step_by(step.max(1)).take(ROUNDS).collect()
    };
    numbers.iter().map(usize::to_string).collect()
}

/// The words before the first of `ends`.
fn until<'w>(words: &'w [String], ends: &[&str]) -> &'w [String] {
    let end = words.iter().position(|word| ends.contains(&word.as_str()));
    &words[..end.unwrap_or(words.len())]
}

/// The index of the command that closes the block that `commands` begin with.
fn block(commands: &[Command], open: &str, close: &str) -> usize {
    let mut depth = 0_usize;
    for (index, command) in commands.iter().enumerate() {
        if command.name == open {
            depth += 1;
        } else if command.name == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return index;
            }
        }
    }
    commands.len()
}

/// The number of commands in the first branch of an `if`.
fn branch(commands: &[Command]) -> usize {
    let mut depth = 0_usize;
    for (index, command) in commands.iter().enumerate() {
        match command.name.as_str() {
            "if" => depth += 1,
            "endif" => depth = depth.saturating_sub(1),
            "else" | "elseif" if depth == 0 => return index,
            _ => {}
        }
    }
    commands.len()
}
