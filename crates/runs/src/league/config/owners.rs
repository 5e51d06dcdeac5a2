//! The tables `[owners]` and `[signup]` of the file of a league.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use referee_game::Wrong;
use referee_report::page::PublicUrl;
use referee_web::{OwnersLink, OwnersOptions, SignUp, SignUpMode};
use serde::Deserialize;

use super::public_url;

/// The default maximum number of bots of an owner.
const BOTS: u32 = 5;
/// The default maximum number of challenges of an owner a day.
const CHALLENGES: u32 = 4;
/// The default maximum number of owners who sign up without an invitation a day, and from one network.
const PER_DAY: u32 = 100;
const PER_NETWORK: u32 = 5;

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OwnersConfig {
    listen: SocketAddr,
    #[serde(default, deserialize_with = "public_url")]
    url: Option<PublicUrl>,
    #[serde(default)]
    hosts: Vec<String>,
    #[serde(default)]
    trusted_proxies: Vec<IpAddr>,
    #[serde(default)]
    trusted_user_header: Option<String>,
    #[serde(default = "bots")]
    bots: u32,
    #[serde(default = "challenges")]
    challenges_per_day: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SignUpConfig {
    #[serde(default)]
    mode: SignUpMode,
    #[serde(default)]
    approve: bool,
    #[serde(default = "per_day")]
    per_day: u32,
    #[serde(default = "per_network")]
    per_network: u32,
}

impl Default for SignUpConfig {
    fn default() -> SignUpConfig {
        let mode = SignUpMode::default();
        SignUpConfig { mode, approve: false, per_day: PER_DAY, per_network: PER_NETWORK }
    }
}

fn bots() -> u32 {
    BOTS
}
fn challenges() -> u32 {
    CHALLENGES
}
fn per_day() -> u32 {
    PER_DAY
}
fn per_network() -> u32 {
    PER_NETWORK
}

impl OwnersConfig {
    /// The link to the pages of owners.
    pub(super) fn link(&self, sign_up: &SignUpConfig) -> OwnersLink {
        let url = self.url.as_ref().map(ToString::to_string);
        OwnersLink { port: self.listen.port(), url, signup: sign_up.mode }
    }

    pub(super) fn options(
        &self,
        sign_up: &SignUpConfig,
        league: Option<&str>,
        announcements: Option<PathBuf>,
    ) -> Result<OwnersOptions, Wrong> {
        let mut hosts = self.hosts.clone();
        let url = self.url.as_ref().map(ToString::to_string);
        if let Some(url) = &url {
            if url.contains([';', ',']) {
                return Err("[owners] url: `;` and `,` cannot be in the path of a cookie".into());
            }
            let host = url.split('/').nth(2).and_then(|authority| authority.split(':').next());
            hosts.extend(host.map(str::to_owned));
        }
        if let Some(name) = &self.trusted_user_header {
            let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
            if name.is_empty() || !name.bytes().all(is_token) {
                return Err("[owners] trusted_user_header: expected the name of a header field, such as X-Remote-User".into());
            }
            if self.trusted_proxies.is_empty() {
                return Err(
                    "[owners] trusted_user_header: it needs `trusted_proxies`: only those proxies may name \
                     an owner"
                        .into(),
                );
            }
        }
        let SignUpConfig { mode, approve, per_day, per_network } = *sign_up;
        Ok(OwnersOptions {
            address: self.listen,
            url,
            hosts,
            trusted_proxies: self.trusted_proxies.clone(),
            trusted_user_header: self.trusted_user_header.clone(),
            sign_up: SignUp { mode, needs_approval: approve, per_day, per_network },
            bots: self.bots,
            challenges: self.challenges_per_day,
            league_name: league.unwrap_or("the league").to_owned(),
            announcements,
        })
    }
}
