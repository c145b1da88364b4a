//! What a command prints: text for people, or one JSON object.

use crate::failure::Failure;
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

/// The report as one line of JSON where `--json` was given, as text otherwise. A full disk is a failure, a closed pipe is none.
pub fn report(json: bool, values: &impl Serialize, text: &str) -> Result<(), Failure> {
    let line = if json { serde_json::to_string(values).expect("a report is plain data") } else { text.to_string() };
    match writeln!(io::stdout().lock(), "{line}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("cannot write the report to stdout: {error}")))
        }
        _ => Ok(()),
    }
}

/// Text on one line: a name out of a file may hold line breaks and what else a terminal obeys.
pub fn one_line(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

/// The first of many names, and how many more there are; a file may call something by a page of text, of which a few words are enough.
pub fn listed(names: &[String]) -> String {
    const SHOWN: usize = 20;
    const LONGEST: usize = 100;
    let short = |name: &String| match name.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.clone(),
    };
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names.iter().take(SHOWN).map(short).collect::<Vec<_>>().join(", ") + &more
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
