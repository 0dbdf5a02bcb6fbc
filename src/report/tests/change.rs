//! Tests of what a report shows of the change itself: its diff, and links to it.

use crate::evaluation::{CommitId, Difference, DifferenceIn, Differences, Forge, TouchedFile};
use crate::report::{Report, diff, issue, terminal_answer};
use crate::store::{Candidate, Messages};

use super::fixture::{Hunt, culprit, found, id, info};
use super::html::{assert_inert, page};
use super::{candidates, markdown, with_culprit};

const DIFF: &str = "diff --git a/src/kv_cache.c b/src/kv_cache.c\n\
                    index 1..2 100644\n\
                    --- a/src/kv_cache.c\n\
                    +++ b/src/kv_cache.c\n\
                    @@ -7,4 +7,6 @@ int pad(int n)\n \
                    {\n\
                    -    return n;\n\
                    +    return (n + 31) / 32 * 32;\n \
                    }\n";

fn with_diff(diff: &str) -> Hunt {
    let hunt = with_culprit();
    hunt.dir.keep_diff(&id('d'), diff.as_bytes()).unwrap();
    hunt
}

/// A diff that adds this many lines to a new file.
fn new_file(path: &str, lines: usize) -> String {
    let added: Vec<String> = (0..lines).map(|n| format!("+line {n}\n")).collect();
    let added = added.concat();
    format!(
        "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n\
         @@ -0,0 +1,{lines} @@\n{added}"
    )
}

#[test]
fn a_short_diff_is_shown_whole_in_every_form() {
    let hunt = with_diff(DIFF);
    let report = Report::of(&hunt.dir).unwrap();
    let html = page(&hunt);
    assert_inert(&html);
    for said in [
        "<h2>What it changes</h2>",
        "<details class=\"file\" open><summary><code>src/kv_cache.c</code> \
         <span class=\"added\">+1</span> <span class=\"removed\">−1</span></summary>",
        "<span class=\"hunk\">@@ -7,4 +7,6 @@ int pad(int n)</span>\n",
        "<span class=\"same\"> {</span>\n",
        "<span class=\"removed\">-    return n;</span>\n",
        "<span class=\"added\">+    return (n + 31) / 32 * 32;</span>\n",
    ] {
        assert!(html.contains(said), "no {said} in {html}");
    }
    let words = markdown(&report);
    let shown = "## What it changes\n\nsrc/kv_cache.c +1 -1\n\n```diff\n\
                 @@ -7,4 +7,6 @@ int pad(int n)\n {\n-    return n;\n\
                 +    return (n + 31) / 32 * 32;\n }\n```\n";
    assert!(words.contains(shown), "{words}");
    // The diff names the files.
    assert!(!html.contains("<bdi>src/kv_cache.c</bdi>") && !words.contains("unknown"), "{html}");
    let issue = issue(&report);
    let shown = "\n```diff\ndiff src/kv_cache.c\n@@ -7,4 +7,6 @@ int pad(int n)\n {\n";
    assert!(issue.contains(shown) && !issue.contains("- Files:"), "{issue}");
    assert!(issue.lines().count() <= 40, "{issue}");
    let printed = diff(&hunt.dir, &report).unwrap().unwrap();
    let head = format!(
        "commit {}\nAuthor: Ada Example <ada@example.org>\nDate:   2026-01-02T03:04:05Z\n\n    \
         kv: pad the cache\n\ndiff --git a/src/kv_cache.c",
        id('d')
    );
    assert!(printed.starts_with(&head) && printed.ends_with(DIFF), "{printed}");
}

#[test]
fn a_diff_that_is_not_stored_leaves_the_table_of_files() {
    let hunt = with_culprit();
    let report = Report::of(&hunt.dir).unwrap();
    assert_eq!(diff(&hunt.dir, &report).unwrap(), None);
    let words = markdown(&report);
    let table =
        "## What it changes\n\n| file | lines |\n| --- | --- |\n| src/kv_cache.c | +3 -1 |\n";
    assert!(words.contains(table), "{words}");
    assert!(issue(&report).contains("- Files: src/kv_cache.c +3 -1\n"));
    // A diff without this file: it was too long to be stored.
    let hunt = with_diff("");
    let words = markdown(&Report::of(&hunt.dir).unwrap());
    assert!(words.contains("Files without a diff here:\n\n| file | lines |"), "{words}");
    assert!(page(&hunt).contains("<bdi>src/kv_cache.c</bdi>"));
}

