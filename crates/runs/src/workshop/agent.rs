//! The program of an agent, while it edits its bot.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use referee_bots::{Command, Launch, Launcher};
use referee_game::Chain;
use referee_match::Detail;
use rustix::process::Signal;
use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe::Receiver;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout};

use crate::workshop::{Bench, BenchError, EditOutcome, Practice, Stop, ToolCall, ToolReply, WorkshopLine};

/// The environment variable with the path of the socket on which the workshop answers tools.
pub const SOCKET: &str = "REFEREE_WORKSHOP";

/// The bytes kept of an agent's output.
const MOST_OUTPUT: u64 = 16 << 20;
/// The longest line that can report a cost, and the longest call of a tool, in bytes.
const MOST_LINE: usize = 64 << 10;
/// The time that the rest of the output may take after the end of the agent.
const REST: Duration = Duration::from_secs(2);

/// The permissions of an agent in a round.
pub(super) struct EditOrder {
    pub(super) command: Command,
    pub(super) time: Duration,
    pub(super) cost: Option<f64>,
    /// The file of its output: the path without an extension.
    pub(super) log: PathBuf,
    pub(super) launch: Launch,
    pub(super) bench: Arc<Mutex<Bench>>,
    pub(super) on_practice: Arc<OnPractice>,
    /// Lines noted by `on_practice`.
    pub(super) practised: mpsc::UnboundedReceiver<WorkshopLine>,
}

pub(super) struct EditResult {
    /// `None` if the workshop was interrupted.
    pub(super) outcome: Option<EditOutcome>,
    pub(super) took: Duration,
    pub(super) cost: f64,
}

/// A line of the output that reports a cost.
#[derive(Deserialize)]
struct CostLine {
    cost: f64,
}

struct Output {
    kept: File,
    room: u64,
    line: Vec<u8>,
    cost: f64,
}

impl Output {
    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        let kept = &bytes[..bytes.len().min(self.room as usize)];
        self.kept.write_all(kept)?;
        self.room -= kept.len() as u64;
        for &byte in bytes {
            if byte != b'\n' {
                if self.line.len() < MOST_LINE {
                    self.line.push(byte);
                }
                continue;
            }
            let reported = serde_json::from_slice(&self.line).map_or(0.0, |CostLine { cost }| cost);
            // A negative cost would give money back.
            if reported.is_finite() && reported > 0.0 {
                self.cost += reported;
            }
            self.line.clear();
        }
        Ok(())
    }
}

