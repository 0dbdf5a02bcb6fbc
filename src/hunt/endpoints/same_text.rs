//! Checks that the runs of both endpoints read the same amount of text. Pure.

use crate::evaluation::{Reading, TextLength};
use crate::oracle::Observation;

/// Advice for endpoints that read different amounts of text.
const CURE: &str = "Choose endpoints that read the same text; to find the commit that changed the \
                    amount, guard the count itself: a measure with parser = \"regex\", pattern = \
                    'over ([0-9]+) chunks', and unchanged = true";

/// Why the endpoints cannot be compared if their runs read different amounts of text: a message
/// with both amounts and, if the endpoints differ, advice.
pub(crate) fn other_text(good: &Observation, bad: &Observation) -> Option<String> {
    good.samples.keys().find_map(|measure| {
        for (end, seen) in [("good", good), ("bad", bad)] {
            if let Some([first, other]) = two_texts(seen, measure) {
                return Some(format!(
                    "the {end} endpoint's own runs of {measure} read different amounts of text: \
                     {first}, then {other}"
                ));
            }
        }
        let (wanted, found) = (good.text(measure)?, bad.text(measure)?);
        found.differs_from(wanted).then(|| {
            format!(
                "the bad endpoint cannot be compared: {measure} read {found} there, and {wanted} \
                 at the good endpoint, so the tokenizer or the text changed between them. {CURE}"
            )
        })
    })
}

/// Two different amounts of text that runs of one commit read, if there are two.
fn two_texts(seen: &Observation, measure: &str) -> Option<[TextLength; 2]> {
    let first = seen.text(measure)?;
    let mut others = seen.readings(measure).filter_map(Reading::text_length);
    others.find(|other| other.differs_from(first)).map(|other| [first, other])
}
