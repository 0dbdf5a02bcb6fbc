//! Merges one tree into another. Overrides and scenario files change a configuration this way.

use super::document::{Data, Entry, Node, Table};
use super::parser::PARSER_KEYS;
use super::problem::{Problem, did_you_mean, no_measure};

/// Lists whose tables an override addresses by name: `measure.NAME`, `prepare.NAME`.
pub(super) const NAMED: [&str; 2] = ["measure", "prepare"];

/// Merges `over` into `base`. Tables are merged key by key. All other values are replaced
/// whole, arrays too. The exceptions are `measure.NAME.key` and `prepare.NAME.key`: they change
/// the table of that name.
///
/// `prefix` is put before the key of each problem.
pub(super) fn merge_over(base: &mut Node, over: &Node, prefix: &str, problems: &mut Vec<Problem>) {
    let (Some(base), Some(over)) = (base.table_mut(), over.table()) else { return };
    for field in &over.0 {
        let by_name = field.value.table().filter(|_| NAMED.contains(&field.key.as_str()));
        let Some(by_name) = by_name else {
            merge_field(base, field);
            continue;
        };
        let mut none = Vec::new();
        let below = match base.get_mut(&field.key).map(|node| &mut node.data) {
            Some(Data::List(below)) => below,
            _ => &mut none,
        };
        merge_named(&field.key, below, by_name, prefix, problems);
    }
}

fn merge_field(base: &mut Table, field: &Entry) {
    match (base.get_mut(&field.key), &field.value.data) {
        (Some(Node { data: Data::Table(below), .. }), Data::Table(above)) => {
            for inner in &above.0 {
                merge_field(below, inner);
            }
        }
        (Some(below), _) => *below = field.value.clone(),
        (None, _) => base.0.push(field.clone()),
    }
}

fn merge_named(
    list: &str,
    tables: &mut [Node],
    by_name: &Table,
    prefix: &str,
    problems: &mut Vec<Problem>,
) {
    let names: Vec<String> = tables.iter().filter_map(|m| name_of(m).map(str::to_owned)).collect();
    for field in &by_name.0 {
        let key = format!("{prefix}{list}.{}", field.key);
        let mut report_problem = |place: &super::Location, key: String, what: String| {
            problems.push(Problem { place: place.clone(), key, what, is_missing: false });
        };
        let Some(above) = field.value.table() else {
            report_problem(
                &field.value.place,
                key,
                format!("expected a table of the {list}'s keys, found {}.", field.value.kind()),
            );
            continue;
        };
        let Some(below) = tables
            .iter_mut()
            .find(|m| name_of(m) == Some(field.key.as_str()))
            .and_then(Node::table_mut)
        else {
            let all = names.iter().map(String::as_str);
            let what = if list == "measure" {
                no_measure(&field.key, all)
            } else {
                let guess = did_you_mean(&field.key, all);
                format!("there is no {list} `{}`{guess} Steps: {}", field.key, names.join(", "))
            };
            report_problem(&field.place, key, what);
            continue;
        };
        if let Some(name) = above.0.iter().find(|f| f.key == "name") {
            report_problem(&name.place, format!("{key}.name"), format!("a {list} keeps its name."));
        }
        drop_obsolete_keys(below, above);
        for inner in above.0.iter().filter(|f| f.key != "name") {
            merge_field(below, inner);
        }
    }
}

fn name_of(measure: &Node) -> Option<&str> {
    measure.table()?.get("name")?.text()
}

/// If `above` sets `parser`, removes the keys of the old parser. If it sets `pointers`, removes
/// `pointer`, and the reverse. An override cannot remove keys itself, so without this step every
/// override of `parser` would be refused because of the old `pattern`.
fn drop_obsolete_keys(below: &mut Table, above: &Table) {
    if above.get("parser").is_some() {
        for key in PARSER_KEYS {
            below.remove(key);
        }
    }
    for (new, old) in [("pointer", "pointers"), ("pointers", "pointer")] {
        if above.get(new).is_some() && above.get(old).is_none() {
            below.remove(old);
        }
    }
}
