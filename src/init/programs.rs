//! Chooses the program that measures perplexity, and the program that measures speed.

use toml_edit::Value;

use super::flags::{self, Options};
use super::pattern;
use super::program::{Build, Program};
use super::sources::{self, Source};
use super::tree::{Origin, Tree};

/// The least score of a program that is chosen. A name such as `eval` alone is not enough, and
/// neither is a speed printed among other things.
const ENOUGH: i32 = 50;

/// Score of an exact name, such as `ppl`.
const NAMED: i32 = 100;
/// Score of a final line that the parser knows.
const PRINTED: i32 = 60;

/// Score of a printed speed: small, since many programs print one.
const SPEED: i32 = 30;

/// A chosen program and the way to read its output.
pub(super) struct Choice {
    pub(super) program: Program,
    pub(super) options: Options,
    pub(super) reading: Reading,
    /// Whether the program was chosen by its name, and not only by its output.
    pub(super) is_named: bool,
    /// Names of other programs that also scored enough.
    pub(super) others: Vec<String>,
}

/// How a program's output is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// As llama-perplexity's output. With the place of its final line in the sources, if found.
    Perplexity(Option<Origin>),
    /// With a pattern that is guessed from the sources.
    Pattern { pattern: String, from: Origin },
    /// As llama-bench's JSON.
    LlamaBench,
    /// Named speeds, with a pattern that is guessed from the sources.
    Speeds { names: Vec<String>, pattern: String, from: Origin },
    /// By the exit code of a suite.
    Passes,
    /// By the checks that a suite prints: whether each passes, its distance, or both.
    Checks { states: bool, distances: bool, from: Origin },
}

impl Reading {
    /// The names of its metrics; empty if the only metric has the measure's name.
    pub(super) fn metrics(&self) -> &[String] {
        match self {
            Self::Speeds { names, .. } => names,
            _ => &[],
        }
    }

    /// Whether the output tells which checks ran.
    pub(super) fn tells_checks(&self) -> bool {
        matches!(self, Self::Checks { .. })
    }

    /// The keys of `[[measure]]` for this reading, with their values.
    pub(super) fn keys(&self) -> Vec<(&'static str, Value)> {
        let text = |key, value: &str| (key, Value::from(value));
        match self {
            Self::Perplexity(_) => vec![text("parser", "llama-perplexity")],
            Self::LlamaBench => vec![text("parser", "llama-bench")],
            Self::Pattern { pattern, .. } | Self::Speeds { pattern, .. } => {
                vec![text("parser", "regex"), text("pattern", pattern), text("pick", "last")]
            }
            Self::Passes => vec![text("parser", "exit-code")],
            Self::Checks { .. } => vec![text("parser", "parity")],
        }
    }
}

/// What a program is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sought {
    Perplexity,
    Speed,
}

impl Sought {
    /// The most that the sources can add to the score of the name.
    fn most(self) -> i32 {
        match self {
            Self::Perplexity => PRINTED,
            Self::Speed => SPEED,
        }
    }

    /// Whether a source may print such a figure.
    fn may_be_printed(self, text: &str) -> bool {
        match self {
            Self::Perplexity => pattern::may_print_perplexity(text),
            Self::Speed => pattern::may_print_speed(text),
        }
    }
}

/// The program with the highest score of all builds. Among equals, the first.
pub(super) fn choose(tree: &Tree, builds: &[Build], sought: Sought) -> Option<Choice> {
    let programs = builds.iter().flat_map(|build| &build.programs);
    let may_be = |program: &&Program| name_score(&program.name, sought) + sought.most() >= ENOUGH;
    let mut scored: Vec<(i32, &Program)> = programs
        .filter(may_be)
        .map(|program| (score(tree, program, sought), program))
        .filter(|(score, _)| *score >= ENOUGH)
        .collect();
    // The sort is stable: among equals the first stays first.
    scored.sort_by_key(|(score, _)| -score);
    let mut ranked = scored.into_iter().map(|(_, program)| program);
    let program = ranked.next()?.clone();
    let mut others: Vec<String> = Vec::new();
    for other in ranked.filter(|other| other.name != program.name) {
        // The same program from another build system is not listed.
        if others.len() < 4 && !others.contains(&other.name) {
            others.push(other.name.clone());
        }
    }
    let may_tell = |text: &str| sought.may_be_printed(text) || flags::may_name_one(text);
    let sources = sources::read(tree, &program.sources, may_tell);
    let reading = match sought {
        Sought::Perplexity => perplexity(&sources).unwrap_or(Reading::Perplexity(None)),
        Sought::Speed => speed(&program.name, &sources)?,
    };
    let is_named = name_score(&program.name, sought) >= ENOUGH;
    Some(Choice { options: flags::read(&sources), program, reading, is_named, others })
}

/// Whether a build makes a perplexity program with the highest possible score, for both its name
/// and its output.
pub(super) fn is_beyond_doubt(tree: &Tree, build: &Build) -> bool {
    let is_named = |program: &&Program| name_score(&program.name, Sought::Perplexity) == NAMED;
    let mut named = build.programs.iter().filter(is_named);
    named.any(|program| score(tree, program, Sought::Perplexity) == NAMED + PRINTED)
}

