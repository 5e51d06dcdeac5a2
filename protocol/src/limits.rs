//! Every number that bounds what a stream may do. The specification quotes them.

/// Longest line from a bot, in bytes without the line break.
pub const LINE_FROM_BOT: usize = 64 * 1024;
/// Bytes of one line that is too long that are passed over before the connection is closed.
pub const SKIPPED: usize = 16 * 1024 * 1024;
/// Longest line from the referee, in bytes without the line break.
pub const LINE_FROM_REFEREE: usize = 1024 * 1024;
/// Lines that a stream may send between two requests, for each open match.
pub const LINES_BETWEEN_REQUESTS: u32 = 64;
/// Bytes that a stream may send between two requests, for each open match.
pub const BYTES_BETWEEN_REQUESTS: u32 = 128 * 1024;
/// Messages out of their state that a seat may send within a match.
pub const STRAYS: u32 = 20;
/// Output that may wait for a stream, in bytes, and what each open match adds.
pub const PENDING_OUTPUT: usize = 4 * 1024 * 1024;
/// See [`PENDING_OUTPUT`].
pub const PENDING_OUTPUT_PER_MATCH: usize = 256 * 1024;
/// How long a stream may take nothing while no request is open, in milliseconds.
pub const STALLED_MS: u64 = 10_000;
/// From start or connection to `hello`, in milliseconds.
pub const HELLO_MS: u64 = 10_000;
/// From `start` to `ready` in the first match of a process or connection, in milliseconds.
pub const FIRST_READY_MS: u64 = 60_000;
/// From `start` to `ready` afterwards, in milliseconds.
pub const READY_MS: u64 = 5_000;
/// Forgiven beyond a time limit, in milliseconds, unless the set-up says otherwise.
pub const MARGIN_MS: u64 = 20;
/// By how much the referee's own lag may move the deadlines of a seat in one match, in milliseconds.
pub const LAG_MS: u64 = 1_000;
/// Moves in a row that the referee makes for faulty seats before it looks at other streams.
pub const FALLBACK_MOVES: u32 = 64;
/// What a match keeps of a `move`, in characters. No legal one is longer.
pub const MOVE: usize = 256;
/// Longest `info`, in bytes.
pub const INFO: usize = 4 * 1024;
/// All the `info` of a seat that a match keeps, in bytes.
pub const INFO_PER_MATCH: usize = 1024 * 1024;
/// Longest `nonce`, in bytes (two hex digits each).
pub const NONCE: usize = 64;
/// Longest `name` in a bot's `hello`, in characters.
pub const NAME: usize = 64;
/// Longest `version` and longest `author` in a bot's `hello`, in characters.
pub const ABOUT: usize = 256;
/// Longest `id` of an `open`, in bytes.
pub const OPEN_ID: usize = 256;
/// Most matches that a connection may play at once.
pub const SLOTS: u64 = 4_096;
/// Connections that have not introduced themselves yet; with more, the oldest is closed.
pub const STRANGERS: usize = 64;
/// Connections of one name, unless the set-up says otherwise.
pub const CONNECTIONS: usize = 8;
/// What is kept of the standard error of a started bot for each match: its end, in bytes.
pub const STDERR: usize = 64 * 1024;
/// Between end of input and SIGTERM, in milliseconds.
pub const END_OF_INPUT_MS: u64 = 2_000;
/// Between SIGTERM and SIGKILL, in milliseconds.
pub const SIGTERM_MS: u64 = 1_000;
