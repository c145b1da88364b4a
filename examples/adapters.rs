//! Lists the adapter that the command line and the tests would take; exits with 1 when there is none.
//!
//! `cargo run --release --features cli --example adapters`

use rigeval::gpu::headless::{AdapterChoice, Headless};
use std::process::ExitCode;

fn main() -> ExitCode {
    match Headless::new(AdapterChoice::Any) {
        Ok(gpu) => {
            let facts = gpu.facts();
            let kind = if facts.is_software { "software" } else { "hardware" };
            println!("{} ({}, {kind}), driver {}", facts.name, facts.backend, facts.driver);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
