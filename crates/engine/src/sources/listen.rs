use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use referee_transport::Certificate;

/// SHA-256 of a token.
pub type TokenHash = [u8; 32];

/// SHA-256 of the tokens with which bots connect, by name. A bot has several while its owner replaces one.
pub type BotTokens = BTreeMap<String, Vec<TokenHash>>;

#[derive(Clone, Debug)]
pub struct Listen {
    /// The address to listen on; port 0 picks a free port.
    pub address: SocketAddr,
    /// Enables TLS.
    pub certificate: Option<Certificate>,
    /// The tokens by name; `None` if no name needs one, otherwise every name does.
    pub tokens: Option<BotTokens>,
    /// Whether every name with a token may connect, and joins the run then. Each version of a bot is a bot of its own.
    /// Otherwise only bots of the run may connect.
    pub is_open: bool,
    /// The maximum number of connections per name.
    pub connections: usize,
    /// The time for which a match waits for a bot that is not connected.
    pub wait: Duration,
    /// The time for which the matches of a lost connection wait for one that replaces it; zero: not at all.
    /// Bots need tokens for it.
    pub reconnect: Duration,
    /// Counts the connections whose `hello` is not accepted.
    pub refusals: Arc<AtomicU64>,
}
