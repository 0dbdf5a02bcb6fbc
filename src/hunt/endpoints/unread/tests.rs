use super::*;
use crate::evaluation::ReadFiles;

/// The paths to leave out if each of these commits changes these files, and builds read `src/*`
/// and `sub/a.c`.
fn left_out(commits: &[&str]) -> Vec<String> {
    let read = ["src/a.c", "src/b.c", "sub/a.c"].map(str::to_owned);
    let files = commits.iter().flat_map(|paths| paths.split(' ')).map(str::to_owned);
    let files: BTreeSet<String> = files.chain(read.clone()).collect();
    let tree = || BuiltTree {
        files: files.clone(),
        text: &|_| None,
        read: ReadFiles { files: read.clone().into(), ..ReadFiles::default() },
        caches: BTreeMap::new(),
    };
    let unread = UnreadFiles::of([tree(), tree()], &Commands::default());
    let path = |path: &str| TouchedPath { path: Some(path.to_owned()), is_file: path != "link" };
    let commit = |paths: &&str| TouchedPaths {
        commit: "1".repeat(40).parse().unwrap(),
        paths: paths.split(' ').map(path).collect(),
    };
    excluded(&commits.iter().map(commit).collect::<Vec<_>>(), &unread)
}

#[test]
fn only_files_of_commits_that_change_nothing_else_are_left_out() {
    assert_eq!(left_out(&["src/a.c x.md", "y.md", "src/b.c"]), ["y.md"]);
    assert_eq!(left_out(&["x.md src/a.c", "x.md"]), ["x.md"]);
    assert_eq!(left_out(&["link x.md", "CMakeLists.txt"]), [] as [&str; 0]);
}

#[test]
fn a_folder_stands_for_its_files_if_nothing_else_changes_there() {
    assert_eq!(left_out(&["docs/a/x.md", "docs/b.md docs/c/d.md"]), ["docs"]);
    assert_eq!(left_out(&["docs/a/x.md", "docs/a/y.md", "docs/b.md src/a.c"]), ["docs/a"]);
    assert_eq!(left_out(&["sub/x.md", "sub/deep/y.md", "sub/a.c"]), ["sub/deep", "sub/x.md"]);
}

#[test]
fn tools_and_modes_without_whole_records_are_told() {
    let config = |build: &str| {
        let measure = "[[measure]]\nname='ppl'\ncommand='x'\nparser='exit-code'\n";
        let text =
            format!("version=1\n[build]\n{build}\n{measure}[[guard]]\nmetric='ppl'\nmax=0\n");
        Config::parse(&text, std::path::Path::new("/repo"), "oracle.toml").unwrap()
    };
    assert_eq!(unreliable(&config("commands=['make -C {src}']")), None);
    let why = unreliable(&config("commands=['make']\nmode='incremental'")).unwrap();
    assert!(why.contains("incremental"), "{why}");
    let why = unreliable(&config("commands=['env A=1 pip3 install {src}']")).unwrap();
    assert!(why.contains("`pip3`"), "{why}");
}
