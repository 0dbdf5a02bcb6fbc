//! The command-line program: parse, run, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Guards and supervisors are this program with a hidden argument, so this check comes first.
    bisect_ppl::process::shim::enter_if_asked();
    bisect_ppl::cli::main()
}
