use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use referee_engine::sources::{BotTokens, Listen, Source};
use referee_files::read_secret;
use referee_game::name::check_name;
use referee_game::{SettingNames, Wrong, hex};
use referee_transport::Certificate;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::RunError;
use crate::config::{Milliseconds, PemFiles, RunNotice, Setting, defaults, pem_files};

/// The listener for bots that connect.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListenConfig {
    /// The address; port 0 picks a free port.
    pub address: SocketAddr,
    /// A file with a line NAME=TOKEN for each bot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_file: Option<PathBuf>,
    /// Tokens by name, besides those of the file.
    #[serde(skip)]
    pub tokens: Vec<(String, String)>,
    /// The maximum number of connections per name.
    #[serde(default = "defaults::connections")]
    pub connections: u32,
    /// The time for which a match waits for a bot that is not connected.
    #[serde(default = "defaults::wait")]
    pub wait: Setting<Milliseconds>,
    /// The time for which the matches of a lost connection wait for another one.
    #[serde(default = "defaults::reconnect")]
    pub reconnect: Setting<Milliseconds>,
    /// The certificate chain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_cert: Option<PathBuf>,
    /// The private key of the certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_key: Option<PathBuf>,
    /// Instead of both: the file to which a new certificate is written.
    #[serde(skip)]
    pub tls_self_signed: Option<PathBuf>,
}

impl ListenConfig {
    /// Listens at this address, without tokens.
    pub fn new(address: SocketAddr) -> ListenConfig {
        ListenConfig {
            address,
            token_file: None,
            tokens: Vec::new(),
            connections: defaults::connections(),
            wait: defaults::wait(),
            reconnect: defaults::reconnect(),
            tls_cert: None,
            tls_key: None,
            tls_self_signed: None,
        }
    }

    /// Reads or makes the certificate, if there is one.
    fn certificate(
        &self,
        resolve: impl Fn(&Path) -> PathBuf,
        names: SettingNames,
    ) -> Result<Option<Certificate>, RunError> {
        let path = |path: &Option<PathBuf>| path.as_deref().map(&resolve);
        if let Some(file) = path(&self.tls_self_signed) {
            let made = Certificate::self_signed(self.address.ip(), &file);
            let place = names("listen.tls_self_signed", None);
            return made.map(Some).map_err(|why| RunError::machine(Wrong::at(place, why)));
        }
        let files = pem_files(path(&self.tls_cert), path(&self.tls_key), names)?;
        let read = files.map(|PemFiles { chain, key }| Certificate::read(&chain, &key)).transpose();
        let [cert, key] = ["listen.tls_cert", "listen.tls_key"].map(|key| names(key, None));
        Ok(read.map_err(|why| Wrong::at(format!("{cert}, {key}"), why))?)
    }

    /// The listener for bots of a run, which have these tokens. `resolve` makes paths absolute.
    ///
    /// # Errors
    /// If the certificate cannot be read or made.
    pub(crate) fn listener(
        &self,
        tokens: Option<BotTokens>,
        resolve: impl Fn(&Path) -> PathBuf,
        names: SettingNames,
    ) -> Result<Listen, RunError> {
        Ok(Listen {
            address: self.address,
            certificate: self.certificate(resolve, names)?,
            tokens,
            is_open: false,
            connections: self.connections as usize,
            wait: self.wait.duration(),
            reconnect: self.reconnect.duration(),
            refusals: Arc::default(),
        })
    }
}

/// The listener for these bots; `None` if none of them connects. `resolve` makes paths absolute.
///
/// # Errors
/// If a bot cannot connect, or no bot does and there are settings for it.
pub fn listen<'a>(
    config: Option<&ListenConfig>,
    resolve: impl Fn(&Path) -> PathBuf,
    bots: impl IntoIterator<Item = &'a Arc<dyn Source>>,
    names: SettingNames,
    notices: &mut Vec<RunNotice>,
) -> Result<Option<Listen>, RunError> {
    if let Some(ListenConfig { tls_cert, tls_key, .. }) = config {
        pem_files(tls_cert.clone(), tls_key.clone(), names)?;
    }
    let bots: Vec<&str> = bots.into_iter().filter_map(|bot| bot.connects_as()).collect();
    let (config, first) = match (config, bots.first()) {
        (None, None) => return Ok(None),
        (Some(config), Some(&first)) => (config, first),
        (None, Some(&first)) => {
            let address = names("listen.address", Some("\"127.0.0.1:4700\""));
            return Err(
                format!("the bot `tcp:{first}` connects by itself: add an address, e.g. {address}").into()
            );
        }
        (Some(_), None) => {
            let (listen, bot) = (names("listen", None), names("tcp", Some("\"alice\"")));
            return Err(format!("{listen}: no bot connects; add one, e.g. {bot}").into());
        }
    };
    let address = config.address;
    let tokens = all_tokens(config.token_file.as_deref().map(&resolve), &config.tokens, names)?;
    if !tokens.is_empty()
        && let Some(name) = bots.iter().find(|name| !tokens.contains_key(**name))
    {
        return Err(format!("missing token for `{name}`").into());
    }
    if tokens.is_empty() && !address.ip().is_loopback() {
        notices.push(RunNotice::NoTokens { address, name: first.to_owned() });
    }
    config.listener(Some(tokens).filter(|tokens| !tokens.is_empty()), resolve, names).map(Some)
}

/// SHA-256 of the tokens by name. A file may give a token as `sha256:HEX`, and then more than one for a name.
fn all_tokens(
    file: Option<PathBuf>,
    given: &[(String, String)],
    names: SettingNames,
) -> Result<BotTokens, Wrong> {
    let of_file = match file {
        None => Vec::new(),
        Some(path) => {
            let place = || format!("{} {}", names("listen.token_file", None), path.display());
            read_tokens(&path).map_err(|why| Wrong::at(place(), why))?
        }
    };
    let (mut tokens, mut plain) = (BotTokens::new(), BTreeSet::new());
    for (name, token) in of_file.into_iter().chain(given.iter().cloned()) {
        let hash = token.strip_prefix("sha256:").and_then(hex::decode32);
        if hash.is_none() && !plain.insert(name.clone()) {
            return Err(format!("duplicate token for `{name}`").into());
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
