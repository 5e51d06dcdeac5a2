//! TLS for connections, server side.

use std::cell::Cell;
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use rcgen::{CertifiedKey, KeyPair};
use referee_files::{Folder, read_regular, read_secret};
use referee_game::Wrong;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection};

/// The server's certificate chain and private key.
#[derive(Clone, Debug)]
pub struct Certificate(Arc<ServerConfig>);

impl Certificate {
    /// Reads a certificate chain and its private key from PEM files.
    ///
    /// # Errors
    /// When a file cannot be read, or the key does not match the certificate.
    pub fn read(chain: &Path, key: &Path) -> Result<Certificate, Wrong> {
        let place = || chain.display().to_string();
        let pem = read_regular(chain).map_err(|error| Wrong::at(place(), error))?;
        let certificates: Result<Vec<CertificateDer<'_>>, _> = CertificateDer::pem_slice_iter(&pem).collect();
        let certificates = certificates.map_err(|error| Wrong::at(place(), error))?;
        if certificates.is_empty() {
            return Err(format!("{}: contains no certificate", place()).into());
        }
        Certificate::new(certificates, private_key(key)?)
    }

    /// Generates a self-signed certificate for this address and `localhost`, for testing, and writes it to a file
    /// that bots can trust.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn self_signed(address: IpAddr, file: &Path) -> Result<Certificate, Wrong> {
        let made = self_signed(address).map_err(|error| Wrong::of(&error))?;
        let (folder, name) = Folder::of_file(file)?;
        folder.public().replace(&name, made.cert.pem().as_bytes())?;
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        Certificate::new(vec![made.cert.der().clone()], key.into())
    }

    /// Reads the certificate of these files in PEM, or generates a self-signed one for this address and writes them. Only
    /// their owner can read them.
    ///
    /// # Errors
    /// When a file cannot be read or written, or the key does not match the certificate.
    pub fn kept(address: IpAddr, chain: &Path, key: &Path) -> Result<Certificate, Wrong> {
        if key.exists() && chain.exists() {
            return Certificate::read(chain, key);
        }
        let made = self_signed(address).map_err(|error| Wrong::of(&error))?;
        for (file, pem) in [(chain, made.cert.pem()), (key, made.signing_key.serialize_pem())] {
            let (folder, name) = Folder::of_file(file)?;
            folder.replace(&name, pem.as_bytes())?;
        }
        Certificate::read(chain, key)
    }

    /// The configuration of servers that show it.
    pub fn config(&self) -> Arc<ServerConfig> {
        Arc::clone(&self.0)
    }

    fn new(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Result<Certificate, Wrong> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|config| config.with_no_client_auth().with_single_cert(chain, key));
        Ok(Certificate(Arc::new(config.map_err(|error| Wrong::of(&error))?)))
    }

    /// Starts the server side of a TLS connection.
    ///
    /// # Errors
    /// When the configuration is invalid.
    pub fn accept(&self) -> io::Result<Tls> {
        let connection = ServerConnection::new(self.0.clone()).map_err(io::Error::other)?;
        Ok(Tls { connection, first: Cell::new(None) })
    }
}

/// Reads a private key from a PEM file.
///
/// # Errors
/// When the file cannot be read, or has no key that is usable without a passphrase.
pub fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, Wrong> {
    let place = path.display().to_string();
    let secret = read_secret(path).map_err(|error| Wrong::at(place.clone(), error))?;
    let signs = ["-----BEGIN ENCRYPTED PRIVATE KEY-----", "Proc-Type: 4,ENCRYPTED"];
    let is_encrypted = signs.iter().any(|sign| secret.contains(sign));
    PrivateKeyDer::from_pem_slice(secret.as_bytes()).map_err(|error| match error {
        _ if is_encrypted => {
            let expected = "decrypt it with `openssl pkey -in FILE -out NEW`";
            format!(
                "{place}: the private key is encrypted, and a server cannot ask for its passphrase: {expected}"
            )
            .into()
        }
        pem::Error::NoItemsFound => format!("{place}: contains no private key in PEM").into(),
        error => Wrong::at(place, error),
    })
}

fn self_signed(address: IpAddr) -> Result<CertifiedKey<KeyPair>, rcgen::Error> {
    let names = ["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned(), address.to_string()];
    rcgen::generate_simple_self_signed(names)
}

/// The first byte of every TLS connection: a handshake record.
pub(super) const TLS_HANDSHAKE: u8 = 0x16;

/// The server side of a TLS connection.
#[derive(Debug)]
pub struct Tls {
    connection: ServerConnection,
    first: Cell<Option<u8>>,
}

impl Tls {
    /// Reads decrypted bytes; `receive` reads encrypted ones from the socket.
    pub(super) fn read(
        &mut self,
        buffer: &mut [u8],
        receive: impl Fn(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        loop {
            match self.connection.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // A missing `close_notify` is treated as end of stream: an incomplete line is discarded anyway.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                read => return read,
            }
            self.connection.read_tls(&mut Receive(&receive, &self.first))?;
            if self.received_plain_text() {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "plain text"));
            }
            self.connection
                .process_new_packets()
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        }
    }

    /// Returns whether any byte has been received.
    pub(super) fn has_received(&self) -> bool {
        self.first.get().is_some()
    }

    /// Returns whether the other end sent something other than TLS.
    pub(super) fn received_plain_text(&self) -> bool {
        self.first.get().is_some_and(|first| first != TLS_HANDSHAKE)
    }

    /// Returns whether the expensive part of the handshake is done.
    pub(super) fn has_begun(&self) -> bool {
        self.connection.negotiated_cipher_suite().is_some()
    }

    /// Encrypts bytes; returns how many were accepted.
    pub(super) fn encrypt(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.connection.writer().write(bytes)
    }

    /// Queues the `close_notify` alert.
    pub(super) fn send_close_notify(&mut self) {
        self.connection.send_close_notify();
    }

    /// Returns whether encrypted bytes are pending.
    pub(super) fn has_output(&self) -> bool {
        self.connection.wants_write()
    }

    /// Writes encrypted bytes.
    pub(super) fn write(&mut self, send: &mut impl FnMut(&[u8]) -> io::Result<usize>) -> io::Result<()> {
        self.connection.write_tls(&mut Send(send)).map(drop)
    }
}

struct Receive<'a, F>(&'a F, &'a Cell<Option<u8>>);

impl<F: Fn(&mut [u8]) -> io::Result<usize>> Read for Receive<'_, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = self.0(buffer)?;
        if self.1.get().is_none() {
            self.1.set(buffer[..got].first().copied());
        }
        Ok(got)
    }
}

struct Send<'a, F>(&'a mut F);

impl<F: FnMut(&[u8]) -> io::Result<usize>> Write for Send<'_, F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The reason why TLS failed, if it is the cause of this error of a read.
pub fn tls_failure(error: &io::Error) -> Option<String> {
    Some(error.get_ref()?.downcast_ref::<rustls::Error>()?.to_string())
}
