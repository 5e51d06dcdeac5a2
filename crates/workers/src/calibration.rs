//! The speed and the evenness of a machine's answers.

use std::future::poll_fn;
use std::io;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use referee_bots::{Command, Launch, Launcher, StartError};
use referee_transport::{ByteStream, Line, Lines, ReadProgress, Stream};

/// The number of first round trips that do not count: they read files and warm caches.
const WARM_UP: usize = 50;
/// The time of a round trip above which other programs disturb matches with a clock: a quarter of the default margin.
const DISTURBED: Duration = Duration::from_millis(5);
/// The share of disturbed round trips above which a machine is noisy, by time: one in a hundred.
const NOISY: f64 = 0.01;

/// Round trips of a short line between the referee and a program that returns it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The median, in microseconds.
    pub median_us: f64,
    /// The time that 99% do not exceed, in microseconds.
    pub p99_us: f64,
    /// The longest, in microseconds.
    pub longest_us: f64,
    /// The share of the time that round trips of more than 5 ms took: from 0 to 1.
    pub disturbed: f64,
}

impl Calibration {
    /// Measures for this time with `cat`.
    ///
    /// # Errors
    /// If it cannot be started or ends.
    pub async fn measure(launch: Launch, time: Duration) -> Result<Calibration, StartError> {
        let launcher = Launcher::open(launch, 1)?;
        let command = Command { argv: vec!["cat".to_owned()], ..Command::default() };
        let (process, wire) = launcher.start(move |starter| starter.start(&command, |_| {})).await?;
        let mut stream = Stream::watch(wire)?;
        let measured = Calibration::of(&mut stream, time).await;
        drop(stream);
        process.end().await;
        Ok(measured?)
    }

    #[expect(clippy::disallowed_methods, reason = "the measurement")]
    async fn of(stream: &mut impl ByteStream, time: Duration) -> io::Result<Calibration> {
        let mut lines = Lines::new(100);
        for _ in 0..WARM_UP {
            round_trip(stream, &mut lines).await?;
        }
        let (began, mut trips) = (Instant::now(), Vec::new());
        let mut before = began;
        while before - began < time {
            round_trip(stream, &mut lines).await?;
            let now = Instant::now();
            trips.push(now - before);
            before = now;
        }
        trips.sort_unstable();
        let at = |share: f64| trips[((trips.len() - 1) as f64 * share) as usize].as_nanos() as f64 / 1000.0;
        let disturbed: Duration = trips.iter().filter(|&&trip| trip > DISTURBED).sum();
        Ok(Calibration {
            median_us: at(0.5),
            p99_us: at(0.99),
            longest_us: at(1.0),
            disturbed: disturbed.as_secs_f64() / (before - began).as_secs_f64(),
        })
    }

    /// Returns whether other programs disturb matches with a clock: round trips of more than 5 ms take more
    /// than 1% of the time.
    pub fn is_noisy(&self) -> bool {
        self.disturbed > NOISY
    }
}

/// Sends a line and waits until it returns.
async fn round_trip(stream: &mut impl ByteStream, lines: &mut Lines) -> io::Result<()> {
    let mut rest: &[u8] = b"{\"type\":\"calibration\"}\n";
    while !rest.is_empty() {
        let written = poll_fn(|cx| stream.poll_write(cx, rest)).await?;
        rest = &rest[written..];
    }
    loop {
        if let Some(Line::Text(_)) = lines.next_line() {
            return Ok(());
        }
        if poll_fn(|cx| stream.poll_read(cx, lines)).await? == ReadProgress::End {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "`cat` has ended"));
        }
    }
}
