//! The parsers that a measure can name, one row each. The reader, the schema for editors and the
//! messages are made from this table. Tests compare the reference with it.

use super::parser::Parser;

/// Which parser a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParserName {
    LlamaPerplexity,
    LlamaBench,
    LlamaKld,
    LlamaEvalCallback,
    Logits,
    Text,
    Tensors,
    LmEval,
    Parity,
    Junit,
    Regex,
    Json,
    ExitCode,
}

/// Whether a measure with this parser may have the key `file`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileUse {
    /// The file is read instead of the output.
    Allowed,
    /// The parser reads only files.
    Needed,
    /// The parser reads no text.
    Refused,
}

/// A parser as a configuration knows it.
#[derive(Debug)]
pub(crate) struct ParserRow {
    pub(crate) parser: ParserName,
    /// The word in the file.
    pub(crate) name: &'static str,
    /// What it reads and which metrics it yields, for editors.
    pub(crate) about: &'static str,
    /// Those of [`PARSER_KEYS`](super::PARSER_KEYS) that it has.
    pub(crate) keys: &'static [&'static str],
    /// The keys of which exactly one must be there; none if all keys are optional.
    pub(crate) needs_one_of: &'static [&'static str],
    pub(crate) file: FileUse,
    /// Whether its values may be facts, which are texts.
    pub(crate) yields_facts: bool,
    /// Whether the output tells which checks or tests ran, or which tensors were computed.
    pub(crate) tells_checks: bool,
}

/// A parser without keys of its own. Each row changes some of these fields.
const PLAIN: ParserRow = ParserRow {
    parser: ParserName::LlamaPerplexity,
    name: "",
    about: "",
    keys: &[],
    needs_one_of: &[],
    file: FileUse::Allowed,
    yields_facts: false,
    tells_checks: false,
};

/// All parsers, in the order of the reference.
pub(crate) const PARSERS: &[ParserRow] = &[
    ParserRow {
        parser: ParserName::LlamaPerplexity,
        name: "llama-perplexity",
        about: "llama-perplexity's output, of any year: its final estimate, and the value after \
                each chunk.",
        ..PLAIN
    },
    ParserRow {
        parser: ParserName::LlamaBench,
        name: "llama-bench",
        about: "llama-bench's JSON (-o json or -o jsonl), of any year: MEASURE.pp512, \
                MEASURE.tg128, MEASURE.pp512_tg128, MEASURE.pp512_d4096.",
        keys: &["pick"],
        tells_checks: true,
        ..PLAIN
    },
    ParserRow {
        parser: ParserName::LlamaKld,
        name: "llama-kld",
        about: "What llama-perplexity prints with --kl-divergence, of any year: \
                MEASURE.mean_kld, MEASURE.kld_99, MEASURE.same_top_p and so on.",
        ..PLAIN
    },
    ParserRow {
        parser: ParserName::LlamaEvalCallback,
        name: "llama-eval-callback",
        about: "llama-eval-callback's tensors: MEASURE.result_output, the sum of a tensor's \
                values, and MEASURE.result_output-shown, the sum of the values that are printed.",
        keys: &["pattern"],
        tells_checks: true,
        ..PLAIN
    },
    ParserRow {
        parser: ParserName::Logits,
        name: "logits",
        about: "A file with logits (.npy, .safetensors, llama.cpp's KL-divergence base file), \
                compared with that of the good endpoint: MEASURE.max_abs, MEASURE.min_cosine, \
                MEASURE.mean_kl and so on.",
        file: FileUse::Needed,
        ..PLAIN
    },
    ParserRow {
        parser: ParserName::Text,
        name: "text",
        about: "Generated text on stdout: MEASURE.words, distinct_1, distinct_2, repeated_4.",
        keys: &["category"],
        ..PLAIN
    },
    ParserRow {
        parser: ParserName::Tensors,
        name: "tensors",
        about: "The tensors of a run: a folder of .npy files, .safetensors files, or without \
                `file` what llama-eval-callback prints. They are compared after a first bad \
                commit was found.",
        ..PLAIN
    },
    ParserRow {
        parser: ParserName::LmEval,
        name: "lm-eval",
        about: "The results of lm-evaluation-harness: MEASURE.TASK-acc.",
        tells_checks: true,
        ..PLAIN
    },
    ParserRow {
        parser: ParserName::Parity,
        name: "parity",
        about: "The output of kernels' test programs: MEASURE.failed, MEASURE.passed, \
                MEASURE.skipped, MEASURE.max_diff, MEASURE.loss, and the distance of each check, \
                MEASURE.CHECK.",
        tells_checks: true,
        ..PLAIN
    },
    ParserRow {
        parser: ParserName::Junit,
        name: "junit",
        about: "A test report in JUnit's XML: MEASURE.tests, passed, failures, errors, skipped.",
        tells_checks: true,
        ..PLAIN
    },
    ParserRow {
        parser: ParserName::Regex,
        name: "regex",
        about: "A pattern with named groups, or one unnamed group.",
        keys: &["pattern", "pick"],
        needs_one_of: &["pattern"],
        yields_facts: true,
        ..PLAIN
    },
    ParserRow {
        parser: ParserName::Json,
        name: "json",
        about: "A JSON document on stdout.",
        keys: &["pointer", "pointers"],
        needs_one_of: &["pointer", "pointers"],
        yields_facts: true,
        ..PLAIN
    },
    ParserRow {
        parser: ParserName::ExitCode,
        name: "exit-code",
        about: "The exit code is the value.",
        file: FileUse::Refused,
        ..PLAIN
    },
];

