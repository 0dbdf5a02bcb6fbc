//! What a git command asks about HEAD. Pure: reads the words of the command.
//!
//! HEAD of a modified tree is a commit of our own (`laid_commit`). Its only parent is the tested
//! commit, it has that commit's author, dates and message, and no branch or tag leads to it. The
//! lists below name the commands that such a commit answers as a real one does. Every other
//! command may be answered in another way, also one that no list knows: then a control tells
//! whether this makes a difference, which costs a build. A list of dangerous commands would miss
//! the next one, and a wrong commit would be named.

use crate::evaluation::GitQuestion;

/// Options of git before its command that are followed by a value.
const WITH_VALUE: [&str; 6] =
    ["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"];

/// Commands that ask about files, settings and the index, or make a repository. Neither HEAD's name
/// nor a reference to HEAD changes what they print: HEAD is detached at every commit, and the
/// modified files are those of HEAD.
const OF_FILES: [&str; 21] = [
    "add",
    "apply",
    "check-attr",
    "check-ignore",
    "clean",
    "clone",
    "config",
    "fetch",
    "gc",
    "hash-object",
    "help",
    "init",
    "lfs",
    "ls-files",
    "mv",
    "rm",
    "status",
    "update-index",
    "var",
    "version",
    "write-tree",
];

/// Options of `rev-parse` that ask for folders, for the form of the answer, or for the name of
/// HEAD's branch, which no commit of a hunt has.
const OF_REV_PARSE: [&str; 19] = [
    "--abbrev-ref",
    "--absolute-git-dir",
    "--default",
    "--git-common-dir",
    "--git-dir",
    "--is-bare-repository",
    "--is-inside-git-dir",
    "--is-inside-work-tree",
    "--is-shallow-repository",
    "--path-format",
    "--quiet",
    "--short",
    "--show-cdup",
    "--show-object-format",
    "--show-prefix",
    "--show-superproject-working-tree",
    "--show-toplevel",
    "--symbolic-full-name",
    "--verify",
];

/// Options of `log`, `show` and `rev-list` that print the text of commits or count them. Not among
/// them: patches and parents, which differ at our commit.
const OF_LOG: [&str; 30] = [
    "--abbrev",
    "--abbrev-commit",
    "--after",
    "--before",
    "--color",
    "--count",
    "--date",
    "--date-order",
    "--encoding",
    "--first-parent",
    "--format",
    "--max-count",
    "--no-abbrev",
    "--no-abbrev-commit",
    "--no-color",
    "--no-commit-header",
    "--no-decorate",
    "--no-merges",
    "--no-notes",
    "--no-patch",
    "--no-show-signature",
    "--no-walk",
    "--oneline",
    "--pretty",
    "--quiet",
    "--reverse",
    "--since",
    "--timestamp",
    "--topo-order",
    "--until",
];

/// What a format must not ask for: references, parents, notes and signatures.
const NOT_IN_FORMAT: [&str; 12] = [
    "%d",
    "%D",
    "%S",
    "%P",
    "%p",
    "%N",
    "%G",
    "%g",
    "%(decorate",
    "%(describe",
    "--format=raw",
    "--pretty=raw",
];

/// Options of `describe` that change only how the tag before HEAD is chosen and printed. Not among
/// them: those that ask whether a tag is exactly at HEAD, or comes after it.
const OF_DESCRIBE: [&str; 9] = [
    "--abbrev",
    "--always",
    "--broken",
    "--dirty",
    "--exclude",
    "--first-parent",
    "--long",
    "--match",
    "--tags",
];

/// Options that put files back.
const OF_CHECKOUT: [&str; 4] = ["--force", "--hard", "--quiet", "--recurse-submodules"];

/// Nothing that our commit may answer in another way than a real one.
const NOTHING: &[GitQuestion] = &[];
/// What a command is taken to ask if no list has it.
const ANYTHING: &[GitQuestion] = &[GitQuestion::References];
const NAME: &[GitQuestion] = &[GitQuestion::Name];
/// An archive has the files of HEAD. Git puts references only into files whose attributes ask for
/// it, so most of its readers ask nothing.
const SUBSTITUTED: &[GitQuestion] = &[GitQuestion::Unseen];
const DESCRIBE: &[GitQuestion] = &[GitQuestion::Describe, GitQuestion::Name];

/// What a command asks about HEAD. `words`: those after `git`.
pub(super) fn questions(words: &[String]) -> &'static [GitQuestion] {
    let mut words = words.iter().map(String::as_str);
    let command = loop {
        match words.next() {
            // Such as `git --version`.
            None => return NOTHING,
            Some(word) if WITH_VALUE.contains(&word) => {
                words.next();
            }
            Some(word) if word.starts_with('-') => {}
            Some(word) => break word,
        }
    };
    // What follows `--` is a path.
    let words: Vec<&str> = words.take_while(|word| *word != "--").collect();
    let asked = if OF_FILES.contains(&command) { Some(NOTHING) } else { known(command, &words) };
    asked.unwrap_or(ANYTHING)
}

