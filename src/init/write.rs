//! Writes the draft as a commented oracle.toml.

use std::fmt::Write;

use crate::ui;

use super::draft::Draft;
use super::inputs::Input;
use super::measured::{Axis, CHUNKS, Measured, Purpose};
use super::past::{HistoryFindings, Override};
use super::program::OptionToDisable;
use super::programs::Reading;
use super::toml_text::quoted;
use super::tree::Origin;

/// The column where comments begin.
const COLUMN: usize = 32;

const HEAD: &str = concat!(
    "\
# How each commit is built and measured, and what counts as worse. Written by
# `bisect-ppl init`. A comment after a line says where the line comes from. Check the lines
# whose comments say that they are a guess. Paths start from the folder of this file,
# {src} is the tree at a commit, {build} a folder outside it.
# Every key: `bisect-ppl help oracle-toml`, or
# ",
    env!("CARGO_PKG_REPOSITORY"),
    "/blob/main/docs/oracle-toml.md

version = 1
"
);

const VARIANTS: &str = "\
# The same program on other code paths of the engine, each with a guard of its own. Remove the
# `#` from those that the hunt is about; every run costs time at every commit.";

const SETTINGS: &str = "\
# The same program with other settings of the engine. Each combination is a run of its own at each
# commit: remove the `#`, and leave out the settings that the hunt is not about.";

const THREADS: &str = "\
# The same run with one thread and with several: remove the `#` from these two lines.";

const SPEED: &str = "\
# A hunt for speed: remove the `#` from these lines and from the one in [build]. Let
# nothing else run meanwhile: speeds vary from run to run, so each commit needs several
# runs.";

