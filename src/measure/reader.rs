//! Parses one run's output, line by line, into a reading or a failure.

use regex::Regex;

use crate::config::{Measure, MeasureKind, Parser, Require, Required};
use crate::evaluation::{
    Checks, Ended, Evidence, Failure, FailureKind, FailureLogParser, LONGEST_LINE, Reading, Stream,
    Unreadable, failure_of, was_caused_by_program,
};

use super::bench::Bench;
use super::divergence::Divergence;
use super::eval_callback::EvalCallback;
use super::exit_code;
use super::json::Document;
use super::junit;
use super::lines::Lines;
use super::lm_eval;
use super::parity::Parity;
use super::pattern::Pattern;
use super::perplexity::Perplexity;
use super::text;
use super::whole::Whole;

/// The parser of one run's output. It gets each line before the log is shortened.
///
/// A live run and its stored log use the same reader. The lines for which [`Reader::line`] returned
/// true, in the same order and with any other lines in between, give the same reading again.
#[derive(Debug)]
pub(crate) struct Reader {
    measure: String,
    kind: MeasureKind,
    source: Source,
    parser: OutputParser,
    lines: Lines,
    watch: Watch,
    complaints: FailureLogParser,
    left_out: Checks,
}

/// Where values are looked for.
#[derive(Debug)]
enum Source {
    /// On stdout and stderr.
    Streams,
    /// In the file at this path below `{out}`, in place of stdout.
    File { path: String, is_there: bool },
}

/// The parsers, by their input.
#[derive(Debug)]
enum OutputParser {
    /// Each byte.
    Perplexity(Box<Perplexity>),
    /// Each line.
    Lines(LineParser),
    /// All of stdout, at the end.
    Whole(Whole, WholeParser),
    /// No output: the values are in a file that the store keeps.
    Dump,
    /// No output.
    ExitCode,
}

#[derive(Debug)]
enum LineParser {
    Pattern(Pattern),
    Divergence(Divergence),
    Parity(Box<Parity>),
    EvalCallback(Box<EvalCallback>),
    /// The tensors of the same text, which are compared as a set.
    Tensors(Box<EvalCallback>),
}

#[derive(Debug)]
enum WholeParser {
    Json(Document),
    Bench(Bench),
    Junit,
    LmEval,
    Text,
}

/// Patterns to look for in addition to the values.
#[derive(Debug)]
struct Watch {
    requires: Vec<(Regex, bool)>,
    transient: Vec<String>,
    hit: Option<usize>,
}

/// The parts of a measure that concern its output.
#[derive(Clone, Copy)]
struct Spec<'a> {
    name: &'a str,
    parser: &'a Parser,
    file: Option<&'a str>,
    kind: MeasureKind,
    transient: &'a [String],
}

impl Reader {
    /// A reader for one run of `measure`; requirements of other measures are ignored.
    pub(crate) fn new(measure: &Measure, requires: &[Require]) -> Self {
        let spec = Spec {
            name: &measure.name,
            parser: &measure.parser,
            file: measure.file.as_deref(),
            kind: measure.kind,
            transient: &measure.failures.transient,
        };
        Self { left_out: measure.left_out.clone(), ..Self::of(spec, requires) }
    }

    fn of(spec: Spec<'_>, requires: &[Require]) -> Self {
        let parser = match spec.parser {
            Parser::LlamaPerplexity => OutputParser::Perplexity(Box::new(Perplexity::new())),
            Parser::LlamaKld => {
                OutputParser::Lines(LineParser::Divergence(Divergence::new(spec.name)))
            }
            Parser::Parity => {
                OutputParser::Lines(LineParser::Parity(Box::new(Parity::new(spec.name))))
            }
            Parser::LlamaEvalCallback { pattern } => {
                let parser = EvalCallback::new(spec.name, pattern.as_ref());
                OutputParser::Lines(LineParser::EvalCallback(Box::new(parser)))
            }
            Parser::Junit => OutputParser::Whole(Whole::default(), WholeParser::Junit),
            Parser::Text { .. } => OutputParser::Whole(Whole::default(), WholeParser::Text),
            Parser::LmEval => OutputParser::Whole(Whole::default(), WholeParser::LmEval),
            Parser::Regex { pattern, pick } => {
                let parser = Pattern::new(spec.name, pattern, *pick, spec.kind);
                OutputParser::Lines(LineParser::Pattern(parser))
            }
            Parser::Json { pointers } => {
                let parser = Document::new(spec.name, pointers, spec.kind);
                OutputParser::Whole(Whole::default(), WholeParser::Json(parser))
            }
            Parser::LlamaBench { pick } => {
                let parser = Bench::new(spec.name, *pick);
                OutputParser::Whole(Whole::default(), WholeParser::Bench(parser))
            }
            Parser::Logits => OutputParser::Dump,
            Parser::Tensors if spec.file.is_some() => OutputParser::Dump,
            Parser::Tensors => {
                let parser = EvalCallback::new(spec.name, None);
                OutputParser::Lines(LineParser::Tensors(Box::new(parser)))
            }
            Parser::ExitCode => OutputParser::ExitCode,
        };
        let source = match spec.file.filter(|_| !spec.parser.keeps_dumps()) {
            Some(path) => Source::File { path: path.to_owned(), is_there: false },
            None => Source::Streams,
        };
        let patterns = requires.iter().filter(|require| require.measure == spec.name);
        let patterns = patterns.filter_map(|require| match &require.what {
            Required::Pattern(pattern) => Some((pattern.clone(), false)),
            // This needs a second run to compare with.
            Required::SameChecks => None,
        });
        Self {
            measure: spec.name.to_owned(),
            kind: spec.kind,
            source,
            parser,
            lines: Lines::default(),
            watch: Watch {
                requires: patterns.collect(),
                transient: spec.transient.to_vec(),
                hit: None,
            },
            complaints: FailureLogParser::default(),
            left_out: Checks::default(),
        }
    }