/// Starts the agent, answers its tools, and ends it when it is over.
///
/// # Errors
/// If the machine fails.
pub(super) async fn edit(
    mut order: EditOrder,
    stop: impl Future<Output = ()>,
    told: &mut dyn FnMut(WorkshopLine),
) -> io::Result<EditResult> {
    let place = tempfile::Builder::new().prefix("referee-").tempdir()?;
    let socket = place.path().join("tools");
    let listener = UnixListener::bind(&socket)?;
    order.command.env.insert(SOCKET.to_owned(), socket.to_string_lossy().into_owned());
    let limits =
        referee_bots::sandbox::BotLimits { read: vec![place.path().to_owned()], ..Default::default() };
    order.command.sandbox = order.command.sandbox.with(limits).map_err(io::Error::other)?;
    let (over, is_over) = watch::channel(false);
    let launcher = Launcher::open(order.launch.clone(), 1)?;
    let (reader, writer) = io::pipe()?;
    let mut reader = Receiver::from_owned_fd(reader.into())?;
    let input = File::open("/dev/null")?;
    let (exited, mut exit) = oneshot::channel();
    let command = order.command.clone();
    let begun = Instant::now();
    let started = launcher.start(move |starter| {
        let on_exit = move |how| drop(exited.send(how));
        starter.run(&command, input.into(), writer.into(), on_exit).map(|process| (process, ()))
    });
    let process = match started.await {
        Ok((process, ())) => process,
        Err(why) => {
            let outcome = Some(EditOutcome::NotStarted { why: Chain(&why).to_string() });
            return Ok(EditResult { outcome, took: Duration::ZERO, cost: 0.0 });
        }
    };
    let kept = File::create(order.log.with_extension("out"))?;
    let mut output = Output { kept, room: MOST_OUTPUT, line: Vec::new(), cost: 0.0 };
    let (mut calls, mut is_open, mut buffer) = (JoinSet::new(), true, [0; 4096]);
    let mut time = Box::pin(sleep(order.time));
    let mut stop = Box::pin(stop);
    let outcome = loop {
        tokio::select! {
            how = &mut exit => break Some(match how {
                Ok(Detail::LEFT) => EditOutcome::Done,
                Ok(how) => EditOutcome::Failed { why: how.to_string() },
                Err(_) => EditOutcome::Failed { why: "its end was not seen".to_owned() },
            }),
            () = &mut time => break Some(EditOutcome::TimedOut),
            () = &mut stop => break None,
            read = reader.read(&mut buffer), if is_open => match read? {
                0 => is_open = false,
                count => output.take(&buffer[..count])?,
            },
            accepted = listener.accept() => {
                let (stream, _) = accepted?;
                let (bench, on_practice) = (order.bench.clone(), order.on_practice.clone());
                calls.spawn(answer(stream, bench, on_practice, Stop(is_over.clone())));
            }
            Some(line) = order.practised.recv() => told(line),
            Some(_) = calls.join_next() => {}
        }
        if order.cost.is_some_and(|most| output.cost > most) {
            break Some(EditOutcome::OverCost);
        }
    };
    let took = begun.elapsed();
    process.signal(Signal::KILL);
    // A practice in progress is interrupted, and its matches count.
    over.send_replace(true);
    while calls.join_next().await.is_some() {}
    while let Ok(line) = order.practised.try_recv() {
        told(line);
    }
    let rest = async {
        while is_open {
            match reader.read(&mut buffer).await? {
                0 => is_open = false,
                count => output.take(&buffer[..count])?,
            }
        }
        // The last line may have no end.
        if output.line.is_empty() { Ok(()) } else { output.take(b"\n") }
    };
    if let Ok(rest) = timeout(REST, rest).await {
        rest?;
    }
    let (first, lost, last) = process.stderr().cut().wait().into_parts();
    let gap = if lost > 0 { format!("\n[{lost} bytes left out]\n") } else { String::new() };
    let said = if lost > 0 { format!("{first}{gap}{last}") } else { first + &last };
    fs::write(order.log.with_extension("err"), said)?;
    process.end().await;
    let is_over_cost = order.cost.is_some_and(|most| output.cost > most);
    let outcome = outcome.map(|outcome| if is_over_cost { EditOutcome::OverCost } else { outcome });
    Ok(EditResult { outcome, took, cost: output.cost })
}

/// Notes the practice of an agent.
pub(super) type OnPractice = dyn Fn(&Practice) -> Result<(), BenchError> + Send + Sync;

/// Answers the calls of one connection, one after the other.
async fn answer(stream: UnixStream, bench: Arc<Mutex<Bench>>, on_practice: Arc<OnPractice>, stop: Stop) {
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader.take(MOST_LINE as u64));
    loop {
        let mut line = String::new();
        reader.get_mut().set_limit(MOST_LINE as u64);
        let read = tokio::select! {
            read = reader.read_line(&mut line) => read,
            () = stop.clone().wait() => return,
        };
        if !matches!(read, Ok(1..)) {
            return;
        }
        let reply = match serde_json::from_str::<ToolCall>(&line) {
            Err(why) => ToolReply::Error(format!("not a call of a tool: {why}")),
            Ok(call) => {
                let (bench, on_practice, stop) = (bench.clone(), on_practice.clone(), stop.clone());
                let called = tokio::task::spawn_blocking(move || {
                    let mut bench = bench.lock().unwrap_or_else(PoisonError::into_inner);
                    if *stop.0.borrow() {
                        return ToolReply::Error("the edit is over".to_owned());
                    }
                    match bench.call(call, &stop, |practice| on_practice(practice)) {
                        Ok(result) => ToolReply::Result(result),
                        Err(why) => ToolReply::Error(Chain(&why).to_string()),
                    }
                });
                called.await.unwrap_or_else(|why| ToolReply::Error(why.to_string()))
            }
        };
        let mut text = serde_json::to_string(&reply).unwrap_or_default();
        text.push('\n');
        let written = tokio::select! {
            written = writer.write_all(text.as_bytes()) => written,
            () = stop.clone().wait() => return,
        };
        if written.is_err() {
            return;
        }
    }
}

/// The path of the log of an edit, without an extension.
pub(super) fn log_of(folder: &Path, round: u32, agent: &str) -> PathBuf {
    // A name may have a dot.
    folder.join("logs").join(format!("{round}-{agent}.x"))
}
