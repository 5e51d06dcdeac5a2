//! Replays: the pictures and the page of `referee show`, in a real browser, and stepping in a terminal.

use crate::common::{Folder, Referee, SEED, WON, browser, in_rust, on_a_terminal, referee};
use quick_xml::events::Event;
use serde_json::json;

/// Plays a match and returns its record.
fn played(folder: &Folder, game: &str, bots: usize, more: &[&str]) -> String {
    let records = folder.text(&format!("{game}-{bots}"));
    let bot = in_rust("referee-random");
    let bots: Vec<String> = (1..=bots).map(|seed| format!("'{}' --seed {seed}", bot.display())).collect();
    let bots = bots.iter().map(String::as_str);
    let args = ["play", game].into_iter().chain(bots).chain(["--seed", SEED, "--record", &records]);
    referee(args.chain(more.iter().copied())).done();
    format!("{records}/m1.jsonl")
}

/// Writes the page of these records to the file.
fn paged(folder: &Folder, file: &str, records: &[&str]) -> String {
    let page = folder.text(file);
    let printed = referee([&["show"], records, &["--html", "-o", &page]].concat()).done().stdout;
    assert_eq!(printed, "");
    page
}

/// Runs checks of tests/browser/replay.mjs on pages.
fn browse(pages: &[(String, &str)]) {
    let args: Vec<&str> = pages.iter().flat_map(|(page, checks)| [page.as_str(), checks]).collect();
    browser::run("replay.mjs", &args);
}

/// The titles and descriptions of a picture, and the number of its shapes. Fails if it is not well-formed.
fn described(svg: &str) -> (String, usize) {
    let mut reader = quick_xml::Reader::from_str(svg);
    let (mut texts, mut shapes) = (String::new(), 0);
    loop {
        match reader.read_event().expect("well-formed") {
            Event::Eof => return (texts, shapes),
            Event::Text(text) => texts += &text.decode().expect("UTF-8"),
            Event::Start(start) if start.name().as_ref() == b"g" => shapes += 1,
            _ => {}
        }
    }
}

#[test]
fn every_game_has_pictures_of_its_positions() {
    for (game, seats) in [
        ("checkers", 2),
        ("chess", 2),
        ("jeex", 2),
        ("saxum", 2),
        ("xe_queo", 2),
        ("keezen", 2),
        ("keezen", 4),
        ("keezen", 6),
    ] {
        let folder = Folder::new();
        let record = played(&folder, game, seats, &[]);
        let picture = |turn: &str| referee(["show", &record, "--svg", "--turn", turn]).done().stdout;
        let (first, third) = (described(&picture("0")), described(&picture("3")));
        assert!(first.1 > 10, "{game}: {} shapes", first.1);
        assert_ne!(first.0, third.0, "{game}: the description tells the position");
        let last = referee(["show", &record, "--svg"]).done().stdout;
        assert!(described(&last).0.contains("over: "), "{game}: {last}");
        assert_eq!(last, picture("99999"), "{game}: a turn after the last one is the last one");
        for outside in ["http:", "https:", "href", "url(", "<script"] {
            let own = last.replace("http://www.w3.org/2000/svg", "");
            assert!(!own.contains(outside), "{game}: {outside}");
        }
    }
}

#[test]
fn picture_shows_position_after_move_of_its_number() {
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let records = folder.text("records");
    referee(["play", "checkers", &plain, &plain, "--set", WON, "--record", &records]).done();
    let record = format!("{records}/m1.jsonl");
    let picture =
        |turn: &str| described(&referee(["show", &record, "--svg", "--turn", turn]).done().stdout).0;
    assert!(picture("0").contains("Black to move. Black: men on 14. White: men on 18"), "{}", picture("0"));
    assert!(
        picture("1").contains("over: no pieces left. Black: men on 23. White: no men"),
        "{}",
        picture("1")
    );
    let other = folder.write("m2.jsonl", folder.read("records/m1.jsonl"));
    referee(["show", &record, &other, "--svg"]).with_code(2).says(&["--svg draws one record, not 2"]);
    referee(["show", &record, "-o", "x"]).with_code(2).says(&["--output needs --html or --svg"]);
    referee(["show", &record, "--html", "--view", "2"]).with_code(2).says(&["the seats are 0 to 1"]);
}

