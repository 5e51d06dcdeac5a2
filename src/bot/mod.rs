//! Starting, watching and ending the processes of bots.

mod command;
mod orphans;
mod process;
mod stderr;
mod warden;

pub use command::Command;
pub use orphans::{Orphanage, children};
pub use process::Process;
pub use stderr::{Said, Stderr};
pub use warden::Warden;
