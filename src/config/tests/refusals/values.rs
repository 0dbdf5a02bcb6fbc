//! Refusals of values: numbers, times, sizes, names, paths and policies.

use super::*;

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
fn mode_auto_is_refused_with_what_it_contradicts() {
    let auto = "[build]\nmode = 'auto'\n";
    let said = refused_extra(&format!("{auto}confirm = 'reuse'\n"));
    says(&said, "build.confirm: `reuse` needs a search with clean builds");
    let slots = |slots: &str| format!("{auto}[executor]\nslots = [{slots}]\n");
    let said = refused_extra(&slots("{ cpus = '0' }, { cpus = '1' }"));
    says(&said, "executor.slots: several slots and build.mode = \"auto\" exclude each other");
    assert!(parse(&format!("{SMALL}{}", slots("{ cpus = '0' }"))).is_ok());
    let said = refused_extra(&format!("{auto}[executor]\nkind = 'slurm'\n"));
    says(&said, "executor.kind: \"slurm\" and build.mode = \"auto\" exclude each other");
}

#[test]
fn slots_must_be_alike() {
    let slots = |slots: &str| refused_extra(&format!("[executor]\nslots = {slots}\n"));
    says(&refused_extra("[executor]\nkind = 'cloud'\n"), "executor.kind");
    says(&refused_extra("[executor]\nslot = []\n"), "unknown key; did you mean `slots`?");
    says(&slots("[]"), "is empty; give one or more slots");
    says(
        &slots("3"),
        "expected an array with a table for each slot, or no key and `start --slots N`",
    );
    says(&slots("[{ cpu = '0' }]"), "executor.slots[1].cpu: unknown key");
    says(&slots("[{ cpus = '0-x' }]"), "executor.slots[1].cpus: `x` is not a CPU; write");
    says(
        &refused_extra("[executor]\ncpus = '0'\n"),
        "executor.cpus: unknown key; each slot has its own: `slots = [{ cpus = \"0-3\" }]`. Allowed: ",
    );
    says(&slots("[{ cpus = [0, 1] }]"), "executor.slots[1].cpus: expected CPUs in quotes");
    says(&slots("[{ cpus = '' }]"), "executor.slots[1].cpus: may not be empty");
    let cpus = slots("[{ cpus = '0-1' }, { cpus = '2' }]");
    says(&cpus, "all slots need equally many CPUs");
    says(&cpus, "Slot 1 has 2, slot 2 has 1.");
    says(&slots("[{ cpus = '0' }, {}]"), "Slot 1 has 1, slot 2 has no `cpus`.");
    says(&slots("[{ cpus = '0' }, { cpus = '0' }]"), "CPU 0 is in two slots");
    let variables = slots("[{ env = { A = '0' } }, {}]");
    says(&variables, "all slots must set the same variables. Slot 1 sets A, slot 2 does not.");
    says(&slots("[{}, { env = { A = '0' } }]"), "Slot 2 sets A, slot 1 does not.");
    says(&slots("[{ env = { A = '{jobs}' } }]"), "A: a slot's values have no placeholders");
    says(&slots("[{ env = { GIT_DIR = 'x' } }]"), "GIT_* is stripped");
    let twice = "[executor]\nslots = [{ env = { A = '0' } }]\n[[prepare]]\nname = 'p'\ncommand = 'x'\nenv = { A = '1' }\n";
    says(&refused_extra(twice), "executor.slots: A is also in the env of p");
}

#[test]
fn jobs_have_keys_of_their_own() {
    let slurm = |keys: &str| refused_extra(&format!("[executor]\nkind = 'slurm'\n{keys}\n"));
    says(&slurm("container = 'a'"), "executor.container: is not an absolute path");
    let build = slurm("[executor.build]\ncontainer = 'a'");
    says(&build, "executor.build.container: is not an absolute path");
    says(&slurm("[executor.build]\nmax_job = 2"), "unknown key; did you mean `max_jobs`?");
    says(&slurm("[executor.measure]\ntime = '1m'"), "executor.measure.time: is too short");
    let twice = "account = 'a'\n[executor.measure]\naccount = 'b'";
    says(&slurm(twice), "executor.measure: `account` is in [executor] too");
    says(&slurm("nodes = 2"), "jobs of several nodes are not available yet");
    says(&slurm("time = '60s'"), "executor.time: is too short; a job needs at least 5m");
    says(&slurm("time = 60"), "a time with its unit in quotes");
    says(&slurm("max_jobs = 65"), "65 is out of range; allowed: 1 to 64");
    says(&slurm("max_jobs = 0"), "0 is out of range; allowed: 1 to 64");
    says(&slurm("slots = [{}]"), "executor.slots: is for kind = \"local\"");
    says(
        &slurm("sbatch_args = ['--wrap=id']"),
        "`--wrap=id` cannot be set for jobs. These can: --comment",
    );
    says(&slurm("sbatch_args = ['--time=9']"), "use the key `time`");
    let second = slurm("sbatch_args = ['--exclusive', '--qos low']");
    says(&second, "executor.sbatch_args[2]: `--qos low` has a space; write `--qos=low`.");
    says(&slurm("confirm = 'here'"), "executor.confirm: ");
    says(&slurm("partition = ''"), "executor.partition: may not be empty");
    says(&refused_extra("[executor]\nmax_jobs = 2\n"), "executor.max_jobs: needs kind = \"slurm\"");
    let here = refused_extra("[executor.build]\npartition = 'cpu'\n");
    says(&here, "executor.build: needs kind = \"slurm\"");
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
