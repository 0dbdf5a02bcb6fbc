//! One test for each refusal: the wrong text and its message.

use super::*;

/// The problems of the small configuration with one text replaced by another.
fn refused(from: &str, to: &str) -> Vec<String> {
    assert!(SMALL.contains(from), "nothing to replace");
    let error = parse(&SMALL.replacen(from, to, 1)).expect_err(to);
    error.problems.iter().map(ToString::to_string).collect()
}

/// The one problem of the small configuration with `extra` after it.
fn refused_extra(extra: &str) -> String {
    let error = parse(&format!("{SMALL}{extra}")).expect_err(extra);
    assert_eq!(error.problems.len(), 1, "{error}");
    error.problems[0].to_string()
}

/// The one problem when the measure has further keys.
fn refused_measure(keys: &str) -> String {
    let parser = "parser = \"llama-perplexity\"";
    let said = refused(parser, &format!("{parser}\n{keys}"));
    assert_eq!(said.len(), 1, "{keys}: {said:#?}");
    said[0].clone()
}

/// The one problem when the measure has this parser and the guard this metric.
fn refused_parser(keys: &str, metric: &str) -> String {
    let text = SMALL
        .replace("parser = \"llama-perplexity\"", keys)
        .replace("metric = \"ppl\"", &format!("metric = \"{metric}\""));
    let error = parse(&text).expect_err(keys);
    assert_eq!(error.problems.len(), 1, "{error}");
    error.problems[0].to_string()
}

fn refused_guard(keys: &str) -> String {
    let said = refused("max_increase = 0.05", keys);
    assert_eq!(said.len(), 1, "{keys}: {said:#?}");
    said[0].clone()
}

#[track_caller]
fn says(said: &str, expected: &str) {
    assert!(said.contains(expected), "\nsaid:     {said}\nexpected: {expected}");
}

#[test]
fn what_is_needed_is_missed() {
    let error = parse("").unwrap_err();
    let keys: Vec<_> = error.problems.iter().map(|p| p.key.as_str()).collect();
    assert_eq!(keys, ["guard", "measure", "version"]);
    let error = parse("version = 1\nmeasure = []\nguard = []\n").unwrap_err();
    let guard = "guard: is missing: at least one [[guard]] is needed; e.g. `[[guard]]` and below \
                 it `metric = \"ppl\"`, `max_increase = 0.05`";
    says(&error.to_string(), guard);
    let measure = "measure: is missing: at least one [[measure]] is needed; e.g. `[[measure]]` and \
                   below it `name = \"ppl\"`, `command = ";
    says(&error.to_string(), measure);
    says(&refused_extra("[[require]]\nmeasure = 'ppl'\n"), "require[1].pattern: is missing");
    let of = "require[1].measure: is missing; e.g. `measure = \"ppl\"`. Allowed: ppl";
    says(&refused_extra("[[require]]\npattern = 'x'\n"), of);
    says(&refused_extra("[[override]]\nrun.threads = 1\n"), "override[1].when: is missing");
    says(
        &refused("parser = \"llama-perplexity\"\n", "")[0],
        "oracle.toml:2:1: measure.ppl.parser: is missing; e.g. `parser = \"llama-perplexity\"`. \
         Allowed: llama-perplexity, llama-bench, ",
    );
    let speed = SMALL
        .replace("parser = \"llama-perplexity\"", "parser = 'regex'\npattern = '(?<tg>.)(?<pp>.)'")
        .replace("metric = \"ppl\"\n", "");
    let metric = "guard[1].metric: is missing; e.g. `metric = \"ppl.tg\"`. Allowed: ppl.tg, ppl.pp";
    says(&parse(&speed).unwrap_err().to_string(), metric);
}

/// The line that a message gives for a missing key.
fn line_of(said: &str) -> &str {
    let line = said.split("is missing; e.g. `").nth(1).unwrap_or_else(|| panic!("no line: {said}"));
    line.split('`').next().unwrap()
}

