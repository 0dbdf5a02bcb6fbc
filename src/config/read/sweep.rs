//! `[sweep]`: the parameters over which a first bad commit is compared with its parent, and the
//! measures that are swept.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{Guard, Properties, Property};

use super::super::document::Data;
use super::super::field::Field;
use super::super::problem::{Location, did_you_mean, no_measure};
use super::super::reader::Reader;
use super::super::table_reader::TableReader;
use super::super::{
    Measure, MeasureKind, Placeholder, Sweep, SweepParameter, SweepValue, Template,
};
use super::matrix::{Matrix, label};
use super::name::{NOT_A_WORD, is_word};

/// Default of `budget`: the maximum number of cells.
const BUDGET: u32 = 64;

/// `[sweep]` as far as it is read before the measures.
#[derive(Debug, Default)]
pub(super) struct SweepReader {
    is_there: bool,
    parameters: Vec<SweepParameter>,
    /// Parameters that are declared as inputs until [`SweepReader::finish`].
    as_inputs: Vec<String>,
}

impl SweepReader {
    /// Reads the parameters. Templates may name a parameter as an input.
    pub(super) fn read(reader: &mut Reader, root: &mut TableReader<'_>, matrix: &Matrix) -> Self {
        let Some(field) = root.get("sweep") else { return Self::default() };
        let Some(mut section) = field.section(reader) else { return Self::default() };
        let mut own = Self { is_there: true, ..Self::default() };
        let line = "parameters.d_in = [96, 128, 171]";
        let parameters = section.need(reader, "parameters", line);
        let Some(parameters) = parameters.and_then(|field| field.section(reader)) else {
            return own;
        };
        for (name, place, field) in parameters.entries() {
            if !is_word(name) {
                reader.report_problem(place, &field.key, NOT_A_WORD);
            }
            if matrix.has_axis(name) {
                field.refuse(reader, format!("[matrix] has an axis `{name}` already."));
            }
            let Some(parameter) = parameter(reader, name, &field) else { continue };
            own.refuse_shared_properties(reader, &field, &parameter);
            if !reader.names.inputs.contains_key(name) {
                let first = parameter.values.first().map(|value| value.text.clone());
                reader.names.inputs.insert(name.to_owned(), first.unwrap_or_default());
                reader.cell_inputs.push(name.to_owned());
                own.as_inputs.push(name.to_owned());
            }
            own.parameters.push(parameter);
        }
        own
    }

    /// If two parameters had a property of the same name, a rule could not tell them apart.
    fn refuse_shared_properties(
        &self,
        reader: &mut Reader,
        field: &Field<'_>,
        new: &SweepParameter,
    ) {
        let names = |parameter: &SweepParameter| -> BTreeSet<String> {
            let of = |value: &SweepValue| value.properties.keys().cloned().collect::<Vec<_>>();
            parameter.values.iter().flat_map(of).collect()
        };
        for other in &self.parameters {
            if let Some(shared) = names(other).intersection(&names(new)).next() {
                let other = &other.name;
                let what = format!("`{shared}` is a property of the parameter `{other}` already.");
                field.refuse(reader, what);
            }
        }
    }

    /// Whether a measure names a parameter that has a value only in cells of the sweep. Such a
    /// measure runs only in the sweep.
    fn runs_only_in_sweep(&self, measure: &Measure) -> bool {
        measure.templates().flat_map(Template::placeholders).any(|one| match one {
            Placeholder::Sweep(_) => true,
            Placeholder::Input(name) => self.as_inputs.contains(name),
            _ => false,
        })
    }

    /// As [`SweepReader::runs_only_in_sweep`]; refuses names that no parameter has.
    pub(super) fn is_for_cause(
        &self,
        reader: &mut Reader,
        (place, key): (&Location, &str),
        measure: &Measure,
        matrix: &Matrix,
    ) -> bool {
        for one in measure.templates().flat_map(Template::placeholders) {
            let Placeholder::Sweep(name) = one else { continue };
            let names = || self.parameters.iter().map(|parameter| parameter.name.as_str());
            if !names().any(|known| known == name) {
                let guess = did_you_mean(name, names());
                let all = names().collect::<Vec<_>>().join(", ");
                let all = if all.is_empty() { "no parameters".to_owned() } else { all };
                let what = format!("{one} names no parameter{guess} [sweep] has: {all}");
                reader.report_problem(place, key, what);
            }
        }
        let is_sweep_only = self.runs_only_in_sweep(measure);
        if is_sweep_only && matrix.is_named_by(measure) {
            reader.report_problem(
                place,
                key,
                "names [matrix] and [sweep]; a measure may name one.",
            );
        }
        is_sweep_only
    }

