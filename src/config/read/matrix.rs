//! `[matrix]`: a measure that names an axis is measured once for each of its values, from one
//! build.

use super::super::field::Field;
use super::super::reader::Reader;
use super::super::table_reader::TableReader;
use super::super::template::Replacement;
use super::super::{Measure, Placeholder, Template};
use super::name::{NOT_A_WORD, is_word};

/// Maximum number of cells of one measure. Each cell costs a run at every commit.
const MOST_CELLS: usize = 64;

/// `[matrix]`: the axes over which measures are repeated.
#[derive(Debug, Default)]
pub(super) struct Matrix {
    axes: Vec<Axis>,
}

/// One axis: a name and its values.
#[derive(Debug)]
struct Axis {
    name: String,
    values: Vec<Value>,
}

/// One value of an axis.
#[derive(Debug)]
struct Value {
    /// The value in the cell's name.
    label: String,
    /// The text that replaces the placeholder.
    text: String,
}

impl Matrix {
    /// Reads `[matrix]`. Templates may name an axis as an input, so axes are declared as inputs
    /// until [`Matrix::finish`].
    pub(super) fn read(reader: &mut Reader, root: &mut TableReader<'_>) -> Self {
        let Some(section) = root.get("matrix").and_then(|field| field.section(reader)) else {
            return Self::default();
        };
        let mut axes = Vec::new();
        for (name, place, field) in section.entries() {
            if !is_word(name) {
                reader.report_problem(place, &field.key, NOT_A_WORD);
            }
            let values = values(reader, name, &field);
            if name == "chunks" {
                reader.chunks = true;
            } else if name != "threads" {
                let first = values.first().map(|value| value.text.clone()).unwrap_or_default();
                reader.names.inputs.entry(name.to_owned()).or_insert(first);
                reader.cell_inputs.push(name.to_owned());
            }
            axes.push(Axis { name: name.to_owned(), values });
        }
        Self { axes }
    }

    /// Whether there is an axis of this name.
    pub(super) fn has_axis(&self, name: &str) -> bool {
        self.axes.iter().any(|axis| axis.name == name)
    }

    /// Whether a measure names an axis.
    pub(super) fn is_named_by(&self, measure: &Measure) -> bool {
        let mut named = measure.templates().flat_map(Template::placeholders);
        named.any(|one| self.axes.iter().any(|axis| axis.is(one)))
    }

    /// One measure for each combination of values of the axes that `measure` names; `measure`
    /// itself if it names none. If it names an axis as an input, each value becomes an input.
    pub(super) fn cells(
        &self,
        reader: &mut Reader,
        section: (&super::super::problem::Location, &str),
        measure: Measure,
    ) -> Vec<Measure> {
        let named: Vec<Placeholder> =
            measure.templates().flat_map(Template::placeholders).cloned().collect();
        for one in &named {
            if let Placeholder::Matrix(name) = one
                && !self.axes.iter().any(|axis| axis.name == *name)
            {
                let known: Vec<&str> = self.axes.iter().map(|axis| axis.name.as_str()).collect();
                let what = format!("{one} names no axis. [matrix] has: {}", known.join(", "));
                reader.report_problem(section.0, section.1, what);
            }
        }
        let axes: Vec<&Axis> =
            self.axes.iter().filter(|axis| named.iter().any(|one| axis.is(one))).collect();
        let count = axes.iter().map(|axis| axis.values.len()).product::<usize>();
        if axes.is_empty() || count == 0 {
            return vec![measure];
        }
        if count > MOST_CELLS {
            let what = format!(
                "would be measured in {count} cells, each a run at every commit; at most \
                 {MOST_CELLS}."
            );
            reader.report_problem(section.0, section.1, what);
            return vec![measure];
        }
        reader.named_axes.extend(axes.iter().map(|axis| axis.name.clone()));
        let mut cells: Vec<Vec<(&Axis, &Value)>> = vec![Vec::new()];
        for axis in axes {
            let with = |cell: &Vec<_>| {
                let cell = cell.clone();
                axis.values.iter().map(move |value| {
                    let mut cell = cell.clone();
                    cell.push((axis, value));
                    cell
                })
            };
            cells = cells.iter().flat_map(with).collect();
        }
        cells.iter().map(|cell| in_cell(reader, &measure, cell)).collect()
    }

