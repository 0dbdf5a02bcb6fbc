//! Doubts about a first bad commit, in words: what neither runs nor tests exclude.

use crate::evaluation::{DependencyHunt, FormChange, HomeDoubt, InstalledCopy, Metric, PutBack};
use crate::ui::text;

use super::git_folder;
use super::model::{FirstBad, Report};
use super::put_back;
use super::sought::Sought;

/// Why tests with a changed tree, or a step at a tag, may say nothing.
const REFERENCE_DOUBT: &str = "the build or run asks git about branches or tags, or reads .git \
                               itself: the same files on no branch and without a tag may show \
                               another result";

/// Why values may not come from the commits' changes.
const NAME_DOUBT: &str = "the build or run asks git for the commit's name, and no two measured \
                          commits show the same value: the name alone may change the value";

/// What neither runs nor tests exclude, each in words.
pub(super) fn doubts(report: &Report, first: &FirstBad) -> Vec<String> {
    let known = &first.doubts;
    let mended = known.perhaps_mended_by.as_ref().map(|by| {
        let by = by.short();
        format!("{by} may have taken back its whole step: then another change made the rest")
    });
    let end = Sought::of(report).newer_end();
    // With localisation, there is a cause, or the reason why none is known.
    let no_test = if report.cause.is_none() {
        format!("--no-localize left out the test whether the {end} end needs it")
    } else {
        format!("no test shows that the {end} end needs it")
    };
    let untested = known.unmeasured_after.map(|number| {
        let commits = text::plural(number, "later commit");
        format!(
            "{no_test}. {commits} without a verdict may have undone it and made the same change \
             again"
        )
    });
    let named = known.untold_namings.map(untold_namings);
    let before = known.unmeasured_before.map(|number| {
        let commits = text::plural(number, "earlier commit");
        format!(
            "no test shows that the bad end is good with it, and {commits} without a verdict may \
             have fixed the same before, and another commit broken it again"
        )
    });
    let gained = known.gained_back.as_ref().map(|metric| {
        format!("other commits gained back as much of {metric} as its whole step, and {no_test}")
    });
    let home = known.home_doubt.as_ref().map(home_doubt);
    let references = known.reference_doubt.then(|| REFERENCE_DOUBT.to_owned());
    let name = known.name_doubt.then(|| NAME_DOUBT.to_owned());
    let copy = known.copy_doubt.as_ref().map(copy_doubt);
    let shared = known.git_folder_doubt.as_ref().map(git_folder::in_words);
    let written = known.put_back_doubt.as_ref().map(put_back_doubt);
    let place = known.form_change.as_ref().map(form_change);
    let digit = known.last_digit.as_ref().map(last_digit);
    let pointer = known.pointer.as_deref().map(pointer);
    let outer = report.within.as_ref().and_then(|within| outer_doubt(within, first.confidence));
    let of_values = place.into_iter().chain(digit).chain(pointer).chain(outer);
    let of_files = copy.into_iter().chain(shared).chain(written);
    let of_answer = home.into_iter().chain(references).chain(name).chain(of_files).chain(of_values);
    let of_others = mended.into_iter().chain(untested).chain(named).chain(before).chain(gained);
    of_others.chain(of_answer).collect()
}

/// That so many later commits may have switched off what a commit adds or sets, and others on
/// again.
fn untold_namings(number: usize) -> String {
    let commits = text::plural(number, "later commit");
    let have = if number == 1 { "has" } else { "have" };
    format!(
        "{commits} that may have switched off what it adds or sets {have} no verdict, and another \
         commit may have switched it on again"
    )
}

/// Why the commit may only bring into git what an earlier change of a generator made.
fn put_back_doubt(found: &PutBack) -> String {
    format!(
        "{}: an earlier change of what writes {} may be the cause",
        put_back::in_words(found),
        put_back::files(&found.paths)
    )
}

/// Why the numbers before and after a commit may be of different things.
fn form_change(FormChange { metric, parent, commit }: &FormChange) -> String {
    format!(
        "since this commit {metric} comes from another place of the output ({commit}, before: \
         {parent}), and the two may show different things"
    )
}

/// Why earlier commits may have made most of a step.
fn last_digit(metric: &Metric) -> String {
    format!(
        "the step is one unit of the last printed digit of {metric}: earlier commits may have made \
         most of it"
    )
}

/// Why a build or a run may not have read what the user's reads.
fn pointer(path: &str) -> String {
    format!(
        "it changes {}, a pointer of Git LFS in the hunt's checkouts, and a build or a run may have \
         read the pointer in place of the file: `lfs = true` under [worktree] excludes that",
        text::line(path)
    )
}

