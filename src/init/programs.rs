//! Chooses the program that measures perplexity, and the program that measures speed.

use toml_edit::Value;

use super::flags::{self, Options, Role};
use super::literals::Literals;
use super::pattern::{MayPrint, Perplexities, Speeds};
use super::program::{Build, Program};
use super::sources::{self, Source};
use super::text::{Fact, Text};
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
    /// The files that were read to learn its options: its sources and what they include.
    pub(super) reads: Vec<String>,
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
pub(super) enum ProgramPurpose {
    Perplexity,
    Speed,
}

impl ProgramPurpose {
    /// The maximum that the sources can add to the score of the name.
    fn most(self) -> i32 {
        match self {
            Self::Perplexity => PRINTED,
            Self::Speed => SPEED,
        }
    }

    /// Whether a source may print such a figure.
    fn may_be_printed(self, text: &Text) -> bool {
        let may = text.fact::<MayPrint>();
        match self {
            Self::Perplexity => may.perplexity,
            Self::Speed => may.speed,
        }
    }
}

/// The program with the highest score of all builds. Among equals, the first.
pub(super) fn choose(tree: &Tree, builds: &[Build], sought: ProgramPurpose) -> Option<Choice> {
    let program = best(tree, builds, sought)?.clone();
    let sources = read_sources(tree, &program, sought);
    let reading = match sought {
        ProgramPurpose::Perplexity => perplexity(&sources).unwrap_or(Reading::Perplexity(None)),
        ProgramPurpose::Speed => speed(&program.name, &sources)?,
    };
    let is_named = name_score(&program.name, sought) >= ENOUGH;
    let reads = sources.iter().map(|source| source.file.clone()).collect();
    Some(Choice { options: flags::read(&sources), program, reading, is_named, reads })
}

/// A program that takes a model and prints a speed, whatever its name: `run`, `chat`. If there are
/// several: the first that needs no Cargo feature, else the first.
pub(super) fn choose_by_output(tree: &Tree, builds: &[Build]) -> Option<Choice> {
    let programs = builds.iter().flat_map(|build| &build.programs);
    let mut programs: Vec<&Program> =
        programs.filter(|program| score(tree, program, ProgramPurpose::Speed) >= SPEED).collect();
    // The sort is stable: among equals the first stays first.
    programs.sort_by_key(|program| program.recipe.build.contains(" --features "));
    programs.into_iter().find_map(|program| {
        let sources = read_sources(tree, program, ProgramPurpose::Speed);
        let options = flags::read(&sources);
        let takes_model =
            options.get(Role::Model).is_some() || options.positions.contains(&Role::Model);
        let reading = speed(&program.name, &sources).filter(|_| takes_model)?;
        let reads = sources.iter().map(|source| source.file.clone()).collect();
        Some(Choice { options, program: program.clone(), reading, is_named: false, reads })
    })
}

fn read_sources(tree: &Tree, program: &Program, sought: ProgramPurpose) -> Vec<Source> {
    let may_tell = |text: &Text| sought.may_be_printed(text) || flags::may_name_one(text);
    sources::read(tree, &program.sources, may_tell)
}

/// The options of a program, as far as its sources show them.
pub(super) fn options(tree: &Tree, program: &Program) -> Options {
    flags::read(&read_sources(tree, program, ProgramPurpose::Speed))
}

/// The programs whose names allow a score of [`ENOUGH`], each with its highest possible score.
fn candidates(builds: &[Build], sought: ProgramPurpose) -> Vec<(i32, &Program)> {
    let programs = builds.iter().flat_map(|build| &build.programs);
    let most = |program: &Program| name_score(&program.name, sought) + sought.most();
    let scored = programs.map(|program| (most(program), program));
    scored.filter(|(most, _)| *most >= ENOUGH).collect()
}

