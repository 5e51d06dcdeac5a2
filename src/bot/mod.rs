//! Starting, watching and ending the processes of bots.

mod command;
mod orphans;
mod process;
mod tail;

pub use command::Command;
pub use orphans::Orphanage;
pub use process::Process;
