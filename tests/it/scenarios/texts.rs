//! Values are compared only if the engine read the same text.

use super::hunt;
use crate::kit::line;

#[test]
fn a_commit_that_reads_another_number_of_chunks_is_not_judged() {
    let told = hunt(line("g g g g b b b b").with(5, "chunks = 5")).finds("4").costs(17, 9);
    assert_eq!(told.verdict("5"), "skip");
    let commit = told.commit("5");
    assert_eq!(commit["skip"], "other-text");
    assert_eq!(
        commit["reason"],
        "ppl read 5 chunks of 512 tokens, the good end 4 chunks of 512 tokens: the tokenizer or \
         the text changed"
    );
}

#[test]
#[ignore = "long: scripts/test --long"]
fn chunks_of_another_length_are_another_text() {
    let told = hunt(line("g g g g b b b b").with(5, "n_ctx = 256")).finds("4").costs(17, 9);
    assert_eq!(told.commit("5")["skip"], "other-text");
}

#[test]
fn beside_the_first_bad_commit_it_leaves_candidates() {
    hunt(line("g g g g b b b b").with(3, "chunks = 5")).leaves("3 4").costs(7, 5);
}

#[test]
fn endpoints_that_read_different_texts_cannot_be_compared() {
    let plan = line("g g b b").with(2, "chunks = 5").with(3, "chunks = 5");
    let says = [
        "ppl read 5 chunks of 512 tokens there, and 4 chunks of 512 tokens at the good endpoint",
        "guard the count itself",
    ];
    hunt(plan).saying(&says).cannot_be_measured().costs(4, 2);
}

#[test]
fn a_confirmation_that_reads_another_text_names_nobody() {
    // The parent's fresh run reads more than its run in the search did.
    let row = hunt(line("g g g g b b b b").with(3, "chunks = 4 5 5 5 5 5"));
    row.saying(&["cannot be measured: ppl read 5 chunks"]).leaves("3 4").costs(13, 7);
}