#[test]
fn the_page_of_every_game_works_in_a_browser() {
    let folder = Folder::new();
    let games = [
        ("checkers", 2),
        ("chess", 2),
        ("jeex", 2),
        ("saxum", 2),
        ("xe_queo", 2),
        ("keezen", 4),
        ("keezen", 6),
    ];
    browse(&games.map(|(game, seats)| {
        let more: &[&str] = if game == "xe_queo" { &[] } else { &["--set", "turn_limit=40"] };
        let record = played(&folder, game, seats, more);
        // All games have the same controls.
        let checks = if game == "checkers" { "readers,forms,controls" } else { "readers,forms" };
        (paged(&folder, &format!("{game}-{seats}.html"), &[&record]), checks)
    }));
}

#[test]
fn each_view_of_page_shows_pictures_of_its_positions() {
    for (game, seats, views, turns) in [
        ("checkers", 2, &["all"][..], ["1", "30"]),
        ("xe_queo", 2, &["all", "public", "1"], ["3", "12"]),
        ("keezen", 6, &["all", "public", "4"], ["77", "300"]),
    ] {
        let folder = Folder::new();
        let record = played(&folder, game, seats, &[]);
        for (view, turn) in views.iter().flat_map(|view| turns.map(|turn| (view, turn))) {
            let picture = folder.text(&format!("{view}-{turn}.svg"));
            referee(["show", &record, "--svg", "--view", view, "--turn", turn, "-o", &picture]).done();
        }
        browse(&[(paged(&folder, "page.html", &[&record]), "pictures")]);
    }
}

#[test]
fn page_shows_hidden_choices_only_to_those_who_saw_them() {
    let folder = Folder::new();
    let record = played(&folder, "xe_queo", 2, &[]);
    browse(&[(paged(&folder, "page.html", &[&record]), "choices")]);
}

#[test]
fn page_plots_expectations_and_leads_to_decisive_move() {
    let folder = Folder::new();
    let pages = [
        ("referee-alpha-beta", "--depth 1", "--depth 6"),
        ("referee-monte-carlo", "--playouts 10 --seed 1", "--playouts 300 --seed 2"),
    ]
    .map(|(program, weak, strong)| {
        let bot = in_rust(program);
        let [weak, strong] = [weak, strong].map(|options| format!("'{}' {options}", bot.display()));
        let records = folder.text(program);
        let args = ["play", "checkers", &weak, &strong, "--seed", SEED, "--record", &records];
        referee(args.into_iter().chain(["--opening-plies", "4", "--clock", "none"])).done();
        let record = format!("{records}/m1.jsonl");
        let scales = folder.read(&format!("{program}/m1.jsonl")).matches("\"score_scale\":").count();
        assert!(scales > 10, "{program} declares the scale of its scores: {scales}");
        (paged(&folder, &format!("{program}.html"), &[&record]), "scores")
    });
    browse(&pages);
}

#[test]
fn the_page_shows_faults_info_and_clocks() {
    let folder = Folder::new();
    let illegal = folder.illegal_bot("t['turn'] % 2 == 1");
    let plain = folder.plain_bot("plain");
    let records = folder.text("faults");
    let args = ["play", "checkers", &illegal, &plain, "--on-fault", "random", "--set", "turn_limit=12"];
    referee(args.into_iter().chain(["--seed", SEED, "--record", &records])).done();
    let faults = format!("{records}/m1.jsonl");
    let eventful = folder.bot("eventful", "play(turn=lambda t: move(t, t['legal'][0], info={'score': 12}))");
    let records = folder.text("info");
    let args = ["play", "checkers", &eventful, &plain, "--set", "turn_limit=12", "--record", &records];
    referee(args).done();
    let info = format!("{records}/m1.jsonl");
    browse(&[
        (paged(&folder, "faults.html", &[&faults]), "faults,controls"),
        (paged(&folder, "info.html", &[&info]), "info"),
        (paged(&folder, "list.html", &[&info, &faults]), "list"),
    ]);
    let printed = referee(["show", &info, &faults, "--html"]).done().stdout;
    assert!(printed == folder.read("list.html"), "standard output gets another page");
}

/// Texts that become scripts where markup is made of them.
const HOSTILE: &str = include_str!("../browser/hostile.json");

