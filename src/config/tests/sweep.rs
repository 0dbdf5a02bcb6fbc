//! `[sweep]`: parameters, the measures that are swept, and their cells.

use super::*;
use crate::evaluation::Property;

const SWEPT: &str = r#"version = 1
[inputs]
text = "eval.txt"
[sweep]
measures = ["width", "ppl", "run"]
tolerance = 1e-5
[sweep.parameters]
d_in = { values = [96, 171], range = [1, 512] }
threads = [1, 4]
model = [
  { name = "tiny", value = "models/tiny-v2.gguf", heads = 6, kind = "dense" },
  { name = "small", value = "models/small.gguf", heads = 8, kind = "moe" },
]
[[measure]]
name = "ppl"
command = "{build}/ppl -f {inputs.text} -t {threads}"
parser = "llama-perplexity"
[[measure]]
name = "width"
command = "{build}/inspect --shape 96x{sweep.d_in}"
parser = "parity"
env = { T = "{threads}" }
[[measure]]
name = "run"
command = "{build}/run -m {inputs.model}"
parser = "regex"
pattern = "([0-9]+)"
[[require]]
measure = "width"
pattern = "cpu"
[[guard]]
metric = "ppl"
max_increase = 0.05
"#;

fn sweep(text: &str) -> Sweep {
    parse(text).unwrap().sweep.unwrap()
}

#[test]
fn a_measure_that_names_a_parameter_runs_only_in_the_sweep() {
    let config = parse(SWEPT).unwrap();
    assert_eq!(config.search_measures(), ["ppl"]);
    let sweep = config.sweep.as_ref().unwrap();
    assert_eq!((sweep.budget, sweep.tolerance), (64, Some(1e-5)));
    let named = |measure: &str| -> Vec<&str> {
        let measure = config.measure(measure).unwrap();
        sweep.parameters_of(measure).iter().map(|one| one.name.as_str()).collect()
    };
    assert_eq!(named("width"), ["d_in", "threads"]);
    assert_eq!(named("ppl"), ["threads"]);
    assert_eq!(named("run"), ["model"]);
    assert_eq!(sweep.parameters[0].range, Some([1, 512]));
    let tiny = &sweep.parameters[2].values[0];
    let word = |text: &str| Property::Word(text.to_owned());
    assert_eq!(tiny.properties["heads"], Property::Number(6.0));
    assert_eq!(tiny.properties["kind"], word("dense"));
    assert_eq!(tiny.properties["model"], word("tiny"));
    // Paths are inputs, and the parameter itself is none.
    assert_eq!(config.inputs["model[tiny]"], "models/tiny-v2.gguf");
    assert!(!config.inputs.contains_key("model"));
    // Without a list, only those that run nowhere else are swept.
    let rest = SWEPT.replace("measures = [\"width\", \"ppl\", \"run\"]\n", "");
    assert_eq!(self::sweep(&rest).measures, ["width", "run"]);
}

#[test]
fn a_cell_is_the_measure_with_the_values_in_place() {
    let config = parse(SWEPT).unwrap();
    let sweep = config.sweep.as_ref().unwrap();
    let [d_in, threads, model] = sweep.parameters.as_slice() else { panic!() };
    let width = config.measure("width").unwrap();
    let cell = [(d_in, d_in.number(170)), (threads, threads.values[1].clone())];
    let (cell_config, name) = config.in_sweep_cell(width, &cell);
    assert_eq!(name, "width[d_in=170,threads=4]");
    let own = cell_config.measure(&name).unwrap();
    assert_eq!(own.command.text, "'{build}/inspect' --shape 96x170");
    assert_eq!(own.env["T"].text(), "4");
    assert!(cell_config.requires.iter().any(|require| require.measure == name));
    assert_eq!(cell[0].1.properties["d_in"], Property::Number(170.0));
    let (cell_config, name) =
        config.in_sweep_cell(config.measure("run").unwrap(), &[(model, model.values[0].clone())]);
    assert_eq!(
        cell_config.measure(&name).unwrap().command.text,
        "'{build}/run' -m '{inputs.model[tiny]}'"
    );
}