/// That the outer hunt is undecided, or that only its confidence keeps this one from being higher.
fn outer_doubt(within: &DependencyHunt, confidence: f64) -> Option<String> {
    let hunt = text::line(&within.hunt);
    if within.is_undecided {
        return Some(format!("it rests on a commit of hunt {hunt}, which ended undecided"));
    }
    let most = within.confidence?;
    (confidence >= most)
        .then(|| format!("it rests on the answer of hunt {hunt}, which is no surer"))
}

/// Why files in the home folder may carry results from one commit to another, or may be missing.
fn home_doubt(doubt: &HomeDoubt) -> String {
    match doubt {
        HomeDoubt::UserHome => "builds or runs depend on files in your home folder, so the \
                                confirmation used your home folder; if they also change files \
                                there, these may carry results from one commit to another"
            .to_owned(),
        HomeDoubt::EmptyHome(shown) => format!(
            "the hunt began again with an empty home folder; with yours the ends showed {}, and the \
             answer may be another one",
            text::line(shown)
        ),
        HomeDoubt::Changed(path) => format!(
            "{} changed during the hunt, and an empty home folder has it too: it may carry results \
             from one commit to another",
            text::line(path)
        ),
    }
}

/// That an installed copy hides changes of the commits.
fn copy_doubt(copy: &InstalledCopy) -> String {
    format!(
        "the runs load {}, and not the commit's {}: no run shows what the commits change there",
        text::line(&copy.path),
        text::line(&copy.own_in_config())
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::CommitInfo;

    #[test]
    fn commits_that_use_a_name_without_a_verdict_are_counted() {
        let told = [1, 2].map(untold_namings);
        assert!(told[0].starts_with("1 later commit that may") && told[0].contains(" has no "));
        assert!(told[1].starts_with("2 later commits that may") && told[1].contains(" have no "));
    }

    #[test]
    fn a_doubt_about_a_copy_names_both_files() {
        let told = copy_doubt(&InstalledCopy {
            path: "/p/eng/__init__.py".to_owned(),
            own: "src/py/eng/__init__.py".to_owned(),
            sha256: String::new(),
            is_unlike: false,
        });
        let start =
            "the runs load /p/eng/__init__.py, and not the commit's {src}/py/eng/__init__.py:";
        assert!(told.starts_with(start), "{told}");
    }

    #[test]
    fn a_doubt_about_the_home_folder_names_the_file() {
        let told = home_doubt(&HomeDoubt::Changed("~/.local/lib/python3/eng/a\n".to_owned()));
        assert!(told.starts_with("~/.local/lib/python3/eng/a") && !told.contains('\n'), "{told}");
        let told = home_doubt(&HomeDoubt::UserHome);
        assert!(told.contains("used your home folder; if they also change files there"), "{told}");
        let told = home_doubt(&HomeDoubt::EmptyHome("ppl 7 → 7.5".to_owned()));
        assert!(told.contains("with yours the ends showed ppl 7 → 7.5"), "{told}");
    }

    #[test]
    fn a_value_from_another_place_says_from_where() {
        let [parent, commit] = ["ppl VALUE", "reference ppl VALUE"]
            .map(|form| std::iter::once(form.to_owned()).collect());
        let told = form_change(&FormChange { metric: Metric::of("ppl"), parent, commit });
        assert!(told.contains("(`reference ppl VALUE`, before: `ppl VALUE`)"), "{told}");
    }

    #[test]
    fn a_changed_pointer_names_the_file_and_the_setting() {
        let told = pointer("v/table\n.bin");
        assert!(told.starts_with("it changes v/table") && !told.contains('\n'), "{told}");
        assert!(told.contains("`lfs = true`"), "{told}");
    }

    #[test]
    fn an_answer_inside_a_dependency_is_no_surer_than_the_outer_one() {
        let commit = "1".repeat(40).parse().unwrap();
        let text = String::new;
        let commit = CommitInfo { commit, subject: text(), author: text(), date: text() };
        let (hunt, path, git_dir) = ("20260101-000000".to_owned(), text(), text());
        let within = DependencyHunt {
            hunt,
            commit,
            path,
            git_dir,
            files: Vec::new(),
            failure: None,
            confidence: Some(0.98),
            is_undecided: false,
        };
        assert_eq!(within.most_confidence(0.999).to_string(), "0.98");
        assert_eq!(within.most_confidence(0.9).to_string(), "0.9");
        assert!(outer_doubt(&within, 0.98).unwrap().contains("hunt 20260101-000000"));
        assert_eq!(outer_doubt(&within, 0.9), None);
        let undecided = DependencyHunt { is_undecided: true, ..within.clone() };
        assert!(outer_doubt(&undecided, 0.9).unwrap().contains("which ended undecided"));
        let older = DependencyHunt { confidence: None, ..within };
        assert_eq!(older.most_confidence(0.999).to_string(), "0.999");
        assert_eq!(outer_doubt(&older, 0.999), None);
    }
}
