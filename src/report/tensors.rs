//! Sentences and tables about the tensors of the first bad commit and its parent.

use crate::evaluation::{
    TensorAxis, TensorChange, TensorComparison, TensorDifference, TensorInput, TensorVerdict,
};
use crate::ui::text;

use super::model::Report;
use super::tables::{Cell, Table};

/// The label of the fact about the first different tensor, and that of facts about patterns.
const FIRST: &str = "First different tensor";
const PATTERN: &str = "It looks like";

/// The headings of the tables.
pub(super) const NEAR: &str = "Tensors near the first different one";
pub(super) const RUNS: &str = "The dumps of its tensors";
pub(super) const GROWTH: &str = "How the difference grows";

/// Label and words of each fact about the tensors.
pub(super) fn facts(report: &Report) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    for change in &report.inquiry.tensors {
        facts.push((FIRST, in_words(change)));
        facts.extend(change.comparison.patterns.iter().map(|pattern| {
            (PATTERN, format!("{}: {}", pattern.kind, text::line(&pattern.evidence)))
        }));
    }
    facts
}

/// `first different tensor blk1.ffn_down (max |Δ| 7.93, noise 0)`.
pub(super) fn in_short(report: &Report) -> Option<String> {
    let mut all = report.inquiry.tensors.iter().map(|change| &change.comparison);
    let (found, first) = all.find_map(|found| Some((found, found.first()?)))?;
    let noise = first.noise.map(|noise| format!(", noise {}", text::rounded(noise)));
    let how = match (first.verdict, first.max_abs) {
        (TensorVerdict::Shape, _) => " (another shape)".to_owned(),
        (TensorVerdict::Type, _) => " (another type)".to_owned(),
        (TensorVerdict::Sum, _) => " (another sum)".to_owned(),
        (TensorVerdict::NonFinite, _) => " (NaN or infinite)".to_owned(),
        (_, Some(largest)) => {
            format!(" (max |Δ| {}{})", text::rounded(largest), noise.unwrap_or_default())
        }
        (_, None) => String::new(),
    };
    let which = match found.doubt() {
        None => "first different tensor",
        Some(_) => "different tensors from about",
    };
    Some(format!("{which} {}{how}", text::line(&first.name)))
}

/// `blk1.ffn_down (max |Δ| 7.93, tolerance 0.0001, noise 0; its inputs are clean)`.
pub(crate) fn in_words(change: &TensorChange) -> String {
    let found = &change.comparison;
    let Some(first) = found.first() else {
        let compared = text::plural(found.compared, "tensor");
        return format!("none: {compared} within their tolerances");
    };
    let mut parts = vec![how(first)];
    if let [inputs @ .., last] = found.inputs.as_slice() {
        let states = last.states();
        let [of_one, of_all] = states;
        parts.push(if inputs.is_empty() {
            format!("its input {} is {of_one}", text::line(&last.name))
        } else if inputs.iter().all(|input| input.states() == states) {
            format!("its inputs are {of_all}")
        } else {
            let each = |input: &TensorInput| {
                format!("{} is {}", text::line(&input.name), input.states()[0])
            };
            let each: Vec<String> = found.inputs.iter().map(each).collect();
            format!("of its inputs, {}", each.join(", "))
        });
    }
    parts.extend(found.doubt().map(|doubt| text::line(&doubt)));
    if let Some([.., position]) = first.first_position.as_deref() {
        parts.push(format!("first at position {position}"));
    }
    if found.order.is_assumed() {
        parts.push("the order of the tensors is assumed".to_owned());
    }
    if found.printed_only {
        parts.push("only printed values were compared".to_owned());
    }
    format!("{} ({})", text::line(&first.name), parts.join("; "))
}