/// What a command asks that is harmless with some arguments only; `None` with others.
fn known(command: &str, words: &[&str]) -> Option<&'static [GitQuestion]> {
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    match command {
        // HEAD is detached at every commit, so its own branch is always the same: none.
        "branch" => (words == ["--show-current"]).then_some(NOTHING),
        "symbolic-ref" => {
            let (options, names) = split(words, &[]);
            let of_head =
                options.iter().all(|option| ["-q", "--quiet", "--short"].contains(option));
            (of_head && names == ["HEAD"]).then_some(NOTHING)
        }
        "submodule" => (!has(&["foreach"])).then_some(NOTHING),
        "remote" => {
            let is_of_settings = words.first().is_none_or(|word| ["-v", "get-url"].contains(word));
            is_of_settings.then_some(NOTHING)
        }
        "rev-parse" => {
            let (options, names) = split(words, &["--default"]);
            let is_known =
                options.iter().all(|option| *option == "-q" || is_in(option, &OF_REV_PARSE))
                    && names.iter().all(|name| is_head(name) || is_hash(name));
            is_known.then_some(if names.is_empty() { NOTHING } else { NAME })
        }
        "log" | "show" | "rev-list" => {
            let (options, names) = split(words, &["-n", "--max-count", "--date"]);
            let is_known = options.iter().all(|option| is_of_log(option));
            let is_file = command == "show" && !names.is_empty();
            if is_known && is_file && names.iter().all(|name| is_in_head(name)) {
                return Some(NOTHING);
            }
            // The patch of our commit is not that of the tested one.
            let has_patch = command == "show" && !has(&["-s", "--no-patch", "-q", "--quiet"]);
            let is_whose = |name: &&str| {
                is_head(name) || is_path(name) || (command == "show" && is_hash(name))
            };
            (is_known && !has_patch && names.iter().all(is_whose)).then_some(NAME)
        }
        "describe" => {
            let (options, names) = split(words, &["--match", "--exclude"]);
            let is_known = options.iter().all(|option| is_in(option, &OF_DESCRIBE));
            (is_known && names.iter().all(|name| is_head(name))).then_some(DESCRIBE)
        }
        "archive" => {
            let (options, names) = split(words, &["-o", "--output", "--prefix", "--format"]);
            let is_known = !options.iter().any(|option| option.starts_with("--remote"));
            (is_known && names == ["HEAD"]).then_some(SUBSTITUTED)
        }
        "diff" | "diff-index" | "diff-files" => {
            let (options, names) = split(words, &[]);
            let is_of_files = options.contains(&"--no-index");
            let is_whose = |name: &&str| is_head(name) || is_path(name) || is_hash(name);
            let is_known = !options.contains(&"--merge-base") && names.iter().all(is_whose);
            (is_of_files || is_known).then_some(NOTHING)
        }
        "cat-file" | "ls-tree" => {
            let (_, names) = split(words, &[]);
            let is_whose = |name: &&str| {
                let is_kind = command == "cat-file" && ["blob", "tree"].contains(name);
                let is_tree = command == "ls-tree" && is_head(name);
                is_kind || is_tree || is_in_head(name) || is_hash(name) || is_path(name)
            };
            (!names.is_empty() && names.iter().all(is_whose)).then_some(NOTHING)
        }
        "checkout" | "reset" | "restore" => {
            let (options, names) = split(words, &[]);
            let is_known = options
                .iter()
                .all(|option| ["-f", "-q"].contains(option) || is_in(option, &OF_CHECKOUT));
            let is_whose = |name: &&str| {
                command == "restore" || is_head(name) || is_hash(name) || is_path(name)
            };
            (is_known && names.iter().all(is_whose)).then_some(NOTHING)
        }
        _ => None,
    }
}

/// The options of these words, and the other words. The word after one of `with_value` is neither.
fn split<'w>(words: &[&'w str], with_value: &[&str]) -> (Vec<&'w str>, Vec<&'w str>) {
    let (mut options, mut names) = (Vec::new(), Vec::new());
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if word.starts_with('-') {
            options.push(word);
            if with_value.contains(&word) {
                words.next();
            }
        } else {
            names.push(word);
        }
    }
    (options, names)
}

/// Whether an option, without its value, is in a list.
fn is_in(option: &str, list: &[&str]) -> bool {
    list.contains(&option.split('=').next().unwrap_or_default())
}

fn is_of_log(option: &str) -> bool {
    let is_number = option.strip_prefix('-').is_some_and(|number| {
        let number = number.strip_prefix('n').unwrap_or(number);
        number.bytes().all(|byte| byte.is_ascii_digit())
    });
    let is_short = ["-s", "-q", "-z"].contains(&option);
    (is_number || is_short || is_in(option, &OF_LOG))
        && !NOT_IN_FORMAT.iter().any(|asked| option.contains(asked))
}

/// Whether a word names HEAD itself, its tree, or a file of it. Not `HEAD~1`, which is the tested
/// commit if HEAD is ours.
fn is_head(word: &str) -> bool {
    after_head(word).is_some_and(|rest| ["", "^0", "~0", "^{}", "^{commit}"].contains(&rest))
        || is_in_head(word)
}

/// Whether a word names the tree of HEAD, or a file of it.
fn is_in_head(word: &str) -> bool {
    after_head(word).is_some_and(|rest| rest == "^{tree}" || rest.starts_with(':'))
}

/// What follows `HEAD` or `@` in a word that begins so.
fn after_head(word: &str) -> Option<&str> {
    word.strip_prefix("HEAD").or_else(|| word.strip_prefix('@'))
}

/// Whether a word is the name of an object, as long as git shortens it. It names the same object
/// whatever HEAD is.
fn is_hash(word: &str) -> bool {
    word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether a word can only be a path: no reference begins or ends so.
fn is_path(word: &str) -> bool {
    word == "."
        || word.ends_with('/')
        || ["./", "../", "/"].iter().any(|begin| word.starts_with(begin))
}

#[cfg(test)]
mod tests;
