//! Starting, watching and ending the processes of bots.
//!
//! * [`Command`] is how a bot is started: its arguments, its files, its [`sandbox`]
//! * [`Launcher`] starts processes on a thread of its own, [`Launch`] says how
//! * [`Process`] is a running bot; [`Stderr`] keeps what it writes to its standard error
//! * [`OrphanReaper`] ends what bots leave behind
//! * [`exec`] is the end of the child: the program of [`Launch::Through`] calls it if its first argument is [`EXEC`]
//! * [`Starter::run`] starts a program that is no bot in a sandbox, such as the build of a bot
//!
//! ```
//! use std::future::poll_fn;
//!
//! use referee_bots::{Command, Launch, Launcher};
//! use referee_transport::{ByteStream, Line, Lines, Stream};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! runtime.block_on(async {
//!     let launcher = Launcher::open(Launch::Directly, 1)?;
//!     let command: Command = "cat".parse().unwrap();
//!     let (process, wire) = launcher.start(move |starter| starter.start(&command, |_| {})).await?;
//!     let (mut stream, mut lines) = (Stream::watch(wire)?, Lines::new(100));
//!     poll_fn(|cx| stream.poll_write(cx, b"hello\n")).await?;
//!     poll_fn(|cx| stream.poll_read(cx, &mut lines)).await?;
//!     assert!(matches!(lines.next_line(), Some(Line::Text(b"hello"))));
//!     // The end of its input asks a bot to exit.
//!     drop(stream);
//!     process.end().await;
//!     Ok(())
//! })
//! # }
//! ```

mod command;
#[cfg(target_os = "linux")]
mod death_watch;
mod engine;
mod environment;
mod exec;
mod holders;
mod keep;
mod launcher;
mod lineage;
mod orphans;
mod pipe_guard;
mod process;
pub mod sandbox;
mod stderr;

pub use command::Command;
pub use engine::{Budget, Dialect, EngineCommand, command_line, optional_command_line};
pub use exec::{BuiltinProgram, ENGINE, EXEC, exec, exec_with};
pub use keep::{Keep, KeptStore};
pub use launcher::{Launch, Launcher, StartError, Starter};
pub use orphans::{OrphanReaper, children};
use pipe_guard::PipeGuard;
pub use process::Process;
pub use stderr::{Stderr, StderrCut, StderrText};
