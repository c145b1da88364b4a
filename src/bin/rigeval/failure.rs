//! How a command ends.

use crate::report;
use clap::error::ErrorKind;
use rigeval::error::{BackendError, ControlError, DeviceError, LimitError, LoadError};
use rigeval::frames::CompareError;
use std::fmt;
use std::process::ExitCode;

/// What a command that ran has to say through its exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Exit 0.
    Done,
    /// Exit 1.
    CheckFailed,
}

/// Bad usage or bad input: one line, exit 2.
#[derive(Debug)]
pub struct Failure(pub String);

impl Failure {
    /// The message on one line, whatever it is made from.
    pub fn new(message: impl fmt::Display) -> Failure {
        let message = message.to_string();
        let lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        Failure(report::one_line(&lines.join(" ")))
    }
}

macro_rules! from_error {
    ($($error:ty),*) => { $(impl From<$error> for Failure {
        fn from(error: $error) -> Failure {
            Failure::new(error)
        }
    })* };
}
from_error!(LoadError, ControlError, LimitError, BackendError, DeviceError, CompareError);

/// Prints help in full, and a usage error on one line.
pub fn usage(error: &clap::Error) -> ExitCode {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            report::say(error.render().to_string().trim_end());
            ExitCode::SUCCESS
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            report::complain(error.render().to_string().trim_end());
            ExitCode::from(2)
        }
        _ => {
            let text = error.render().to_string();
            // What follows the first empty line is the usage and a pointer to help.
            let Failure(what) = Failure::new(text.split("\n\n").next().unwrap_or_default());
            report::complain(&format!("{what} (see `rigeval help`)"));
            ExitCode::from(2)
        }
    }
}
