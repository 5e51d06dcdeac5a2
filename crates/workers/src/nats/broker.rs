//! The connection to a NATS server.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::object_store::{self, ObjectStore};
use async_nats::jetstream::stream::{self, DiscardPolicy, RetentionPolicy, Stream};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectError, ConnectOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{sleep, timeout};

use super::envelope::{Signer, VERSION};
use super::message::ToWorker;
use crate::archive::MOST_BYTES;
use crate::machine::is_name;
use crate::unit::UnitId;
use referee_files::read_secret;
use referee_game::Chain;
use referee_game::Wrong;
use referee_transport::private_key;

/// The name of the consumer that all workers share.
const CONSUMER: &str = "workers";
/// The time for which a request waits for the broker.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The number of tries to create something at the broker, and the pause after an error.
const TRIES: u32 = 4;
const REST: Duration = Duration::from_millis(250);
/// The time that an outcome may take.
const TRANSFER: Duration = Duration::from_secs(60);
/// The size of a part of an object, in bytes: the default, below every usual limit of a message.
const PART: usize = 128 << 10;

/// A NATS server with JetStream.
#[derive(Clone, Debug)]
pub struct Broker {
    /// `nats://HOST[:PORT]`, or `tls://` to require TLS.
    pub url: String,
    /// The first word of the stream and of all subjects.
    pub queue: String,
    /// A file with credentials: one of NATS (`.creds`), or a line `USER:PASSWORD` or with a token.
    pub credentials: Option<PathBuf>,
    /// Certificates (PEM) that are trusted in addition to those of the system.
    pub ca: Option<PathBuf>,
    /// The certificate of this client and its private key (PEM), if the server asks for one.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// The state of the connection to the broker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Up,
    Down,
}

#[derive(Clone, Copy, Debug)]
enum Objects {
    /// The archives of bots, which coordinators write.
    Files,
    /// Outcomes that are larger than a message may be, which workers write.
    Outcomes,
}

/// A name of a worker as a part of a subject, which ends at a full stop.
fn token(name: &str) -> String {
    name.replace('.', "+")
}

/// The worker that has sent something on this subject; `None` if that is not its name.
pub(super) fn sender(subject: &str) -> Option<String> {
    let name = subject.rsplit('.').next()?.replace('+', ".");
    is_name(&name).then_some(name)
}

/// The subject on which answers to a worker arrive.
pub(super) fn inbox(worker: &str) -> String {
    format!("_INBOX.{}", token(worker))
}

/// A connection, which is established again after a loss.
#[derive(Clone)]
pub(super) struct NatsConnection {
    pub(super) client: Client,
    pub(super) jetstream: Context,
    pub(super) queue: String,
}

impl std::fmt::Debug for NatsConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("queue", &self.queue).finish_non_exhaustive()
    }
}

fn large(most: u64) -> Wrong {
    format!("it has more than {most} bytes").into()
}

/// Reports that a request of this client has failed.
pub(super) fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Wrong {
    Wrong::of(&*error.into())
}

/// Asks the broker to create something, again after an error: it may be slow, or create the same for another coordinator.
pub(super) async fn create<T>(mut ask: impl AsyncFnMut() -> Result<T, Wrong>) -> Result<T, Wrong> {
    for _ in 1..TRIES {
        match ask().await {
            Ok(created) => return Ok(created),
            Err(error) => tracing::debug!(error = %Chain(&error), "the broker is asked again"),
        }
        sleep(REST).await;
    }
    ask().await
}

