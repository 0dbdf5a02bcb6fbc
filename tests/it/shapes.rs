//! From the first bad commit to the cells that show its regression, and the rule that separates
//! them.

mod rules;

use rustix::process::Signal;
use serde_json::Value;

use crate::kit::{
    History, Hunt, Oracle, PATIENCE, Plan, TestEnvironment, kill, line, show, wait_until,
};

/// Pixels across a small phone.
const PHONE: u32 = 390;

struct World {
    env: TestEnvironment,
    history: History,
}

/// Six commits with perplexity 7. Commit 3 has these settings; the hunt's own runs have
/// `d_in=171 threads=4`.
fn world(settings: &[&str], sweep: &str) -> World {
    world_with(settings, sweep, |plan| plan)
}

fn world_with(settings: &[&str], sweep: &str, change: impl FnOnce(Plan) -> Plan) -> World {
    let env = TestEnvironment::localizing();
    let plan = line("7.0 7.0 7.0 7.0 7.0 7.0").file(0, "kernels/a.conf", "# a\n");
    let own = settings.join("\n") + "\n";
    let history = change(plan.file(3, "kernels/a.conf", &own)).build(&env);
    let run = "{build}/engine run ppl src={src} cache={cache} out={out}";
    let width = format!(
        "[[measure]]\nname = \"width\"\nparser = \"llama-perplexity\"\ntimeout = \"60s\"\n\
         command = '{run} d_in={{sweep.d_in}}'\nenv = {{ FAKE_WORLD = '{}' }}",
        Oracle::new(&env).world()
    );
    Oracle::new(&env)
        .ppl_command(&format!("{run} d_in=171 threads={{threads}}"))
        .section("[run]\nthreads = 4")
        .section(&if sweep.contains("d_in") { width } else { String::new() })
        .section(&format!("[sweep]\n{sweep}"))
        .write(&env);
    World { env, history }
}

impl World {
    /// The hunt's report; the first bad commit is 3.
    fn hunt(&self) -> Hunt {
        self.names(self.env.hunt().expect(0, "culprit"))
    }

    fn names(&self, hunt: Hunt) -> Hunt {
        assert_eq!(hunt.report["culprit"]["commit"], self.history.commit("3"));
        hunt
    }
}

/// The sweep of the report's only swept measure.
fn sweep(hunt: &Hunt) -> &Value {
    let sweeps = hunt.report["shapes"]["sweeps"].as_array().unwrap();
    assert_eq!(sweeps.len(), 1);
    &sweeps[0]
}

/// What a cell shows, by its labels: `171` or `171 4`.
fn shows(hunt: &Hunt, labels: &str) -> String {
    cell(hunt, labels)["shows"].as_str().unwrap().to_owned()
}

fn cell<'r>(hunt: &'r Hunt, labels: &str) -> &'r Value {
    let wanted: Vec<&str> = labels.split(' ').collect();
    let mut cells = sweep(hunt)["cells"].as_array().unwrap().iter();
    cells.find(|cell| cell["labels"] == Value::from(wanted.clone())).unwrap()
}

/// The terminal or the progress says all of this.
#[track_caller]
fn says(hunt: &Hunt, words: &[&str]) {
    for words in words {
        let is_there = [&hunt.output.stdout, &hunt.output.stderr].iter().any(|t| t.contains(words));
        assert!(is_there, "{words} in {:?}", hunt.output);
    }
}

fn cells(hunt: &Hunt) -> usize {
    sweep(hunt)["cells"].as_array().unwrap().len()
}

const ODD: [&str; 2] = ["where.odd = d_in%4!=0", "ppl@odd = 7.5"];
const WIDTHS: &str = "tolerance = 0.1\n\
                      parameters.d_in = { values = [96, 128, 171, 173, 252, 256], range = [1, 512] }";

