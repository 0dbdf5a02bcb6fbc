//! Test histories in a short notation: `line("g g x b")`, or a graph with merges.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;

use super::TestEnvironment;

/// A plan for a history: commits, their files and the engine's settings.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
struct Node {
    label: String,
    parents: Vec<String>,
    settings: Vec<String>,
    files: Vec<File>,
    subject: Vec<u8>,
}

/// A path and its content. Paths are bytes, as in git.
#[derive(Clone, Debug)]
struct File {
    path: Vec<u8>,
    content: Content,
}

#[derive(Clone, Debug)]
enum Content {
    Text(String),
    /// The text of an executable file.
    Program(String),
    /// The commit of another repository.
    Submodule(String),
    Nothing,
}

/// A history in git: the labels and the hashes of its commits.
#[derive(Clone, Debug)]
pub(crate) struct History {
    commits: BTreeMap<String, String>,
}

/// A line of commits, labelled from 0. Each word describes a commit: `g` good, `b` bad, a
/// number its perplexity, `x` does not build, `n` NaN, `s` a segmentation fault, `h` a hang,
/// `e` an exit with 3, `i` output that stops before its end, `-` prints no value.
pub(crate) fn line(words: &str) -> Plan {
    let words: Vec<&str> = words.split_whitespace().collect();
    let nodes = words.iter().enumerate().map(|(index, word)| {
        let parents = if index == 0 { vec![] } else { vec![(index - 1).to_string()] };
        Node::new(&index.to_string(), parents, word)
    });
    Plan { nodes: nodes.collect() }
}

/// A graph, one commit an entry, parents first: `"m < a b: g"`.
pub(crate) fn graph(commits: &[&str]) -> Plan {
    let nodes = commits.iter().map(|text| {
        let (head, word) = text.split_once(':').expect("LABEL < PARENTS: WORD");
        let (label, parents) = head.split_once('<').unwrap_or((head, ""));
        Node::new(label.trim(), parents.split_whitespace().map(str::to_owned).collect(), word)
    });
    Plan { nodes: nodes.collect() }
}

impl Node {
    fn new(label: &str, parents: Vec<String>, word: &str) -> Self {
        let settings = match word.trim() {
            "g" => "ppl = 7.0",
            "b" => "ppl = 7.5",
            "x" => "build_exit = 1",
            "n" => "fate = nan",
            "s" => "fate = crash:11",
            "h" => "fate = hang",
            "e" => "fate = exit:3",
            "i" => "fate = cut",
            "-" => "fate = silent",
            number => &format!("ppl = {}", number.parse::<f64>().expect("a word of `line`")),
        };
        Self {
            label: label.to_owned(),
            parents,
            settings: vec![settings.to_owned()],
            files: Vec::new(),
            subject: format!("change {label}").into(),
        }
    }
}

impl Plan {
    fn node(&mut self, label: impl ToString) -> &mut Node {
        let label = label.to_string();
        self.nodes.iter_mut().find(|n| n.label == label).expect("a label of the history")
    }

    /// Adds settings of the engine (`key = value`) to one commit.
    #[must_use]
    pub(crate) fn with(mut self, label: impl ToString, setting: &str) -> Self {
        self.node(label).settings.push(setting.to_owned());
        self
    }

    /// Adds a setting to all commits.
    #[must_use]
    pub(crate) fn with_all(mut self, setting: &str) -> Self {
        self.nodes.iter_mut().for_each(|node| node.settings.push(setting.to_owned()));
        self
    }

    /// Adds or changes a file in a commit; later commits inherit it.
    #[must_use]
    pub(crate) fn file(
        mut self,
        label: impl ToString,
        path: impl AsRef<[u8]>,
        content: &str,
    ) -> Self {
        let (path, content) = (path.as_ref().to_owned(), Content::Text(content.to_owned()));
        self.node(label).files.push(File { path, content });
        self
    }

    /// Adds or changes an executable file.
    #[must_use]
    pub(crate) fn program(mut self, label: impl ToString, path: &str, content: &str) -> Self {
        let (path, content) = (path.into(), Content::Program(content.to_owned()));
        self.node(label).files.push(File { path, content });
        self
    }

    /// Pins a submodule; a file `.gitmodules` must declare it too.
    #[must_use]
    pub(crate) fn pin(mut self, label: impl ToString, path: &str, commit: &str) -> Self {
        let (path, content) = (path.into(), Content::Submodule(commit.to_owned()));
        self.node(label).files.push(File { path, content });
        self
    }

    /// Removes a file in a commit.
    #[must_use]
    pub(crate) fn without(mut self, label: impl ToString, path: &str) -> Self {
        self.node(label).files.push(File { path: path.into(), content: Content::Nothing });
        self
    }

    #[must_use]
    pub(crate) fn subject(mut self, label: impl ToString, subject: impl AsRef<[u8]>) -> Self {
        subject.as_ref().clone_into(&mut self.node(label).subject);
        self
    }

    /// The same subject for all commits.
    #[must_use]
    pub(crate) fn subjects(mut self, subject: impl AsRef<[u8]>) -> Self {
        self.nodes.iter_mut().for_each(|node| subject.as_ref().clone_into(&mut node.subject));
        self
    }

