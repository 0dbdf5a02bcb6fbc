use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;

use super::*;

/// Longer than any wait here; only a deadlock takes this long.
const PATIENCE: Duration = Duration::from_secs(20);
/// Long enough to see that a thread waits.
const MOMENT: Duration = Duration::from_millis(300);

fn take(lock: &MachineLock, share: MachineShare) -> Held {
    lock.take(share, &Stop::never(), &mut || {}).unwrap()
}

/// A thread that takes the lock, reports when it waits, and hands over the lock.
struct Other {
    waits: Receiver<()>,
    has: Receiver<Result<Held, NotTaken>>,
    stop: Stop,
    _thread: JoinHandle<()>,
}

fn other(lock: &MachineLock, share: MachineShare) -> Other {
    let (lock, stop) = (lock.clone(), Stop::never());
    let (tell, waits) = channel();
    let (give, has) = channel();
    let told = stop.clone();
    let thread = std::thread::spawn(move || {
        let held = lock.take(share, &told, &mut || tell.send(()).unwrap());
        give.send(held).unwrap();
    });
    Other { waits, has, stop, _thread: thread }
}

impl Other {
    fn is_waiting(&self) -> bool {
        self.waits.recv_timeout(PATIENCE).is_ok()
            && matches!(self.has.recv_timeout(MOMENT), Err(RecvTimeoutError::Timeout))
    }

    fn has_the_lock(self) -> Held {
        self.has.recv_timeout(PATIENCE).expect("nobody is in its way").unwrap()
    }
}

#[test]
fn shared_runs_go_on_side_by_side_and_nothing_beside_an_exclusive_run() {
    let folder = tempfile::tempdir().unwrap();
    let lock = MachineLock::below(folder.path());
    let (one, two) = (take(&lock, MachineShare::Run), take(&lock, MachineShare::Run));
    let alone = other(&lock, MachineShare::Exclusive);
    assert!(alone.is_waiting());
    drop(one);
    assert!(matches!(alone.has.recv_timeout(MOMENT), Err(RecvTimeoutError::Timeout)));
    drop(two);
    let held = alone.has_the_lock();
    let second = other(&lock, MachineShare::Exclusive);
    assert!(second.is_waiting());
    drop(held);
    let held = second.has_the_lock();
    let beside = other(&lock, MachineShare::Run);
    assert!(beside.is_waiting());
    drop(held);
    drop(beside.has_the_lock());
}

#[test]
fn later_shared_runs_do_not_overtake_a_waiting_exclusive_run() {
    let folder = tempfile::tempdir().unwrap();
    let lock = MachineLock::below(folder.path());
    let before = take(&lock, MachineShare::Run);
    let alone = other(&lock, MachineShare::Exclusive);
    assert!(alone.is_waiting());
    // Without `turn`, another run would go on beside the exclusive one.
    let late = other(&lock, MachineShare::Run);
    assert!(late.is_waiting());
    drop(before);
    let held = alone.has_the_lock();
    assert!(matches!(late.has.recv_timeout(MOMENT), Err(RecvTimeoutError::Timeout)));
    drop(held);
    drop(late.has_the_lock());
}

#[test]
fn builds_go_on_beside_the_only_run_and_other_runs_wait() {
    let folder = tempfile::tempdir().unwrap();
    let lock = MachineLock::below(folder.path());
    let only = take(&lock, MachineShare::OnlyRun);
    let build = take(&lock, MachineShare::Build);
    let second = other(&lock, MachineShare::OnlyRun);
    assert!(second.is_waiting());
    // A run that waits for another one keeps no build away.
    drop(take(&lock, MachineShare::Build));
    let run = other(&lock, MachineShare::Run);
    assert!(run.is_waiting());
    let alone = other(&lock, MachineShare::Exclusive);
    assert!(alone.is_waiting());
    drop((only, build));
    drop(second.has_the_lock());
    drop(run.has_the_lock());
    let held = alone.has_the_lock();
    let late = other(&lock, MachineShare::OnlyRun);
    assert!(late.is_waiting());
    drop(held);
    drop(late.has_the_lock());
}

#[test]
fn nothing_runs_beside_the_repeat_of_a_failed_run() {
    let folder = tempfile::tempdir().unwrap();
    let lock = MachineLock::below(folder.path());
    let before = take(&lock, MachineShare::Run);
    let repeat = other(&lock, MachineShare::Repeat);
    assert!(repeat.is_waiting());
    drop(before);
    let held = repeat.has_the_lock();
    drop(take(&lock, MachineShare::Build));
    let run = other(&lock, MachineShare::Run);
    assert!(run.is_waiting());
    drop(held);
    drop(run.has_the_lock());
}

#[test]
fn a_wait_can_be_stopped_and_leaves_nothing_locked() {
    let folder = tempfile::tempdir().unwrap();
    let lock = MachineLock::below(folder.path());
    let held = take(&lock, MachineShare::Run);
    let alone = other(&lock, MachineShare::Exclusive);
    assert!(alone.is_waiting());
    alone.stop.request();
    assert!(matches!(alone.has.recv_timeout(PATIENCE).unwrap(), Err(NotTaken::Stopped)));
    drop(take(&lock, MachineShare::Run));
    drop(held);
    drop(take(&lock, MachineShare::Exclusive));
}

#[test]
fn if_locks_do_not_work_only_exclusive_runs_fail() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("machines"), "in the way").unwrap();
    let lock = MachineLock::below(folder.path());
    drop(take(&lock, MachineShare::Run));
    drop(take(&lock, MachineShare::Repeat));
    let alone = lock.take(MachineShare::Exclusive, &Stop::never(), &mut || {});
    assert!(matches!(alone, Err(NotTaken::Error(_))));
}
