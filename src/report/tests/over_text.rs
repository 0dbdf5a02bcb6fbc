//! Tests of the sentences about a step over the text's chunks.

use crate::report::tests::markdown;
use crate::report::{Logs, Report, html, issue, json};

use super::fixture::{Hunt, culprit, found, over_text};

fn hunt() -> Hunt {
    let mut hunt = Hunt::at_search();
    let mut first = culprit("kv: pad the cache", "src/kv_cache.c");
    first.effects[0].over_text = Some(over_text());
    hunt.end(found(first));
    hunt
}

#[test]
fn every_form_says_the_paired_interval_beside_the_plain_one() {
    let report = hunt().report();
    let words = "ppl: 0.285 to 0.335 worse, chunk against chunk (95 % interval); -0.412 to 1.04 \
                 if the two had read different texts; 23 of 24 chunks moved beyond their noise";
    assert!(
        markdown(&report).contains(&format!("Over the text: {words}")),
        "{}",
        markdown(&report)
    );
    assert!(issue(&report).contains(&format!("- Over the text: {words}\n")), "{}", issue(&report));
    let page = html(&report, &Logs::beside(&report));
    assert!(page.contains("<dt>Over the text</dt>") && page.contains(words), "{page}");
}

#[test]
fn programs_find_the_same_in_the_document() {
    let report = hunt().report();
    let text = json(&report);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        document["culprit"]["effect"]["over_text"],
        serde_json::json!({
            "chunks": 24, "carrying": 23, "confidence": 0.95,
            "paired": [0.285, 0.335], "plain": [-0.412, 1.04]
        })
    );
    let again: Report = serde_json::from_str(&text).unwrap();
    assert_eq!(again.culprit.unwrap().effects[0].over_text, Some(over_text()));
    // Only a perplexity over chunks has `over_text`.
    assert!(!json(&super::with_culprit().report()).contains("over_text"));
}
