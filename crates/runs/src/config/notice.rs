//! Warnings about valid settings.

use std::net::SocketAddr;

use crate::config::OmittedOpenings;

/// A warning about valid settings.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunNotice {
    #[error("note: bots run without a sandbox: {why} (`{none}` hides this note)")]
    NoSandbox {
        why: String,
        /// The setting of no sandbox.
        none: String,
    },
    #[error("warning: without tokens, anyone who can reach {address} can play as `{name}`")]
    NoTokens { address: SocketAddr, name: String },
    #[error("openings: {0}")]
    OmittedOpenings(OmittedOpenings),
}
