//! TLS, if the feature is enabled.

use std::net::TcpStream;
use std::path::Path;

use crate::session::Session;
use crate::{Bot, Error};

/// Plays over TLS and verifies that the referee's certificate is valid for `host`.
#[cfg(not(feature = "tls"))]
pub(crate) fn serve<B: Bot>(
    _: TcpStream,
    _: &str,
    _: Option<&Path>,
    _: &mut Session<B>,
) -> Result<(), Error> {
    Err(Error::Usage(
        "--tls: this bot was built without it; the feature `tls` of referee-bot adds it".to_owned(),
    ))
}

#[cfg(feature = "tls")]
pub(crate) use with_tls::serve;

#[cfg(feature = "tls")]
mod with_tls {
    use std::cell::RefCell;
    use std::io::{self, BufReader, Read, Write};
    use std::sync::Arc;

    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, ServerName};
    use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

    use super::{Bot, Error, Path, Session, TcpStream};

    /// Plays over TLS and verifies that the referee's certificate is valid for `host`.
    pub(crate) fn serve<B: Bot>(
        stream: TcpStream,
        host: &str,
        ca: Option<&Path>,
        session: &mut Session<B>,
    ) -> Result<(), Error> {
        let name = ServerName::try_from(host.to_owned()).map_err(|error| usage("--connect", &error))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| usage("--tls", &error))?
            .with_root_certificates(roots(ca)?)
            .with_no_client_auth();
        let connection =
            ClientConnection::new(Arc::new(config), name).map_err(|error| usage("--tls", &error))?;
        let stream = RefCell::new(StreamOwned::new(connection, stream));
        crate::run::serve(BufReader::new(Half(&stream)), Half(&stream), session)
    }

    /// The trusted root certificates.
    fn roots(ca: Option<&Path>) -> Result<RootCertStore, Error> {
        let certificates: Vec<CertificateDer<'_>> = match ca {
            Some(file) => CertificateDer::pem_file_iter(file)
                .and_then(Iterator::collect)
                .map_err(|error| usage(&format!("--ca {}", file.display()), &error))?,
            None => rustls_native_certs::load_native_certs().certs,
        };
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates);
        if roots.is_empty() {
            return Err(Error::Usage(
                "--tls: there is no certificate to trust; name one with --ca".to_owned(),
            ));
        }
        Ok(roots)
    }

    fn usage(option: &str, error: &dyn std::fmt::Display) -> Error {
        Error::Usage(format!("{option}: {error}"))
    }

    /// A reader and a writer share the TLS stream; the bot never reads and writes at the same time.
    struct Half<'a>(&'a RefCell<StreamOwned<ClientConnection, TcpStream>>);

    impl Read for Half<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.borrow_mut().read(buffer)
        }
    }

    impl Write for Half<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            self.0.borrow_mut().flush()
        }
    }
}
