//! `referee luck`: the luck of the draws, taken out of results.

use serde_json::Value;

use crate::common::{Folder, ROOT, SEED, referee, sample};

/// The figure at this key.
fn number(of: &Value, key: &str) -> f64 {
    of[key].as_f64().unwrap_or_else(|| panic!("{key} of {of}"))
}

#[test]
fn luck_in_saxum_adds_up_to_nothing_and_is_the_same_each_time() {
    let folder = Folder::new();
    let (records, bot) = (folder.text("records"), sample("python/random_bot.py"));
    let options = ["-n", "24", "--mirror", "--trust-bots", "--record", &records, "--seed", SEED];
    referee([&["play", "saxum", &bot, &bot][..], &options].concat()).done();
    let luck = referee(["luck", &records, "--playouts", "24", "--json"]).done();
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
    let again = referee(["luck", &records, "--playouts", "24", "--json"]).done();
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
fn the_luck_of_a_match_that_a_die_decides_is_exact() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("die")).expect("a directory");
    let sdk =
        std::fs::read_to_string(format!("{ROOT}/bots/python/referee_game/__init__.py")).expect("the SDK");
    folder.write("die/referee_game.py", sdk);
    folder.write("die/game.py", DIE);
    folder.write(
        "die/game.toml",
        "protocol = 1\nid = \"die\"\ntitle = \"Die\"\nversion = 1\ncommand = \"python3 game.py\"\nseats = 2\nchance = true\n\
         reasons = [\"rolled\"]\nfiles = [\"game.py\", \"referee_game.py\"]\n",
    );
    let (game, records) = (folder.text("die"), folder.text("records"));
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
