//! The command `referee`.

use std::process::ExitCode;

use clap::Parser;
use referee::bot::{EXEC, exec};
use referee::cli::{Cli, Exit, complain};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    if args.next().is_some_and(|first| first == EXEC) {
        return exec(args);
    }
    match Cli::parse().run() {
        Ok(exit) => exit.into(),
        Err(failure) => {
            // The reader has closed standard output, which is not an error.
            if failure.exit != Exit::Done {
                complain(format_args!("error: {:#}", failure.error));
            }
            failure.exit.into()
        }
    }
}
