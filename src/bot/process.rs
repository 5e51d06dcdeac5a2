//! The process of a bot.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use referee_protocol::limits;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::sync::watch;

use crate::bot::{Command, Stderr, Warden};
use crate::transport::{Mark, Wire};

/// Why the warden has killed it.
const HELD: &str = "it held its pipe, and the referee had to wait";

/// A bot that runs in a process group of its own. Dropping it kills the group.
pub struct Process {
    group: Pid,
    has_exited: watch::Receiver<bool>,
    stderr: Stderr,
    /// The warden watches for as long as it is there.
    mark: Arc<Mark>,
    /// What the system says of it, where it does: kept open, since it is read at every match.
    stat: Option<File>,
}

impl Process {
    /// Starts a bot. `on_exit` is told how it ended, "status 1" or "signal 11".
    ///
    /// # Errors
    /// When the program cannot be started: which, and why.
    pub fn start(
        command: &Command,
        warden: &Warden,
        on_exit: impl FnOnce(String) + Send + 'static,
    ) -> io::Result<(Process, Wire)> {
        let (its_input, our_output) = io::pipe()?;
        let (our_input, its_output) = io::pipe()?;
        let (our_errors, its_errors) = io::pipe()?;
        let stderr = Stderr::new(our_errors.into())?;
        let mut started = tokio::process::Command::new(&command.argv[0]);
        if let Some(directory) = &command.directory {
            started.current_dir(directory);
        }
        started
            .envs(&command.env)
            .args(&command.argv[1..])
            .stdin(its_input)
            .stdout(its_output)
            .stderr(its_errors)
            .process_group(0);
        let mark = Arc::<Mark>::default();
        let spawned = warden.start(&mark, || {
            let child = started.spawn()?;
            let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
            Ok((child, group.ok_or_else(|| io::Error::other("the process has no id"))?))
        });
        let (mut child, group) = spawned.map_err(|error| {
            let otherwise = || format!("{}: {error}", command.argv[0]);
            io::Error::other(command.check().err().unwrap_or_else(otherwise))
        })?;
        let stat = File::open(format!("/proc/{}/stat", group.as_raw_nonzero())).ok();
        let (tell, has_exited) = watch::channel(false);
        let process = Process { group, has_exited, stderr, mark, stat };
        process.stderr.drain(started)?;
        let mark = process.mark.clone();
        let wire = Wire::pipes(our_input.into(), our_output.into(), Some(mark.clone()));
        tokio::spawn(async move {
            let how = match child.wait().await {
                Ok(status) if mark.was_held() => format!("{}: {HELD}", describe(status)),
                Ok(status) => describe(status),
                Err(error) => format!("its end was not seen: {error}"),
            };
            tell.send_replace(true);
            on_exit(how);
        });
        Ok((process, wire))
    }

    /// What it writes to its standard error.
    pub fn stderr(&self) -> &Stderr {
        &self.stderr
    }

    /// The processor time that it and the children that it has waited for have used, in steps of 10 ms.
    /// None where the system does not tell, or when it has ended.
    pub fn cpu(&self) -> Option<Duration> {
        let mut buffer = [0; 1024];
        let len = self.stat.as_ref()?.read_at(&mut buffer, 0).ok()?;
        // The second field is the program's name in brackets, which may hold anything.
        let after_name = buffer[..len].iter().rposition(|&byte| byte == b')')? + 1;
        let fields = std::str::from_utf8(&buffer[after_name..len]).ok()?.split_ascii_whitespace();
        // Fields 14 to 17 of proc_pid_stat(5): utime, stime, cutime, cstime.
        let ticks: u64 = fields.skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
        Some(Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second()))
    }

    /// Ends it, after its stream has been closed: it has 2 s, then gets SIGTERM, after 1 s more SIGKILL.
    pub async fn end(mut self) {
        for (patience, signal) in
            [(limits::END_OF_INPUT_MS, Signal::TERM), (limits::SIGTERM_MS, Signal::KILL)]
        {
            let exit = self.has_exited.wait_for(|&has_exited| has_exited);
            if tokio::time::timeout(Duration::from_millis(patience), exit).await.is_ok() {
                break;
            }
            tracing::debug!(group = %self.group, ?signal, "the bot did not end");
            self.signal(signal);
        }
        // A killed process is gone at once, unless the system is in trouble; then nobody could wait for it.
        let exit = self.has_exited.wait_for(|&has_exited| has_exited);
        if tokio::time::timeout(Duration::from_secs(5), exit).await.is_err() {
            tracing::warn!(group = %self.group, "the bot cannot be killed");
        }
        // Dropping it ends what it has started and left behind in its group.
    }

    /// Sends a signal to it and to what it has started in its group.
    pub fn signal(&self, signal: Signal) {
        if let Err(error) = kill_process_group(self.group, signal)
            && error != rustix::io::Errno::SRCH
        {
            tracing::warn!(group = %self.group, %error, "signal not sent");
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}
