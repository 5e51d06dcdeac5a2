//! The processes of the program of a game.

use std::borrow::Cow;
use std::error::Error;
use std::sync::mpsc as blocking;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use std::{io, iter, thread};

use tokio::sync::mpsc;

use crate::directory::GameCopy;
use crate::{Carrier, MOST_ANSWER, Restarts};
use referee_bots::{Command, Launch, Launcher, Process, StartError};
use referee_game::Chain;
use referee_game::Wrong;
use referee_game::counted;
use referee_game::erased::{RulesFailed, RulesWait};
use referee_game::excerpt::excerpt;
use referee_match::{BUFFERS, Detail};
use referee_transport::{Exchange, NoAnswer, Wire};

/// The time that the system may take to report the exit of a process whose output has ended.
const EXIT: Duration = Duration::from_millis(referee_protocol::limits::EXIT_MS);
/// The maximum number of processes of a game.
const MOST_PROCESSES: usize = 4096;
/// The number of fresh processes that are asked.
const ATTEMPTS: usize = 2;
/// The characters of an answer that a failure quotes.
const QUOTED: usize = 400;
/// The number of first and of last lines of standard error that a failure quotes, and the characters of each.
const QUOTED_LINES: usize = 8;
const QUOTED_LINE: usize = 300;

/// The processes of the program of a game. A thread that asks has a process to itself, and leaves it to the next one.
#[derive(Debug)]
pub(crate) struct RulesProcesses {
    command: Command,
    start_limit: Duration,
    limit: Duration,
    launch: Launch,
    /// The files that they run with.
    _copy: Arc<GameCopy>,
    /// The thread that starts them.
    starter: OnceLock<mpsc::UnboundedSender<StartOrder>>,
    /// The first request that was answered. A fresh process answers it before any other, since the limit of an answer
    /// does not include a start.
    first: OnceLock<Vec<u8>>,
    idle: Mutex<Vec<RulesProcess>>,
}

/// Reasons why a process has not answered a request.
enum NotAnswered {
    Interrupted,
    NotStarted(Wrong),
    /// `is_final`: no other process is asked. Nothing else is to be expected of it, or an earlier answer may be wrong.
    Failed {
        why: String,
        is_late: bool,
        is_final: bool,
    },
}

impl NotAnswered {
    fn not_started(why: impl Into<Box<dyn Error + Send + Sync>>) -> NotAnswered {
        NotAnswered::NotStarted(Wrong::at("it cannot be started", why))
    }
}

fn of_stderr(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("; standard error: {text}") }
}

/// The first and the last lines of a text: where an error is said depends on the language.
fn ends(text: &str) -> String {
    let lines: Vec<Cow<'_, str>> = text.trim_end().lines().map(|line| excerpt(line, QUOTED_LINE)).collect();
    match lines.len().checked_sub(2 * QUOTED_LINES) {
        None | Some(0) => lines.join("\n"),
        Some(between) => {
            let (first, last) = (&lines[..QUOTED_LINES], &lines[QUOTED_LINES + between..]);
            let between = format!("... ({})", counted(between, "line", "lines"));
            [first, &[between.into()], last].concat().join("\n")
        }
    }
}

type StartOrder = blocking::Sender<Result<(Process, Wire, blocking::Receiver<Detail>), StartError>>;

/// A process of the program of a game.
#[derive(Debug)]
struct RulesProcess {
    exchange: Exchange,
    process: Process,
    exit: blocking::Receiver<Detail>,
    has_answered: bool,
}

impl RulesProcesses {
    pub(crate) fn new(
        command: Command,
        limits_ms: [u64; 2],
        launch: Launch,
        copy: Arc<GameCopy>,
    ) -> RulesProcesses {
        let [start_limit, limit] = limits_ms.map(Duration::from_millis);
        RulesProcesses {
            command,
            start_limit,
            limit,
            launch,
            _copy: copy,
            starter: OnceLock::new(),
            first: OnceLock::new(),
            idle: Mutex::default(),
        }
    }

