//! The golden transcripts of rules that are programs, in protocol/transcripts/games: the referee still sends these requests, the
//! examples still give these answers, and the schemas hold.
//!
//! `UPDATE=1 cargo test --test cli game_transcripts` renews them.

use std::path::Path;

use ::referee::bot::Launch;
use ::referee::game::Turn;
use ::referee::game::chance::{RandomKey, Uniform};
use ::referee::game::erased::{Knowledge, Rules};
use ::referee::game::seat::{Seat, Viewer};
use ::referee::program;
use jsonschema::Validator;
use referee_protocol::schemas::{RULES_ANSWER, RULES_REQUEST};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::common::{Folder, ROOT};
use crate::game_examples::copied;

/// The examples whose matches are recorded: what each shows.
const RECORDED: [(&str, &str, &str); 3] = [
    ("connect_four", "python3 game.py", "A match of Connect Four on a small board. Everything is open."),
    (
        "kuhn_poker",
        "python3 game.py",
        "A match of Kuhn poker: cards are drawn that one seat sees, and a position is imagined.",
    ),
    (
        "goofspiel",
        "python3 game.py",
        "A match of Goofspiel: both seats decide at once, in secret, and prizes are drawn.",
    ),
];

/// Passes lines on between the referee and the program, and writes them down.
const TEE: &str = r#"
import subprocess, sys
program = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
with open("LINES", "a") as lines:
    for request in sys.stdin:
        program.stdin.write(request)
        program.stdin.flush()
        answer = program.stdout.readline()
        lines.write('{"from":"referee","line":%s}\n{"from":"program","line":%s}\n' % (request.strip(), answer.strip()))
        lines.flush()
        print(answer, end="", flush=True)
"#;

/// Plays a match and looks at its end. Returns the lines.
fn recorded(name: &str, command: &str) -> String {
    let folder = Folder::new();
    let game = copied(&folder, name);
    // The program runs in a copy of its directory.
    folder.write(&format!("{name}/tee.py"), TEE.replace("LINES", &folder.text("lines")));
    let manifest = folder.read(&format!("{name}/game.toml"));
    let with_tee = manifest
        .replace(&format!("command = \"{command}\""), &format!("command = \"python3 tee.py {command}\""));
    assert_ne!(manifest, with_tee);
    // The board of Connect Four is a small one.
    let with_tee = with_tee.replace("default = 7", "default = 4").replace("default = 6", "default = 4");
    folder.write(&format!("{name}/game.toml"), with_tee);
    // Without a sandbox the program can write elsewhere.
    let rules = program::load(Path::new(&game), &Launch::Directly).expect("the example");
    play(rules);
    folder.read("lines")
}

fn play(rules: &dyn Rules) {
    let (options, seating) = (rules.default_options(), rules.meta().seatings[0]);
    let mut rng = RandomKey([7; 32]).stream();
    let mut table = rules.open(&options, seating).expect("it opens");
    let (mut drawn, mut has_imagined) = (Vec::new(), false);
    loop {
        match table.ask() {
            Turn::Decide(decision) => {
                let seats: Vec<Seat> = decision.seats().iter().collect();
                if !has_imagined {
                    has_imagined = true;
                    let mut view = Vec::new();
                    table.write_view(&decision, seats[0], &mut view);
                    let view: Box<RawValue> = serde_json::from_slice(&view).expect("JSON");
                    let turns_left = table.turns_left();
                    let known =
                        Knowledge { options: &options, seating, seat: seats[0], view: &view, turns_left };
                    rules.imagine(&known, 1, &mut rng).expect("a position");
                }
                let mut any = |&seat: &Seat| rng.uniform(table.count(&decision, seat) as u64) as usize;
                let indices: Vec<usize> = seats.iter().map(&mut any).collect();
                table.play(decision, &indices).expect("the program answers");
            }
            Turn::Draw(draw) => {
                rng.draw(draw, &mut drawn);
                table.settle(&drawn).expect("the program answers");
            }
            Turn::Over(_) => break,
        }
    }
    for viewer in [Viewer::Seat(Seat(0)), Viewer::Public, Viewer::Omniscient] {
        table.view(viewer).expect("the program answers");
    }
}

fn validator(schema: &str) -> Validator {
    jsonschema::draft202012::new(&schema.parse::<Value>().expect("JSON")).expect("a schema")
}

#[test]
fn the_transcripts_are_what_the_referee_and_the_examples_say() {
    let (request, answer) = (validator(RULES_REQUEST), validator(RULES_ANSWER));
    for (name, command, about) in RECORDED {
        let lines = recorded(name, command);
        let text = format!(
            "{}\n{lines}",
            serde_json::json!({ "about": about, "game": format!("examples/games/{name}") })
        );
        let path = format!("{ROOT}/protocol/transcripts/games/{name}.jsonl");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&path, &text).expect("it can be written");
        }
        let published = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(
            published == text,
            "{path} differs from what happens; renew it with\n    UPDATE=1 cargo test --test cli game_transcripts\n{text}"
        );
        for line in text.lines().skip(1) {
            let said: Value = line.parse().expect("JSON");
            let schema = if said["from"] == "referee" { &request } else { &answer };
            if let Err(error) = schema.validate(&said["line"]) {
                panic!("{name}: {error} at {}\n{line}", error.instance_path());
            }
        }
    }
}