/// The program with the highest score, if that is enough. The sources of a program are read only
/// if it may still be the one.
fn best<'b>(tree: &Tree, builds: &'b [Build], sought: ProgramPurpose) -> Option<&'b Program> {
    let mut candidates: Vec<(usize, (i32, &Program))> =
        candidates(builds, sought).into_iter().enumerate().collect();
    candidates.sort_by_key(|(_, (most, _))| std::cmp::Reverse(*most));
    // Among equals the first counts.
    let mut best = (ENOUGH, usize::MAX, None);
    for (index, (most, program)) in candidates {
        if (most, std::cmp::Reverse(index)) > (best.0, std::cmp::Reverse(best.1)) {
            let score = score(tree, program, sought);
            if (score, std::cmp::Reverse(index)) > (best.0, std::cmp::Reverse(best.1)) {
                best = (score, index, Some(program));
            }
        }
    }
    best.2
}

/// Names of other programs that also score enough, the best first.
pub(super) fn others(
    tree: &Tree,
    builds: &[Build],
    sought: ProgramPurpose,
    chosen: &Program,
) -> Vec<String> {
    let programs = candidates(builds, sought).into_iter().map(|(_, program)| program);
    let mut scored: Vec<(i32, &Program)> = programs
        .filter(|program| program.name != chosen.name)
        .map(|program| (score(tree, program, sought), program))
        .filter(|(score, _)| *score >= ENOUGH)
        .collect();
    // The sort is stable: among equals the first stays first.
    scored.sort_by_key(|(score, _)| -score);
    let mut others: Vec<String> = Vec::new();
    for (_, other) in scored {
        // The same program from another build system is not listed.
        if others.len() < 4 && !others.contains(&other.name) {
            others.push(other.name.clone());
        }
    }
    others
}

/// Whether a build makes a perplexity program with the highest possible score, for both its name
/// and its output.
pub(super) fn is_certain(tree: &Tree, build: &Build) -> bool {
    let is_named =
        |program: &&Program| name_score(&program.name, ProgramPurpose::Perplexity) == NAMED;
    let mut named = build.programs.iter().filter(is_named);
    named.any(|program| score(tree, program, ProgramPurpose::Perplexity) == NAMED + PRINTED)
}

/// The best program for an example in a message, if no program scores enough.
pub(super) fn nearest<'b>(tree: &Tree, builds: &'b [Build]) -> Option<&'b Program> {
    let both = |program: &Program| {
        score(tree, program, ProgramPurpose::Perplexity)
            + score(tree, program, ProgramPurpose::Speed)
    };
    let programs = builds.iter().flat_map(|build| &build.programs);
    // `max_by_key` returns the last of equals, so this reverses the order to get the first.
    programs.rev().max_by_key(|program| both(program))
}

fn score(tree: &Tree, program: &Program, sought: ProgramPurpose) -> i32 {
    let name = name_score(&program.name, sought);
    let own = sources::own(tree, &program.sources, |text| sought.may_be_printed(text));
    let seen = match sought {
        ProgramPurpose::Perplexity => match perplexity(&own) {
            Some(Reading::Perplexity(_)) => PRINTED,
            Some(_) => 50,
            None => 0,
        },
        ProgramPurpose::Speed => match speed(&program.name, &own) {
            Some(_) => SPEED,
            None => -60,
        },
    };
    name + seen
}

fn name_score(name: &str, sought: ProgramPurpose) -> i32 {
    let name = name.to_lowercase();
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
    // `test-ppl` tests the arithmetic, and `ppl-bench` measures its speed.
    let other = if has(&["test", "tests", "selftest", "fuzz", "example"]) { -70 } else { 0 };
    other
        + match sought {
            ProgramPurpose::Perplexity if has(&["bench", "benchmark"]) => 0,
            ProgramPurpose::Perplexity if is_called(&words, &["perplexity", "ppl"]) => NAMED,
            ProgramPurpose::Perplexity if has(&["perplexity", "ppl"]) => 80,
            ProgramPurpose::Perplexity if has(&["eval", "evaluate", "evaluation"]) => 25,
            ProgramPurpose::Speed if is_called(&words, &["bench", "benchmark"]) => NAMED,
            ProgramPurpose::Speed if has(&["bench", "benchmark"]) => 60,
            ProgramPurpose::Speed if has(&["speed", "perf", "throughput"]) => 40,
            ProgramPurpose::Perplexity | ProgramPurpose::Speed => 0,
        }
}

