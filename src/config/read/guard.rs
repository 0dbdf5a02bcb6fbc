//! `[[guard]]` and `[[require]]`.

use crate::evaluation::{FormName, Guard, GuardForm, LogitsGuard, Metric, Resource};

use super::super::document::Data;
use super::super::field::Field;
use super::super::parser::Parser;
use super::super::parser_table::checking_parsers;
use super::super::problem::{Location, did_you_mean, no_measure};
use super::super::reader::Reader;
use super::super::table_reader::TableReader;
use super::super::{MeasureKind, Require, Required};
use super::measure::Declared;

pub(super) fn guards(
    reader: &mut Reader,
    root: &mut TableReader<'_>,
    declared: &[Declared],
) -> Vec<Guard> {
    // Each guard, and whether it was written for all cells of a measure.
    let mut guards: Vec<(Guard, bool)> = Vec::new();
    let all = metrics(declared);
    for mut section in root.some_sections(reader, "guard", &whole_guard(declared)) {
        let line = format!("metric = \"{}\"", all.first().map_or("ppl", String::as_str));
        let metric_field = section.need_one_of(reader, "metric", &line, &all.join(", "));
        let (place, key) = (section.place, section.key.clone());
        if let Some(preset_field) = section.get("preset") {
            let made = preset(reader, section, &preset_field, metric_field, declared);
            report_repeated(reader, (place, &key), &guards, &made, None);
            guards.extend(made);
            continue;
        }
        let metric = metric_field.as_ref().and_then(|field| metric(reader, field, declared));
        let numeric = metric.as_ref().is_none_or(|named| named.is_number);
        let form = form(reader, &mut section, numeric);
        section.finish(reader);
        let (Some(named), Some(form)) = (metric, form) else { continue };
        let is_of_all = named.is_of_all;
        let made: Vec<_> =
            named.cells.into_iter().map(|metric| (Guard { metric, form }, is_of_all)).collect();
        report_repeated(reader, (place, &key), &guards, &made, Some(&named.written));
        guards.extend(made);
    }
    // A guard for one cell takes precedence over a guard for all cells.
    let own: Vec<Guard> =
        guards.iter().filter(|(_, is_of_all)| !is_of_all).map(|(guard, _)| guard.clone()).collect();
    guards.retain(|(guard, is_of_all)| !is_of_all || !own.iter().any(|one| is_same(one, guard)));
    guards.into_iter().map(|(guard, _)| guard).collect()
}

/// Reports new guards of a metric that has a guard of the same form. `written`: the metric as the
/// file has it, if it does.
fn report_repeated(
    reader: &mut Reader,
    (place, key): (&Location, &str),
    known: &[(Guard, bool)],
    made: &[(Guard, bool)],
    written: Option<&str>,
) {
    let repeated = made.iter().find(|(guard, is_of_all)| {
        known.iter().any(|(one, all)| all == is_of_all && is_same(one, guard))
    });
    let Some((guard, _)) = repeated else { return };
    let metric = written.map_or_else(|| guard.metric.to_string(), str::to_owned);
    reader.report_problem(place, key, format!("`{metric}` has a guard of this form already."));
}

/// The guards of a `preset`, for the measure that `metric` names.
fn preset(
    reader: &mut Reader,
    mut section: TableReader<'_>,
    preset_field: &Field<'_>,
    metric: Option<Field<'_>>,
    declared: &[Declared],
) -> Vec<(Guard, bool)> {
    let presets = LogitsGuard::ALL.map(|one| (one.name(), one));
    let preset = preset_field.choice(reader, &presets, &[]);
    let mut found = None;
    if let Some(field) = metric
        && let Some(name) = field.text(reader)
        && let Some(measure) = find_measure(reader, &field, name, declared)
    {
        match &measure.yields {
            Some((_, Parser::Logits)) | None => {
                found = runs_in_search(reader, &field, measure).then_some((name, measure));
            }
            Some(_) => preset_field.refuse(
                reader,
                format!("belongs to a measure with the parser `logits`; `{name}` has another."),
            ),
        }
    }
    for form in FormName::ALL {
        if let Some(extra) = section.get(form.key()) {
            extra.refuse(reader, "a preset has its own tolerances; write another [[guard]].");
        }
    }
    section.finish(reader);
    let (Some(preset), Some((name, measure))) = (preset, found) else { return Vec::new() };
    let is_of_all = name == measure.name && measure.cells.iter().any(|cell| cell != name);
    let cells = if is_of_all { measure.cells.clone() } else { vec![name.to_owned()] };
    let guards = |cell: &String| {
        let guard = |(name, form)| (Guard { metric: Metric::named(cell, name), form }, is_of_all);
        preset.forms().into_iter().map(guard).collect::<Vec<_>>()
    };
    cells.iter().flat_map(guards).collect()
}

