//! The openings of tournaments, and Elo from sets that share them.

use crate::common::{Folder, referee};
use crate::tournament::cup;
use serde_json::{Value, json};

#[test]
fn a_tournament_cuts_the_games_of_a_collection() {
    let folder = Folder::new();
    let games = "[Event \"a\"]\n1. 11-15 23-19 2. 8-11 22-17 *\n\n[Event \"b\"]\n1. 9-13 22-18 2. 5-9 25-22 *\n\n\
                 [Event \"c\"]\n1. 11-15 *\n\n[Event \"d\"]\n1. 9-13 23-22 *\n";
    folder.write("games.pdn", games);
    let head = "openings = 'games.pdn'\nopening_plies = 2\nopening_start = 2\noptions = { turn_limit = 10 }";
    let config = cup(&folder, "cup.toml", head, "kind = 'gauntlet'\ncycles = 1");
    let dir = folder.text("cup");
    referee(["tournament", "run", &config, "--dir", &dir]).with_code(0).says(&[
        "openings: 2 openings are left out, 2 remain:\n",
        "games.pdn: game 3, line 7: it has 1 ply, not 2\n",
        "games.pdn: game 4, ply 2, line 11: `23-22` is not legal for White",
    ]);
    let opening = |match_: &str| folder.record(&format!("cup/records/{match_}.jsonl"))[0]["opening"].clone();
    assert_eq!(opening("m1"), json!(["9-13", "22-18"]));
    assert_eq!(opening("m3"), json!(["11-15", "23-19"]));
    let report = referee(["tournament", "report", &dir]).done().stdout;
    assert!(report.contains("2 plies of each game of games.pdn"), "{report}");
}

#[test]
fn changed_openings_prevent_resuming() {
    let folder = Folder::new();
    let book = "B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12\n";
    folder.write("book.fen", book);
    let head = "openings = 'book.fen'\noptions = { turn_limit = 10 }";
    let config = cup(&folder, "cup.toml", head, "kind = 'round_robin'");
    let dir = folder.text("cup");
    referee(["tournament", "run", &config, "--dir", &dir]).done();
    folder.write("book.fen", "B:W18:B14\n");
    referee(["tournament", "resume", &dir]).with_code(2).says(&[
        "the opening file ",
        "book.fen has changed",
        "restore it",
    ]);
    folder.write("book.fen", book);
    referee(["tournament", "resume", &dir]).done();
}

#[test]
fn copies_of_sets_between_deterministic_bots_count_once_for_elo() {
    let folder = Folder::new();
    let start = "W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12\n";
    folder.write("book.fen", format!("B:{start}W:{start}"));
    let head = "openings = 'book.fen'\njobs = 2\noptions = { turn_limit = 30 }";
    let standings = |cycles: u32| {
        let format = format!("kind = 'round_robin'\ncycles = {cycles}");
        let config = cup(&folder, &format!("cup{cycles}.toml"), head, &format);
        let dir = folder.text(&format!("cup{cycles}"));
        let ended = referee(["tournament", "run", &config, "--dir", &dir, "--json"]).done();
        referee(["tournament", "verify", &dir]).done();
        (dir, ended.one("standings"))
    };
    // Six pairings, each of which meets on the same opening in every cycle.
    let ((_, once), (dir, repeated)) = (standings(1), standings(4));
    let figures =
        |of: &Value| ["sets", "copies", "distinct_sets", "openings"].map(|key| of[key].as_u64().unwrap());
    assert_eq!(figures(&once), [6, 0, 6, 2]);
    assert_eq!(figures(&repeated), [24, 18, 6, 2]);
    let elo = |of: &Value| {
        of["entrants"].as_array().unwrap().iter().map(|row| row["elo"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(elo(&once), elo(&repeated), "copies say nothing new");
    for what in ["standings", "report"] {
        let text = referee(["tournament", what, &dir]).done().stdout;
        assert!(text.contains("Elo is from 6 distinct sets on 2 openings or deals"), "{text}");
        assert!(text.contains("; 18 copies of sets do not count\n"), "{text}");
    }
    let changed = rusqlite::Connection::open(folder.path("cup4/results.sqlite")).unwrap();
    changed.execute("UPDATE matches SET moves = moves + 1 WHERE number = 13", ()).unwrap();
    let differing = referee(["tournament", "verify", &dir]).with_code(1);
    assert!(
        differing.stdout.contains("m13: `opening` or `moves` in the results are not those of its record\n")
    );
}

#[test]
fn elo_from_one_opening_says_nothing_of_others() {
    let folder = Folder::new();
    let config = cup(&folder, "cup.toml", "options = { turn_limit = 30 }", "kind = 'round_robin'");
    let dir = folder.text("cup");
    let ended = referee(["tournament", "run", &config, "--dir", &dir, "--json"]).done();
    let standings = ended.one("standings");
    assert_eq!((&standings["openings"], &standings["population"]), (&1.into(), &"these_openings".into()));
    let text = referee(["tournament", "standings", &dir]).done().stdout;
    assert!(text.contains(" on 1 opening or deal, and says nothing of others\n"), "{text}");
}
