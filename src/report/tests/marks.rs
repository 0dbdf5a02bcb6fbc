//! Tests of the plots' marks and legends.

use crate::evaluation::{Finding, Outcome};

use super::fixture::{Hunt, Search};
use super::html::{line, page};
use super::with_culprit;

#[test]
fn every_mark_says_what_it_is() {
    let mut hunt = with_culprit();
    line(&hunt, "cfde");
    hunt.search(Search::default());
    let page = page(&hunt);
    let drawings: Vec<&str> = page.split("<svg class=\"wide\"").skip(1).collect();
    for mark in ["<circle", "<polygon"] {
        for drawing in &drawings {
            let tipped = drawing.matches(&format!("</title>{mark}")).count();
            assert_eq!(tipped, drawing.matches(mark).count(), "{drawing}");
        }
    }
    for said in [
        "<title>dddddddddd kv: pad the cache\nppl 7.52 (confirm)\nbad</title><polygon",
        "<title>bbbbbbbbbb engine: release\nppl 7.21 (endpoint)\ngood</title><circle",
        "<title>ffffffffff\ndoes not build (exit code 2) (search)\nskip</title><path",
        "<title>dddddddddd kv: pad the cache\nThe first bad commit: dddddddddd.</title>",
        "\ncccccccccc\n</text>",
        "\ngood bbbbbbbbbb\n</text>",
    ] {
        assert!(page.contains(said), "no {said} in {page}");
    }
}

#[test]
fn a_legend_names_only_what_occurs() {
    let mut hunt = Hunt::at_search();
    hunt.end(Finding::plain(Outcome::NoRegression, "Keeps all."));
    let page = page(&hunt);
    let legend = page.split("<p class=\"legend\">").nth(1).unwrap().split("</p>").next().unwrap();
    for said in ["</span> good</span>", "</span> bad</span>", "One mark per run."] {
        assert!(legend.contains(said), "no {said} in {legend}");
    }
    for absent in ["skipped", "not judged", "above the axis"] {
        assert!(!legend.contains(absent), "{absent} in {legend}");
    }
}
