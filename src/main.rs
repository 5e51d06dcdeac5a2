//! The command `referee`.

use std::process::ExitCode;

use referee::core::Catalog;

fn main() -> ExitCode {
    referee::cli::main(Catalog::default())
}