fn how(first: &TensorDifference) -> String {
    match (first.verdict, first.max_abs) {
        (TensorVerdict::Shape | TensorVerdict::Type | TensorVerdict::Sum, _) => {
            text::line(first.remark.as_deref().unwrap_or_default())
        }
        (TensorVerdict::NonFinite, _) => {
            let [parent, commit] = first.non_finite;
            format!("NaN or infinite values: {parent} in the parent, {commit} in the commit")
        }
        (_, largest) => {
            let noise = first.noise.map(|noise| format!(", noise {}", text::rounded(noise)));
            format!(
                "max |Δ| {}, tolerance {}{}",
                largest.map_or_else(|| "-".to_owned(), text::rounded),
                text::rounded(first.tolerance),
                noise.unwrap_or_default()
            )
        }
    }
}

/// The compared tensors near the first different one, in the order of computation.
pub(super) fn near(report: &Report) -> Table {
    let rows =
        report.inquiry.tensors.iter().flat_map(|change| change.comparison.tensors.iter().map(row));
    let columns = [
        "tensor",
        "shape",
        "result",
        "max |Δ|",
        "tolerance",
        "RMS of Δ",
        "cosine",
        "first position",
    ];
    Table::new(columns, rows)
}

fn row(one: &TensorDifference) -> [Cell; 8] {
    let number =
        |value: Option<f64>| Cell::Text(value.map_or_else(|| "–".to_owned(), text::rounded));
    let shape: Vec<String> = one.shape.iter().map(u64::to_string).collect();
    let result = match one.verdict {
        TensorVerdict::Equal => "equal",
        TensorVerdict::Within => "within the tolerance",
        TensorVerdict::Beyond => "different",
        TensorVerdict::NonFinite => "NaN or infinite",
        TensorVerdict::Shape => "another shape",
        TensorVerdict::Type => "another type",
        TensorVerdict::Sum => "another sum",
        TensorVerdict::NotCompared => "not compared",
    };
    let position = one.first_position.as_deref().map(|position| {
        let indices: Vec<String> = position.iter().map(u64::to_string).collect();
        indices.join(", ")
    });
    [
        Cell::Text(text::line(&one.name)),
        Cell::Text(shape.join(" × ")),
        Cell::Text(result.to_owned()),
        number(one.max_abs),
        number(Some(one.tolerance)),
        number(one.rms),
        Cell::Text(one.cosine.map_or_else(|| "–".to_owned(), |cosine| format!("{cosine:.6}"))),
        Cell::Text(position.unwrap_or_default()),
    ]
}

/// The difference after each layer or step.
pub(super) fn growth(report: &Report) -> Table {
    let points = report.inquiry.tensors.iter().filter(|change| has_growth(&change.comparison));
    let rows = points.flat_map(|change| {
        let axis = change.comparison.axis;
        change.comparison.growth.iter().map(move |point| {
            [
                Cell::Text(format!("{axis} {}", point.at)),
                Cell::Text(text::line(&point.name)),
                Cell::Text(text::rounded(point.relative)),
                Cell::Text(text::rounded(point.max_abs)),
            ]
        })
    });
    Table::new(["after", "tensor", "RMS of Δ / RMS", "max |Δ|"], rows)
}

/// The runs whose tensors were compared.
pub(super) fn runs(report: &Report) -> Table {
    let rows = report.inquiry.tensors.iter().flat_map(|change| {
        change.runs.iter().map(move |run| {
            let what = match &run.commit {
                commit if *commit == change.parent => "parent: A",
                commit if *commit == change.commit => "commit: B",
                _ => "a commit without an effect: for the tolerances",
            };
            [
                Cell::Name(run.commit.clone()),
                Cell::Text(what.to_owned()),
                Cell::logs([&run.attempt], &report.inquiry_logs),
            ]
        })
    });
    Table::new(["dump of", "use", "output"], rows)
}

/// Whether there is a growth to show.
pub(super) fn has_growth(found: &TensorComparison) -> bool {
    found.growth.len() > 1 && found.first.is_some()
}

/// The title of the plot.
pub(super) fn axis_title(axis: TensorAxis) -> String {
    format!("RMS of Δ relative to the parent's RMS, after each {axis}")
}