    /// Creates the history in git: `v1` is the first commit, `main` (checked out) the last.
    pub(crate) fn build(self, env: &TestEnvironment) -> History {
        let mut stream = Vec::new();
        for (index, node) in self.nodes.iter().enumerate() {
            self.import(&mut stream, index, node);
        }
        let last = self.nodes.len();
        writeln!(stream, "reset refs/heads/main\nfrom :{last}\n").unwrap();
        writeln!(stream, "reset refs/tags/v1\nfrom :1\n").unwrap();
        let marks = env.path("tmp/marks");
        let export = format!("--export-marks={}", marks.display());
        let args = ["fast-import", "--quiet", "--force", "--date-format=raw", &export];
        env.git_with_input(&args, &stream);
        env.git(&["reset", "--quiet", "--hard", "main"]);
        let marks = std::fs::read_to_string(marks).unwrap();
        let by_mark: BTreeMap<usize, String> = marks
            .lines()
            .filter_map(|l| l.strip_prefix(':')?.split_once(' '))
            .map(|(mark, sha)| (mark.parse().unwrap(), sha.to_owned()))
            .collect();
        let named = self.nodes.iter().enumerate();
        let commits = named.map(|(i, n)| (n.label.clone(), by_mark[&(i + 1)].clone())).collect();
        History { commits }
    }

    fn import(&self, stream: &mut Vec<u8>, index: usize, node: &Node) {
        let mark_of = |label: &String| {
            let place = self.nodes.iter().position(|n| n.label == *label);
            place.expect("parents come first") + 1
        };
        let when = 1_767_000_000 + index * 60;
        if node.parents.is_empty() {
            writeln!(stream, "reset refs/heads/main\n").unwrap();
        }
        writeln!(stream, "commit refs/heads/main\nmark :{}", index + 1).unwrap();
        for role in ["author", "committer"] {
            writeln!(stream, "{role} Ada Lovelace <ada@example.org> {when} +0000").unwrap();
        }
        writeln!(stream, "data {}", node.subject.len()).unwrap();
        stream.extend([&node.subject[..], b"\n"].concat());
        for (count, parent) in node.parents.iter().enumerate() {
            let word = if count == 0 { "from" } else { "merge" };
            writeln!(stream, "{word} :{}", mark_of(parent)).unwrap();
        }
        let text =
            |path: &str, text: String| File { path: path.into(), content: Content::Text(text) };
        text("version", format!("id = {}\n", node.label)).import(stream);
        text("engine.conf", node.settings.join("\n") + "\n").import(stream);
        node.files.iter().for_each(|file| file.import(stream));
        stream.push(b'\n');
    }
}

impl File {
    fn import(&self, stream: &mut Vec<u8>) {
        let path = c_quoted(&self.path);
        match &self.content {
            Content::Nothing => writeln!(stream, "D {path}").unwrap(),
            Content::Submodule(commit) => writeln!(stream, "M 160000 {commit} {path}").unwrap(),
            Content::Text(text) | Content::Program(text) => {
                let is_program = matches!(self.content, Content::Program(_));
                let mode = if is_program { "100755" } else { "100644" };
                let length = text.len();
                writeln!(stream, "M {mode} inline {path}\ndata {length}\n{text}").unwrap();
            }
        }
    }
}

/// Quotes a path of any bytes for fast-import.
fn c_quoted(path: &[u8]) -> String {
    let mut quoted = String::from('"');
    for byte in path {
        match byte {
            b'"' | b'\\' => write!(quoted, "\\{}", char::from(*byte)).unwrap(),
            0x20..=0x7e => quoted.push(char::from(*byte)),
            _ => write!(quoted, "\\{byte:03o}").unwrap(),
        }
    }
    quoted + "\""
}

impl History {
    /// The history with the text of one commit object changed, valid or not. Later commits and
    /// `main` follow.
    #[must_use]
    pub(crate) fn rewritten(
        mut self,
        env: &TestEnvironment,
        label: impl ToString,
        change: impl Fn(&str) -> String,
    ) -> Self {
        let wanted = self.commit(label).to_owned();
        let mut renamed: BTreeMap<String, String> = BTreeMap::new();
        let mut last = String::new();
        for old in env.git(&["rev-list", "--topo-order", "--reverse", "main"]).lines() {
            let mut text = env.git(&["cat-file", "commit", old]);
            for (old, new) in &renamed {
                text = text.replace(old, new);
            }
            if old == wanted {
                text = change(&text);
            }
            let file = env.path("tmp/commit");
            std::fs::write(&file, text).unwrap();
            let make = ["hash-object", "-t", "commit", "-w", "--literally", file.to_str().unwrap()];
            env.git(&make).trim().clone_into(&mut last);
            renamed.insert(old.to_owned(), last.clone());
        }
        env.git(&["update-ref", "refs/heads/main", &last]);
        self.commits.values_mut().for_each(|sha| *sha = renamed[sha].clone());
        self
    }

    /// The full hash of a commit.
    pub(crate) fn commit(&self, label: impl ToString) -> &str {
        &self.commits[&label.to_string()]
    }

    /// The label of a commit.
    pub(crate) fn label(&self, commit: &str) -> &str {
        let found = self.commits.iter().find(|(_, sha)| *sha == commit);
        found.map_or_else(|| panic!("{commit} is none of this history"), |(label, _)| label)
    }
}
