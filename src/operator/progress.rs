//! Reports the progress of a long command: with a progress bar on a terminal, otherwise with a line
//! every few seconds.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressStyle};

/// The interval between two lines if stderr is not a terminal.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// The progress of a command, in rows.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    total: u64,
    before: u64,
    start: Instant,
    last_report: Instant,
}

impl Progress {
    /// Starts at `before` of `total` rows, if an earlier run of the command has already stored
    /// some.
    pub fn new(before: u64, total: u64) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(total).with_message(format!("of {}", HumanCount(total)));
            if let Ok(style) =
                ProgressStyle::with_template("{spinner} {wide_bar} {human_pos} {msg} ")
            {
                bar.set_style(style);
            }
            // A batch takes seconds. Meanwhile, the ticking bar shows that the command is running.
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        let now = Instant::now();
        Self { bar, total, before, start: now, last_report: now }
    }

    /// Reports that `done` rows have been stored. Raises the total if necessary, because rows can
    /// be added while a command runs.
    pub fn done(&mut self, done: u64) {
        self.total = self.total.max(done);
        let now = done.saturating_sub(self.before);
        let message = message(now, (done, self.total), self.start.elapsed());
        if let Some(bar) = &self.bar {
            bar.set_length(self.total);
            bar.set_position(done);
            bar.set_message(message);
        } else if self.last_report.elapsed() >= REPORT_INTERVAL {
            self.last_report = Instant::now();
            eprintln!("{} {message}", HumanCount(done));
        }
    }

    /// Removes the bar and returns the elapsed time.
    pub fn end(&self) -> Duration {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.start.elapsed()
    }
}

/// Formats progress, such as `of 1,000,000, 5,120 a second, 3 minutes left`. `now` is the number of
/// rows that were stored during `took`.
fn message(now: u64, (done, total): (u64, u64), took: Duration) -> String {
    let rate =
        u128::from(now).saturating_mul(1_000).checked_div(took.as_millis()).unwrap_or_default();
    let rate = u64::try_from(rate).unwrap_or(u64::MAX);
    let left = total.saturating_sub(done).checked_div(rate).unwrap_or_default();
    let left = HumanDuration(Duration::from_secs(left));
    format!("of {}, {} a second, {left} left", HumanCount(total), HumanCount(rate))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computes_rate_and_remaining_time() {
        assert_eq!(
            message(250_000, (250_000, 1_000_000), Duration::from_secs(50)),
            "of 1,000,000, 5,000 a second, 3 minutes left"
        );
        assert_eq!(
            message(1_000, (900_000, 1_000_000), Duration::from_secs(1)),
            "of 1,000,000, 1,000 a second, 2 minutes left"
        );
        assert_eq!(message(10, (10, 10), Duration::ZERO), "of 10, 0 a second, 0 seconds left");
    }
}
