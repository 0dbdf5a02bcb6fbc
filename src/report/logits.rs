//! Sentences and a table about the logits of the first bad commit and its parent.

use crate::evaluation::{LogitsChange, LogitsDifference, LogitsSide, ThreadFloor};
use crate::ui::text;

use super::model::Report;
use super::tables::{Cell, Table};

/// The label of the facts about logits.
const LOGITS: &str = "Logits";

/// The heading of their table.
pub(super) const TITLE: &str = "How its logits differ from the parent's";

/// Label and words of each fact about the logits.
pub(super) fn facts(report: &Report) -> Vec<(&'static str, String)> {
    let changes = report.inquiry.logits.iter();
    changes.map(|change| (LOGITS, in_words(change))).collect()
}

/// `max |Δ| 12.3 at position 3, token 17, first different position 0; beyond rounding`.
fn in_words(change: &LogitsChange) -> String {
    let LogitsChange { difference, noise, floor, .. } = change;
    let mut parts = vec![short(difference)];
    if difference.beyond_rounding {
        parts.push("beyond rounding".to_owned());
    }
    parts.extend(noise.as_ref().and_then(noise_in_words));
    parts.extend(floor.as_ref().map(floor_in_words));
    parts.join("; ")
}

/// `with 1 thread in place of 2 the parent's logits differ by at most 2.1e-6`.
fn floor_in_words(floor: &ThreadFloor) -> String {
    let ThreadFloor { threads: [usual, other], difference } = floor;
    let threads = if *other == 1 { "thread" } else { "threads" };
    let how = match difference.max_abs {
        _ if difference.identical => "are equal bit for bit".to_owned(),
        Some(largest) => format!("differ by at most {}", text::difference(largest)),
        None => "are not finite".to_owned(),
    };
    format!("with {other} {threads} in place of {usual} the parent's logits {how}")
}

/// `two runs of the parent differ by at most 2.1e-6`; nothing if they are equal.
fn noise_in_words(noise: &LogitsDifference) -> Option<String> {
    let largest = noise.max_abs.filter(|_| !noise.identical)?;
    Some(format!("two runs of the parent differ by at most {}", text::difference(largest)))
}

/// The difference in a few words.
fn short(found: &LogitsDifference) -> String {
    if found.identical {
        return "equal to the parent's bit for bit".to_owned();
    }
    if let Some(broken) = found.non_finite.iter().find(|one| one.file == LogitsSide::B) {
        let (value, position, token) = (&broken.value, broken.position, broken.index);
        return format!("{value} at position {position}, token {token}");
    }
    let largest = found.max_abs.zip(found.largest_difference).map(|(largest, at)| {
        let (position, token) = (at.position, at.index);
        format!("max |Δ| {} at position {position}, token {token}", text::difference(largest))
    });
    let first = found.first.max_abs.map(|first| format!("first different position {first}"));
    let kl = found.mean_kl.map(|kl| format!("mean KL {} nats", text::difference(kl)));
    [largest, first, kl].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// All statistics of parent and commit, each with its first and its worst position.
pub(super) fn table(report: &Report) -> Table {
    let rows = report.inquiry.logits.iter().flat_map(rows);
    Table::new(["figure", "value", "first position", "worst position"], rows)
}

fn rows(change: &LogitsChange) -> Vec<[Cell; 4]> {
    let LogitsChange { measure, difference: found, .. } = change;
    let (first, worst) = (&found.first, &found.worst);
    let of = |value: Option<f64>| value.map(text::figure);
    let nats = |value: Option<f64>| value.map(|kl| format!("{} nats", text::figure(kl)));
    let figures = [
        ("max |Δ|", of(found.max_abs), first.max_abs, worst.max_abs),
        ("mean |Δ|", of(found.mean_abs), first.mean_abs, worst.mean_abs),
        ("RMS of Δ", of(found.rms), first.rms, worst.rms),
        ("min cosine", of(found.min_cosine), first.cosine, worst.cosine),
        ("mean cosine", of(found.mean_cosine), None, None),
        ("max KL", nats(found.max_kl), first.kl, worst.kl),
        ("99 % KL", nats(found.p99_kl), None, None),
        ("mean KL", nats(found.mean_kl), None, None),
        ("same top token", found.top1_agreement.map(text::percent), first.top1, worst.top1),
    ];
    let place = |place: Option<usize>| {
        Cell::Text(place.map_or_else(|| "–".to_owned(), |place| place.to_string()))
    };
    let figures = figures.into_iter().filter_map(|(name, value, first, worst)| {
        let name = Cell::Text(format!("{}: {name}", text::line(measure)));
        Some([name, Cell::Text(value?), place(first), place(worst)])
    });
    let non_finite = found.non_finite.iter().map(|one| {
        let whose = if one.file == LogitsSide::A { "parent" } else { "commit" };
        let name = Cell::Text(format!("{}: {} of the {whose}", text::line(measure), one.value));
        [name, Cell::Text(one.count.to_string()), place(Some(one.position)), place(None)]
    });
    figures.chain(non_finite).collect()
}
