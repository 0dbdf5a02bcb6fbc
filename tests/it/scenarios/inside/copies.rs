//! A copy of another project in the engine's tree: the hunt goes on among the project's commits.

use super::{B, G, Kernels, Row, descending, inner};
use crate::kit::{Plan, TestEnvironment, line};

const NOTE: &str = "scripts/sync-kernels.last";

impl Kernels {
    pub(super) fn text(&self, env: &TestEnvironment, commit: usize, file: &str) -> String {
        env.git_in(&self.folder, &["show", &format!("{}:{file}", self.commits[commit])])
    }

    /// A history of four commits in which commit 2 syncs the copy to commit `to` of the project.
    pub(super) fn copied(&self, env: &TestEnvironment, from: usize, to: usize) -> Plan {
        let note = |commit: usize| format!("{}\n", self.commits[commit]);
        let text = |commit| self.text(env, commit, "mul.conf");
        line("g g g g")
            .file(0, NOTE, &note(from))
            .file(0, "kernels/mul.conf", &text(from))
            .file(0, "kernels/readme", "ours\n")
            .file(2, NOTE, &note(to))
            .file(2, "kernels/mul.conf", &text(to))
    }

    pub(super) fn fetch(&self, env: &TestEnvironment) {
        env.git(&["fetch", "--quiet", &self.folder.display().to_string()]);
    }
}

#[test]
fn a_commit_of_the_project_whose_copy_was_synced_did_it() {
    let env = TestEnvironment::new();
    let mut kernels = Kernels::new(&env, &[G, G]);
    // `add.conf` is only in the newer copy, `tests.conf` in neither.
    kernels.commit(&env, "add", ("add.conf", "# add\n".to_owned()));
    kernels.commit(&env, "tests", ("tests.conf", "ppl = 9\n".to_owned()));
    kernels.commit(&env, "faster", ("add.conf", "ppl = 7.5\n".to_owned()));
    kernels.commit(&env, "words", ("mul.conf", "# words\n".to_owned()));
    let plan = kernels.copied(&env, 0, 5).file(2, "kernels/add.conf", "ppl = 7.5\n");
    let row = Row::of(env, plan).oracle(descending).given(|env, _| kernels.fetch(env));
    let told = row.finds("2").counting(14, 6).costs(24, 11);
    let inside = inner(&told, 0);
    assert_eq!(inside["culprit"]["subject"], "faster", "{inside:#}");
    assert_eq!(inside["culprit"]["files"][0]["path"], "add.conf");
    assert_eq!(inside["within"]["files"], serde_json::json!(["add.conf", "mul.conf"]));
    let said = &told.hunt.output.stdout;
    assert!(
        said.contains("These are commits of the project copied to kernels, each built"),
        "{said}"
    );

    let folder = told.hunt.folder.with_file_name(inside["hunt"].as_str().unwrap());
    let script = folder.join("reproduce.sh").display().to_string();
    let shown = told.env().tool(&told.env().repo(), "sh", &[&script]).expect(0).stdout;
    let [good, bad] = ["PPL = 7.0", "PPL = 7.5"].map(|ppl| shown.find(ppl));
    assert!(good.is_some() && good < bad, "{shown}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_copy_whose_commits_are_not_here_says_how_to_go_on() {
    let env = TestEnvironment::new();
    let kernels = Kernels::new(&env, &[G, G, B]);
    let plan = kernels.copied(&env, 0, 2);
    let told = Row::of(env, plan).oracle(descending).finds("2").costs(14, 6);
    let said = &told.hunt.output.stdout;
    let short = &kernels.commits[0][..10];
    let words = format!("Inside kernels was not searched: this clone does not have {short} of");
    assert!(said.contains(&words), "{said}");
    kernels.fetch(told.env());
    let said = told.env().run(&["resume"]).expect(0).stdout;
    assert!(said.contains(" kernel 2, by "), "{said}");
}

#[test]
fn a_copy_with_changes_of_its_own_is_not_taken_for_the_project() {
    let env = TestEnvironment::new();
    let kernels = Kernels::new(&env, &[G, G, B]);
    let plan = kernels.copied(&env, 0, 2).file(2, "kernels/mul.conf", "ppl = 7.5\n# ours\n");
    let row = Row::of(env, plan).oracle(descending).given(|env, _| kernels.fetch(env));
    let told = row.finds("2").costs(14, 6);
    let said = &told.hunt.output.stdout;
    assert!(
        said.contains("1 file that the project changed differs from the project's version"),
        "{said}"
    );
    assert!(said.contains("(mul.conf)"), "{said}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn links_in_a_hunt_in_a_copy_lead_to_the_remote_with_its_commits() {
    let found = link_in_a_copy(true);
    assert_eq!(found.as_deref(), Some("https://codeberg.org/ada/kernels/commit/C"));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn no_link_in_a_hunt_in_a_copy_leads_to_a_remote_without_its_commits() {
    assert_eq!(link_in_a_copy(false), None, "`origin` does not have the project's commits");
}

/// The link to the inner first bad commit, `C`. `has_remote`: whether the project is a remote too.
fn link_in_a_copy(has_remote: bool) -> Option<String> {
    let env = TestEnvironment::new();
    let kernels = Kernels::new(&env, &[G, G, B, B]);
    let plan = kernels.copied(&env, 0, 3);
    let row = Row::of(env, plan).oracle(descending).given(|env, _| {
        let url = "https://github.com/ada/engine.git";
        env.git(&["remote", "add", "origin", url]);
        kernels.fetch(env);
        if has_remote {
            let folder = kernels.folder.display().to_string();
            env.git(&["remote", "add", "kernels", &folder]);
            env.git(&["fetch", "--quiet", "kernels"]);
            let url = "https://codeberg.org/ada/kernels.git";
            env.git(&["remote", "set-url", "kernels", url]);
        }
    });
    let told = row.finds("2").counting(14, 6).costs(24, 11);
    inner(&told, 0)["culprit"]["url"].as_str().map(|url| url.replace(&kernels.commits[2], "C"))
}
