//! Plays a random legal move, in any game. Where the game does not list its moves, it resigns.

use std::env;
use std::error::Error;
use std::process::ExitCode;

use referee_bot::{Answer, Connection, Hello, Want, from_fn, hello};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let (connection, own) = match Connection::from_args(env::args().skip(1)) {
        Ok(read) => read,
        Err(error) => return Ok(usage(&error.to_string())),
    };
    let (mut rng, mut slots) = (fastrand::Rng::new(), None);
    for option in own.chunks(2) {
        match option {
            [name, seed] if name == "--seed" => rng.seed(seed.parse()?),
            [name, count] if name == "--slots" => slots = Some(count.parse()?),
            _ => return Ok(usage(&format!("not understood: {}", option.join(" ")))),
        }
    }
    let hello = Hello {
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        // The bot needs only the legal moves.
        wants: Some(vec![Want::Legal]),
        slots,
        ..hello("random")
    };
    connection.play(from_fn(hello, |turn| match turn.legal().len() {
        0 => Answer::Resign,
        count => Answer::legal(rng.usize(..count)),
    }))?;
    Ok(ExitCode::SUCCESS)
}

fn usage(wrong: &str) -> ExitCode {
    eprintln!(
        "{wrong}\nusage: referee-random [--seed N] [--slots N] [OPTIONS]\n  --seed N   make the choices repeatable\n  \
         --slots N  the matches that are played at once [1]\n{}",
        Connection::OPTIONS
    );
    ExitCode::from(2)
}
