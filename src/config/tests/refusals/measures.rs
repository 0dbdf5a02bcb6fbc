//! Refusals of measures: parsers, their keys, commands and placeholders.

use super::*;

#[test]
fn logits_need_a_file_and_only_they_have_presets() {
    let logits = SMALL.replace("llama-perplexity", "logits");
    let said = refused("llama-perplexity", "logits");
    says(&said[0], "measure.ppl.file: is missing; e.g. `file = \"{out}/logits.npy\"`");
    let guarded = |text: &str, guard: &str| {
        parse(
            &text
                .replace("max_increase = 0.05", guard)
                .replace("parser = \"logits\"", "parser = \"logits\"\nfile = \"{out}/logits.npy\""),
        )
    };
    let of = |preset: &str| -> Vec<(String, GuardForm)> {
        let config = guarded(&logits, &format!("preset = \"{preset}\"")).unwrap();
        config.guards.iter().map(|one| (one.metric.to_string(), one.form)).collect()
    };
    assert_eq!(of("bitwise"), [("ppl.identical".to_owned(), GuardForm::Min(1.0))]);
    assert_eq!(of("lossless-f32"), [("ppl.max_abs".to_owned(), GuardForm::Max(1e-5))]);
    let lossy = [("ppl.min_cosine", GuardForm::Min(0.999)), ("ppl.mean_kl", GuardForm::Max(0.01))];
    assert_eq!(of("lossy"), lossy.map(|(metric, form)| (metric.to_owned(), form)));
    for (text, guard, wanted) in [
        (SMALL, "preset = \"lossy\"", "belongs to a measure with the parser `logits`"),
        (&logits, "preset = \"exact\"", "Allowed: bitwise, lossless-f32, lossless-f16, lossy"),
        (&logits, "preset = \"lossy\"\nmax = 1", "guard[1].max: a preset has its own tolerances"),
    ] {
        let said = guarded(text, guard).unwrap_err().to_string();
        assert!(said.contains(wanted), "{guard}: {said}");
    }
    let preset = "preset = \"lossless-f16\"";
    let max = "max = 0.5";
    let second = |first: &str, metric: &str, second: &str| {
        guarded(&logits, &format!("{first}\n[[guard]]\nmetric = \"{metric}\"\n{second}"))
    };
    for (metric, again) in [("ppl", "preset = \"lossless-f32\""), ("ppl.max_abs", max)] {
        let said = second(preset, metric, again).unwrap_err().to_string();
        assert!(said.contains("guard[2]: `ppl.max_abs` has a guard of this form"), "{said}");
    }
    let explicit = logits.replace("metric = \"ppl\"", "metric = \"ppl.max_abs\"");
    let last = format!("{max}\n[[guard]]\nmetric = \"ppl\"\n{preset}");
    let said = guarded(&explicit, &last).unwrap_err().to_string();
    assert!(said.contains("guard[2]: `ppl.max_abs` has a guard of this form"), "{said}");
    assert!(second(preset, "ppl", "preset = \"bitwise\"").is_ok());
}

#[test]
fn tensors_are_asked_for_after_a_commit_was_found_and_yield_no_metric() {
    let dump = "[[measure]]\nname = \"dump\"\ncommand = \"x\"\nparser = \"tensors\"\n";
    for file in ["", "file = \"{out}/dump\"\n"] {
        let config = parse(&format!("{SMALL}{dump}{file}")).unwrap();
        assert!(config.measure("dump").unwrap().for_cause);
        assert_eq!(config.search_measures(), ["ppl"]);
    }
    for metric in ["dump", "dump.blk0", "dump.wall_s"] {
        let guard = format!("[[guard]]\nmetric = \"{metric}\"\nmax = 1\n");
        says(&refused_extra(&format!("{dump}{guard}")), "guard[2].metric: `dump` has no metric");
    }
}

