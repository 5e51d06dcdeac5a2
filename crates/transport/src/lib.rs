//! Non-blocking byte streams: pipes, sockets and TLS, framed into lines.
//!
//! * [`Wire`] is a stream that no runtime watches yet, [`Stream`] one that is read and written without blocking, and
//!   [`ByteStream`] what both this and streams in memory are
//! * [`Lines`] splits what is read into lines of bounded length
//! * [`Listener`] accepts connections; [`Certificate`] and [`trust`] are the two ends of TLS
//! * [`Exchange`] waits for the answer to each of its requests; [`watch_while_waiting`] watches other streams meanwhile
//!
//! ```
//! use referee_transport::{Line, Lines};
//!
//! let mut input = &b"{\"type\":\"ready\"}\n{\"type\":\"move\",\"move\":\"c3-d4\"}\nand so on"[..];
//! let mut lines = Lines::new(20);
//! lines.fill(|buffer| std::io::Read::read(&mut input, buffer)).unwrap();
//! assert!(matches!(lines.next_line(), Some(Line::Text(b"{\"type\":\"ready\"}"))));
//! assert!(matches!(lines.next_line(), Some(Line::TooLong)));
//! // The rest of this line has not arrived.
//! assert!(lines.next_line().is_none());
//! ```

mod byte_stream;
mod exchange;
mod line;
mod listener;
mod mark;
#[cfg(any(test, feature = "memory"))]
mod memory;
mod stream;
mod tls;
mod trust;
mod watch;
mod watch_set;

use std::io;

pub use byte_stream::{ByteStream, ReadProgress};
pub use exchange::{Exchange, NoAnswer};
pub use line::{Line, Lines, ReadBuffers};
pub use listener::{Bound, Listener, is_shortage};
pub use mark::Mark;
#[cfg(any(test, feature = "memory"))]
pub use memory::{MemoryPeer, MemoryStream, memory_stream};
pub use stream::{Stream, Wire};
pub use tls::{Certificate, Tls, private_key, tls_failure};
pub use trust::trust;
pub use watch::{Arrival, LongComputation, is_interrupted, take_arrivals, watch_while_waiting};

/// The error for "nothing to read" and "no room to write".
fn would_block() -> io::Error {
    io::ErrorKind::WouldBlock.into()
}
