//! C code that a commit moves to a new file, with a few edits on the way.

use serde_json::json;

use super::{World, parts, role, sets, trials, world_with};
use crate::kit::Plan;

const HEADER: &str = "double dot(const double *x, const double *y, int n);
void shift(double *x, int n, double by);
void rotate(double *x, int n);
void clamp(double *x, int n, double most);
";

const DOT: &str = r#"#include "kernels.h"

double dot(const double *x, const double *y, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}
"#;

const VECTORS: &str = r"
void shift(double *x, int n, double by)
{
    for (int i = 0; i < n; i++)
        x[i] += by;
}

void rotate(double *x, int n)
{
    for (int i = 0; i < n / 2; i++) {
        double left = x[i];
        double right = x[i + n / 2];
        x[i] = 0.6 * left - 0.8 * right;
        x[i + n / 2] = 0.8 * left + 0.6 * right;
    }
}

void clamp(double *x, int n, double most)
{
    for (int i = 0; i < n; i++) {
        if (x[i] > most)
            x[i] = most;
        if (x[i] < -most)
            x[i] = -most;
    }
}
";

const MAIN: &str = r#"#include <stdio.h>
#include "kernels.h"

int main(void)
{
    double x[4] = { 1.0, 2.0, 3.0, 4.0 };
    shift(x, 4, 0.5);
    rotate(x, 4);
    clamp(x, 4, 4.0);
    printf("perplexity: calculating perplexity over 1 chunks, n_ctx=64\n");
    double ppl = 2.0 + 0.25 * dot(x, x, 4);
    printf("[1]%.4f,\nFinal estimate: PPL = %.4f +/- 0.04\n", ppl, ppl);
    return 0;
}
"#;

/// Lines that do not compile where `vectors.h` is included. The compiler names no symbol.
const GUARD: &str = "#ifdef VECTORS\n#error this is another file\n#endif\n";

fn makefile(sources: &str) -> String {
    format!("$(BUILD)/eval: {sources}\n\t$(CC) -Wall -Werror -o $@ {sources}\n")
}

/// A world where commit 3 moves the functions of [`VECTORS`] to `src/vectors.c`, with these
/// replacements on their way, and where `main.c` becomes this text.
fn moves(edits: &[(&str, &str)], main: &str) -> World {
    moves_of(VECTORS, edits, main)
}

/// The same with these functions.
fn moves_of(functions: &str, edits: &[(&str, &str)], main: &str) -> World {
    let mut moved = functions.replace(GUARD, "");
    for (old, new) in edits {
        assert_eq!(moved.matches(old).count(), 1, "{old}");
        moved = moved.replacen(old, new, 1);
    }
    let moved = format!("#include \"vectors.h\"\n{moved}");
    let later = format!("{moved}\n/* The end of the vectors. */\n");
    let [dot, vectors] = [HEADER.lines().next().unwrap(), HEADER.split_once('\n').unwrap().1];
    let change = |plan: Plan| {
        plan.file(0, "src/kernels.h", HEADER)
            .file(0, "src/kernels.c", &format!("{DOT}{functions}"))
            .file(0, "src/main.c", MAIN)
            .file(0, "Makefile", &makefile("src/kernels.c src/main.c"))
            .file(3, "src/kernels.h", &format!("{dot}\n"))
            .file(3, "src/kernels.c", DOT)
            .file(3, "src/vectors.h", &format!("#define VECTORS\n{vectors}"))
            .file(3, "src/vectors.c", &moved)
            .file(3, "src/main.c", main)
            .file(3, "Makefile", &makefile("src/kernels.c src/vectors.c src/main.c"))
            .file(3, "docs/notes.md", "Vectors have a file of their own.\n")
            .file(5, "src/vectors.c", &later)
    };
    world_with(change, |oracle| {
        oracle.build_command("make -C {src} BUILD={build}").ppl_command("{build}/eval")
    })
}

/// `main.c` with the header of the moved functions.
fn main_of_move() -> String {
    MAIN.replace("#include \"kernels.h\"\n", "#include \"kernels.h\"\n#include \"vectors.h\"\n")
}

/// Edits that change no value.
const HARMLESS: [(&str, &str); 2] = [
    ("        x[i] += by;\n", "        x[i] = x[i] + by;\n"),
    ("void clamp(double *x", "/* No value is beyond `most`. */\nvoid clamp(double *x"),
];

