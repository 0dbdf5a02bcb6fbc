//! Builds that write a file which git tracks, such as a generated table. The file is put back after
//! each build, so runs read it as the commit has it.

use serde_json::Value;

use crate::kit::planted::put;
use crate::kit::shell_engine::{NUMBER, among_notes, make, subjects};
use crate::kit::{Hunt, TestEnvironment};

/// The engine reads the committed table, which the build writes too.
const READS_TABLE: &str = "echo \"e = $(cat table)\"";

/// What the build runs: it writes this number into the table, and copies the table.
fn generator(number: &str) -> String {
    format!("echo {number} > table; cp table \"$1/copy\"\n")
}

/// A hunt in which each commit's build writes the table. The first commit has it as its build writes
/// it.
fn hunt(env: &TestEnvironment, engine: &str, steps: &[(&str, &str)]) -> Hunt {
    put(&env.repo().join("gen.sh"), generator("7").as_bytes());
    put(&env.repo().join("table"), b"7\n");
    make(env, engine, &among_notes(steps));
    let text = format!(
        "version = 1\n[build]\ncommands = [\"sh {{src}}/gen.sh {{build}}\"]\n\
         [[measure]]\nname = \"e\"\ncommand = \"sh {{src}}/engine.sh {{build}}\"\n{NUMBER}\n\
         [[guard]]\nmetric = \"e\"\nmax_increase = 0.1\n"
    );
    put(&env.repo().join("oracle.toml"), text.as_bytes());
    env.hunt()
}

/// Fails unless the hunt names the commit of the table, with the note and the doubt.
#[track_caller]
fn is_doubted(hunt: Hunt) {
    let hunt = hunt.expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["table"]);
    let culprit = &hunt.report["culprit"];
    assert!(culprit["confidence"].as_f64().unwrap() <= 0.98, "{culprit}");
    let doubt = &culprit["put_back_doubt"];
    assert_eq!(doubt["measure"], "e", "{doubt}");
    assert_eq!(doubt["paths"][0], "table", "{doubt}");
    let notes = hunt.report["notes"].to_string();
    let said = "builds write table, which git tracks, and the runs of e read it as the commit has \
                it, because tracked files are put back after each build; let the build write it \
                below {build}";
    assert_eq!(notes.matches(said).count(), 1, "{notes}");
    let words: Vec<&str> = hunt.output.stdout.split_whitespace().collect();
    let words = words.join(" ");
    let why = "an earlier change of what writes table may be the cause";
    assert!(words.contains(why), "{words}");
}

#[test]
fn a_generated_table_that_is_committed_later_leaves_a_doubt() {
    let env = TestEnvironment::localizing();
    let generator = generator("7.5");
    is_doubted(hunt(&env, READS_TABLE, &[("gen.sh", generator.as_str()), ("table", "7.5\n")]));
    // The runs of a further hunt come from the store.
    is_doubted(env.hunt());
}

#[test]
fn a_generated_table_that_is_not_committed_is_no_proof_of_no_regression() {
    let env = TestEnvironment::localizing();
    let generator = generator("7.5");
    let hunt = hunt(&env, READS_TABLE, &[("gen.sh", generator.as_str())]);
    let said = [
        "writes table, which git tracks, and the runs of e read it as the commit has it",
        "let the build write it below {build}, and let the runs of e read it there",
    ];
    let hunt = hunt.expect(4, "endpoint-unmeasurable");
    let summary = format!("{} {}", hunt.report["summary"], hunt.report["next"]);
    assert!(said.iter().all(|said| summary.contains(said)), "{summary}");
}

#[test]
fn a_table_that_only_the_build_reads_leaves_none() {
    let env = TestEnvironment::localizing();
    let generator = generator("7.5");
    let engine = "echo \"e = $(cat \"$1/copy\")\"";
    let hunt = hunt(&env, engine, &[("gen.sh", generator.as_str())]).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["gen.sh"]);
    let culprit = &hunt.report["culprit"];
    assert!(culprit["confidence"].as_f64().unwrap() > 0.98, "{culprit}");
    assert_eq!(culprit["put_back_doubt"], Value::Null);
}
