//! Which of a tree's programs measures perplexity, and which measures speed.

use super::flags::{self, Options};
use super::pattern;
use super::program::{Build, Program};
use super::sources::{self, Source};
use super::tree::{Origin, Tree};

/// Below this a program is not taken for what is looked for: a name such as `eval` alone is
/// not enough, nor is a program that prints a speed among other things.
const ENOUGH: i32 = 50;

/// A program with how its output is read.
pub(super) struct Choice {
    pub(super) program: Program,
    pub(super) options: Options,
    pub(super) reading: Reading,
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
    /// llama-bench, asked for JSON.
    LlamaBench,
    /// Speeds by their names, from the words it prints.
    Speeds { names: Vec<String>, pattern: String, from: Origin },
}

/// What a program is looked at for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Perplexity,
    Speed,
}

/// The program that fits best, of all that the builds make; the first of several alike.
pub(super) fn choose(tree: &Tree, builds: &[Build], purpose: Purpose) -> Option<Choice> {
    let programs = builds.iter().flat_map(|build| &build.programs);
    let mut scored: Vec<(i32, &Program)> = programs
        .map(|program| (score(tree, program, purpose), program))
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
    let sources = sources::read(tree, &program.sources);
    let reading = match purpose {
        Purpose::Perplexity => perplexity(&sources).unwrap_or(Reading::Perplexity(None)),
        Purpose::Speed => speed(&program.name, &sources)?,
    };
    Some(Choice { options: flags::read(&sources), program, reading, others })
}

/// The program that the user may mean where none is good enough: the best of them.
pub(super) fn nearest<'b>(tree: &Tree, builds: &'b [Build]) -> Option<&'b Program> {
    let both = |program: &Program| {
        score(tree, program, Purpose::Perplexity) + score(tree, program, Purpose::Speed)
    };
    let programs = builds.iter().flat_map(|build| &build.programs);
    // The first of several alike.
    programs.rev().max_by_key(|program| both(program))
}

fn score(tree: &Tree, program: &Program, purpose: Purpose) -> i32 {
    let name = name_score(&program.name, purpose);
    let own = sources::own(tree, &program.sources, |text| match purpose {
        Purpose::Perplexity => pattern::may_print_perplexity(text),
        Purpose::Speed => pattern::may_print_speed(text),
    });
    let seen = match purpose {
        Purpose::Perplexity => match perplexity(&own) {
            Some(Reading::Perplexity(_)) => 60,
            Some(_) => 50,
            None => 0,
        },
        // Speed is printed by many a program on the way.
        Purpose::Speed => match speed(&program.name, &own) {
            Some(_) => 30,
            None => -60,
        },
    };
    name + seen
}

fn name_score(name: &str, purpose: Purpose) -> i32 {
    let name = name.to_lowercase();
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
    // `test-ppl` checks the arithmetic, `ppl-bench` its speed.
    let other = if has(&["test", "tests", "selftest", "fuzz", "example"]) { -70 } else { 0 };
    other
        + match purpose {
            Purpose::Perplexity => match name.as_str() {
                "llama-perplexity" | "perplexity" | "ppl" => 100,
                _ if has(&["bench", "benchmark"]) => 0,
                _ if has(&["perplexity", "ppl"]) => 80,
                _ if has(&["eval", "evaluate", "evaluation"]) => 25,
                _ => 0,
            },
            Purpose::Speed => match name.as_str() {
                "llama-bench" | "bench" | "benchmark" => 100,
                _ if has(&["bench", "benchmark"]) => 60,
                _ if has(&["speed", "perf", "throughput"]) => 40,
                _ => 0,
            },
        }
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
    let is_llama = |source: &Source| source.literals.iter().any(|l| l.text == "avg_ts");
    if name == "llama-bench" && sources.iter().any(is_llama) {
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
        let score = |name: &str| name_score(name, Purpose::Perplexity);
        assert!(score("ppl") >= ENOUGH && score("my-engine-ppl") >= ENOUGH);
        for name in ["apple", "eval", "test-ppl", "ppl-bench", "main", "supplement"] {
            assert!(score(name) < ENOUGH, "{name}");
        }
        let speed = |name: &str| name_score(name, Purpose::Speed);
        assert!(speed("llama-bench") > speed("batched-bench"));
        assert!(speed("benchmark_q8") >= ENOUGH && speed("workbench") == 0);
    }
}