#[test]
fn a_modulus_and_the_width_that_tells_it_from_odd_widths() {
    let world = world(&ODD, WIDTHS);
    let hunt = world.hunt();
    says(
        &hunt,
        &[
            "Shapes: only where d_in % 4 ≠ 0: shows in 3 of 3 such cells, in 0 of 4 others",
            "width[d_in=171]: shows it (width 7.5, parent 7)",
        ],
    );
    assert_eq!((cells(&hunt), shows(&hunt, "170").as_str()), (7, "difference"));
    // A cell is run twice if commit and parent differ there, or if it shows nothing and the rule
    // rests on it. The rule does not rest on 256. Only the commit and its parent are run.
    for (labels, runs) in [("170", 2), ("96", 2), ("128", 2), ("252", 2), ("256", 1)] {
        for side in ["parent", "commit"] {
            let attempts = cell(&hunt, labels)[side]["attempts"].as_array().unwrap();
            assert_eq!(attempts.len(), runs, "{labels} {side}");
        }
    }
    let commits = hunt.report["commits"].as_array().unwrap();
    assert!(commits.iter().all(|commit| !commit.to_string().contains("width")));
    // The cells are in all forms, and each leads to its logs.
    let logs = hunt.report["shapes"]["logs"].as_object().unwrap();
    assert_eq!(logs.len(), 2 * (6 * 2 + 1));
    for log in logs.values() {
        assert!(hunt.folder.join(log.as_str().unwrap()).is_file(), "{log}");
    }
    let words = "only where d_in % 4 ≠ 0";
    for form in ["report.md", "report.html", "report.json"] {
        assert!(hunt.file(form).contains(words), "{form}");
    }
    assert!(hunt.file("report.md").contains("## Where the regression shows"));
    let issue = world.env.run(&["report", "--format", "issue"]).expect(0).stdout;
    assert!(issue.contains("- Shapes: only where d_in % 4 ≠ 0"), "{issue}");
    assert!(issue.lines().count() <= 40);
    // Another hunt takes the same runs from the store.
    let starts = world.env.starts().len();
    let again = world.names(world.env.start(&["--good", "v1", "--bad", "HEAD"]));
    assert_eq!(sweep(&again)["end"], sweep(&hunt)["end"]);
    let new = world.env.starts().split_off(starts);
    assert!(new.iter().all(|start| start.kind != "run"), "{new:?}");
}

