//! How a measure's output is read.

use std::collections::BTreeMap;

/// `measure.parser` with its own keys.
#[derive(Clone, Debug)]
pub(crate) enum Parser {
    /// llama-perplexity's output, of any year.
    LlamaPerplexity,
    /// What llama-perplexity prints with `--kl-divergence`, of any year.
    LlamaKld,
    /// llama-eval-callback's tensors, of any year since 2024-05-10.
    LlamaEvalCallback {
        /// Only tensors whose names match; `None`: all tensors.
        pattern: Option<regex::Regex>,
    },
    /// A file with the logits of the run, compared with those of the good end.
    Logits,
    /// Generated text on stdout.
    Text {
        /// The kind of prompt, for the report.
        category: Option<String>,
    },
    /// The tensors that the run computes, in files or as llama-eval-callback prints them. They are
    /// no metrics: they are compared after a first bad commit was found.
    Tensors,
    /// The results of lm-evaluation-harness.
    LmEval,
    /// The output of kernel test programs: checks that pass or fail, distances, losses.
    Parity,
    /// A test report in JUnit's XML.
    Junit,
    /// A pattern with named groups, or with one unnamed group. Without a group the whole match is
    /// the value.
    Regex {
        /// Matched line by line on both streams.
        pattern: regex::Regex,
        /// Which match counts.
        pick: Pick,
    },
    /// A JSON document on stdout; pointers as in RFC 6901.
    Json {
        /// Metric name (`None`: the measure's own) → pointer.
        pointers: BTreeMap<Option<String>, String>,
    },
    /// llama-bench's JSON, of any year.
    LlamaBench {
        /// How the repetitions of one test become one value.
        pick: Pick,
    },
    /// The exit code is the value. A run that exits by itself fails only with code 125 or an
    /// unmet requirement.
    ExitCode,
}

/// `measure.pick`: which value counts if there are several, such as several matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    /// The first match.
    First,
    /// The last match (the default).
    Last,
    /// The smallest number.
    Min,
    /// The largest number.
    Max,
    /// The sum of all.
    Sum,
    /// The median of all numbers.
    Median,
    /// The mean of all numbers.
    Mean,
}

/// The words for [`Pick`], as the reader and the schema know them.
pub(crate) const PICKS: &[(&str, Pick)] = &[
    ("first", Pick::First),
    ("last", Pick::Last),
    ("min", Pick::Min),
    ("max", Pick::Max),
    ("sum", Pick::Sum),
    ("median", Pick::Median),
    ("mean", Pick::Mean),
];

/// Keys of a measure that only some parsers have. If an override sets another parser, these keys
/// are removed.
pub(crate) const PARSER_KEYS: [&str; 5] = ["pattern", "pick", "pointer", "pointers", "category"];

/// The metrics of a JUnit report.
const JUNIT_NAMES: [&str; 5] = ["tests", "passed", "failures", "errors", "skipped"];

/// The metrics of a generated text.
const TEXT_NAMES: [&str; 4] = ["words", "distinct_1", "distinct_2", "repeated_4"];

/// The metrics of two files with logits (docs/logits.md). `identical` is 1 if all bits are equal,
/// else 0.
pub(crate) const LOGITS_NAMES: [&str; 12] = [
    "identical",
    "max_abs",
    "mean_abs",
    "rms",
    "min_cosine",
    "mean_cosine",
    "mean_kl",
    "p99_kl",
    "max_kl",
    "top1_agreement",
    "positions",
    "vocab",
];

/// The metrics that `llama-perplexity --kl-divergence` may print. Each version prints some of
/// them.
pub(crate) const KLD_NAMES: [&str; 34] = [
    "ppl",
    "ppl_base",
    "ppl_correlation",
    "mean_ln_ppl_ratio",
    "mean_ppl_ratio",
    "mean_ppl_diff",
    "mean_kld",
    "max_kld",
    "kld_99_9",
    "kld_99",
    "kld_95",
    "kld_90",
    "median_kld",
    "kld_10",
    "kld_5",
    "kld_1",
    "kld_0_1",
    "min_kld",
    "mean_dp",
    "max_dp",
    "dp_99_9",
    "dp_99",
    "dp_95",
    "dp_90",
    "dp_75",
    "median_dp",
    "dp_25",
    "dp_10",
    "dp_5",
    "dp_1",
    "dp_0_1",
    "min_dp",
    "rms_dp",
    "same_top_p",
];

impl Parser {
    /// The names of the values that this parser yields; empty for [`Parser::Tensors`]. An inner
    /// `None` is the unnamed value, whose metric has the name of the measure. `wall_s` and
    /// `peak_rss_mib`, which every run has, are not among them.
    ///
    /// `None` if the names are known only after a run; then every value has a name.
    pub(crate) fn names(&self) -> Option<Vec<Option<String>>> {
        Some(match self {
            Self::LlamaPerplexity | Self::ExitCode => vec![None],
            Self::Regex { pattern, .. } => {
                let named: Vec<_> =
                    pattern.capture_names().flatten().map(|name| Some(name.to_owned())).collect();
                if named.is_empty() { vec![None] } else { named }
            }
            Self::Tensors => Vec::new(),
            Self::Logits => LOGITS_NAMES.map(|name| Some(name.to_owned())).to_vec(),
            Self::Text { .. } => TEXT_NAMES.map(|name| Some(name.to_owned())).to_vec(),
            Self::LlamaKld => KLD_NAMES.map(|name| Some(name.to_owned())).to_vec(),
            Self::Json { pointers } => pointers.keys().cloned().collect(),
            Self::Junit => JUNIT_NAMES.map(|name| Some(name.to_owned())).to_vec(),
            Self::LlamaBench { .. }
            | Self::LlamaEvalCallback { .. }
            | Self::LmEval
            | Self::Parity => return None,
        })
    }

    /// Whether this parser may yield a value of this name.
    pub(crate) fn may_yield(&self, name: Option<&str>) -> bool {
        match self.names() {
            Some(names) => names.iter().any(|known| known.as_deref() == name),
            None => name.is_some(),
        }
    }

    /// Whether the values say whether checks failed: a count of failed ones, or an exit code.
    pub(crate) fn counts_checks(&self) -> bool {
        matches!(self, Self::Parity | Self::Junit | Self::ExitCode)
    }

    /// Whether the store keeps the files that runs wrote, to compare later runs with them.
    pub(crate) fn keeps_dumps(&self) -> bool {
        matches!(self, Self::Logits | Self::Tensors)
    }

    /// Whether a run says nothing by itself: its values are differences from a run of the good end.
    pub(crate) fn is_compared(&self) -> bool {
        matches!(self, Self::Logits)
    }

    /// Whether all values are speeds.
    pub(crate) fn yields_speeds(&self) -> bool {
        matches!(self, Self::LlamaBench { .. })
    }
}
