//! Engines as bots: starts an engine that speaks a dialect of its field, and translates between it and the protocol.
//!
//! [`run`] is the whole bot. It reads the referee's messages from standard input and writes its answers to standard output.
//!
//! * `wire` has both streams and the process of the engine
//! * `session` is the side of the protocol: matches, turns, answers
//! * one module for each dialect is the side of the engine, behind the trait `EngineProtocol`

mod game;
mod gtp;
mod hub;
mod info;
mod option;
mod session;
mod trouble;
mod uci;
mod wire;
mod xboard;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use referee_bots::{BuiltinProgram, ENGINE, EngineCommand};
use referee_game::Chain;
use session::Session;
use trouble::Trouble;

/// The bridge as a program that is part of another, for [`referee_bots::exec_with`].
pub const BUILTIN: BuiltinProgram = (ENGINE, builtin);

/// The exit code if the engine is not as it is expected to be.
const FAILED: u8 = 1;
/// The exit code if its options are wrong.
const USAGE: u8 = 2;

fn builtin(argv: &[OsString], environment: &[OsString]) -> ExitCode {
    let argv: Option<Vec<String>> = argv.iter().map(|word| word.to_str().map(str::to_owned)).collect();
    match argv.map(|argv| EngineCommand::of(&argv)) {
        Some(Ok(Some(engine))) => run(&engine, Some(environment)),
        Some(Err(error)) => report(&error, USAGE),
        _ => report(&"the command line names no engine", USAGE),
    }
    .into()
}

/// Plays with an engine, until the referee ends the connection. The engine has this environment,
/// `NAME=VALUE`, or that of this process. Errors are written to standard error, which the engine shares.
/// Returns an exit code: 2 if the options are wrong, and that of the engine if it has failed.
pub fn run(engine: &EngineCommand, environment: Option<&[OsString]>) -> u8 {
    match Session::open(engine, environment).and_then(|mut session| session.play()) {
        Ok(()) | Err(Trouble::Over) => 0,
        // Between matches a bot may leave, and another process plays the next one.
        Err(trouble @ Trouble::Stuck) => report(&trouble, 0),
        Err(trouble @ Trouble::Option(_)) => report(&trouble, USAGE),
        Err(trouble) => report(&Chain(&trouble), trouble.code()),
    }
}

/// Writes to standard error, and returns the exit code.
fn report(error: &dyn std::fmt::Display, code: u8) -> u8 {
    // Standard error may be closed.
    let _ = writeln!(std::io::stderr(), "referee engine: {error}");
    code
}

/// Reads a line of an engine in each dialect. The parsed text fits into the `info` of a move.
#[cfg(feature = "fuzzing")]
pub fn read_line(line: &str) {
    let declared = [uci::option(line), xboard::option(line)];
    for (name, value) in xboard::features(line).into_iter().chain(hub::arguments(line)) {
        // An option that is declared can be set, or the error can be shown.
        for option in declared.iter().flatten() {
            if let Err(error) = option::EngineOption::set(std::slice::from_ref(option), name, Some(value)) {
                assert!(!error.to_string().is_empty());
            }
        }
    }
    let infos = [uci::read_info(line, false), uci::read_info(line, true)];
    for info in infos.into_iter().chain(xboard::thinking(line)) {
        assert!(serde_json::to_value(&info).is_ok_and(|info| info.is_object()));
    }
}
