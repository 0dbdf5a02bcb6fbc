//! Reports as people see them: `report.html` in a real browser, and text to paste.

use std::fs;

use crate::kit::{Hunt, Oracle, TestEnvironment, line, show};

/// The width of a small phone.
const PHONE: u32 = 375;

const HOSTILE: &str = "</title><script>document.title = 'run'</script><img src=x onerror=alert(1)>";

fn oracle(env: &TestEnvironment) {
    Oracle::new(env).write(env);
}

#[test]
fn the_answer_is_read_in_a_browser_on_a_phone_without_any_request() {
    let env = TestEnvironment::new();
    let long = "a/".repeat(90) + "b.c";
    let history = line("g g x g b b b")
        .subject(4, format!("{HOSTILE} {}", "x".repeat(300)))
        .file(4, &long, "int a;\n")
        .build(&env);
    oracle(&env);
    let hunt = env.hunt().names(&history, 4);
    let said = hunt.output.stdout.lines().last().unwrap();
    assert!(said.contains("report.html"), "{said}");

    let page = show(&env, &hunt.folder.join("report.html"), PHONE);
    assert_eq!(page.requests, Vec::<String>::new());
    assert!(page.width <= PHONE, "{} pixels wide on a screen of {PHONE}", page.width);
    for said in [
        "First bad commit",
        history.commit(4),
        history.commit(3),
        "Ada Lovelace",
        "own step 0.5 worse, tolerance 0.2",
        "every run repeated bit for bit",
        "reproduce.sh",
        "&lt;script&gt;document.title",
    ] {
        assert!(page.dom.contains(said), "no {said} in {}", page.dom);
    }
    for forbidden in ["<script", "<img", "<link", "<iframe"] {
        assert!(!page.dom.contains(forbidden), "{forbidden} in {}", page.dom);
    }

    // Every link leads to a file of the hunt or to a place in the page.
    let links: Vec<&str> =
        page.dom.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(links.iter().any(|link| link.starts_with("logs/")), "{links:?}");
    for link in links {
        match link.strip_prefix('#') {
            Some(place) => assert!(page.dom.contains(&format!("id=\"{place}\"")), "{link}"),
            None => assert!(hunt.folder.join(link).is_file(), "{link}"),
        }
    }
}

#[test]
fn a_hunt_that_was_stopped_has_a_page() {
    let env = TestEnvironment::new();
    let plan = line("g g g b b b");
    (1..5).fold(plan, |plan, label| plan.with(label, "break_world = broken")).build(&env);
    oracle(&env);
    let output = env.run(&["start", "--good", "v1"]);
    let hunt = Hunt::of(&env, output).expect(5, "interrupted");
    env.world("broken", false);
    let page = show(&env, &hunt.folder.join("report.html"), PHONE);
    assert!(page.dom.contains("Interrupted, no answer yet"), "{}", page.dom);
    assert!(page.dom.contains("`bisect-ppl resume` goes on with it"), "{}", page.dom);
    assert!(page.width <= PHONE, "{}", page.width);
    env.resume().expect(0, "culprit");
    let page = show(&env, &hunt.folder.join("report.html"), PHONE);
    assert!(page.dom.contains("First bad commit"), "{}", page.dom);
}

#[test]
fn merges_leave_in_question_what_git_leaves() {
    let env = TestEnvironment::new();
    let history = crate::kit::graph(&[
        "0: g",
        "1 < 0: g",
        "2 < 1: g",
        "a < 0: g",
        "b < a: b",
        "c < b: b",
        "m < 2 c: b",
        "3 < m: b",
    ])
    .build(&env);
    oracle(&env);
    let hunt = env.hunt().names(&history, "b");
    let page = hunt.file("report.html");
    let table = page.split("The same as a table").nth(1).unwrap().split("</table>").next().unwrap();
    let left: Vec<usize> = table
        .split("</tr>")
        .filter_map(|row| row.rsplit("<td>").next()?.split("</td>").next()?.parse().ok())
        .collect();
    assert_eq!(left.first(), Some(&7), "{table}");
    assert_eq!(left.last(), Some(&1), "{table}");
    assert!(left.windows(2).all(|pair| pair[1] <= pair[0]), "{left:?}");
}