impl Broker {
    /// Connects. The receiver has every change of the connection.
    /// `inbox` is the first part of the subjects of answers.
    pub(super) async fn connect(
        &self,
        name: &str,
        inbox: &str,
    ) -> Result<(NatsConnection, UnboundedReceiver<Link>), Wrong> {
        let (changed, links) = unbounded_channel();
        let options = ConnectOptions::new()
            .name(name)
            .custom_inbox_prefix(inbox)
            .connection_timeout(TIMEOUT)
            .request_timeout(Some(TIMEOUT))
            .event_callback(move |event| {
                let link = match event {
                    async_nats::Event::Connected => Some(Link::Up),
                    async_nats::Event::Disconnected => Some(Link::Down),
                    _ => None,
                };
                // The end may have returned.
                let _ = link.map(|link| changed.send(link));
                std::future::ready(())
            });
        let options = match &self.credentials {
            Some(path) => with_credentials(options, path)?,
            None => options,
        };
        let options = match &self.ca {
            Some(path) => options.add_root_certificates(path.clone()),
            None => options,
        };
        let options = match &self.identity {
            Some((chain, key)) => {
                // The client reads the file itself, with less to say about a key that it cannot use.
                private_key(key)?;
                options.add_client_certificate(chain.clone(), key.clone())
            }
            None => options,
        };
        let options = options.require_tls(self.url.starts_with("tls://"));
        let not_connected = |error: ConnectError| Wrong::at(self.url.clone(), error);
        let client = options.connect(&self.url).await.map_err(not_connected)?;
        let mut jetstream = jetstream::new(client.clone());
        jetstream.set_timeout(TIMEOUT);
        Ok((NatsConnection { client, jetstream, queue: self.queue.clone() }, links))
    }
}

fn with_credentials(options: ConnectOptions, path: &Path) -> Result<ConnectOptions, Wrong> {
    let wrong = |error: io::Error| Wrong::at(path.display().to_string(), error);
    let text = read_secret(path).map_err(wrong)?;
    if text.contains("-----BEGIN NATS USER JWT-----") {
        return options.credentials(&text).map_err(wrong);
    }
    let line = text.trim();
    if line.is_empty() || line.contains(char::is_whitespace) {
        let path = path.display();
        let expected = "expected NATS credentials, or one line USER:PASSWORD or with a token";
        return Err(format!("{path}: {expected}").into());
    }
    Ok(match line.split_once(':') {
        Some((user, password)) => options.user_and_password(user.to_owned(), password.to_owned()),
        None => options.token(line.to_owned()),
    })
}

impl NatsConnection {
    /// Waits until everything that was published has been sent, but not for a broker that cannot be reached.
    pub(super) async fn finish(&self) -> Result<(), Wrong> {
        match timeout(TIMEOUT, self.client.flush()).await {
            Ok(flushed) => flushed.map_err(failed),
            Err(_) => Ok(()),
        }
    }

    pub(super) fn work(&self, unit: &UnitId) -> String {
        format!("{}{}", self.works(&unit.run), unit.set)
    }

    /// The subjects of the sets of a run, without their numbers.
    pub(super) fn works(&self, run: &str) -> String {
        format!("{}.work.{VERSION}.{run}.", self.queue)
    }

    /// The subject of the messages of a worker to the coordinator of a run; `*`: of all workers.
    pub(super) fn run(&self, run: &str, worker: &str) -> String {
        format!("{}.run.{run}.{}", self.queue, token(worker))
    }

    /// The subject of a worker's messages to all coordinators; `*`: of all workers.
    pub(super) fn hello(&self, worker: &str) -> String {
        format!("{}.hello.{}", self.queue, token(worker))
    }

    /// The subject of the first message of workers with the first version of the messages.
    pub(super) fn first_hello(&self) -> String {
        format!("{}.hello", self.queue)
    }

    /// The subject of a coordinator's messages to itself.
    pub(super) fn echo(&self, run: &str) -> String {
        format!("{}.echo.{run}", self.queue)
    }

    pub(super) fn worker(&self, name: &str) -> String {
        format!("{}.worker.{}", self.queue, token(name))
    }

    pub(super) fn workers(&self) -> String {
        format!("{}.workers", self.queue)
    }

    pub(super) fn stream_name(&self) -> String {
        format!("{}-{VERSION}", self.queue)
    }

    pub(super) async fn send_to_workers(&self, signer: &Signer, subject: String, message: &ToWorker) {
        let Ok(body) = serde_json::to_vec(message) else { return };
        let bytes = signer.seal(&subject, &body);
        if let Err(error) = self.client.publish(subject, bytes.into()).await {
            tracing::debug!(error = %Chain(&error), "a message to a worker is lost");
        }
    }

    /// Opens the stream; creates it if it is missing.
    pub(super) async fn stream(&self) -> Result<Stream, Wrong> {
        let config = stream::Config {
            name: self.stream_name(),
            subjects: vec![format!("{}.work.{VERSION}.*.*", self.queue)],
            retention: RetentionPolicy::WorkQueue,
            max_messages_per_subject: 1,
            discard: DiscardPolicy::New,
            discard_new_per_subject: true,
            ..stream::Config::default()
        };
        self.jetstream.get_or_create_stream(config).await.map_err(failed)
    }

