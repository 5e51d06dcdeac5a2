//! Records of chess are exported as PGN; PGN and EPD are verified and played as openings.

use serde_json::json;

use crate::common::{Folder, SEED, referee, sample};

/// A bot that values its moves in `info`.
const THINKS: &str = "play(turn=lambda t: move(t, t['legal'][0], info={'score': 34, 'depth': 18}))";

#[test]
fn exported_records_verify_as_a_collection() {
    let folder = Folder::new();
    let (thinker, random) = (folder.bot("thinker", THINKS), sample("python/random_bot.py") + " --seed 1");
    let (records, pgn) = (folder.text("records"), folder.text("games.pgn"));
    let args = ["play", "chess", &thinker, &random, "-n", "2", "--mirror", "--opening-plies", "2"];
    let more =
        ["--set", "variant=chess960", "--set", "fen=0", "--set", "turn_limit=12", "--clock", "tc=60+0.5"];
    referee(args.iter().chain(&more).chain(&["--seed", SEED, "--record", &records])).done();
    referee(["verify", &records]).done();
    referee(["export", &records, "--format", "pgn", "-o", &pgn]).done();
    let text = folder.read("games.pgn");
    for part in [
        "[Round \"m2\"]",
        "[White \"test bot\"]",
        "[Variant \"Chess960\"]",
        "[TimeControl \"60+0.5\"]",
        "[FEN \"bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1\"]",
        "{+0.34/18 0.0",
        "{turn_limit (turn_limit)} 1/2-1/2",
    ] {
        assert!(text.replace('\n', " ").contains(part), "{part} is missing in:\n{text}");
    }
    let collection = referee(["verify", &pgn, "--strict", "--json"]).done().one("collection");
    assert_eq!([&collection["games"], &collection["plies"]], [&json!(2), &json!(24)]);
    referee(["export", &records, "--format", "pdn"]).with_code(2).says(&["chess has no PDN notation"]);
    referee(["export", &records]).with_code(2).says(&["--format"]);

    let wrong = folder.write("wrong.pgn", "1. e4 e5\n2. Ke3 *\n");
    let ended = referee(["verify", &wrong]).with_code(1);
    assert!(ended.stdout.contains("game 1, ply 3, line 2: `Ke3` is no legal move of White"), "{ended:#?}");
}

#[test]
fn openings_of_pgn_and_epd_files_are_played() {
    let folder = Folder::new();
    let bot = folder.plain_bot("plain");
    let begin = |name: &str, book: &str, set: &str| {
        let (file, records) = (folder.write(name, book), folder.text(&format!("{name}.records")));
        let args = ["play", "chess", &bot, &bot, "--set", "turn_limit=20", "--set", set, "--openings", &file];
        referee(args.into_iter().chain(["--record", &records])).done();
        referee(["verify", &records]).done();
        folder.record(&format!("{name}.records/m1.jsonl")).remove(0)
    };
    let start = begin("book.pgn", "[Event \"a\"]\n1. e4 e5 2. Nf3 1-0\n", "repetitions=3");
    assert_eq!(start["opening"], json!(["e2e4", "e7e5", "g1f3"]));
    assert_eq!(start["options"]["variant"], "standard");
    let fischer = "[Variant \"Chess960\"]\n[FEN \"4k3/pppp4/8/8/8/8/8/1R2K1R1 w GB - 0 1\"]\n1. O-O *\n";
    let start = begin("fischer.pgn", fischer, "repetitions=3");
    assert_eq!((&start["opening"], &start["options"]["variant"]), (&json!(["e1g1"]), &json!("chess960")));
    let start = begin("book.epd", "4k3/pppp4/8/8/8/8/8/1R2K1R1 w GB - bm Rb7;\n", "variant=chess960");
    assert_eq!(start["options"]["fen"], "4k3/pppp4/8/8/8/8/8/1R2K1R1 w KQ - 0 1");

    let refused = |name: &str, set: &str, what: &str| {
        let args = ["play", "chess", &bot, &bot, "--set", set, "--openings", &folder.text(name)];
        referee(args).with_code(2).says(&[what]);
    };
    refused("book.pgn", "variant=chess960", "its openings set `variant` themselves: omit --set variant");
    refused("book.epd", "turn_limit=9", "exist in Chess960 only: set variant to chess960");
}
