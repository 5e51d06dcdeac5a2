//! Starting, watching and ending the processes of bots.

mod command;
mod environment;
mod exec;
mod holders;
mod launcher;
mod lineage;
mod orphans;
mod pipe_guard;
mod process;
pub mod sandbox;
mod stderr;

pub use command::Command;
pub use exec::{EXEC, exec};
pub use launcher::{Launch, Launcher, Starter};
pub use orphans::{OrphanReaper, children};
use pipe_guard::PipeGuard;
pub use process::Process;
pub use stderr::{Stderr, StderrCut, StderrText};
