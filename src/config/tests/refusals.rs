//! One test for each refusal: the wrong text and its message. Here: missing and unknown keys, wrong
//! types, and broken files.

mod measures;
mod values;

use super::*;

/// The problems of the small configuration with one text replaced by another.
fn refused(from: &str, to: &str) -> Vec<String> {
    assert!(SMALL.contains(from), "nothing to replace");
    let error = parse(&SMALL.replacen(from, to, 1)).expect_err(to);
    error.problems.iter().map(ToString::to_string).collect()
}

/// The one problem of the small configuration with `extra` after it.
fn refused_extra(extra: &str) -> String {
    let error = parse(&format!("{SMALL}{extra}")).expect_err(extra);
    assert_eq!(error.problems.len(), 1, "{error}");
    error.problems[0].to_string()
}

/// The one problem when the measure has further keys.
fn refused_measure(keys: &str) -> String {
    let parser = "parser = \"llama-perplexity\"";
    let said = refused(parser, &format!("{parser}\n{keys}"));
    assert_eq!(said.len(), 1, "{keys}: {said:#?}");
    said[0].clone()
}

/// The one problem when the measure has this parser and the guard this metric.
fn refused_parser(keys: &str, metric: &str) -> String {
    let text = SMALL
        .replace("parser = \"llama-perplexity\"", keys)
        .replace("metric = \"ppl\"", &format!("metric = \"{metric}\""));
    let error = parse(&text).expect_err(keys);
    assert_eq!(error.problems.len(), 1, "{error}");
    error.problems[0].to_string()
}

fn refused_guard(keys: &str) -> String {
    let said = refused("max_increase = 0.05", keys);
    assert_eq!(said.len(), 1, "{keys}: {said:#?}");
    said[0].clone()
}

#[track_caller]
fn says(said: &str, expected: &str) {
    assert!(said.contains(expected), "\nsaid:     {said}\nexpected: {expected}");
}

#[test]
fn missing_required_keys_are_reported() {
    let error = parse("").unwrap_err();
    let keys: Vec<_> = error.problems.iter().map(|p| p.key.as_str()).collect();
    assert_eq!(keys, ["guard", "measure", "version"]);
    let error = parse("version = 1\nmeasure = []\nguard = []\n").unwrap_err();
    let guard = "guard: is missing: at least one [[guard]] is needed; e.g. `[[guard]]` and below \
                 it `metric = \"ppl\"`, `max_increase = 0.05`";
    says(&error.to_string(), guard);
    let measure = "measure: is missing: at least one [[measure]] is needed; e.g. `[[measure]]` and \
                   below it `name = \"ppl\"`, `command = ";
    says(&error.to_string(), measure);
    says(&refused_extra("[[require]]\nmeasure = 'ppl'\n"), "require[1].pattern: is missing");
    let of = "require[1].measure: is missing; e.g. `measure = \"ppl\"`. Allowed: ppl";
    says(&refused_extra("[[require]]\npattern = 'x'\n"), of);
    says(&refused_extra("[[override]]\nrun.threads = 1\n"), "override[1].when: is missing");
    says(
        &refused("parser = \"llama-perplexity\"\n", "")[0],
        "oracle.toml:2:1: measure.ppl.parser: is missing; e.g. `parser = \"llama-perplexity\"`. \
         Allowed: llama-perplexity, llama-bench, ",
    );
    let speed = SMALL
        .replace("parser = \"llama-perplexity\"", "parser = 'regex'\npattern = '(?<tg>.)(?<pp>.)'")
        .replace("metric = \"ppl\"\n", "");
    let metric = "guard[1].metric: is missing; e.g. `metric = \"ppl.tg\"`. Allowed: ppl.tg, ppl.pp";
    says(&parse(&speed).unwrap_err().to_string(), metric);
}

/// The line that a message gives for a missing key.
fn line_of(said: &str) -> &str {
    let line = said.split("is missing; e.g. `").nth(1).unwrap_or_else(|| panic!("no line: {said}"));
    line.split('`').next().unwrap()
}

#[test]
fn the_line_in_the_message_for_a_missing_key_is_correct() {
    for line in [
        "version = 1\n",
        "name = \"ppl\"\n",
        "command = \"{build}/ppl\"\n",
        "parser = \"llama-perplexity\"\n",
        "metric = \"ppl\"\n",
    ] {
        let said = refused(line, "");
        let mended = SMALL.replacen(line, &format!("{}\n", line_of(&said[0])), 1);
        parse(&mended).unwrap_or_else(|error| panic!("{error}\n{mended}"));
    }
    for table in [
        "[[require]]\nmeasure = 'ppl'\n",
        "[[require]]\npattern = 'x'\n",
        "[[override]]\nrun.threads = 1\n",
        "[[prepare]]\nname = 'x'\n",
        "[[prepare]]\ncommand = 'x'\n",
        "[[patch]]\n",
        "[[overlay]]\nfrom = 'HEAD'\n",
        "[[overlay]]\npaths = ['x']\n",
        "[ruler]\n",
    ] {
        let mended = format!("{SMALL}{table}{}\n", line_of(&refused_extra(table)));
        parse(&mended).unwrap_or_else(|error| panic!("{error}\n{mended}"));
    }
    for parser in ["regex", "json"] {
        let parser = format!("parser = '{parser}'");
        let said = refused_parser(&parser, "ppl.wall_s");
        let parser = format!("{parser}\n{}", line_of(&said));
        let mended = SMALL.replacen("parser = \"llama-perplexity\"", &parser, 1);
        parse(&mended).unwrap_or_else(|error| panic!("{error}\n{mended}"));
    }
}

