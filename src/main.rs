//! The command `referee`.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Reports and sites allocate millions of small blocks, and the allocator of musl, with which programs are distributed, has
/// one lock for all threads.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    referee::cli::main(referee::games::catalog())
}
