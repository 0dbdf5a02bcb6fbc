//! `[[guard]]` and `[[require]]`.

use crate::evaluation::{Guard, GuardForm, Metric};

use super::super::problem::did_you_mean;
use super::super::walk::{Section, Spot, Walk};
use super::super::{MeasureKind, Require, Required};
use super::measure::{ALWAYS, Declared};

/// Makes a form of a tolerance.
type Form = fn(f64) -> GuardForm;

/// The numeric forms, and whether a tolerance below 0 makes sense.
const FORMS: [(&str, Form, bool); 6] = [
    ("max_increase", GuardForm::MaxIncrease, false),
    ("max_increase_percent", GuardForm::MaxIncreasePercent, false),
    ("max_decrease", GuardForm::MaxDecrease, false),
    ("max_decrease_percent", GuardForm::MaxDecreasePercent, false),
    ("max", GuardForm::Max, true),
    ("min", GuardForm::Min, true),
];
const ALL_FORMS: &str = "max_increase, max_increase_percent, max_decrease, max_decrease_percent, max, min, unchanged = true";

pub(super) fn guards(walk: &mut Walk, root: &mut Section<'_>, declared: &[Declared]) -> Vec<Guard> {
    let mut guards: Vec<Guard> = Vec::new();
    for mut section in root.some_sections(walk, "guard") {
        let metric_spot = section.need(walk, "metric");
        let metric = metric_spot.as_ref().and_then(|spot| metric(walk, spot, declared));
        let numeric = metric.as_ref().is_none_or(|(_, numeric)| *numeric);
        let form = form(walk, &mut section, numeric);
        let place = section.place;
        let key = section.key.clone();
        section.finish(walk);
        let (Some((metric, _)), Some(form)) = (metric, form) else { continue };
        let same = |g: &Guard| {
            g.metric == metric && std::mem::discriminant(&g.form) == std::mem::discriminant(&form)
        };
        if guards.iter().any(same) {
            let what = format!("`{metric}` has a guard of this form already.");
            walk.complain(place, &key, what);
        }
        guards.push(Guard { metric, form });
    }
    guards
}

/// The metric, and whether it is a number.
fn metric(walk: &mut Walk, spot: &Spot<'_>, declared: &[Declared]) -> Option<(Metric, bool)> {
    let text = spot.text(walk)?;
    let metric: Metric = match text.parse() {
        Ok(metric) => metric,
        Err(error) => {
            spot.refuse(walk, format!("{error}."));
            return None;
        }
    };
    let of = find_measure(walk, spot, &metric.measure, declared)?;
    if metric.name.as_deref().is_some_and(|name| ALWAYS.contains(&name)) {
        return Some((metric, true));
    }
    let (kind, parser) = of.yields.as_ref()?;
    if !parser.may_yield(metric.name.as_deref()) {
        let what = yields_no(text, &of.name, parser.names());
        spot.refuse(walk, what);
        return None;
    }
    Some((metric, *kind == MeasureKind::Number))
}

fn yields_no(text: &str, measure: &str, names: Option<Vec<Option<String>>>) -> String {
    let always = ALWAYS.map(|name| Metric::named(measure, name).to_string());
    let Some(names) = names else {
        return format!(
            "measure `{measure}` yields no `{text}`; all it yields has names, such as \
             {measure}.NAME, and `bisect-ppl measure REV` lists them. Besides: {}",
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
    walk: &mut Walk,
    spot: &Spot<'_>,
    name: &str,
    declared: &'m [Declared],
) -> Option<&'m Declared> {
    let found = declared.iter().find(|d| d.name == name);
    // Where no measure could be read, that has been said already.
    if found.is_none() && !declared.is_empty() {
        let names: Vec<&str> = declared.iter().map(|d| d.name.as_str()).collect();
        let guess = did_you_mean(name, names.iter().copied());
        let what = format!("there is no measure `{name}`{guess} Measures: {}", names.join(", "));
        spot.refuse(walk, what);
    }
    found
}

fn form(walk: &mut Walk, section: &mut Section<'_>, numeric: bool) -> Option<GuardForm> {
    let mut given: Vec<(Spot<'_>, Option<GuardForm>)> = Vec::new();
    for (key, make, may_be_negative) in FORMS {
        let Some(spot) = section.get(key) else { continue };
        let number = spot.number(walk);
        if !may_be_negative && number.is_some_and(|x| x < 0.0) {
            spot.refuse(walk, "a tolerance cannot be negative; 0 allows no change.");
        }
        if !numeric {
            spot.refuse(walk, "a fact is not a number. Allowed: unchanged = true");
        }
        given.push((spot, number.map(make)));
    }
    if let Some(spot) = section.get("unchanged") {
        let flag = spot.flag(walk);
        if flag == Some(false) {
            spot.refuse(walk, "false guards nothing; leave the guard out.");
        }
        given.push((spot, flag.map(|_| GuardForm::Unchanged)));
    }
    if given.is_empty() {
        let what = format!("has no tolerance; give one of {ALL_FORMS}");
        walk.complain(section.place, &section.key, what);
    }
    for (extra, _) in given.iter().skip(1) {
        let what = format!(
            "a guard has one form, and `{}` is given; write another [[guard]].",
            given[0].0.key
        );
        extra.refuse(walk, what);
    }
    given.into_iter().next().and_then(|(_, form)| form)
}

pub(super) fn requires(
    walk: &mut Walk,
    root: &mut Section<'_>,
    declared: &[Declared],
) -> Vec<Require> {
    let mut requires = Vec::new();
    for mut section in root.sections(walk, "require") {
        let measure = section.need(walk, "measure").and_then(|spot| {
            let name = spot.text(walk)?;
            find_measure(walk, &spot, name, declared)
        });
        let what = required(walk, &mut section, measure);
        section.finish(walk);
        if let (Some(measure), Some(what)) = (measure, what) {
            requires.push(Require { measure: measure.name.clone(), what });
        }
    }
    requires
}

fn required(
    walk: &mut Walk,
    section: &mut Section<'_>,
    measure: Option<&Declared>,
) -> Option<Required> {
    match (section.get("pattern"), section.get("checks")) {
        (None, None) => {
            let key = format!("{}.pattern", section.key);
            walk.complain(section.place, &key, "is missing; give it, or `checks`.");
            None
        }
        (Some(_), Some(checks)) => {
            checks
                .refuse(walk, "`pattern` and `checks` are both given; write another [[require]].");
            None
        }
        (Some(spot), None) => spot.pattern(walk).map(Required::Pattern),
        (None, Some(spot)) => {
            spot.choice(walk, &[("same-set", ())], &[])?;
            let parser =
                measure.and_then(|measure| measure.yields.as_ref()).map(|(_, parser)| parser);
            if parser.is_some_and(|parser| !parser.tells_checks()) {
                spot.refuse(
                    walk,
                    "the measure's parser tells of no checks; llama-bench, lm-eval, parity and junit do.",
                );
            }
            Some(Required::SameChecks)
        }
    }
}
