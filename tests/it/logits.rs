//! The parser `logits`: every run is compared with a run of the good end.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::kit::{History, Hunt, Oracle, Plan, TestEnvironment, line};

/// Six commits of the same perplexity, whose logits may differ.
struct World {
    env: TestEnvironment,
    history: History,
}

fn world(change: impl FnOnce(Plan) -> Plan, guard: &str) -> World {
    let env = TestEnvironment::localizing();
    let history = change(line("7.0 7.0 7.0 7.0 7.0 7.0")).build(&env);
    let keys = "parser = \"logits\"\nfile = \"{out}/logits.npy\"";
    Oracle::new(&env).only_guard(guard).measure("logits", "logits", keys).write(&env);
    World { env, history }
}

/// From commit 3 on, with this setting.
fn from_3(setting: &str) -> impl FnOnce(Plan) -> Plan {
    let setting = setting.to_owned();
    move |plan| (3..6).fold(plan, |plan, label| plan.with(label, &setting))
}

impl World {
    /// How often the engine of a commit wrote logits.
    fn runs_of(&self, label: &str) -> usize {
        let starts = self.env.starts();
        starts.iter().filter(|start| start.measure == "logits" && start.label == label).count()
    }

    fn dumps(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.env.git_folder().join("bisect-ppl/dumps")];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                (if path.is_dir() { &mut folders } else { &mut files }).push(path);
            }
        }
        files
    }
}

const LOSSLESS: &str = "metric = \"logits\"\npreset = \"lossless-f32\"";

fn figure<'r>(hunt: &'r Hunt, name: &str) -> &'r Value {
    &hunt.report["logits"][0]["difference"][name]
}

