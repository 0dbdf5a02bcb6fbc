//! The documents of `docs/`, embedded for `bisect-ppl help TOPIC`.

/// A document.
pub(super) struct Topic {
    /// Its file in `docs/`, without `.md`; the last part is its name.
    pub(super) path: &'static str,
    /// What it is about, in a few words.
    pub(super) about: &'static str,
    /// Its Markdown.
    pub(super) text: &'static str,
}

impl Topic {
    /// The word after `bisect-ppl help`.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(self.path)
    }
}

macro_rules! topic {
    ($path:literal, $about:literal) => {
        Topic {
            path: $path,
            about: $about,
            text: include_str!(concat!("../../docs/", $path, ".md")),
        }
    };
}

/// The documents, the most needed ones first.
pub(super) const TOPICS: &[Topic] = &[
    topic!("oracle-toml", "every key of oracle.toml"),
    topic!("exit-codes", "the exit codes of all commands"),
    topic!("glossary", "the terms of this program"),
    topic!("limits", "what it does not do, and what is not available yet"),
    topic!("checking-an-answer", "`verify`: an answer measured again, elsewhere"),
    topic!("cause", "the files and hunks that make the step"),
    topic!("statistics", "how it decides in noise"),
    topic!("reliability", "how often it is right, and how that was measured"),
    topic!("logits", "the figures of `diff logits`, and their formulas"),
    topic!("tensors", "the first different tensor: formats, tolerances, patterns"),
    topic!("notify", "telling people how a hunt ended: ntfy, Slack, mail"),
    topic!("overnight", "hunts without a terminal, below systemd, and after a reboot"),
    topic!("slurm", "hunts in the jobs of a Slurm cluster"),
    topic!("scale", "10,000 commits, large models, slow builds, many nodes"),
    topic!("security", "what is trusted, what is guaranteed, and the sandbox"),
    topic!("store-format", "the files that it keeps"),
    topic!("benchmarks", "what the driver itself costs, and the speed of `diff logits`"),
    topic!("engines/llama.cpp", "recipes for llama.cpp"),
    topic!("engines/kernels", "recipes for kernels with a test suite"),
    topic!("engines/any-output", "recipes for engines that print text, a loss or a speed"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// The Markdown files of a folder, without their ending.
    fn files(folder: &str) -> BTreeSet<String> {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
        let entries = std::fs::read_dir(docs.join(folder)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter_map(|name| Some(format!("{folder}{}", name.strip_suffix(".md")?))).collect()
    }

    #[test]
    fn every_document_for_users_is_a_topic() {
        let all: BTreeSet<String> = files("").into_iter().chain(files("engines/")).collect();
        let topics: BTreeSet<String> = TOPICS.iter().map(|topic| topic.path.to_owned()).collect();
        assert_eq!(topics, all);
        for topic in TOPICS {
            assert!(topic.text.starts_with("# "), "{}", topic.path);
        }
    }
}
