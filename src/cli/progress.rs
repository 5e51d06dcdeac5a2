//! How far a run is, on standard error where that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// One that shows what the template says.
pub(super) fn bar(length: u64, template: &str) -> ProgressBar {
    let progress = ProgressBar::new(length);
    if let Ok(style) = ProgressStyle::with_template(template) {
        progress.set_style(style);
    }
    progress.enable_steady_tick(Duration::from_millis(200));
    progress
}

/// One for so many matches.
pub(super) fn of_matches(length: u64) -> ProgressBar {
    bar(length, "{bar:30} {pos}/{len} matches, {per_sec}, {eta} left {msg}")
}