    /// Reads the other keys, and declares the values that measures name as inputs.
    pub(super) fn finish(
        self,
        reader: &mut Reader,
        root: &mut TableReader<'_>,
        measures: &[Measure],
        guards: &[Guard],
    ) -> Option<Sweep> {
        if !self.is_there {
            return None;
        }
        let mut section = root.section(reader, "sweep");
        section.get("parameters");
        let budget = section.get("budget");
        let cells = budget.as_ref().and_then(|field| field.count(reader)).unwrap_or(BUDGET);
        let tolerance = section.get("tolerance").and_then(|field| field.tolerance(reader));
        let listed = section.get("measures");
        let (place, key) = (section.place.clone(), section.key.clone());
        let sweep_only: Vec<&Measure> =
            measures.iter().filter(|measure| self.runs_only_in_sweep(measure)).collect();
        let swept = match &listed {
            Some(field) => self.listed(reader, field, measures, &sweep_only),
            None => sweep_only,
        };
        section.finish(reader);
        for name in &self.as_inputs {
            reader.names.inputs.remove(name);
        }
        let parameters = self.parameters;
        let sweep = Sweep {
            measures: swept.iter().map(|measure| measure.name.clone()).collect(),
            budget: usize::try_from(cells).unwrap_or(usize::MAX),
            tolerance,
            parameters,
        };
        if !measures.is_empty() {
            sweep.check(reader, &place, &key, &swept);
            sweep.check_figures(reader, &place, &key, &swept, guards);
        }
        sweep.declare_inputs(reader, &swept);
        Some(sweep)
    }

    /// The measures of `measures = […]`.
    fn listed<'m>(
        &self,
        reader: &mut Reader,
        field: &Field<'_>,
        measures: &'m [Measure],
        sweep_only: &[&'m Measure],
    ) -> Vec<&'m Measure> {
        let mut swept: Vec<&Measure> = Vec::new();
        for field in field.list(reader).unwrap_or_default() {
            let Some(name) = field.text(reader) else { continue };
            let Some(measure) = measures.iter().find(|measure| measure.name == name) else {
                let has_cells = |measure: &Measure| measure.name.starts_with(&format!("{name}["));
                let what = if measures.iter().any(has_cells) {
                    format!("`{name}` has cells of [matrix], and is swept by them already.")
                } else {
                    no_measure(name, measures.iter().map(|measure| measure.name.as_str()))
                };
                field.refuse(reader, what);
                continue;
            };
            if !self.parameters.iter().any(|parameter| parameter.is_named_by(measure)) {
                field.refuse(reader, format!("`{name}` names no parameter of [sweep]."));
            }
            swept.push(measure);
        }
        for left_out in
            sweep_only.iter().filter(|one| !swept.iter().any(|own| own.name == one.name))
        {
            let name = &left_out.name;
            let what = format!("`{name}` names a parameter and runs only in the sweep: list it.");
            field.refuse(reader, what);
        }
        swept
    }
}

impl Sweep {
    /// Refuses parameters that no swept measure names, and too many cells.
    fn check(&self, reader: &mut Reader, place: &Location, key: &str, swept: &[&Measure]) {
        for parameter in &self.parameters {
            let name = &parameter.name;
            if swept.iter().any(|measure| parameter.is_named_by(measure)) {
                continue;
            }
            let what = match name.as_str() {
                "threads" | "chunks" => {
                    format!("no swept measure names {{{name}}}; list one in `measures`.")
                }
                _ => format!("no measure names {{sweep.{name}}}."),
            };
            reader.report_problem(place, &format!("{key}.parameters.{name}"), what);
        }
        let count: usize = swept
            .iter()
            .map(|measure| {
                let sizes = self.parameters_of(measure).into_iter().map(|one| one.values.len());
                sizes.fold(1, usize::saturating_mul)
            })
            .fold(0, usize::saturating_add);
        if count > self.budget {
            let what = format!(
                "has {count} cells, and `budget` is {}: give fewer values, or a larger budget.",
                self.budget
            );
            reader.report_problem(place, key, what);
        }
    }

    /// Refuses a measure without guards, checks, facts or a tolerance: no rule would judge its
    /// cells, and the user would learn that only after the hunt.
    fn check_figures(
        &self,
        reader: &mut Reader,
        place: &Location,
        key: &str,
        swept: &[&Measure],
        guards: &[Guard],
    ) {
        let is_judged = |measure: &Measure| {
            let has_guard = guards.iter().any(|guard| guard.metric.measure == measure.name);
            has_guard || measure.parser.counts_checks() || measure.kind == MeasureKind::Fact
        };
        let open = swept.iter().find(|measure| !is_judged(measure));
        if let Some(measure) = open.filter(|_| self.tolerance.is_none()) {
            let what = format!(
                "is needed: no guard is on the measure `{}`. Say how far its figures may differ, \
                 e.g. `tolerance = 0.05`.",
                measure.name
            );
            reader.report_problem(place, &format!("{key}.tolerance"), what);
        }
    }

    /// If a swept measure names a parameter as an input, declares each of its values as an input:
    /// the content of these files is hashed.
    fn declare_inputs(&self, reader: &mut Reader, swept: &[&Measure]) {
        for parameter in &self.parameters {
            let is_it = |one: &Placeholder| matches!(one, Placeholder::Input(name) if *name == parameter.name);
            let templates = swept.iter().flat_map(|measure| measure.templates());
            if templates.flat_map(Template::placeholders).any(is_it) {
                let inputs = parameter.values.iter();
                let inputs = inputs.map(|value| (parameter.input_of(value), value.text.clone()));
                reader.names.inputs.extend(inputs);
            }
        }
    }
}