    /// Reports axes that no measure names, and removes the axes from the declared inputs.
    pub(super) fn finish(
        &self,
        reader: &mut Reader,
        root: &mut TableReader<'_>,
        measures: &[Measure],
    ) {
        let Some(field) = root.get("matrix") else { return };
        for axis in &self.axes {
            let is_named = reader.named_axes.contains(&axis.name);
            if !axis.values.is_empty() && !measures.is_empty() && !is_named {
                let name = &axis.name;
                let what = match name.as_str() {
                    "threads" | "chunks" => format!("no measure names {{{name}}}."),
                    _ => format!("no measure names {{inputs.{name}}} or {{matrix.{name}}}."),
                };
                reader.report_problem(&field.node.place, &format!("matrix.{name}"), what);
            }
            reader.names.inputs.remove(&axis.name);
        }
    }
}

impl Axis {
    /// Whether a placeholder stands for this axis.
    fn is(&self, placeholder: &Placeholder) -> bool {
        match placeholder {
            Placeholder::Threads => self.name == "threads",
            Placeholder::Chunks => self.name == "chunks",
            Placeholder::Input(name) | Placeholder::Matrix(name) => self.name == *name,
            _ => false,
        }
    }
}

/// Refuses what differs from cell to cell in something that all cells share, such as a build.
pub(super) fn refuse_in_shared<'t>(
    reader: &mut Reader,
    field: &Field<'_>,
    words: impl IntoIterator<Item = &'t Template>,
    what: &str,
) {
    for one in words.into_iter().flat_map(Template::placeholders) {
        let is_of_cell = match one {
            Placeholder::Matrix(_) | Placeholder::Sweep(_) => true,
            Placeholder::Input(name) => reader.cell_inputs.contains(name),
            _ => false,
        };
        if is_of_cell {
            let why = format!("{one} differs from cell to cell, and all cells share {what}.");
            field.refuse(reader, why);
        }
    }
}

fn values(reader: &mut Reader, name: &str, field: &Field<'_>) -> Vec<Value> {
    let mut values: Vec<Value> = Vec::new();
    let Some(list) = field.list(reader) else { return values };
    if list.is_empty() {
        field.refuse(reader, "needs at least one value: NAME = [\"…\", \"…\"].");
    }
    for field in list {
        let text = match name {
            "threads" | "chunks" => field.count(reader).map(|count| count.to_string()),
            _ => field.word_or_number(reader),
        };
        let Some(text) = text else { continue };
        let label = label(&text);
        if label.is_empty() || values.iter().any(|value| value.label == label) {
            let what = format!("`{text}` would be called `{label}`, as another value is.");
            field.refuse(reader, what);
        }
        values.push(Value { label, text });
    }
    values
}

/// The name of a value in a metric: for a file, its name without folder and ending.
pub(super) fn label(text: &str) -> String {
    let last = text.trim_end_matches('/').rsplit('/').next().unwrap_or(text);
    let stem = match last.rsplit_once('.') {
        Some((stem, ending)) if ending.chars().any(|c| !c.is_ascii_digit()) && !stem.is_empty() => {
            stem
        }
        _ => last,
    };
    let is_plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    stem.chars().map(|c| if is_plain(c) { c } else { '_' }).collect()
}

fn in_cell(reader: &mut Reader, measure: &Measure, cell: &[(&Axis, &Value)]) -> Measure {
    let labels: Vec<String> =
        cell.iter().map(|(axis, value)| format!("{}={}", axis.name, value.label)).collect();
    let named: Vec<&Placeholder> = measure.templates().flat_map(Template::placeholders).collect();
    for (axis, value) in cell {
        if named.iter().any(|one| matches!(one, Placeholder::Input(name) if *name == axis.name)) {
            reader.names.inputs.insert(input_of(axis, value), value.text.clone());
        }
    }
    measure.in_cell(&labels, &|placeholder| {
        let (axis, value) = cell.iter().find(|(axis, _)| axis.is(placeholder))?;
        Some(match placeholder {
            Placeholder::Input(_) => {
                Replacement::Placeholder(Placeholder::Input(input_of(axis, value)))
            }
            _ => Replacement::Text(value.text.clone()),
        })
    })
}

/// The name of a value as an input: `AXIS[VALUE]`.
fn input_of(axis: &Axis, value: &Value) -> String {
    format!("{}[{}]", axis.name, value.label)
}
