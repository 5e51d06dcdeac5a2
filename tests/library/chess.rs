//! The rules of chess, and its PGN, beside those of python-chess and pgn-extract.

use std::io::Write as _;
use std::process::{Command, Stdio};

use referee::game::chance::Seed;
use referee::game::notation::{MatchTags, Sheet, Validity};
use referee::game::test_length::long_or;
use referee::game::{Game, Seating, Turn, Uniform, Viewer, json};
use referee::games::chess::{Chess, Options, Variant};
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// Legal moves are compared in one of so many positions.
const EVERY: usize = long_or(1, 5);

fn fen(position: &Chess) -> String {
    serde_json::to_value(position.view(Viewer::Public)).expect("a view")["fen"]
        .as_str()
        .expect("a FEN")
        .to_owned()
}

/// A game of random moves, every other one of Chess960, and its PGN.
fn played(number: u64) -> (Value, usize) {
    let mut rng = Seed([7; 32]).match_key("chess", &number.to_string(), &[""; 0]).stream();
    let mut options = Options::default();
    if number % 2 == 1 {
        let start = json!({ "variant": "chess960", "fen": rng.uniform(960) });
        options = serde_json::from_value(start).expect("options");
    }
    let mut position = Chess::start(&options, Seating::new(2, 2)).expect("a start");
    let start = fen(&position);
    let (mut plies, mut moves, mut compared) = (Vec::new(), Vec::new(), 0);
    let outcome = loop {
        let seat = match position.turn() {
            Turn::Decide(seats) => seats.iter().next().expect("a seat"),
            Turn::Over(outcome) => break outcome,
            Turn::Draw(draw) => match draw {},
        };
        let mut legal = Vec::new();
        position.legal_moves(seat, &mut legal);
        let mv = legal[rng.uniform(legal.len() as u64) as usize];
        let mut ply = json!({ "fen": fen(&position), "move": mv.to_string() });
        if plies.len() % EVERY == 0 {
            ply["legal"] = legal.iter().map(ToString::to_string).collect();
            compared += 1;
        }
        plies.push(ply);
        moves.push(mv.to_string());
        position.play(seat, mv, &mut |_| {}).expect("a legal move");
    };
    let winner = outcome.winner(Seating::new(2, 2));
    let sheet = Sheet {
        match_id: format!("m{number}"),
        names: vec!["one".to_owned(), "two".to_owned()],
        options: to_raw_value(&options).expect("options"),
        moves,
        seats: Vec::new(),
        draws: Vec::new(),
        notes: Vec::new(),
        clocks: Vec::new(),
        ranks: Some(outcome.ranks_and_scores(Seating::new(2, 2)).0),
        ended: format!("rules ({})", outcome.reason),
        tags: MatchTags::default(),
    };
    let mut pgn = String::new();
    Chess::NOTATION.expect("PGN").write(&sheet, &mut pgn).expect("a game");
    let variant = if options.variant == Variant::Chess960 { "chess960" } else { "standard" };
    let game = json!({
        "variant": variant, "fen": start, "plies": plies, "last": fen(&position), "reason": outcome.reason,
        "winner": winner, "pgn": pgn,
    });
    (game, compared)
}

#[test]
fn random_games_agree_with_python_chess() {
    let python = format!("{ROOT}/target/python/bin/python");
    assert!(std::fs::exists(&python).unwrap_or(false), "tests/run installs {python}");
    let mut child = Command::new(python)
        .arg(format!("{ROOT}/tests/library/python_chess.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("Python starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut all = 0;
    for number in 0..long_or(10_000, 80) {
        let (game, compared) = played(number);
        all += compared;
        // A difference ends the program, which has printed it.
        if writeln!(stdin, "{}", json::text(&game)).is_err() {
            break;
        }
    }
    drop(stdin);
    let output = child.wait_with_output().expect("Python ends");
    assert!(output.status.success(), "{}", output.status);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), all.to_string());
    println!("{all} positions agree");
}

#[test]
fn pgn_extract_reads_the_same_games_and_is_read() {
    let program = "/usr/games/pgn-extract";
    assert!(std::fs::exists(program).unwrap_or(false), "tests/run installs {program}");
    let games: Vec<Value> = (0..long_or(1000, 20)).map(|number| played(number).0).collect();
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    for game in &games {
        file.write_all(game["pgn"].as_str().expect("a game").as_bytes()).expect("space");
    }
    let extract = |arguments: &[&str]| {
        let output = Command::new(program).args(arguments).arg(file.path()).output().expect("it starts");
        assert!(output.status.success(), "{output:?}");
        output.stdout
    };
    let as_uci = extract(&["-s", "-C", "-Wuci", "-w", "1000000"]);
    let as_uci = String::from_utf8(as_uci).expect("text");
    let lines = as_uci.lines().filter(|line| !line.is_empty() && !line.starts_with('['));
    let read: Vec<String> = lines.map(str::to_ascii_lowercase).collect();
    assert_eq!(read.len(), games.len());
    for (game, read) in games.iter().zip(read) {
        let plies = game["plies"].as_array().expect("plies").iter();
        let moves: Vec<&str> = plies.map(|ply| ply["move"].as_str().expect("a move")).collect();
        assert!(read.rsplit_once(' ').is_some_and(|(read, _)| read == moves.join(" ")), "{game} {read}");
    }
    let as_san = extract(&["-s"]);
    let checked: Vec<_> = Chess::NOTATION.expect("PGN").check(&as_san).expect("a reader").collect();
    assert_eq!(checked.len(), games.len());
    for (game, checked) in games.iter().zip(checked) {
        assert_eq!(checked.verdict, Validity::Sound);
        assert_eq!(Some(checked.plies), game["plies"].as_array().map(Vec::len));
    }
}