#[test]
fn of_a_long_diff_the_files_that_matter_come_first_and_the_others_are_folded() {
    let file =
        |path: &str| TouchedFile { path: path.to_owned(), ..culprit("", "").files.remove(0) };
    let paths = ["README.md", "docs/a.c", "src/a.c", "src/long.c", "src/new.c"];
    let mut first = culprit("kv: pad", "x");
    first.files = paths.iter().map(|path| file(path)).collect();
    let compiled = Difference::named(DifferenceIn::CompiledFile, "src/new.c", [None, Some("x")]);
    first.differences = Some(Differences::new(vec![compiled], Vec::new()));
    let mut hunt = with_culprit();
    hunt.end(found(first));
    let whole: String = paths
        .iter()
        .map(|path| new_file(path, if *path == "src/long.c" { 500 } else { 30 }))
        .collect();
    hunt.dir.keep_diff(&id('d'), whole.as_bytes()).unwrap();

    let html = page(&hunt);
    let files = html.split("<details class=\"file\"").skip(1).map(|part| {
        let name = part.split("<code>").nth(1).unwrap().split('<').next().unwrap();
        (name, part.starts_with(" open>"))
    });
    let order = ["src/new.c", "src/a.c", "src/long.c", "README.md", "docs/a.c"];
    let is_open = [true, true, false, false, false];
    assert_eq!(files.collect::<Vec<_>>(), order.into_iter().zip(is_open).collect::<Vec<_>>());
    assert!(html.contains("<p class=\"note\">102 more lines:"), "{html}");
    let report = Report::of(&hunt.dir).unwrap();
    let words = markdown(&report);
    let folded = "<details><summary><code>README.md</code> +30 -0</summary>\n\n```diff\n";
    assert!(words.contains(folded), "{words}");
    assert_eq!(words.matches("<details>").count(), words.matches("</details>").count());
    let issue = issue(&report);
    assert!(issue.contains("- Files: src/new.c +3 -1; src/a.c +3 -1; "), "{issue}");
    let answer = terminal_answer(&report);
    assert!(answer.contains("Files it touches:\n  src/new.c  +3 -1\n  src/a.c"), "{answer}");
    assert!(answer.contains("Newly compiled: src/new.c\n"), "{answer}");
}

#[test]
fn a_hostile_diff_is_text() {
    let path = "<img src=x onerror=x>\".c";
    let diff = format!(
        "diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-</code></pre>\n\
         +<script>\u{1b}[2J\u{202e}\n+````\n+@octocat\n"
    );
    let hunt = with_diff(&diff);
    let html = page(&hunt);
    assert_inert(&html);
    assert!(
        html.contains("<span class=\"removed\">-&#60;/code&#62;&#60;/pre&#62;</span>"),
        "{html}"
    );
    let report = Report::of(&hunt.dir).unwrap();
    let words = markdown(&report);
    assert!(words.contains("\n`````diff\n") && words.contains("+````\n"), "{words}");
    let printed = super::super::diff(&hunt.dir, &report).unwrap().unwrap();
    for text in [&html, &words, &printed, &issue(&report)] {
        assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text}");
    }
}

#[test]
fn a_known_site_gives_links_to_the_commit_and_its_request() {
    let mut hunt = with_diff(DIFF);
    hunt.dir.keep_forge(&Forge::of_remote("git@github.com:ada/engine.git").unwrap()).unwrap();
    let merge = Some("Merge pull request #12 from ada/pad".to_owned());
    let said = Messages { commit: "kv: pad the cache".to_owned(), merge };
    hunt.dir.keep_messages(&id('d'), &said).unwrap();
    let report = Report::of(&hunt.dir).unwrap();
    let commit = |commit: &CommitId| format!("https://github.com/ada/engine/commit/{commit}");
    let [own, parent] = [commit(&id('d')), commit(&id('c'))];
    let request = "https://github.com/ada/engine/pull/12";
    let html = page(&hunt);
    for said in [
        format!("<a href=\"{own}\"><code>{}</code></a>", id('d')),
        format!("<a href=\"{parent}\"><code>{}</code></a>", id('c')),
        format!("<dt>Pull request</dt><dd><a href=\"{request}\"><bdi>#12</bdi></a></dd>"),
    ] {
        assert!(html.contains(&said), "no {said} in {html}");
    }
    let words = markdown(&report);
    assert!(words.contains(&format!("- Commit: [{}](<{own}>)\n", id('d'))), "{words}");
    assert!(words.contains(&format!("- Pull request: [\\#\u{2060}12](<{request}>)\n")), "{words}");
    let issue = issue(&report);
    let lines = format!("- Page: <{own}>\n- Pull request: <{request}>\n");
    assert!(issue.contains(&lines), "{issue}");
    let answer = terminal_answer(&report);
    assert!(answer.contains(&format!("Page: {own}\nPull request #12: {request}\n")), "{answer}");
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["culprit"]["url"], own);
    assert_eq!(json["culprit"]["request"]["url"], request);

    // Without a known site there are no links.
    hunt = with_diff(DIFF);
    assert!(!page(&hunt).contains("https://"));
    assert!(!serde_json::to_string(&Report::of(&hunt.dir).unwrap()).unwrap().contains("\"url\""));
}

