//! A progress bar on a terminal, nothing anywhere else.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar of `length` steps; indicatif hides it where stderr is no terminal.
pub fn bar(what: &'static str, length: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:<24} {wide_bar} {pos}/{len} {eta}").expect("a valid template");
    ProgressBar::new(length as u64).with_style(style).with_message(what)
}

/// Something that runs for an unknown time.
pub fn spinner(what: &'static str) -> ProgressBar {
    let spinner = ProgressBar::new_spinner().with_message(what);
    spinner.enable_steady_tick(std::time::Duration::from_millis(100));
    spinner
}
