//! Where bots come from: processes that the referee starts, and connections.

mod acceptor;
mod bot_spec;
mod listen;
mod lobby;
mod returning;
mod source;

pub(crate) use acceptor::{PendingConnections, Vacancy};
pub(crate) use bot_spec::with_factor;
pub use bot_spec::{BotSpec, check_programs};
pub use listen::{Listen, TokenHash};
pub use lobby::ParkedLobby;
pub(crate) use lobby::{Holder, Lobby};
pub use source::{Connection, OnExit, Source, parse};
