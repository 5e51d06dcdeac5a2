//! Files and directories of a referee, safe against manipulation by other users of the machine.
//!
//! * [`Folder`] is an open directory: links in it are never followed, and new files never replace existing ones
//! * [`Records`] is a directory with the record of each match, [`RunningMatches`] one with the journals of the matches in
//!   progress, and [`Journal`] the locked file with the matches that have begun
//! * [`RecordFolder`] reads records from their files and from packs, which have a thousand each
//! * [`ResolvedFolder`] is a directory whose files are packed or published: no link leads out of it
//! * [`read_regular`], [`read_secret`] and [`open_regular`] open what the user names; none of them waits for a FIFO
//! * [`TableFolder`] is a directory of tables of endgames
//! * [`keep_private`] lists what the sandbox hides from bots
//! * [`StorageWait`] retries writes while the disk is full
//!
//! ```
//! use referee_files::{Folder, read_regular};
//!
//! # fn main() -> std::io::Result<()> {
//! let directory = tempfile::tempdir()?;
//! let folder = Folder::make(&directory.path().join("results"))?;
//! // Readers see the complete file or none.
//! folder.replace("standings", b"random 3\n")?;
//! assert_eq!(read_regular(&folder.path().join("standings"))?, b"random 3\n");
//! // A link that another user planted is an error, and what it names remains as it is.
//! std::os::unix::fs::symlink("standings", folder.path().join("next"))?;
//! assert!(folder.open_file("next", true).is_err());
//! # Ok(())
//! # }
//! ```

mod folder;
mod journal;
mod packs;
mod private;
mod records;
mod regular;
mod resolved;
mod running;
mod tables;
mod wait;

pub use folder::Folder;
pub use journal::Journal;
pub use packs::{PackRange, PackWriter, RecordFolder, StoredRecord, read_record};
pub use private::{keep_private, private_paths};
pub use records::{Records, unsealed, written_at};
pub use regular::{
    has_extension, most_unpacked, open_regular, read_limited, read_regular, read_secret, unpack,
};
pub use resolved::{FoundFile, NotInFolder, ResolvedFolder};
pub use running::{RunningMatch, RunningMatches};
pub use tables::TableFolder;
pub use wait::{StorageWait, WriteError, is_temporary};
