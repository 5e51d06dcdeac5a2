//! `referee submit`: hands a program in to a league.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args as ClapArgs;
use serde::Deserialize;
use serde_json::{Map, Value};
use ureq::Agent;
use ureq::http::Response;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

use crate::cli::exit::{Exit, Failure};
use crate::cli::json::SubmitLine;
use crate::cli::screen::{stderr_line, stdout};
use crate::cli::submitted::say_left_out;
use crate::files::{read_regular, read_secret};
use crate::game::Chain;
use crate::game::json;
use crate::league::SubmissionState;
use crate::runs::submissions::{PackedBot, pack_bot};
use crate::workers::archive::ArchiveLimits;

/// The time to connect, and for the head of a response.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The time to send the archive.
const UPLOAD: Duration = Duration::from_secs(15 * 60);
/// The time between two looks at the state.
const INTERVAL: Duration = Duration::from_secs(1);
/// The time for which a server that does not answer is asked again.
const RETRIES: Duration = Duration::from_secs(120);
/// The maximum size of a response, in bytes.
const MOST_RESPONSE: u64 = 16 * 1024 * 1024;
/// The environment variable with the token.
const TOKEN: &str = "REFEREE_TOKEN";

/// Hand a program in to a league, and follow it until it plays
///
/// Packs the files that the directory's `bot.toml` names, and sends them to the league, which builds and checks the bot as
/// `referee check DIR` does. The exit code is 0 once the bot plays, 1 if it has failed, with its log, and 3 if it waits for the
/// approval of the organiser.
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  referee check mybot
  referee submit --to https://league.example/owners/ mybot --token-file token
  REFEREE_TOKEN=... referee submit --to https://league.example/owners/
  referee submit --save mybot.tar mybot

`referee spec league` lists the limits of archives, builds and checks.")]
pub(super) struct Args {
    /// The address of the owners' page of the league
    #[arg(long = "to", value_name = "URL", required_unless_present = "save")]
    url: Option<String>,
    /// The directory of the bot, with its `bot.toml`
    #[arg(default_value = ".", value_name = "DIR")]
    directory: PathBuf,
    /// A file with the token of the owner, which other users cannot read [default: the environment variable REFEREE_TOKEN]
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// A PEM file with the certificates that the server may have, or of their authority, in place of public ones
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,
    /// Write the archive to a new file, which the owners' page takes, instead of sending it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "token_file", "tls_ca", "json"])]
    save: Option<PathBuf>,
    /// One JSON object per line: each state, the last one with the log
    #[arg(long)]
    json: bool,
}

/// A submission, as the server describes it.
#[derive(Deserialize)]
struct Described {
    id: u32,
    bot: Option<String>,
    version: Option<u32>,
    state: SubmissionState,
    approved: bool,
    #[serde(default)]
    log: String,
}

/// The interface of a league for owners.
struct OwnerApi {
    agent: Agent,
    /// The URL of the submissions.
    url: String,
    token: String,
}

/// Reasons why a request has no result.
enum RequestFailure {
    /// The server may answer later.
    Unreachable(String),
    Refused(Failure),
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    if let Some(file) = &args.save {
        return save(&args.directory, file);
    }
    let api = OwnerApi::of(args)?;
    let mut archive = tempfile::tempfile().map_err(Failure::cannot_run)?;
    let packed = pack_bot(&args.directory, ArchiveLimits::BOT, BufWriter::new(&mut archive));
    let PackedBot { file: bot, archive: packed, left_out } =
        packed.map_err(|error| Failure::usage(format!("{}: {}", args.directory.display(), Chain(&error))))?;
    say_left_out(&left_out);
    archive.rewind().map_err(Failure::cannot_run)?;
    if !args.json {
        let files = crate::game::counted(packed.entries, "file", "files");
        stderr_line(format_args!("{}: {files}, {} bytes", bot.name, packed.size));
    }
    let submitted = api.submit(&archive).map_err(|failure| match failure {
        RequestFailure::Unreachable(why) => Failure::cannot_run(format!("{}: {why}", api.url)),
        RequestFailure::Refused(failure) => failure,
    })?;
    follow(&api, submitted, args.json)
}

/// Writes the archive of a bot to a new file.
fn save(directory: &Path, file: &Path) -> Result<Exit, Failure> {
    let failed = |error: std::io::Error| Failure::cannot_run(format!("{}: {error}", file.display()));
    let archive = File::create_new(file).map_err(failed)?;
    let packed = pack_bot(directory, ArchiveLimits::BOT, BufWriter::new(&archive));
    let PackedBot { file: bot, archive: packed, left_out } = packed.map_err(|error| {
        // The file is empty or incomplete.
        let _ = std::fs::remove_file(file);
        Failure::usage(format!("{}: {}", directory.display(), Chain(&error)))
    })?;
    say_left_out(&left_out);
    let files = crate::game::counted(packed.entries, "file", "files");
    writeln!(stdout(), "{}: {files}, {} bytes in {}", bot.name, packed.size, file.display())?;
    Ok(Exit::Done)
}

