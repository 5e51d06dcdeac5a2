//! The connection of a bot to its referee, configured by command-line options.

use std::io::{self, BufReader};
use std::net::TcpStream;
use std::path::PathBuf;
use std::{env, fs};

use crate::reconnect::Loss;
use crate::run::serve;
use crate::session::Session;
use crate::{Bot, Error};

/// The environment variable with the token, used without `--token-file`.
const TOKEN: &str = "REFEREE_TOKEN";
/// Size of the read buffer, in bytes.
const READ: usize = 64 * 1024;

/// The connection to the referee, the token and the name, as set on the command line: see
/// [`OPTIONS`](Connection::OPTIONS).
#[derive(Debug, Clone, Default)]
pub struct Connection {
    /// Host and port; `None`: stdin and stdout.
    address: Option<Address>,
    tls: bool,
    ca: Option<PathBuf>,
    token: Option<String>,
    name: Option<String>,
}

#[derive(Debug, Clone)]
struct Address {
    host: String,
    port: u16,
}

impl Connection {
    /// Help text for the options that [`Connection::from_args`] accepts.
    pub const OPTIONS: &str = "\
  --connect HOST:PORT   play over TCP, not over stdin and stdout
  --token-file FILE     where the token is, if not in REFEREE_TOKEN
  --tls                 encrypt, and verify the referee's certificate
  --ca FILE             trust these certificates (PEM), not those of the system
  --name NAME           the bot's name";

    /// Parses the connection options out of `args`. Returns the remaining arguments, which belong to the bot.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`].
    pub fn from_args(args: impl IntoIterator<Item = String>) -> Result<(Connection, Vec<String>), Error> {
        let mut connection = Connection::default();
        let (mut token_file, mut own) = (None, Vec::new());
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let (option, value) = match arg.split_once('=') {
                Some((option, value)) => (option, Some(value.to_owned())),
                None => (&*arg, None),
            };
            let mut value = || {
                value
                    .clone()
                    .or_else(|| args.next())
                    .ok_or_else(|| Error::Usage(format!("{option} needs a value")))
            };
            match option {
                "--connect" => connection.address = Some(Address::read(&value()?)?),
                "--token-file" => token_file = Some(value()?),
                "--tls" => connection.tls = true,
                "--ca" => connection.ca = Some(value()?.into()),
                "--name" => connection.name = Some(value()?),
                _ => own.push(arg),
            }
        }
        let token = match token_file {
            Some(file) => {
                let read = fs::read_to_string(&file);
                Some(read.map_err(|error| Error::Usage(format!("--token-file {file}: {error}")))?)
            }
            None => env::var(TOKEN).ok(),
        };
        connection.token = token.map(|token| token.trim().to_owned()).filter(|token| !token.is_empty());
        Ok((connection, own))
    }

    /// Plays every match that the referee starts, until its `bye` or the end of its stream. If a connection over TCP is lost
    /// and the referee offers it, the bot connects again and its matches go on. It also does if
    /// the `bye` of a league asks for that.
    ///
    /// # Errors
    ///
    /// See [`Error`]. A panic of the bot is not caught.
    pub fn play(self, bot: impl Bot) -> Result<(), Error> {
        // Identifies this process, so that a new connection continues the matches of a lost one.
        let instance = self.address.is_some().then(|| format!("{:016x}", fastrand::u64(..)));
        let mut session = Session::new(bot, self.name.clone(), self.token.clone(), instance);
        let Some(address) = &self.address else {
            // Stdout is not locked permanently: a thread of the bot that prints would deadlock.
            serve(io::stdin().lock(), io::stdout(), &mut session)?;
            return session.finish();
        };
        let mut stream = address.connect().map_err(|source| Error::Unreachable {
            address: format!("{}:{}", address.host, address.port),
            source,
        })?;
        let mut loss = None;
        loop {
            session.has_heard = false;
            match self.play_on(stream, &address.host, &mut session) {
                Err(Error::Io(_)) if session.reconnects => {}
                played => played?,
            }
            if session.is_over || !session.reconnects {
                break;
            }
            if session.has_heard {
                loss = None;
            }
            match loss.get_or_insert_with(Loss::new).reconnect(|| address.connect()) {
                Some(next) => stream = next,
                None => break,
            }
        }
        session.finish()
    }

    fn play_on(&self, stream: TcpStream, host: &str, session: &mut Session<impl Bot>) -> Result<(), Error> {
        if self.tls {
            return crate::tls::serve(stream, host, self.ca.as_deref(), session);
        }
        serve(BufReader::with_capacity(READ, &stream), &stream, session)
    }
}

impl Address {
    fn read(text: &str) -> Result<Address, Error> {
        let parts = text.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
        match parts {
            Some((host, port)) if !host.is_empty() => {
                let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
                Ok(Address { host: host.to_owned(), port })
            }
            _ => Err(Error::Usage(format!("--connect: `{text}` is not HOST:PORT"))),
        }
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect((&*self.host, self.port))?;
        // Send answers without waiting for more output (Nagle's algorithm).
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}
