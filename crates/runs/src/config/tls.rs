//! Certificates of a listener, in files.

use std::path::PathBuf;

use referee_game::Wrong;

/// A certificate in two PEM files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PemFiles {
    pub chain: PathBuf,
    pub key: PathBuf,
}

/// The certificate of the settings `tls_cert` and `tls_key`, which need each other, in this section.
///
/// # Errors
/// If one of them is missing.
pub fn pem_files(
    section: &str,
    chain: Option<PathBuf>,
    key: Option<PathBuf>,
) -> Result<Option<PemFiles>, Wrong> {
    match (chain, key) {
        (Some(chain), Some(key)) => Ok(Some(PemFiles { chain, key })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(format!("{section}tls_cert needs {section}tls_key").into()),
        (None, Some(_)) => Err(format!("{section}tls_key needs {section}tls_cert").into()),
    }
}
