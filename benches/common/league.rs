//! A league in a temporary directory, and its server.

use std::io::{BufRead, BufReader, Lines};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use super::Result;

const REFEREE: &str = env!("CARGO_BIN_EXE_referee");

/// A league with one ladder of checkers.
pub(crate) struct League {
    _folder: tempfile::TempDir,
    config: PathBuf,
}

impl League {
    /// With these further lines for its ladder.
    pub(crate) fn new(ladder: &str) -> Result<League> {
        let folder = tempfile::tempdir()?;
        let config = folder.path().join("league.toml");
        let text =
            format!("[[ladders]]\nname = 'bench'\ngame = 'checkers'\nlisten = '127.0.0.1:0'\n{ladder}\n");
        std::fs::write(&config, text)?;
        Ok(League { _folder: folder, config })
    }

    /// Adds a bot. Returns its token.
    pub(crate) fn add(&self, name: &str) -> Result<String> {
        let mut command = Command::new(REFEREE);
        let output =
            command.args(["league", "add", name, "--json", "--league"]).arg(&self.config).output()?;
        let added: Value = serde_json::from_slice(&output.stdout)?;
        Ok(added["token"].as_str().ok_or("no token")?.to_owned())
    }

    pub(crate) fn serve(&self) -> Result<Server> {
        let mut command = Command::new(REFEREE);
        command.arg("serve").arg(&self.config).args(["--json", "--log-level", "error"]);
        let mut process = Ended(command.stdout(Stdio::piped()).spawn()?);
        let mut lines = BufReader::new(process.0.stdout.take().ok_or("no output")?).lines();
        let listening: Value = serde_json::from_str(&lines.next().ok_or("it does not listen")??)?;
        let address = listening["address"].as_str().ok_or("no address")?.to_owned();
        Ok(Server { process, address, lines })
    }
}

/// A server, which is killed when it is dropped.
pub(crate) struct Server {
    pub(crate) process: Ended,
    pub(crate) address: String,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Server {
    /// The next match that has ended.
    pub(crate) fn ended(&mut self) -> Result<Value> {
        Ok(serde_json::from_str(&self.lines.next().ok_or("the server ended")??)?)
    }
}

/// A process that is killed when it is dropped.
pub(crate) struct Ended(pub(crate) Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
