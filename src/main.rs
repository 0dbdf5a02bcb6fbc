//! The command-line program: parse, run, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    // A supervisor is this same program, and is nothing else from its first instruction on.
    bisect_ppl::process::shim::enter_if_asked();
    bisect_ppl::cli::main()
}
