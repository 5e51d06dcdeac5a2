//! Plays a random legal move, in any game.

use std::env;
use std::error::Error;
use std::process::ExitCode;

use referee_bot::{Answer, Hello, Want, from_fn, hello, run};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let mut rng = match &args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => fastrand::Rng::new(),
        ["--seed", seed] => fastrand::Rng::with_seed(seed.parse()?),
        _ => {
            eprintln!("usage: referee-random [--seed N]   (N: the same choices again)");
            return Ok(ExitCode::from(2));
        }
    };
    let hello = Hello {
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        // It looks at nothing but the legal moves, so it asks for nothing else.
        wants: Some(vec![Want::Legal]),
        ..hello("random")
    };
    run(from_fn(hello, |turn| Answer::legal(rng.usize(..turn.legal().len()))))?;
    Ok(ExitCode::SUCCESS)
}
