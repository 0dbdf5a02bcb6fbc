//! Reports as people see them: `report.html` in a real browser, and text to paste.

use std::fs;

use crate::kit::{Hunt, Oracle, TestEnvironment, line, show, show_place};

/// The width of a usual phone.
const LARGE_PHONE: u32 = 390;

/// The width and height of a small laptop's screen.
const LAPTOP: (u32, u32) = (1280, 800);

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

    // Every link leads to a place in the page.
    let links: Vec<&str> =
        page.dom.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(links.iter().any(|link| link.starts_with("#log-")), "{links:?}");
    for link in links {
        let place =
            link.strip_prefix('#').unwrap_or_else(|| panic!("{link} leads out of the page"));
        assert!(page.dom.contains(&format!("id=\"{place}\"")), "{link}");
    }
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_link_in_a_page_that_was_sent_opens_the_log() {
    let env = TestEnvironment::new();
    let history = line("g g b b").build(&env);
    oracle(&env);
    let hunt = env.hunt().names(&history, 2);
    let sent = env.path("tmp/sent.html");
    fs::copy(hunt.folder.join("report.html"), &sent).unwrap();
    fs::remove_dir_all(hunt.folder.join("logs")).unwrap();
    let folded = show(&env, &sent, LARGE_PHONE);
    let logs = folded.dom.split("<h2>Logs</h2>").nth(1).unwrap();
    assert!(!logs.contains("<details open"), "{logs}");
    let link = folded.dom.split("href=\"#log-").nth(1).unwrap().split('"').next().unwrap();
    let id = format!("log-{link}");
    let opened = show_place(&env, &sent, &id, LARGE_PHONE);
    let (before, log) = opened.dom.split_once(&format!("id=\"{id}\">")).unwrap();
    assert!(before.rsplit("<details").next().unwrap().contains("open=\"\""), "{before}");
    assert!(log.starts_with("<code># command: "), "{log}");
    assert!(opened.width <= LARGE_PHONE, "{} pixels wide", opened.width);
    assert_eq!(opened.too_wide, Vec::<String>::new());
    assert_eq!(opened.requests, Vec::<String>::new());
}

#[test]
#[ignore = "long: scripts/test --long"]
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
        .filter_map(|row| {
            row.rsplit("data-label=\"left\">").next()?.split("</td>").next()?.parse().ok()
        })
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
    assert!(page.contains("href=\"#log-1\"") && !page.contains("file://"), "{page}");
    // A page in another folder has the same logs, or leads to them.
    let else_where = env.path("tmp/pages");
    fs::create_dir(&else_where).unwrap();
    for name in ["page.html", "page.md"] {
        let file = else_where.join(name);
        let format = name.rsplit_once('.').unwrap().1;
        env.run(&["report", "--format", format, "-o", file.to_str().unwrap()]).expect(0);
    }
    let text = |name: &str| fs::read_to_string(else_where.join(name)).unwrap();
    assert_eq!(text("page.html"), page);
    let text = text("page.md");
    let link = text.split('(').find(|part| part.contains("/logs/")).unwrap();
    let link = link.split(')').next().unwrap();
    assert!(link.starts_with("../") && else_where.join(link).is_file(), "{link}");
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
#[ignore = "long: scripts/test --long"]
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
        ", the confirmed first bad commit: ",
    ] {
        assert!(page.dom.contains(said), "no {said} in {}", page.dom);
    }
    assert!(!page.dom.contains("How the range narrowed"), "{}", page.dom);
    for said in ["put ppl at", "favour a real change", "95 % interval"] {
        assert!(hunt.output.stdout.contains(said), "no {said} in {}", hunt.output.stdout);
    }
}

#[test]
fn the_plot_is_on_the_first_screen_and_tables_fit_a_phone() {
    let env = TestEnvironment::new();
    let subject = "attention: repack the weights of the key cache into blocks of four rows";
    let history = line("g g x g b b b")
        .subject(4, subject)
        .file(4, "kernels/attention/repacked_key_cache.cu", "#define BLOCK 4\n")
        .build(&env);
    oracle(&env);
    let hunt = env.hunt().names(&history, 4);
    let report = hunt.folder.join("report.html");
    let laptop = show(&env, &report, LAPTOP.0);
    let bottom = laptop.plot_bottom.expect("a plot");
    assert!(bottom <= LAPTOP.1, "the plot ends at {bottom}");
    let phone = show(&env, &report, LARGE_PHONE);
    assert!(phone.width <= LARGE_PHONE, "{} pixels wide", phone.width);
    assert_eq!(phone.too_wide, Vec::<String>::new());
    let short = &history.commit(4)[..10];
    let tip = format!("<title>{short} {subject}\nppl 7.5 (confirm)\nbad</title>");
    assert!(laptop.dom.contains(&tip), "no {tip} in {}", laptop.dom);
}

