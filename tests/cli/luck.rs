//! `referee luck`: the luck of the draws, taken out of results.

use serde_json::Value;

use crate::common::{Ended, Folder, ROOT, SEED, referee, sample};

fn number(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap_or_else(|| panic!("{key} of {of}"))
}

#[test]
fn luck_in_saxum_sums_to_zero_reproducibly() {
    let folder = Folder::new();
    let (records, bot) = (folder.text("records"), sample("python/random_bot.py"));
    let options = ["-n", "24", "--mirror", "--trust-bots", "--record", &records, "--seed", SEED];
    referee([&["play", "saxum", &bot, &bot][..], &options].concat()).done();
    let luck = referee(["luck", &records, "--playouts", "8", "--json"]).done();
    let matches = luck.all("match");
    assert_eq!(matches.len(), 24);
    let mut lucks = Vec::new();
    for line in &matches {
        assert!(number(line, "draws") > 10.0, "{line}");
        let sides = line["sides"].as_array().expect("a list");
        let [first, second] = [&sides[0], &sides[1]];
        assert!((number(first, "luck") + number(second, "luck")).abs() < 1e-9, "{line}");
        for side in sides {
            let adjusted = number(side, "score") - number(side, "luck");
            assert!((number(side, "adjusted") - adjusted).abs() < 1e-9, "{line}");
        }
        lucks.push(number(first, "luck"));
    }
    // Its mean is 0, whatever the playouts are worth.
    let count = lucks.len() as f64;
    let mean = lucks.iter().sum::<f64>() / count;
    let variance = lucks.iter().map(|luck| (luck - mean).powi(2)).sum::<f64>() / (count - 1.0);
    assert!(variance > 0.01, "{lucks:?}");
    assert!(mean.abs() < 4.0 * (variance / count).sqrt(), "{mean}: {lucks:?}");
    let pair = luck.one("pair");
    assert_eq!((number(&pair, "matches"), number(&pair, "units")), (24.0, 12.0), "{pair}");
    for key in ["score", "adjusted", "factor"] {
        assert!(number(&pair[key], "low") <= number(&pair[key], "high"), "{pair}");
    }
    let again = referee(["luck", &records, "--playouts", "8", "--json"]).done();
    assert_eq!(again.stdout, luck.stdout);
    let text = referee(["luck", &records, "--playouts", "2"]).done().stdout;
    assert!(text.contains(" luck = ") && text.contains("adjusted for luck"), "{text}");
}

/// The die decides: seat 0 wins with a 5 or a 6.
const DIE: &str = r#"
from referee_game import Decide, Dice, Game, Over, run

class Die(Game):
    def start(self, options, seats):
        return [0, False]
    def turn(self, state):
        if state[0] == 0:
            return Dice(1, 6)
        return Over([1, 2] if state[0] > 4 else [2, 1], "rolled") if state[1] else Decide(0, ["go"])
    def settle(self, state, drawn):
        return [drawn[0], False]
    def play(self, state, moves):
        return [state[0], True]
    def view(self, state, viewer):
        return {}

run(Die())
"#;

#[test]
fn luck_of_match_that_die_decides_is_exact() {
    let folder = Folder::new();
    let (game, records) = (die(&folder), folder.text("records"));
    let bot = sample("python/random_bot.py");
    let options = ["-n", "9", "--record", &records, "--seed", SEED];
    referee([&["play", &*game, &bot, &bot][..], &options].concat()).done();
    let luck = referee(["luck", &records, "--game", &game, "--playouts", "12", "--json"]).done();
    for line in luck.all("match") {
        // Seat 0 wins one in three: its luck is what it has above that.
        let side = &line["sides"][0];
        assert!((number(side, "luck") - (number(side, "score") - 1.0 / 3.0)).abs() < 1e-9, "{line}");
        assert!((number(side, "adjusted") - 1.0 / 3.0).abs() < 1e-9, "{line}");
    }
}

/// Three dice decide: seat 0 wins with a sum of 11 or more, which is one match in two. After the first one, seat 1 may take
/// one away.
const THREE_DICE: &str = r#"
from referee_game import Decide, Dice, Game, Over, run

class ThreeDice(Game):
    def start(self, options, seats):
        return {"rolled": 0, "sum": 0, "decides": False}
    def turn(self, state):
        if state["decides"]:
            return Decide(0, ["go"]) if state["rolled"] > 1 else Decide(1, ["leave", "take"])
        if state["rolled"] < 3:
            return Dice(1, 6)
        return Over([1, 2] if state["sum"] > 10 else [2, 1], "rolled")
    def settle(self, state, drawn):
        return {"rolled": state["rolled"] + 1, "sum": state["sum"] + drawn[0], "decides": True}
    def play(self, state, moves):
        return {**state, "sum": state["sum"] - (moves.get(1) == "take"), "decides": False}
    def view(self, state, viewer):
        return state

