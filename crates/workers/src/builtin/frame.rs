//! The frames of the built-in carrier: a message as JSON, and bytes that belong to it.
//!
//! A frame is the length of the message and that of the bytes, as big-endian numbers of 32 bits, then both.

use std::io;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::archive::ArchiveId;
use crate::carrier::{OutcomeVerdict, Returned};
use crate::machine::{Machine, MachineState};
use crate::trial::{TrialJob, TrialReply};
use crate::unit::{OUTCOME_BYTES, UNIT_BYTES, UnitId, WorkUnit};

/// The version of the messages. The coordinator rejects workers with another one.
pub(super) const VERSION: u32 = 3;
/// The maximum size of the first message of a worker, in bytes.
const HELLO_BYTES: usize = 64 * 1024;
/// The maximum number of bytes of an archive in one frame.
pub(super) const CHUNK_BYTES: usize = 256 * 1024;

/// The first message of a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct WorkerHello {
    pub(super) version: u32,
    pub(super) name: String,
    pub(super) token: String,
    pub(super) machine: Machine,
    /// Distinguishes workers on machines of the same name.
    pub(super) instance: u64,
    /// The units that it still has.
    pub(super) holding: Vec<UnitId>,
}

/// The answer to a worker's first message.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AdmissionReply {
    /// The worker is admitted under this name.
    Welcome(String),
    /// The worker is rejected, for this reason.
    Rejected(String),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FromWorker {
    Alive,
    /// The worker can take this number of further units.
    Free(usize),
    Moved(UnitId),
    /// The bytes are an encoded outcome.
    Played(UnitId),
    Returned(UnitId, Returned),
    /// A part of an archive, from this byte on.
    Fetch(ArchiveId, u64),
    /// The result of a trial. The bytes are the archive of the build.
    Tried(u64, TrialReply),
    /// The worker ends, and has no unit any more.
    Bye,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FromCoordinator {
    Alive,
    Play(Box<WorkUnit>),
    Try(Box<TrialJob>),
    Verdict(UnitId, OutcomeVerdict),
    Withdrawn(UnitId),
    /// Whether the worker gets units of this run.
    State(String, MachineState),
    /// The bytes are the next part of the archive, which has this size.
    Archive(ArchiveId, u64),
    /// The archive does not exist, for this reason.
    NoArchive(ArchiveId, String),
    Over(String),
}

/// Reads the first message of a connection, which carries no bytes.
pub(super) async fn read_first<T: DeserializeOwned>(from: &mut (impl AsyncRead + Unpin)) -> io::Result<T> {
    read_within(from, HELLO_BYTES, 0, async |_| ()).await.map(|(message, ..)| message)
}

/// Reads a message with its bytes.
pub(super) async fn read<T: DeserializeOwned>(
    from: &mut (impl AsyncRead + Unpin),
) -> io::Result<(T, Vec<u8>)> {
    read_reserved(from, async |_| ()).await.map(|(message, bytes, ())| (message, bytes))
}

/// Reads a message with its bytes, once `reserve` has room for their number.
pub(super) async fn read_reserved<T: DeserializeOwned, P>(
    from: &mut (impl AsyncRead + Unpin),
    reserve: impl AsyncFnOnce(usize) -> P,
) -> io::Result<(T, Vec<u8>, P)> {
    read_within(from, UNIT_BYTES + HELLO_BYTES, OUTCOME_BYTES, reserve).await
}

async fn read_within<T: DeserializeOwned, P>(
    from: &mut (impl AsyncRead + Unpin),
    most_text: usize,
    most_bytes: usize,
    reserve: impl AsyncFnOnce(usize) -> P,
) -> io::Result<(T, Vec<u8>, P)> {
    let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
    let lengths = [from.read_u32().await?, from.read_u32().await?].map(|length| length as usize);
    for (length, most) in lengths.into_iter().zip([most_text, most_bytes]) {
        if length > most {
            return Err(invalid(format!("a frame of {length} bytes; the maximum is {most}")));
        }
    }
    let place = reserve(lengths[1]).await;
    let mut parts = [Vec::new(), Vec::new()];
    for (part, length) in parts.iter_mut().zip(lengths) {
        // Allocated as the bytes arrive.
        let got = (&mut *from).take(length as u64).read_to_end(part).await?;
        if got < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    let [text, bytes] = parts;
    let message = serde_json::from_slice(&text).map_err(|error| invalid(error.to_string()))?;
    Ok((message, bytes, place))
}

/// Writes a message with its bytes.
pub(super) async fn write(
    to: &mut (impl AsyncWrite + Unpin),
    message: &impl Serialize,
    bytes: &[u8],
) -> io::Result<()> {
    let text = serde_json::to_vec(message)?;
    let large = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
    let length = |part: &[u8]| u32::try_from(part.len()).map_err(large);
    let mut head = Vec::with_capacity(8 + text.len());
    head.extend_from_slice(&length(&text)?.to_be_bytes());
    head.extend_from_slice(&length(bytes)?.to_be_bytes());
    head.extend_from_slice(&text);
    to.write_all(&head).await?;
    to.write_all(bytes).await?;
    to.flush().await
}
