//! Sources of bots: processes that the referee starts, and connections.

mod acceptor;
mod bot_spec;
mod listen;
mod lobby;
mod returning;
mod source;

pub use acceptor::{PendingConnections, Vacancy};

pub use bot_spec::{BotSpec, check_programs, with_factor};
pub use listen::{BotTokens, Listen, TokenHash};
pub use lobby::ParkedLobby;
pub(crate) use lobby::{Holder, Lobby};
pub use source::{Connection, OnExit, Source, parse};
