//! Non-blocking byte streams: pipes, sockets and TLS, framed into lines.

mod byte_stream;
mod exchange;
mod line;
mod listener;
mod mark;
#[cfg(any(test, feature = "fuzzing"))]
mod memory;
mod stream;
mod tls;
mod trust;

use std::io;

pub use byte_stream::{ByteStream, ReadProgress};
pub use exchange::{Exchange, NoAnswer};
pub use line::{Line, Lines, ReadBuffers};
pub use listener::{Bound, Listener, is_shortage};
pub use mark::Mark;
#[cfg(any(test, feature = "fuzzing"))]
pub use memory::{MemoryPeer, MemoryStream, memory_stream};
pub use stream::{Stream, Wire};
pub use tls::{Certificate, Tls, private_key, tls_failure};
pub use trust::trust;

/// The error for "nothing to read" and "no room to write".
fn would_block() -> io::Error {
    io::ErrorKind::WouldBlock.into()
}
