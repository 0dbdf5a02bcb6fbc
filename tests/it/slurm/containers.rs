//! Hunts whose jobs run in containers: Slurm calls an OCI runtime, which is bubblewrap here.

use std::collections::BTreeSet;
use std::fs;

use crate::kit::{Oracle, TestEnvironment};

use super::cluster::Cluster;
use super::{RUN, ended_as_here, notes, noting, plan, slurm};

/// Runs the process of a bundle's `config.json` in namespaces of its own, with the bundle's name in
/// a variable. What Slurm wants mounted is used where it is.
const RUNTIME: &str = r#"#!/usr/bin/env python3
import json, os, sys
bundle = json.load(open(sys.argv[1] + "/config.json"))
places = {mount["destination"]: mount["source"] for mount in bundle["mounts"]}
words = [places.get(word, word) for word in bundle["process"]["args"]]
environment = dict(pair.split("=", 1) for pair in bundle["process"]["env"])
environment["INSIDE"] = bundle["root"]["path"].split("/")[-2]
bwrap = ["bwrap", "--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "--die-with-parent"]
os.execvpe("bwrap", [*bwrap, "--", *words], environment)
"#;

/// A bundle of this name: its path.
fn bundle(env: &TestEnvironment, name: &str) -> String {
    let folder = env.path(name);
    fs::create_dir_all(folder.join("rootfs")).unwrap();
    let config = r#"{"ociVersion":"1.0.0","mounts":[],"root":{"path":"rootfs"},
"process":{"args":["sh"],"cwd":"/","env":[],"user":{"uid":0,"gid":0}}}"#;
    fs::write(folder.join("config.json"), config).unwrap();
    folder.display().to_string()
}

/// Tells the cluster its OCI runtime.
fn runtime(cluster: &Cluster) {
    let folder = cluster.conf().parent().unwrap().to_owned();
    let program = folder.join("runtime");
    fs::write(&program, RUNTIME).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&program, mode).unwrap();
    let calls = format!(
        "RunTimeQuery=\"true\"\nRunTimeKill=\"true\"\nRunTimeDelete=\"true\"\n\
         RunTimeRun=\"{} %b\"\n",
        program.display()
    );
    fs::write(folder.join("oci.conf"), calls).unwrap();
}

#[test]
fn builds_and_runs_have_containers_of_their_own() {
    let Some(cluster) = Cluster::start() else { return };
    let env = cluster.environment();
    runtime(&cluster);
    let history = plan(20).build(&env);
    let [cuda, gcc] = ["cuda", "gcc"].map(|name| bundle(&env, name));
    let build = noting(&env, "built-in", "INSIDE");
    let run = noting(&env, "ran-in", "INSIDE");
    Oracle::new(&env)
        .build_command(&format!("{build} {} build {{src}} {{build}}", TestEnvironment::fake()))
        .ppl_command(&format!("{run} {RUN}"))
        .section(&slurm(&format!(
            "[executor.measure]\npartition = \"measure\"\ncontainer = \"{cuda}\"\nmax_jobs = 2\n\
             [executor.build]\npartition = \"build\"\ncontainer = \"{gcc}\""
        )))
        .write(&env);
    let hunt = env.start(&["--good", "v1"]);
    ended_as_here(&cluster, &env, &history, &hunt);
    let said = &hunt.output.stderr;
    assert_eq!(notes(&env, "built-in"), BTreeSet::from(["gcc".to_owned()]), "{said}");
    assert_eq!(notes(&env, "ran-in"), BTreeSet::from(["cuda".to_owned()]), "{said}");
    let hosts = hunt.report["hosts"].as_array().unwrap().iter();
    assert!(hosts.map(|host| host["name"].as_str().unwrap()).eq(["n3"]), "{said}");
}
