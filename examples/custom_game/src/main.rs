//! The command `referee` with one more game, tic-tac-toe.
//!
//! ```sh
//! cargo run -p tic-tac-toe -- play tic_tac_toe 'python3 bots/python/random_bot.py' 'python3 bots/python/random_bot.py'
//! ```

mod rules;

use std::process::ExitCode;

fn main() -> ExitCode {
    referee::cli::main(referee::games::catalog().with::<rules::TicTacToe>())
}
