//! The directory of a league.

use std::io;

use referee_files::Folder;

/// The directory of a ladder in that of its league.
///
/// # Errors
/// If it cannot be made.
pub fn ladder_folder(league: &Folder, ladder: &str) -> io::Result<Folder> {
    league.make_within("ladders").and_then(|folder| folder.make_within(ladder))
}