#[test]
fn a_requirement_is_one_thing() {
    let require = |keys: &str| refused_extra(&format!("[[require]]\nmeasure = 'ppl'\n{keys}\n"));
    says(
        &require(""),
        "require[1].pattern: is missing; e.g. `pattern = \"backend: cpu\"`, or `checks = \"same-set\"`",
    );
    says(
        &require("pattern = 'x'\nchecks = 'same-set'"),
        "require[1].checks: `pattern` and `checks` are both given; write another [[require]].",
    );
    says(&require("checks = 'all'"), "require[1].checks: `all` is not allowed. Allowed: same-set");
    says(
        &require("checks = 'same-set'"),
        "require[1].checks: the measure's parser does not report which checks ran; llama-bench, \
         llama-eval-callback, lm-eval, parity and junit do.",
    );
    let text = SMALL
        .replace("parser = \"llama-perplexity\"", "parser = \"junit\"")
        .replace("metric = \"ppl\"", "metric = \"ppl.failures\"");
    let text = format!("{text}[[require]]\nmeasure = 'ppl'\nchecks = 'same-set'\n");
    assert_eq!(parse(&text).unwrap().same_checks(), ["ppl"]);
}

#[test]
fn metrics_that_show_in_a_run_may_have_any_name() {
    let with = |parser: &str, metric: &str| {
        let text = SMALL
            .replace("parser = \"llama-perplexity\"", parser)
            .replace("metric = \"ppl\"", &format!("metric = \"{metric}\""));
        parse(&text).map(|config| config.guards[0].metric.to_string())
    };
    for (parser, metric) in [
        ("parser = 'llama-bench'\npick = 'mean'", "ppl.pp512_d4096"),
        ("parser = 'parity'", "ppl.GELU_Forward-Exact"),
        ("parser = 'llama-eval-callback'\npattern = '^l_out'", "ppl.l_out-0-shown"),
        ("parser = 'lm-eval'", "ppl.hellaswag-acc_norm"),
    ] {
        assert_eq!(with(parser, metric).unwrap(), metric);
    }
    says(
        &refused_parser("parser = 'parity'", "ppl"),
        "measure `ppl` yields no `ppl`; its metrics have names, such as ppl.NAME, and \
         `bisect-ppl measure REV` lists them. Every measure also yields: ppl.wall_s, \
         ppl.peak_rss_mib",
    );
    says(
        &refused_parser("parser = 'junit'", "ppl.failure"),
        "measure `ppl` yields no `ppl.failure`; did you mean `ppl.failures`? It yields: ppl.tests",
    );
    says(
        &refused_parser("parser = 'llama-bench'\npick = 'sum'", "ppl.tg128"),
        "measure.ppl.pick: speeds cannot be summed.",
    );
    says(
        &refused_parser("parser = 'junit'\npick = 'min'", "ppl.failures"),
        "measure.ppl.pick: belongs to the parser `llama-bench` or `regex`; this measure's is `junit`.",
    );
}

#[test]
fn a_file_to_read_lies_below_out() {
    for path in [
        "report.json",
        "{src}/report.json",
        "{out}",
        "{out}/",
        "{out}x/report.json",
        "{out}/../report.json",
        "{out}/a//report.json",
        "{out}/{commit}.json",
        "/tmp/{out}/report.json",
    ] {
        says(
            &refused_measure(&format!("file = '{path}'")),
            "measure.ppl.file: must be a path below {out}, such as \"{out}/report.xml\".",
        );
    }
    says(&refused_measure("file = '{out}/[x'"), "measure.ppl.file: not a glob pattern: ");
    says(&refused_measure("file = '{outt}/x'"), "unknown placeholder `{outt}`");
    says(
        &refused_parser("parser = 'exit-code'\nfile = '{out}/x'", "ppl"),
        "measure.ppl.file: the parser `exit-code` reads nothing but the exit code.",
    );
    let file = |path: &str| {
        let parser = "parser = \"llama-perplexity\"";
        let text = SMALL.replace(parser, &format!("{parser}\nfile = '{path}'"));
        parse(&text).unwrap().measures[0].file.clone().unwrap()
    };
    assert_eq!(file("{out}/a/report.json"), "a/report.json");
    assert_eq!(file("{out}/**/results_*.json"), "**/results_*.json");
}

#[test]
fn patterns_are_checked() {
    says(
        &refused_parser("parser = 'regex'", "ppl.wall_s"),
        "measure.ppl.pattern: is missing; e.g. `pattern = 'ppl: ([0-9.]+)'`: the parser `regex` needs it",
    );
    let pattern =
        |p: &str| refused_parser(&format!("parser = 'regex'\npattern = '{p}'"), "ppl.wall_s");
    says(&pattern("(a"), "measure.ppl.pattern: not a regular expression: unclosed group");
    says(&pattern("(?<a>.)(.)"), "has named and unnamed groups");
    says(&pattern("(.)(.)"), "has 2 unnamed groups");
    says(&pattern("(?<a.b>.)"), "`a.b`: a name is made of letters");
    says(&pattern("(?<wall_s>.)"), "`wall_s` is measured for every run");
    says(&pattern(""), "may not be empty");
    for text in [r"(?m)^Assistant:\n(.*)", r"a\n+(b)", r"[\n]?\n(b)"] {
        says(&pattern(text), "needs a line break, but each line of the output is matched");
    }
    says(
        &refused_extra("[[require]]\nmeasure = 'ppl'\npattern = '['\n"),
        "require[1].pattern: not a regular expression",
    );
}