impl ParserRow {
    /// The names of the parsers for which this is true.
    pub(crate) fn names_where(is: impl Fn(&Self) -> bool) -> Vec<&'static str> {
        PARSERS.iter().filter(|row| is(row)).map(|row| row.name).collect()
    }
}

/// The names of the parsers that tell which checks ran ([`Parser::tells_checks`]).
pub(crate) fn checking_parsers() -> Vec<&'static str> {
    ParserRow::names_where(|row| row.tells_checks)
}

impl Parser {
    /// What a configuration can say about this parser.
    pub(crate) fn row(&self) -> &'static ParserRow {
        let name = match self {
            Self::LlamaPerplexity => ParserName::LlamaPerplexity,
            Self::LlamaBench { .. } => ParserName::LlamaBench,
            Self::LlamaKld => ParserName::LlamaKld,
            Self::LlamaEvalCallback { .. } => ParserName::LlamaEvalCallback,
            Self::Logits => ParserName::Logits,
            Self::Text { .. } => ParserName::Text,
            Self::Tensors => ParserName::Tensors,
            Self::LmEval => ParserName::LmEval,
            Self::Parity => ParserName::Parity,
            Self::Junit => ParserName::Junit,
            Self::Regex { .. } => ParserName::Regex,
            Self::Json { .. } => ParserName::Json,
            Self::ExitCode => ParserName::ExitCode,
        };
        PARSERS.iter().find(|row| row.parser == name).expect("each parser has a row")
    }

    /// Whether the output tells which checks or tests ran, or which tensors were computed.
    pub(crate) fn tells_checks(&self) -> bool {
        self.row().tells_checks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PARSER_KEYS;

    #[test]
    fn rows_have_the_keys_of_parsers() {
        for row in PARSERS {
            assert!(row.keys.iter().all(|key| PARSER_KEYS.contains(key)), "{}", row.name);
            assert!(row.needs_one_of.iter().all(|key| row.keys.contains(key)), "{}", row.name);
            assert!(!row.about.is_empty(), "{}", row.name);
        }
        let is_owned = |key: &&str| PARSERS.iter().any(|row| row.keys.contains(key));
        assert!(PARSER_KEYS.iter().all(is_owned));
    }

    #[test]
    fn each_parser_has_one_row_of_its_own() {
        for (place, row) in PARSERS.iter().enumerate() {
            assert_eq!(row.parser as usize, place, "{}", row.name);
        }
    }
}
