//! CMake's variables. A folder starts with the variables of the folder above it.

use std::collections::BTreeMap;

use super::super::tree::join;
use super::reader::Argument;

/// The longest value that is kept, bytes: a value that doubles in a loop must not fill the memory. A
/// text in which variables are replaced may be twice as long.
const LONGEST: usize = 1 << 20;

/// The variables of one folder.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    variables: BTreeMap<String, String>,
    /// The source folder, relative to the top of the tree.
    folder: String,
    /// The build folder, as `{build}/…`.
    built: String,
    /// Options that the commands being read depend on and that are off by default.
    pub(super) switches: Vec<String>,
}

impl Scope {
    /// The scope of the main CMakeLists.txt in the folder `root`.
    pub(super) fn root(root: &str) -> Self {
        let mut scope = Self {
            variables: BTreeMap::new(),
            folder: root.to_owned(),
            built: "{build}".to_owned(),
            switches: Vec::new(),
        };
        for name in ["CMAKE_SOURCE_DIR", "PROJECT_SOURCE_DIR"] {
            scope.set(name, source(root));
        }
        for name in ["CMAKE_BINARY_DIR", "PROJECT_BINARY_DIR"] {
            scope.set(name, "{build}".to_owned());
        }
        scope.set("PROJECT_IS_TOP_LEVEL", "ON".to_owned());
        scope.set_current_folders();
        scope
    }

    /// The scope of a subfolder. `written` is its name in the CMake file, `built` its build folder.
    pub(super) fn below(&self, folder: &str, written: &str, built: Option<&str>) -> Self {
        let mut scope = self.clone();
        folder.clone_into(&mut scope.folder);
        scope.built = self.built_path(built.unwrap_or(written));
        scope.set("PROJECT_IS_TOP_LEVEL", "OFF".to_owned());
        scope.set_current_folders();
        scope
    }

    fn set_current_folders(&mut self) {
        let (folder, built) = (source(&self.folder), self.built.clone());
        self.set("CMAKE_CURRENT_SOURCE_DIR", folder.clone());
        self.set("CMAKE_CURRENT_LIST_DIR", folder);
        self.set("CMAKE_CURRENT_BINARY_DIR", built);
    }

    pub(super) fn project(&mut self, name: &str) {
        self.set("PROJECT_NAME", name.to_owned());
        self.variables.entry("CMAKE_PROJECT_NAME".to_owned()).or_insert_with(|| name.to_owned());
        let (folder, built) = (source(&self.folder), self.built.clone());
        for prefix in ["PROJECT", name] {
            self.set(&format!("{prefix}_SOURCE_DIR"), folder.clone());
            self.set(&format!("{prefix}_BINARY_DIR"), built.clone());
        }
    }

    /// Sets a variable. A value that is too long is unknown, like that of a variable never set.
    pub(super) fn set(&mut self, name: &str, value: String) {
        if value.len() < LONGEST {
            self.variables.insert(name.to_owned(), value);
        } else {
            self.variables.remove(name);
        }
    }

    /// The bytes of all values.
    pub(super) fn length(&self) -> usize {
        self.variables.values().map(String::len).sum()
    }

    pub(super) fn get(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    pub(super) fn list(&self, name: &str) -> Vec<String> {
        let value = self.variables.get(name).map(String::as_str).unwrap_or_default();
        value.split(';').filter(|item| !item.is_empty()).map(str::to_owned).collect()
    }

    /// Replaces `${NAME}` by its value, innermost first. Unknown variables stay as they are, and so
    /// do those that would make the text too long.
    pub(super) fn expand(&self, text: &str) -> String {
        let mut text = text.to_owned();
        let mut before = text.len();
        while let Some(begin) = text[..before].rfind("${") {
            before = begin;
            let Some(end) = text[begin..].find('}').map(|at| begin + at) else { continue };
            let value = self.variables.get(&text[begin + 2..end]);
            if let Some(value) = value.filter(|value| text.len() + value.len() <= 2 * LONGEST) {
                text.replace_range(begin..=end, value);
            }
        }
        text
    }

    /// The values of arguments: variables are replaced, and lists are split unless quoted.
    pub(super) fn words(&self, arguments: &[Argument]) -> Vec<String> {
        let mut words = Vec::new();
        for argument in arguments {
            let text = self.expand(&argument.text);
            if argument.quoted {
                words.push(text);
            } else {
                words.extend(text.split(';').filter(|w| !w.is_empty()).map(str::to_owned));
            }
        }
        words
    }

    /// A path relative to the top of the tree. `None` if a variable in it is unknown, or if it
    /// is outside the tree.
    pub(super) fn path(&self, word: &str) -> Option<String> {
        if word.contains('$') || word.starts_with(['/', '<']) || word.starts_with("{build}") {
            return None;
        }
        match word.strip_prefix("{src}") {
            Some(inner) => Some(join("", inner)),
            None => Some(join(&self.folder, word)),
        }
    }

    /// The folder where this scope's programs are built.
    pub(super) fn built(&self) -> String {
        self.built.clone()
    }

    /// A path below the build folder.
    pub(super) fn built_path(&self, word: &str) -> String {
        if word.starts_with(['{', '$', '/']) {
            return word.to_owned();
        }
        let inner = self.built.strip_prefix("{build}").unwrap_or_default();
        match join(inner, word) {
            inner if inner.is_empty() => "{build}".to_owned(),
            inner => format!("{{build}}/{inner}"),
        }
    }
}

fn source(folder: &str) -> String {
    if folder.is_empty() { "{src}".to_owned() } else { format!("{{src}}/{folder}") }
}

/// Whether a condition holds; `None` if it is unknown. Conditions on the platform, and on
/// whether the file is at the top of the project, are known.
pub(super) fn truth(arguments: &[Argument], scope: &Scope) -> Option<bool> {
    let words: Vec<&Argument> = arguments.iter().collect();
    match words.as_slice() {
        [not, rest @ ..] if not.text == "NOT" && rest.len() == 1 => {
            truth(&arguments[1..], scope).map(|holds| !holds)
        }
        [one] if !one.quoted => match one.text.as_str() {
            "WIN32" | "MSVC" | "MINGW" | "EMSCRIPTEN" | "ANDROID" | "IOS" | "XCODE" | "CYGWIN" => {
                Some(false)
            }
            "APPLE" => Some(cfg!(target_os = "macos")),
            "UNIX" | "PROJECT_IS_TOP_LEVEL" => Some(scope.get(&one.text).is_none_or(|v| v == "ON")),
            _ => None,
        },
        [left, operator, right] if operator.text == "STREQUAL" => {
            let value = |argument: &Argument| {
                let text = scope.expand(&argument.text);
                let named = if argument.quoted { None } else { scope.get(&text) };
                Some(named.unwrap_or(text)).filter(|value| value.starts_with("{src}"))
            };
            Some(value(left)? == value(right)?)
        }
        _ => None,
    }
}
