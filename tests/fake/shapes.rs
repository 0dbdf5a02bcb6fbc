//! Rules about a run's words `NAME=NUMBER`, such as `d_in%4!=0` or `length>256`: the cells that a
//! run is in.

use crate::script::Script;

/// The names of all cells whose rules these words meet, in order.
pub(crate) fn cells(script: &Script, words: &[&str]) -> Vec<String> {
    let rules = script.0.iter().filter_map(|(key, rule)| Some((key.strip_prefix("where.")?, rule)));
    rules.filter(|(_, rule)| holds(rule, words)).map(|(cell, _)| cell.to_owned()).collect()
}

fn holds(rule: &str, words: &[&str]) -> bool {
    let of = |name: &str| -> Option<u64> {
        let word = words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))?;
        word.parse().ok()
    };
    let number = |text: &str| -> u64 { text.parse().expect("a number") };
    if let Some((name, of_what)) = rule.split_once('%') {
        let multiple = number(of_what.strip_suffix("!=0").expect("NAME%M!=0"));
        return of(name).is_some_and(|x| x % multiple != 0);
    }
    let (name, limit) = rule.split_once('>').expect("NAME>N");
    of(name).is_some_and(|x| x > number(limit))
}
