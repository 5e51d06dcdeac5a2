//! Certificates of a listener, in files.

use std::path::PathBuf;

/// A certificate in two PEM files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PemFiles {
    /// The certificate chain.
    pub chain: PathBuf,
    /// The private key.
    pub key: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertificateFile {
    Pem(PemFiles),
    /// It is generated and written to this file.
    SelfSigned(PathBuf),
}

/// One of two files that need each other is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unpaired {
    #[error("tls_cert needs tls_key")]
    NoKey,
    #[error("tls_key needs tls_cert")]
    NoChain,
}

/// The certificate of the settings `tls_cert` and `tls_key`, which need each other.
///
/// # Errors
/// If one of them is missing.
pub fn pem_files(chain: Option<PathBuf>, key: Option<PathBuf>) -> Result<Option<PemFiles>, Unpaired> {
    match (chain, key) {
        (Some(chain), Some(key)) => Ok(Some(PemFiles { chain, key })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(Unpaired::NoKey),
        (None, Some(_)) => Err(Unpaired::NoChain),
    }
}