/// Whether a name is `ppl`, or `ppl` after one other word: `engine-ppl`.
fn is_called(words: &[&str], known: &[&str]) -> bool {
    words.len() <= 2 && words.last().is_some_and(|last| known.contains(last))
}

/// The source line of the literal that prints llama-perplexity's final result.
struct FinalLine(Option<usize>);

impl Fact for FinalLine {
    fn read(text: &Text) -> Self {
        let literals = text.fact::<Literals>();
        let known = literals.0.iter().find(|literal| literal.text.contains("Final estimate: PPL"));
        Self(known.map(|literal| literal.line))
    }
}

/// How to read the perplexity that these sources print.
fn perplexity(sources: &[Source]) -> Option<Reading> {
    let sources = || sources.iter().filter(|source| !source.literals.0.is_empty());
    let known = sources().find_map(|source| {
        let line = source.text.fact::<FinalLine>().0?;
        Some(Origin::new(&source.file, line))
    });
    if known.is_some() {
        return Some(Reading::Perplexity(known));
    }
    let mut best: Option<(u32, Reading)> = None;
    for source in sources() {
        let (c, rust);
        let found = if source.is_rust() {
            rust = source.text.fact::<Perplexities<true>>();
            &rust.0
        } else {
            c = source.text.fact::<Perplexities<false>>();
            &c.0
        };
        for (line, rank, pattern) in found {
            if best.as_ref().is_none_or(|(known, _)| rank >= known) {
                let from = Origin::new(&source.file, *line);
                best = Some((*rank, Reading::Pattern { pattern: pattern.clone(), from }));
            }
        }
    }
    best.map(|(_, reading)| reading)
}

/// How to read the speed that these sources print.
fn speed(name: &str, sources: &[Source]) -> Option<Reading> {
    // llama-bench: its JSON is read, which has been stable for years, and not its tables.
    let prints = |key: &str| {
        sources.iter().any(|source| source.literals.0.iter().any(|literal| literal.text == key))
    };
    if name_score(name, ProgramPurpose::Speed) == NAMED && prints("avg_ts") && prints("n_gen") {
        return Some(Reading::LlamaBench);
    }
    let mut found: Vec<(String, String)> = Vec::new();
    let mut from = None;
    for source in sources.iter().filter(|source| !source.literals.0.is_empty()) {
        let (c, rust);
        let speeds = if source.is_rust() {
            rust = source.text.fact::<Speeds<true>>();
            &rust.0
        } else {
            c = source.text.fact::<Speeds<false>>();
            &c.0
        };
        for (line, name, pattern) in speeds {
            if !found.iter().any(|(known, _)| known == name) {
                from.get_or_insert_with(|| Origin::new(&source.file, *line));
                found.push((name.clone(), pattern.clone()));
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
        let score = |name: &str| name_score(name, ProgramPurpose::Perplexity);
        assert!(score("ppl") >= ENOUGH && score("my-engine-ppl") >= ENOUGH);
        for name in ["apple", "eval", "test-ppl", "ppl-bench", "main", "supplement"] {
            assert!(score(name) < ENOUGH, "{name}");
        }
        let speed = |name: &str| name_score(name, ProgramPurpose::Speed);
        assert!(speed("my-bench") > speed("my-batched-bench"));
        assert!(speed("benchmark_q8") >= ENOUGH && speed("workbench") == 0);
    }
}
