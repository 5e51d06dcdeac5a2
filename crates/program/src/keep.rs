//! Games that are kept with a run, so that its matches can be replayed after their author has changed them.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::load::{files, load_kept};
use referee_bots::Launch;
use referee_files::Folder;
use referee_game::Chain;
use referee_game::erased::Rules;
use referee_game::hex;

/// The directory of games in that of a run.
const GAMES: &str = "games";
/// The characters of a hash that name a version.
const SHORT: usize = 16;

/// The identity of the rules of a program: a hash of its manifest and its files; `None` for a game of the referee.
pub fn version(rules: &dyn Rules) -> Option<String> {
    let program = rules.program()?;
    let mut hash = hex::encode(&Sha256::digest(program.get()));
    hash.truncate(SHORT);
    Some(hash)
}

/// Copies the files of a game whose rules are a program to the directory of a run, unless they are there.
///
/// # Errors
/// If they cannot be written.
pub fn keep(rules: &dyn Rules, run: &Path) -> io::Result<()> {
    let rules = rules.disguised().unwrap_or(rules);
    let (Some(version), Some((from, files))) = (version(rules), files(rules)) else { return Ok(()) };
    let games = Folder::make(&run.join(GAMES))?;
    let place = games.path().join(&version);
    if place.is_dir() {
        return Ok(());
    }
    let new = tempfile::Builder::new().prefix(".new-").tempdir_in(games.path())?;
    for file in files {
        let to = new.path().join(&file);
        to.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::copy(from.join(&file), &to)?;
        File::open(&to)?.sync_all()?;
    }
    // The page identifies nothing, and the program must not see it.
    games.replace(&format!("{version}.md"), rules.meta().rules.as_bytes())?;
    fs::rename(new.keep(), place)?;
    games.sync()
}

/// The games that are kept in the directory of a run. Unreadable games are reported and left out.
///
/// # Errors
/// If the directory cannot be read.
pub fn kept(run: &Path, launch: &Launch) -> io::Result<Vec<&'static dyn Rules>> {
    let games = run.join(GAMES);
    let entries = match fs::read_dir(&games) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(io::Error::new(error.kind(), format!("{}: {error}", games.display()))),
        Ok(entries) => entries,
    };
    let mut kept = Vec::new();
    for entry in entries {
        let entry = entry?;
        if !entry.path().is_dir() || entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        match load_kept(&entry.path(), launch) {
            Ok(rules) if version(rules).is_some_and(|version| *version == *entry.file_name()) => {
                kept.push(rules);
            }
            Ok(_) => {
                tracing::warn!("{}: its files have changed since they were kept", entry.path().display());
            }
            Err(why) => tracing::warn!("{}", Chain(&why)),
        }
    }
    Ok(kept)
}