/// The best program for an example in a message, if no program scores enough.
pub(super) fn nearest<'b>(tree: &Tree, builds: &'b [Build]) -> Option<&'b Program> {
    let both = |program: &Program| {
        score(tree, program, Sought::Perplexity) + score(tree, program, Sought::Speed)
    };
    let programs = builds.iter().flat_map(|build| &build.programs);
    // `max_by_key` returns the last of equals, so this reverses the order to get the first.
    programs.rev().max_by_key(|program| both(program))
}

fn score(tree: &Tree, program: &Program, sought: Sought) -> i32 {
    let name = name_score(&program.name, sought);
    let own = sources::own(tree, &program.sources, |text| sought.may_be_printed(text));
    let seen = match sought {
        Sought::Perplexity => match perplexity(&own) {
            Some(Reading::Perplexity(_)) => PRINTED,
            Some(_) => 50,
            None => 0,
        },
        Sought::Speed => match speed(&program.name, &own) {
            Some(_) => SPEED,
            None => -60,
        },
    };
    name + seen
}

fn name_score(name: &str, sought: Sought) -> i32 {
    let name = name.to_lowercase();
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
    // `test-ppl` tests the arithmetic, and `ppl-bench` measures its speed.
    let other = if has(&["test", "tests", "selftest", "fuzz", "example"]) { -70 } else { 0 };
    other
        + match sought {
            Sought::Perplexity if has(&["bench", "benchmark"]) => 0,
            Sought::Perplexity if is_called(&words, &["perplexity", "ppl"]) => NAMED,
            Sought::Perplexity if has(&["perplexity", "ppl"]) => 80,
            Sought::Perplexity if has(&["eval", "evaluate", "evaluation"]) => 25,
            Sought::Speed if is_called(&words, &["bench", "benchmark"]) => NAMED,
            Sought::Speed if has(&["bench", "benchmark"]) => 60,
            Sought::Speed if has(&["speed", "perf", "throughput"]) => 40,
            Sought::Perplexity | Sought::Speed => 0,
        }
}

/// Whether a name is `ppl`, or `ppl` after one other word: `engine-ppl`.
fn is_called(words: &[&str], known: &[&str]) -> bool {
    words.len() <= 2 && words.last().is_some_and(|last| known.contains(last))
}

/// How to read the perplexity that these sources print.
fn perplexity(sources: &[Source]) -> Option<Reading> {
    let known = sources.iter().find_map(|source| {
        let literal = source.literals.iter().find(|l| l.text.contains("Final estimate: PPL"))?;
        Some(Origin::new(&source.file, literal.line))
    });
    if known.is_some() {
        return Some(Reading::Perplexity(known));
    }
    let mut best: Option<(u32, Reading)> = None;
    for source in sources {
        for literal in source.literals.iter() {
            if let Some((rank, pattern)) = pattern::perplexity(literal, source.is_rust())
                && best.as_ref().is_none_or(|(known, _)| rank >= *known)
            {
                let from = Origin::new(&source.file, literal.line);
                best = Some((rank, Reading::Pattern { pattern, from }));
            }
        }
    }
    best.map(|(_, reading)| reading)
}

/// How to read the speed that these sources print.
fn speed(name: &str, sources: &[Source]) -> Option<Reading> {
    // llama-bench: its JSON is read, which has been stable for years, and not its tables.
    let prints = |key: &str| {
        sources.iter().any(|source| source.literals.iter().any(|literal| literal.text == key))
    };
    if name_score(name, Sought::Speed) == NAMED && prints("avg_ts") && prints("n_gen") {
        return Some(Reading::LlamaBench);
    }
    let mut found: Vec<(String, String)> = Vec::new();
    let mut from = None;
    for source in sources {
        for literal in source.literals.iter() {
            for (name, pattern) in pattern::speeds(literal, source.is_rust()) {
                if !found.iter().any(|(known, _)| *known == name) {
                    from.get_or_insert_with(|| Origin::new(&source.file, literal.line));
                    found.push((name, pattern));
                }
            }
        }
    }
    let from = from?;
    let patterns: Vec<&str> = found.iter().map(|(_, pattern)| pattern.as_str()).collect();
    let pattern = patterns.join("|");
    Some(Reading::Speeds {
        names: found.into_iter().map(|(name, _)| name).collect(),
        pattern,
        from,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_most() {
        let score = |name: &str| name_score(name, Sought::Perplexity);
        assert!(score("ppl") >= ENOUGH && score("my-engine-ppl") >= ENOUGH);
        for name in ["apple", "eval", "test-ppl", "ppl-bench", "main", "supplement"] {
            assert!(score(name) < ENOUGH, "{name}");
        }
        let speed = |name: &str| name_score(name, Sought::Speed);
        assert!(speed("my-bench") > speed("my-batched-bench"));
        assert!(speed("benchmark_q8") >= ENOUGH && speed("workbench") == 0);
    }
}
