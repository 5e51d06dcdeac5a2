//! Bytes to and from the other end of a stream.

mod line;
mod stream;

pub use line::{Line, Lines};
pub use stream::{Progress, Stream};