#[test]
fn what_is_not_there_yet_is_refused_by_name() {
    says(&refused_extra("[run]\nexclusive = true\n"), "run.exclusive: not available yet");
    says(&refused("{build}/ppl", "{build}/ppl {port}")[0], "`{port}` is not available yet");
}

#[test]
fn unknown_keys_are_refused_with_what_is_allowed() {
    says(&refused_extra("[biuld]\n"), "oracle.toml:9:2: biuld: unknown key; did you mean `build`?");
    says(
        &refused_extra("[run]\nthread = 2\n"),
        "run.thread: unknown key; did you mean `threads`? Allowed: threads, chunks",
    );
    says(
        &refused_measure("timout = '1s'"),
        "measure.ppl.timout: unknown key; did you mean `timeout`?",
    );
    says(
        &refused_measure("failures = { build = 'bad' }"),
        "measure.ppl.failures.build: unknown key. Allowed: crash, nan, timeout, unreadable",
    );
    says(&refused_guard("max = 1\nlimit = 2"), "guard[1].limit: unknown key");
    says(
        &refused_extra("[[override]]\nrun.threads = 1\nwhen = { absent = 'x' }\n"),
        "override[1].when.absent: unknown key",
    );
}

#[test]
fn a_part_of_a_word_is_enough_to_guess() {
    says(
        &refused("llama-perplexity", "perplexity")[0],
        "`perplexity` is not allowed; did you mean `llama-perplexity`? Allowed: llama-perplexity, ",
    );
}

/// Problems that only follow from a syntax error are not reported.
#[test]
fn a_broken_header_is_one_problem() {
    let said = refused("[[measure]]", "[[measure]");
    assert_eq!(said.len(), 1, "{said:#?}");
    says(&said[0], "oracle.toml:2:11: not valid TOML: unclosed array table");
}

#[test]
fn wrong_types_are_refused() {
    says(
        &refused("version = 1", "version = '1'")[0],
        "version: expected a whole number, found a string",
    );
    says(&refused("version = 1", "version = 2")[0], "version: this program reads version 1");
    says(
        &refused_extra("[build]\ncommands = 'make'\n"),
        "build.commands: expected an array, found a string",
    );
    says(
        &refused_extra("[build]\nenv = { N = 4 }\n"),
        "build.env.N: expected a string (in quotes), found an integer",
    );
    says(
        &refused_extra("[worktree]\nsubmodules = 'yes'\n"),
        "expected true or false, found a string",
    );
    says(
        &refused_extra("[worktree]\nsubmodules = false\ndescend = 'lib'\n"),
        "worktree.descend: needs the submodules that `submodules = false` leaves out.",
    );
    says(
        &refused_extra("[worktree]\ndescend = '../lib'\n"),
        "worktree.descend: `../lib` must be a relative path that does not leave the tree.",
    );
    says(
        &refused_measure("exclusive = 'yes'"),
        "measure.ppl.exclusive: `yes` is not allowed. Allowed: true, false, \"runs\"",
    );
    says(
        &refused_measure("warmup = true"),
        "measure.ppl.warmup: expected a whole number, found a boolean.",
    );
    says(
        &refused_guard("max_increase = '5%'"),
        "guard[1].max_increase: expected a number, found a string; a percentage is written \
         `max_increase_percent = 5`",
    );
    for key in ["max_decrease", "max_decrease_percent"] {
        says(&refused_guard(&format!("{key} = '2.5 %'")), "written `max_decrease_percent = 2.5`");
    }
    let other = refused_guard("max_increase = 'much'");
    assert!(other.contains("found a string") && !other.contains("percent"), "{other}");
    says(
        &refused("[[measure]]", "[measure]")[0],
        "measure: expected [[measure]] tables, found a table",
    );
    says(
        &refused("version = 1", "version = 1\nrun = 3")[0],
        "run: expected a table, found an integer",
    );
}

#[test]
fn broken_toml_is_a_problem_among_others() {
    let error = parse(&format!("{SMALL}[build]\ntimeout = 30m\nmod = 'clean'\nx = 1\nx = 2\n"))
        .unwrap_err();
    let said = error.to_string();
    says(&said, "oracle.toml:10:");
    says(&said, "not valid TOML");
    says(&said, "oracle.toml:11:1: build.mod: unknown key; did you mean `mode`?");
    says(&said, "oracle.toml:13:1: not valid TOML: duplicate key");
}

#[test]
fn columns_count_characters() {
    says(
        &refused("[[guard]]", "env = { 'Ä' = \"ö\", B = \"{ü}\" }\n[[guard]]")[0],
        "oracle.toml:6:24: measure.ppl.env.B",
    );
}
