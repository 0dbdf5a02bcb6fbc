//! Links the programs of the tests at a fixed address. A hunt starts this program three times for
//! each build and each run, and most of such a start is work of the dynamic linker: it relocates
//! 550 kB of tables. A release, which is built without `test-fakes`, stays position-independent.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let is_glibc = target("OS") == "linux" && target("ENV") == "gnu";
    if is_glibc && std::env::var_os("CARGO_FEATURE_TEST_FAKES").is_some() {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
