//! Non-blocking byte streams: pipes, sockets and TLS, framed into lines.

mod line;
mod listener;
mod mark;
mod stream;
mod tls;

use std::io;

pub use line::{Line, Lines};
pub use listener::{Bound, Listener, is_shortage};
pub use mark::Mark;
pub use stream::{ReadProgress, Stream, Wire};
pub use tls::{Certificate, TLS_HANDSHAKE, Tls};

/// The error for "nothing to read" and "no room to write".
fn would_block() -> io::Error {
    io::ErrorKind::WouldBlock.into()
}
