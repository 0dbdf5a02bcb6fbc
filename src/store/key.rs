//! Keys of builds and runs: SHA-256 over length-prefixed fields. Two builds or runs with equal
//! keys count as the same.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Digest of everything that a build's result depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct BuildKey(String);

/// Digest of everything that a run's result depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct RunKey(String);

impl BuildKey {
    /// The key as 64 hexadecimal digits.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl RunKey {
    /// The key as 64 hexadecimal digits.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BuildKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Hashes the fields of a key. Each field has a label and a length prefix, so two different lists
/// of fields never give the same bytes.
pub(crate) struct KeyHasher(Sha256);

impl KeyHasher {
    /// A hasher for keys of one kind (`build`, `run`, …).
    pub(crate) fn new(kind: &str) -> Self {
        let hasher = Self(Sha256::new());
        hasher.field("kind", kind)
    }

    /// Adds a field.
    #[must_use]
    pub(crate) fn field(mut self, label: &str, value: &str) -> Self {
        for part in [label, value] {
            self.0.update((part.len() as u64).to_le_bytes());
            self.0.update(part.as_bytes());
        }
        self
    }

    /// Adds a list and its length.
    #[must_use]
    pub(crate) fn list<T: AsRef<str>>(
        self,
        label: &str,
        values: impl IntoIterator<Item = T>,
    ) -> Self {
        let mut count = 0_u64;
        let mut hasher = self;
        for value in values {
            hasher = hasher.field(label, value.as_ref());
            count += 1;
        }
        hasher.field(label, &format!("{count} in all"))
    }

    /// The digest in hexadecimal.
    pub(crate) fn hex(self) -> String {
        hex(&self.0.finalize())
    }

    /// Finishes a build key.
    pub(crate) fn build_key(self) -> BuildKey {
        BuildKey(self.hex())
    }

    /// Finishes a run key.
    pub(crate) fn run_key(self) -> RunKey {
        RunKey(self.hex())
    }
}

/// Bytes as lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_do_not_run_into_each_other() {
        let a = KeyHasher::new("run").field("a", "bc").field("d", "").hex();
        let b = KeyHasher::new("run").field("a", "b").field("cd", "").hex();
        let c = KeyHasher::new("run").list("x", ["1"]).list("x", ["2"]).hex();
        let d = KeyHasher::new("run").list("x", ["1", "2"]).list("x", [""; 0]).hex();
        assert_ne!(a, b);
        assert_ne!(c, d);
        assert_eq!(a.len(), 64);
    }
}
