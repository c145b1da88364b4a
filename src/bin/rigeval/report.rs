//! What a command prints: text for people, or one JSON object.

use serde::Serialize;
use std::io::{self, Write};

/// A line on stdout. A reader that has gone away is no failure of ours, and printing goes on without it.
pub fn say(text: &str) {
    let _ = writeln!(io::stdout().lock(), "{text}");
}

/// A line on stderr.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// The report as one line of JSON where `--json` was given, as text otherwise.
pub fn report(json: bool, values: &impl Serialize, text: &str) {
    if json {
        say(&serde_json::to_string(values).expect("a report is plain data"));
    } else {
        say(text);
    }
}

/// 17821 as 17,821.
pub fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A file size in the unit that leaves the fewest digits.
pub fn size(bytes: usize) -> String {
    match bytes {
        0..10_000 => format!("{} bytes", grouped(bytes)),
        10_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