#[test]
fn a_report_comes_in_any_format_wherever_it_is_wanted() {
    let env = TestEnvironment::new();
    let history = line("g g b b").subject(2, "fixes #12 for @octocat").build(&env);
    oracle(&env);
    let hunt = env.hunt().names(&history, 2);
    let starts = env.starts().len();

    let page = env.run(&["report", "--format", "html"]).expect(0).stdout;
    assert!(page.starts_with("<!doctype html>"), "{page}");
    let link = format!("href=\"file://{}/logs/", hunt.folder.display());
    assert!(page.contains(&link), "{page}");
    let beside = hunt.folder.join("again.html");
    let args = ["report", "--format", "html", "-o", beside.to_str().unwrap()];
    assert_eq!(env.run(&args).expect(0).stdout, "");
    assert_eq!(fs::read_to_string(beside).unwrap(), hunt.file("report.html"));

    let issue = env.run(&["report", &hunt.id(), "--format", "issue"]).expect(0).stdout;
    assert!(issue.lines().count() <= 40, "{issue}");
    for said in [history.commit(2), history.commit(1), "0.5 worse (tolerance 0.2)", "To reproduce"]
    {
        assert!(issue.contains(said), "no {said} in {issue}");
    }
    for forbidden in ["#12", "@octocat", "](", "http"] {
        assert!(!issue.contains(forbidden), "{forbidden} in {issue}");
    }
    let file = env.path("tmp/issue.md");
    env.run(&["report", "--format", "issue", "-o", file.to_str().unwrap()]).expect(0);
    assert_eq!(fs::read_to_string(file).unwrap(), issue);
    assert_eq!(env.starts().len(), starts);
    env.run(&["report", "--format", "pdf"]).expect(2).says(&["html", "issue"]);
}

#[test]
fn a_hunt_in_noise_says_in_a_browser_what_it_believed() {
    let env = TestEnvironment::new();
    // Values vary by about 0.2; good and bad are 0.4 apart.
    let (calm, worse) =
        ("ppl = 7.0 7.4 7.1 7.3 7.2 6.9 7.25", "ppl = 7.4 7.8 7.5 7.7 7.6 7.3 7.65");
    let mut plan = line("g g g g g b b b");
    for label in 0..8 {
        plan = plan.with(label, if label < 5 { calm } else { worse });
    }
    let history = plan.build(&env);
    oracle(&env);
    let output = env.run(&["start", "--good", "v1", "--search", "posterior"]);
    let hunt = Hunt::of(&env, output).names(&history, 5);
    assert_eq!(hunt.report["culprit"]["basis"], "posterior");
    let likely = &hunt.report["posterior"][0]["smallest_set"][0];
    assert_eq!(likely["commit"], history.commit(5));
    assert!(likely["first"].as_f64().unwrap() >= 0.95, "{likely}");
    assert!(hunt.commit(&history, 4)["p_bad"].as_f64().unwrap() < 0.05);
    assert!(hunt.commit(&history, 5)["p_bad"].as_f64().unwrap() > 0.95);

    let page = show(&env, &hunt.folder.join("report.html"), PHONE);
    assert_eq!(page.requests, Vec::<String>::new());
    assert!(page.width <= PHONE, "{} pixels wide on a screen of {PHONE}", page.width);
    for said in [
        "How the search weighed the commits",
        "run-to-run noise",
        "of the probability",
        "favour a real change",
        "95 % interval",
        "commit 5, the confirmed first bad commit",
    ] {
        assert!(page.dom.contains(said), "no {said} in {}", page.dom);
    }
    assert!(!page.dom.contains("How the range narrowed"), "{}", page.dom);
    for said in ["put ppl at", "favour a real change", "95 % interval"] {
        assert!(hunt.output.stdout.contains(said), "no {said} in {}", hunt.output.stdout);
    }
}
