//! How bots connect, on the command line and in tournament files.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use referee_protocol::limits;
use sha2::{Digest, Sha256};

use crate::cli::Failure;
use crate::cli::options::milliseconds;
use crate::cli::screen::stderr_line;
use crate::cli::syntax::{OptionName, Syntax};
use crate::files::read_secret;
use crate::game::name::check_name;
use crate::sources::{Listen, Source};
use crate::transport::Certificate;

const LISTEN: OptionName = OptionName { flag: "--listen", key: "listen" };
const TOKEN_FILE: OptionName = OptionName { flag: "--token-file", key: "listen.token_file" };
const TLS_CERT: OptionName = OptionName { flag: "--tls-cert", key: "listen.tls_cert" };
const TLS_KEY: OptionName = OptionName { flag: "--tls-key", key: "listen.tls_key" };

/// How bots connect.
#[derive(Debug, Args)]
#[command(next_help_heading = "Bots that connect (tcp:NAME)")]
pub(super) struct ListenOptions {
    /// Accept connections on this address; port 0 picks a free port, which is printed
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,
    /// A file with a line NAME=TOKEN for each bot that connects; `#` starts a comment
    #[arg(long, value_name = "FILE", requires = "listen")]
    token_file: Option<PathBuf>,
    /// The token of a name, for experiments: other users can see the command line; may be repeated
    #[arg(long, value_name = "NAME=TOKEN", requires = "listen")]
    token: Vec<String>,
    /// How long a match waits for a bot that is not connected
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = milliseconds)]
    wait: u64,
    /// How long the matches of a lost connection wait until the bot, which needs a token, connects again; 0s: not at all
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = milliseconds)]
    reconnect: u64,
    /// The maximum number of connections per name
    #[arg(long, value_name = "N", default_value_t = limits::CONNECTIONS as u32, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    connections: u32,
    /// TLS: a PEM file with the certificate chain
    #[arg(long, value_name = "FILE", requires_all = ["listen", "tls_key"])]
    tls_cert: Option<PathBuf>,
    /// TLS: a PEM file with the private key of the certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// TLS for experiments: generate a certificate and write it to this file, for the bots to trust
    #[arg(long, value_name = "FILE", requires = "listen", conflicts_with = "tls_cert")]
    tls_self_signed: Option<PathBuf>,
}

impl ListenOptions {
    /// The listener for these bots; `None` if none of them connects.
    pub(super) fn listen<'a>(
        &self,
        bots: impl IntoIterator<Item = &'a Arc<dyn Source>>,
    ) -> Result<Option<Listen>, Failure> {
        let settings = self.listen.map(|address| ListenSettings {
            address,
            token_file: self.token_file.clone(),
            tokens: self.token.clone(),
            wait: Duration::from_millis(self.wait),
            reconnect: Duration::from_millis(self.reconnect),
            connections: self.connections,
            certificate: match (&self.tls_cert, &self.tls_key, &self.tls_self_signed) {
                (Some(chain), Some(key), _) => {
                    Some(CertificateFile::Pem { chain: chain.clone(), key: key.clone() })
                }
                (_, _, Some(file)) => Some(CertificateFile::SelfSigned(file.clone())),
                _ => None,
            },
        });
        listen(settings, bots, Syntax::Flags)
    }
}

/// Validated syntactically: where and how bots connect.
#[derive(Debug)]
pub(super) struct ListenSettings {
    pub(super) address: SocketAddr,
    pub(super) token_file: Option<PathBuf>,
    /// NAME=TOKEN each.
    pub(super) tokens: Vec<String>,
    pub(super) wait: Duration,
    pub(super) reconnect: Duration,
    pub(super) connections: u32,
    pub(super) certificate: Option<CertificateFile>,
}

/// Where the certificate is.
#[derive(Debug)]
pub(super) enum CertificateFile {
    /// In two PEM files.
    Pem { chain: PathBuf, key: PathBuf },
    /// It is generated and written to this file.
    SelfSigned(PathBuf),
}

