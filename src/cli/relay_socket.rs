//! The socket of a player in the referee's own process.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use crate::bot::Command;
use crate::core::hex;

/// The socket of a player. For the referee the player is a bot, whose process relays everything to this socket, in a
/// directory that other users cannot open.
pub(super) struct RelaySocket {
    folder: PathBuf,
    name: &'static str,
    listener: UnixListener,
}

impl RelaySocket {
    /// Opens the socket of a player with this name in results.
    pub(super) fn open(name: &'static str) -> io::Result<RelaySocket> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let folder = std::env::temp_dir().join(format!("referee-{}", hex::encode(&random)));
        DirBuilder::new().mode(0o700).create(&folder)?;
        let opened = UnixListener::bind(folder.join("socket"));
        // The file name of the program becomes the name of the player.
        let linked = std::env::current_exe().and_then(|program| symlink(program, folder.join(name)));
        match (opened, linked) {
            (Ok(listener), Ok(())) => Ok(RelaySocket { folder, name, listener }),
            (Err(error), _) | (_, Err(error)) => {
                let _ = fs::remove_dir_all(&folder);
                Err(error)
            }
        }
    }

    /// A handle that accepts the connection of the relay.
    pub(super) fn listener(&self) -> io::Result<UnixListener> {
        self.listener.try_clone()
    }

    /// The command line that starts the relay.
    pub(super) fn command(&self) -> Command {
        let path = |name| self.folder.join(name).to_string_lossy().into_owned();
        let argv = vec![path(self.name), "relay".to_owned(), path("socket")];
        Command { argv, ..Command::default() }
    }
}

impl Drop for RelaySocket {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
