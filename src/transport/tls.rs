//! Keeping a connection secret.

use std::fs;
use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};

/// The certificate and the key that connections are kept secret with.
#[derive(Clone, Debug)]
pub struct Certificate(Arc<ServerConfig>);

impl Certificate {
    /// Reads a chain of certificates and its key from PEM files.
    ///
    /// # Errors
    /// When one of them cannot be read, or they do not belong together.
    pub fn read(chain: &Path, key: &Path) -> io::Result<Certificate> {
        let wrong = |path: &Path| {
            let name = path.display().to_string();
            move |error| io::Error::other(format!("{name}: {error}"))
        };
        let certificates: Vec<CertificateDer<'_>> =
            CertificateDer::pem_file_iter(chain).and_then(Iterator::collect).map_err(wrong(chain))?;
        if certificates.is_empty() {
            return Err(io::Error::other(format!("{}: there is no certificate in it", chain.display())));
        }
        let key = PrivateKeyDer::from_pem_file(key).map_err(wrong(key))?;
        Certificate::new(certificates, key)
    }

    /// Makes a certificate for trials, for this address and `localhost`, and writes it to a file for the bots to trust.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn self_signed(address: IpAddr, file: &Path) -> io::Result<Certificate> {
        let names = ["localhost".to_owned(), "127.0.0.1".to_owned(), "::1".to_owned(), address.to_string()];
        let made = rcgen::generate_simple_self_signed(names).map_err(io::Error::other)?;
        fs::write(file, made.cert.pem())
            .map_err(|error| io::Error::other(format!("{}: {error}", file.display())))?;
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).map_err(io::Error::other)?;
        Certificate::new(vec![made.cert.der().clone()], key)
    }

    fn new(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> io::Result<Certificate> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .map_err(io::Error::other)?;
        Ok(Certificate(Arc::new(config)))
    }

    /// The referee's side of a new connection.
    ///
    /// # Errors
    /// When the configuration is not usable.
    pub fn accept(&self) -> io::Result<Tls> {
        ServerConnection::new(self.0.clone()).map(Tls).map_err(io::Error::other)
    }
}

/// The referee's side of a connection that is kept secret.
pub struct Tls(ServerConnection);

impl Tls {
    /// Reads decrypted bytes; `receive` brings encrypted ones.
    pub(super) fn read(
        &mut self,
        buffer: &mut [u8],
        receive: impl Fn(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        loop {
            match self.0.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // A connection that is cut off has ended all the same: lines are whole or do not count.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                read => return read,
            }
            self.0.read_tls(&mut Receive(&receive))?;
            self.0
                .process_new_packets()
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        }
    }

    /// Takes bytes to encrypt, and tells how many.
    pub(super) fn encrypt(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.writer().write(bytes)
    }

    /// Tells the other end that nothing more comes.
    pub(super) fn say_goodbye(&mut self) {
        self.0.send_close_notify();
    }

    /// Whether encrypted bytes wait.
    pub(super) fn has_output(&self) -> bool {
        self.0.wants_write()
    }

    /// Writes encrypted bytes.
    pub(super) fn write(&mut self, send: &mut impl FnMut(&[u8]) -> io::Result<usize>) -> io::Result<()> {
        self.0.write_tls(&mut Send(send)).map(drop)
    }
}

struct Receive<'a, F>(&'a F);

impl<F: Fn(&mut [u8]) -> io::Result<usize>> Read for Receive<'_, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0(buffer)
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
