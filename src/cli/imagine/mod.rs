//! `referee imagine`: answers questions of search bots about imagined positions.

mod line;
mod server;

use std::io::{self, Read, Write};
use std::path::PathBuf;

use clap::Args as ClapArgs;
use referee_protocol::imagine::LINE;

use crate::cli::exit::{Exit, Failure};
use crate::cli::find_game::with_games;
use crate::cli::output::stdout;
use crate::game::Catalog;
use crate::transport::{Line, Lines};
pub(crate) use server::ImagineServer;

/// Answer a search bot's questions about imagined positions, on standard input and output
///
/// A bot starts this program beside itself and sends it views that it has received. The program imagines positions that
/// agree with such a view, and reports the legal moves, the view and the result after any moves, and the mean result of
/// random playouts. It uses only what the bot sends. `referee spec imagine` specifies the requests.
#[derive(Debug, ClapArgs)]
#[command(after_help = "A bot writes requests, one JSON object per line, and reads one line for each.

Examples:
  referee imagine > answers.jsonl
  referee imagine --game ./connect_four")]
pub(super) struct Args {
    /// The directory of a game whose rules are a program; may be repeated
    #[arg(long = "game", value_name = "DIR")]
    games: Vec<PathBuf>,
}

/// The bytes of answers that wait to be written until no further request has arrived.
const PENDING_OUTPUT: usize = 64 * 1024;

pub(super) fn run(args: &Args, catalog: &Catalog) -> Result<Exit, Failure> {
    let (mut input, mut output) = (io::stdin().lock(), stdout());
    let (mut lines, mut answers) = (Lines::new(LINE), Vec::new());
    let mut server = ImagineServer::new(with_games(&args.games, catalog)?);
    loop {
        let (read, _) = lines.fill(|buffer| input.read(buffer)).map_err(Failure::cannot_run)?;
        if read == 0 {
            return Ok(Exit::Done);
        }
        while let Some(line) = lines.next_line() {
            match line {
                Line::Text(line) => server.answer(line, &mut answers),
                Line::TooLong => server.reject_long_line(&mut answers),
            }
            if answers.len() > PENDING_OUTPUT {
                output.write_all(&answers)?;
                answers.clear();
            }
        }
        output.write_all(&answers)?;
        output.flush()?;
        answers.clear();
    }
}
