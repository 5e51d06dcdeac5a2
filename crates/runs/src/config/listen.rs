use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use referee_engine::sources::{BotTokens, Listen, Source};
use referee_files::read_secret;
use referee_game::name::check_name;
use referee_game::{Wrong, hex};
use referee_transport::{BadCertificate, Certificate};
use sha2::{Digest, Sha256};

use crate::config::{CertificateFile, PemFiles, RunNotice};

/// The listener for bots that connect.
#[derive(Debug)]
pub struct ListenSettings {
    /// The address; port 0 picks a free port.
    pub address: SocketAddr,
    /// A file with a line NAME=TOKEN for each bot.
    pub token_file: Option<PathBuf>,
    /// Tokens by name, besides those of the file.
    pub tokens: Vec<(String, String)>,
    /// The time for which a match waits for a bot that is not connected.
    pub wait: Duration,
    /// The time for which the matches of a lost connection wait for another one.
    pub reconnect: Duration,
    /// The maximum number of connections per name.
    pub connections: u32,
    /// Enables TLS.
    pub certificate: Option<CertificateFile>,
}

/// Reasons why bots cannot connect. As text the settings have their names in files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListenError {
    #[error(
        "the bot `tcp:{0}` connects by itself: add an address, e.g. [listen] with address = \"127.0.0.1:4700\""
    )]
    NoAddress(String),
    #[error("listen: no entrant has a `tcp` name")]
    NoBot,
    #[error("missing token for `{0}`")]
    NoToken(String),
    #[error("duplicate token for `{0}`")]
    TokenTwice(String),
    #[error("listen.token_file {}", path.display())]
    TokenFile {
        path: PathBuf,
        #[source]
        why: Wrong,
    },
    #[error("listen.tls_cert, listen.tls_key")]
    Certificate(#[source] BadCertificate),
    #[error("the new certificate")]
    SelfSigned(#[source] BadCertificate),
}

/// The listener for these bots; `None` if none of them connects.
///
/// # Errors
/// If a bot cannot connect, or no bot does and there are settings for it.
pub fn listen<'a>(
    settings: Option<ListenSettings>,
    bots: impl IntoIterator<Item = &'a Arc<dyn Source>>,
    notices: &mut Vec<RunNotice>,
) -> Result<Option<Listen>, ListenError> {
    let names: Vec<&str> = bots.into_iter().filter_map(|bot| bot.connects_as()).collect();
    let (settings, first) = match (settings, names.first()) {
        (None, None) => return Ok(None),
        (Some(settings), Some(&first)) => (settings, first),
        (None, Some(&first)) => return Err(ListenError::NoAddress(first.to_owned())),
        (Some(_), None) => return Err(ListenError::NoBot),
    };
    let ListenSettings { address, token_file, tokens, wait, reconnect, connections, certificate } = settings;
    let tokens = all_tokens(token_file, tokens)?;
    if !tokens.is_empty()
        && let Some(name) = names.iter().find(|name| !tokens.contains_key(**name))
    {
        return Err(ListenError::NoToken((*name).to_owned()));
    }
    if tokens.is_empty() && !address.ip().is_loopback() {
        notices.push(RunNotice::NoTokens { address, name: first.to_owned() });
    }
    let certificate = match certificate {
        None => None,
        Some(CertificateFile::Pem(PemFiles { chain, key })) => {
            Some(Certificate::read(&chain, &key).map_err(ListenError::Certificate)?)
        }
        Some(CertificateFile::SelfSigned(file)) => {
            Some(Certificate::self_signed(address.ip(), &file).map_err(ListenError::SelfSigned)?)
        }
    };
    let tokens = Some(tokens).filter(|tokens| !tokens.is_empty());
    let connections = connections as usize;
    let refusals = Arc::default();
    Ok(Some(Listen { address, certificate, tokens, is_open: false, connections, wait, reconnect, refusals }))
}

/// SHA-256 of the tokens by name. A file may give a token as `sha256:HEX`, and then more than one for a name.
fn all_tokens(file: Option<PathBuf>, given: Vec<(String, String)>) -> Result<BotTokens, ListenError> {
    let of_file = match file {
        None => Vec::new(),
        Some(path) => read_tokens(&path).map_err(|why| ListenError::TokenFile { path, why })?,
    };
    let (mut tokens, mut plain) = (BotTokens::new(), BTreeSet::new());
    for (name, token) in of_file.into_iter().chain(given) {
        let hash = token.strip_prefix("sha256:").and_then(hex::decode32);
        if hash.is_none() && !plain.insert(name.clone()) {
            return Err(ListenError::TokenTwice(name));
        }
        tokens.entry(name).or_default().push(hash.unwrap_or_else(|| Sha256::digest(token).into()));
    }
    Ok(tokens)
}

/// Parses NAME=TOKEN.
///
/// # Errors
/// If it is something else.
pub fn parse_token(text: &str) -> Result<(String, String), Wrong> {
    let (name, token) = text.split_once('=').ok_or(Wrong::new("a token is given as NAME=TOKEN"))?;
    let (name, token) = (name.trim(), token.trim());
    check_name(name)?;
    if token.is_empty() {
        return Err(format!("the token of `{name}` is empty").into());
    }
    Ok((name.to_owned(), token.to_owned()))
}

/// Reads a private file with a line NAME=TOKEN for each name; `#` starts a comment.
///
/// # Errors
/// If it cannot be read, or a line is something else.
pub fn read_tokens(path: &Path) -> Result<Vec<(String, String)>, Wrong> {
    let text = read_secret(path)?;
    // The certificate of a server may follow.
    let lines = text.lines().take_while(|line| !line.starts_with("-----BEGIN"));
    let lines = lines.enumerate().map(|(index, line)| (index + 1, line.trim()));
    lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(line, text)| parse_token(text).map_err(|why| Wrong::at(format!("line {line}"), why)))
        .collect()
}