/// The answer is `d` or `f`; `d` pads the cache, `f` adds files.
fn with_candidates() -> Hunt {
    let hunt = candidates();
    let files = culprit("", "src/kv_cache.c").files;
    let about = |letter, subject, parent| Candidate {
        info: info(letter, subject),
        parent: id(parent),
        files: files.clone(),
    };
    let stored = [about('f', "attn: <b>", 'd'), about('d', "kv: pad the cache", 'c')];
    hunt.dir.keep_candidates(&stored).unwrap();
    hunt.dir.keep_candidate_diff(&id('d'), DIFF.as_bytes()).unwrap();
    let added = format!("{}{}", new_file("src/attn.c", 3), new_file("docs/attn.md", 500));
    hunt.dir.keep_candidate_diff(&id('f'), added.as_bytes()).unwrap();
    hunt
}

#[test]
fn candidates_have_their_diffs_folded() {
    let hunt = with_candidates();
    let html = page(&hunt);
    assert_inert(&html);
    let section = html.split("<h2>Candidates</h2>").nth(1).unwrap().split("</section>").next();
    let section = section.unwrap();
    let at = |said: &str| section.find(said).unwrap_or_else(|| panic!("no {said} in {section}"));
    let order = [
        "<bdi>attn: &#60;b&#62;</bdi></td>",
        "<h3>What <code>dddddddddd</code> <bdi>kv: pad the cache</bdi> changes</h3>",
        "<bdi>Ada Example &#60;ada@example.org&#62;, 2026-01-02T03:04:05Z</bdi>",
        "<details class=\"file\"><summary><code>src/kv_cache.c</code>",
        "<span class=\"added\">+    return (n + 31) / 32 * 32;</span>",
        "<h3>What <code>ffffffffff</code> <bdi>attn: &#60;b&#62;</bdi> changes</h3>",
        "<details class=\"file\"><summary><code>src/attn.c</code>",
        "<details class=\"file\"><summary><code>docs/attn.md</code>",
        "<p class=\"note\">102 more lines:",
        "<p>Files without a diff here:</p>",
    ];
    let places: Vec<usize> = order.iter().map(|said| at(said)).collect();
    assert!(places.is_sorted(), "{places:?} in {section}");
    assert!(!section.contains(" open>"), "{section}");
    let report = Report::of(&hunt.dir).unwrap();
    let words = markdown(&report);
    let shown = "### What dddddddddd kv: pad the cache changes\n\nAda Example";
    assert!(words.contains(shown), "{words}");
    let folded = "<details><summary><code>src/kv_cache.c</code> +1 -1</summary>\n\n```diff\n";
    assert!(words.contains(folded), "{words}");
    let printed = diff(&hunt.dir, &report).unwrap().unwrap();
    let first = format!("commit {}\nAuthor: Ada Example <ada@example.org>\nDate:   ", id('d'));
    assert!(printed.starts_with(&first), "{printed}");
    assert!(printed.contains(&format!("\n\ncommit {}\n", id('f'))), "{printed}");
    assert_eq!(printed.matches("diff --git").count(), 3);
    let issue = issue(&report);
    assert!(issue.contains("- Files of `ffffffffff`: src/attn.c +3 -0; docs/attn.md"), "{issue}");
    assert!(issue.lines().count() <= 40, "{issue}");
    let answer = terminal_answer(&report);
    assert!(answer.contains(&format!("\n  {} attn: <b>\n", id('f'))), "{answer}");
    assert!(answer.contains("--diff` shows their changes; `bisect-ppl measure ddd"), "{answer}");
}

#[test]
fn stored_candidates_of_an_earlier_answer_are_not_shown() {
    let mut hunt = with_candidates();
    hunt.end(found(culprit("kv: pad the cache", "src/kv_cache.c")));
    let report = Report::of(&hunt.dir).unwrap();
    assert!(report.candidate_changes.is_empty());
    assert_eq!(diff(&hunt.dir, &report).unwrap(), None);
}