#[test]
fn what_cannot_be_swept_is_refused() {
    let cases = [
        (
            "96x{sweep.d_in}",
            "96x{sweep.d_im}",
            "{sweep.d_im} names no parameter; did you mean `d_in`?",
        ),
        ("96x{sweep.d_in}", "96x1", "no measure names {sweep.d_in}"),
        (
            "\"width\", \"ppl\"",
            "\"width\", \"pp\"",
            "there is no measure `pp`; did you mean `ppl`?",
        ),
        (
            "\"width\", \"ppl\", ",
            "\"ppl\", ",
            "`width` names a parameter and runs only in the sweep",
        ),
        ("-t {threads}", "-t 2", "`ppl` names no parameter of [sweep]"),
        (
            "metric = \"ppl\"",
            "metric = \"width.failed\"",
            "runs only to find the cause at a first bad commit",
        ),
        ("pattern = \"cpu\"", "checks = \"same-set\"", "does not run at the good end"),
        ("tolerance = 1e-5", "tolerance = -1", "a tolerance cannot be negative"),
        ("tolerance = 1e-5\n", "", "no guard is on the measure `run`. Say how far"),
        ("tolerance = 1e-5", "tolerance = 1e-5\nbudget = 7", "has 8 cells, and `budget` is 7"),
        ("tolerance = 1e-5", "[sweep.more]", "unknown key"),
        ("[1, 4]", "[]", "needs at least one value"),
        ("[1, 4]", "[1, 1]", "as another value is"),
        ("[1, 4]", "[1, { name = \"two\", value = 2 }]", "with and without properties"),
        ("range = [1, 512]", "range = [512, 1]", "the smaller one first"),
        ("range = [1, 512]", "rang = [1, 512]", "did you mean `range`?"),
        ("[96, 171], range", "['a', 'b'], range", "whose values are whole numbers"),
        ("heads = 8, kind", "kind", "not all values have the property `heads`"),
        ("kind = \"moe\"", "kind = true", "expected a number"),
        ("heads = 8, ", "heads = 8, threads = 1, ", "not all values have the property `threads`"),
        ("heads", "d_in", "`d_in` is a property of the parameter `d_in` already"),
        (
            "[[measure]]\nname = \"ppl\"",
            "[build]\ncommands = [\"make X={sweep.d_in}\"]\n[[measure]]\nname = \"ppl\"",
            "all cells share a build",
        ),
        ("[sweep]\n", "[matrix]\nd_in = [1]\n[sweep]\n", "[matrix] has an axis `d_in` already"),
        ("[sweep]\n", "[matrix]\nlength = [1, 2]\n[sweep]\n", "no measure names"),
        ("-m {inputs.model}", "-m {inputs.model} {matrix.l}", "names no axis"),
    ];
    for (from, to, said) in cases {
        let text = SWEPT.replace(from, to);
        assert_ne!(text, SWEPT, "{from}");
        let error = parse(&text).unwrap_err().to_string();
        assert!(error.contains(said), "{to}: {error}");
    }
    let mixed = SWEPT
        .replace("[sweep]\n", "[matrix]\nlength = [1, 2]\n[sweep]\n")
        .replace("96x{sweep.d_in}", "96x{sweep.d_in} {matrix.length}");
    let error = parse(&mixed).unwrap_err().to_string();
    assert!(error.contains("a measure may name one"), "{error}");
    let preset = SWEPT
        .replace("\"parity\"", "\"logits\"\nfile = \"{out}/logits.npy\"")
        .replace("\"ppl\"\nmax_increase = 0.05", "\"width\"\npreset = \"lossy\"");
    let error = parse(&preset).unwrap_err().to_string();
    assert!(error.contains("so it cannot have a guard"), "{error}");
    let none = "version = 1\n[[measure]]\nname = 'a'\ncommand = 'x {sweep.n}'\nparser = 'exit-code'\n[[guard]]\nmetric = 'a'\nmax = 0\n";
    let error = parse(none).unwrap_err().to_string();
    assert!(error.contains("{sweep.n} names no parameter. [sweep] has: no parameters"), "{error}");
}

#[test]
fn no_override_may_change_the_sweep() {
    let text = format!("{SWEPT}[[override]]\nwhen = {{ missing = 'x' }}\nsweep.budget = 9\n");
    let error = parse(&text).unwrap_err().to_string();
    assert!(error.contains("belongs to the whole hunt"), "{error}");
}