/// The metrics of the measures, without wall time and memory; `MEASURE.NAME` if only the output
/// says the names.
fn metrics(declared: &[Declared]) -> Vec<String> {
    let of = |measure: &Declared| -> Vec<String> {
        let Some((_, parser)) = &measure.yields else { return vec![measure.name.clone()] };
        let Some(names) = parser.names() else { return vec![format!("{}.NAME", measure.name)] };
        let metric = |name| Metric { measure: measure.name.clone(), name }.to_string();
        names.into_iter().map(metric).collect()
    };
    declared.iter().flat_map(of).collect()
}

/// A whole guard, for the message if there is none.
fn whole_guard(declared: &[Declared]) -> String {
    let metrics = metrics(declared);
    let metric = metrics.first().map_or("ppl", String::as_str);
    format!("`[[guard]]` and below it `metric = \"{metric}\"`, `max_increase = 0.05`")
}

fn is_same(one: &Guard, other: &Guard) -> bool {
    one.metric == other.metric && one.form.name() == other.form.name()
}

/// The metric that a guard names, in each cell.
struct Named {
    written: String,
    /// The metric in each cell; a single one if the measure has no cells.
    cells: Vec<Metric>,
    /// Whether the guard names a measure with cells without naming one cell.
    is_of_all: bool,
    is_number: bool,
}

/// The metric that a guard names.
fn metric(reader: &mut Reader, field: &Field<'_>, declared: &[Declared]) -> Option<Named> {
    let text = field.text(reader)?;
    let metric: Metric = match text.parse() {
        Ok(metric) => metric,
        Err(error) => {
            field.refuse(reader, format!("{error}."));
            return None;
        }
    };
    let of = find_measure(reader, field, &metric.measure, declared)?;
    if let Some((_, Parser::Tensors)) = &of.yields {
        let what = format!(
            "`{}` has no metric: its tensors are compared after a first bad commit was found.",
            of.name
        );
        field.refuse(reader, what);
        return None;
    }
    if !runs_in_search(reader, field, of) {
        return None;
    }
    let in_cells = |is_number: bool| {
        let is_of_all = of.name == metric.measure && of.cells.iter().any(|cell| *cell != of.name);
        let cells: Vec<Metric> = of
            .cells
            .iter()
            .filter(|cell| of.name == metric.measure || **cell == metric.measure)
            .map(|cell| Metric { measure: cell.clone(), name: metric.name.clone() })
            .collect();
        // A measure that could not be read has no cells. That problem is reported already.
        let cells = if cells.is_empty() { vec![metric.clone()] } else { cells };
        Named { written: text.to_owned(), cells, is_of_all, is_number }
    };
    if metric.name.as_deref().is_some_and(|name| Resource::NAMES.contains(&name)) {
        return Some(in_cells(true));
    }
    let (kind, parser) = of.yields.as_ref()?;
    if !parser.may_yield(metric.name.as_deref()) {
        let what = yields_no(text, &of.name, parser.names());
        field.refuse(reader, what);
        return None;
    }
    Some(in_cells(*kind == MeasureKind::Number))
}

/// Whether the search runs a measure. Refuses its guard otherwise.
fn runs_in_search(reader: &mut Reader, field: &Field<'_>, measure: &Declared) -> bool {
    if measure.for_cause {
        let what = format!(
            "measure `{}` runs only to find the cause at a first bad commit, so it cannot have a \
             guard.",
            measure.name
        );
        field.refuse(reader, what);
    }
    !measure.for_cause
}

fn yields_no(text: &str, measure: &str, names: Option<Vec<Option<String>>>) -> String {
    let always = Resource::NAMES.map(|name| Metric::named(measure, name).to_string());
    let Some(names) = names else {
        return format!(
            "measure `{measure}` yields no `{text}`; its metrics have names, such as \
             {measure}.NAME, and `bisect-ppl measure REV` lists them. Every measure also yields: {}",
            always.join(", ")
        );
    };
    let yields: Vec<String> = names
        .into_iter()
        .map(|name| Metric { measure: measure.to_owned(), name }.to_string())
        .chain(always)
        .collect();
    let guess = did_you_mean(text, yields.iter().map(String::as_str));
    format!("measure `{measure}` yields no `{text}`{guess} It yields: {}", yields.join(", "))
}

fn find_measure<'m>(
    reader: &mut Reader,
    field: &Field<'_>,
    name: &str,
    declared: &'m [Declared],
) -> Option<&'m Declared> {
    let is_it = |d: &&Declared| d.name == name || d.cells.iter().any(|cell| cell == name);
    let found = declared.iter().find(is_it);
    // If no measure could be read, that problem is reported already.
    if found.is_none() && !declared.is_empty() {
        field.refuse(reader, no_measure(name, declared.iter().map(|d| d.name.as_str())));
    }
    found
}

