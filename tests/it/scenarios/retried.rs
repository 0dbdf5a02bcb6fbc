//! Stored failures: which are tried again, and when.

use std::fs;

use crate::kit::{History, Oracle, TestEnvironment, line};

/// A history in which one commit has the file `fault`: with `odd-build` it does not build, with
/// `odd-run` its runs fail, until the world is `mended`.
fn faulty(words: &str, fault: &str, at: usize) -> (TestEnvironment, History) {
    let env = TestEnvironment::new();
    let plan = line(words).file(at, fault, "1\n");
    let is_last = words.split_whitespace().count() == at + 1;
    let plan = if is_last { plan } else { plan.without(at + 1, fault) };
    let history = plan.build(&env);
    let mended = env.path("world/mended").display().to_string();
    let unless = |file: &str, command: &str| {
        format!("sh -c \"test ! -e {{src}}/{file} -o -e {mended} || exit 3; exec {command}\"")
    };
    let build =
        unless("odd-build", &format!("{} build {{src}} {{build}}", TestEnvironment::fake()));
    let ppl = unless("odd-run", "{build}/engine run ppl src={src}");
    Oracle::new(&env).build_command(&build).ppl_command(&ppl).write(&env);
    (env, history)
}

#[test]
fn a_failed_build_is_tried_again_only_if_it_is_asked_for() {
    let (env, history) = faulty("g g g b b", "odd-build", 2);
    let hunt = env.hunt().expect(3, "candidates");
    assert_eq!(hunt.candidates(&history), ["2", "3"]);
    hunt.output.says(&[
        "Next: 1 of them does not build; `bisect-ppl store show",
        "A [[patch]] in oracle.toml may repair that: `bisect-ppl help oracle-toml`",
    ]);
    env.world("mended", true);
    env.hunt().expect(3, "candidates");
    assert_eq!(env.builds_of(2), 0, "the stored failure counts");
    let hunt = env.start(&["--good", "v1", "--retry-failed"]).names(&history, 3);
    assert_eq!(hunt.report["options"]["retry_failed"], true);
    // The newest build counts from here on.
    env.hunt().names(&history, 3);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_failed_run_is_tried_again_only_if_it_is_asked_for() {
    let (env, history) = faulty("g g g b b", "odd-run", 2);
    let hunt = env.hunt().expect(3, "candidates");
    assert_eq!(hunt.candidates(&history), ["2", "3"]);
    env.world("mended", true);
    env.hunt().expect(3, "candidates");
    assert_eq!(env.runs_of(2), 0, "the stored failure counts");
    env.start(&["--good", "v1", "--retry-failed"]).names(&history, 3);
    assert!(env.runs_of(2) > 0);
}

#[test]
fn a_stored_failure_at_an_endpoint_is_tried_again_by_default() {
    let (env, history) = faulty("g g b", "odd-build", 2);
    env.run(&["measure", "HEAD"]).expect(1);
    env.world("mended", true);
    env.run(&["measure", "HEAD"]).expect(1);
    assert_eq!(env.builds_of(2), 0, "the stored failure counts");
    env.hunt().names(&history, 2);
}

#[test]
fn a_commit_that_is_forgotten_is_measured_again() {
    let (env, history) = faulty("g g g b b", "odd-build", 2);
    env.hunt().expect(3, "candidates");
    env.world("mended", true);
    let odd = history.commit(2);
    let said = env.run(&["store", "forget", odd, "--runs"]).expect(0).stdout;
    assert_eq!(said, format!("nothing is stored of {} change 2\n", &odd[..10]));
    let said = env.run(&["store", "forget", odd, "--builds"]).expect(0).stdout;
    assert!(said.starts_with(&format!("removed 1 build record of {} change 2\n", &odd[..10])));
    assert!(said.contains("1 hunt used these ("), "{said}");
    let hunt = env.hunt().names(&history, 3);
    let old = hunt.folder.parent().unwrap();
    let runs = env.runs_of(3);
    let said = env.run(&["store", "forget", history.commit(3)]).expect(0).stdout;
    let counted = format!("removed {runs} runs and ");
    assert!(said.starts_with(&counted), "{said}");
    assert!(said.contains("removed with them: 1 record of confirmations and controls\n"), "{said}");
    assert!(said.contains("2 hunts used these ("), "{said}");
    for entry in fs::read_dir(old).unwrap() {
        let id = entry.unwrap().file_name().into_string().unwrap();
        env.run(&["report", &id]).expect(0);
    }
    let others = env.runs().len() - env.runs_of(3);
    env.hunt().names(&history, 3);
    assert!(env.runs_of(3) > runs);
    // Of the others only the parent, which is in the confirmation, and the bad end were run again.
    let parent = env.runs_of(2);
    assert!(env.runs().len() - env.runs_of(3) - others <= parent);
    env.run(&["store", "forget", "nowhere"]).expect(2).says(&["unknown revision `nowhere`"]);
}

/// The lines with a stored result, each with the time replaced.
fn stored_lines(text: &str) -> Vec<String> {
    let time =
        regex::Regex::new(r"\(stored result of (\d{4}-\d\d-\d\d )?\d\d:\d\d( UTC)?\)").unwrap();
    let lines = text.lines().filter(|line| time.is_match(line));
    lines.map(|line| time.replace_all(line, "(stored result of TIME)").into_owned()).collect()
}

#[test]
fn what_comes_from_the_store_says_so_wherever_it_is_shown() {
    let (env, history) = faulty("g g g b b", "odd-build", 2);
    let first = env.hunt().expect(3, "candidates");
    assert_eq!(stored_lines(&first.output.stderr), [""; 0]);
    let hunt = env.hunt().expect(3, "candidates");
    let short = |label: usize| history.commit(label)[..10].to_owned();
    let known = |end: &str, label: usize, ppl: &str| {
        format!("{end:<8} {}  ppl {ppl}  (stored result of TIME)", short(label))
    };
    let skip = format!(
        "skip     {}  {:<36}  change 2  (stored result of TIME)",
        short(2),
        "does not build"
    );
    let lines = stored_lines(&hunt.output.stderr);
    for line in [known("good end", 0, "7"), known("bad end", 4, "7.5"), skip] {
        assert!(lines.contains(&line), "no `{line}` in {lines:#?}");
    }
    for name in ["report.md", "report.html"] {
        assert!(!stored_lines(&hunt.file(name)).is_empty(), "{name}");
        assert!(stored_lines(&first.file(name)).is_empty(), "{name}");
    }
    let samples = &hunt.commit(&history, 0)["samples"];
    assert!(samples[0]["stored_at"].as_str().unwrap().ends_with('Z'), "{samples}");
    // `status` of a hunt that goes on.
    let journal = hunt.folder.join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let (kept, _) = text.trim_end().rsplit_once('\n').unwrap();
    fs::write(&journal, format!("{kept}\n")).unwrap();
    let status = stored_lines(&env.run(&["status"]).expect(0).stdout);
    let skipped = |line: &String| line.starts_with(&format!("skip    {}", short(2)));
    assert!(status.iter().any(skipped), "{status:#?}");
    let odd = env.run(&["measure", history.commit(2)]).expect(1);
    let told = stored_lines(&odd.stderr);
    assert!(told[0].starts_with(&format!("error: {} cannot be measured: ", short(2))), "{told:?}");
    assert!(odd.stderr.contains(&format!("`bisect-ppl store forget {}` lets", short(2))));
    let good = env.run(&["measure", "v1"]).expect(0).stdout;
    assert_eq!(stored_lines(&good)[0], "run 1 of ppl  (stored result of TIME)");
    let json = env.run(&["measure", "v1", "--json"]).expect(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert!(json["runs"][0]["stored_at"].as_str().unwrap().ends_with('Z'), "{json}");
}
