//! Bytes to and from the other end of a stream.

mod line;
mod mark;
mod stream;
mod tls;

use std::io;

pub use line::{Line, Lines};
pub use mark::Mark;
pub use stream::{Progress, Stream, Wire};
pub use tls::{Certificate, Tls};

/// There is nothing to read, or no room to write.
fn nothing_yet() -> io::Error {
    io::ErrorKind::WouldBlock.into()
}
