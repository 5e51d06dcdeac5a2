//! `referee human`: a person plays at the terminal. Input comes through a pipe, and in one test through a terminal.

use crate::common::{Ended, Folder, Referee, on_a_terminal, referee, the};

/// Plays with these input lines, followed by the end of input.
fn typed(args: &[&str], lines: &[&str]) -> Ended {
    let mut referee = Referee::start([&["human"], args].concat());
    referee.write(lines.join("\n") + "\n");
    referee.end()
}

#[test]
fn a_person_plays_by_number_text_and_prefix() {
    let folder = Folder::new();
    let (bot, records) = (folder.plain_bot("bot"), folder.text("records"));
    let ended = typed(&["checkers", &bot, "--record", &records], &["#1", "", "11-15", "", "9", "resign", ""]);
    let text = ended.done().stdout;
    assert!(text.starts_with("checkers: human - test bot; you have seat 0\n"), "{text}");
    assert!(text.contains("   #1 10-14    #2 10-15    #3 11-15 "), "{text}");
    assert!(text.contains("play 10-14? Enter: yes; else say another: "), "{text}");
    assert!(text.contains("  1. human: 10-14\n  2. test bot: "), "{text}");
    assert!(text.contains("m1: ") && text.contains("bot wins (resignation)"), "{text}");
    referee(["verify", &records]).done();
    let record = folder.record("records/m1.jsonl");
    assert_eq!(the("result", &record)["ended_by"], "resignation");
    assert_eq!(record[0]["clock"], serde_json::Value::Null, "a person has all the time there is");
}

#[test]
fn numbers_of_moves_are_unambiguous_in_every_game() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    for game in referee(["games", "--json"]).json() {
        let id = game["id"].as_str().expect("an id");
        let text = typed(&[id, &bot], &["?", "#1", "y", "quit", "y"]).done().stdout;
        assert!(text.contains("   #1 ") && text.contains("  #1, #2, ... or a move "), "{id}: {text}");
        assert!(
            text.contains("bot wins (resignation)") && !text.contains("before the first move"),
            "{id}: {text}"
        );
    }
    let text = typed(&["checkers", &bot], &["9", "1"]).done().stdout;
    assert!(text.contains("`9` may be 9-13 or 9-14."), "{text}");
    let long = referee(["human", "--help"]).done().stdout;
    assert!(long.split_whitespace().collect::<Vec<_>>().join(" ").contains("such as #5"), "{long}");
}

#[test]
fn a_move_can_be_corrected_before_it_is_sent() {
    let folder = Folder::new();
    let (bot, records) = (folder.plain_bot("bot"), folder.text("records"));
    let lines = ["#99", "nonsense", "#1", "9-14", "", "resign", ""];
    let text = typed(&["checkers", &bot, "--record", &records], &lines).done().stdout;
    assert!(text.contains("The moves have the numbers #1 to #7."), "{text}");
    assert!(text.contains("`nonsense` is no legal move"), "{text}");
    assert!(text.contains("play 10-14? Enter: yes; else say another: play 9-14? "), "{text}");
    let record = folder.record("records/m1.jsonl");
    let first = record.iter().find(|line| line["type"] == "answer").expect("an answer");
    assert_eq!(first["move"], "9-14");
    assert!(record.iter().all(|line| line["type"] != "fault"));
}

#[test]
fn draws_are_offered_and_accepted() {
    let folder = Folder::new();
    let accepts = folder
        .bot("accepts", "play(turn=lambda t: say(type='accept_draw', match=t['match'], turn=t['turn']))");
    let text = typed(&["checkers", &accepts], &["accept", "draw 11-15", ""]).done().stdout;
    assert!(text.contains("No draw is offered."), "{text}");
    assert!(text.contains("play 11-15 and offer a draw? "), "{text}");
    assert!(text.contains("draw (agreement)"), "{text}");

    let offers = "play(turn=lambda t: say(type='move', match=t['match'], turn=t['turn'], move=t['legal'][0], offer_draw=True))";
    let offers = folder.bot("offers", offers);
    let text = typed(&["checkers", &offers, "--seat", "1"], &["accept", ""]).done().stdout;
    assert!(text.contains("checkers: test bot - human; you have seat 1\n"), "{text}");
    assert!(
        text.contains("     test bot offers a draw\n") && text.contains("You are offered a draw"),
        "{text}"
    );
    assert!(text.contains("draw (agreement)"), "{text}");
}

#[test]
fn every_game_can_be_played_to_its_end() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    for game in referee(["games", "--json"]).json() {
        let id = game["id"].as_str().expect("an id");
        // A game without a turn limit ends soon enough.
        let has_limit =
            game["options"].as_array().expect("a list").iter().any(|one| one["name"] == "turn_limit");
        let limit = if has_limit { vec!["--set", "turn_limit=300"] } else { vec![] };
        let lines = ["#1", ""].repeat(600);
        let text = typed(&[&[id, &bot], &limit[..]].concat(), &lines).done().stdout;
        assert!(text.contains("\nm1: ") && !text.contains("resignation"), "{id}: {text}");
    }
}

#[test]
fn the_end_of_input_resigns_and_leaves_no_process() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let temporary = folder.path("tmp");
    std::fs::create_dir(&temporary).expect("a folder");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_referee"));
    command.args(["human", "checkers", &bot]).env("TMPDIR", &temporary);
    let text = Referee::start_as(&mut command).end().done().stdout;
    assert!(text.contains("bot wins (resignation)"), "{text}");
    assert_eq!(crate::common::files(&temporary), [] as [&str; 0]);
}

#[test]
fn ctrl_c_leaves_the_match_on_a_terminal() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    let keys = ["--after", "your move", "--type", "\\x03"];
    let ended = on_a_terminal(&keys, &["human", "checkers", &bot]).wait();
    let text = ended.with_code(130).stdout;
    assert!(text.contains("you have seat 0") && text.contains("m1: aborted"), "{text}");
}

#[test]
fn a_failing_bot_ends_the_match_while_a_person_thinks() {
    let folder = Folder::new();
    let bot = folder.bot("bot", "play(start=lambda s: (ready(s), sys.exit(3)))");
    let referee = Referee::start(["human", "checkers", &bot]);
    let ended = referee.wait();
    assert!(ended.stdout.contains("human wins (test bot: program ended, status 3)"), "{ended:?}");
}

#[test]
fn invalid_seats_are_rejected() {
    let folder = Folder::new();
    let bot = folder.plain_bot("bot");
    referee(["human", "checkers", &bot, "--seat", "2"])
        .with_code(2)
        .says(&["--seat 2: the seats are 0 to 1"]);
    referee(["human", "checkers", &bot, &bot]).with_code(2).says(&["checkers is played with 2 seats, not 3"]);
}
