//! Cost of a league's journals per decision: matches of bots that can connect again, which are journaled, and
//! of bots that cannot.
//!
//! The whole process tree is pinned to one core, the two alternate, and the result is the median ratio. The time of a
//! decision is that of the median match, divided by its decisions. `cargo bench --bench journal [MATCHES]`

mod common;

use std::io::Write;
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use common::league::{Ended, League};
use common::{Limit, Result, VIEW_AND_LEGAL, answer, each_chunk, lines, pin};

const ROUNDS: usize = 7;
const MATCHES: usize = 300;
/// More time than a round takes on a slow machine.
const LIMIT: Duration = Duration::from_secs(300);

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("as-bot") => bot(&args[2], &args[3], &args[4], args[5] == "journaled"),
        matches => bench(matches.and_then(|matches| matches.parse().ok()).unwrap_or(MATCHES)),
    }
}

/// An instant bot that connects with a token.
fn bot(address: &str, name: &str, token: &str, returns: bool) -> Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let reconnect = if returns { r#","reconnect":"bench""# } else { "" };
    writeln!(
        stream,
        r#"{{"type":"hello","protocol":1,"name":"{name}","token":"{token}"{reconnect},"wants":[{VIEW_AND_LEGAL}]}}"#
    )?;
    let mut answers = Vec::new();
    let mut input = stream.try_clone()?;
    // The server is killed at the end.
    let _ = each_chunk(&mut input, |chunk| {
        answers.clear();
        for line in lines(chunk) {
            answer(line, &mut answers)?;
        }
        Ok(stream.write_all(&answers)?)
    });
    Ok(())
}

fn bench(matches: usize) -> Result<()> {
    pin(0)?;
    let folder = std::env::temp_dir();
    println!(
        "{matches} matches of checkers between instant bots that connect, one core, in {}",
        folder.display()
    );
    println!("{:>14} {:>14} {:>8}", "no journal", "journal", "ratio");
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        let _limit = Limit::new(LIMIT, "a round");
        let [without, with] = [decision("plain", matches)?, decision("journaled", matches)?];
        println!("{without:>11.2} us {with:>11.2} us {:>8.3}", with / without);
        ratios.push(with / without);
    }
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.3}", ratios[ratios.len() / 2]);
    Ok(())
}

/// The time of a decision in a new league, in microseconds.
fn decision(kind: &str, matches: usize) -> Result<f64> {
    let league = League::new("rest = '0s'")?;
    let tokens = [league.add("a")?, league.add("b")?];
    let mut server = league.serve()?;
    let bot = |name: &str, token: &str| {
        let mut bot = Command::new(std::env::current_exe()?);
        Ok::<_, std::io::Error>(Ended(bot.args(["as-bot", &server.address, name, token, kind]).spawn()?))
    };
    let _bots = [bot("a", &tokens[0])?, bot("b", &tokens[1])?];
    let mut each = Vec::new();
    while each.len() < matches {
        let line = server.ended()?;
        if let Some((us, decisions)) = line["duration_us"].as_f64().zip(line["decisions"].as_f64()) {
            each.push(us / decisions);
        }
    }
    each.sort_by(f64::total_cmp);
    Ok(each[each.len() / 2])
}