/// Shows the states of a submission until the last one.
fn follow(api: &OwnerApi, submitted: Map<String, Value>, is_json: bool) -> Result<Exit, Failure> {
    let (mut latest, mut shown) = (submitted, None);
    let mut heard = now();
    loop {
        let Described { id, bot, version, state, approved, log } =
            serde_json::from_value(Value::Object(latest.clone()))
                .map_err(|error| Failure::cannot_run(format!("{}: no submission: {error}", api.url)))?;
        let exit = match state {
            SubmissionState::Playing | SubmissionState::Retired => Some(Exit::Done),
            SubmissionState::Failed => Some(Exit::No),
            // Without the approval of the organiser it is only about to play.
            SubmissionState::Waiting if !approved => Some(Exit::Undecided),
            _ => None,
        };
        if shown != Some(state) && !(approved && exit.is_none() && state == SubmissionState::Waiting) {
            shown = Some(state);
            let mut out = stdout();
            if is_json {
                if exit.is_none() {
                    latest.remove("log");
                }
                writeln!(out, "{}", json::text(&SubmitLine { submission: &latest }))?;
            } else {
                let player = match (bot, version) {
                    (Some(bot), Some(version)) => format!("{bot}@{version}, {state}"),
                    _ => state.to_string(),
                };
                if state == SubmissionState::Failed {
                    writeln!(out, "\n{}", log.trim_end())?;
                }
                writeln!(out, "submission {id}: {player}")?;
            }
            out.flush()?;
        }
        if let Some(exit) = exit {
            return Ok(exit);
        }
        thread::sleep(INTERVAL);
        match api.show(id) {
            Ok(found) => (latest, heard) = (found, now()),
            Err(RequestFailure::Refused(failure)) => return Err(failure),
            Err(RequestFailure::Unreachable(_)) if heard.elapsed() < RETRIES => {}
            Err(RequestFailure::Unreachable(why)) => {
                return Err(Failure::cannot_run(format!(
                    "{}: {why}; submission {id} is in the queue of the server",
                    api.url
                )));
            }
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "for the time of attempts")]
fn now() -> Instant {
    Instant::now()
}

impl OwnerApi {
    fn of(args: &Args) -> Result<OwnerApi, Failure> {
        let url = args.url.as_deref().unwrap_or_default();
        let is_url = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
        if !is_url {
            let what = "expected the address of a page, such as https://league.example/owners/";
            return Err(Failure::usage(format!("--to {url}: {what}")));
        }
        let base = url.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_connect(Some(TIMEOUT))
            .timeout_send_body(Some(UPLOAD))
            .timeout_recv_response(Some(TIMEOUT))
            .timeout_recv_body(Some(TIMEOUT));
        if let Some(file) = &args.tls_ca {
            config = config.tls_config(TlsConfig::builder().root_certs(roots(file)?).build());
        }
        let token = token(args.token_file.as_deref())?;
        Ok(OwnerApi { agent: config.build().into(), url: format!("{base}/api/v1/owner/submissions"), token })
    }

    fn submit(&self, archive: &File) -> Result<Map<String, Value>, RequestFailure> {
        let request = self.agent.post(&self.url).header("Authorization", format!("Bearer {}", self.token));
        // An archive that is refused need not be sent.
        let request = request.header("Expect", "100-continue");
        self.answer(request.header("Content-Type", "application/x-tar").send(archive))
    }

    fn show(&self, id: u32) -> Result<Map<String, Value>, RequestFailure> {
        let request = self.agent.get(format!("{}/{id}", self.url));
        self.answer(request.header("Authorization", format!("Bearer {}", self.token)).call())
    }

    /// The object in a response.
    fn answer(
        &self,
        response: Result<Response<ureq::Body>, ureq::Error>,
    ) -> Result<Map<String, Value>, RequestFailure> {
        let unreachable = |error: &dyn std::fmt::Display| RequestFailure::Unreachable(error.to_string());
        let response = response.map_err(|error| unreachable(&error))?;
        let status = response.status();
        let mut text = String::new();
        let read = response.into_body().into_reader().take(MOST_RESPONSE).read_to_string(&mut text);
        let parsed = serde_json::from_str::<Value>(&text).ok();
        if status.is_success() {
            read.map_err(|error| unreachable(&error))?;
            let Some(Value::Object(found)) = parsed else {
                let what = format!("{}: this is no server of a league", self.url);
                return Err(RequestFailure::Refused(Failure::cannot_run(what)));
            };
            return Ok(found);
        }
        let said = parsed.as_ref().and_then(|parsed| parsed["error"].as_str()).unwrap_or_default();
        let what = format!("{}: status {}: {said}", self.url, status.as_u16());
        Err(RequestFailure::Refused(Failure::cannot_run(what)))
    }
}

fn token(file: Option<&Path>) -> Result<String, Failure> {
    let token = match file {
        Some(file) => read_secret(file).map_err(|error| Failure::usage(format!("--token-file: {error}")))?,
        None => std::env::var(TOKEN).map_err(|_| {
            Failure::usage(format!("the token of the owner is missing: --token-file FILE, or {TOKEN}"))
        })?,
    };
    let token = token.trim();
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Failure::usage("the token of the owner is one line of printable ASCII characters"));
    }
    Ok(token.to_owned())
}

/// The certificates in a PEM file.
fn roots(file: &Path) -> Result<RootCerts, Failure> {
    let wrong =
        |what: &dyn std::fmt::Display| Failure::usage(format!("--tls-ca: {}: {what}", file.display()));
    let text = read_regular(file).map_err(|error| wrong(&error))?;
    let mut roots = Vec::new();
    for item in parse_pem(&text) {
        if let PemItem::Certificate(certificate) = item.map_err(|error| wrong(&error))? {
            roots.push(certificate);
        }
    }
    if roots.is_empty() {
        return Err(wrong(&"there is no certificate in PEM"));
    }
    Ok(roots.into_iter().into())
}