#[test]
fn a_thousand_hostile_names_run_no_script() {
    let hostile: Vec<String> = serde_json::from_str(HOSTILE).expect("a list of texts");
    let folder = Folder::new();
    let plain = folder.plain_bot("plain");
    let records = folder.text("records");
    let more = ["--set", WON, "--record", &records];
    referee(["play", "checkers", &plain, &plain].into_iter().chain(more)).done();
    let record = folder.read("records/m1.jsonl");
    std::fs::create_dir(folder.path("hostile")).unwrap();
    for number in 0..500 {
        let text = |n: usize| {
            let text = json!(hostile[n % hostile.len()].replace("NNN", &n.to_string())).to_string();
            text.replace('\u{2028}', "\\u2028").replace('\u{202e}', "\\u202e")
        };
        let mut own = record.clone();
        for (seat, name) in
            ["\"name\":\"test bot\",\"team\":0", "\"name\":\"test bot-2\",\"team\":1"].iter().enumerate()
        {
            assert!(own.contains(name), "{own}");
            own = own.replacen(name, &format!("\"name\":{},\"team\":{seat}", text(2 * number + seat)), 1);
        }
        let answer = own.find("{\"type\":\"answer\"").expect("an answer");
        let end = answer + own[answer..].find("}\n").expect("its end");
        own.insert_str(end, &format!(",\"info\":{{\"text\":{}}}", text(number)));
        folder.write(&format!("hostile/{number}.jsonl"), own);
    }
    browse(&[(paged(&folder, "page.html", &[&folder.text("hostile")]), "hostile")]);
}

#[test]
fn a_page_of_500_plies_takes_one_mebibyte_at_most() {
    let folder = Folder::new();
    let record = played(&folder, "keezen", 6, &["--set", "turn_limit=500"]);
    let moves = folder.read("keezen-6/m1.jsonl").matches("\"kind\":\"move\"").count();
    assert_eq!(moves, 500, "the match is as long as it may be");
    let page = paged(&folder, "page.html", &[&record]);
    let size = std::fs::metadata(&page).unwrap().len();
    println!("{moves} plies of Keezenspel with six seats: {size} bytes");
    assert!(size <= 1 << 20, "{size} bytes");
    browse(&[(page, "speed")]);
}

#[test]
fn steps_are_shown_one_at_a_time() {
    let folder = Folder::new();
    let illegal = folder.illegal_bot("t['turn'] == 2");
    let plain = folder.plain_bot("plain");
    let records = folder.text("records");
    let args = ["play", "checkers", &illegal, &plain, "--on-fault", "random", "--set", "turn_limit=12"];
    referee(args.into_iter().chain(["--seed", SEED, "--record", &records])).done();
    let record = format!("{records}/m1.jsonl");
    let stepped = |input: &str, more: &[&str]| {
        let mut shown = Referee::start([&["show", &record, "--step"], more].concat());
        shown.write(input);
        shown.end().done().stdout
    };
    let prompts = |shown: &str| {
        let prompts = shown.split(" of 12 > ");
        let numbers: Vec<String> =
            prompts.map(|text| text.rsplit('\n').next().unwrap_or_default().to_owned()).collect();
        numbers.join(" ").trim().to_owned()
    };
    assert_eq!(prompts(&stepped("\n\nb\n9\nq\n", &[])), "0 1 2 1 9");
    assert_eq!(prompts(&stepped("q\n", &["--turn", "7"])), "7");
    let fault = stepped("f\nf\nq\n", &[]);
    assert_eq!(prompts(&fault), "0 5 5", "{fault}");
    assert!(fault.contains("there is no later fault\n"), "{fault}");
    assert!(fault.contains("     fault of illegal: illegal_move: 1-32\n"), "{fault}");
    let whole = stepped(&"\n".repeat(13), &[]);
    assert!(whole.ends_with("ended: turn limit, ranks [1, 1]\n"), "{whole}");
    let later = referee(["show", &record, "--turn", "11"]).done().stdout;
    assert!(later.contains(" 11. ") && !later.contains(" 10. "), "{later}");
}

#[test]
fn faults_are_red_on_a_terminal_that_shows_colours() {
    let folder = Folder::new();
    let illegal = folder.illegal_bot("t['turn'] == 2");
    let plain = folder.plain_bot("plain");
    let records = folder.text("records");
    let args = ["play", "checkers", &illegal, &plain, "--record", &records];
    referee(args).done();
    let shown = on_a_terminal(&[], &["show", &format!("{records}/m1.jsonl")]).end().with_code(0).stdout;
    assert!(shown.contains("\x1b[31m     fault of illegal: illegal_move: 1-32\x1b[0m"), "{shown}");
}
