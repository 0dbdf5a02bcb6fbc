//! The steps that later commits undid, on the screen of the answer. The notes have more about them.

use crate::evaluation::UndoneStep;
use crate::ui::text;

use super::model::Report;

/// Maximum number of steps on the screen.
const MOST: usize = 3;

/// One line a step, and how many more are in the report.
pub(super) fn lines(report: &Report) -> Vec<String> {
    let steps = &report.undone_steps;
    let mut lines: Vec<String> = steps.iter().take(MOST).map(line).collect();
    if steps.len() > MOST {
        let more = text::plural(steps.len() - MOST, "more step");
        lines.push(format!("… and {more} that later commits undid: see report.md"));
    }
    lines
}

/// `Earlier step: 9bb7b48d3f (ppl 7 → 7.5), undone by dc315c2baf at the latest; a3cad0706a makes the
/// same step again`.
fn line(step: &UndoneStep) -> String {
    let change = match text::line(&step.change) {
        change if change.is_empty() => change,
        change => format!(" ({change})"),
    };
    let again = step.made_again_by.as_ref();
    let again = again.map(|by| format!("; {} makes the same step again", by.short()));
    format!(
        "Earlier step: {}{change}, undone by {} at the latest{}",
        step.commit.short(),
        step.undone_by.short(),
        again.unwrap_or_default()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::terminal_answer;
    use crate::report::tests::fixture::{culprit, found, id};
    use crate::report::tests::with_culprit;

    #[test]
    fn the_screen_names_three_undone_steps_and_counts_the_others() {
        let step = |again| UndoneStep {
            commit: id('a'),
            change: "ppl 7 → 7.5".to_owned(),
            undone_by: id('c'),
            made_again_by: again,
        };
        let told = |steps: Vec<UndoneStep>| {
            let mut hunt = with_culprit();
            let mut finding = found(culprit("kv: pad the cache", "src/kv_cache.c"));
            finding.undone_steps = steps;
            hunt.end(finding);
            terminal_answer(&hunt.report())
        };
        let one = told(vec![step(Some(id('d')))]);
        let said = "\nEarlier step: aaaaaaaaaa (ppl 7 → 7.5), undone by cccccccccc at the latest; \
                    dddddddddd makes the same step again\n";
        assert!(one.contains(said), "{one}");
        let many = told(vec![step(None); 5]);
        assert_eq!(many.matches("\nEarlier step: ").count(), 3, "{many}");
        assert!(many.contains("\n… and 2 more steps that later commits undid: see report.md\n"));
    }
}
