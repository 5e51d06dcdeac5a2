//! `referee show --follow`: a match in progress, from the server of `--watch`, on the terminal.

use std::io::{BufRead, BufReader, Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::Value;
use ureq::Agent;

use crate::cli::exit::{Exit, Failure};
use crate::cli::screen::{stderr_line, stdout};

/// The time to connect, and for the head of a response.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The time without a byte after which the connection is given up; the server sends something every 15 s.
const SILENCE: Duration = Duration::from_secs(45);
/// The time between two attempts to connect.
const RETRY: Duration = Duration::from_secs(1);
/// The time for which to try to connect again.
const RETRIES: Duration = Duration::from_secs(60);
/// The maximum size of a line, in bytes.
const MOST_LINE: u64 = 16 * 1024 * 1024;

#[derive(Debug, Deserialize)]
struct StepText {
    lines: Vec<String>,
    board: String,
}

/// The beginning of the events of a match.
#[derive(Debug, Deserialize)]
struct Snapshot {
    r#match: String,
    game: String,
    seats: Vec<SeatName>,
    step: Option<StepText>,
}

#[derive(Debug, Deserialize)]
struct SeatName {
    name: String,
}

#[derive(Debug, Deserialize)]
struct EndEvent {
    result: String,
}

#[derive(Debug, Default)]
struct StreamEvent {
    id: String,
    kind: String,
    data: String,
}

/// Reasons why a stream ended before the match did.
enum StreamEnd {
    /// The stream may be continued.
    Lost(String),
    Failed(Failure),
}

/// Prints a match until it ends. `url` is the page of a match, or the start page: then the first match in progress.
pub(super) fn follow(url: &str) -> Result<Exit, Failure> {
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(TIMEOUT))
        .timeout_recv_response(Some(TIMEOUT))
        .timeout_per_read(Some(SILENCE))
        .build()
        .into();
    let events = events_of(&agent, url)?;
    let mut last = None;
    let mut since = now();
    loop {
        let before: Option<String> = last.clone();
        match read(&agent, &events, &mut last) {
            Ok(()) => return Ok(Exit::Done),
            Err(StreamEnd::Failed(failure)) => return Err(failure),
            Err(StreamEnd::Lost(why)) => {
                if last != before {
                    since = now();
                }
                // A server that never sent anything is more likely a wrong address than one that starts again.
                if last.is_none() || since.elapsed() > RETRIES {
                    return Err(Failure::cannot_run(format!("{url}: {why}")));
                }
                stderr_line(format_args!("{url}: {why}; connecting again"));
                thread::sleep(RETRY);
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "for the time of attempts")]
fn now() -> Instant {
    Instant::now()
}

/// The address of the events of the match that is meant.
fn events_of(agent: &Agent, url: &str) -> Result<String, Failure> {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let (base, id) = match url.split_once("/matches/") {
        Some((base, id)) => (base, id.to_owned()),
        None => {
            let base = url.trim_end_matches('/');
            let run = get(agent, &format!("{base}/api/v1/run"))?;
            let first = ["running", "ended"].into_iter().find_map(|list| run[list][0]["id"].as_str());
            let none = || Failure::cannot_run(format!("{url}: no match has begun"));
            (base, first.ok_or_else(none)?.to_owned())
        }
    };
    Ok(format!("{base}/api/v1/matches/{id}/events?view=text"))
}

fn get(agent: &Agent, url: &str) -> Result<Value, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::cannot_run(format!("{url}: {error}"));
    let answer = agent.get(url).call().map_err(|error| failed(&error))?;
    let mut text = String::new();
    answer.into_body().into_reader().take(MOST_LINE).read_to_string(&mut text).map_err(|e| failed(&e))?;
    serde_json::from_str(&text).map_err(|error| failed(&error))
}

/// Prints the events after the last one.
fn read(agent: &Agent, url: &str, last: &mut Option<String>) -> Result<(), StreamEnd> {
    let mut request = agent.get(url).header("Accept", "text/event-stream");
    if let Some(id) = &last {
        request = request.header("Last-Event-ID", id);
    }
    let answer = request.call().map_err(|error| StreamEnd::Lost(error.to_string()))?;
    let status = answer.status().as_u16();
    let mut input = BufReader::new(answer.into_body().into_reader());
    match status {
        200 => {}
        204 => return Ok(()),
        _ => {
            let mut text = String::new();
            // The status alone suffices.
            let _ = input.take(MOST_LINE).read_to_string(&mut text);
            let error = serde_json::from_str::<Value>(&text).ok();
            let error = error.as_ref().and_then(|error| error["error"].as_str()).unwrap_or_default();
            let what = format!("{url}: status {status}: {error}");
            return Err(StreamEnd::Failed(Failure::cannot_run(what)));
        }
    }
    let mut event = StreamEvent::default();
    loop {
        let mut line = String::new();
        let read = (&mut input).take(MOST_LINE).read_line(&mut line);
        let read = read.map_err(|error| StreamEnd::Lost(error.to_string()))?;
        let Some(text) = line.strip_suffix('\n') else {
            let why = if read as u64 == MOST_LINE { "a line is too long" } else { "the stream ended" };
            return Err(StreamEnd::Lost(why.to_owned()));
        };
        match text.split_once(": ") {
            Some(("id", id)) => id.clone_into(&mut event.id),
            Some(("event", kind)) => kind.clone_into(&mut event.kind),
            Some(("data", data)) => data.clone_into(&mut event.data),
            _ if text.is_empty() && !event.data.is_empty() => {
                let StreamEvent { id, kind, data } = std::mem::take(&mut event);
                let is_over = print(&kind, &data).map_err(StreamEnd::Failed)?;
                *last = Some(id);
                if is_over {
                    return Ok(());
                }
            }
            _ => {}
        }
    }
}

/// Prints an event. Returns whether it is the last one.
fn print(kind: &str, data: &str) -> Result<bool, Failure> {
    fn parsed<'a, T: Deserialize<'a>>(data: &'a str) -> Result<T, Failure> {
        serde_json::from_str(data)
            .map_err(|error| Failure::cannot_run(format!("no event of a referee: {error}")))
    }
    let mut out = stdout();
    match kind {
        "snapshot" => {
            let Snapshot { r#match, game, seats, step } = parsed(data)?;
            let names: Vec<&str> = seats.iter().map(|seat| &*seat.name).collect();
            writeln!(out, "{match} {game}: {}\n", names.join(" - "))?;
            if let Some(step) = step {
                write_step(&mut out, &step)?;
            }
        }
        "step" => write_step(&mut out, &parsed(data)?)?,
        "end" => {
            let EndEvent { result } = parsed(data)?;
            writeln!(out, "{result}")?;
            return Ok(true);
        }
        // A later version may add events.
        _ => {}
    }
    out.flush()?;
    Ok(false)
}

fn write_step(out: &mut impl Write, StepText { lines, board }: &StepText) -> Result<(), Failure> {
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(writeln!(out, "{board}")?)
}