#[test]
fn the_line_in_the_message_for_a_missing_key_is_correct() {
    for line in [
        "version = 1\n",
        "name = \"ppl\"\n",
        "command = \"{build}/ppl\"\n",
        "parser = \"llama-perplexity\"\n",
        "metric = \"ppl\"\n",
    ] {
        let said = refused(line, "");
        let mended = SMALL.replacen(line, &format!("{}\n", line_of(&said[0])), 1);
        parse(&mended).unwrap_or_else(|error| panic!("{error}\n{mended}"));
    }
    for table in [
        "[[require]]\nmeasure = 'ppl'\n",
        "[[require]]\npattern = 'x'\n",
        "[[override]]\nrun.threads = 1\n",
        "[[prepare]]\nname = 'x'\n",
        "[[prepare]]\ncommand = 'x'\n",
        "[[patch]]\n",
        "[[overlay]]\nfrom = 'HEAD'\n",
        "[[overlay]]\npaths = ['x']\n",
        "[ruler]\n",
    ] {
        let mended = format!("{SMALL}{table}{}\n", line_of(&refused_extra(table)));
        parse(&mended).unwrap_or_else(|error| panic!("{error}\n{mended}"));
    }
    for parser in ["regex", "json"] {
        let parser = format!("parser = '{parser}'");
        let said = refused_parser(&parser, "ppl.wall_s");
        let parser = format!("{parser}\n{}", line_of(&said));
        let mended = SMALL.replacen("parser = \"llama-perplexity\"", &parser, 1);
        parse(&mended).unwrap_or_else(|error| panic!("{error}\n{mended}"));
    }
}

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
fn what_is_not_there_yet_is_refused_by_name() {
    says(&refused_extra("[run]\nexclusive = true\n"), "run.exclusive: not available yet");
    says(&refused("{build}/ppl", "{build}/ppl {port}")[0], "`{port}` is not available yet");
}

#[test]
fn unknown_keys_are_refused_with_what_is_allowed() {
    says(&refused_extra("[biuld]\n"), "oracle.toml:9:2: biuld: unknown key; did you mean `build`?");
    says(
        &refused_extra("[run]\nthread = 2\n"),
        "run.thread: unknown key; did you mean `threads`? Allowed: threads, chunks",
    );
    says(
        &refused_measure("timout = '1s'"),
        "measure.ppl.timout: unknown key; did you mean `timeout`?",
    );
    says(
        &refused_measure("failures = { build = 'bad' }"),
        "measure.ppl.failures.build: unknown key. Allowed: crash, nan, timeout, unreadable",
    );
    says(&refused_guard("max = 1\nlimit = 2"), "guard[1].limit: unknown key");
    says(
        &refused_extra("[[override]]\nrun.threads = 1\nwhen = { absent = 'x' }\n"),
        "override[1].when.absent: unknown key",
    );
}

