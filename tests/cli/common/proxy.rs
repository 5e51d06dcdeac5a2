//! A proxy between bots and the referee that cuts connections.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;

/// Starts a proxy to `referee` and returns its address. Connection number i is cut after `cuts[i]` messages of the
/// referee; later ones are not.
pub(crate) fn cutting(referee: SocketAddr, cuts: &'static [usize]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        let cuts = cuts.iter().copied().chain(std::iter::repeat(usize::MAX));
        for (bot, most) in listener.incoming().zip(cuts) {
            let bot = bot.expect("a connection");
            // At the end of the run the referee is gone.
            let Ok(referee) = TcpStream::connect(referee) else { return };
            let streams = [(&bot, &referee, usize::MAX), (&referee, &bot, most)];
            let [there, back] = streams.map(|(from, to, most)| {
                let [from, to] = [from, to].map(|stream| stream.try_clone().expect("a socket"));
                to.set_nodelay(true).expect("a socket");
                thread::spawn(move || forward(from, to, most))
            });
            back.join().expect("it forwards");
            // The bot may have closed its side only.
            for stream in [bot, referee] {
                let _ = stream.shutdown(Shutdown::Both);
            }
            there.join().expect("it forwards");
        }
    });
    address
}

/// Forwards lines until the end of the stream, at most so many.
fn forward(from: TcpStream, mut to: TcpStream, most: usize) {
    let mut lines = BufReader::new(from);
    let mut line = Vec::new();
    for _ in 0..most {
        line.clear();
        match lines.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) if to.write_all(&line).is_err() => break,
            Ok(_) => {}
        }
    }
}
