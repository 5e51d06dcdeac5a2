//! The command `referee`.

use std::process::ExitCode;

use clap::Parser;
use referee::cli::{Cli, Exit};

fn main() -> ExitCode {
    match Cli::parse().run() {
        Ok(exit) => exit.into(),
        Err(failure) => {
            // Nobody reads on: that is no error of ours.
            if failure.exit != Exit::Done {
                eprintln!("error: {:#}", failure.error);
            }
            failure.exit.into()
        }
    }
}