#[test]
fn keys_of_another_parser_are_refused() {
    says(
        &refused_measure("pattern = 'x'"),
        "measure.ppl.pattern: belongs to the parser `llama-eval-callback` or `regex`; this measure's is `llama-perplexity`",
    );
    says(
        &refused_measure("pick = 'last'"),
        "measure.ppl.pick: belongs to the parser `llama-bench` or `regex`",
    );
    says(
        &refused_measure("pointers = { a = '/a' }"),
        "measure.ppl.pointers: belongs to the parser `json`",
    );
    says(
        &refused_parser("parser = 'regex'\npattern = 'x'\npick = 'best'", "ppl"),
        "`best` is not allowed. Allowed: first, last, min, max, sum",
    );
}

#[test]
fn json_pointers_are_checked() {
    says(
        &refused_parser("parser = 'json'", "ppl.wall_s"),
        "is missing; e.g. `pointer = \"/ppl\"`, or `pointers = ",
    );
    says(
        &refused_parser("parser = 'json'\npointer = '/a'\npointers = { b = '/b' }", "ppl.wall_s"),
        "both given",
    );
    says(&refused_parser("parser = 'json'\npointers = {}", "ppl.wall_s"), "may not be empty");
    for pointer in ["a/b", "$.a", "/a~2"] {
        says(
            &refused_parser(&format!("parser = 'json'\npointer = '{pointer}'"), "ppl"),
            "is not a JSON pointer",
        );
    }
    says(
        &refused_parser("parser = 'json'\npointers = { peak_rss_mib = '/a' }", "ppl.wall_s"),
        "is measured for every run",
    );
}

#[test]
fn placeholders_are_checked_where_they_stand() {
    says(
        &refused("{build}/ppl", "{bild}/ppl")[0],
        "oracle.toml:4:11: measure.ppl.command: unknown placeholder `{bild}`; did you mean `build`?",
    );
    says(&refused_measure("cwd = '{scr}'"), "measure.ppl.cwd: unknown placeholder");
    says(
        &refused_measure("env = { A = '{inputs.model}' }"),
        "measure.ppl.env.A: `{inputs.model}` names no input. There are no [inputs]",
    );
    says(&refused_measure("before = ['a', 'b {x}']"), "measure.ppl.before[2]: unknown placeholder");
    says(
        &refused_measure("after = ['a {chunks}']"),
        "measure.ppl.after[1]: {chunks} needs `chunks` in [run]",
    );
    says(
        &refused_extra("[build]\ncommands = ['make {out}']\n"),
        "build.commands[1]: {out} belongs to a run",
    );
    says(&refused_extra("[build]\nenv = { O = '{out}' }\n"), "build.env: {out} belongs to a run");
    says(
        &refused_extra("[environment]\nprobe = ['ls {src}']\n"),
        "environment.probe[1]: a probe describes the machine",
    );
}

#[test]
fn commands_are_checked_where_they_stand() {
    says(
        &refused("{build}/ppl", "{build}/ppl | tee x")[0],
        "measure.ppl.command: no shell reads this, so `|` has no effect",
    );
    says(
        &refused_extra("[build]\ncommands = ['make', '']\n"),
        "build.commands[2]: may not be empty",
    );
    says(&refused_extra("[build]\ncommands = ['  ']\n"), "build.commands[1]: an empty command");
    says(&refused_extra("[environment]\nprobe = ['a | b']\n"), "environment.probe[1]: no shell");
    for name in ["A-B", "*", "A*B"] {
        says(
            &refused_extra(&format!("[environment]\nvars = ['{name}']\n")),
            "environment.vars[1]: must be a variable's name",
        );
    }
    says(
        &refused_extra("[environment]\nvars = ['GIT_DIR']\n"),
        "environment.vars[1]: no command gets variables that begin with GIT_",
    );
}
