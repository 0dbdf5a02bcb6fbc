//! Which cells rule a rule out, where commit 3 shows its regression at some more widths.

use super::{ODD, shows, sweep, world};
use crate::kit::Hunt;

/// Commit 3 shows its regression at widths that are no multiple of four. At other widths that are
/// no multiple of eight it has these values, where the parent has 7.
fn with_halves(values: &str, sweep: &str) -> Hunt {
    let half = format!("ppl@half = {values}");
    world(&[&ODD[..], &["where.half = d_in%8!=0", &half]].concat(), sweep).hunt()
}

/// The rules that are left, in order.
fn rules(hunt: &Hunt) -> Vec<String> {
    let words = hunt.report["shapes"]["words"][0].as_str().unwrap();
    let first = words.strip_prefix("only where ").unwrap().split(": ").next().unwrap();
    let others = words.split_once("as simple and not ruled out: ").map(|(_, others)| others);
    let others =
        others.into_iter().flat_map(|others| others.split("; ").next().unwrap().split(", "));
    std::iter::once(first).chain(others).map(str::to_owned).collect()
}

const FOUR_OR_EIGHT: [&str; 2] = ["d_in % 4 ≠ 0", "d_in % 8 ≠ 0"];

/// Commit 3 prints these values by turns at some widths.
fn comes_and_goes(values: &str) {
    let sweep = "tolerance = 0.1\n\
                 parameters.d_in = { values = [96, 128, 171, 173, 256], range = [1, 512] }";
    let hunt = with_halves(values, sweep);
    assert_eq!(rules(&hunt), FOUR_OR_EIGHT, "{values}");
    assert_eq!(shows(&hunt, "172"), "unresolved", "{values}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_cell_that_comes_and_goes_rules_nothing_out() {
    comes_and_goes("7.0 7.5");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_cell_that_shows_it_first_and_comes_and_goes_rules_nothing_out() {
    comes_and_goes("7.5 7.0");
}

/// A sweep over these widths, at some of which commit 3 differs a little.
fn small_differences(values: &str) {
    let sweep =
        format!("tolerance = 0.1\nparameters.d_in = {{ values = [{values}], range = [1, 512] }}");
    let hunt = with_halves("7.05", &sweep);
    assert_eq!(rules(&hunt), FOUR_OR_EIGHT, "{values}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_small_difference_rules_nothing_out_however_many_cells_have_one() {
    small_differences("256, 173, 252, 171, 128, 96");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_small_difference_rules_nothing_out_where_fewer_cells_have_one() {
    small_differences("96, 128, 171, 173, 256");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn what_the_store_holds_does_not_change_the_rule() {
    let grid = |values: &str| {
        format!("tolerance = 0.1\nparameters.d_in = {{ values = [{values}], range = [1, 512] }}")
    };
    // The store already has the cells of another grid.
    let world = world(&ODD, &grid("64, 172, 175, 256, 170"));
    let first = world.hunt();
    let oracle = world.env.repo().join("oracle.toml");
    let text = std::fs::read_to_string(&oracle).unwrap();
    let other = text.replace("64, 172, 175, 256, 170", "96, 128, 171, 173, 256");
    std::fs::write(&oracle, other).unwrap();
    let second = world.names(world.env.start(&["--good", "v1", "--bad", "HEAD"]));
    let fresh = super::world(&ODD, &grid("96, 128, 171, 173, 256")).hunt();
    for hunt in [&first, &second, &fresh] {
        assert_eq!(rules(hunt), ["d_in % 4 ≠ 0"]);
    }
    let tried = |hunt: &Hunt| {
        let cells = sweep(hunt)["cells"].as_array().unwrap().clone();
        cells.into_iter().map(|cell| cell["labels"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(tried(&second), tried(&fresh));
}
