//! Workshops: agents that write bots, round by round, with equal budgets.
//!
//! * [`WorkshopConfig`]: the file
//! * [`Workshop`]: a directory that this process runs, or reads
//! * [`Versions`]: what was handed in, by the SHA-256 of its archive
//! * [`Bench`]: what an agent can do with its bot; [`ToolCall`] is a request to it, over a socket or in this process

mod agent;
mod bench;
mod config;
mod journal;
mod lost_match;
mod outside;
mod run;
mod seat;
mod tools;
mod verify;
mod version;

pub use agent::SOCKET;
pub use bench::{Bench, BenchError, Practice};
pub use config::{AgentConfig, OpponentConfig, WorkshopConfig};
pub use journal::{EditOutcome, EditReport, HandIn, RoundReport, WorkshopLine};
pub use run::{Workshop, WorkshopEnd, WorkshopEvent};
pub use seat::call_seat;
pub use tools::{Tool, ToolCall, ToolReply, ask, tools, tools_of_seat};
pub use verify::{WorkshopAudit, verify};
pub use version::{Version, Versions};

use std::io;

use tokio::sync::watch;

/// A future that resolves once its owner is over.
#[derive(Clone, Debug)]
pub struct Stop(watch::Receiver<bool>);

impl Stop {
    /// Returns a stop that never comes.
    pub fn never() -> Stop {
        Stop(watch::channel(false).1)
    }

    async fn wait(mut self) {
        if self.0.wait_for(|&is_over| is_over).await.is_err() {
            // The sender that could stop it is gone.
            std::future::pending::<()>().await;
        }
    }
}

/// Runs a future on this thread.
fn block_on<T>(future: impl Future<Output = T>) -> io::Result<T> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(future))
}
