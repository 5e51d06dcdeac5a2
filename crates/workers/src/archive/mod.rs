//! The files of a bot as an archive that is named by its contents.
//!
//! An archive is a tar file in one form: ustar headers, entries sorted by path, only regular files and
//! symbolic links between them, modes 0644 and 0755, owner and time 0. The same files therefore give the same
//! archive on every machine, and its SHA-256 ([`ArchiveId`]) names them. [`pack_selected`] and [`pack_files`]
//! write archives; [`unpack`] accepts nothing else, and writes no file before it has checked the whole
//! archive. [`unpack_foreign`] takes archives of other programs. [`Cache`] keeps archives on a worker.

mod cache;
mod entry;
mod error;
mod foreign;
mod id;
mod pack;
#[cfg(test)]
mod tests;
mod tree;
mod unpack;

pub use cache::{Cache, Unpacked};
pub use error::ArchiveError;
pub use foreign::unpack_foreign;
pub use id::ArchiveId;
pub use pack::{PackedArchive, pack_files, pack_folder, pack_open, pack_selected};
pub use unpack::{check, unpack, unpack_stream};

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchiveLimits {
    /// The size of its files, in bytes.
    pub bytes: u64,
    /// The number of files, links and directories.
    pub entries: usize,
}

impl ArchiveLimits {
    /// The limits of the archives of bots: 2 GiB in 100,000 files, links and directories.
    pub const BOT: ArchiveLimits = ArchiveLimits { bytes: 2 << 30, entries: 100_000 };

    /// The size of the largest archive within these limits, in bytes: each entry has a header and padding.
    pub const fn most_bytes(self) -> u64 {
        self.bytes.saturating_add((self.entries as u64 * 2 + 2) * entry::BLOCK as u64)
    }
}

/// The size of the largest archive within [`ArchiveLimits::BOT`], in bytes.
pub const MOST_BYTES: u64 = ArchiveLimits::BOT.most_bytes();