    /// Creates or changes the consumer.
    pub(super) async fn set_consumer(&self, ack_wait: Duration, most_out: usize) -> Result<(), Wrong> {
        let config = pull::Config {
            durable_name: Some(CONSUMER.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait,
            max_ack_pending: most_out as i64,
            ..pull::Config::default()
        };
        self.jetstream.create_consumer_on_stream(config, self.stream_name()).await.map(drop).map_err(failed)
    }

    /// The consumer, once a coordinator has created it.
    pub(super) async fn consumer(&self) -> Result<PullConsumer, Wrong> {
        self.jetstream.get_consumer_from_stream(CONSUMER, self.stream_name()).await.map_err(failed)
    }

    async fn objects(&self, of: Objects) -> Result<ObjectStore, Wrong> {
        let bucket = match of {
            Objects::Files => format!("{}-files", self.queue),
            Objects::Outcomes => format!("{}-outcomes", self.queue),
        };
        if let Ok(store) = self.jetstream.get_object_store(&bucket).await {
            return Ok(store);
        }
        let config = object_store::Config { bucket, ..object_store::Config::default() };
        self.jetstream.create_object_store(config).await.map_err(failed)
    }

    /// Creates the object stores that are missing, which workers may not.
    pub(super) async fn create_objects(&self) -> Result<(), Wrong> {
        self.objects(Objects::Files).await?;
        self.objects(Objects::Outcomes).await.map(drop)
    }

    /// Stores an archive under this name unless the store has it.
    pub(super) async fn upload(&self, name: &str, file: &Path) -> Result<(), Wrong> {
        let files = self.objects(Objects::Files).await?;
        if files.info(name).await.is_ok() {
            return Ok(());
        }
        let mut file = tokio::fs::File::open(file).await?;
        files.put(name, &mut file).await.map(drop).map_err(failed)
    }

    /// Copies the archive with this name to a file.
    pub(super) async fn download(&self, name: &str, file: &Path) -> Result<(), Wrong> {
        let mut object = self.objects(Objects::Files).await?.get(name).await.map_err(failed)?;
        let mut file = tokio::fs::File::create(file).await?;
        let copied = tokio::io::copy(&mut (&mut object).take(MOST_BYTES + 1), &mut file).await?;
        file.flush().await?;
        if copied > MOST_BYTES {
            return Err(large(MOST_BYTES));
        }
        Ok(())
    }

    /// Deletes an archive that was stored for a trial.
    pub(super) async fn delete_archive(&self, name: &str) -> Result<(), Wrong> {
        self.objects(Objects::Files).await?.delete(name).await.map_err(failed)
    }

    /// Stores an outcome unless the store has it: its parts must not change while they are read.
    pub(super) async fn put(&self, name: &str, mut bytes: &[u8]) -> Result<(), Wrong> {
        let files = self.objects(Objects::Outcomes).await?;
        if files.info(name).await.is_ok() {
            return Ok(());
        }
        let meta = object_store::ObjectMetadata {
            name: name.to_owned(),
            chunk_size: Some(PART),
            ..object_store::ObjectMetadata::default()
        };
        files.put(meta, &mut bytes).await.map(drop).map_err(failed)
    }

    /// Reads an object, of at most `most` bytes.
    pub(super) async fn get(&self, name: &str, most: usize) -> Result<Vec<u8>, Wrong> {
        let mut bytes = Vec::new();
        let read = async {
            let mut object = self.objects(Objects::Outcomes).await?.get(name).await.map_err(failed)?;
            let read = (&mut object).take(most as u64 + 1).read_to_end(&mut bytes).await?;
            Ok::<usize, Wrong>(read)
        };
        // Parts that are missing would never come.
        timeout(TRANSFER, read).await.map_err(|error| Wrong::of(&error))??;
        if bytes.len() > most { Err(large(most as u64)) } else { Ok(bytes) }
    }

    /// Deletes an outcome that was judged.
    pub(super) async fn delete(&self, name: &str) -> Result<(), Wrong> {
        self.objects(Objects::Outcomes).await?.delete(name).await.map_err(failed)
    }
}