    /// Takes the next line, without its line break. [`LONGEST_LINE`] bytes are a piece of a line,
    /// which the next bytes of the same stream continue.
    ///
    /// Returns true if the line must stay in the log: it holds a value or a part of one, the
    /// first match of a required or transient pattern, or a possible reason of a failure.
    pub(crate) fn line(&mut self, stream: Stream, line: &[u8]) -> bool {
        self.piece(stream, line, line.len() < LONGEST_LINE)
    }

    fn piece(&mut self, stream: Stream, bytes: &[u8], whole: bool) -> bool {
        let Self { source, parser, lines, watch, complaints, .. } = self;
        let complains = complaints.feed(stream, bytes, whole);
        let keep = source.take(stream).is_some_and(|stream| parser.feed(stream, bytes, whole));
        let looks_at_lines = matches!(parser, OutputParser::Lines(_)) || !watch.is_idle();
        let keep_line = looks_at_lines
            && lines.feed(stream, bytes, whole, |text| {
                let keep = watch.line(text);
                keep | (source.is_read(stream) && parser.line(text))
            });
        complains || keep || keep_line
    }

    /// The first of `failures.transient` that any line so far contains.
    pub(crate) fn transient_hit(&self) -> Option<&str> {
        let unfinished = || self.lines.unfinished().find_map(|text| self.watch.transient_in(&text));
        let hit = self.watch.hit.or_else(unfinished)?;
        Some(&self.watch.transient[hit])
    }

    /// Adds the reason found in the output to the failure of a `[[prepare]]` step.
    pub(crate) fn explain(self, failure: Failure, ended: &Ended) -> Failure {
        explained(failure, None, self.complaints, ended)
    }

    /// The reading, after the run ended.
    ///
    /// # Errors
    /// A crash or a time-out; with exit code 0: NaN, an incomplete or unreadable output, or an
    /// unmet requirement.
    pub(crate) fn finish(mut self, ended: &Ended) -> Result<Reading, Failure> {
        let Self { source, parser, lines, watch, .. } = &mut self;
        lines
            .flush(|stream, text| watch.line(text) | (source.is_read(stream) && parser.line(text)));
        let missing = self.watch.missing();
        let complaints = std::mem::take(&mut self.complaints);
        let progress = self.parser.progress();
        let (is_code, is_suite) =
            (matches!(self.parser, OutputParser::ExitCode), self.parser.is_suite());
        let said = match self.source.missing() {
            Some(failure) => Err(failure),
            None => self.parser.finish(&self.measure, self.kind, ended),
        };
        let is_failed_suite = is_suite && said.as_ref().is_ok_and(has_failures);
        let said = said.map(|reading| reading.without_checks(&self.left_out));
        let failed = match ended {
            Ended::Exited(_) if is_code => None,
            // A suite with a failed test exits with an error, but its output is complete.
            Ended::Exited(_) if is_failed_suite => None,
            _ => failure_of(ended).map(|failure| explained(failure, progress, complaints, ended)),
        };
        let kind = said.as_ref().err().map(|failure| failure.kind);
        match (failed, missing, kind) {
            // After NaN an engine may exit with 0, with an error, or with a failed assertion, by
            // version. The defect is the same, so the failure must be the same, or half of the
            // bad commits would be untestable. A run that was ended from outside (time-out,
            // KILL) is judged by how it ended.
            (Some(_), None, Some(FailureKind::Nan)) if was_caused_by_program(ended) => said,
            // The missing requirement may be in the cut-off part; an incomplete run is repeated.
            (None, _, Some(FailureKind::Incomplete)) | (None, None, _) => said,
            // A run with an unmet requirement does not count, whatever its values.
            (Some(failure), ..) | (None, Some(failure), _) => Err(failure),
        }
    }
}

