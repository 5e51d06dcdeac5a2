//! The command that sends packs of records somewhere else, such as to object storage.

use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use referee_game::Wrong;

/// The time after which a command is ended: it is tried again later.
const LIMIT: Duration = Duration::from_secs(60 * 60);
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The bytes kept of its standard error.
const STDERR: u64 = 2000;
/// The time to wait for its standard error once it has ended.
const STDERR_WAIT: Duration = Duration::from_secs(1);

/// A command line with places for the pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendCommand {
    program: String,
    arguments: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum SendError {
    #[error("{program}")]
    NotStarted {
        program: String,
        #[source]
        error: io::Error,
    },
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{program}: {status}{stderr}")]
    Failed {
        program: String,
        status: SendStatus,
        /// The beginning of its standard error, after `: `.
        stderr: String,
    },
    #[error("it was ended because the server stops")]
    Stopped,
}

#[derive(Clone, Copy, Debug)]
pub enum SendStatus {
    /// The command ended by itself, or by a signal.
    Ended(ExitStatus),
    /// The command was ended after an hour.
    TookTooLong,
}

impl std::fmt::Display for SendStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SendStatus::Ended(status) => match (status.code(), status.signal()) {
                (Some(code), _) => write!(f, "exit code {code}"),
                (None, Some(signal)) => write!(f, "signal {signal}"),
                (None, None) => write!(f, "{status}"),
            },
            SendStatus::TookTooLong => write!(f, "ended after {} s", LIMIT.as_secs()),
        }
    }
}

/// The places in an argument: what is between braces, if that is a word.
fn places(argument: &str) -> impl Iterator<Item = &str> {
    let parts = argument.split('{').skip(1).filter_map(|part| Some(part.split_once('}')?.0));
    parts.filter(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase()))
}

impl SendCommand {
    /// Validates a command line. `{file}` in an argument is the path of the pack, `{name}` its name.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(argv: Vec<String>) -> Result<SendCommand, Wrong> {
        let mut argv = argv.into_iter();
        let program = argv.next().filter(|program| !program.is_empty()).ok_or(Wrong::new(
            "there is no program; expected a list such as [\"rclone\", \"copyto\", \"{file}\", \
             \"remote:league/{name}\"]",
        ))?;
        let arguments: Vec<String> = argv.collect();
        let found: Vec<&str> = arguments.iter().flat_map(|argument| places(argument)).collect();
        if let Some(other) = found.iter().find(|place| !["file", "name"].contains(place)) {
            return Err(format!(
                "there is no `{{{other}}}`; {{file}} is the path of the pack, {{name}} a name for it that no \
                 other pack of the league has"
            )
            .into());
        }
        if !found.contains(&"file") {
            return Err("no argument has {file}, the path of the pack".into());
        }
        Ok(SendCommand { program, arguments })
    }

    /// Sends a pack with this name: it has been sent if the exit code is 0. The command runs in `folder`. `pace` waits for the
    /// given time, and returns false if the command has to be ended.
    ///
    /// # Errors
    /// Why it was not sent.
    pub fn run(
        &self,
        pack: &Path,
        name: &str,
        folder: &Path,
        pace: &mut dyn FnMut(Duration) -> bool,
    ) -> Result<(), SendError> {
        let file = pack.to_string_lossy();
        let arguments =
            self.arguments.iter().map(|argument| argument.replace("{file}", &file).replace("{name}", name));
        let mut command = Command::new(&self.program);
        // A group of its own: Ctrl-C lets the server end it.
        command.args(arguments).current_dir(folder).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let not_started = |error| SendError::NotStarted { program: self.program.clone(), error };
        let mut sending = Sending { child: command.spawn().map_err(not_started)?, is_over: false };
        let stderr = sending.stderr();
        let mut waited = Duration::ZERO;
        while waited < LIMIT && !sending.has_ended()? {
            if !pace(POLL_INTERVAL) {
                return Err(SendError::Stopped);
            }
            waited += POLL_INTERVAL;
        }
        let status = match sending.end()? {
            _ if waited >= LIMIT => SendStatus::TookTooLong,
            status => SendStatus::Ended(status),
        };
        if matches!(status, SendStatus::Ended(status) if status.success()) {
            return Ok(());
        }
        let said = stderr.recv_timeout(STDERR_WAIT).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let stderr = match said.trim() {
            "" => String::new(),
            said => format!(": {}", said.escape_debug()),
        };
        Err(SendError::Failed { program: self.program.clone(), status, stderr })
    }
}

