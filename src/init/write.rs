//! The draft as a commented oracle.toml.

use std::fmt::Write;

use crate::ui;

use super::draft::{CHUNKS, Draft, Measured};
use super::inputs::Input;
use super::programs::{Purpose, Reading};

/// The column in which comments stand.
const COLUMN: usize = 32;

const HEAD: &str = "\
# How each commit is built and measured, and what counts as worse. Written by
# `bisect-ppl init`; where it read what it wrote stands behind each line, and what it could
# not read is called a guess: look at those. Paths start from the folder of this file, {src}
# is the tree at a commit, {build} a folder outside it.
# docs/oracle-toml.md of bisect-ppl has every key.

version = 1
";

/// The text of the file.
pub(super) fn toml(draft: &Draft) -> String {
    let mut out = Page(HEAD.to_owned());
    out.inputs(&draft.inputs);
    out.worktree(&draft.links);
    out.build(draft);
    let mut measures = draft.measures.iter();
    if let Some(first) = measures.next() {
        out.blank();
        out.0.push_str(&measure(first));
    }
    out.run(draft);
    if let Some(first) = draft.measures.first() {
        out.blank();
        out.0.push_str(&guard(first));
    }
    for other in measures {
        out.blank();
        out.line(
            "# A hunt for speed: take the `#` off these lines and off the one in [build]. Let",
            "",
        );
        out.line(
            "# nothing else run meanwhile: where values differ from run to run, each commit takes",
            "",
        );
        out.line("# several, and the two ends must lie wholly apart.", "");
        for line in format!("{}\n{}", measure(other), guard(other)).lines() {
            out.line(format!("# {line}").trim_end(), "");
        }
    }
    out.probes(&draft.probes);
    out.0
}

struct Page(String);

impl Page {
    fn blank(&mut self) {
        self.0.push('\n');
    }

    /// A line with a comment behind it, which may hold other people's names.
    fn line(&mut self, text: &str, comment: &str) {
        self.0.push_str(text);
        if !comment.is_empty() {
            let gap = COLUMN.saturating_sub(text.chars().count()).max(2);
            let _ = write!(self.0, "{:gap$}# {}", "", ui::printable_line(comment));
        }
        self.0.push('\n');
    }

    fn inputs(&mut self, inputs: &[Input]) {
        if inputs.is_empty() {
            return;
        }
        self.blank();
        self.line("[inputs]", "read by every run, and hashed into every evaluation");
        for input in inputs {
            self.line(&format!("{:<5} = {}", input.kind.name(), quoted(&input.path)), &input.why);
        }
    }

    fn worktree(&mut self, links: &[(String, String)]) {
        if links.is_empty() {
            return;
        }
        self.blank();
        self.line("[worktree]", "commits are built in folders of their own, never in yours");
        let names: Vec<String> = links.iter().map(|(name, _)| quoted(name)).collect();
        let from: Vec<&str> = links.iter().map(|(_, from)| from.as_str()).collect();
        let why = format!("not tracked, but used by {}", from.join(", "));
        self.line(&format!("link = [{}]", names.join(", ")), &why);
    }

    fn build(&mut self, draft: &Draft) {
        self.blank();
        self.line("[build]", &draft.build);
        self.line("commands = [", "no shell runs; {…} is filled in after the split into words");
        let all = draft.configure.iter().chain(&draft.whole);
        for command in all {
            self.line(&format!("    {},", quoted(command)), "");
        }
        let mut known: Vec<&str> = Vec::new();
        for (index, measured) in draft.measures.iter().enumerate() {
            let command = measured.program.recipe.build.as_str();
            if known.contains(&command) {
                continue;
            }
            known.push(command);
            let mark = if index == 0 { "" } else { "# " };
            let from = format!("`{}`, {}", measured.program.name, measured.program.from);
            self.line(&format!("    {mark}{},", quoted(command)), &from);
        }
        self.line("]", "");
        if !draft.options.is_empty() {
            self.line("# Options of this tree that choose a backend, such as -DNAME=ON above:", "");
            for (name, from) in &draft.options {
                self.line(&format!("#   {name}"), from);
            }
        }
        self.line("mode    = \"clean\"", "no object file survives from one commit to the next");
        self.line("timeout = \"30m\"", "for each command");
        self.line("# jobs  = 2", "{jobs}; default: the cores of this machine");
    }