/// Adds a failed run's progress, and the reason found in its output, to the failure.
fn explained(
    mut failure: Failure,
    progress: Option<(bool, String)>,
    complaints: FailureLogParser,
    ended: &Ended,
) -> Failure {
    if let Some((in_chunks, progress)) = progress {
        failure.evidence.get_or_insert_default().in_chunks = Some(in_chunks);
        if in_chunks {
            failure.detail = format!("{} after {progress}", failure.detail);
        }
    }
    let heard = complaints.finish(failure.kind, ended);
    failure.heard(heard)
}

/// Whether a test of a suite failed.
fn has_failures(reading: &Reading) -> bool {
    reading.failed_checks().is_some_and(|count| count > 0.0)
}

impl Source {
    /// The stream that the parser sees for a line of `stream`; `None` if the parser does not read
    /// `stream`.
    fn take(&mut self, stream: Stream) -> Option<Stream> {
        if let (Self::File { is_there, .. }, Stream::File) = (&mut *self, stream) {
            *is_there = true;
            return Some(Stream::Out);
        }
        self.is_read(stream).then_some(stream)
    }

    fn is_read(&self, stream: Stream) -> bool {
        matches!(self, Self::File { .. }) == (stream == Stream::File)
    }

    /// The failure if the file is missing.
    fn missing(&self) -> Option<Failure> {
        let Self::File { path, is_there: false } = self else { return None };
        let detail = format!(
            "there is nothing to read at {{out}}/{path}: it was not written, is empty or larger \
             than 64 MiB, or several files match"
        );
        Some(Failure::unreadable(Unreadable::NoFile, detail))
    }
}

impl OutputParser {
    /// Whether the parser counts tests.
    fn is_suite(&self) -> bool {
        matches!(self, Self::Lines(LineParser::Parity(_)) | Self::Whole(_, WholeParser::Junit))
    }

    fn feed(&mut self, stream: Stream, bytes: &[u8], whole: bool) -> bool {
        match self {
            Self::Perplexity(parser) => parser.feed(stream, bytes, whole),
            Self::Whole(stdout, _) => stdout.feed(stream, bytes, whole),
            Self::Lines(_) | Self::Dump | Self::ExitCode => false,
        }
    }

    fn line(&mut self, text: &str) -> bool {
        match self {
            Self::Lines(LineParser::Pattern(parser)) => parser.line(text),
            Self::Lines(LineParser::Divergence(parser)) => parser.line(text),
            Self::Lines(LineParser::Parity(parser)) => parser.line(text),
            Self::Lines(LineParser::EvalCallback(parser) | LineParser::Tensors(parser)) => {
                parser.line(text)
            }
            _ => false,
        }
    }

    /// Whether a chunk of the text was read, and the progress for people.
    fn progress(&self) -> Option<(bool, String)> {
        match self {
            Self::Perplexity(parser) => Some(parser.progress()),
            _ => None,
        }
    }

    fn finish(self, measure: &str, kind: MeasureKind, ended: &Ended) -> Result<Reading, Failure> {
        match self {
            Self::Perplexity(parser) => parser.finish(measure),
            Self::Lines(LineParser::Pattern(parser)) => parser.finish(),
            Self::Lines(LineParser::Divergence(parser)) => parser.finish(),
            Self::Lines(LineParser::Parity(parser)) => parser.finish(),
            Self::Lines(LineParser::EvalCallback(parser)) => parser.finish(),
            Self::Lines(LineParser::Tensors(parser)) => parser.finish_set(),
            Self::Whole(stdout, parser) => {
                let text = stdout.text()?;
                match parser {
                    WholeParser::Json(parser) => parser.finish(&text),
                    WholeParser::Bench(parser) => parser.finish(&text),
                    WholeParser::Junit => junit::read(measure, &text),
                    WholeParser::Text => Ok(text::read(measure, &text)),
                    WholeParser::LmEval => lm_eval::read(measure, &text),
                }
            }
            Self::Dump => Ok(Reading::default()),
            Self::ExitCode => exit_code::read(measure, kind, ended),
        }
    }
}

impl Watch {
    /// Whether there is nothing left to look for.
    fn is_idle(&self) -> bool {
        self.requires.iter().all(|(_, seen)| *seen)
            && (self.hit.is_some() || self.transient.is_empty())
    }

    fn line(&mut self, text: &str) -> bool {
        let mut keep = false;
        for (pattern, seen) in &mut self.requires {
            if !*seen && pattern.is_match(text) {
                *seen = true;
                keep = true;
            }
        }
        if self.hit.is_none() {
            self.hit = self.transient_in(text);
            keep |= self.hit.is_some();
        }
        keep
    }

    fn transient_in(&self, text: &str) -> Option<usize> {
        self.transient.iter().position(|transient| text.contains(transient.as_str()))
    }

    fn missing(&self) -> Option<Failure> {
        let (pattern, _) = self.requires.iter().find(|(_, seen)| !seen)?;
        Some(Failure::new(
            FailureKind::Require,
            Evidence { required: Some(pattern.to_string()), ..Evidence::default() },
            format!("no line of the output matches `{pattern}`, which is required"),
        ))
    }
}

#[cfg(test)]
mod tests;