#[test]
fn the_first_commit_with_other_logits_is_found_by_a_preset() {
    let world = world(from_3("shift = 0.5"), LOSSLESS);
    let hunt = world.env.hunt().names(&world.history, 3);
    let effect = &hunt.report["culprit"]["effect"];
    assert_eq!(effect["metric"], "logits.max_abs");
    assert_eq!((&effect["parent"], &effect["commit"]), (&0.0.into(), &0.5.into()));
    assert_eq!((figure(&hunt, "positions"), figure(&hunt, "vocab")), (&4.into(), &8.into()));
    assert_eq!(figure(&hunt, "first")["max_abs"], 2);
    assert_eq!(figure(&hunt, "largest_difference")["index"], 1);
    assert_eq!(*figure(&hunt, "beyond_rounding"), Value::Bool(true));
    let said = " 0.5 at position 2, token 1, first different position 2";
    for form in ["report.md", "report.html"] {
        assert!(hunt.file(form).contains(said), "{form}");
    }
    // The reference, and two samples.
    assert_eq!(world.runs_of("0"), 3);
    // Two contents, whatever the number of runs.
    assert_eq!(world.dumps().len(), 2);

    let again = world.env.hunt().names(&world.history, 3);
    assert_eq!((world.runs_of("0"), again.report["totals"]["runs"].as_u64()), (3, Some(0)));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_damaged_file_is_measured_again() {
    let world = world(from_3("shift = 0.5"), LOSSLESS);
    world.env.hunt().names(&world.history, 3);
    for dump in world.dumps() {
        let bytes = fs::read(&dump).unwrap();
        fs::write(&dump, &bytes[..bytes.len() - 8]).unwrap();
    }
    fs::remove_dir_all(world.env.git_folder().join("bisect-ppl/comparisons")).unwrap();
    let hunt = world.env.hunt().names(&world.history, 3);
    assert!(hunt.report["totals"]["runs"].as_u64().unwrap() > 0);
    assert!(hunt.output.stderr.contains("a file with tensors that it wrote is missing or changed"));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn runs_that_vary_are_compared_with_one_that_is_no_sample() {
    let plan = |plan: Plan| from_3("shift = 6")(plan.with_all("wiggle = 0.01"));
    let world = world(plan, "metric = \"logits.mean_kl\"\nmax = 0.01");
    let hunt = world.env.hunt().names(&world.history, 3);
    let good = hunt.commit(&world.history, 0)["samples"].as_array().unwrap();
    let of = |name: &str| {
        let values = good.iter().filter(|sample| sample["metric"] == name);
        values.map(|sample| sample["value"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    let (kl, identical) = (of("logits.mean_kl"), of("logits.identical"));
    assert!(kl.len() >= 2 && kl.iter().all(|kl| *kl > 0.0), "{kl:?}");
    assert!(identical.iter().all(|identical| *identical == 0.0));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn nan_is_found_with_its_position() {
    let world = world(from_3("shift = nan"), LOSSLESS);
    let hunt = world.env.hunt().names(&world.history, 3);
    let said = "logits at position 2, token 1 is nan";
    assert!(hunt.output.stdout.contains(said), "{}", hunt.output.stdout);
    // The NaN is in the file: what the run printed does not matter.
    assert!(!hunt.output.stdout.contains("printed nothing"), "{}", hunt.output.stdout);
}

#[test]
fn logits_of_another_shape_are_not_compared() {
    let said = "its logits cannot be compared with the good end's: rows have 8 and 9 values";
    let end = world(from_3("vocab = 9"), LOSSLESS);
    let hunt = end.env.hunt().expect(4, "endpoint-unmeasurable");
    assert!(hunt.output.stdout.contains(said), "{}", hunt.output.stdout);
    // In the middle of the range, logits of another shape make the commit untestable.
    let middle = world(|plan| from_3("shift = 0.5")(plan.with(2, "vocab = 9")), LOSSLESS);
    let hunt = middle.env.hunt().expect(3, "candidates");
    assert_eq!(hunt.candidates(&middle.history), ["2", "3"]);
    assert_eq!(hunt.commit(&middle.history, 2)["verdict"], "skip");
}

#[test]
fn the_difference_between_numbers_of_threads_is_the_floor() {
    let env = TestEnvironment::localizing();
    let history = from_3("shift = 0.5")(line("7.0 7.0 7.0 7.0 7.0 7.0")).build(&env);
    let keys = "parser = \"logits\"\nfile = \"{out}/logits.npy\"";
    let guard = "metric = \"logits[room=one].max_abs\"\nmax = 1e-5";
    // Also in a cell of a matrix, whose name has brackets of its own.
    let sections = "[run]\nthreads = 2\n[matrix]\nroom = [\"one\"]";
    let oracle = Oracle::new(&env).only_guard(guard).section(sections);
    let text = oracle.measure("logits", "logits", keys).text();
    let text = text.replace("run logits", "run logits threads={threads} room={matrix.room}");
    fs::write(env.repo().join("oracle.toml"), text).unwrap();
    let hunt = env.hunt().names(&history, 3);
    let floor = &hunt.report["logits"][0]["floor"];
    assert_eq!(floor["threads"], serde_json::json!([2, 1]));
    let largest = floor["difference"]["max_abs"].as_f64().unwrap();
    assert!((largest - 1e-6).abs() < 1e-12, "{largest}");
    let said = "with 1 thread in place of 2 the parent's logits differ by at most 1e-6";
    assert!(hunt.output.stdout.contains(said), "{}", hunt.output.stdout);
    // The run with one thread is no sample of its commit.
    let samples = hunt.commit(&history, 2)["samples"].as_array().unwrap();
    assert!(samples.iter().all(|one| !one["metric"].as_str().unwrap().contains("threads=1")));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_mask_that_is_lost_is_found() {
    // The reference has −∞ where commit 3 writes a number.
    let world =
        world(|plan| (0..3).fold(plan, |plan, label| plan.with(label, "shift = -inf")), LOSSLESS);
    let hunt = world.env.hunt().names(&world.history, 3);
    let said = "|Δ| of logits at position 2, token 1 is inf";
    assert!(hunt.output.stdout.contains(said), "{}", hunt.output.stdout);
}

#[test]
fn a_link_is_no_file_with_logits() {
    let world = world(from_3("shift = 0.5"), LOSSLESS);
    let config = world.env.repo().join("oracle.toml");
    let text = fs::read_to_string(&config).unwrap();
    let link = "after = [\"ln -s logits.npy {out}/link.npy\"]\nfile = \"{out}/link.npy\"";
    fs::write(&config, text.replace("file = \"{out}/logits.npy\"", link)).unwrap();
    let hunt = world.env.hunt().expect(4, "endpoint-unmeasurable");
    assert!(hunt.output.stdout.contains("there is nothing to read at {out}/link.npy"));
}

#[test]
fn an_end_that_its_own_guard_forbids_blames_nobody_in_a_bisect_by_hand() {
    // Runs that vary are never identical to the reference.
    let bitwise = "metric = \"logits\"\npreset = \"bitwise\"";
    let world = world(|plan| plan.with_all("wiggle = 0.01"), bitwise);
    let env = &world.env;
    env.git(&["bisect", "start", "HEAD", "v1"]);
    let output = env.run(&["oracle"]);
    assert!(output.code() >= Some(128), "{output:?}");
    let said = "logits.identical is 0 at the good commit";
    assert!(output.stderr.contains(said), "{}", output.stderr);
}

#[test]
fn a_build_on_trial_yields_what_a_guard_asks_for() {
    let world = world(|plan| plan, LOSSLESS);
    let said = world.env.run(&["check", "--good", "v1", "--build"]).expect(0).stdout;
    assert!(said.contains("logits.max_abs 0"), "{said}");
}

#[test]
fn by_hand_the_shape_is_told_and_gc_takes_files_of_no_run() {
    let world = world(from_3("shift = 0.5"), LOSSLESS);
    let told = world.env.run(&["measure", "v1"]).expect(0).stdout;
    assert!(told.contains("logits.positions") && !told.contains("max_abs"), "{told}");
    assert_eq!(world.dumps().len(), 1);
    world.env.run(&["store", "forget", "v1"]).expect(0);
    let said = world.env.run(&["store", "gc"]).expect(0).stdout;
    assert!(said.contains("removed 1 file: with tensors that no remaining run wrote"), "{said}");
    assert!(world.dumps().is_empty());
}
