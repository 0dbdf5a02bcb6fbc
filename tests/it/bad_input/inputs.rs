//! Inputs that are missing or unreadable.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::{as_somebody, plain, refused, seen};
use crate::kit::{Oracle, TestEnvironment};

const START: [&str; 3] = ["start", "--good", "v1"];

fn with_model(path: &str) -> TestEnvironment {
    let env = plain("g b");
    let text = Oracle::new(&env).text().replace("../inputs/model.bin", path);
    fs::write(env.repo().join("oracle.toml"), text).unwrap();
    env
}

#[test]
fn a_model_that_is_not_there() {
    insta::assert_snapshot!(refused(&with_model("../inputs/modle.bin"), &START), @r"
    exit code 2
    error: inputs.model: there is nothing at [ROOT]/repo/../inputs/modle.bin
    hint: fetch it, or correct `model` in [inputs]; its path starts from the folder of the file that names it
    ");
    insta::assert_snapshot!(refused(&with_model("../inputs/*.gguf"), &START), @r"
    exit code 2
    error: inputs.model: no file matches [ROOT]/repo/../inputs/*.gguf
    hint: fetch it, or correct `model` in [inputs]; its path starts from the folder of the file that names it
    ");
    let env = with_model("../inputs/empty");
    fs::create_dir(env.path("inputs/empty")).unwrap();
    insta::assert_snapshot!(refused(&env, &START), @r"
    exit code 2
    error: inputs.model: the folder [ROOT]/repo/../inputs/empty is empty
    hint: fetch it, or correct `model` in [inputs]; its path starts from the folder of the file that names it
    ");
    insta::assert_snapshot!(refused(&env, &["measure", "HEAD"]), @r"
    exit code 2
    error: inputs.model: the folder [ROOT]/repo/../inputs/empty is empty
    hint: fetch it, or correct `model` in [inputs]; its path starts from the folder of the file that names it
    ");
}

#[test]
fn a_model_that_may_not_be_read() {
    let env = plain("g b");
    fs::set_permissions(env.path("inputs/model.bin"), fs::Permissions::from_mode(0o0)).unwrap();
    let output = env.spawn(as_somebody(&env, &env.repo(), &START)).wait();
    insta::assert_snapshot!(seen(&env, &output), @r"
    exit code 2
    error: inputs.model: cannot read [ROOT]/repo/../inputs/model.bin
    caused by: Permission denied (os error 13)
    hint: check its permissions and its disk; your user must be able to read every input
    ");
}

#[test]
fn a_folder_with_a_file_that_may_not_be_read() {
    let env = with_model("../inputs");
    fs::write(env.path("inputs/part-2.bin"), "weights\n").unwrap();
    fs::set_permissions(env.path("inputs/part-2.bin"), fs::Permissions::from_mode(0o0)).unwrap();
    let output = env.spawn(as_somebody(&env, &env.repo(), &START)).wait();
    insta::assert_snapshot!(seen(&env, &output), @r"
    exit code 2
    error: inputs.model: cannot read [ROOT]/repo/../inputs/part-2.bin
    caused by: Permission denied (os error 13)
    hint: check its permissions and its disk; your user must be able to read every input
    ");
}

#[test]
fn a_folder_that_may_not_be_entered() {
    let env = with_model("../inputs/inner/model.bin");
    fs::create_dir(env.path("inputs/inner")).unwrap();
    fs::set_permissions(env.path("inputs/inner"), fs::Permissions::from_mode(0o0)).unwrap();
    let output = env.spawn(as_somebody(&env, &env.repo(), &START)).wait();
    insta::assert_snapshot!(seen(&env, &output), @r"
    exit code 2
    error: inputs.model: cannot look at [ROOT]/repo/../inputs/inner/model.bin: Permission denied (os error 13)
    hint: check the permissions on the way to it
    ");
    // Restores the right to remove the folder.
    fs::set_permissions(env.path("inputs/inner"), fs::Permissions::from_mode(0o755)).unwrap();
}
