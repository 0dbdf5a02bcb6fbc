//! No decision depends on a sentence for people. Each test replaces every sentence in a hunt's
//! journal and in the store. Only the sentences of the output may change.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::kit::{Hunt, Oracle, Plan, TestEnvironment, line};

/// Keys whose texts are sentences for people. `signature` is not a sentence; it is compared only if
/// a record has no typed details, and all records here have them.
const PROSE: [&str; 9] =
    ["detail", "failure", "notes", "reason", "signature", "summary", "text", "throttled", "why"];

/// 24 commits. Commits 8 to 11 have a failure that is mended later, commits from 18 on have the
/// hunted failure, and other commits have other failures.
fn plan(beside: &str, mended: &'static [&str], hunted: &'static [&str]) -> Plan {
    let words = format!("g g x g e g g g g g g g {beside} g g g g g g g");
    let failures = (8..12).map(|label| (label, mended)).chain((18..24).map(|l| (l, hunted)));
    failures
        .flat_map(|(label, settings)| settings.iter().map(move |setting| (label, setting)))
        .fold(line(&words).with_all("backend = none"), |plan, (label, setting)| {
            plan.with(label, setting)
        })
}

/// Four hunts: for a failing run, for a failing build, for a regression, and for a regression
/// between untestable commits. The first two have a mended failure too, which differs from the
/// hunted one only in its output.
fn plans() -> [Plan; 4] {
    [
        plan(
            "n i s - x",
            &["fate = exit:1", "say_err = ImportError: cannot import name 'rope' from 'engine'"],
            &["fate = exit:1", "say_err = AssertionError: shape mismatch: 4096 against 4095"],
        ),
        plan(
            "n i s - x",
            &["build_exit = 2", "build_log = cc -c a.c\\nsrc/quant.c:12:3: error: 'y' undeclared"],
            &["build_exit = 2", "build_log = cc -c a.c\\n/usr/bin/ld: undefined reference to `h'"],
        ),
        plan("g i s - x", &["fate = exit:1"], &["ppl = 7.5"]),
        line("g g x e b"),
    ]
}

/// A hunt that ended, and where.
fn hunted(plan: Plan) -> (TestEnvironment, Hunt) {
    let env = TestEnvironment::new();
    plan.build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt();
    assert!(["culprit", "candidates"].map(Some).contains(&hunt.report["outcome"].as_str()));
    (env, hunt)
}

/// What a hunt found: exit code, outcome, commits and verdicts.
fn answer(hunt: &Hunt) -> Value {
    let Hunt { report, output, .. } = hunt;
    let commits = report["commits"].as_array().unwrap().iter();
    let verdicts: Vec<_> =
        commits.map(|c| json!([c["commit"], c["verdict"], c["skip"], c["broken"]])).collect();
    json!({
        "code": output.code(),
        "outcome": report["outcome"],
        "culprit": report["culprit"]["commit"],
        "candidates": report["candidates"],
        "verdicts": verdicts,
    })
}

/// Other words of the same length.
fn rot13(words: &str) -> String {
    let turned = |c: char, first: u8| char::from((c as u8 - first + 13) % 26 + first);
    let letter = |c: char| match c {
        'a'..='z' => turned(c, b'a'),
        'A'..='Z' => turned(c, b'A'),
        other => other,
    };
    words.chars().map(letter).collect()
}

/// Calls `change` for each sentence.
fn each_sentence(value: &mut Value, change: &mut dyn FnMut(&mut String)) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(words) if PROSE.contains(&key.as_str()) => change(words),
                    Value::Array(all) if key == "notes" => {
                        let notes = all.iter_mut();
                        notes.for_each(|note| {
                            if let Value::String(words) = note {
                                change(words);
                            }
                        });
                    }
                    other => each_sentence(other, change),
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|value| each_sentence(value, change)),
        _ => {}
    }
}

/// Rewords a record, or each line of a journal. Returns the number of sentences.
fn reword(path: &Path) -> usize {
    let text = fs::read_to_string(path).unwrap();
    let mut count = 0;
    let reworded = |text: &str, count: &mut usize| {
        let mut value: Value = serde_json::from_str(text).unwrap();
        // The digest is that of the old words.
        value.as_object_mut().unwrap().remove("sum");
        each_sentence(&mut value, &mut |words| {
            *words = rot13(words);
            *count += 1;
        });
        value.to_string()
    };
    let text = if path.extension().is_some_and(|ending| ending == "jsonl") {
        text.lines().map(|line| reworded(line, &mut count) + "\n").collect()
    } else {
        reworded(&text, &mut count)
    };
    fs::write(path, text).unwrap();
    count
}

