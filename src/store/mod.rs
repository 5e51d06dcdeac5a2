//! What stays on disk.

mod records;

pub use records::Records;
