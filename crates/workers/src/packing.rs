//! Messages for workers besides units: the files of bots and of games, as archives in the directory of the
//! run.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use referee_engine::sources::BotSpec;
use referee_files::Folder;
use referee_game::erased::Rules;
use referee_program as program;

use crate::archive::{ArchiveError, ArchiveId, ArchiveLimits, PackedArchive, pack_files, pack_folder};
use crate::unit::{Place, UnitBot};

/// The directory of archives in that of a run.
pub const ARCHIVES: &str = "bots";

/// Reasons why workers cannot get something.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotPacked {
    #[error("`{0}` connects by itself: workers only play bots that have a command")]
    Connects(String),
    #[error("the files of {of}")]
    Files {
        of: String,
        #[source]
        why: ArchiveError,
    },
    #[error(
        "workers play no disguised games: what a worker is sent names the game by its id, and `disguised` stands for all of them"
    )]
    Disguised,
}

/// Packs these bots as workers start them. Bots with a directory of their own are packed for the run in this
/// directory.
///
/// # Errors
/// If one of them connects by itself, or its files cannot be packed.
pub fn pack_bots(bots: &[BotSpec], directory: &Path) -> Result<Vec<UnitBot>, NotPacked> {
    let mut packed: BTreeMap<PathBuf, ArchiveId> = BTreeMap::new();
    let bot = |bot: &BotSpec| {
        let name = || bot.name.clone();
        let command = bot.source.command().ok_or_else(|| NotPacked::Connects(name()))?;
        let files = |why| NotPacked::Files { of: format!("`{}`", bot.name), why };
        let within = command.directory_in_files().map_err(|why| files(why.into()))?;
        let place = match (&command.files, within) {
            (Some(folder), Some(within)) => {
                let id = match packed.get(folder) {
                    Some(&id) => id,
                    None => {
                        let id = pack(directory, |out| pack_folder(folder, ArchiveLimits::BOT, out));
                        let id = id.map_err(files)?;
                        packed.insert(folder.clone(), id);
                        id
                    }
                };
                Place::Archive(id, within)
            }
            _ => {
                let here = Path::new(".").canonicalize().map_err(|why| files(why.into()))?;
                Place::Installed(command.directory.as_ref().map_or(here.clone(), |of| here.join(of)))
            }
        };
        UnitBot::new(bot, place).ok_or_else(|| NotPacked::Connects(name()))
    };
    bots.iter().map(bot).collect()
}

/// Packs the directory of a game whose rules are a program, for the run in this directory: the files that records identify.
///
/// # Errors
/// If they cannot be packed.
pub fn pack_game(rules: &dyn Rules, directory: &Path) -> Result<Option<ArchiveId>, NotPacked> {
    if rules.disguised().is_some() {
        return Err(NotPacked::Disguised);
    }
    let Some((game, files)) = program::files(rules) else { return Ok(None) };
    let packed = pack(directory, |out| pack_files(&game, &files, ArchiveLimits::BOT, out));
    packed.map(Some).map_err(|why| NotPacked::Files { of: rules.meta().id.to_owned(), why })
}

/// Writes an archive for the run in this directory.
fn pack(
    directory: &Path,
    write: impl FnOnce(BufWriter<&mut File>) -> Result<PackedArchive, ArchiveError>,
) -> Result<ArchiveId, ArchiveError> {
    let archives = directory.join(ARCHIVES);
    Folder::make(&archives)?;
    let mut file = tempfile::NamedTempFile::new_in(&archives)?;
    let id = write(BufWriter::new(file.as_file_mut()))?.id;
    file.persist(archives.join(format!("{id}.tar"))).map_err(|error| error.error)?;
    Ok(id)
}
