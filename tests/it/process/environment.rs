//! What an engine finds when it starts.

use bisect_ppl::evaluation::Ended;

use super::TestFolder;

#[test]
fn an_engine_finds_a_clean_world() {
    let room = TestFolder::new();
    let script = "
        env | grep ^GIT_; env | grep -c ^SUPERVISOR; echo $SET; echo ${HOME-unset}
        readlink /proc/self/fd/0; ls -l /proc/self/fd | grep -c socket
        grep -E 'Sig(Blk|Ign)' /proc/self/status; (exec 3</dev/tty) 2>/dev/null && echo tty
        cut -d' ' -f5,6 /proc/self/stat; echo $$";
    let invocation = room.sh(script).env("GIT_DIR", "/x").env("SET", "a b").env_remove("HOME");
    assert_eq!(room.run(&invocation).ended, Ended::Exited(0));
    // 32 and 33 belong to glibc, whose posix_spawn leaves them ignored.
    let said = room.stdout().replace("SigIgn:\t0000000180000000", "SigIgn:\t0000000000000000");
    let lines: Vec<_> = said.lines().collect();
    let pid = lines.last().unwrap();
    let expected = [
        "0",
        "a b",
        "unset",
        "/dev/null",
        "0",
        "SigBlk:\t0000000000000000",
        "SigIgn:\t0000000000000000",
        &format!("{pid} {pid}"),
        pid,
    ];
    assert_eq!(lines, expected);
}

#[test]
fn the_supervisor_is_not_touched_by_the_engines_environment() {
    let room = TestFolder::new();
    let invocation = room.sh("exit 5").env("LD_LIBRARY_PATH", "/nowhere").env("LD_DEBUG", "all");
    let finished = room.run(&invocation.env("LD_DEBUG_OUTPUT", room.path("loader")));
    assert_eq!(finished.ended, Ended::Exited(5));
    let traces = std::fs::read_dir(room.folder.path()).unwrap().flatten();
    let traces = traces.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(b"loader"));
    assert_eq!(traces.count(), 1);
}
