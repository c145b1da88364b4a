//! The command line: bake, inspect, evaluate, check.
//!
//! Exit 0 on success, 1 on a failed check, 2 on bad usage or bad input. Errors are one line on stderr that says what to do.

mod arrays;
mod bake;
mod bake_mesh;
mod check;
mod clip;
mod demo;
mod device;
mod drive;
mod eval;
mod evaluate;
mod failure;
mod info;
mod output;
mod picture;
mod posed;
mod progress;
mod render;
mod report;
mod rig;
mod riglogic;
mod sample;

use clap::{Parser, Subcommand};
use failure::{Failure, Outcome};
use std::io::Write;
use std::process::ExitCode;

/// Control vectors to posed vertices: bake, inspect, evaluate and check rigs.
#[derive(Parser)]
#[command(name = "rigeval", version, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Demo(demo::Args),
    Info(info::Args),
    Sample(sample::Args),
    Bake(bake::Args),
    BakeMesh(bake_mesh::Args),
    Eval(Box<eval::Args>),
    Check(check::Args),
    Render(Box<render::Args>),
    Riglogic(riglogic::Args),
}

fn main() -> ExitCode {
    // The GPU stack warns about every software driver; what it cannot do comes back as an error anyway.
    let filter = env_logger::Env::default().default_filter_or("warn,wgpu_core=error,wgpu_hal=error,naga=error");
    env_logger::Builder::from_env(filter)
        .format(|out, record| writeln!(out, "[{:<5}] {}", record.level(), report::one_line(&record.args().to_string())))
        .init();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return failure::usage(&error),
    };
    let outcome = match cli.command {
        Command::Demo(args) => demo::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Sample(args) => sample::run(&args),
        Command::Bake(args) => bake::run(&args),
        Command::BakeMesh(args) => bake_mesh::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Render(args) => render::run(&args),
        Command::Riglogic(args) => riglogic::run(&args),
    };
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::CheckFailed) => ExitCode::from(1),
        Err(Failure(message)) => {
            report::complain(&format!("error: {message}"));
            ExitCode::from(2)
        }
    }
}