    fn start(&self) -> Result<RulesProcess, NotAnswered> {
        let starter = self.starter.get_or_init(|| {
            let (orders, to_do) = mpsc::unbounded_channel();
            let (command, launch) = (self.command.clone(), self.launch.clone());
            let thread = thread::Builder::new().name("rules".to_owned());
            if let Err(error) = thread.spawn(move || start_all(&command, launch, to_do)) {
                tracing::warn!(%error, "no thread for the rules");
            }
            orders
        });
        let (reply, started) = blocking::channel();
        let panicked = || NotAnswered::not_started("the thread that starts it has panicked");
        starter.send(reply).map_err(|_| panicked())?;
        let started = started.recv().map_err(|_| panicked())?;
        let (process, wire, exit) = started.map_err(NotAnswered::not_started)?;
        let exchange = Exchange::new(wire).map_err(NotAnswered::not_started)?;
        let mut process = RulesProcess { exchange, process, exit, has_answered: false };
        if let Some(first) = self.first.get() {
            if let Err(error) = process.exchange.ask(first, MOST_ANSWER, self.start_limit) {
                return Err(process.explain(error, false));
            }
            process.has_answered = true;
        }
        Ok(process)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<RulesProcess>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ask_one(
        &self,
        mut process: RulesProcess,
        request: &[u8],
        accept: &mut dyn FnMut(&[u8]) -> Result<(), Wrong>,
    ) -> Result<(), NotAnswered> {
        let limit = if process.has_answered { self.limit } else { self.start_limit };
        let answer = match process.exchange.ask(request, MOST_ANSWER, limit) {
            Ok(answer) => answer,
            Err(error) => return Err(process.explain(error, self.first.get().is_none())),
        };
        process.has_answered = true;
        if let Err(what) = accept(&answer) {
            let answer = String::from_utf8_lossy(&answer);
            let why = format!("{}, in the answer {}", Chain(&what), excerpt(&answer, QUOTED));
            return Err(NotAnswered::Failed { why, is_late: false, is_final: false });
        }
        self.first.get_or_init(|| request.to_owned());
        self.idle().push(process);
        Ok(())
    }
}

impl RulesProcess {
    /// The event in place of an answer.
    fn explain(self, error: NoAnswer, is_first: bool) -> NotAnswered {
        let exit = match error {
            NoAnswer::Interrupted => return NotAnswered::Interrupted,
            NoAnswer::Ended => self.exit.recv_timeout(EXIT).ok(),
            _ => None,
        };
        let (text, _) = self.process.stderr().cut().wait().into_text();
        let stderr = of_stderr(&ends(&text));
        if let Some(exit) = exit {
            let why = format!("it ended without an answer ({exit}){stderr}");
            return NotAnswered::Failed { why, is_late: false, is_final: false };
        }
        let is_late = matches!(error, NoAnswer::Late(_));
        let is_first = is_first && is_late;
        let why = format!("{error}{}{stderr}", if is_first { BUFFERS } else { "" });
        NotAnswered::Failed { why, is_late, is_final: is_first || matches!(error, NoAnswer::Unasked) }
    }
}

/// Starts the processes that are ordered.
fn start_all(command: &Command, launch: Launch, mut orders: mpsc::UnboundedReceiver<StartOrder>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return tracing::warn!(%error, "no runtime for the rules"),
    };
    runtime.block_on(async {
        let launcher = Launcher::open(launch, MOST_PROCESSES);
        while let Some(reply) = orders.recv().await {
            let started = match &launcher {
                Ok(launcher) => start(launcher, command.clone()).await,
                Err(error) => Err(io::Error::new(error.kind(), error.to_string()).into()),
            };
            // The thread that asked waits for it.
            let _ = reply.send(started);
        }
    });
}

async fn start(
    launcher: &Launcher,
    command: Command,
) -> Result<(Process, Wire, blocking::Receiver<Detail>), StartError> {
    let (exited, exit) = blocking::channel();
    let on_exit = move |how| drop(exited.send(how));
    let (process, wire) = launcher.start(move |starter| starter.start(&command, on_exit)).await?;
    Ok((process, wire, exit))
}

impl Carrier for RulesProcesses {
    fn wait(&self) -> RulesWait {
        // Elsewhere a thread cannot watch streams while it waits.
        if cfg!(target_os = "linux") { RulesWait::Watching } else { RulesWait::Computing }
    }

    fn ask(
        &self,
        request: &[u8],
        accept: &mut dyn FnMut(&[u8]) -> Result<(), Wrong>,
    ) -> Result<Restarts, RulesFailed> {
        // An idle process may have ended meanwhile.
        let waiting = self.idle().pop().map(Ok);
        let fresh = iter::repeat_with(|| self.start()).take(ATTEMPTS);
        let (mut restarts, mut why) = (Restarts::default(), String::new());
        for process in waiting.into_iter().chain(fresh) {
            match process.and_then(|process| self.ask_one(process, request, accept)) {
                Ok(()) => {
                    if restarts.count > 0 {
                        tracing::warn!("rules: {}: {why}; another process has answered", self.command);
                    }
                    return Ok(restarts);
                }
                Err(NotAnswered::Interrupted) => return Err(RulesFailed::Interrupted),
                // A process that does not start is no failure of the rules.
                Err(NotAnswered::NotStarted(what)) => why = Chain(&what).to_string(),
                Err(NotAnswered::Failed { why: what, is_late, is_final }) => {
                    restarts.count += 1;
                    if !is_late {
                        restarts.failure = Some(what.as_str().into());
                    }
                    why = what;
                    if is_final {
                        break;
                    }
                }
            }
        }
        Err(RulesFailed::Because(format!("{}: {why}", self.command).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_and_last_lines_of_long_text_are_quoted() {
        assert_eq!(ends("one\ntwo\n\n"), "one\ntwo");
        let lines = (0..100).map(|number| format!("line {number}\n"));
        let text = ends(&lines.collect::<String>());
        assert!(text.starts_with("line 0\n") && text.ends_with("\nline 99"), "{text}");
        assert!(text.contains("line 7\n... (84 lines)\nline 92"), "{text}");
        assert!(ends(&"x".repeat(5000)).len() < 400);
    }
}
