//! The command-line program.

fn main() {
    bisect_ppl::process::shim::enter_if_asked();
}
