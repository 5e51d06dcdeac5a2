//! Secret choices with real processes: a bot learns neither the choice of the other bot nor its time.

use crate::common::{Folder, SEED, referee};

/// Makes the given choice after a delay, and accuses after three moves.
fn chooser(folder: &Folder, choice: &str, seconds: f64) -> String {
    let script = format!(
        "import time
moves = 0
def turn(t):
    global moves
    if t['view']['phase'] == 'choose' and t['view']['round'] == 1:
        time.sleep({seconds})
        return move(t, 'choose {choice}')
    quiet = [m for m in t['legal'] if m.startswith('move') and not m.endswith(t['view']['ring'])]
    moves += 1
    move(t, quiet[0] if quiet and moves < 4 else t['legal'][0])
play(turn=turn)"
    );
    folder.bot("chooser", &script)
}

/// Stores every line that it receives, and chooses red.
const LISTENER: &str = "import pathlib
HEARD = pathlib.Path(__file__).with_suffix('.received').open('w')
def turn(t):
    if t['view']['phase'] == 'choose':
        return move(t, 'choose red')
    quiet = [m for m in t['legal'] if m.startswith('move') and not m.endswith(t['view']['ring'])]
    move(t, quiet[0] if quiet else t['legal'][0])
def received(handler):
    def hear(message):
        HEARD.write(json.dumps(message) + '\\n')
        HEARD.flush()
        handler(message)
    return hear
play(hello=received(hello), start=received(ready), turn=received(turn), event=received(lambda _: None))";

/// The lines before the end of the first round.
fn before_the_round_ended(text: &str, sign: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let end =
        lines.iter().position(|line| line.contains(sign)).unwrap_or_else(|| panic!("no {sign} in {text}"));
    lines[..end].join("\n")
}

/// The lines that the listener received in the first round, and the same for the listener and a spectator in the
/// record.
fn first_round(choice: &str, seconds: f64) -> [String; 3] {
    let folder = Folder::new();
    let records = folder.text("records");
    let bots = [chooser(&folder, choice, seconds), folder.bot("listener", LISTENER)];
    let args = ["play", "xe_queo", &bots[0], &bots[1], "--seed", SEED, "--record", &records, "--strict"];
    let printed = referee(args).done().stdout;
    assert!(printed.contains(&format!("choices {choice} red")), "at the end all is known: {printed}");
    let [by_seat, by_public] = ["1", "public"].map(|viewer| {
        let shown = referee(["show", &format!("{records}/m1.jsonl"), "--view", viewer]).done().stdout;
        before_the_round_ended(&shown, " round, choices ")
    });
    [before_the_round_ended(&folder.read("listener.received"), r#""kind": "round""#), by_seat, by_public]
}

#[test]
fn a_secret_choice_and_its_time_are_not_revealed() {
    let choices = ["red", "orange", "yellow", "green", "blue", "purple", "black"];
    let runs = choices.map(|choice| (choice, 0.0)).into_iter().chain([("red", 0.5), ("blue", 0.5)]);
    let rounds: Vec<[String; 3]> = runs.map(|(choice, seconds)| first_round(choice, seconds)).collect();
    assert!(rounds[0][0].contains(r#""move": null"#) && rounds[0][0].contains(r#""phase": "play""#));
    assert!(rounds[0][1].contains("chooser: (secret)") && rounds[0][1].contains("listener: choose red"));
    assert!(rounds[0][2].contains("chooser: (secret)") && rounds[0][2].contains("listener: (secret)"));
    for round in &rounds {
        assert_eq!(round, &rounds[0]);
    }
}
