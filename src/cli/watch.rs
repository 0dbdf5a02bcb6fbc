//! Shows a running hunt from its journal and its current activity. `start`, `resume` and
//! `status --watch` use the same view.

mod announced;
mod lines;
mod newest_search;
mod results;
mod sources;
mod view;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::process::Stop;
use crate::store::HuntDir;
use crate::ui::{Ui, Verbosity, yes_or_no};

use view::View;

/// Time between two reads of the journal.
const POLL_INTERVAL: Duration = Duration::from_millis(150);

/// How long a question waits for an answer: the user may have left the terminal.
const PATIENCE: Duration = Duration::from_mins(10);

/// A thread that shows a hunt. With [`Verbosity::Quiet`] there is no thread.
pub(crate) struct Watch {
    over: Arc<AtomicBool>,
    view: Arc<Mutex<View>>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Starts the thread. It shows the hunt from its beginning.
    pub(crate) fn begin(hunt: &HuntDir, ui: Ui) -> Self {
        Self::with(View::new(hunt.clone(), ui, 0), ui)
    }

    /// The same for a hunt that is resumed: without the notes of its earlier drivers, which are
    /// about moments that are over.
    pub(crate) fn resumed(hunt: &HuntDir, ui: Ui) -> Self {
        // If the journal cannot be read now, its notes are shown.
        let old = hunt.entries().map_or(0, |entries| entries.len());
        Self::with(View::new(hunt.clone(), ui, old), ui)
    }

    fn with(view: View, ui: Ui) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let view = Arc::new(Mutex::new(view));
        if ui.verbosity() == Verbosity::Quiet {
            return Self { over, view, thread: None };
        }
        let (flag, shown) = (Arc::clone(&over), Arc::clone(&view));
        let thread = std::thread::spawn(move || {
            while !flag.load(Ordering::Relaxed) {
                lock(&shown).look();
                std::thread::park_timeout(POLL_INTERVAL);
            }
            let mut view = lock(&shown);
            view.look();
            view.progress.finish();
        });
        Self { over, view, thread: Some(thread) }
    }

    /// Shows what happened so far, then asks a question. `None` if nobody answers.
    pub(crate) fn ask(&self, question: &str, stop: &Stop) -> Option<bool> {
        let mut view = lock(&self.view);
        view.look();
        view.progress.suspend(|| yes_or_no(question, PATIENCE, || stop.is_requested()))
    }

    /// Shows the remaining events and ends the thread.
    pub(crate) fn end(mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Wakes the thread, so that the end of the hunt does not wait for the next look.
            thread.thread().unpark();
            // The thread only prints; the message of a panic is already on stderr.
            let _ = thread.join();
        }
    }
}

/// Locks the view, also after a panic of the other thread: a hunt continues without a display.
fn lock(view: &Mutex<View>) -> MutexGuard<'_, View> {
    view.lock().unwrap_or_else(PoisonError::into_inner)
}
