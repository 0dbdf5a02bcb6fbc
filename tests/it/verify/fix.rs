//! `verify --fix`: a fix must heal every guard, every level and every cell of a sweep.

use serde_json::Value;

use super::{CELL, sent, sent_after};
use crate::kit::{Oracle, TestEnvironment, line};

#[test]
#[ignore = "long: scripts/test --long"]
fn a_fix_must_heal_each_cell() {
    let mut plan = line("g g g g");
    for label in 2..4 {
        plan = plan.with(label, "ppl@q4 = 7.5").with(label, "ppl@q8 = 7.3");
    }
    let sent = sent(plan, |oracle| {
        oracle
            .ppl_command(&format!("{CELL}{{matrix.kernel}}"))
            .section("[matrix]\nkernel = [\"f16\", \"q4\", \"q8\"]")
    });
    let cells = |found: &Value| -> Vec<(String, bool, String)> {
        let cells = found["fix"]["cells"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        cells
            .map(|cell| {
                (text(&cell["name"]), cell["showed"].as_bool().unwrap(), text(&cell["verdict"]))
            })
            .collect()
    };
    let cell = |name: &str, showed: bool, verdict: &str| {
        (format!("ppl[kernel={name}]"), showed, verdict.to_owned())
    };
    let half = sent.fix(3, "engine.conf", "id = half\nppl = 7.0\nppl@q8 = 7.3\n");
    let found = sent.found(1, &["--fix", &half]);
    assert_eq!(found["claims"][0]["verdict"], "holds");
    let wanted =
        [cell("f16", false, "holds"), cell("q4", true, "holds"), cell("q8", true, "does-not-hold")];
    assert_eq!(cells(&found), wanted);
    sent.verify(&["--yes", "--fix", &half]).expect(1).says(&[
        "The fix does not heal all: 2 of 3 cells",
        "guard ppl[kernel=q4]: healed (parent 7, fix 7)",
        "guard ppl[kernel=q8]: not healed (parent 7, fix 7.3)",
        "guard ppl[kernel=f16]: as before",
    ]);
    let whole = sent.fix(3, "engine.conf", "id = whole\nppl = 7.0\n");
    assert_eq!(sent.found(0, &["--fix", &whole])["fix"]["verdict"], "holds");
    // What was healthy must stay so.
    let worse = sent.fix(3, "engine.conf", "id = worse\nppl = 7.0\nppl@f16 = 7.9\n");
    let found = sent.found(1, &["--fix", &worse]);
    assert_eq!(cells(&found)[0], cell("f16", false, "does-not-hold"));
    sent.verify(&["--yes", "--fix", sent.history.commit(2)]).expect(2);
}

#[test]
fn a_fix_must_heal_each_level_and_each_cell_of_the_sweep() {
    let env = TestEnvironment::localizing();
    let broken = "where.odd = d_in%4!=0\nppl@odd = 7.5\nchecks = q:fail:0.5\n";
    let plan = line("7.0 7.0 7.0 7.0")
        .with_all("checks = q:pass:1e-7")
        .file(0, "kernels/a.conf", "# a\n")
        .file(2, "kernels/a.conf", broken);
    let world = Oracle::new(&env).world();
    let run = "{build}/engine run ppl src={src} cache={cache} out={out}";
    let width = format!(
        "[[measure]]\nname = \"width\"\nparser = \"llama-perplexity\"\ntimeout = \"60s\"\n\
         command = '{run} d_in={{sweep.d_in}}'\nenv = {{ FAKE_WORLD = '{world}' }}"
    );
    let oracle = |oracle: Oracle| {
        oracle
            .ppl_command(&format!("{run} d_in=171"))
            .measure("suite", "suite", "parser = \"parity\"")
            .section(&width)
            .section("[[level]]\nname = \"kernel\"\nmeasures = [\"suite\"]")
            .section("[sweep]\ntolerance = 0.1\nparameters.d_in = { values = [96, 171, 256] }")
    };
    let sent = sent_after(env, plan, oracle, &["--good", "v1", "--bad", "HEAD"]);
    assert_eq!(sent.hunt.culprit(), sent.history.commit(2));
    let cells = |fix: &str, code| {
        let found = sent.found(code, &["--fix", fix]);
        let cells = found["fix"]["cells"].as_array().unwrap().clone();
        let of_text = |value: &Value| value.as_str().unwrap().to_owned();
        let of = |cell: &Value| format!("{} {}", of_text(&cell["name"]), of_text(&cell["verdict"]));
        cells.iter().map(of).collect::<Vec<_>>()
    };
    // The width that the hunt measured is healed; another one and the kernel's test are not.
    let half = "where.far = d_in>200\nppl@far = 7.5\nchecks = q:fail:0.5\n";
    let half = sent.fix(3, "kernels/a.conf", half);
    assert_eq!(
        cells(&half, 1),
        [
            "ppl holds",
            "kernel does-not-hold",
            "width[d_in=96] holds",
            "width[d_in=171] holds",
            "width[d_in=256] does-not-hold",
        ]
    );
    let whole = sent.fix(3, "kernels/a.conf", "checks = q:pass:1e-7\n");
    assert!(cells(&whole, 0).iter().all(|cell| cell.ends_with(" holds")));
}