/// The text of the file.
pub(super) fn toml(draft: &Draft, past: &HistoryFindings) -> String {
    let mut out = Page(HEAD.to_owned());
    out.inputs(&draft.inputs);
    out.worktree(draft);
    out.build(draft);
    if let Some(first) = draft.measures.first() {
        out.blank();
        out.0.push_str(&measure(first, &[]));
    }
    out.run(draft);
    if let Some(first) = draft.measures.first() {
        out.blank();
        out.0.push_str(&guards(first));
        out.require(first, past);
    }
    out.overrides(past);
    if let Some(first) = draft.measures.first().filter(|first| !first.axes.is_empty()) {
        out.blank();
        out.line(THREADS, "");
        out.as_comment(matrix(&first.axes).trim_end());
    }
    let told = draft.measures.first().map_or(&[][..], |first| &first.options_from);
    let mut said = "";
    for other in draft.measures.iter().skip(1) {
        out.blank();
        let about = match other.purpose {
            Purpose::Speed => SPEED,
            _ if !other.axes.is_empty() => SETTINGS,
            _ => VARIANTS,
        };
        if about != said {
            said = about;
            out.line(about, "");
        }
        let entry = format!("{}{}\n{}", matrix(&other.axes), measure(other, told), guards(other));
        out.as_comment(&entry);
        for over in past.offered.iter().filter(|over| over.draft.measures[0].name == other.name) {
            out.line("#", "");
            out.as_comment(&entry_of(over));
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

    /// A line with a comment. The comment is cleaned, since it may contain names from the tree.
    fn line(&mut self, text: &str, comment: &str) {
        self.0.push_str(text);
        if !comment.is_empty() {
            let gap = COLUMN.saturating_sub(text.chars().count()).max(2);
            let _ = write!(self.0, "{:gap$}# {}", "", ui::printable_line(comment));
        }
        self.0.push('\n');
    }

    fn as_comment(&mut self, text: &str) {
        for line in text.lines() {
            self.line(format!("# {line}").trim_end(), "");
        }
    }

    fn inputs(&mut self, inputs: &[Input]) {
        if inputs.is_empty() {
            return;
        }
        self.blank();
        self.line("[inputs]", "read by every run; results are reused only for the same content");
        for input in inputs {
            self.line(&format!("{:<5} = {}", input.kind.name(), quoted(&input.path)), &input.why);
        }
    }

    fn worktree(&mut self, draft: &Draft) {
        if draft.links.is_empty() && draft.no_submodules.is_none() {
            return;
        }
        self.blank();
        self.line("[worktree]", "commits are built in folders of their own, never in yours");
        if !draft.links.is_empty() {
            let names: Vec<String> = draft.links.iter().map(|(name, _)| quoted(name)).collect();
            let from: Vec<&str> = draft.links.iter().map(|(_, from)| from.as_str()).collect();
            let why = format!("not tracked, but used by {}", from.join(", "));
            self.line(&format!("link = [{}]", names.join(", ")), &why);
        }
        if let Some(why) = &draft.no_submodules {
            self.line("submodules = false", why);
        }
    }

    fn build(&mut self, draft: &Draft) {
        self.blank();
        self.line("[build]", &draft.build);
        self.line("commands = [", "no shell runs; {…} is filled in after the split into words");
        self.commands(draft);
        self.line("]", "");
        for OptionToDisable { option, package, from } in &draft.offs {
            let why = format!("it asks for {package} ({from}), which no figure depends on");
            self.line(&ui::printable_line(format!("# {option} is off: {why}")), "");
        }
        if !draft.options.is_empty() {
            self.line("# Options of this tree that choose a backend, such as -DNAME=ON above:", "");
            for (name, from) in &draft.options {
                self.line(&format!("#   {name}"), from);
            }
        }
        self.ignore(draft);
        self.line("mode    = \"clean\"", "no object file survives from one commit to the next");
        self.line("timeout = \"30m\"", "for each command");
        self.line("# jobs  = 2", "{jobs}; default: the cores of this machine");
    }

    /// `ignore`, in lines of about the width of a page.
    fn ignore(&mut self, draft: &Draft) {
        if draft.unread.is_empty() {
            return;
        }
        let mut names: Vec<&str> = Vec::new();
        for measured in &draft.measures {
            if !names.contains(&measured.program.name.as_str()) {
                names.push(&measured.program.name);
            }
        }
        let verb = if names.len() > 1 { "read" } else { "reads" };
        let why = format!(
            "a guess: {} {verb} none of these, so commits that touch only these are not tested",
            names.join(" and ")
        );
        self.line("ignore = [", &why);
        let mut line = String::new();
        for pattern in draft.unread.iter().map(|pattern| quoted(pattern)) {
            if !line.is_empty() && line.len() + pattern.len() > 84 {
                self.line(&format!("    {}", line.trim_end()), "");
                line.clear();
            }
            let _ = write!(line, "{pattern}, ");
        }
        self.line(&format!("    {}", line.trim_end()), "");
        self.line("]", "");
    }

    /// The lines of `commands`. Commands for measures that are only offered become comments.
    fn commands(&mut self, draft: &Draft) {
        let commands = draft.commands();
        for (index, command) in commands.iter().enumerate() {
            let first = draft.measures.first().filter(|_| index + 1 == commands.len());
            let from = first.map(|m| format!("`{}`, {}", m.program.name, m.program.from));
            self.line(&format!("    {},", quoted(command)), &from.unwrap_or_default());
        }
        for (command, measured) in draft.other_commands() {
            let from = format!("`{}`, {}", measured.program.name, measured.program.from);
            self.line(&format!("    # {},", quoted(command)), &from);
        }
    }

    fn run(&mut self, draft: &Draft) {
        self.blank();
        self.line("[run]", "");
        self.line("# threads = 2", "{threads}; default: the cores of this machine");
        if draft.measures.first().is_some_and(|measured| measured.takes_chunks) {
            let why = "{chunks}; a guess: more chunks show smaller differences and take longer";
            self.line(&format!("chunks = {CHUNKS}"), why);
        }
    }

    /// `[[require]] checks = "same-set"`, if the outputs of all eras tell which checks ran.
    fn require(&mut self, first: &Measured, past: &HistoryFindings) {
        let older = past.overrides.iter().filter(|over| over.differing_keys.reading);
        let mut readings = older.filter_map(|over| Some(&over.draft.measures.first()?.reading));
        if !first.reading.tells_checks() || !readings.all(Reading::tells_checks) {
            return;
        }
        self.blank();
        let why = "a suite that skips checks, or ends early, has no failures either";
        self.line("[[require]]", why);
        self.line(&format!("measure = {}", quoted(first.name)), "");
        let why = "as at the good end; remove this if checks were added or removed on purpose";
        self.line("checks  = \"same-set\"", why);
    }

    fn overrides(&mut self, past: &HistoryFindings) {
        if past.overrides.is_empty() {
            return;
        }
        self.blank();
        self.line("# How older commits differ, as read from their trees. Examined:", "");
        self.line(&format!("# {}.", past.looked.as_deref().unwrap_or_default()), "");
        self.line("# If several apply to a commit, the last one counts.", "");
        for (index, over) in past.overrides.iter().enumerate() {
            if index > 0 {
                self.blank();
            }
            self.0.push_str(&entry_of(over));
        }
    }

    fn probes(&mut self, probes: &[&str]) {
        if probes.is_empty() {
            return;
        }
        self.blank();
        self.line("[environment]", "");
        self.line("# Results are reused and compared only if the output of these is the same.", "");
        let probes: Vec<String> = probes.iter().map(|probe| quoted(probe)).collect();
        self.line(&format!("probe = [{}]", probes.join(", ")), "");
    }
}

/// One `[[override]]`.
fn entry_of(over: &Override) -> String {
    let mut out = Page(String::new());
    out.line("[[override]]", &format!("read at {}", over.read_at));
    out.line(&format!("when = {}", over.when), "");
    if over.differing_keys.commands {
        out.line("build.commands = [", "");
        out.commands(&over.draft);
        out.line("]", "");
    }
    let Some(first) = over.draft.measures.first() else { return out.0 };
    let key = |key: &str| format!("measure.{}.{key}", first.name);
    if over.differing_keys.command {
        out.line(&format!("{} = {}", key("command"), quoted(&first.command)), "");
    }
    if over.differing_keys.reading {
        for (name, value) in first.reading.keys() {
            out.line(&format!("{} = {value}", key(name)), "");
        }
    }
    out.0
}

/// `[matrix]` with these axes and an empty line; nothing without axes.
fn matrix(axes: &[Axis]) -> String {
    let mut out = Page(String::new());
    if !axes.is_empty() {
        out.line("[matrix]", "");
    }
    for axis in axes {
        out.line(&format!("{:<7} = {}", axis.name, axis.values), axis.about);
    }
    if !axes.is_empty() {
        out.blank();
    }
    out.0
}

/// The `[[measure]]`, with the origins of its options, except the options in `told`.
fn measure(measured: &Measured, told: &[(String, Origin)]) -> String {
    let mut out = Page(String::new());
    let what = match (measured.about, measured.purpose) {
        ("", Purpose::Perplexity | Purpose::Suite) => "what is run, and how its output is read",
        ("", Purpose::Speed) => "the same for speed",
        (about, _) => about,
    };
    out.line("[[measure]]", what);
    out.line(&format!("name    = {}", quoted(measured.name)), "");
    out.line(&format!("command = {}", quoted(&measured.command)), "");
    for (option, from) in measured.options_from.iter().filter(|option| !told.contains(option)) {
        out.line(&format!("#         {} {from}", ui::printable_line(option)), "");
    }
    let why = match &measured.reading {
        Reading::Perplexity(Some(from)) => format!("its final line is printed in {from}"),
        Reading::Perplexity(None) => "a guess, by the program's name".to_owned(),
        Reading::LlamaBench => "tokens per second of each test: pp512, tg128".to_owned(),
        Reading::Pattern { from, .. }
        | Reading::Speeds { from, .. }
        | Reading::Checks { from, .. } => format!("a guess, from what {from} prints"),
        Reading::Passes => "0: it passes".to_owned(),
    };
    for (key, value) in measured.reading.keys() {
        let why = match key {
            "parser" => why.as_str(),
            "pick" => "where it matches more than once",
            _ => "",
        };
        out.line(&format!("{key:<7} = {value}"), why);
    }
    if matches!(measured.reading, Reading::Checks { .. }) {
        out.line(
            "failures = { crash = \"bad\" }",
            "a suite that leaves with an error is wrong, whatever it prints",
        );
    }
    if measured.purpose == Purpose::Speed {
        out.line("exclusive = true", "no other build or run of bisect-ppl happens meanwhile");
    }
    out.line("timeout = \"20m\"", "of one run");
    out.0
}

/// The guards of a measure, one `[[guard]]` after the other.
fn guards(measured: &Measured) -> String {
    let name = measured.name;
    let entries = match (measured.purpose, &measured.reading) {
        (Purpose::Perplexity, _) => {
            let why = "a guess: above what the good end measures, in its own unit";
            vec![(name.to_owned(), "max_increase = 0.05", why)]
        }
        (Purpose::Speed, reading) => {
            let metric = match reading {
                Reading::Speeds { names, .. } => format!("{name}.{}", generation(names)),
                Reading::LlamaBench => format!("{name}.tg128"),
                _ => name.to_owned(),
            };
            vec![(metric, "max_decrease_percent = 10.0", "a guess")]
        }
        (Purpose::Suite, Reading::Checks { states, distances, .. }) => {
            let failed = states.then(|| (format!("{name}.failed"), "max          = 0", ""));
            let why = "a guess: twice as far off as at the good end";
            let far = distances
                .then(|| (format!("{name}.max_diff"), "max_increase_percent = 100.0", why));
            failed.into_iter().chain(far).collect()
        }
        (Purpose::Suite, _) => {
            vec![(name.to_owned(), "max          = 0", "any other exit code is bad")]
        }
    };
    let mut out = Page(String::new());
    for (index, (metric, form, why)) in entries.into_iter().enumerate() {
        let what = if index == 0 { "a commit is bad when it breaks this" } else { "or this" };
        if index > 0 {
            out.blank();
        }
        out.line("[[guard]]", what);
        out.line(&format!("metric       = {}", quoted(&metric)), "");
        out.line(form, why);
    }
    out.0
}

/// The name of the generation speed, which users wait for most; the first name if none has it.
fn generation(names: &[String]) -> &str {
    let is_generation =
        |name: &&String| ["decode", "tg", "gen", "generation", "eval"].contains(&name.as_str());
    names.iter().find(is_generation).or(names.first()).map_or("", String::as_str)
}
