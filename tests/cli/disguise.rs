//! `--disguise`, and the recall gap in the report of a tournament.

use crate::common::{Folder, ROOT, in_rust, referee};

#[test]
fn a_disguised_match_tells_bots_nothing_and_its_record_everything() {
    let folder = Folder::new();
    let records = folder.text("records");
    // It keeps all that it is told.
    let bot = folder.bot(
        "curious",
        "import pathlib
HEARD = pathlib.Path(__file__).with_suffix('.heard').open('a')
class Kept:
    def readline(self):
        line = sys.__stdin__.readline()
        HEARD.write(line)
        HEARD.flush()
        return line
sys.stdin = Kept()
play()
",
    );
    let random = format!("'{}'", in_rust("referee-random").display());
    for game in ["chess", "keezen", &format!("{ROOT}/examples/games/connect_four")] {
        let _ = std::fs::remove_dir_all(&records);
        let _ = std::fs::remove_file(folder.path("curious.heard"));
        let mut args = vec!["play", game, &bot, &random, "--disguise", "blue moon", "--record", &records];
        let is_directory = game.contains('/');
        if is_directory {
            args.extend(["-n", "2"]);
        }
        let played = referee(&args);
        if is_directory {
            played.with_code(2).says(&["connect_four does not say which words it has", "game.toml"]);
            continue;
        }
        played.done();
        let heard = folder.read("curious.heard").to_lowercase();
        assert!(heard.contains("\"game\":\"disguised\""), "{heard}");
        for word in [game, "pawn", "card", "blue moon", "\"fen\"", "checkmate"] {
            assert!(!heard.contains(word), "{word} is in {heard}");
        }
        let record = folder.record("records/m1.jsonl");
        assert_eq!(record[0]["program"]["disguise"], "blue moon");
        assert_eq!(record[0]["program"]["game"], game);
        referee(["verify", &records]).done();
        // People see the board as it is.
        referee(["show", &records]).done();
        let text = folder.read("records/m1.jsonl").replacen("blue moon", "red moon", 1);
        let forged = folder.write("forged.jsonl", text);
        referee(["verify", &forged]).with_code(1);
    }
    assert!(referee(["rules", "disguised"]).done().stdout.starts_with("# A disguised game"));
    referee(["play", "checkers", &bot, &random, "--disguise", "x", "--set", "draw_plies=9"])
        .with_code(2)
        .says(&["a disguised game has no options, which would tell bots what game it is"]);
    let book = folder.write("book.pdn", "1. 11-15 23-19 *\n");
    referee(["play", "checkers", &bot, &random, "--disguise", "x", "--openings", &book])
        .with_code(2)
        .says(&["a disguised game has none, which would be in the words of the game itself"]);
}

#[test]
fn disguised_tournament_draws_openings_and_refuses_options_files_and_workers() {
    let folder = Folder::new();
    let cup = |lines: &str| {
        let bots: String = ["one", "two"]
            .map(|name| format!("[[entrants]]\nname = '{name}'\ncommand = \"{}\"\n", folder.plain_bot(name)))
            .concat();
        let text =
            format!("game = 'checkers'\ndisguise = 'x'\n{lines}\n[format]\nkind = 'round_robin'\n{bots}");
        folder.write("cup.toml", text)
    };
    let dir = folder.text("cup");
    let run = ["tournament", "run", &cup("opening_plies = 4"), "--dir", &dir];
    referee([&run[..], &["--workers-listen", "127.0.0.1:0"]].concat())
        .with_code(2)
        .says(&["workers play no disguised games: what a worker is sent names the game by its id"]);
    referee(["tournament", "resume", &dir]).done();
    referee(["tournament", "verify", &dir]).done();
    folder.write("book.pdn", "1. 11-15 23-19 *\n");
    for (lines, says) in [
        ("options = { turn_limit = 8 }", "a disguised game has no options"),
        (
            "openings = 'book.pdn'",
            "a disguised game has none, which would be in the words of the game itself",
        ),
    ] {
        referee(["tournament", "check", &cup(lines)]).with_code(2).says(&[says]);
    }
}

#[test]
fn recall_is_the_difference_between_a_game_and_its_disguise() {
    let folder = Folder::new();
    let random = in_rust("referee-random");
    let cup = |name: &str, disguise: &str| {
        // It knows checkers by its name and notation, and plays at random in any other game.
        let script = format!("{ROOT}/bots/python/greedy_bot.py");
        let file = format!(
            "game = 'checkers'\n{disguise}\nopening_plies = 4\n[format]\nkind = 'round_robin'\ncycles = 6\n[[entrants]]\nname = 'random'\n\
             command = \"'{}'\"\n[[entrants]]\nname = 'other'\ncommand = \"'{}' --seed 9\"\n[[entrants]]\nname = 'greedy'\ncommand = \
             \"python3 '{script}'\"\n",
            random.display(),
            random.display()
        );
        let (file, dir) = (folder.write(&format!("{name}.toml"), file), folder.text(name));
        referee(["tournament", "run", &file, "--dir", &dir]).with_code(0);
        referee(["tournament", "verify", &dir]).done();
        referee(["tournament", "resume", &dir]).done();
        dir
    };
    let (plain, disguised) = (cup("plain", ""), cup("hidden", "disguise = 'blue moon'"));
    let reported = |format: &str| {
        referee(["tournament", "report", &plain, "--recall", &disguised, "--format", format]).done()
    };
    let report = reported("json").one("report")["recall"].clone();
    let rows = report["entrants"].as_array().expect("rows");
    assert_eq!(rows.len(), 3);
    assert!(
        rows[0]["name"] == "greedy" && rows[0]["gap"]["value"].as_f64().is_some_and(|gap| gap > 100.0),
        "{report}"
    );
    for row in rows {
        let of = |part: &str, figure: &str| row[part][figure].as_f64().expect("a number");
        assert!((of("gap", "value") - of("plain", "value") + of("disguised", "value")).abs() < 1e-9, "{row}");
        assert!(of("gap", "low") < of("gap", "value") && of("gap", "value") < of("gap", "high"), "{row}");
        assert!(of("gap", "high") - of("gap", "low") > of("plain", "high") - of("plain", "low"), "{row}");
    }
    for format in ["table", "markdown", "html"] {
        let text = reported(format).stdout;
        assert!(
            text.contains("Elo disguised") && text.contains("95% intervals, as the tournaments"),
            "{text}"
        );
    }
    let site = folder.text("site");
    referee(["tournament", "report", &plain, "--recall", &disguised, "--site", &site]).done();
    assert!(folder.read("site/figures.html").contains("Recall gap"));
    let refused = |one: &str, other: &str, says: &str| {
        referee(["tournament", "report", one, "--recall", other]).with_code(2).says(&[says]);
    };
    refused(&plain, &plain, "is not disguised");
    refused(&disguised, &plain, "this tournament comes second");
}
