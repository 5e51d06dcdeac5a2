//! Connects again after a lost connection.

use std::io;
use std::net::TcpStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The time before the first attempt, doubled with each further one.
const FIRST_DELAY: Duration = Duration::from_millis(500);
/// The maximum of this time: the referee may be back just before it stops waiting.
const MOST_DELAY: Duration = Duration::from_secs(5);
/// The time after which the referee does not wait any more.
const RECONNECT_TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct Loss {
    since: Instant,
    delay: Duration,
}

impl Loss {
    #[expect(clippy::disallowed_methods, reason = "a bot measures its own time")]
    pub(crate) fn new() -> Loss {
        eprintln!("referee_bot: the connection to the referee is lost; connecting again");
        Loss { since: Instant::now(), delay: FIRST_DELAY }
    }

    /// Returns a new connection; `None` if there is none in time.
    pub(crate) fn reconnect(&mut self, connect: impl Fn() -> io::Result<TcpStream>) -> Option<TcpStream> {
        loop {
            let wait = self.delay.mul_f64(0.75 + fastrand::f64() / 2.0);
            if self.since.elapsed() + wait > RECONNECT_TIMEOUT {
                eprintln!(
                    "referee_bot: the referee cannot be reached within {} s",
                    RECONNECT_TIMEOUT.as_secs()
                );
                return None;
            }
            sleep(wait);
            self.delay = MOST_DELAY.min(self.delay * 2);
            if let Ok(stream) = connect() {
                eprintln!("referee_bot: connected again after {:.1} s", self.since.elapsed().as_secs_f64());
                return Some(stream);
            }
        }
    }
}
