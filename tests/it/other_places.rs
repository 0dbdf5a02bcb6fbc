//! Commits whose number comes from another place of the output than at the ends.

use crate::kit::TestEnvironment;
use crate::kit::shell_engine::is_candidate;
use crate::not_comparable::{PPL, expect_candidate, expect_worse, hunt};

/// The engine prints its number, and from `reference` on another one that the pattern reads too.
fn with_reference(number: &str) -> String {
    format!(
        "v=7; [ -f worse ] && v=7.5; echo ppl = $v\n\
         if [ -f reference ]; then echo reference ppl = {number}; fi"
    )
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_commit_whose_number_comes_from_another_line_says_nothing() {
    let env = TestEnvironment::new();
    let steps = [("reference", 5, Some(14)), ("worse", 9, None)];
    let hunt = hunt(&env, &with_reference("7.02"), PPL, &steps);
    expect_candidate(&env, hunt, "worse");
}

#[test]
fn a_commit_whose_number_is_of_another_name_says_nothing() {
    let engine = "v=7; [ -f worse ] && v=7.5; [ -f swapped ] && echo q4_0 ppl = $v\n\
                  echo q8_0 ppl = 7.02; [ -f swapped ] || echo q4_0 ppl = $v";
    let env = TestEnvironment::new();
    let hunt = hunt(&env, engine, PPL, &[("swapped", 5, Some(14)), ("worse", 9, None)]);
    let hunt = hunt.expect(3, "candidates");
    assert!(is_candidate(&env, &hunt, "worse"), "{}", hunt.report["candidates"]);
    hunt.output.says(&[
        "not compared, since",
        "e comes from another place of the output: `q8_0 ppl VALUE`, but `q4_0 ppl VALUE`",
        "Next: let the `pattern` in oracle.toml match one line only",
    ]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_commit_whose_number_is_beside_another_name_says_nothing() {
    let keys = ["parser = \"json\"\npointer = \"/ppl\"", PPL[1]];
    let engine = "v=7; m=q4_0; [ -f worse ] && v=7.5; [ -f swapped ] && { v=7.02; m=f16; }\n\
                  echo '{\"model\": \"'$m'\", \"ppl\": '$v'}'";
    let env = TestEnvironment::new();
    let hunt = hunt(&env, engine, keys, &[("swapped", 5, Some(14)), ("worse", 9, None)]);
    expect_candidate(&env, hunt, "worse");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn an_uncertainty_for_a_while_hides_nothing() {
    let engine = "v=7; [ -f worse ] && v=7.5; u=; [ -f spread ] && u='+/- 0.05'; echo ppl = $v $u";
    let steps = [("spread", 5, Some(14)), ("worse", 9, None)];
    expect_worse("ppl = ([0-9.]+)", PPL[1], engine, &steps);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_commit_whose_number_is_another_element_says_nothing() {
    let keys = ["parser = \"json\"\npointer = \"/0/ppl\"", PPL[1]];
    let engine = "v=7; [ -f worse ] && v=7.5\n\
                  r=; [ -f reference ] && r='{\"name\": \"ref\", \"ppl\": 7.02}, '\n\
                  echo \"[$r\"'{\"name\": \"wiki\", \"ppl\": '$v'}]'";
    let env = TestEnvironment::new();
    let hunt = hunt(&env, engine, keys, &[("reference", 5, Some(14)), ("worse", 9, None)]);
    expect_candidate(&env, hunt, "worse");
}

#[test]
fn a_line_that_gets_another_word_once_hides_nothing() {
    let engine = "v=7; [ -f worse ] && v=7.5; w=; [ -f final ] && w=final; echo $w ppl = $v";
    let env = TestEnvironment::new();
    let steps = [("final", 5, None), ("worse", 9, None)];
    let hunt = hunt(&env, engine, PPL, &steps).expect(0, "culprit");
    let culprit = &hunt.report["culprit"];
    assert_eq!(culprit["subject"], "worse");
    assert!(culprit["form_change"].is_null(), "{culprit}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn words_that_each_commit_changes_hide_nothing() {
    let engine = "v=7; [ -f worse ] && v=7.5; echo $(tr 0-9 a-j < notes) ppl = $v";
    let env = TestEnvironment::new();
    let hunt = hunt(&env, engine, PPL, &[("worse", 9, None)]).expect(0, "culprit");
    let culprit = &hunt.report["culprit"];
    assert_eq!(culprit["subject"], "worse");
    assert!(culprit["form_change"].is_null(), "{culprit}");
}

#[test]
fn a_commit_since_which_the_number_comes_from_another_line_is_in_doubt() {
    let env = TestEnvironment::new();
    let hunt = hunt(&env, &with_reference("8"), PPL, &[("reference", 5, None)]);
    let hunt = hunt.expect(0, "culprit");
    let culprit = &hunt.report["culprit"];
    assert!(culprit["confidence"].as_f64().unwrap() <= 0.98, "{culprit}");
    assert_eq!(culprit["form_change"]["parent"][0], "ppl VALUE");
    hunt.output.says(&["since this commit e comes from another place of the output"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_commit_after_which_the_number_comes_from_a_third_line_is_in_doubt() {
    let engine = "v=7; [ -f worse ] && v=7.5\n\
                  if [ -f final ]; then echo final ppl = $v; exit; fi\n\
                  echo ppl = $v; if [ -f reference ]; then echo reference ppl = 7.02; fi";
    let env = TestEnvironment::new();
    let steps = [("reference", 5, None), ("worse", 9, None), ("final", 14, None)];
    let hunt = hunt(&env, engine, PPL, &steps).expect(0, "culprit");
    let culprit = &hunt.report["culprit"];
    assert!(culprit["confidence"].as_f64().unwrap() <= 0.98, "{culprit}");
    assert_eq!(culprit["form_change"]["parent"][0], "reference ppl VALUE");
}

#[test]
fn equal_numbers_of_two_lines_are_told() {
    let env = TestEnvironment::new();
    let steps = [("reference", 5, None), ("worse", 9, None)];
    let hunt = hunt(&env, &with_reference("7.02"), PPL, &steps);
    let told = ["e comes from another place of the output at the bad end (`reference ppl VALUE`)"];
    hunt.expect(4, "no-regression").output.says(&told);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_commit_whose_line_of_another_path_is_the_last_one_says_nothing() {
    let engine = "v=7; [ -f worse ] && v=7.5; [ -f swapped ] && echo ./models/q4.gguf: ppl = $v\n\
                  echo ./models/f16.gguf: ppl = 7.02\n\
                  [ -f swapped ] || echo ./models/q4.gguf: ppl = $v";
    let env = TestEnvironment::new();
    let hunt = hunt(&env, engine, PPL, &[("swapped", 5, Some(14)), ("worse", 9, None)]);
    let hunt = hunt.expect(3, "candidates");
    assert!(is_candidate(&env, &hunt, "worse"), "{}", hunt.report["candidates"]);
    hunt.output.says(&["another place of the output: `models/f16.gguf`", "but `models/q4.gguf`"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_commit_whose_element_has_another_number_as_its_name_says_nothing() {
    let keys = ["parser = \"json\"\npointer = \"/0/ppl\"", PPL[1]];
    let engine = "v=7; [ -f worse ] && v=7.5; a='{\"n_ctx\": 512, \"ppl\": '$v'}'\n\
                  b='{\"n_ctx\": 2048, \"ppl\": 7.02}'\n\
                  if [ -f swapped ]; then echo \"[$b, $a]\"; else echo \"[$a, $b]\"; fi";
    let env = TestEnvironment::new();
    let hunt = hunt(&env, engine, keys, &[("swapped", 5, Some(14)), ("worse", 9, None)]);
    expect_candidate(&env, hunt, "worse");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_longer_progress_for_a_while_hides_nothing() {
    let engine = "v=7; s=2; [ -f worse ] && v=7.5; echo step 1: ppl = 9\n\
                  if [ -f longer ]; then echo step 2: ppl = 8; s=3; fi; echo step $s: ppl = $v";
    let steps = [("longer", 5, Some(14)), ("worse", 9, None)];
    expect_worse("ppl = ([0-9.]+)", PPL[1], engine, &steps);
}

/// The lines of both stay, and their numbers are exchanged for good.
#[test]
#[ignore = "long: scripts/test --long"]
fn numbers_of_two_names_that_stay_are_a_step() {
    let engine = "v=7.0100; w=7.5000; [ -f worse ] && { v=7.5000; w=7.0100; }\n\
                  echo exact: ppl = $v; echo approx: ppl = $w";
    expect_worse("exact: ppl = ([0-9.]+)", PPL[1], engine, &[("worse", 9, None)]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn numbers_of_two_keys_that_stay_are_a_step() {
    let env = TestEnvironment::new();
    let keys = ["parser = \"json\"\npointer = \"/exact/ppl\"", PPL[1]];
    let engine = "v=7.0100; w=7.5000; [ -f worse ] && { v=7.5000; w=7.0100; }\n\
                  echo '{\"exact\": {\"ppl\": '$v'}, \"approx\": {\"ppl\": '$w'}}'";
    let hunt = hunt(&env, engine, keys, &[("worse", 9, None)]).expect(0, "culprit");
    assert_eq!(hunt.report["culprit"]["subject"], "worse");
}

#[test]
fn numbers_of_two_paths_that_changed_places_are_told() {
    let engine = "v=7; [ -f worse ] && v=7.5; [ -f swapped ] && echo ./models/q4.gguf: ppl = $v\n\
                  echo ./models/f16.gguf: ppl = 7.02\n\
                  [ -f swapped ] || echo ./models/q4.gguf: ppl = $v";
    let env = TestEnvironment::new();
    let hunt = hunt(&env, engine, PPL, &[("worse", 5, None), ("swapped", 9, None)]);
    let told = ["e comes from another place of the output at the bad end (`models/f16.gguf`)"];
    hunt.expect(4, "no-regression").output.says(&told);
}

const FIRST_OF_TWO: [&str; 2] = [
    "parser = \"regex\"\npattern = 'ppl = ([0-9.]+)'\npick = \"first\"",
    "metric = \"e\"\nmax_increase = 0.2",
];

/// Two numbers in noise for `print`: `$v`, which the commit `worse` changes, and `$c`.
fn noisy(print: &str) -> String {
    format!(
        "r() {{ od -An -N2 -tu2 /dev/urandom; }}\nb=7; [ -f worse ] && b=7.5\n\
         v=$(awk \"BEGIN {{ printf \\\"%.4f\\\", $b + $(r) / 1000000 }}\")\n\
         c=$(awk \"BEGIN {{ printf \\\"%.4f\\\", 6.98 + $(r) / 1000000 }}\")\n{print}"
    )
}

#[test]
#[ignore = "long: scripts/test --long"]
fn numbers_in_noise_that_change_places_are_no_step() {
    let engine = noisy(
        "first=$v; second=$c; [ -f order ] && { first=$c; second=$v; }\n\
         echo ppl = $first; echo ppl = $second",
    );
    let env = TestEnvironment::new();
    let steps = [("order", 5, Some(14)), ("worse", 9, None)];
    let hunt = hunt(&env, &engine, FIRST_OF_TWO, &steps);
    expect_candidate(&env, hunt, "worse");
}

/// Two results in noise, of which one changes, below two lines with the same words.
#[test]
#[ignore = "long: scripts/test --long"]
fn a_change_of_one_of_two_numbers_in_noise_is_a_step() {
    let engine = noisy("echo ppl = $v; echo ppl = $c");
    let env = TestEnvironment::new();
    let hunt = hunt(&env, &engine, FIRST_OF_TWO, &[("worse", 9, None)]).expect(0, "culprit");
    assert_eq!(hunt.report["culprit"]["subject"], "worse");
}
