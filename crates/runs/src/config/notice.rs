//! Warnings about valid settings.

use std::net::SocketAddr;

use referee_bots::sandbox::Unavailable;
use referee_game::Chain;

use crate::config::OmittedOpenings;

/// A warning about valid settings.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunNotice {
    #[error("note: bots run without a sandbox: {} (`{none}` hides this note)", one_line(.why))]
    NoSandbox {
        why: Unavailable,
        /// The setting of no sandbox.
        none: String,
    },
    #[error("warning: without tokens, anyone who can reach {address} can play as `{name}`")]
    NoTokens { address: SocketAddr, name: String },
    #[error("openings: {0}")]
    OmittedOpenings(OmittedOpenings),
}

fn one_line(why: &Unavailable) -> String {
    match why {
        Unavailable::Limit(what) => what.to_string(),
        Unavailable::Layers(_, missing) => {
            let missing: Vec<String> =
                missing.iter().map(|(layer, why)| format!("{layer} {}", Chain(why))).collect();
            missing.join("; ")
        }
    }
}