#[test]
fn a_guarded_measure_over_threads_is_judged_by_its_guard() {
    let many = ["where.many = threads>3", "ppl@many = 7.5"];
    let sweep = "measures = [\"ppl\"]\nparameters.threads = [1, 2, 4]";
    let hunt = world(&many, sweep).hunt();
    says(
        &hunt,
        &["Shapes: only where threads above some value in 2..3: shows in 1 of 1 such cells, in 0 \
         of 2 others; as simple and not ruled out: "],
    );
    assert_eq!(cells(&hunt), 3);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_range_of_threads_and_steps_within_the_tolerance_are_judged_by_the_guard() {
    let many = ["where.many = threads>3", "ppl@many = 7.5"];
    let inside = "measures = [\"ppl\"]\nparameters.threads = { values = [1, 8], range = [1, 16] }";
    let hunt = world(&many, inside).hunt();
    says(&hunt, &["Shapes: only where threads > 3: "]);
    // A step within the tolerance of 0.2 counts as none.
    let sweep = "measures = [\"ppl\"]\nparameters.threads = [1, 2, 4]";
    let small = ["where.a = threads>1", "ppl@a = 7.1", "where.many = threads>3", "ppl@many = 7.5"];
    let hunt = world(&small, sweep).hunt();
    assert_eq!(shows(&hunt, "2"), "nothing");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn two_parameters_make_a_grid() {
    let world = world_with(&ODD, "", |plan| plan);
    let world_dir = Oracle::new(&world.env).world();
    let run = "{build}/engine run ppl src={src} cache={cache} out={out}";
    Oracle::new(&world.env)
        .ppl_command(&format!("{run} d_in=171"))
        .section(&format!(
            "[[measure]]\nname = \"width\"\nparser = \"llama-perplexity\"\n\
             command = '{run} d_in={{sweep.d_in}} threads={{threads}}'\n\
             env = {{ FAKE_WORLD = '{world_dir}' }}"
        ))
        .section(
            "[sweep]\ntolerance = 0.1\nparameters.d_in = [96, 170, 171, 252, 256]\n\
             parameters.threads = [1, 2]",
        )
        .write(&world.env);
    let hunt = world.hunt();
    says(&hunt, &["only where d_in % 4 ≠ 0: shows in 4 of 4 such cells, in 0 of 6 others"]);
    let report = hunt.file("report.md");
    assert!(report.contains("| cell | threads=1 | threads=2 |"), "{report}");
    let page = show(&world.env, &hunt.folder.join("report.html"), PHONE);
    assert!(page.dom.contains("<th scope=\"col\">threads=2</th>"), "{}", page.dom);
    assert!(page.width <= PHONE, "{} pixels wide on a screen of {PHONE}", page.width);
    assert_eq!(page.too_wide, Vec::<String>::new());
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_cell_that_fails_at_both_is_not_known_and_one_that_fails_once_is_run_again() {
    let long = ["where.long = d_in>300", "fate@long = crash:6"];
    let settings =
        [&ODD[..], &long, &["where.once = d_in>260", "fate@once = crash:6 well"]].concat();
    let sweep = "tolerance = 0.1\nparameters.d_in = [96, 128, 170, 171, 173, 252, 256, 272, 400]";
    // The parent crashes too in the longest cell.
    let world = world_with(&settings, sweep, |plan| {
        plan.file(0, "kernels/b.conf", "where.zlong = d_in>300\nfate@zlong = crash:6\n")
    });
    let hunt = world.hunt();
    assert_eq!(cell(&hunt, "400")["shows"], "unresolved");
    assert_eq!(cell(&hunt, "400")["reason"], "both fail");
    assert_eq!(cell(&hunt, "272")["reason"], "width[d_in=272] 7 against 7");
    says(
        &hunt,
        &[
            "only where d_in % 4 ≠ 0: shows in 3 of 3 such cells, in 0 of 5 others",
            "; 1 cell cannot be judged",
        ],
    );
}

#[test]
fn if_runs_of_a_cell_disagree_no_cell_is_clean_by_one_run() {
    // In the two widest cells every second run is as good as the parent's.
    let settings = [&ODD[..], &["where.wide = d_in>253", "ppl@wide = 7.0 7.5"]].concat();
    let sweep = "tolerance = 0.1\nparameters.d_in = [96, 128, 171, 173, 252, 255, 257]";
    let hunt = world(&settings, sweep).hunt();
    for wide in ["255", "257"] {
        assert_eq!(shows(&hunt, wide), "unresolved", "{:#}", cell(&hunt, wide));
    }
    says(&hunt, &["only where d_in % 2 ≠ 0: shows in 2 of 2 such cells, in 0 of 3 others"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_crash_that_repeats_shows_the_regression_and_its_border_is_found() {
    let settings = [&ODD[..], &["where.long = d_in>300", "fate@long = crash:6"]].concat();
    let sweep = "tolerance = 9\nparameters.d_in = { values = [96, 171, 400], range = [1, 500] }";
    let hunt = world(&settings, sweep).hunt();
    says(&hunt, &["Shapes: only where d_in > 300: ", "(width crashes, parent 7)"]);
    assert!(cells(&hunt) <= 16, "{}", cells(&hunt));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_budget_of_cells_leaves_rivals_that_are_named() {
    let sweep = format!("budget = 6\n{WIDTHS}");
    let hunt = world(&ODD, &sweep).hunt();
    assert_eq!(cells(&hunt), 6);
    says(
        &hunt,
        &[
            "only where d_in % 2 ≠ 0: shows in 2 of 2 such cells, in 0 of 4 others; as simple and not \
         ruled out (the budget of cells is spent): d_in % 4 ≠ 0",
        ],
    );
}

#[test]
#[ignore = "long: scripts/test --long"]
fn everywhere_and_nowhere() {
    let sweep = "tolerance = 0.1\nparameters.d_in = [171, 173]";
    says(&world(&ODD, sweep).hunt(), &["Shapes: everywhere: in all 2 swept cells"]);
    let sweep = "tolerance = 9\nparameters.d_in = [171, 173]";
    says(&world(&ODD, sweep).hunt(), &["Shapes: in none of the 2 swept cells"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_regression_that_comes_and_goes_has_no_simple_rule() {
    let settings = [
        "where.a = d_in>10",
        "ppl@a = 7.5",
        "where.b = d_in>20",
        "ppl@b = 7",
        "where.c = d_in>30",
        "ppl@c = 7.5",
        "where.d = d_in>40",
        "ppl@d = 7",
        "where.e = d_in>50",
        "ppl@e = 7.5",
    ];
    let sweep = "tolerance = 0.1\nparameters.d_in = [3, 7, 12, 13, 16, 18, 22, 24, 27, 29, 32, \
                 33, 38, 39, 41, 44, 46, 47, 52, 53, 56, 58]";
    let hunt = world(&settings, sweep).hunt();
    says(&hunt, &["Shapes: no simple rule: shows in 12 of 22 cells"]);
}

#[test]
fn what_is_not_swept_says_why() {
    let open = world(&ODD, "parameters.d_in = [96, 171]");
    let output = open.env.run(&["start", "--good", "v1"]).expect(2);
    output.says(&["sweep.tolerance: is needed", "no guard is on the measure `width`"]);
    let plain = world(&ODD, WIDTHS);
    let hunt = plain.env.start(&["--good", "v1", "--bad", "HEAD", "--no-localize"]);
    assert_eq!(hunt.report["shapes"], Value::Null);
    assert!(plain.env.log().iter().all(|line| !line.contains("fault")));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn in_too_much_noise_nothing_is_swept() {
    let noisy = world_with(&["ppl+a = 1.5"], WIDTHS, |plan| plan.with_all("noise = 0.3\nseed = 5"));
    let args = ["--good", "v1", "--bad", "HEAD", "--search", "posterior"];
    let hunt = noisy.env.start(&args).expect(0, "culprit");
    says(&hunt, &["Shapes: not swept: runs vary too much to compare single cells"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_killed_sweep_goes_on_where_it_was() {
    let slow = |plan: Plan| plan.with_all("chunk_ms = 10");
    let whole = world_with(&ODD, WIDTHS, slow);
    let expected = whole.hunt();
    let runs = whole.env.runs().len();
    let world = world_with(&ODD, WIDTHS, slow);
    let driver = world.env.spawn_product(&["start", "--good", "v1", "--bad", "HEAD"]);
    let swept = || {
        let hunts = world.env.git_folder().join("bisect-ppl/hunts");
        let hunt = std::fs::read_dir(hunts).ok()?.next()?.ok()?.path();
        let journal = std::fs::read_to_string(hunt.join("journal.jsonl")).ok()?;
        Some(journal.matches("\"event\":\"swept\"").count())
    };
    assert!(wait_until(PATIENCE, || swept() >= Some(3)));
    kill(driver.pid(), Signal::KILL);
    drop(driver.wait());
    let hunt = world.names(world.env.resume().expect(0, "culprit"));
    assert_eq!(sweep(&hunt)["end"], sweep(&expected)["end"]);
    assert_eq!(cells(&hunt), cells(&expected));
    // At most the run that was killed is repeated.
    assert!(world.env.runs().len() <= runs + 1, "{} {runs}", world.env.runs().len());
    let swept = |hunt: &Hunt| hunt.file("journal.jsonl").matches("\"event\":\"swept\"").count();
    assert_eq!(swept(&hunt), swept(&expected));
}

#[test]
fn a_fault_of_the_machine_shows_nothing() {
    // The machine breaks in the middle of the sweep, and the control run at the good end shows it.
    let settings = [&ODD[..], &["where.last = d_in>255", "break_world@last = transient"]].concat();
    let world = world(&settings, "tolerance = 0.1\nparameters.d_in = [96, 171, 256]");
    let hunt = world.hunt();
    assert_eq!(cell(&hunt, "256")["shows"], "unresolved");
    assert!(cell(&hunt, "256")["reason"].as_str().unwrap().contains("the machine is at fault"));
    says(&hunt, &["shows in 1 of 1 such cells, in 0 of 1 others", "1 cell cannot be judged"]);
}

#[test]
fn values_that_are_paths_are_inputs_and_have_properties() {
    let world = world(&["ppl = 7.5", "ppl@swept = 7", "ppl@wide = 7.5"], "");
    for (name, script) in [
        ("tiny", "where.swept = on>0"),
        ("deep", "where.swept = on>0"),
        ("wide", "where.swept = on>0\nwhere.wide = on>0"),
    ] {
        let folder = world.env.path("inputs").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("model.conf"), format!("{script}\n")).unwrap();
    }
    let world_dir = Oracle::new(&world.env).world();
    Oracle::new(&world.env)
        .section(&format!(
            "[[measure]]\nname = \"net\"\nparser = \"llama-perplexity\"\n\
             command = '{{build}}/engine run ppl src={{src}} cache={{cache}} out={{out}} on=1 \
             model={{inputs.net}}'\nenv = {{ FAKE_WORLD = '{world_dir}' }}\n\
             [sweep]\ntolerance = 0.1\nparameters.net = [\n\
             {{ name = \"tiny\", value = \"../inputs/tiny\", width = 96, layers = 4 }},\n\
             {{ name = \"deep\", value = \"../inputs/deep\", width = 96, layers = 40 }},\n\
             {{ name = \"wide\", value = \"../inputs/wide\", width = 512, layers = 8 }},\n]"
        ))
        .write(&world.env);
    let hunt = world.hunt();
    // The number of layers says nothing; the name does as well as the width.
    says(&hunt, &["only where width above some value in 96..511: ", "as simple and not ruled out"]);
    let end = sweep(&hunt)["end"].to_string();
    assert!(end.contains("\"wide\"") && !end.contains("\"above\":{\"low\":8"), "{end}");
    let inputs = hunt.report["inputs"].as_object().unwrap();
    assert!(inputs.keys().any(|name| name == "net[wide]"), "{inputs:?}");
    // Another file is another cell: only its runs, two of each side, are made again.
    std::fs::write(world.env.path("inputs/tiny/model.conf"), "where.swept = on>0\n\n").unwrap();
    let starts = world.env.runs().len();
    world.names(world.env.start(&["--good", "v1", "--bad", "HEAD"]));
    assert_eq!(world.env.runs().len(), starts + 4);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_hunt_for_a_fix_sweeps_what_the_fix_changed() {
    let world = world_with(&[], WIDTHS, |plan| {
        let before = ODD.join("\n") + "\n";
        (0..3).fold(plan, |plan, label| plan.file(label, "kernels/a.conf", &before))
    });
    let args = ["start", "--find-fix", "--bad", "v1", "--good", "HEAD"];
    let hunt = Hunt::of(&world.env, world.env.run(&args)).expect(0, "culprit");
    let hunt = world.names(hunt);
    says(&hunt, &["only where d_in % 4 ≠ 0", "width[d_in=171]: shows it (width 7, parent 7.5)"]);
}
