//! Requests and answers over a stream, for a thread that waits for them.

use std::io;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::Wire;
use crate::watch::{WaitWatch, with_watch};

/// Reads at most this many bytes at once, as many as a pipe holds.
const READ: usize = 64 * 1024;

/// The time to wait before looking at other streams.
const PATIENCE: Duration = Duration::from_millis(1);

/// A stream on which each request, a line, gets an answer, a line.
#[derive(Debug)]
pub struct Exchange {
    wire: Wire,
    buffer: Vec<u8>,
}

/// Reasons why there is no answer. The stream is of no further use.
#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    #[error("it did not answer within {} ms", .0.as_millis())]
    Late(Duration),
    #[error("the wait for its answer was interrupted")]
    Interrupted,
    #[error("its output ended")]
    Ended,
    #[error("its answer has more than {0} bytes")]
    TooLong(usize),
    #[error("it wrote more than one line")]
    Unasked,
    #[error(transparent)]
    Failed(#[from] io::Error),
}

#[expect(clippy::disallowed_methods, reason = "no clock of a match: the timeout of a program")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

impl From<Errno> for NoAnswer {
    fn from(error: Errno) -> Self {
        NoAnswer::Failed(error.into())
    }
}

impl Exchange {
    /// Makes the descriptors of a stream without TLS non-blocking.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn new(wire: Wire) -> io::Result<Exchange> {
        rustix::io::ioctl_fionbio(&wire.input, true)?;
        if let Some(output) = &wire.output {
            rustix::io::ioctl_fionbio(output, true)?;
        }
        Ok(Exchange { wire, buffer: Vec::new() })
    }

    /// Writes a request and waits for its answer, both lines without their line breaks. Reads while it writes, so that
    /// neither end waits for the other.
    ///
    /// # Errors
    /// If there is no answer of at most `most` bytes within the limit, or more than the answer.
    pub fn ask(&mut self, request: &[u8], most: usize, limit: Duration) -> Result<Vec<u8>, NoAnswer> {
        with_watch(|watch| match watch {
            None => self.ask_watching(request, most, limit, None),
            Some(watch) if watch.is_stopped => Err(NoAnswer::Interrupted),
            Some(watch) => {
                let mut is_watching = false;
                let asked = self.ask_watching(request, most, limit, Some((watch, &mut is_watching)));
                if is_watching {
                    watch.end(now());
                }
                asked
            }
        })
    }

    fn ask_watching(
        &mut self,
        request: &[u8],
        most: usize,
        limit: Duration,
        mut watch: Option<(&mut WaitWatch, &mut bool)>,
    ) -> Result<Vec<u8>, NoAnswer> {
        let deadline = now() + limit;
        let line = [request, b"\n"].concat();
        let mut unwritten = &line[..];
        let mut answer = Vec::new();
        self.buffer.resize(READ, 0);
        loop {
            let left = deadline.saturating_duration_since(now());
            if left.is_zero() {
                return Err(NoAnswer::Late(limit));
            }
            let output = self.wire.output.as_ref().unwrap_or(&self.wire.input);
            let mut fds = Vec::with_capacity(3);
            fds.push(PollFd::new(&self.wire.input, PollFlags::IN));
            if !unwritten.is_empty() {
                fds.push(PollFd::new(output, PollFlags::OUT));
            }
            let is_patient = watch.as_ref().is_some_and(|(_, is_watching)| !**is_watching);
            if let Some((watch, _)) = watch.as_ref().filter(|_| !is_patient) {
                fds.push(PollFd::new(&watch.set, PollFlags::IN));
            }
            let timeout = if is_patient { left.min(PATIENCE) } else { left };
            // A limit that does not fit is as good as none.
            let timeout = Timespec::try_from(timeout).unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 });
            let ready = match poll(&mut fds, Some(&timeout)) {
                Ok(ready) => ready,
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            let is_ready = |index: usize| fds.get(index).is_some_and(|fd| !fd.revents().is_empty());
            let (readable, writable) = (is_ready(0), !unwritten.is_empty() && is_ready(1));
            let has_arrivals = is_ready(if unwritten.is_empty() { 1 } else { 2 });
            if let Some((watch, is_watching)) = &mut watch
                && (has_arrivals || (is_patient && ready == 0))
            {
                let at = now();
                watch.note(at, if has_arrivals { Some(at) } else { watch.ended })?;
                **is_watching = true;
                if watch.is_stopped {
                    return Err(NoAnswer::Interrupted);
                }
            }
            if readable && unwritten.len() == line.len() {
                // An answer without a request, unless it has ended.
                return match self.wire.input.read(&mut self.buffer) {
                    Ok(0) | Err(Errno::CONNRESET) => Err(NoAnswer::Ended),
                    Ok(_) => Err(NoAnswer::Unasked),
                    Err(Errno::AGAIN | Errno::INTR) => continue,
                    Err(error) => Err(error.into()),
                };
            }
            if writable && !unwritten.is_empty() {
                match output.write(unwritten) {
                    Ok(written) => unwritten = &unwritten[written..],
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    Err(Errno::PIPE | Errno::CONNRESET) => return Err(NoAnswer::Ended),
                    Err(error) => return Err(error.into()),
                }
            }
            if !readable {
                continue;
            }
            match self.wire.input.read(&mut self.buffer) {
                Ok(0) => return Err(NoAnswer::Ended),
                Ok(read) => answer.extend_from_slice(&self.buffer[..read]),
                Err(Errno::AGAIN | Errno::INTR) => continue,
                Err(Errno::CONNRESET) => return Err(NoAnswer::Ended),
                Err(error) => return Err(error.into()),
            }
            match answer.iter().position(|&byte| byte == b'\n') {
                // An answer to a request that has not been read yet answers something else.
                Some(end) if end + 1 < answer.len() || !unwritten.is_empty() => {
                    return Err(NoAnswer::Unasked);
                }
                Some(end) if end <= most => {
                    answer.truncate(end);
                    return Ok(answer);
                }
                None if answer.len() <= most => {}
                Some(_) | None => return Err(NoAnswer::TooLong(most)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::net::UnixStream;
    use std::thread;

    use super::*;
    use crate::watch::{LongComputation, is_interrupted, take_arrivals, watch_stream, watch_while_waiting};
    use crate::{ByteStream, Stream};

    const LIMIT: Duration = Duration::from_secs(20);

    /// An exchange with a peer that runs in a thread of its own.
    fn with(peer: impl FnOnce(BufReader<UnixStream>) + Send + 'static) -> Exchange {
        let (ours, theirs) = UnixStream::pair().unwrap();
        thread::spawn(move || peer(BufReader::new(theirs)));
        Exchange::new(Wire::socket(ours.into(), None)).unwrap()
    }

    #[test]
    fn peer_that_writes_before_reading_causes_no_deadlock() {
        const LONG: usize = 1 << 20;
        let mut exchange = with(|mut peer| {
            for _ in 0..2 {
                let line = vec![b'b'; LONG];
                // Half of the request is unread when the answer begins to fill the buffers.
                let mut read = 0;
                while read < LONG / 2 {
                    let length = peer.fill_buf().unwrap().len();
                    peer.consume(length);
                    read += length;
                }
                let mut out = peer.get_ref().try_clone().unwrap();
                let writer = thread::spawn(move || out.write_all(&line).unwrap());
                let mut rest = Vec::new();
                peer.read_until(b'\n', &mut rest).unwrap();
                writer.join().unwrap();
                peer.get_ref().write_all(b"\n").unwrap();
            }
        });
        for _ in 0..2 {
            assert_eq!(exchange.ask(&vec![b'a'; LONG], LONG, LIMIT).unwrap(), vec![b'b'; LONG]);
        }
    }

    #[test]
    fn a_flood_silence_and_the_end_are_told_apart() {
        let read = |peer: &mut BufReader<UnixStream>| peer.read_line(&mut String::new()).unwrap();
        let mut flood = with(move |mut peer| {
            read(&mut peer);
            while peer.get_ref().write_all(&[b'x'; 1000]).is_ok() {}
        });
        assert!(matches!(flood.ask(b"1", 5000, LIMIT), Err(NoAnswer::TooLong(5000))));
        let mut two = with(move |mut peer| {
            read(&mut peer);
            peer.get_ref().write_all(b"2\n3\n").unwrap();
            read(&mut peer);
        });
        assert!(matches!(two.ask(b"1", 5000, LIMIT), Err(NoAnswer::Unasked)));
        let mut late = with(move |mut peer| {
            read(&mut peer);
            peer.get_ref().write_all(b"2\n").unwrap();
            thread::sleep(Duration::from_millis(50));
            peer.get_ref().write_all(b"3\n").unwrap();
            read(&mut peer);
        });
        assert_eq!(late.ask(b"1", 5000, LIMIT).unwrap(), b"2");
        thread::sleep(Duration::from_millis(300));
        assert!(matches!(late.ask(b"1", 5000, LIMIT), Err(NoAnswer::Unasked)));
        let mut silent = with(move |mut peer| {
            read(&mut peer);
            read(&mut peer);
        });
        let short = Duration::from_millis(50);
        assert!(matches!(silent.ask(b"1", 5000, short), Err(NoAnswer::Late(_))));
        let mut gone = with(move |mut peer| {
            read(&mut peer);
        });
        assert!(matches!(gone.ask(b"1", 5000, LIMIT), Err(NoAnswer::Ended)));
    }

    #[tokio::test]
    async fn a_stream_that_returns_to_a_thread_is_watched_again() {
        let (stop, _stopper) = UnixStream::pair().unwrap();
        watch_while_waiting(stop.into()).unwrap();
        let (ours, _theirs) = UnixStream::pair().unwrap();
        let mut wire = Wire::socket(ours.into(), None);
        for number in 0..3 {
            let stream = Stream::watch(wire).unwrap();
            stream.watch_arrivals(number).unwrap();
            wire = stream.unwatch();
        }
    }

    #[test]
    fn an_interrupt_is_seen_by_what_takes_long() {
        let (stop, stopper) = UnixStream::pair().unwrap();
        watch_while_waiting(stop.into()).unwrap();
        assert!(!is_interrupted());
        drop(stopper);
        assert!(is_interrupted() && is_interrupted());
    }

    #[test]
    fn a_thread_that_computes_notes_arrivals_between_its_parts() {
        let (stop, stopper) = UnixStream::pair().unwrap();
        let (other, mut peer_of_other) = UnixStream::pair().unwrap();
        // The thread of this test watches nothing else.
        let computes = thread::spawn(move || {
            watch_while_waiting(stop.into()).unwrap();
            watch_stream(&other, 7).unwrap();
            drop(LongComputation::default());
            assert!(take_arrivals().is_none());
            let mut computation = LongComputation::default();
            assert!(!computation.look().unwrap());
            let begun = now();
            peer_of_other.write_all(b"x").unwrap();
            assert!(!computation.look().unwrap());
            peer_of_other.write_all(b"x").unwrap();
            let again = now();
            drop(computation);
            let (arrivals, ended) = take_arrivals().unwrap();
            let [first, second] = &arrivals[..] else { panic!("{arrivals:?}") };
            assert!(
                first.stream == 7 && first.since.is_some_and(|since| since <= begun) && first.at >= begun
            );
            assert!(second.stream == 7 && second.since == Some(first.at) && second.at >= again);
            assert!(ended >= second.at);
            drop(stopper);
            assert!(LongComputation::default().look().unwrap());
        });
        computes.join().unwrap();
    }

    #[test]
    fn waiting_thread_notes_arrivals_and_ends_in_time() {
        let (stop, stopper) = UnixStream::pair().unwrap();
        let (other, mut peer_of_other) = UnixStream::pair().unwrap();
        let mut slow = with(move |mut peer| {
            for _ in 0..2 {
                peer.read_line(&mut String::new()).unwrap();
                thread::sleep(Duration::from_millis(60));
                peer_of_other.write_all(b"x").unwrap();
                // Longer than a busy machine keeps the other thread from running.
                thread::sleep(Duration::from_millis(300));
                peer.get_ref().write_all(b"answer\n").unwrap();
            }
            peer.read_line(&mut String::new()).unwrap();
            drop(stopper);
            // The peer answers no more.
            thread::sleep(LIMIT);
        });
        // The thread of this test watches nothing else.
        let waits = thread::spawn(move || {
            watch_while_waiting(stop.into()).unwrap();
            watch_stream(&other, 7).unwrap();
            for _ in 0..2 {
                let begun = now();
                slow.ask(b"1", 100, LIMIT).unwrap();
                let (mut arrivals, ended) = take_arrivals().unwrap();
                let arrival = arrivals.pop().unwrap();
                assert_eq!((arrival.stream, arrival.since), (7, Some(arrival.at)));
                assert!(
                    arrival.at - begun >= Duration::from_millis(55)
                        && ended - arrival.at >= Duration::from_millis(55)
                );
            }
            assert!(take_arrivals().is_none());
            assert!(matches!(slow.ask(b"1", 100, LIMIT), Err(NoAnswer::Interrupted)));
            assert!(matches!(slow.ask(b"1", 100, LIMIT), Err(NoAnswer::Interrupted)));
        });
        waits.join().unwrap();
    }
}
