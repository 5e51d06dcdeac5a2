//! Starting, watching and ending the processes of bots.

mod command;
mod orphans;
mod process;
mod stderr;

pub use command::Command;
pub use orphans::Orphanage;
pub use process::Process;
pub use stderr::{Said, Stderr};
