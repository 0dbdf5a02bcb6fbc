//! `[[level]]`: checks of the engine from its kernels up, run at a first bad commit.

use crate::evaluation::Guard;

use super::super::level::{Level, is_training, tolerance_of};
use super::super::problem::no_measure;
use super::super::reader::Reader;
use super::super::table_reader::TableReader;
use super::super::{Measure, Parser};
use super::measure::Declared;

/// Reads the levels, the lowest first.
pub(super) fn levels(
    reader: &mut Reader,
    root: &mut TableReader<'_>,
    declared: &[Declared],
) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::new();
    for mut section in root.sections(reader, "level") {
        let field = section.need(reader, "name", "name = \"kernel\"");
        let name = field.as_ref().and_then(|field| field.text(reader)).map(str::to_owned);
        if let (Some(field), Some(name)) = (&field, &name)
            && levels.iter().any(|level| level.name == *name)
        {
            let other = if is_training(name) {
                "; for another number of steps, give it a name such as `training-20`"
            } else {
                ""
            };
            field.refuse(reader, format!("there is a level `{name}` already{other}."));
        }
        let field = section.need(reader, "measures", "measures = [\"selftest\"]");
        let items = field.as_ref().and_then(|field| field.list(reader)).unwrap_or_default();
        if let Some(field) = field.as_ref().filter(|_| items.is_empty()) {
            field.refuse(reader, "needs at least one measure: measures = [\"selftest\"].");
        }
        let mut cells = Vec::new();
        for item in items {
            let Some(named) = item.text(reader) else { continue };
            if let Some(one) = declared.iter().find(|one| one.name == named) {
                cells.extend(one.cells.clone());
            } else {
                let all = declared.iter().map(|one| one.name.as_str());
                item.refuse(reader, no_measure(named, all));
            }
        }
        let tolerance = section.get("tolerance").and_then(|field| field.tolerance(reader));
        let steps = section.get("steps").and_then(|field| field.count(reader));
        let (place, key) = (section.place, section.key.clone());
        section.finish(reader);
        let Some(name) = name else { continue };
        if tolerance.is_none() && tolerance_of(&name, steps).is_none() {
            let what = if is_training(&name) {
                "needs its number of steps, such as `steps = 20`"
            } else {
                "needs a `tolerance`; only kernel, layer, stage, forward, gradients and training \
                 have one of their own"
            };
            reader.report_problem(place, &key, what);
        }
        levels.push(Level { name, measures: cells, tolerance, steps });
    }
    levels
}

/// Marks the measures that run only to find the cause at a first bad commit: those that only levels
/// name, and those that generate text, which people look at.
pub(super) fn mark_for_cause(measures: &mut [Measure], levels: &[Level], guards: &[Guard]) {
    for measure in measures {
        let is_asked = levels.iter().any(|level| level.measures.contains(&measure.name))
            || matches!(measure.parser, Parser::Text { .. });
        let is_guarded = guards.iter().any(|guard| guard.metric.measure == measure.name);
        measure.for_cause |= is_asked && !is_guarded;
    }
}