#[test]
fn a_part_of_a_word_is_enough_to_guess() {
    says(
        &refused("llama-perplexity", "perplexity")[0],
        "`perplexity` is not allowed; did you mean `llama-perplexity`? Allowed: llama-perplexity, ",
    );
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
        "measure `ppl` yields no `ppl`; all it yields has names, such as ppl.NAME, and \
         `bisect-ppl measure REV` lists them. Besides: ppl.wall_s, ppl.peak_rss_mib",
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
        "measure.ppl.pick: belongs to the parser `regex` or `llama-bench`; this measure's is `junit`.",
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

/// Problems that only follow from a syntax error are not reported.
#[test]
fn a_broken_header_is_one_problem() {
    let said = refused("[[measure]]", "[[measure]");
    assert_eq!(said.len(), 1, "{said:#?}");
    says(&said[0], "oracle.toml:2:11: not valid TOML: unclosed array table");
}

#[test]
fn wrong_types_are_refused() {
    says(
        &refused("version = 1", "version = '1'")[0],
        "version: expected a whole number, found a string",
    );
    says(&refused("version = 1", "version = 2")[0], "version: this program reads version 1");
    says(
        &refused_extra("[build]\ncommands = 'make'\n"),
        "build.commands: expected an array, found a string",
    );
    says(
        &refused_extra("[build]\nenv = { N = 4 }\n"),
        "build.env.N: expected a string (in quotes), found an integer",
    );
    says(
        &refused_extra("[worktree]\nsubmodules = 'yes'\n"),
        "expected true or false, found a string",
    );
    says(
        &refused_extra("[worktree]\nsubmodules = false\ndescend = 'lib'\n"),
        "worktree.descend: needs the submodules that `submodules = false` leaves out.",
    );
    says(
        &refused_extra("[worktree]\ndescend = '../lib'\n"),
        "worktree.descend: `../lib` must be a relative path that does not leave the tree.",
    );
    says(
        &refused_measure("exclusive = 'yes'"),
        "measure.ppl.exclusive: expected true or false, found a string.",
    );
    says(
        &refused_measure("warmup = true"),
        "measure.ppl.warmup: expected a whole number, found a boolean.",
    );
    says(
        &refused_guard("max_increase = '5%'"),
        "guard[1].max_increase: expected a number, found a string",
    );
    says(
        &refused("[[measure]]", "[measure]")[0],
        "measure: expected [[measure]] tables, found a table",
    );
    says(
        &refused("version = 1", "version = 1\nrun = 3")[0],
        "run: expected a table, found an integer",
    );
}

#[test]
fn impossible_counts_and_times_are_refused() {
    for count in ["0", "-1", "4294967296"] {
        says(&refused_extra(&format!("[run]\nthreads = {count}\n")), "allowed: 1 to 4294967295");
    }
    says(&refused_extra("[build]\njobs = 0\n"), "build.jobs: 0 is out of range");
    says(
        &refused_extra("[run]\nchunks = 99999999999999999999\n"),
        "oracle.toml:10:10: the integer does not fit into 64 bits",
    );
    for warmup in ["-1", "101"] {
        let said = refused_measure(&format!("warmup = {warmup}"));
        says(&said, &format!("measure.ppl.warmup: {warmup} is out of range; allowed: 0 to 100"));
    }
    for time in ["0s", "-5m", "9000h", "5m ago"] {
        says(
            &refused_measure(&format!("timeout = '{time}'")),
            "is out of range; allowed: more than 0",
        );
    }
    says(&refused_measure("timeout = 'soon'"), "`soon` is not a time; write it as \"90s\"");
    says(&refused_measure("timeout = 90"), "expected a time with its unit in quotes");
    for confidence in ["0.5", "1.0", "99", "-1"] {
        let said = refused_extra(&format!("[statistics]\nconfidence = {confidence}\n"));
        says(&said, "allowed: more than 0.5, less than 1");
    }
    says(&refused_extra("[statistics]\nmax_runs = 0\n"), "statistics.max_runs: 0 is out of range");
}

#[test]
fn times_are_read() {
    for (text, seconds) in [("90s", 90), ("1h 30m", 5400), ("2 minutes", 120), ("PT5M", 300)] {
        let text = SMALL.replace("[[guard]]", &format!("timeout = '{text}'\n[[guard]]"));
        assert_eq!(parse(&text).unwrap().measures[0].timeout, Duration::from_secs(seconds));
    }
}

#[test]
fn senseless_tolerances_are_refused() {
    for form in ["max_increase", "max_increase_percent", "max_decrease", "max_decrease_percent"] {
        says(&refused_guard(&format!("{form} = -0.1")), "a tolerance cannot be negative");
        assert!(parse(&SMALL.replace("max_increase = 0.05", &format!("{form} = 0"))).is_ok());
    }
    for form in ["max_increase", "max", "min"] {
        for value in ["nan", "inf", "-inf", "1e999"] {
            says(&refused_guard(&format!("{form} = {value}")), "must be a finite number");
        }
    }
    says(
        &refused_guard(""),
        "oracle.toml:6:1: guard[1]: has no tolerance; give one of max_increase",
    );
    says(
        &refused_guard("max = 1\nmin = 0"),
        "guard[1].min: a guard has one form, and `guard[1].max` is given",
    );
    says(&refused_guard("unchanged = false"), "false guards nothing");
    says(
        &refused_extra("[[guard]]\nmetric = 'ppl'\nmax_increase = 1\n"),
        "guard[2]: `ppl` has a guard of this form already",
    );
}

#[test]
fn guards_and_requirements_name_what_exists() {
    says(
        &refused("metric = \"ppl\"", "metric = \"pppl\"")[0],
        "there is no measure `pppl`; did you mean `ppl`? Measures: ppl",
    );
    says(&refused("metric = \"ppl\"", "metric = \"ppl.x\"")[0], "measure `ppl` yields no `ppl.x`");
    says(
        &refused("metric = \"ppl\"", "metric = \"ppl.wall\"")[0],
        "did you mean `ppl.wall_s`? It yields: ppl, ppl.wall_s, ppl.peak_rss_mib",
    );
    says(&refused("metric = \"ppl\"", "metric = \"a b\"")[0], "`a b` is not a metric");
    says(
        &refused_extra("[[require]]\nmeasure = 'speed'\npattern = 'x'\n"),
        "require[1].measure: there is no measure `speed`",
    );
    let regex = "parser = 'regex'\npattern = '(?<tg>.)(?<pp>.)'";
    says(&refused_parser(regex, "ppl"), "yields no `ppl`");
    says(
        &refused_parser(regex, "ppl.tgg"),
        "did you mean `ppl.tg`? It yields: ppl.tg, ppl.pp, ppl.wall_s",
    );
    says(&refused_parser("parser = 'json'\npointers = { a = '/a' }", "ppl.b"), "It yields: ppl.a,");
    says(&refused_parser("parser = 'exit-code'", "ppl.code"), "It yields: ppl,");
}

#[test]
fn facts_are_guarded_by_unchanged_alone() {
    let fact = "parser = 'regex'\npattern = '(x)'\nkind = 'fact'";
    says(
        &refused_parser(fact, "ppl"),
        "guard[1].max_increase: a fact is not a number. Allowed: unchanged = true",
    );
    says(
        &refused_parser(&format!("{fact}\npick = 'sum'"), "ppl.wall_s"),
        "facts are not numbers. Allowed: first, last",
    );
    let perplexity = "parser = 'llama-perplexity'\nkind = 'fact'";
    says(&refused_parser(perplexity, "ppl.wall_s"), "measure.ppl.kind: this parser yields numbers");
}

#[test]
fn names_are_unique_words() {
    let twice = "[[measure]]\nname = 'ppl'\ncommand = 'x'\nparser = 'exit-code'\n";
    says(&refused_extra(twice), "measure[2].name: there is a measure `ppl` already");
    says(&refused_extra(&twice.replace("ppl", "a.b")), "a name is made of letters");
    says(&refused_extra("[inputs]\n'a b' = 'x'\n"), "inputs.a b: a name is made of letters");
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
        "measure.ppl.pattern: belongs to the parser `regex` or `llama-eval-callback`; this measure's is `llama-perplexity`",
    );
    says(&refused_measure("pick = 'last'"), "measure.ppl.pick: belongs to the parser `regex`");
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

#[test]
fn environments_are_checked() {
    says(
        &refused_measure("env = { GIT_DIR = 'x' }"),
        "GIT_* is stripped from every command's environment",
    );
    says(&refused_measure("env = { 'A=B' = 'x' }"), "not a name of an environment variable");
}

#[test]
fn paths_stay_in_the_tree() {
    for link in ["/etc", "../x", "a/../../x", "~/x"] {
        let said = refused_extra(&format!("[worktree]\nlink = ['{link}']\n"));
        says(&said, "worktree.link[1]:");
        says(&said, "must be a relative path that does not leave the tree");
    }
    for link in [".git", "./.git/hooks", "."] {
        says(&refused_extra(&format!("[worktree]\nlink = ['{link}']\n")), "cannot be linked");
    }
    says(&refused_extra("[build]\nignore = [':(exclude)docs']\n"), "only plain patterns");
    says(&refused_extra("[build]\npaths = ['/src/**']\n"), "must be a relative path");
    says(&refused_extra("[inputs]\nm = '~/m.bin'\n"), "`~` means something only to a shell");
    says(&refused_extra("[inputs]\nm = 'a***'\n"), "inputs.m: not a glob pattern");
    says(&refused_extra("[worktree]\ndir = '~/slots'\n"), "`~` means something only to a shell");
}

#[test]
fn slots_must_be_alike() {
    let slots = |slots: &str| refused_extra(&format!("[executor]\nslots = {slots}\n"));
    says(&refused_extra("[executor]\nkind = 'slurm'\n"), "is not available yet. Available: local");
    says(&refused_extra("[executor]\nkind = 'cloud'\n"), "executor.kind");
    says(&refused_extra("[executor]\nslot = []\n"), "unknown key; did you mean `slots`?");
    says(&slots("[]"), "is empty; give one or more slots");
    says(&slots("3"), "expected an array");
    says(&slots("[{ cpu = '0' }]"), "executor.slots[1].cpu: unknown key");
    says(&slots("[{ cpus = '0-x' }]"), "executor.slots[1].cpus: `x` is not a CPU");
    says(&slots("[{ cpus = '0-1' }, { cpus = '2' }]"), "all slots need equally many CPUs");
    says(&slots("[{ cpus = '0' }, {}]"), "all slots need equally many CPUs");
    says(&slots("[{ cpus = '0' }, { cpus = '0' }]"), "CPU 0 is in two slots");
    says(&slots("[{ env = { A = '0' } }, {}]"), "all slots must set the same variables");
    says(&slots("[{ env = { A = '{jobs}' } }]"), "A: a slot's values have no placeholders");
    says(&slots("[{ env = { GIT_DIR = 'x' } }]"), "GIT_* is stripped");
    let twice = "[executor]\nslots = [{ env = { A = '0' } }]\n[[prepare]]\nname = 'p'\ncommand = 'x'\nenv = { A = '1' }\n";
    says(&refused_extra(twice), "executor.slots: A is also in the env of p");
}

#[test]
fn sizes_need_a_unit() {
    for text in ["'50'", "'GiB'", "'50 GiBs'", "'-1 GiB'", "'0 GiB'", "'1e300 TiB'", "'nan GiB'"] {
        says(
            &refused_extra(&format!("[limits]\nbuilds = {text}\n")),
            "is not a size with its unit in quotes, such as \"50 GiB\"; units: MB, GB, TB, MiB, GiB",
        );
    }
    says(&refused_extra("[limits]\nbuilds = 50\n"), "a size with its unit in quotes");
    says(&refused_extra("[limits]\nbuild = '50 GiB'\n"), "builds");
}

#[test]
fn policies_are_checked() {
    says(
        &refused_extra("[failures]\nnan = 'good'\n"),
        "failures.nan: `good` is not allowed. Allowed: skip, bad",
    );
    says(
        &refused_extra("[failures]\ntransient = ['']\n"),
        "failures.transient[1]: may not be empty",
    );
    says(
        &refused_measure("failures = { crash = 'ignore' }"),
        "measure.ppl.failures.crash: `ignore` is not allowed",
    );
}

#[test]
fn conditions_are_checked() {
    let with =
        |when: &str| refused_extra(&format!("[[override]]\nwhen = {when}\nrun.threads = 1\n"));
    says(&with("{}"), "override[1].when: is empty");
    says(&with("{ contains = ['a'] }"), "expected [FILE, TEXT], found 1 items");
    says(&with("{ missing = '../a' }"), "must be a relative path");
    says(&with("{ has_ancestor = '--all' }"), "`--all` is not a revision");
    says(&with("{ has_ancestor = 'a..b' }"), "`a..b` is not a revision");
    says(
        &refused_extra("[[override]]\nwhen = { missing = 'a' }\n"),
        "override[1]: changes nothing",
    );
    says(
        &refused_extra("[[override]]\nwhen = { missing = 'a' }\nmeasure = []\n"),
        "name the measure to change",
    );
}

#[test]
fn broken_toml_is_a_problem_among_others() {
    let error = parse(&format!("{SMALL}[build]\ntimeout = 30m\nmod = 'clean'\nx = 1\nx = 2\n"))
        .unwrap_err();
    let said = error.to_string();
    says(&said, "oracle.toml:10:");
    says(&said, "not valid TOML");
    says(&said, "oracle.toml:11:1: build.mod: unknown key; did you mean `mode`?");
    says(&said, "oracle.toml:13:1: not valid TOML: duplicate key");
}

#[test]
fn columns_count_characters() {
    says(
        &refused("[[guard]]", "env = { 'Ä' = \"ö\", B = \"{ü}\" }\n[[guard]]")[0],
        "oracle.toml:6:24: measure.ppl.env.B",
    );
}

#[test]
fn the_page_of_a_commit_must_be_a_web_address() {
    for url in [
        "https://example.org/engine",
        "ftp://example.org/{commit}",
        "javascript:alert('{commit}')",
        "https://example.org/{commit}\\\" onclick=x",
        "https://example.org/({commit})",
    ] {
        let said = refused_extra(&format!("[report]\ncommit_url = \"{url}\"\n"));
        says(&said, "report.commit_url: must be a web address with the placeholder {commit}");
    }
}
