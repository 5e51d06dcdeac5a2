//! The listener for bots, on the command line and in tournament files.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use referee_protocol::limits;

use crate::cli::exit::Failure;
use crate::cli::options::option_names;
use crate::cli::screen::stderr_line;
use crate::game::Chain;
use crate::runs::config::{ListenConfig, Milliseconds, listen, parse_token};
use crate::sources::{Listen, Source};

/// The listener for bots that connect.
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
    #[arg(long, value_name = "TIME", default_value = "5m")]
    wait: Milliseconds,
    /// How long the matches of a lost connection wait until the bot, which needs a token, connects again; 0s: not at all
    #[arg(long, value_name = "TIME", default_value = "60s")]
    reconnect: Milliseconds,
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
    /// Converts the options to settings of a file.
    fn config(&self) -> Result<Option<ListenConfig>, Failure> {
        // Parsed here and not by clap, whose error messages quote the value.
        let tokens: Result<Vec<_>, _> = self.token.iter().map(|given| parse_token(given)).collect();
        let tokens = tokens.map_err(|what| Failure::usage(format!("--token: {}", Chain(&what))))?;
        Ok(self.listen.map(|address| ListenConfig {
            address,
            token_file: self.token_file.clone(),
            tokens,
            wait: self.wait.into(),
            reconnect: self.reconnect.into(),
            connections: self.connections,
            tls_cert: self.tls_cert.clone(),
            tls_key: self.tls_key.clone(),
            tls_self_signed: self.tls_self_signed.clone(),
        }))
    }

    /// The listener for these bots; `None` if none of them connects.
    pub(super) fn listen<'a>(
        &self,
        bots: impl IntoIterator<Item = &'a Arc<dyn Source>>,
    ) -> Result<Option<Listen>, Failure> {
        let mut notices = Vec::new();
        let listen = listen(self.config()?.as_ref(), Path::to_owned, bots, option_names, &mut notices)?;
        notices.iter().for_each(stderr_line);
        Ok(listen)
    }

    /// Converts the options to settings of a tournament file, for these bots; `None` if none of them connects.
    pub(super) fn of_tournament<'a>(
        &self,
        bots: impl IntoIterator<Item = &'a Arc<dyn Source>>,
    ) -> Result<Option<ListenConfig>, Failure> {
        let stored = "can be resumed, so it needs";
        if !self.token.is_empty() {
            return Err(Failure::usage(format!("--token: a tournament {stored} --token-file")));
        }
        if self.tls_self_signed.is_some() {
            return Err(Failure::usage(format!(
                "--tls-self-signed: a tournament {stored} --tls-cert and --tls-key"
            )));
        }
        let config = self.config()?;
        // The notices come when it is played.
        listen(config.as_ref(), Path::to_owned, bots, option_names, &mut Vec::new())?;
        Ok(config)
    }
}
