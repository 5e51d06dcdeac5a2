//! Certificates of a listener, in files.

use std::path::PathBuf;

use referee_game::{SettingNames, Wrong};

/// A certificate in two PEM files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PemFiles {
    pub chain: PathBuf,
    pub key: PathBuf,
}

/// The certificate of the settings `listen.tls_cert` and `listen.tls_key`, which need each other.
///
/// # Errors
/// If one of them is missing.
pub fn pem_files(
    chain: Option<PathBuf>,
    key: Option<PathBuf>,
    names: SettingNames,
) -> Result<Option<PemFiles>, Wrong> {
    let [of_chain, of_key] = ["listen.tls_cert", "listen.tls_key"].map(|key| names(key, None));
    match (chain, key) {
        (Some(chain), Some(key)) => Ok(Some(PemFiles { chain, key })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(format!("{of_chain} needs {of_key}").into()),
        (None, Some(_)) => Err(format!("{of_key} needs {of_chain}").into()),
    }
}
