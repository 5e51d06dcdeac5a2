//! Cost of a bridge per move, beside the engine: `cargo bench -p referee-bridge`.
//!
//! An engine that answers at once is asked by hand, and through a bridge. Both are this program.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

use referee_bots::EngineCommand;

/// Moves in the history, and moves that are measured.
const HISTORY: usize = 80;
const MOVES: u32 = 20_000;
const ROUNDS: usize = 5;
/// Four plies that lead back.
const CIRCLE: [&str; 4] = ["g1f3", "g8f6", "f3g1", "f6g8"];
const ANSWER: &str = "info depth 20 seldepth 30 multipv 1 score cp 31 nodes 123456 nps 1000000 hashfull 5 time 123 pv \
    e2e4 e7e5 g1f3 b8c6 f1b5 a7a6\nbestmove e2e4 ponder e7e5\n";

fn engine() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let answer = match line?.split(' ').next() {
            Some("uci") => "id name instant\nuciok\n",
            Some("isready") => "readyok\n",
            Some("go") => ANSWER,
            Some("quit") => break,
            _ => continue,
        };
        out.write_all(answer.as_bytes())?;
        out.flush()?;
    }
    Ok(())
}

struct Program {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Program {
    fn start(what: &str) -> std::io::Result<Program> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut child = command.arg(what).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let lines = BufReader::new(child.stdout.take().expect("piped"));
        Ok(Program { child, lines })
    }

    /// Writes, and reads until a line begins with this.
    fn ask(&mut self, text: &str, answer: &str) -> std::io::Result<()> {
        self.child.stdin.as_mut().expect("piped").write_all(text.as_bytes())?;
        let mut line = String::new();
        while !line.starts_with(answer) {
            line.clear();
            assert!(self.lines.read_line(&mut line)? > 0, "it ended");
        }
        Ok(())
    }

    /// Microseconds for each of these.
    #[expect(clippy::disallowed_methods, reason = "it measures")]
    fn measure(mut self, answer: &str, text: impl Fn(u32) -> String) -> std::io::Result<f64> {
        let texts: Vec<String> = (0..MOVES).map(text).collect();
        let begin = Instant::now();
        for text in &texts {
            self.ask(text, answer)?;
        }
        let each = begin.elapsed().as_secs_f64() * 1e6 / f64::from(MOVES);
        drop(self.child.stdin.take());
        self.lines.read_to_end(&mut Vec::new())?;
        self.child.wait()?;
        Ok(each)
    }
}

fn main() -> std::io::Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("engine") => return engine(),
        Some("bridge") => {
            let this = std::env::current_exe()?.to_string_lossy().into_owned();
            let argv = [format!("uci:{this}"), "engine".to_owned()];
            let engine = EngineCommand::of(&argv).expect("valid").expect("an engine");
            std::process::exit(referee_bridge::run(&engine, None).into());
        }
        _ => {}
    }
    let history: Vec<&str> = CIRCLE.iter().copied().cycle().take(HISTORY).collect();
    for _ in 0..ROUNDS {
        let mut engine = Program::start("engine")?;
        engine.ask("uci\n", "uciok")?;
        let asked = format!("position startpos moves {}\ngo wtime 60000 btime 60000\n", history.join(" "));
        let alone = engine.measure("bestmove", |_| asked.clone())?;

        let mut bridge = Program::start("bridge")?;
        bridge.ask(
            "{\"type\":\"hello\",\"protocol\":1,\"server\":\"bench\",\"auth\":\"none\"}\n",
            "{\"type\":\"hello\"",
        )?;
        let start = format!(
            "{{\"type\":\"start\",\"match\":\"m1\",\"game\":\"chess\",\"rules\":1,\"options\":{{}},\"seat\":0,\"seats\":[{{\"name\":\"a\",\
             \"team\":0}},{{\"name\":\"b\",\"team\":1}}],\"clock\":{{\"delay_ms\":0,\"bank_ms\":60000,\"increment_ms\":0}},\"deal\":null,\
             \"commitment\":\"{}\",\"nonce\":false}}\n",
            "0".repeat(64)
        );
        bridge.ask(&start, "{\"type\":\"ready\"")?;
        let event = |n: usize, kind: &str, mv: &str| {
            format!(
                "{{\"type\":\"event\",\"match\":\"m1\",\"seat\":0,\"n\":{n},\"event\":{{\"kind\":\"{kind}\",\"seat\":{},\"move\":\"{mv}\"}}}}\n",
                n % 2
            )
        };
        let moves: String = history.iter().enumerate().map(|(n, mv)| event(n, "move", mv)).collect();
        bridge.ask(&(moves + "{\"type\":\"ping\",\"id\":1}\n"), "{\"type\":\"pong\"")?;
        // The history does not grow: the events with the turn, which a bot gets for each, are of another kind.
        let through = bridge.measure("{\"type\":\"move\"", |n| {
            let events = event(HISTORY, "other", "e2e4") + &event(HISTORY, "other", "e7e5");
            let turn = format!(
                "{{\"type\":\"turn\",\"match\":\"m1\",\"seat\":0,\"turn\":{n},\"clock\":{{\"bank_ms\":60000,\"limit_ms\":60000}},\
                 \"banks_ms\":[60000,59000]}}\n"
            );
            events + &turn
        })?;
        println!(
            "engine alone {alone:.1} us, through a bridge {through:.1} us: {:.1} us more",
            through - alone
        );
    }
    Ok(())
}
