use super::*;

fn compiled(files: &[(&str, &str)]) -> Compiled {
    let mut compiled = Compiled::default();
    for (file, command) in files {
        compiled.add(file, command.split(' ').map(str::to_owned).collect());
    }
    compiled
}

fn map(entries: &[(&str, &str)]) -> BTreeMap<String, String> {
    entries.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn files(files: &[(&str, &str)]) -> Setup {
    Setup { files: compiled(files), ..Setup::default() }
}

fn told(before: &Setup, now: &Setup) -> Vec<String> {
    setups(before, now).0.iter().map(ToString::to_string).collect()
}

#[test]
fn flags_are_counted_over_the_files_that_both_compile() {
    let before = [
        ("{src}/a.c", "cc -O3 -g"),
        ("{src}/b.c", "cc -O3 -g"),
        ("{src}/c.c", "cc -O1"),
        ("{src}/d.c", "cc"),
    ];
    let now = [
        ("{src}/a.c", "cc -O2 -g -ffast-math"),
        ("{src}/b.c", "cc -g -O2"),
        ("{src}/c.c", "cc -O1"),
        ("{src}/e.c", "cc -O9"),
    ];
    let words =
        ["-O3 → -O2 in 2 of 3 files", "-ffast-math (only now) in 1 of 3 files", "d.c", "e.c"];
    assert_eq!(told(&files(&before), &files(&now)), words);
}

#[test]
fn a_flag_that_replaces_another_is_paired_with_it() {
    let change = |before: &str, now: &str| {
        let words = told(&files(&[("a.c", before)]), &files(&[("a.c", now)]));
        words.iter().map(|word| word.replace(" in 1 of 1 file", "")).collect::<Vec<_>>()
    };
    assert_eq!(change("cc -DTILE=16", "cc -DTILE=8"), ["-DTILE=16 → -DTILE=8"]);
    assert_eq!(change("cc -march=native", "cc -march=haswell"), ["-march=native → -march=haswell"]);
    assert_eq!(change("cc -fmath-errno", "cc -fno-math-errno"), ["-fmath-errno → -fno-math-errno"]);
    assert_eq!(change("gcc -O2", "clang -O2"), ["gcc → clang"]);
    assert_eq!(change("cc -O2 -O3", "cc -O3 -O2"), ["-O3 → -O2"]);
    assert_eq!(change("cc -DA -DB", "cc -DB -DA"), [""; 0]);
    assert_eq!(change("cc -Ia -Ib", "cc -Ib -Ia"), [""; 0]);
    let two = ["-Ia (no longer)", "-Ib (only now)", "-Ic (only now)"];
    assert_eq!(change("cc -Ia", "cc -Ib -Ic"), two);
}

#[test]
fn caches_and_packages_are_compared_where_both_have_them() {
    let main = |fast: &str| (MAIN_CACHE.to_owned(), map(&[("FAST", fast), ("SAME", "1")]));
    let sub = |tile: &str| ("{build}/sub/CMakeCache.txt".to_owned(), map(&[("TILE", tile)]));
    let lock =
        |half: &str| BTreeMap::from([("{src}/Cargo.lock".to_owned(), map(&[("half", half)]))]);
    let before = Setup {
        caches: BTreeMap::from([main("OFF"), sub("8")]),
        packages: lock("2.4.0"),
        ..Setup::default()
    };
    let now = Setup {
        caches: BTreeMap::from([main("ON"), sub("16")]),
        packages: lock("2.4.1"),
        ..Setup::default()
    };
    let words = [
        "FAST: OFF → ON",
        "TILE: 8 → 16 in {build}/sub/CMakeCache.txt",
        "half: 2.4.0 → 2.4.1 in Cargo.lock",
    ];
    assert_eq!(told(&before, &now), words);
    let compared = setups(&before, &now).1;
    assert!(!compared.contains(&DifferenceIn::Flag) && !compared.contains(&DifferenceIn::Probe));
    assert_eq!(setups(&before, &Setup::default()), (Vec::new(), Vec::new()));
}

#[test]
fn what_a_probe_said_is_compared_where_it_was_asked() {
    let said = |said: &str| Setup { probes: map(&[("cc --version", said)]), ..Setup::default() };
    assert_eq!(told(&said("12.2"), &said("13.1")), ["cc --version: 12.2 → 13.1"]);
    assert_eq!(setups(&said("1"), &said("1")), (Vec::new(), vec![DifferenceIn::Probe]));
}
