//! Takes secrets out of what leaves the machine.

use std::borrow::Cow;

use serde_json::Value;

use crate::config::secrets_of;
use crate::evaluation::is_secret;

/// What stands in the place of a secret.
const WITHHELD: &str = "[withheld]";

/// Minimum length of a secret value, in bytes. Shorter values occur in any text by chance.
const LEAST_BYTES: usize = 6;

/// Secret values. No file of a bundle may contain one of them.
pub(super) struct Secrets(Vec<String>);

impl Secrets {
    /// The values of variables whose name says that they are secret: the variables of a
    /// configuration and those of this process, because programs may have printed both.
    pub(super) fn of(config: &str) -> Self {
        let own = std::env::vars_os().filter_map(|(name, value)| {
            is_secret(&name.to_string_lossy()).then(|| value.to_string_lossy().into_owned())
        });
        let mut values: Vec<String> = secrets_of(config).into_iter().chain(own).collect();
        values.retain(|value| value.len() >= LEAST_BYTES);
        // The longest first: a value may contain another one.
        values.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        Self(values)
    }

    /// The bytes without any secret.
    pub(super) fn scrubbed<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let mut clean = Cow::Borrowed(bytes);
        for value in &self.0 {
            if let Some(without) = replaced(&clean, value.as_bytes()) {
                clean = Cow::Owned(without);
            }
        }
        clean
    }

    /// A log without any secret. In its header, a variable with a secret name loses its value.
    pub(super) fn scrubbed_log(&self, log: &[u8]) -> Vec<u8> {
        let mut clean = Vec::with_capacity(log.len());
        for line in log.split_inclusive(|byte| *byte == b'\n') {
            clean.extend_from_slice(&header_line(line).map_or(Cow::Borrowed(line), Cow::Owned));
        }
        self.scrubbed(&clean).into_owned()
    }
}

/// A line of a header without the value, if it sets a variable with a secret name.
fn header_line(line: &[u8]) -> Option<Vec<u8>> {
    let (name, _) = std::str::from_utf8(line).ok()?.strip_prefix("# env: ")?.split_once('=')?;
    is_secret(name).then(|| format!("# env: {name}={WITHHELD}\n").into_bytes())
}

/// A record without the values of variables with secret names.
pub(super) fn without_env(record: &mut Value) {
    let Some(env) = record.get_mut("env").and_then(Value::as_object_mut) else { return };
    for (_, value) in env.iter_mut().filter(|(name, _)| is_secret(name)) {
        *value = WITHHELD.into();
    }
}

/// The text with each occurrence replaced; `None` if there is none.
fn replaced(text: &[u8], value: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut from = 0;
    while let Some(at) = find(&text[from..], value) {
        out.extend_from_slice(&text[from..from + at]);
        out.extend_from_slice(WITHHELD.as_bytes());
        from += at + value.len();
    }
    if from == 0 {
        return None;
    }
    out.extend_from_slice(&text[from..]);
    Some(out)
}

fn find(text: &[u8], value: &[u8]) -> Option<usize> {
    let first = *value.first()?;
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.iter().position(|byte| *byte == first)?;
        if text[at..].starts_with(value) {
            return Some(at);
        }
        from = at + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_by_value_and_by_name() {
        let secrets = Secrets(vec!["hunter22".to_owned()]);
        assert_eq!(secrets.scrubbed(b"a hunter22 b hunter2"), &b"a [withheld] b hunter2"[..]);
        let log = b"# env: MY_TOKEN=x\n# env: CC=gcc\n1> hhunter22\n";
        let clean = secrets.scrubbed_log(log);
        assert_eq!(
            String::from_utf8(clean).unwrap(),
            "# env: MY_TOKEN=[withheld]\n# env: CC=gcc\n1> h[withheld]\n"
        );
        let mut record = serde_json::json!({"env": {"A_TOKEN": "x", "CC": "gcc"}});
        without_env(&mut record);
        assert_eq!(record, serde_json::json!({"env": {"A_TOKEN": "[withheld]", "CC": "gcc"}}));
    }
}
