//! The facts about a first bad commit, each with its label. Each format selects facts by part.

use super::certainty::confidence;
use super::model::{FirstBad, Report};
use super::{differences, inquiry, inside, merge, steps, time_out, words};

/// A fact as a sentence.
pub(super) struct Fact {
    pub(super) part: Part,
    /// `None` if `words` is a full sentence.
    pub(super) label: Option<&'static str>,
    pub(super) words: String,
    /// A web page about the fact.
    pub(super) link: Option<String>,
}

/// The subject of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The name of the commit or of its parent.
    Name,
    /// Who made the commit and when, and the engine into which it is built.
    Origin,
    /// The step of a target.
    Step,
    /// The main evidence.
    Evidence,
    /// Further details.
    Detail,
}

/// The facts about a first bad commit.
pub(super) fn first_bad(report: &Report, first: &FirstBad) -> Vec<Fact> {
    let fact = |part, label, words| Fact { part, label: Some(label), words, link: None };
    let evidence = |label, words| fact(Part::Evidence, label, words);
    let detail = |label, words| fact(Part::Detail, label, words);
    let page = |commit| report.forge.as_ref().map(|forge| forge.commit(commit));
    let name = |label, words, commit| Fact { link: page(commit), ..fact(Part::Name, label, words) };
    let mut facts = vec![
        name("Commit", first.commit.to_string(), &first.commit),
        fact(Part::Origin, "Author", first.author.clone()),
        // The space allows a line break there on a narrow screen.
        fact(Part::Origin, "Date", first.date.replacen('T', " ", 1)),
        name("Parent", parent(report, first), &first.parent),
    ];
    facts.extend(first.request.as_ref().map(|request| Fact {
        link: Some(request.url.clone()),
        ..fact(Part::Origin, words::request_label(report), request.name.clone())
    }));
    let around = inside::around(report);
    facts.extend(around.map(|words| fact(Part::Origin, words::AROUND, words)));
    let steps = first.effects.iter().map(|effect| steps::step(report, effect));
    facts.extend(steps.map(|words| fact(Part::Step, "Own step", words)));
    let over_text = first.effects.iter().filter_map(|effect| steps::over_text(report, effect));
    facts.extend(over_text.map(|words| detail(steps::OVER_TEXT, words)));
    let failure = first.failure.as_ref().map(words::failure_text);
    facts.extend(failure.map(|words| evidence(words::fails(report, first), words)));
    facts.extend(time_out::in_words(report, first).map(|words| evidence("Time", words)));
    facts.extend(words::landed_again(first).map(|words| evidence("Undone", words)));
    facts.extend(words::hidden(first).map(|words| evidence("Hidden", words)));
    facts.extend(merge::in_words(report, first).map(|words| evidence("Merge", words)));
    facts.extend(words::dependencies(first).into_iter().map(|words| evidence("Dependency", words)));
    facts.extend(inside::words(first).into_iter().map(|words| evidence("Inside", words)));
    facts.extend(
        inquiry::facts(report, first).into_iter().map(|(label, words)| evidence(label, words)),
    );
    // A table has all differences.
    let differ = differences::lines(first, 1);
    facts.extend(differ.into_iter().map(|(label, words)| evidence(label, words)));
    facts.extend(words::ran(first).map(|words| detail("What ran", words)));
    facts.push(evidence("Confidence", confidence(report, first)));
    let before = words::confirmed_before(first);
    facts.extend(before.map(|words| Fact { label: None, ..fact(Part::Detail, "", words) }));
    facts
}

/// The parent with which a first bad commit is compared.
fn parent(report: &Report, first: &FirstBad) -> String {
    format!("{}{}", first.parent, words::which_parent(report, first))
}