/// Rewords every record below a folder.
fn reword_all(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| match path.extension() {
            _ if path.is_dir() => reword_all(&path),
            Some(ending) if ending == "json" => reword(&path),
            _ => 0,
        })
        .sum()
}

/// A report without its sentences.
fn without_prose(mut report: Value) -> Value {
    each_sentence(&mut report, &mut String::clear);
    report
}

/// The tags of a page: its sections, tables, rows, links and marks of plots.
fn tags(page: &str) -> Vec<&str> {
    let tags = page.split('<').skip(1);
    tags.map(|tag| tag.split([' ', '>']).next().unwrap_or_default()).collect()
}

/// The headings of a Markdown page, and of every other line what it is.
fn outline(page: &str) -> Vec<&str> {
    page.lines()
        .map(|line| match line.chars().next() {
            Some('#') if !line.starts_with("# ") => line,
            Some('|') => "|",
            Some('-') => "-",
            Some(_) => "…",
            None => "",
        })
        .collect()
}

/// Reports of the hunt before and after its journal is reworded.
fn gives_the_same_report(plan: Plan) {
    let (env, hunt) = hunted(plan);
    let report = |format: &str| env.run(&["report", "--format", format]).expect(0).stdout;
    let all = || ["json", "html", "md", "issue"].map(report);
    let before = all();
    let count = reword(&hunt.folder.join("journal.jsonl"));
    let after = all();
    assert!(count > 0);
    for (before, after) in before.iter().zip(&after).take(3) {
        assert_ne!(before, after, "the words are others");
    }
    let [before, after] = [&before, &after];
    let parsed = |text: &str| without_prose(serde_json::from_str(text).unwrap());
    assert_eq!(parsed(&before[0]), parsed(&after[0]));
    assert_eq!(tags(&before[1]), tags(&after[1]));
    assert_eq!(outline(&before[2]), outline(&after[2]));
    assert_eq!(outline(&before[3]), outline(&after[3]));
    env.run(&["status"]).expect(0);
}

#[test]
fn a_reworded_journal_gives_the_same_report() {
    for plan in plans().into_iter().skip(3) {
        gives_the_same_report(plan);
    }
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_reworded_journal_of_other_hunts_gives_the_same_report() {
    for plan in plans().into_iter().take(3) {
        gives_the_same_report(plan);
    }
}

/// The hunt goes on after its journal and its builds are reworded.
fn is_resumed_to_the_same_answer(plan: Plan) {
    let (env, hunt) = hunted(plan);
    let journal = hunt.folder.join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let is_search = |line: &&str| serde_json::from_str::<Value>(line).unwrap()["event"] == "search";
    let searches = text.lines().position(|line| is_search(&line)).unwrap();
    let begun: String = text.split_inclusive('\n').take(searches + 1).collect();
    fs::write(&journal, begun).unwrap();
    let store = env.git_folder().join("bisect-ppl");
    let count = reword(&journal) + reword_all(&store.join("builds"));
    assert!(count > 0);
    assert_eq!(answer(&env.resume()), answer(&hunt));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_reworded_hunt_is_resumed_to_the_same_answer() {
    for plan in plans().into_iter().take(1) {
        is_resumed_to_the_same_answer(plan);
    }
}

#[test]
#[ignore = "long: scripts/test --long"]
fn other_reworded_hunts_are_resumed_to_the_same_answer() {
    for plan in plans().into_iter().skip(1) {
        is_resumed_to_the_same_answer(plan);
    }
}

/// Another hunt after the records of the first one are reworded.
fn gives_the_next_hunt_the_same_verdicts(plan: Plan) {
    let (env, hunt) = hunted(plan);
    let store = env.git_folder().join("bisect-ppl");
    let runs = env.runs().len();
    for records in ["builds", "runs", "controls"] {
        if store.join(records).exists() {
            reword_all(&store.join(records));
        }
    }
    assert_eq!(answer(&env.hunt()), answer(&hunt));
    assert!(env.runs().len() <= runs + 8, "only a confirmation is run afresh");
}

#[test]
fn a_reworded_store_gives_the_next_hunt_the_same_verdicts() {
    for plan in plans().into_iter().skip(1).take(1) {
        gives_the_next_hunt_the_same_verdicts(plan);
    }
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_reworded_store_of_other_hunts_gives_the_next_hunt_the_same_verdicts() {
    let [run, _, regression, untestable] = plans();
    for plan in [run, regression, untestable] {
        gives_the_next_hunt_the_same_verdicts(plan);
    }
}
