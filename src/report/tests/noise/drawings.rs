//! The drawings of what a search in noise believed.

use crate::evaluation::{Basis, GuardForm, Lineage};
use crate::report::model::PosteriorLine;
use crate::report::tests::fixture::id;
use crate::report::{Logs, html};
use crate::store::journal::SearchMethod;

use super::{NOISE, begun, confirmed, first, posterior, target, weighed};

/// A drawing of the search by number, for a wide screen.
fn drawing(page: &str, number: usize) -> &str {
    let section = page.split("<h2>How the search weighed the commits</h2>").nth(1).unwrap();
    let drawing = section.split("<svg class=\"wide\"").nth(number).unwrap();
    drawing.split("<svg class=\"narrow\"").next().unwrap()
}

#[test]
fn a_drawing_has_a_bar_a_line_and_what_was_measured() {
    let report = posterior().report();
    let page = html(&report, &Logs::beside(&report));
    let drawing = drawing(&page, 1);
    for said in ["first bad commit\n", "100 %\n", "runs\n", "9\n", "from good to bad"] {
        assert!(drawing.contains(said), "no {said} in {drawing}");
    }
    let alternative = "dddddddddd, the confirmed first bad commit: 96.8 %; cccccccccc: 2.1 %";
    assert!(drawing.contains(alternative), "{drawing}");
    // Good, c and d, and the bad end: circles and triangles under the axis.
    assert_eq!(drawing.matches("<circle").count(), 2, "{drawing}");
    assert_eq!(drawing.matches("<polygon").count(), 2, "{drawing}");
    // The range did not narrow: each commit stayed in question to the end.
    assert!(!page.contains("How the range narrowed"), "{page}");
    assert!(page.contains("good 7.21, bad 7.53, run-to-run noise 0.11; a dash is a median"));
    assert!(!page.contains("; threshold "), "{page}");
}

#[test]
fn bars_of_a_long_range_can_be_seen_and_are_shown_from_close_by() {
    let target = target(GuardForm::MaxIncrease(0.05), NOISE);
    let mut hunt = begun(&target, SearchMethod::Posterior);
    let name = |n: usize| format!("{n:040x}").parse::<crate::evaluation::CommitId>().unwrap();
    let last = 1000;
    let named = |n: usize| match n {
        0 => id('b'),
        611 => id('d'),
        n if n == last => id('e'),
        n => name(n),
    };
    let history: Vec<_> =
        (1..=last).map(|n| Lineage { commit: named(n), parents: vec![named(n - 1)] }).collect();
    hunt.dir.keep_history(&history).unwrap();
    weighed(&mut hunt, NOISE, &[('d', 0.97, 0.97, 4), ('e', 0.0, 1.0, 6)], "d");
    confirmed(&mut hunt, first(Basis::Posterior));
    let report = hunt.report();
    let page = html(&report, &Logs::beside(&report));
    let whole = drawing(&page, 1);
    let bars: Vec<i32> = whole
        .split("<rect")
        .skip(1)
        .filter(|rect| rect.contains("#BC3B0A"))
        .map(|rect| {
            rect.split("width=\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        })
        .collect();
    assert_eq!(bars, [2], "{whole}");
    assert!(whole.contains("dddddddddd\n") && whole.contains("eeeeeeeeee\n"), "{whole}");
    assert!(whole.matches("<text").count() < 30, "labels are thinned: {whole}");
    assert!(whole.len() < 12_000, "{} bytes", whole.len());
    let closer = drawing(&page, 2);
    assert!(page.contains("the part in question, closer"));
    assert!(closer.contains("dddddddddd\n") && !closer.contains("eeeeeeeeee\n"), "{closer}");
}

#[test]
fn merges_are_as_bad_as_all_that_they_contain() {
    let target = target(GuardForm::MaxIncrease(0.05), NOISE);
    let mut hunt = begun(&target, SearchMethod::Posterior);
    // b - c - f - e, and b - d - f. The journal leaves f and e out as certain: f contains c and d.
    let lineage = |commit, parents: &str| Lineage {
        commit: id(commit),
        parents: parents.chars().map(id).collect(),
    };
    let history = [lineage('c', "b"), lineage('d', "b"), lineage('f', "cd"), lineage('e', "f")];
    hunt.dir.keep_history(&history).unwrap();
    weighed(&mut hunt, NOISE, &[('c', 0.5, 0.5, 4), ('d', 0.5, 0.5, 4)], "cd");
    let report = hunt.report();
    let range = crate::report::range::Range::of(&report);
    let weighing = crate::report::plot::PosteriorPlot::of(&report, &range, &report.posterior[0]);
    assert_eq!(weighing.bad(), [0.0, 0.5, 0.5, 1.0, 1.0]);
    // Of a search that the report does not have, and without commits.
    let none =
        PosteriorLine { search_number: 9, commits: Vec::new(), ..report.posterior[0].clone() };
    let empty = crate::report::plot::PosteriorPlot::of(&report, &range, &none);
    assert_eq!(empty.bad(), [0.0; 0]);
    assert!(empty.draw(600).svg.contains("commits in order of history"));
}
