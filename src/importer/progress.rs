//! Shows the progress of an import on the command line.

use std::io::IsTerminal as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::ProgressObserver;

/// A progress bar on a terminal, or lines at intervals if stderr is not a terminal.
#[derive(Default)]
pub struct Progress(Mutex<State>);

#[derive(Default)]
struct State {
    bar: Option<indicatif::ProgressBar>,
    total: u64,
    read: u64,
    last_report: Option<Instant>,
}

/// The interval between progress lines if stderr is not a terminal.
const REPORT_EVERY: Duration = Duration::from_secs(5);

impl Progress {
    fn with(&self, act: impl FnOnce(&mut State)) {
        act(&mut self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
    }

    pub fn done(&self) {
        self.with(|state| {
            if let Some(bar) = &state.bar {
                bar.finish_and_clear();
            }
        });
    }
}

impl ProgressObserver for Progress {
    fn files_found(&self, files: usize, bytes: u64) {
        self.with(|state| {
            state.total = bytes;
            state.last_report = Some(Instant::now());
            if std::io::stderr().is_terminal() {
                let bar = indicatif::ProgressBar::new(bytes).with_message(format!("{files} files"));
                if let Ok(style) = indicatif::ProgressStyle::with_template(
                    "{msg} {wide_bar} {bytes} of {total_bytes}",
                ) {
                    bar.set_style(style);
                }
                state.bar = Some(bar);
            }
        });
    }

    fn file_read(&self, bytes: u64) {
        self.with(|state| {
            state.read = state.read.saturating_add(bytes);
            if let Some(bar) = &state.bar {
                bar.inc(bytes);
            } else if state
                .last_report
                .is_some_and(|last_report| last_report.elapsed() >= REPORT_EVERY)
            {
                state.last_report = Some(Instant::now());
                eprintln!("read {} of {} MB", state.read / 1_000_000, state.total / 1_000_000);
            }
        });
    }
}
