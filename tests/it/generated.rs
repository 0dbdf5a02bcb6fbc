//! What the engine says about itself and what it generates, at the first bad commit and its parent.

use crate::kit::{History, Hunt, Oracle, Plan, TestEnvironment, line};

/// Six commits; from commit 3 on perplexity is worse, and what `change` adds.
fn hunt(change: impl FnOnce(Plan) -> Plan) -> (TestEnvironment, History, Hunt) {
    let env = TestEnvironment::localizing();
    let history = change(line("7.0 7.0 7.0 7.5 7.5 7.5")).build(&env);
    let fact = "parser = \"regex\"\npattern = 'block=\\((.*)\\)'\nkind = \"fact\"";
    Oracle::new(&env)
        .measure("launch", "launch", fact)
        .measure("story", "story", "parser = \"text\"\ncategory = \"prose\"")
        .write(&env);
    let hunt = env.hunt().names(&history, 3);
    (env, history, hunt)
}

fn set(plan: Plan, labels: std::ops::Range<usize>, setting: &str) -> Plan {
    labels.fold(plan, |plan, label| plan.with(label, setting))
}

const STORY: &str = "story = Once upon a <b>time</b> ``` there was a small engine";

#[test]
fn a_changed_fact_and_a_loop_are_shown_side_by_side() {
    let (env, _, hunt) = hunt(|plan| {
        let plan = set(set(plan, 0..3, "launch = 384,1,1"), 3..6, "launch = 128,1,1");
        set(set(plan, 0..3, STORY), 3..6, "story = and so on *20")
    });
    let said = &hunt.output.stdout;
    assert!(said.contains("Fact: launch: 384,1,1 → 128,1,1"), "{said}");
    let text = "Text: the generated text differs; story (prose) repeats itself: 95 % of its sequences of \
                four words, 0 % before";
    assert!(said.contains(text), "{said}");
    let pair = &hunt.report["texts"][0];
    assert_eq!(pair["parent"]["words"], 10.0);
    assert_eq!(pair["commit"]["words"], 60.0);
    // The texts are data: no HTML tag and no Markdown fence in them takes effect.
    let (html, md) = (hunt.file("report.html"), hunt.file("report.md"));
    assert!(html.contains("a &lt;b&gt;time&lt;/b&gt; ```") || html.contains("a &#60;b&#62;time"));
    assert!(!html.contains("<b>time</b>"));
    assert!(md.contains("````text\nOnce upon a <b>time</b> ``` there"), "{md}");
    assert!(md.contains("story (prose)"));
    // The text is generated at the commit and its parent only.
    let starts = env.starts();
    let stories = starts.iter().filter(|start| start.measure == "story");
    let labels: Vec<&str> = stories.map(|start| start.label.as_str()).collect();
    assert_eq!(labels, ["2", "2", "3", "3"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn equal_facts_and_texts_are_no_news() {
    let (_env, _, hunt) = hunt(|plan| plan.with_all("launch = 384,1,1").with_all(STORY));
    assert!(hunt.report.get("facts").is_none());
    let said = &hunt.output.stdout;
    assert!(said.contains("Text: 1 text, equal at parent and commit"), "{said}");
}
