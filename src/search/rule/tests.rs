//! The search finds planted rules, and names no rule that a cell contradicts.

use proptest::prelude::*;

use super::*;

fn number(name: &str, x: u64) -> (String, Property) {
    (name.to_owned(), Property::Number(x as f64))
}

fn cell(values: &[(&str, u64)], shows: bool) -> JudgedCell {
    let properties = values.iter().map(|(name, x)| number(name, *x)).collect();
    JudgedCell { properties, shows }
}

fn words(cells: &[JudgedCell]) -> Vec<String> {
    separating_rules(cells).iter().map(ToString::to_string).collect()
}

fn widths(shown: &[u64], others: &[u64]) -> Vec<JudgedCell> {
    let of = |shows: bool| move |x: &u64| cell(&[("d_in", *x)], shows);
    shown.iter().map(of(true)).chain(others.iter().map(of(false))).collect()
}

#[test]
fn widths_that_are_no_multiple_of_four() {
    let cells = widths(&[171, 173], &[96, 128, 252, 256]);
    assert_eq!(words(&cells), ["d_in % 2 ≠ 0", "d_in % 4 ≠ 0"]);
    // An even width that is no multiple of four distinguishes the two; 170 is the nearest.
    let tried = BTreeSet::from([96, 128, 171, 173, 252, 256]);
    let numbers = distinguishing_numbers([1, 512], &tried);
    let candidates: Vec<Properties> =
        numbers.iter().map(|x| Properties::from([number("d_in", *x)])).collect();
    let place = most_informative_cell(&separating_rules(&cells), &candidates).unwrap();
    assert_eq!(numbers[place], 170);
    let cells = widths(&[171, 173, 170], &[96, 128, 252, 256]);
    assert_eq!(words(&cells), ["d_in % 4 ≠ 0"]);
    assert_eq!(most_informative_cell(&separating_rules(&cells), &candidates), None);
}

#[test]
fn a_border_is_halved_until_it_is_exact() {
    let mut cells = widths(&[300, 301, 305, 320, 350], &[64, 256]);
    let is_above = |rules: &[String]| rules[0] == "d_in above some value in 256..299";
    assert!(is_above(&words(&cells)), "{:?}", words(&cells));
    let mut tests = 0;
    loop {
        let rules = separating_rules(&cells);
        let candidates: Vec<Properties> =
            (1..=512).map(|x| Properties::from([number("d_in", x)])).collect();
        let Some(place) = most_informative_cell(&rules, &candidates) else { break };
        let x = place as u64 + 1;
        cells.push(cell(&[("d_in", x)], x > 256));
        tests += 1;
    }
    assert_eq!(words(&cells), ["d_in > 256"]);
    assert!(tests <= 12, "{tests}");
}

#[test]
fn a_word_and_its_number_are_rivals() {
    let named = |name: &str, width: u64, shows| {
        let mut one = cell(&[("width", width)], shows);
        one.properties.insert("model".to_owned(), Property::Word(name.to_owned()));
        one
    };
    let cells = [named("tiny", 288, true), named("small", 512, false)];
    let found = words(&cells);
    assert_eq!(found[0], "width up to some value in 288..511");
    assert!(found.contains(&"model = \"tiny\"".to_owned()), "{found:?}");
    assert!(!found.iter().any(|rule| rule.contains("small")), "{found:?}");
}

#[test]
fn two_conditions_only_if_one_is_not_enough() {
    let of = |threads, length, shows| cell(&[("threads", threads), ("length", length)], shows);
    let mut cells = Vec::new();
    for threads in [1, 2, 4, 8] {
        for length in [64, 256, 300] {
            cells.push(of(threads, length, threads > 2 && length > 256));
        }
    }
    let found = words(&cells);
    let planted = "length above some value in 256..299 and threads above some value in 2..3";
    assert_eq!(found[0], planted);
    // A list of all values of one property is no rule.
    let listed = widths(&[5, 11], &[1, 2, 3, 4, 6, 7, 8, 9, 10, 12, 13, 17, 23]);
    let found = words(&listed);
    assert!(found.iter().all(|rule| !rule.contains("d_in = 5 or d_in = 11")), "{found:?}");
}

#[test]
fn alike_cells_have_no_rule() {
    assert!(separating_rules(&widths(&[1, 2, 3], &[])).is_empty());
    assert!(separating_rules(&widths(&[], &[1, 2, 3])).is_empty());
    assert!(separating_rules(&[]).is_empty());
    // The same cell cannot show and not show.
    assert!(separating_rules(&widths(&[1], &[1])).is_empty());
}

