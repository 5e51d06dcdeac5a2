//! The socket of a player in the referee's own process.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};

use referee_bots::Command;
use tempfile::TempDir;

/// The socket of a player. For the referee the player is a bot, whose process relays everything to this socket, in a
/// directory that other users cannot open.
#[derive(Debug)]
pub struct RelaySocket {
    folder: TempDir,
    name: &'static str,
    listener: UnixListener,
}

impl RelaySocket {
    /// Opens the socket of a player with this name in results.
    ///
    /// # Errors
    /// I/O errors.
    pub fn open(name: &'static str) -> io::Result<RelaySocket> {
        let folder = tempfile::Builder::new()
            .prefix("referee-")
            .permissions(Permissions::from_mode(0o700))
            .tempdir()?;
        let listener = UnixListener::bind(folder.path().join("socket"))?;
        // The file name of the program becomes the name of the player.
        symlink(std::env::current_exe()?, folder.path().join(name))?;
        Ok(RelaySocket { folder, name, listener })
    }

    /// A handle that accepts the connection of the relay.
    ///
    /// # Errors
    /// I/O errors.
    pub fn listener(&self) -> io::Result<UnixListener> {
        self.listener.try_clone()
    }

    /// Ends the wait for the connection of the relay.
    ///
    /// # Errors
    /// I/O errors.
    pub fn wake(&self) -> io::Result<()> {
        UnixStream::connect(self.folder.path().join("socket")).map(drop)
    }

    /// The command line that starts the relay.
    pub fn command(&self) -> Command {
        let path = |name| self.folder.path().join(name).to_string_lossy().into_owned();
        let argv = vec![path(self.name), "relay".to_owned(), path("socket")];
        Command { argv, ..Command::default() }
    }
}