    fn run(&mut self, draft: &Draft) {
        self.blank();
        self.line("[run]", "");
        self.line("# threads = 2", "{threads}; default: the cores of this machine");
        if draft.measures.first().is_some_and(|measured| measured.takes_chunks) {
            let why = "{chunks}; a guess: more tell smaller differences and take longer";
            self.line(&format!("chunks = {CHUNKS}"), why);
        }
    }

    fn probes(&mut self, probes: &[&str]) {
        if probes.is_empty() {
            return;
        }
        self.blank();
        self.line("[environment]", "");
        self.line("# Their output is part of what makes two figures comparable.", "");
        let probes: Vec<String> = probes.iter().map(|probe| quoted(probe)).collect();
        self.line(&format!("probe = [{}]", probes.join(", ")), "");
    }
}

fn measure(measured: &Measured) -> String {
    let mut out = Page(String::new());
    let what = match measured.purpose {
        Purpose::Perplexity => "what is run, and how its output is read",
        Purpose::Speed => "the same for speed",
    };
    out.line("[[measure]]", what);
    out.line(&format!("name    = {}", quoted(measured.name)), "");
    out.line(&format!("command = {}", quoted(&measured.command)), "");
    for from in &measured.options_from {
        out.line(&format!("#         {}", ui::printable_line(from)), "");
    }
    match &measured.reading {
        Reading::Perplexity(Some(from)) => {
            out.line(
                "parser  = \"llama-perplexity\"",
                &format!("its final line is printed in {from}"),
            );
        }
        Reading::Perplexity(None) => {
            out.line("parser  = \"llama-perplexity\"", "a guess, by the program's name");
        }
        Reading::LlamaBench => {
            out.line(
                "parser  = \"json\"",
                "its first test is of the prompt, its second of generation",
            );
            out.line("pointers = { pp = \"/0/avg_ts\", tg = \"/1/avg_ts\" }", "");
        }
        Reading::Pattern { pattern, from } | Reading::Speeds { pattern, from, .. } => {
            out.line("parser  = \"regex\"", &format!("a guess, from what {from} prints"));
            out.line(&format!("pattern = {}", quoted(pattern)), "");
            out.line("pick    = \"last\"", "where it matches more than once");
        }
    }
    out.line("timeout = \"20m\"", "of one run");
    out.0
}

fn guard(measured: &Measured) -> String {
    let mut out = Page(String::new());
    out.line("[[guard]]", "a commit is bad when it breaks this");
    let metric = match &measured.reading {
        Reading::Speeds { names, .. } => format!("{}.{}", measured.name, generation(names)),
        Reading::LlamaBench => format!("{}.tg", measured.name),
        _ => measured.name.to_owned(),
    };
    out.line(&format!("metric       = {}", quoted(&metric)), "");
    match measured.purpose {
        Purpose::Perplexity => {
            let why = "a guess: above what the good end measures, in its own unit";
            out.line("max_increase = 0.05", why);
        }
        Purpose::Speed => out.line("max_decrease_percent = 10.0", "a guess"),
    }
    out.0
}

/// The speed of generation among several, since that is what people wait for.
fn generation(names: &[String]) -> &str {
    let is_generation =
        |name: &&String| ["decode", "tg", "gen", "generation", "eval"].contains(&name.as_str());
    names.iter().find(is_generation).or(names.first()).map_or("", String::as_str)
}

/// A TOML string; a literal one where that is easier to read.
fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}