run(ThreeDice())
"#;

/// Says how often seat 0 wins if seat 1 takes at random, in Elo for its own side or in points for side 0.
const EXACT: &str = r#"
import json, math, sys
from itertools import product

def send(**message):
    print(json.dumps(message), flush=True)

def wins(total, left):
    return sum(total + sum(dice) > 10 for dice in product(range(1, 7), repeat=left)) / 6 ** left

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        send(type="hello", protocol=1, name="exact", wants=["view"])
    elif message["type"] == "start":
        seat = message["seat"]
        send(type="ready", match=message["match"])
    elif message["type"] == "turn":
        view, left = message["view"], 3 - message["view"]["rolled"]
        if seat == 1:
            p = (wins(view["sum"], left) + wins(view["sum"] - 1, left)) / 2
            info = {"score": 400 * math.log10((1 - p) / p), "score_scale": 400}
        else:
            info = {"score": wins(view["sum"], left), "score_scale": "points", "score_side": 0}
        send(type="move", match=message["match"], turn=message["turn"], move="", info=info)
"#;

#[test]
fn bot_that_knows_values_takes_nearly_all_luck_out() {
    let folder = Folder::new();
    let game = game(&folder, "three_dice", THREE_DICE);
    let (records, bot) = (folder.text("records"), sample("python/random_bot.py"));
    let exact = format!("python3 {}", folder.write("exact.py", EXACT));
    let names = ["--name", "a", "--name", "b", "--seed", SEED, "--record", &records];
    let played = ["play", &game, &bot, &bot, "-n", "40", "--luck", "40", "--value-bot", &exact, "--json"];
    let ended = referee([&played[..], &names].concat()).done();
    let pair = ended.one("pair");
    // Whether seat 1 takes, at random, is worth an eighth of a point, and everything else is luck: variances of 1/4 and 1/128. The bots
    // have each seat equally often.
    assert!(number(&pair["factor"], "low") > 8.0, "{pair}");
    assert!((number(&pair["adjusted"], "value") - 0.5).abs() < 0.06, "{pair}");
    let luck = ["luck", &records, "--game", &game, "--value-bot", &exact, "--json"];
    assert_eq!(referee(luck).done().one("pair"), pair, "each of six results is asked for, also of 500");
    // Of a draw with more results than this, as many are drawn beside the one that came.
    let two = referee([&luck[..], &["--playouts", "2"]].concat()).done().one("pair");
    assert!(number(&two["factor"], "high") < number(&pair["factor"], "value"), "{two} {pair}");
}

#[test]
fn a_value_bot_that_says_no_score_is_named() {
    let folder = Folder::new();
    let game = game(&folder, "three_dice", THREE_DICE);
    let (records, bot) = (folder.text("records"), sample("python/random_bot.py"));
    referee(["play", &game, &bot, &bot, "--record", &records, "--seed", SEED]).done();
    let luck = ["luck", &records, "--game", &game, "--value-bot"];
    let silent = folder.write("silent.py", EXACT.replace(", info=info", ""));
    let crashing = folder.write("crashing.py", EXACT.replace("import json", "import json, no_such_module"));
    for (bot, what) in [
        (format!("python3 {silent}"), "its move has no `info` with a `score` and its `score_scale`"),
        (format!("python3 {crashing}"), "ModuleNotFoundError: No module named 'no_such_module'"),
        ("/no/such/bot".to_owned(), "cannot be started"),
    ] {
        let ended = referee([&luck[..], &[&bot]].concat()).with_code(5);
        ended.says(&["--value-bot", what]);
    }
    referee(["play", &game, &bot, &bot, "--value-bot", &bot]).with_code(2).says(&["--luck"]);
}

/// Writes the game that the die decides, for which seat 0 wins one match in three.
fn die(folder: &Folder) -> String {
    game(folder, "die", DIE)
}

/// Writes the game of this name with these rules in Python.
fn game(folder: &Folder, id: &str, rules: &str) -> String {
    std::fs::create_dir(folder.path(id)).expect("a directory");
    let sdk =
        std::fs::read_to_string(format!("{ROOT}/bots/python/referee_game/__init__.py")).expect("the SDK");
    folder.write(&format!("{id}/referee_game.py"), sdk);
    folder.write(&format!("{id}/game.py"), rules);
    folder.write(
        &format!("{id}/game.toml"),
        format!(
            "protocol = 1\nid = \"{id}\"\ntitle = \"{id}\"\nversion = 1\ncommand = \"python3 game.py\"\nseats = 2\n\
             chance = true\nreasons = [\"rolled\"]\nfiles = [\"game.py\", \"referee_game.py\"]\n"
        ),
    );
    folder.text(id)
}

