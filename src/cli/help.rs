//! Help text besides the options: command groups, examples and exit codes. The manual pages use
//! the same text.

/// The commands in groups by purpose, in order of use; planned commands included.
pub(super) const GROUPS: &[(&str, &[&str])] = &[
    ("See it work", &["demo"]),
    ("Hunt", &["init", "check", "start", "status", "stop", "resume"]),
    ("Read what was found", &["report", "log", "localize", "verify"]),
    ("Measure without a hunt", &["measure", "compare", "gate", "track", "reproduce", "diff"]),
    ("Be called by git", &["oracle"]),
    ("Look after it", &["store", "schema", "completions", "man", "help"]),
];

/// The first steps of a new user.
pub(super) const TOP: &str = "\
From nothing to an answer, in the engine's clone:
  bisect-ppl init                         writes oracle.toml
  bisect-ppl check --good v1              what would stand in the way
  bisect-ppl start --good v1 --bad HEAD   the hunt

Every command has examples: bisect-ppl help start
Documents, also offline:    bisect-ppl help topics";

pub(super) const DEMO: &str = "\
Examples:
  bisect-ppl demo                                 about a minute
  bisect-ppl demo --scenario rope --dir ./rope    in a folder to look at

Exit codes:
  0  found, and it is the commit in which the regression was planted
  1  another commit was named
  2  wrong arguments   5  stopped by an external fault   130  interrupted";

pub(super) const INIT: &str = "\
Examples:
  bisect-ppl init
  bisect-ppl init --model model.gguf --text wiki.test.raw
  bisect-ppl init --set build.cmake=-DGGML_CUDA=ON --set run.threads=8
  bisect-ppl init -o -                            to look at it first

Exit codes:
  0  written, and `bisect-ppl check` accepts it
  2  the tree does not tell what is needed, or the file exists already";

pub(super) const CHECK: &str = "\
Examples:
  bisect-ppl check
  bisect-ppl check --good v1 --bad HEAD --config ../oracle.toml
  bisect-ppl check --good v1 --build     builds and measures v1 too
  bisect-ppl check --json | jq '.checks[] | select(.state == \"fail\")'

Exit codes:
  0  no problems   1  at least one problem   2  wrong arguments";

pub(super) const START: &str = "\
Examples:
  bisect-ppl start --good v1
  bisect-ppl start --good b4100 --bad b4312 --skip b4200
  bisect-ppl start --good v1 --model model.gguf --text wiki.test.raw
                                                   without an oracle.toml
  bisect-ppl start --good v1 --first-parent        name the merge, not its parts
  bisect-ppl start --good v1 -- src kernels        commits that touch these only
  bisect-ppl start --good v1 --set guard.ppl.max_increase=0.01
                                                   another tolerance, this time
  bisect-ppl start --good v1 --arg ppl='-ctk q8_0' adds words, at every commit
  bisect-ppl start --good v1 --deadline 08:00 --on-finish './tell.sh'
                                                   overnight, and tells you
  bisect-ppl start --good v1 --detach              goes on without the terminal
  bisect-ppl start --good v1 --dry-run             the plan alone

Exit codes:
  0  a first bad commit was found and confirmed
  2  wrong arguments or files; nothing was begun
  3  undecided: candidates, a gradual rise, or too much noise
  4  the endpoints show no regression, or cannot be measured
  5  stopped by an external fault, 130 interrupted: `bisect-ppl resume` goes on";

pub(super) const LOCALIZE: &str = "\
Examples:
  bisect-ppl localize 1a2b3c4d5e
  bisect-ppl localize HEAD --set guard.ppl.max_increase=0.01

It measures the commit and its parent as `start` does, then the parent with
parts of the commit's change. The report has the parts that make the step, and
revert.patch. More: bisect-ppl help cause

Exit codes: those of `bisect-ppl start`; 4: the commit makes no step";

pub(super) const RESUME: &str = "\
Examples:
  bisect-ppl resume                the newest hunt
  bisect-ppl resume 20261121-0930  the beginning of a name is enough
  bisect-ppl resume --max-hours 2  goes on for two hours, also after a deadline
  bisect-ppl resume --detach       goes on without the terminal

Exit codes: those of `bisect-ppl start`";

pub(super) const STATUS: &str = "\
Examples:
  bisect-ppl status
  bisect-ppl status --watch             until it ends; Ctrl-C ends only the view
  bisect-ppl status --wait && deploy    exit codes as of `bisect-ppl start`
  bisect-ppl status --json | jq .outcome

Exit codes:
  0  the hunt is shown, whatever its state; with --wait and --watch the hunt's
     own code, 5 if its process died
  2  there is no such hunt";

pub(super) const STOP: &str = "\
Examples:
  bisect-ppl stop
  bisect-ppl stop 20261121-0930

Exit codes:
  0  the hunt does not run   2  there is no such hunt   5  it does not end";

pub(super) const LOG: &str = "\
Examples:
  bisect-ppl log > bisect.log && git bisect replay bisect.log
  bisect-ppl log 20261121-0930";