#[test]
fn a_line_that_is_lost_in_moved_code_is_named_and_the_revert_brings_it_back() {
    let lost = "        if (x[i] > most)\n            x[i] = most;\n";
    let world = moves(&[HARMLESS[0], HARMLESS[1], (lost, "")], &main_of_move());
    let hunt = world.finds("3");
    assert_eq!(sets(&hunt), [["edit 4 of 4 src/vectors.c"]]);
    let cause = &hunt.report["cause"];
    assert_eq!((&cause["end"], &cause["revert"]), (&"complete".into(), &"heals".into()));
    let set = &cause["sets"][0];
    // Edits alone are nothing: the move and the other edits were always there.
    let with = parts(&json!({ "parts": set["with"] }));
    for other in ["moved", "edit 1 of 4", "edit 2 of 4", "edit 3 of 4"] {
        assert!(with.contains(&format!("{other} src/vectors.c")), "{with:?}");
    }
    let lines = ["        if (x[i] > most)", "            x[i] = most;"];
    let edit = json!([{
        "path": "src/vectors.c", "from": "src/kernels.c", "line": 23, "lost": lines, "added": [],
    }]);
    assert_eq!(set["edits"], edit);
    assert_eq!(role(&hunt, "src/vectors.c"), "necessary");
    assert!(trials(&hunt) <= 4, "{} trials", trials(&hunt));
    // The patch brings the lines back, and keeps what the move and a later commit changed.
    let file = || std::fs::read_to_string(world.env.repo().join("src/vectors.c")).unwrap();
    let before = file();
    world.env.git(&["apply", hunt.folder.join("revert.patch").to_str().unwrap()]);
    let place = before.find("        if (x[i] < -most)").unwrap();
    assert_eq!(file(), format!("{}{lost}{}", &before[..place], &before[place..]));
    let page = hunt.file("report.html");
    assert!(page.contains("edit 4 of 4 in the code that moved to src/vectors.c"), "{page}");
    hunt.output.says(&[
        "In short: edit 4 of 4 in the code that moved to src/vectors.c (line 23) with ",
        "Edit: src/vectors.c, line 23, in code from src/kernels.c: lost `if (x[i] > most)` \
         `x[i] = most;`",
        "Revert: reverting it heals the bad end: ppl 10.7275",
    ]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_line_that_is_another_one_in_moved_code_is_named_with_both_texts() {
    let (old, new) = ("0.6 * left - 0.8 * right", "0.6 * left + 0.8 * right");
    let world = moves(&[HARMLESS[0], (old, new), HARMLESS[1]], &main_of_move());
    let hunt = world.finds("3");
    assert_eq!(sets(&hunt), [["edit 3 of 4 src/vectors.c"]]);
    let edit = &hunt.report["cause"]["sets"][0]["edits"][0];
    let line = |value: &str| json!([format!("        x[i] = {value};")]);
    assert_eq!((&edit["lost"], &edit["added"]), (&line(old), &line(new)));
    assert_eq!(hunt.report["cause"]["revert"], "heals");
    world.env.git(&["apply", hunt.folder.join("revert.patch").to_str().unwrap()]);
    let file = std::fs::read_to_string(world.env.repo().join("src/vectors.c")).unwrap();
    assert!(file.contains(old) && file.contains("x[i] = x[i] + by;"), "{file}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn an_edit_is_found_beside_others_that_cannot_be_undone() {
    let places =
        ["        x[i] +", "        double", "        x[i] =", "        if (x[i]", "    for"];
    let guarded = |line: &str| {
        let is_place = places.iter().any(|place| line.starts_with(place));
        if is_place { format!("{GUARD}{line}") } else { line.to_owned() }
    };
    let functions: String = VECTORS.split_inclusive('\n').map(guarded).collect();
    assert_eq!(functions.matches(GUARD).count(), 9);
    let edit = ("        x[i + n / 2] = 0.8 *", "        x[i + n / 2] = 0.9 *");
    let hunt = moves_of(&functions, &[edit], &main_of_move()).finds("3");
    assert_eq!(sets(&hunt), [["edit 8 of 11 src/vectors.c"]]);
    assert_eq!(hunt.report["cause"]["revert"], "heals");
    // The first guesses do not build. After them, each edit is undone by itself.
    assert!(trials(&hunt) <= 18, "{} trials", trials(&hunt));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn if_no_edit_makes_the_step_the_rest_of_the_change_is_searched() {
    let main = main_of_move().replace("0.25 * dot", "0.5 * dot");
    let hunt = moves(&HARMLESS, &main).finds("3");
    assert_eq!(sets(&hunt), [["hunk 2 of 2 src/main.c"]]);
    assert_eq!(hunt.report["cause"]["revert"], "heals");
    assert!(hunt.report["cause"]["sets"][0].get("edits").is_none());
    // The first test: without the two edits that change code, the step is still there.
    let first = &hunt.report["cause"]["trials"][0];
    assert_eq!(first["shows"], "difference", "the change without these edits: {first}");
    assert_eq!(parts(first), ["edit 2 of 3 src/vectors.c", "edit 3 of 3 src/vectors.c"]);
}