/// A command that runs. It ends with this value, and so do the processes that it has started.
struct Sending {
    child: Child,
    /// Whether the system has forgotten the process, so that its number can be that of another process.
    is_over: bool,
}

impl Sending {
    /// Returns whether the command has ended. The system does not forget it.
    fn has_ended(&self) -> io::Result<bool> {
        let how = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(Pid::from_child(&self.child)), how)?.is_some())
    }

    /// Ends its remaining processes.
    fn end(&mut self) -> io::Result<ExitStatus> {
        // The group of the process may have ended already.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        self.is_over = true;
        self.child.wait()
    }

    /// The beginning of its standard error, once it has closed it.
    fn stderr(&mut self) -> Receiver<Vec<u8>> {
        let (said, stderr) = channel();
        if let Some(mut pipe) = self.child.stderr.take() {
            thread::spawn(move || {
                let mut bytes = Vec::new();
                let _ = pipe.by_ref().take(STDERR).read_to_end(&mut bytes);
                // The rest must not block the command.
                let _ = io::copy(&mut pipe, &mut io::sink());
                let _ = said.send(bytes);
            });
        }
        stderr
    }
}

impl Drop for Sending {
    fn drop(&mut self) {
        if !self.is_over {
            let _ = self.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use referee_game::Chain;

    use super::*;

    fn command(argv: &[&str]) -> Result<SendCommand, Wrong> {
        SendCommand::new(argv.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_command_line_has_to_name_the_file() {
        for (argv, what) in [
            (&[][..], "there is no program"),
            (&["", "{file}"], "there is no program"),
            (&["rclone", "{name}"], "no argument has {file}"),
            (&["rclone", "{file}", "remote:{ladder}"], "there is no `{ladder}`"),
        ] {
            let error = command(argv).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
        assert!(command(&["sh", "-c", "cp \"$1\" ${HOME}/{}", "sh", "{file}"]).is_ok());
    }

    #[test]
    fn a_pack_is_sent_if_the_exit_code_is_0() {
        let place = tempfile::tempdir().unwrap();
        let pack = place.path().join("matches-1-1000.zip");
        std::fs::write(&pack, "records").unwrap();
        let mut pace = |time| {
            thread::sleep(time);
            true
        };
        let name = "short-matches-1-1000.zip";
        let copy = command(&["cp", "{file}", "there-{name}"]).unwrap();
        copy.run(&pack, name, place.path(), &mut pace).unwrap();
        assert_eq!(std::fs::read(place.path().join("there-short-matches-1-1000.zip")).unwrap(), b"records");
        let fails = command(&["sh", "-c", "echo no space >&2; exit 3", "sh", "{file}"]).unwrap();
        let error = Chain(&fails.run(&pack, name, place.path(), &mut pace).unwrap_err()).to_string();
        assert_eq!(error, "sh: exit code 3: no space");
        let missing = command(&["./no-such-program", "{file}"]).unwrap();
        let error = Chain(&missing.run(&pack, name, place.path(), &mut pace).unwrap_err()).to_string();
        assert!(error.starts_with("./no-such-program: "), "{error}");
        // The command ends with the server.
        let long = command(&["sleep", "1000", "{file}"]).unwrap();
        assert!(matches!(
            long.run(&pack, name, place.path(), &mut |_| false),
            Err(SendError::Stopped | SendError::Failed { .. })
        ));
    }
}
