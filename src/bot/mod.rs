//! Starting, watching and ending the processes of bots.

mod command;
mod process;
mod tail;

pub use command::Command;
pub use process::Process;