/// A parameter: `[96, 128]`, or `{ values = [96, 128], range = [1, 512] }`.
fn parameter(reader: &mut Reader, name: &str, field: &Field<'_>) -> Option<SweepParameter> {
    let mut table = field.is_table().then(|| field.section(reader)).flatten();
    let list = match &mut table {
        Some(table) => table.need(reader, "values", "values = [64, 256]"),
        None => Some(field.clone()),
    };
    let range = table.as_mut().and_then(|table| table.get("range"));
    let limits = range.as_ref().and_then(|field| range_of(reader, field));
    if let Some(table) = table {
        table.finish(reader);
    }
    let list = list?;
    let values = values(reader, name, &list);
    if let Some(range) = range.filter(|_| values.iter().any(|value| !is_plain_number(value, name)))
    {
        range.refuse(reader, "belongs to a parameter whose values are whole numbers.");
    }
    Some(SweepParameter { name: name.to_owned(), values, range: limits })
}

fn is_plain_number(value: &SweepValue, name: &str) -> bool {
    matches!(value.properties.get(name), Some(Property::Number(_)))
        && value.text.parse::<u64>().is_ok()
}

/// `[1, 512]`.
fn range_of(reader: &mut Reader, field: &Field<'_>) -> Option<[u64; 2]> {
    let ends = field.list(reader)?;
    let ends: Vec<u64> =
        ends.iter().filter_map(|end| end.count_to(reader, u32::MAX)).map(u64::from).collect();
    match ends.as_slice() {
        [low, high] if low <= high => Some([*low, *high]),
        _ => {
            field.refuse(reader, "needs two whole numbers, the smaller one first: [1, 512].");
            None
        }
    }
}

fn values(reader: &mut Reader, name: &str, field: &Field<'_>) -> Vec<SweepValue> {
    let mut values: Vec<SweepValue> = Vec::new();
    let Some(list) = field.list(reader) else { return values };
    if list.is_empty() {
        field.refuse(reader, "needs at least one value: NAME = [96, 128].");
    }
    let has_names = list.iter().filter(|field| field.is_table()).count();
    if has_names > 0 && has_names < list.len() {
        field.refuse(reader, "has values with and without properties; give all of them some.");
        return values;
    }
    for field in &list {
        let read =
            if field.is_table() { named(reader, name, field) } else { plain(reader, name, field) };
        let Some(value) = read else { continue };
        if value.label.is_empty() || values.iter().any(|other| other.label == value.label) {
            let SweepValue { label, text, .. } = &value;
            let what = format!("`{text}` would be called `{label}`, as another value is.");
            field.refuse(reader, what);
        }
        if let Some(first) = values.first()
            && let Some(missing) =
                first.properties.keys().find(|name| !value.properties.contains_key(*name)).or_else(
                    || value.properties.keys().find(|n| !first.properties.contains_key(*n)),
                )
        {
            field.refuse(reader, format!("not all values have the property `{missing}`."));
        }
        values.push(value);
    }
    values
}

/// A value without a name: its own value is the property.
fn plain(reader: &mut Reader, name: &str, field: &Field<'_>) -> Option<SweepValue> {
    let text = match name {
        "threads" | "chunks" => field.count(reader)?.to_string(),
        _ => field.word_or_number(reader)?,
    };
    let label = label(&text);
    let property = match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Property::Number(number),
        _ => Property::Word(label.clone()),
    };
    Some(SweepValue { label, text, properties: Properties::from([(name.to_owned(), property)]) })
}

/// `{ name = "tiny", value = "models/tiny.gguf", width = 288 }`.
fn named(reader: &mut Reader, parameter: &str, field: &Field<'_>) -> Option<SweepValue> {
    let mut table = field.section(reader)?;
    let name = table.need(reader, "name", "name = \"tiny\"");
    let value = table.need(reader, "value", "value = \"models/tiny.gguf\"");
    let label = name.and_then(|field| {
        let label = field.text(reader)?;
        if !is_word(label) {
            field.refuse(reader, NOT_A_WORD);
        }
        Some(label.to_owned())
    });
    let text = value.and_then(|field| match parameter {
        "threads" | "chunks" => field.count(reader).map(|count| count.to_string()),
        _ => field.word_or_number(reader),
    });
    let mut properties = BTreeMap::new();
    for (key, place, field) in table.entries().filter(|(key, ..)| !["name", "value"].contains(key))
    {
        if !is_word(key) {
            reader.report_problem(place, &field.key, NOT_A_WORD);
        }
        let property = match &field.node.data {
            Data::Text(_) => field.text(reader).map(|text| Property::Word(text.to_owned())),
            _ => field.number(reader).map(Property::Number),
        };
        properties.extend(property.map(|property| (key.to_owned(), property)));
    }
    let (label, text) = (label?, text?);
    properties.entry(parameter.to_owned()).or_insert_with(|| Property::Word(label.clone()));
    Some(SweepValue { label, text, properties })
}