/// The listener for these bots; `None` if none of them connects. Errors name the options in this syntax.
pub(super) fn listen<'a>(
    settings: Option<ListenSettings>,
    bots: impl IntoIterator<Item = &'a Arc<dyn Source>>,
    syntax: Syntax,
) -> Result<Option<Listen>, Failure> {
    let names: Vec<&str> = bots.into_iter().filter_map(|bot| bot.connects_as()).collect();
    let (settings, first) = match (settings, names.first()) {
        (None, None) => return Ok(None),
        (Some(settings), Some(first)) => (settings, first),
        (None, Some(first)) => {
            let example = match syntax {
                Syntax::Flags => "--listen 127.0.0.1:4700",
                Syntax::Keys => "[listen] with address = \"127.0.0.1:4700\"",
            };
            let what = format!("the bot `tcp:{first}` connects by itself: add an address, e.g. {example}");
            return Err(Failure::usage(what));
        }
        (Some(_), None) => {
            let what = match syntax {
                Syntax::Flags => "no bot connects; add one, e.g. tcp:alice",
                Syntax::Keys => "no entrant has a `tcp` name",
            };
            return Err(Failure::usage(format!("{}: {what}", syntax.name(LISTEN))));
        }
    };
    let address = settings.address;
    let tokens = tokens(&settings, syntax)?;
    if !tokens.is_empty()
        && let Some(name) = names.iter().find(|name| !tokens.contains_key(**name))
    {
        return Err(Failure::usage(format!("missing token for `{name}`")));
    }
    if tokens.is_empty() && !address.ip().is_loopback() {
        stderr_line(format_args!(
            "warning: without tokens, anyone who can reach {address} can play as `{first}`"
        ));
    }
    let certificate = match &settings.certificate {
        None => None,
        Some(CertificateFile::Pem { chain, key }) => {
            Some(Certificate::read(chain, key).map_err(|error| {
                Failure::usage(format!("{}, {}: {error}", syntax.name(TLS_CERT), syntax.name(TLS_KEY)))
            })?)
        }
        Some(CertificateFile::SelfSigned(file)) => Some(
            Certificate::self_signed(address.ip(), file)
                .map_err(|error| Failure::cannot_run(format!("--tls-self-signed: {error}")))?,
        ),
    };
    let ListenSettings { connections, wait, reconnect, .. } = settings;
    let tokens = tokens.into_iter().map(|(name, token)| (name, vec![Sha256::digest(token).into()]));
    let tokens = Some(tokens.collect::<BTreeMap<_, _>>()).filter(|tokens| !tokens.is_empty());
    let connections = connections as usize;
    let refusals = Arc::default();
    Ok(Some(Listen { address, certificate, tokens, is_open: false, connections, wait, reconnect, refusals }))
}

/// The tokens by name.
fn tokens(settings: &ListenSettings, syntax: Syntax) -> Result<BTreeMap<String, String>, Failure> {
    let of_file = match &settings.token_file {
        None => Vec::new(),
        Some(path) => read_tokens(path).map_err(|what| {
            Failure::usage(format!("{} {}: {what}", syntax.name(TOKEN_FILE), path.display()))
        })?,
    };
    // Parsed here and not by clap, whose error messages quote the value.
    let given: Result<Vec<_>, _> = settings.tokens.iter().map(|given| token(given)).collect();
    let given = given.map_err(|what| Failure::usage(format!("--token: {what}")))?;
    let mut tokens = BTreeMap::new();
    for (name, token) in of_file.into_iter().chain(given) {
        if tokens.insert(name.clone(), token).is_some() {
            return Err(Failure::usage(format!("duplicate token for `{name}`")));
        }
    }
    Ok(tokens)
}

fn token(text: &str) -> Result<(String, String), String> {
    // The value is not quoted: it may be a token.
    let (name, token) = text.split_once('=').ok_or("a token is given as NAME=TOKEN")?;
    let (name, token) = (name.trim(), token.trim());
    check_name(name).map_err(|what| what.to_string())?;
    if token.is_empty() {
        return Err(format!("the token of `{name}` is empty"));
    }
    Ok((name.to_owned(), token.to_owned()))
}

pub(super) fn read_tokens(path: &Path) -> Result<Vec<(String, String)>, String> {
    let text = read_secret(path).map_err(|error| error.to_string())?;
    // The certificate of a server may follow.
    let lines = text.lines().take_while(|line| !line.starts_with("-----BEGIN"));
    let lines = lines.enumerate().map(|(index, line)| (index + 1, line.trim()));
    lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(number, line)| token(line).map_err(|what| format!("line {number}: {what}")))
        .collect()
}