#[test]
fn a_report_opens_in_the_browser_that_is_set() {
    let env = TestEnvironment::new();
    let history = line("g g b b").build(&env);
    oracle(&env);
    let hunt = env.hunt().names(&history, 2);
    let opened = env.path("tmp/opened");
    let browser = env.path("tmp/browser");
    let script = format!("#!/bin/sh\nprintf %s \"$2\" > {}\n", opened.display());
    fs::write(&browser, script).unwrap();
    let browser = format!("sh {} --new %s", browser.display());
    let with = |args: &[&str]| env.run_with(&env.repo(), args, &[("BROWSER", &browser)]);
    fs::remove_file(hunt.folder.join("report.html")).unwrap();
    let page = hunt.folder.join("report.html");
    let output = with(&["report", "--open"]).expect(0);
    assert_eq!(output.stdout.trim_end(), page.display().to_string());
    assert_eq!(fs::read_to_string(&opened).unwrap(), page.display().to_string());
    assert!(page.is_file());
    let other = env.path("tmp/other.html");
    with(&["report", "--open", "-o", other.to_str().unwrap()]).expect(0);
    assert_eq!(fs::read_to_string(&opened).unwrap(), other.display().to_string());
    env.run(&["report", "--open", "--format", "md"]).expect(2).says(&["--format"]);
}

#[test]
fn the_diff_of_the_first_bad_commit_applies() {
    let env = TestEnvironment::new();
    let history = line("g g b").file(2, "kernels/attn.cu", "int block = 128;\n").build(&env);
    env.git(&["remote", "add", "origin", "https://ada:secret@github.com/ada/engine.git"]);
    oracle(&env);
    let hunt = env.hunt().names(&history, 2);
    let commit = history.commit(2);
    let diff = env.run(&["report", "--diff"]).expect(0).stdout;
    assert!(diff.starts_with(&format!("commit {commit}\nAuthor: Ada Lovelace")), "{diff}");
    assert!(diff.contains("\n+int block = 128;\n"), "{diff}");
    let file = env.path("tmp/first.diff");
    env.run(&["report", "--diff", "-o", file.to_str().unwrap()]).expect(0);
    env.git(&["apply", "--check", "--reverse", file.to_str().unwrap()]);
    let page = format!("https://github.com/ada/engine/commit/{commit}");
    assert!(hunt.output.stdout.contains(&format!("Page: {page}\n")), "{}", hunt.output.stdout);
    for file in ["report.md", "report.html", "report.json"] {
        assert!(hunt.file(file).contains(&page), "no {page} in {file}");
    }
    for file in ["report.md", "report.html", "report.json", "journal.jsonl", "forge.json"] {
        assert!(!hunt.file(file).contains("secret"), "{file}");
    }

    // The configured page goes first. A hunt of an older program stored no diff.
    Oracle::new(&env)
        .section("[report]\ncommit_url = \"https://git.example.org/+/{commit}\"")
        .write(&env);
    let hunt = env.hunt().names(&history, 2);
    let page = format!("https://git.example.org/+/{commit}");
    assert_eq!(hunt.report["culprit"]["url"], page);
    fs::remove_dir_all(hunt.folder.join("changes")).unwrap();
    let said = env.run(&["report", "--diff"]).expect(1);
    said.says(&["stored no diff; `git show", &commit[..10]]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_diffs_of_a_few_candidates_are_shown() {
    let env = TestEnvironment::new();
    let history = line("g x b b").file(1, "kernels/attn.cu", "int block = 128;\n").build(&env);
    oracle(&env);
    let hunt = env.hunt().expect(3, "candidates");
    assert_eq!(hunt.candidates(&history), ["1", "2"]);
    for file in ["report.md", "report.html"] {
        let page = hunt.file(file);
        for said in ["+int block = 128;", "kernels/attn.cu"] {
            assert!(page.contains(said), "no {said} in {file}");
        }
    }
    let diff = env.run(&["report", "--diff"]).expect(0).stdout;
    for label in [1, 2] {
        assert!(diff.contains(&format!("commit {}\nAuthor: Ada", history.commit(label))), "{diff}");
    }
    // With more candidates there is too much to read.
    let env = TestEnvironment::new();
    line("g x x x b").build(&env);
    oracle(&env);
    let hunt = env.hunt().expect(3, "candidates");
    assert!(!hunt.folder.join("changes").exists());
    env.run(&["report", "--diff"]).expect(1).says(&["stored no diff; `git show "]);
}

#[test]
fn of_a_diff_that_is_too_long_the_files_that_matter_are_stored() {
    let env = TestEnvironment::new();
    let table = "0123456789abcdef0123456789abcdef\n".repeat(40_000);
    let history = line("g g b").file(2, "data/table.txt", &table).build(&env);
    oracle(&env);
    let hunt = env.hunt().names(&history, 2);
    let diff = hunt.file(&format!("changes/{}.diff", history.commit(2)));
    assert!(diff.contains("+++ b/engine.conf\n") && !diff.contains("table.txt"), "{diff}");
    let page = hunt.file("report.md");
    let others = "Files without a diff here:\n\n| file | lines |\n| --- | --- |\n\
                  | data/table.txt | +40000 -0 |\n";
    assert!(page.contains(others), "{page}");
    assert!(hunt.file("report.html").len() < 200_000);
}

#[test]
fn the_request_that_merged_a_first_bad_commit_is_named() {
    let env = TestEnvironment::new();
    let history = crate::kit::graph(&["0: g", "1 < 0: g", "a < 0: g", "b < a: b", "m < 1 b: b"])
        .subject("m", "Merge pull request #12 from ada/fast")
        .build(&env);
    env.git(&["remote", "add", "origin", "git@codeberg.org:ada/engine.git"]);
    oracle(&env);
    let hunt = env.hunt().names(&history, "b");
    let request = "https://codeberg.org/ada/engine/pulls/12";
    assert_eq!(hunt.report["culprit"]["request"]["url"], request);
    let said = format!("Pull request #12: {request}\n");
    assert!(hunt.output.stdout.contains(&said), "{}", hunt.output.stdout);
}