fn form(reader: &mut Reader, section: &mut TableReader<'_>, numeric: bool) -> Option<GuardForm> {
    let mut given: Vec<(Field<'_>, Option<GuardForm>)> = Vec::new();
    for name in FormName::ALL {
        let Some(field) = section.get(name.key()) else { continue };
        let form = if name == FormName::Unchanged {
            let flag = field.flag(reader);
            if flag == Some(false) {
                field.refuse(reader, "false guards nothing; leave the guard out.");
            }
            flag.map(|_| GuardForm::Unchanged)
        } else {
            let is_tolerance = name.is_from_baseline();
            let number = if refuse_percentage_text(reader, &field, name) {
                None
            } else if is_tolerance {
                field.tolerance(reader)
            } else {
                field.number(reader)
            };
            if !numeric {
                field.refuse(reader, "a fact is not a number. Allowed: unchanged = true");
            }
            number.map(|number| name.with(number))
        };
        given.push((field, form));
    }
    if given.is_empty() {
        let all = FormName::ALL.map(FormName::key).join(", ");
        let what = format!("has no tolerance; give one of {all} = true");
        reader.report_problem(section.place, &section.key, what);
    }
    for (extra, _) in given.iter().skip(1) {
        let what = format!(
            "a guard has one form, and `{}` is given; write another [[guard]].",
            given[0].0.key
        );
        extra.refuse(reader, what);
    }
    given.into_iter().next().and_then(|(_, form)| form)
}

/// Refuses a tolerance that is a percentage in quotes, such as `"5%"`, and says what to write.
/// Returns whether it is one.
fn refuse_percentage_text(reader: &mut Reader, field: &Field<'_>, name: FormName) -> bool {
    let key = match name {
        FormName::MaxIncrease | FormName::MaxIncreasePercent => FormName::MaxIncreasePercent.key(),
        FormName::MaxDecrease | FormName::MaxDecreasePercent => FormName::MaxDecreasePercent.key(),
        FormName::Max | FormName::Min | FormName::Unchanged => return false,
    };
    let Data::Text(text) = &field.node.data else { return false };
    let percent =
        text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let Some(percent) = percent.filter(|x| x.is_finite() && *x >= 0.0) else { return false };
    field.refuse(
        reader,
        format!("expected a number, found a string; a percentage is written `{key} = {percent}`"),
    );
    true
}

pub(super) fn requires(
    reader: &mut Reader,
    root: &mut TableReader<'_>,
    declared: &[Declared],
) -> Vec<Require> {
    let mut requires = Vec::new();
    for mut section in root.sections(reader, "require") {
        let names: Vec<&str> = declared.iter().map(|d| d.name.as_str()).collect();
        let line = format!("measure = \"{}\"", names.first().unwrap_or(&"ppl"));
        let measure_field = section.need_one_of(reader, "measure", &line, &names.join(", "));
        let measure = measure_field.and_then(|field| {
            let name = field.text(reader)?;
            let found = find_measure(reader, &field, name, declared)?;
            let cells =
                if found.name == name { found.cells.clone() } else { vec![name.to_owned()] };
            Some((cells, found))
        });
        let what = required(reader, &mut section, measure.as_ref().map(|(_, found)| *found));
        section.finish(reader);
        if let (Some((measures, _)), Some(what)) = (measure, what) {
            let of = |measure| Require { measure, what: what.clone() };
            requires.extend(measures.into_iter().map(of));
        }
    }
    requires
}

fn required(
    reader: &mut Reader,
    section: &mut TableReader<'_>,
    measure: Option<&Declared>,
) -> Option<Required> {
    match (section.get("pattern"), section.get("checks")) {
        (None, None) => {
            let key = format!("{}.pattern", section.key);
            reader.report_missing(
                section.place,
                &key,
                "; e.g. `pattern = \"backend: cpu\"`, or `checks = \"same-set\"`",
            );
            None
        }
        (Some(_), Some(checks)) => {
            checks.refuse(
                reader,
                "`pattern` and `checks` are both given; write another [[require]].",
            );
            None
        }
        (Some(field), None) => field.pattern(reader).map(Required::Pattern),
        (None, Some(checks)) => {
            checks.choice(reader, &[("same-set", ())], &[])?;
            if measure.is_some_and(|measure| measure.for_cause) {
                checks.refuse(reader, "the measure does not run at the good end.");
            }
            let parser =
                measure.and_then(|measure| measure.yields.as_ref()).map(|(_, parser)| parser);
            if parser.is_some_and(|parser| !parser.tells_checks()) {
                let what = "the measure's parser does not report which checks ran";
                let told = checking_parsers();
                let (last, others) = told.split_last().expect("several parsers report checks");
                checks.refuse(reader, format!("{what}; {} and {last} do.", others.join(", ")));
            }
            Some(Required::SameChecks)
        }
    }
}