#[test]
fn a_large_range_is_looked_at_near_what_was_tried() {
    let numbers = distinguishing_numbers([1, 1_000_000], &BTreeSet::from([100, 900_000]));
    assert_eq!(numbers[..3], [100, 900_000, 99]);
    for wanted in [450_050, 1, 1_000_000, 128, 384, 901_120] {
        assert!(numbers.contains(&wanted), "{wanted}");
    }
    assert!(numbers.len() < 2000, "{}", numbers.len());
}

/// A rule to find, over widths of 1 to 128 and threads of 1 to 8.
fn planted() -> impl Strategy<Value = ShapeRule> {
    let comparison = prop_oneof![
        (8_u32..100).prop_map(|x| Comparison::Above(border(x))),
        (8_u32..100).prop_map(|x| Comparison::AtMost(border(x))),
        (2_u64..16).prop_map(Comparison::Multiple),
        (2_u64..16).prop_map(Comparison::NoMultiple),
    ];
    comparison.prop_map(|is| ShapeRule::single(Condition { property: "width".to_owned(), is }))
}

fn border(low: u32) -> Border {
    Border { low: f64::from(low), high: f64::from(low) + 1.0 }
}

fn of(width: u64, threads: u64) -> Properties {
    Properties::from([number("width", width), number("threads", threads)])
}

proptest! {
    #[test]
    fn the_planted_rule_is_found(
        rule in planted(),
        widths in prop::collection::btree_set(1_u64..=128, 4..8),
    ) {
        let judged = |cell: &Properties| {
            JudgedCell { properties: cell.clone(), shows: rule.holds(cell).unwrap() }
        };
        let mut cells: Vec<JudgedCell> = Vec::new();
        for threads in [1, 2, 4] {
            cells.extend(widths.iter().map(|width| judged(&of(*width, threads))));
        }
        let candidates: Vec<Properties> = (1..=128).map(|width| of(width, 2)).collect();
        let mut tests = 0;
        let left = loop {
            let rules = separating_rules(&cells);
            for rule in &rules {
                for cell in &cells {
                    prop_assert_eq!(rule.holds(&cell.properties), Some(cell.shows), "{}", rule);
                }
            }
            prop_assert_eq!(&rules, &separating_rules(&cells));
            let Some(place) = most_informative_cell(&rules, &candidates) else { break rules };
            cells.push(judged(&candidates[place]));
            tests += 1;
        };
        let shown = cells.iter().filter(|cell| cell.shows).count();
        // Without a cell of each kind there is nothing to ask.
        prop_assume!(shown > 0 && shown < cells.len());
        prop_assert!(!left.is_empty());
        for cell in &candidates {
            prop_assert_eq!(left[0].holds(cell), rule.holds(cell), "{} for {}", left[0], rule);
        }
        prop_assert!(tests <= 16, "{tests} tests for {rule}");
    }

    #[test]
    fn no_rule_is_contradicted(
        known in prop::collection::vec((1_u64..40, 1_u64..9, any::<bool>()), 1..12),
    ) {
        let judged = |(width, threads, shows): &(u64, u64, bool)| {
            JudgedCell { properties: of(*width, *threads), shows: *shows }
        };
        let cells: Vec<JudgedCell> = known.iter().map(judged).collect();
        let rules = separating_rules(&cells);
        for rule in &rules {
            prop_assert_eq!(rule.conditions.len(), rules[0].conditions.len());
            for cell in &cells {
                prop_assert_eq!(rule.holds(&cell.properties), Some(cell.shows), "{}", rule);
            }
        }
    }

    #[test]
    fn the_order_of_the_cells_changes_no_rule(
        (known, shuffled) in prop::collection::vec((1_u64..300, 1_u64..5, any::<bool>()), 2..12)
            .prop_flat_map(|known| (Just(known.clone()), Just(known).prop_shuffle())),
    ) {
        let rules = |known: &[(u64, u64, bool)]| {
            let judged = known.iter().map(|(width, threads, shows)| {
                JudgedCell { properties: of(*width, *threads), shows: *shows }
            });
            separating_rules(&judged.collect::<Vec<_>>())
        };
        prop_assert_eq!(rules(&known), rules(&shuffled));
    }
}
