//! Size limits, rate limits and timeouts. The specification quotes them.

/// Longest line from a bot, in bytes without the line break.
pub const LINE_FROM_BOT: usize = 64 * 1024;
/// Bytes of an overlong line that are discarded before the connection is closed.
pub const SKIPPED: usize = 16 * 1024 * 1024;
/// Longest line from the referee, in bytes without the line break.
pub const LINE_FROM_REFEREE: usize = 1024 * 1024;
/// Lines that a stream may send between two requests, for each open match.
pub const LINES_BETWEEN_REQUESTS: u32 = 64;
/// Bytes that a stream may send between two requests, for each open match.
pub const BYTES_BETWEEN_REQUESTS: u32 = 128 * 1024;
/// Messages in the wrong state that a seat may send within a match.
pub const STRAYS: u32 = 20;
/// Backlog of output allowed for a stream, in bytes; each open match adds [`PENDING_OUTPUT_PER_MATCH`].
pub const PENDING_OUTPUT: usize = 4 * 1024 * 1024;
/// See [`PENDING_OUTPUT`]. A request and the events before it have room, even if the rules make all of them as long as they may.
pub const PENDING_OUTPUT_PER_MATCH: usize = 2 * 1024 * 1024;
/// Write timeout: how long a stream may accept no output while no request is open, in milliseconds.
pub const STALLED_MS: u64 = 10_000;
/// Timeout for `hello`, from the start of the process or connection, in milliseconds.
pub const HELLO_MS: u64 = 10_000;
/// Timeout for `ready` in the first match of a process or connection, from `start`, in milliseconds.
pub const FIRST_READY_MS: u64 = 60_000;
/// Timeout for `ready` in later matches, from `start`, in milliseconds.
pub const READY_MS: u64 = 5_000;
/// Default grace period beyond a time limit, in milliseconds.
pub const MARGIN_MS: u64 = 20;
/// Maximum total pause of the referee during one match with a clock, in milliseconds; beyond that the match is void.
pub const PAUSED_MS: u64 = 60_000;
/// Consecutive moves that the referee makes for faulty seats before it serves other streams.
pub const FALLBACK_MOVES: u32 = 64;
/// Characters of a `move` that a match keeps. No legal move is longer.
pub const MOVE: usize = 256;
/// Characters of a `move` that a match keeps in a game that does not list its moves.
pub const UNLISTED_MOVE: usize = 16 * 1024;
/// Longest `info`, in bytes.
pub const INFO: usize = 4 * 1024;
/// Total `info` of a seat that a match keeps, in bytes.
pub const INFO_PER_MATCH: usize = 1024 * 1024;
/// Longest `nonce`, in bytes (two hex digits each).
pub const NONCE: usize = 64;
/// Longest `name` in a bot's `hello`, in characters.
pub const NAME: usize = 64;
/// Longest `version` and longest `author` in a bot's `hello`, in characters.
pub const ABOUT: usize = 256;
/// Maximum number of `details` in a bot's `hello`. Each name has at most [`NAME`] characters, each text at most [`ABOUT`].
pub const DETAILS: usize = 32;
/// Longest `id` of an `open`, in bytes.
pub const OPEN_ID: usize = 256;
/// Maximum number of concurrent matches of a connection.
pub const SLOTS: u64 = 4_096;
/// Maximum number of connections without `hello`. Beyond it, one connection of the address with the most of them is
/// closed.
pub const PENDING_CONNECTIONS: usize = 16_384;
/// Maximum number of TLS connections without `hello`, each of which takes more memory.
pub const PENDING_CONNECTIONS_TLS: usize = 2_048;
/// Bytes received of an incomplete first line from which it counts as long.
pub const LONG_HELLO: usize = 4 * 1024;
/// Maximum number of connections whose first line is long and incomplete. Beyond it, the oldest of them is closed.
pub const LONG_HELLOS: usize = 256;
/// Grace period for `hello` during which a connection is not closed in favour of others, in milliseconds, unless most
/// connections of its address fail.
pub const GRACE_MS: u64 = 3_000;
/// Time for which a `hello` beyond the connection limit of its name waits for another connection of that name to end, in
/// milliseconds.
pub const RECONNECT_MS: u64 = 500;
/// Time for which the matches of a lost connection wait for one that replaces it, in milliseconds.
pub const LOST_MS: u64 = 60_000;
/// Number of times that a seat can lose its connection in a match and continue on another one.
pub const RECONNECTIONS: usize = 5;
/// Longest `reconnect` in a bot's `hello`, in characters.
pub const RECONNECT_ID: usize = 64;
/// Minimum interval between two replies to wrong tokens from one address, in milliseconds.
pub const WRONG_TOKEN_MS: u64 = 250;
/// Maximum delay of a `hello` because of wrong tokens from its address, in milliseconds.
pub const WRONG_TOKEN_MOST_MS: u64 = 2_000;
/// Default limit of concurrent connections per name.
pub const CONNECTIONS: usize = 8;
/// Bytes of standard error of a started bot that are kept for each match (the last ones).
pub const STDERR: usize = 64 * 1024;
/// Time from the end of its stream within which the exit of a process is the fault, in milliseconds.
pub const EXIT_MS: u64 = 2_000;
/// Time from end of input to SIGTERM, in milliseconds.
pub const END_OF_INPUT_MS: u64 = 2_000;
/// Time from SIGTERM to SIGKILL, in milliseconds.
pub const SIGTERM_MS: u64 = 1_000;
