//! Takes secrets out of a configuration that leaves the machine: the values of `env` whose names
//! look like a secret's.

use toml_edit::{DocumentMut, Item, TableLike, Value};

use crate::evaluation::is_secret;

/// A configuration's text without the values of secret variables, and the keys of what was left
/// out (`build.env.API_TOKEN`), as `--set` takes them. A text that is not TOML is left out whole.
pub(crate) fn without_secrets(text: &str) -> (String, Vec<String>) {
    let Ok(mut document) = text.parse::<DocumentMut>() else {
        return (String::new(), vec!["oracle.toml".to_owned()]);
    };
    let mut withheld = Vec::new();
    in_table(document.as_table_mut(), &[], &mut withheld);
    if withheld.is_empty() {
        return (text.to_owned(), Vec::new());
    }
    let mut keys: Vec<String> = withheld.into_iter().map(|(key, _)| key).collect();
    keys.sort();
    keys.dedup();
    (document.to_string(), keys)
}

/// The values that [`without_secrets`] leaves out, as text.
pub(crate) fn secrets_of(text: &str) -> Vec<String> {
    let Ok(mut document) = text.parse::<DocumentMut>() else { return Vec::new() };
    let mut withheld = Vec::new();
    in_table(document.as_table_mut(), &[], &mut withheld);
    withheld.into_iter().map(|(_, value)| value).collect()
}

/// Empties the secret values. Adds their keys and former values to `withheld`.
fn in_table(table: &mut dyn TableLike, path: &[String], withheld: &mut Vec<(String, String)>) {
    let is_env = path.last().is_some_and(|name| name == "env");
    for (key, item) in table.iter_mut() {
        let name = key.get().to_owned();
        let own: Vec<String> = path.iter().cloned().chain([name.clone()]).collect();
        if is_env && is_secret(&name) && item.is_value() {
            let value = item.as_str().map_or_else(|| item.to_string(), str::to_owned);
            *item = toml_edit::value("");
            withheld.push((own.join("."), value.trim().to_owned()));
        } else {
            in_item(item, &own, withheld);
        }
    }
}

fn in_item(item: &mut Item, path: &[String], withheld: &mut Vec<(String, String)>) {
    if let Some(table) = item.as_table_like_mut() {
        return in_table(table, path, withheld);
    }
    if let Some(tables) = item.as_array_of_tables_mut() {
        for table in tables.iter_mut() {
            let own = element(path, table);
            in_table(table, &own, withheld);
        }
    }
    if let Some(array) = item.as_array_mut() {
        for table in array.iter_mut().filter_map(Value::as_inline_table_mut) {
            let own = element(path, table);
            in_table(table, &own, withheld);
        }
    }
}

/// The path of a table in a list, as `--set` writes it: `measure.ppl`. The path of an override is
/// empty: its keys are written as those of the file.
fn element(path: &[String], table: &dyn TableLike) -> Vec<String> {
    if path.last().is_some_and(|name| name == "override") {
        return Vec::new();
    }
    let name = table.get("name").and_then(Item::as_str).map(str::to_owned);
    path.iter().cloned().chain(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_secrets_are_left_out_and_their_keys_are_told() {
        let text = "[build]\nenv = { CC = \"gcc\", HF_TOKEN = \"hunter2\" }\n\
                    [[measure]]\nname = \"ppl\"\n[measure.env]\nMY_API_KEY = \"hunter3\"\n\
                    [[override]]\nmeasure.ppl.env.A_PASSWORD = \"hunter4\"\n";
        let (left, withheld) = without_secrets(text);
        assert!(left.contains("gcc") && !left.contains("hunter"), "{left}");
        let wanted =
            ["build.env.HF_TOKEN", "measure.ppl.env.A_PASSWORD", "measure.ppl.env.MY_API_KEY"];
        assert_eq!(withheld, wanted);
        assert_eq!(secrets_of(text), ["hunter2", "hunter3", "hunter4"]);
    }

    #[test]
    fn a_text_without_secrets_stays_as_it_is() {
        let text = "# mine\n[build]\nenv = { CC = \"gcc\" } # and why\n";
        assert_eq!(without_secrets(text), (text.to_owned(), Vec::new()));
    }
}
