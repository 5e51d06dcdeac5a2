//! Sources of bots.

use std::fmt;
use std::io;
use std::sync::Arc;

use referee_bots::{Command, Process, StartError, Starter};
use referee_game::Wrong;
use referee_game::name::check_name;
use referee_match::Detail;
use referee_transport::Wire;

/// Receives how a process ended.
pub type OnExit = Box<dyn FnOnce(Detail) + Send>;

/// The source of a bot. Its text is that of the command line: see [`parse`].
pub trait Source: fmt::Debug + fmt::Display + Send + Sync {
    /// A short name for results.
    fn label(&self) -> String;

    /// Path and SHA-256 of the program and its scripts.
    fn fingerprints(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// The command with which the referee starts the bot, including its sandbox; `None` if the bot connects by itself.
    fn command(&self) -> Option<&Command> {
        None
    }

    /// Checks whether the bot can be started, as far as that is possible without starting it.
    ///
    /// # Errors
    /// Says what is missing.
    fn check(&self) -> Result<(), Wrong> {
        Ok(())
    }

    /// The name with which the bot connects by itself; `None` if the referee starts it.
    fn connects_as(&self) -> Option<&str> {
        None
    }

    /// Returns whether the referee starts the bot.
    fn is_started(&self) -> bool {
        self.connects_as().is_none()
    }

    /// Starts the bot. Called on the thread of the launcher.
    ///
    /// # Errors
    /// Errors of [`Starter::start`]; `Unsupported` if the bot connects by itself.
    fn start(&self, _starter: &Starter, _on_exit: OnExit) -> Result<(Process, Wire), StartError> {
        Err(io::Error::from(io::ErrorKind::Unsupported).into())
    }
}

/// Parses a source: a command line, or `tcp:NAME` for a bot that connects.
///
/// # Errors
/// If a quote is not closed, or the name is invalid.
pub fn parse(text: &str) -> Result<Arc<dyn Source>, Wrong> {
    let Some(name) = text.strip_prefix("tcp:") else { return Ok(Arc::new(text.parse::<Command>()?)) };
    match Connection::new(name) {
        Ok(connection) => Ok(Arc::new(connection)),
        Err(error) => Err(format!("`{text}`: {error}").into()),
    }
}

impl Source for Command {
    fn label(&self) -> String {
        self.label()
    }

    fn fingerprints(&self) -> Vec<(String, String)> {
        self.fingerprints()
    }

    fn command(&self) -> Option<&Command> {
        Some(self)
    }

    fn check(&self) -> Result<(), Wrong> {
        self.check()
    }

    fn start(&self, starter: &Starter, on_exit: OnExit) -> Result<(Process, Wire), StartError> {
        starter.start(self, on_exit)
    }
}

/// A bot that connects with this name in its `hello`.
#[derive(Clone, Debug)]
pub struct Connection {
    name: String,
}

impl Connection {
    /// A bot of this name.
    ///
    /// # Errors
    /// If the name is invalid: a description of valid names.
    pub fn new(name: &str) -> Result<Connection, Wrong> {
        check_name(name)?;
        Ok(Connection { name: name.to_owned() })
    }
}

impl Connection {
    /// The connections of a player: of a bot, or of one version of it.
    pub(crate) fn of(player: &str) -> Connection {
        Connection { name: player.to_owned() }
    }
}

impl fmt::Display for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tcp:{}", self.name)
    }
}

impl Source for Connection {
    fn label(&self) -> String {
        self.name.clone()
    }

    fn connects_as(&self) -> Option<&str> {
        Some(&self.name)
    }
}
