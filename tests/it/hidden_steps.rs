//! Steps that a recipe hides: the recipe changes in the middle of the history, and before that the
//! engine prints one value whatever it computes.

use crate::kit::{History, Hunt, Oracle, TestEnvironment, line};

/// The hunt of an engine whose perplexity rises by 2 at commit `step`. Commits before 5 are run
/// with `short`, which always prints 7.
fn hidden_before_5(step: usize) -> (TestEnvironment, History, Hunt) {
    let engine = |ppl: &str| {
        format!(
            "ppl=7.0\n[ \"$1\" = long ] && ppl={ppl}\n\
             echo \"Final estimate: PPL = $ppl +/- 0.1\"\n"
        )
    };
    let env = TestEnvironment::new();
    let plan = line("g g g g g g g g").program(0, "run.sh", &engine("7.0"));
    let plan = plan.program(step, "run.sh", &engine("9.0")).file(5, "long.txt", "yes\n");
    let history = plan.build(&env);
    let oracle = Oracle::new(&env).ppl_command("sh {src}/run.sh short");
    let oracle = oracle.section(
        "[[override]]\nwhen = { exists = \"long.txt\" }\n\
         measure.ppl.command = \"sh {src}/run.sh long\"",
    );
    oracle.write(&env);
    let hunt = env.start(&["--good", "v1"]);
    (env, history, hunt)
}

#[track_caller]
fn says(hunt: &Hunt, words: &[&str], never: &str) {
    let summary = hunt.report["summary"].as_str().unwrap();
    for words in words {
        assert!(summary.contains(words), "{words}: {summary}");
    }
    assert!(!summary.contains(never), "{never}: {summary}");
}

#[test]
fn a_step_that_the_older_recipe_hides_is_among_the_candidates() {
    let (_env, history, hunt) = hidden_before_5(3);
    let hunt = hunt.expect(3, "candidates");
    assert_eq!(hunt.candidates(&history), ["1", "2", "3", "4", "5"]);
    let both = ["both sides are bad with the newer recipe (", " 9 and 9)", "of an earlier commit"];
    says(&hunt, &both, "of a later commit");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_step_that_only_the_newer_recipe_shows_is_not_denied() {
    let (_env, history, hunt) = hidden_before_5(5);
    let hunt = hunt.expect(3, "candidates");
    assert!(hunt.candidates(&history).contains(&"5".to_owned()));
    says(&hunt, &["only the newer recipe shows a step there"], "no step");
}
