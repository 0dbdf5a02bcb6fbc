//! Differences between a first bad commit and its parent besides the source, as text and as a
//! table.

use crate::evaluation::{Difference, DifferenceIn};
use crate::ui::text;

use super::model::FirstBad;
use super::tables::Table;

/// At most `most` differences, the most informative first, each with a label. The last line counts
/// the rest.
pub(super) fn lines(first: &FirstBad, most: usize) -> Vec<(&'static str, String)> {
    let Some(all) = &first.differences else { return Vec::new() };
    let shown = all.found.iter().take(most);
    let mut lines: Vec<_> = shown.map(|one| (one.label(), words(one))).collect();
    let more = all.count() - lines.len();
    if more > 0 && !lines.is_empty() {
        let differ = if more == 1 { "thing differs" } else { "things differ" };
        lines.push(("Besides", format!("{more} more {differ} from its parent's build")));
    }
    lines
}

fn words(one: &Difference) -> String {
    text::shorten(&text::line(&one.to_string()), 160)
}

/// All differences; empty if there is only one, because the answer names it.
pub(super) fn table(first: &FirstBad) -> Table {
    let found = first.differences.iter().flat_map(|all| &all.found);
    let found = found.filter(|_| first.differences.as_ref().is_some_and(|all| all.count() > 1));
    let rows = found.map(|one| {
        let place = [one.place.clone(), one.spread_in_words()];
        let side = |side: &Option<String>| match side {
            Some(value) if value.is_empty() => "(empty)".to_owned(),
            Some(value) => value.clone(),
            None => "none".to_owned(),
        };
        [
            one.kind.label().to_owned(),
            one.name.clone().unwrap_or_default(),
            side(&one.before),
            side(&one.now),
            place.into_iter().flatten().collect::<Vec<_>>().join(", "),
        ]
        .map(super::tables::Cell::Text)
    });
    Table::new(["what", "name", "parent", "here", "where"], rows).filled()
}

/// The kinds that were compared and do not differ.
pub(super) fn same(first: &FirstBad) -> impl Iterator<Item = DifferenceIn> {
    first.differences.iter().flat_map(|all| {
        let differs = |kind: &DifferenceIn| all.found.iter().any(|one| one.kind == *kind);
        all.compared.iter().copied().filter(move |kind| !differs(kind))
    })
}