pub(super) const REPORT: &str = "\
Examples:
  bisect-ppl report | less
  bisect-ppl report --format json -o report.json
  bisect-ppl report 20261121-0930 --open
  bisect-ppl report --diff | git apply --check --reverse
  bisect-ppl report --bundle answer.tar.zst        to send it
  bisect-ppl report --from answer.tar.zst          to read it elsewhere";

pub(super) const VERIFY: &str = "\
Examples:
  bisect-ppl verify report.json
  bisect-ppl verify report.json --input model=/data/model.gguf --yes
  bisect-ppl verify report.json --fix my-branch    does it heal all cells?
  bisect-ppl verify report.json --yes --json | jq .verdict

Run it in a clone of the engine. More: bisect-ppl help checking-an-answer

Exit codes:
  0  the claim holds here; with --fix, all cells are healed
  1  it does not hold, or a cell is not healed
  2  wrong arguments or files, nothing to verify, or nobody agreed; nothing
     was run
  3  undecided   5  stopped by an external fault   130  interrupted";

pub(super) const MEASURE: &str = "\
Examples:
  bisect-ppl measure HEAD~3
  bisect-ppl measure v1 --runs 5 --json

Exit codes:
  0  measured   1  the commit cannot be measured   2  wrong arguments or files
  5  stopped by an external fault   130  interrupted; what was measured is kept";

pub(super) const DIFF_LOGITS: &str = "\
Examples:
  bisect-ppl diff logits base.npy candidate.npy
  bisect-ppl diff logits a.safetensors b.npy --tensor logits
  bisect-ppl diff logits good.kld bad.kld --guard lossy
  bisect-ppl diff logits a.npy b.npy --json | jq .mean_kl

The formulas: bisect-ppl help logits

Exit codes:
  0  the guard holds, or none was given   1  the guard does not hold
  2  wrong arguments, or files that cannot be read or compared
  5  a read failed, such as from a bad disk   130  interrupted";

pub(super) const DIFF_TENSORS: &str = "\
Examples:
  bisect-ppl diff tensors good-dump/ bad-dump/
  bisect-ppl diff tensors a.safetensors b.safetensors --noise c.safetensors
  bisect-ppl diff tensors good.txt bad.txt     # of llama-eval-callback
  bisect-ppl diff tensors a/ b/ --json | jq .first_different

Formats, tolerances and patterns: bisect-ppl help tensors

Exit codes:
  0  no tensor is beyond its tolerance   1  at least one is
  2  wrong arguments, or files that cannot be read or compared
  5  a read failed, such as from a bad disk   130  interrupted";

pub(super) const ORACLE: &str = "\
Examples:
  git bisect start HEAD v1 && git bisect run bisect-ppl oracle

Exit codes, an interface to git:
  0  good   1  bad   125  untestable
  128 and more: no verdict; git stops and keeps its state. Usage errors are 129";

pub(super) const STORE_LS: &str = "\
Examples:
  bisect-ppl store ls
  bisect-ppl store ls --json | jq -r '.hunts[].hunt'";

pub(super) const STORE_SHOW: &str = "\
Examples:
  bisect-ppl store show 20261121-0930    a hunt
  bisect-ppl store show HEAD~3           all that was measured at a commit";

pub(super) const STORE_FORGET: &str = "\
Examples:
  bisect-ppl store forget HEAD~3             its runs and builds
  bisect-ppl store forget HEAD~3 --builds    only how its builds ended

Commits with the same files share what is stored, so they forget it too.
Reports and logs of hunts stay.

Exit codes:
  0  it is gone, or nothing was stored
  2  no such commit, or a process measures in this repository";

pub(super) const STORE_GC: &str = "\
Examples:
  bisect-ppl store gc --dry-run
  bisect-ppl store gc --older-than 30d

What goes without --older-than:
  leftovers of processes that were killed; worktrees and builds in the cache;
  runs and builds that no hunt refers to and that are older than 14 days
Refused, with exit code 2, while a process measures in this repository.";

pub(super) const SCHEMA: &str = "\
Examples:
  bisect-ppl schema > oracle.schema.json

In oracle.toml, before everything else, for editors that know TOML (taplo):
  #:schema ./oracle.schema.json";

pub(super) const COMPLETIONS: &str = "\
Examples:
  source <(bisect-ppl completions bash)                          in ~/.bashrc
  bisect-ppl completions zsh > \"${fpath[1]}/_bisect-ppl\"
  bisect-ppl completions fish > ~/.config/fish/completions/bisect-ppl.fish";

pub(super) const MAN: &str = "\
Examples:
  bisect-ppl man | man -l -
  bisect-ppl man --dir ~/.local/share/man/man1    then: man bisect-ppl-start";

pub(super) const HELP: &str = "\
Examples:
  bisect-ppl help start           same as bisect-ppl start --help
  bisect-ppl help topics          lists the documents
  bisect-ppl help oracle-toml     every key of oracle.toml";
