//! Which of a tree's programs measures perplexity, and which measures speed.

use toml_edit::Value;

use super::flags::{self, Options};
use super::pattern;
use super::program::{Build, Program};
use super::sources::{self, Source};
use super::tree::{Origin, Tree};

/// Below this a program is not taken for what is looked for: a name such as `eval` alone is
/// not enough, nor is a program that prints a speed among other things.
const ENOUGH: i32 = 50;

/// A name that says it all.
const NAMED: i32 = 100;
/// A final line as the parser knows it.
const PRINTED: i32 = 60;

/// Speed is printed by many a program on the way.
const SPEED: i32 = 30;

/// A program with how its output is read.
pub(super) struct Choice {
    pub(super) program: Program,
    pub(super) options: Options,
    pub(super) reading: Reading,
    /// Whether its name says what it is for, and not only what it prints.
    pub(super) is_named: bool,
    /// Others that came close.
    pub(super) others: Vec<String>,
}

/// How a program's output is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// As llama-perplexity's; where it prints its final line, if that was found.
    Perplexity(Option<Origin>),
    /// With a pattern, from the words it prints.
    Pattern { pattern: String, from: Origin },
    /// JSON as llama-bench's, which has a parser.
    LlamaBench,
    /// Speeds by their names, from the words it prints.
    Speeds { names: Vec<String>, pattern: String, from: Origin },
    /// Whether a suite passes: its exit code.
    Passes,
    /// What a suite prints of its checks: whether each passes, how far it is off, or both.
    Checks { states: bool, distances: bool, from: Origin },
}

impl Reading {
    /// What it yields besides the measure's own name.
    pub(super) fn metrics(&self) -> &[String] {
        match self {
            Self::Speeds { names, .. } => names,
            _ => &[],
        }
    }

    /// Whether it tells which checks ran.
    pub(super) fn tells_checks(&self) -> bool {
        matches!(self, Self::Checks { .. })
    }

    /// The keys of `[[measure]]` that say so, with their values; what tells two readings apart.
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

/// What a program is looked at for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sought {
    Perplexity,
    Speed,
}

impl Sought {
    /// What the sources can add to what a name says.
    fn most(self) -> i32 {
        match self {
            Self::Perplexity => PRINTED,
            Self::Speed => SPEED,
        }
    }

    /// Whether a text is worth a closer look.
    fn may_be_printed(self, text: &str) -> bool {
        match self {
            Self::Perplexity => pattern::may_print_perplexity(text),
            Self::Speed => pattern::may_print_speed(text),
        }
    }
}

/// The program that fits best, of all that the builds make; the first of several alike.
pub(super) fn choose(tree: &Tree, builds: &[Build], sought: Sought) -> Option<Choice> {
    let programs = builds.iter().flat_map(|build| &build.programs);
    let may_be = |program: &&Program| name_score(&program.name, sought) + sought.most() >= ENOUGH;
    let mut scored: Vec<(i32, &Program)> = programs
        .filter(may_be)
        .map(|program| (score(tree, program, sought), program))
        .filter(|(score, _)| *score >= ENOUGH)
        .collect();
    // Stable: of several alike the first stays first.
    scored.sort_by_key(|(score, _)| -score);
    let mut ranked = scored.into_iter().map(|(_, program)| program);
    let program = ranked.next()?.clone();
    let mut others: Vec<String> = Vec::new();
    for other in ranked.filter(|other| other.name != program.name) {
        // The same program, built in another way, is no other.
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

/// Whether a build makes a program for perplexity that no other can beat: by its name and by
/// what it prints.
pub(super) fn is_beyond_doubt(tree: &Tree, build: &Build) -> bool {
    let is_named = |program: &&Program| name_score(&program.name, Sought::Perplexity) == NAMED;
    let mut named = build.programs.iter().filter(is_named);
    named.any(|program| score(tree, program, Sought::Perplexity) == NAMED + PRINTED)
}

/// The program that the user may mean where none is good enough: the best of them.
pub(super) fn nearest<'b>(tree: &Tree, builds: &'b [Build]) -> Option<&'b Program> {
    let both = |program: &Program| {
        score(tree, program, Sought::Perplexity) + score(tree, program, Sought::Speed)
    };
    let programs = builds.iter().flat_map(|build| &build.programs);
    // The first of several alike.
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
    // `test-ppl` checks the arithmetic, `ppl-bench` its speed.
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

/// `ppl`, or that behind the name of its engine: `engine-ppl`.
fn is_called(words: &[&str], known: &[&str]) -> bool {
    words.len() <= 2 && words.last().is_some_and(|last| known.contains(last))
}

/// How the perplexity that these sources print is read.
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

/// How the speed that these sources print is read.
fn speed(name: &str, sources: &[Source]) -> Option<Reading> {
    // Its tables are for people; its JSON has been the same for years.
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
