//! The processes of the program of a game.

use std::sync::mpsc as blocking;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;
use std::{io, iter, thread};

use tokio::sync::mpsc;

use crate::{BadAnswer, Carrier, MOST_ANSWER};
use referee_bots::{Command, Launch, Launcher, Process, StartError};
use referee_game::erased::{RulesFailed, RulesWait};
use referee_game::excerpt::excerpt;
use referee_match::Detail;
use referee_transport::{Exchange, NoAnswer, Wire};

/// How long the system may take to report the exit of a process whose output has ended.
const EXIT: Duration = Duration::from_millis(referee_protocol::limits::EXIT_MS);
/// The maximum number of processes of a game.
const MOST_PROCESSES: usize = 4096;
/// How many fresh processes are asked.
const ATTEMPTS: usize = 2;
/// How many characters of standard error a failure quotes.
const QUOTED: usize = 400;

/// The processes of the program of a game. A thread that asks has a process to itself, and leaves it to the next one.
#[derive(Debug)]
pub(crate) struct RulesProcesses {
    command: Command,
    start_limit: Duration,
    limit: Duration,
    launch: Launch,
    /// The thread that starts them.
    starter: OnceLock<mpsc::UnboundedSender<StartOrder>>,
    idle: Mutex<Vec<RulesProcess>>,
}

/// Why a process has not answered a request.
#[derive(Debug, thiserror::Error)]
enum NotAnswered {
    #[error("it cannot be started: {0}")]
    NotStarted(#[from] StartError),
    #[error("it cannot be started: the thread that starts it has panicked")]
    StarterPanicked,
    #[error("it ended without an answer ({exit}){}", of_stderr(stderr))]
    Exited { exit: Detail, stderr: String },
    #[error("{error}{}", of_stderr(stderr))]
    Not { error: NoAnswer, stderr: String },
    #[error("{what}, in the answer {answer}")]
    Wrongly { what: BadAnswer, answer: String },
}

fn of_stderr(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("; standard error: {text}") }
}

/// Receives a process that was started.
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
    pub(crate) fn new(command: Command, limits_ms: [u64; 2], launch: Launch) -> RulesProcesses {
        let [start_limit, limit] = limits_ms.map(Duration::from_millis);
        RulesProcesses {
            command,
            start_limit,
            limit,
            launch,
            starter: OnceLock::new(),
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
        starter.send(reply).map_err(|_| NotAnswered::StarterPanicked)?;
        let (process, wire, exit) = started.recv().map_err(|_| NotAnswered::StarterPanicked)??;
        let exchange = Exchange::new(wire).map_err(StartError::System)?;
        Ok(RulesProcess { exchange, process, exit, has_answered: false })
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<RulesProcess>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks one process.
    fn ask_one(
        &self,
        mut process: RulesProcess,
        request: &[u8],
        accept: &mut dyn FnMut(&[u8]) -> Result<(), BadAnswer>,
    ) -> Result<(), NotAnswered> {
        let limit = if process.has_answered { self.limit } else { self.start_limit };
        let answer = match process.exchange.ask(request, MOST_ANSWER, limit) {
            Ok(answer) => answer,
            Err(error) => return Err(process.explain(error)),
        };
        process.has_answered = true;
        if let Err(what) = accept(&answer) {
            let answer = excerpt(&String::from_utf8_lossy(&answer), QUOTED).into_owned();
            return Err(NotAnswered::Wrongly { what, answer });
        }
        self.idle().push(process);
        Ok(())
    }
}

impl RulesProcess {
    /// What happened in place of an answer.
    fn explain(self, error: NoAnswer) -> NotAnswered {
        let exit = match error {
            NoAnswer::Ended => self.exit.recv_timeout(EXIT).ok(),
            _ => None,
        };
        let (text, _) = self.process.stderr().cut().wait().into_text();
        let text = text.trim_end();
        let from = text.char_indices().rev().nth(QUOTED - 1).map_or(0, |(at, _)| at);
        let stderr = text[from..].to_owned();
        match exit {
            Some(exit) => NotAnswered::Exited { exit, stderr },
            None => NotAnswered::Not { error, stderr },
        }
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
        accept: &mut dyn FnMut(&[u8]) -> Result<(), BadAnswer>,
    ) -> Result<(), RulesFailed> {
        // One that has waited may have ended meanwhile.
        let waiting = self.idle().pop().map(Ok);
        let fresh = iter::repeat_with(|| self.start()).take(ATTEMPTS);
        let mut why = String::new();
        for process in waiting.into_iter().chain(fresh) {
            match process.and_then(|process| self.ask_one(process, request, accept)) {
                Ok(()) => return Ok(()),
                Err(NotAnswered::Not { error: NoAnswer::Interrupted, .. }) => {
                    return Err(RulesFailed::Interrupted);
                }
                Err(what) => why = what.to_string(),
            }
        }
        Err(RulesFailed::Because(format!("{}: {why}", self.command).into()))
    }
}