#[test]
fn play_regress_and_tournaments_take_luck_out_of_their_results() {
    let folder = Folder::new();
    let (game, bot) = (die(&folder), sample("python/random_bot.py"));
    let adjusted = |ended: &Ended| number(&ended.one("pair")["adjusted"], "value");

    let records = folder.text("play");
    let more = ["--name", "a", "--name", "b", "-n", "8", "--mirror", "--trust-bots", "--record", &records];
    let args = [&["play", &game, &bot, &bot, "--luck", "12", "--seed", SEED, "--json"][..], &more].concat();
    let played = referee(&args).done();
    // Each bot has each seat once, so nothing but luck is left.
    assert!((adjusted(&played) - 0.5).abs() < 1e-9, "{}", played.stdout);
    assert_eq!(played.json().last().expect("a line")["type"], "pair");

    let records = folder.text("regress");
    let more = ["--fixed", "3", "--trust-bots", "--record", &records, "--seed", SEED];
    let args = ["regress", &game, "--new", &bot, "--base", &bot, "--luck", "12"];
    let text = referee(args.iter().chain(&more)).done().stdout;
    assert!(text.contains("base against new in die: 6 matches on 3 deals"), "{text}");
    assert!(text.contains("adjusted for luck   50.0% (50.0% to 50.0%)"), "{text}");

    let file = format!(
        "game = '{game}'\ntrust_bots = true\nmirror = 'rotations'\nformat = {{ kind = 'round_robin', cycles = 2 }}\n\
         [[entrants]]\nname = 'a'\ncommand = \"{bot}\"\n[[entrants]]\nname = 'b'\ncommand = \"{bot}\"\n"
    );
    let (file, dir) = (folder.write("cup.toml", file), folder.text("cup"));
    let ended = referee(["tournament", "run", &file, "--dir", &dir, "--luck", "auto", "--json"]).done();
    assert!((adjusted(&ended) - 0.5).abs() < 1e-9, "{}", ended.stdout);
}

#[test]
fn auto_goes_on_after_fifty_sets_only_if_playouts_pay() {
    let folder = Folder::new();
    let (game, bot) = (die(&folder), sample("python/random_bot.py"));
    let names = ["--name", "a", "--name", "b"];
    let play = |matches: &str, more: &[&str]| {
        let records = folder.text(&format!("records{matches}"));
        let args = [
            "play", &game, &bot, &bot, "-n", matches, "--record", &records, "--luck", "auto", "--seed", SEED,
        ];
        referee([&args[..], &names, more].concat()).done()
    };
    let ended = play("51", &["--json"]);
    let trial = ended.one("trial");
    assert_eq!((number(&trial, "sets"), number(&trial, "playouts")), (50.0, 500.0));
    let went_on = ended.stdout.contains("\"type\":\"pair\"");
    assert_eq!(trial["pays"], went_on, "{}", ended.stdout);
    assert_eq!(trial["pays"], trial["factor"]["low"].as_f64() > Some(1.0), "{trial}");
}

#[test]
fn luck_needs_chance_and_records() {
    let folder = Folder::new();
    let (bot, records) = (folder.plain_bot("plain"), folder.text("records"));
    for (game, more, what) in [
        ("checkers", &["--luck", "auto", "--record", &records][..], "--luck: checkers has no chance"),
        ("saxum", &["--luck", "auto"], "--luck: the luck is computed from the records: add --record DIR"),
        ("saxum", &["--luck", "some"], "`some` is neither auto nor a number from 1 to 1000000"),
    ] {
        referee([&["play", game, &bot, &bot][..], more].concat()).with_code(2).says(&[what]);
    }
    assert!(!folder.path("records").exists());
}

#[test]
fn records_without_chance_are_refused_and_damaged_ones_named() {
    let folder = Folder::new();
    let bot = sample("python/random_bot.py");
    let records = folder.text("records");
    referee(["play", "checkers", &bot, &bot, "--set", "turn_limit=6", "--record", &records]).done();
    let refused = referee(["luck", &records]).with_code(2);
    assert!(refused.stderr.contains("m1.jsonl: checkers has no chance"), "{}", refused.stderr);

    let dice = folder.text("dice");
    referee(["play", "saxum", &bot, &bot, "--record", &dice, "--seed", SEED]).done();
    let record = folder.read("dice/m1.jsonl");
    let forged = folder.write("forged.jsonl", record.replacen("\"drawn\":[", "\"drawn\":[6,", 1));
    let ended = referee(["luck", &forged]).with_code(1);
    assert!(ended.stderr.contains("forged.jsonl: "), "{}", ended.stderr);
}
