//! `[matrix]`: cells of measures, and their guards.

use super::*;

const TWO_AXES: &str = r#"version = 1
[inputs]
text = "eval.txt"
[matrix]
model = ["models/tiny-f16.gguf", "models/tiny.Q4_0.gguf"]
threads = [1, 8]
flash = ["on", 0.5]
[build]
commands = ["make -j{threads}"]
[[measure]]
name = "ppl"
command = "{build}/ppl -m {inputs.model} -f {inputs.text} -t {threads} --json '{{}}'"
parser = "llama-perplexity"
env = { FLASH = "{matrix.flash}" }
[[measure]]
name = "size"
command = "wc -c {build}/ppl"
parser = "regex"
pattern = '([0-9]+)'
[[require]]
measure = "ppl"
pattern = "cpu"
[[guard]]
metric = "ppl"
max_increase = 0.05
[[guard]]
metric = "size"
max_increase_percent = 10
[[guard]]
metric = "ppl[model=tiny-f16,threads=8,flash=on]"
max_increase = 0.01
"#;

fn names(config: &Config) -> Vec<&str> {
    config.measures.iter().map(|measure| measure.name.as_str()).collect()
}

#[test]
fn a_measure_is_repeated_over_the_axes_that_it_names() {
    let config = parse(TWO_AXES).unwrap();
    assert_eq!(
        names(&config),
        [
            "ppl[model=tiny-f16,threads=1,flash=on]",
            "ppl[model=tiny-f16,threads=1,flash=0_5]",
            "ppl[model=tiny-f16,threads=8,flash=on]",
            "ppl[model=tiny-f16,threads=8,flash=0_5]",
            "ppl[model=tiny_Q4_0,threads=1,flash=on]",
            "ppl[model=tiny_Q4_0,threads=1,flash=0_5]",
            "ppl[model=tiny_Q4_0,threads=8,flash=on]",
            "ppl[model=tiny_Q4_0,threads=8,flash=0_5]",
            "size",
        ]
    );
    let cell = &config.measures[3];
    assert_eq!(
        cell.command.text,
        "{build}/ppl -m '{inputs.model[tiny-f16]}' -f {inputs.text} -t 8 --json '{{}}'"
            .replace("{build}/ppl", "'{build}/ppl'")
            .replace(" {inputs.text}", " '{inputs.text}'")
    );
    assert_eq!(cell.env["FLASH"].text(), "0.5");
    let values = Values::new()
        .with(Placeholder::Build, "/b")
        .with(Placeholder::Input("model[tiny-f16]".to_owned()), "/m/tiny-f16.gguf")
        .with(Placeholder::Input("text".to_owned()), "/t");
    let words = cell.command.fill(&values).unwrap();
    assert_eq!(words[1..], ["-m", "/m/tiny-f16.gguf", "-f", "/t", "-t", "8", "--json", "{}"]);
    // Each path on an axis is an input of its own, hashed like every other input.
    let inputs: Vec<_> = config.inputs.iter().map(|(name, path)| (&**name, &**path)).collect();
    assert_eq!(
        inputs,
        [
            ("model[tiny-f16]", "models/tiny-f16.gguf"),
            ("model[tiny_Q4_0]", "models/tiny.Q4_0.gguf"),
            ("text", "eval.txt"),
        ]
    );
}

#[test]
fn a_guard_holds_in_every_cell_unless_the_cell_has_its_own() {
    let config = parse(TWO_AXES).unwrap();
    assert_eq!((config.guards.len(), config.requires.len()), (9, 8));
    let own: Metric = "ppl[model=tiny-f16,threads=8,flash=on]".parse().unwrap();
    assert_eq!(config.guard(&own).unwrap().form, GuardForm::MaxIncrease(0.01));
    let other: Metric = "ppl[model=tiny-f16,threads=1,flash=on]".parse().unwrap();
    assert_eq!(config.guard(&other).unwrap().form, GuardForm::MaxIncrease(0.05));
}

#[test]
fn cells_differ_only_in_the_filled_in_values() {
    let config = parse(TWO_AXES).unwrap();
    let texts: std::collections::BTreeSet<String> = config
        .measures
        .iter()
        .map(|measure| format!("{} {:?}", measure.command.text, measure.env))
        .collect();
    assert_eq!(texts.len(), 9, "each cell has a key of its own");
    assert_eq!(config.build.commands[0].text, "make -j{threads}", "a build has no cells");
}

#[test]
fn an_override_changes_every_cell() {
    let text = format!(
        "{TWO_AXES}[[override]]\nwhen = {{ missing = \"tools\" }}\nmeasure.ppl.command = \"{{src}}/perplexity -m {{inputs.model}} -t {{threads}} {{matrix.flash}}\"\n"
    );
    let old = parse(&text).unwrap().resolve(&mut |_| Ok::<_, ()>(true)).unwrap();
    assert_eq!(names(&old), names(&parse(TWO_AXES).unwrap()));
    assert!(old.measures[0].command.text.contains("perplexity"));
}

#[test]
fn what_cannot_be_a_matrix_is_refused() {
    let refused = |from: &str, to: &str| {
        assert!(TWO_AXES.contains(from), "{from}");
        // Not compared with the schema: a schema cannot express which axes are used.
        let text = TWO_AXES.replacen(from, to, 1);
        Config::parse(&text, Path::new("/base"), "oracle.toml").unwrap_err().to_string()
    };
    for (from, to, said) in [
        ("threads = [1, 8]", "threads = [1, 1]", "`1` would be called `1`, as another value is"),
        ("threads = [1, 8]", "threads = [0]", "out of range"),
        ("threads = [1, 8]", "threads = []", "needs at least one value"),
        ("threads = [1, 8]", "threads = 8", "expected an array"),
        ("[\"on\", 0.5]", "[\"on\", \"\"]", "may not be empty"),
        ("{matrix.flash}", "{matrix.flush}", "{matrix.flush} names no axis. [matrix] has: model"),
        ("{matrix.flash}", "on", "no measure names {inputs.flash} or {matrix.flash}"),
        ("make -j{threads}", "make M={inputs.model}", "all cells share a build"),
        ("make -j{threads}", "make F={matrix.flash}", "all cells share a build"),
        (
            "flash=on]",
            "flash=off]",
            "there is no measure `ppl[model=tiny-f16,threads=8,flash=off]`",
        ),
        ("[1, 8]", &format!("{:?}", (1..=17).collect::<Vec<_>>()), "in 68 cells"),
    ] {
        let found = refused(from, to);
        assert!(found.contains(said), "{to}: {found}");
    }
    let twice = format!("{TWO_AXES}[[guard]]\nmetric = \"ppl\"\nmax_increase = 0.2\n");
    let found = parse(&twice).unwrap_err().to_string();
    assert!(found.contains("`ppl` has a guard of this form already"), "{found}");
}
