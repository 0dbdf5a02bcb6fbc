//! What the files of a commit say of its engine: `key = value` lines.

use std::collections::BTreeMap;

use crate::world::count;

pub(crate) struct Script(pub(crate) BTreeMap<String, String>);

impl Script {
    /// Reads `key = value` lines; a later line overrides an earlier one.
    pub(crate) fn read(text: &str) -> Self {
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        Self(pairs.map(|(k, v)| (k.trim().to_owned(), v.trim().to_owned())).collect())
    }

    pub(crate) fn enter(&mut self, cell: &str) {
        let own: Vec<_> = self
            .0
            .iter()
            .filter_map(|(key, value)| Some((key.strip_suffix(cell)?.strip_suffix('@')?, value)))
            .map(|(key, value)| (key.to_owned(), value.clone()))
            .collect();
        self.0.extend(own);
    }

    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// The sum of all `KEY+NAME`.
    pub(crate) fn added(&self, key: &str) -> f64 {
        let is_part = |name: &str| name.strip_prefix(key).is_some_and(|rest| rest.starts_with('+'));
        let parts = self.0.iter().filter(|(name, _)| is_part(name));
        parts.map(|(_, value)| value.parse::<f64>().expect("a number")).sum()
    }

    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.get(key).map(|value| value.parse().expect("a number"))
    }

    pub(crate) fn id(&self) -> &str {
        self.get("id").unwrap_or("?")
    }

    /// The key's next word, in turn.
    pub(crate) fn turn(&self, key: &str) -> Option<String> {
        let words: Vec<&str> = self.get(key)?.split_whitespace().collect();
        let turn = if words.len() > 1 { count(&format!("{}-{key}", self.id())) } else { 0 };
        Some(words[turn % words.len()].to_owned())
    }
}
