//! `referee tournament`: the keys of an entrant, and its part of reports.

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;

use crate::common::guest::Guest;
use crate::common::{Folder, Referee, SEED, referee};
use crate::sandbox::{missing, own_bot};
use ::referee::bot::sandbox::Layer;
use serde_json::json;

/// Writes the file of a short tournament: `head`, and an entrant for each name with its additional keys.
fn cup(folder: &Folder, head: &str, entrants: &[(&str, String)]) -> String {
    let mut text = format!(
        "game = 'checkers'\nseed = '{SEED}'\noptions = {{ turn_limit = 20 }}\n{head}\n\n[format]\nkind = 'round_robin'\n"
    );
    for (name, keys) in entrants {
        text += &format!("[[entrants]]\nname = '{name}'\n{keys}\n");
    }
    folder.write("cup.toml", text)
}

/// The key with the command of a bot.
fn command(bot: &str) -> String {
    format!("command = \"{bot}\"")
}

#[test]
fn an_entrant_without_matches_has_no_rating() {
    let folder = Folder::new();
    let dir = folder.text("cup");
    let plain = command(&folder.plain_bot("plain"));
    let config = cup(&folder, "", &[("one", plain.clone()), ("two", plain)]);
    referee(["tournament", "run", &config, "--dir", &dir]).done();
    referee(["tournament", "add", &dir, &folder.plain_bot("late")]).done();
    let standings = referee(["tournament", "standings", &dir, "--json"]).done().one("standings");
    for row in standings["entrants"].as_array().expect("a list") {
        let is_known = row["name"] != "late";
        assert_eq!([row["elo"]["low"].is_number(), row["elo"]["high"].is_number()], [is_known; 2], "{row}");
    }
    let table = referee(["tournament", "standings", &dir]).done().stdout;
    let late = table.lines().find(|line| line.contains("late")).expect("its row");
    assert!(late.trim_end().ends_with(" -"), "{table}");
    let text = referee(["tournament", "report", &dir]).done().stdout;
    let (_, ratings) = text.split_once("Ratings").expect("a table of ratings");
    let late = ratings.lines().find(|line| line.contains("late")).expect("its row");
    assert_eq!(late.split_whitespace().collect::<Vec<_>>(), ["late", "-", "-"]);
    let page = referee(["tournament", "report", &dir, "--format", "html"]).done().stdout;
    let body = page.rsplit("</style>").next().expect("the page");
    let rating = "<td class=\"name\">late</td><td class=\"num\" data-l=\"Elo\">–</td>";
    assert!(body.contains(rating) && !body.contains("inf"), "{body}");
    let csv = referee(["tournament", "report", &dir, "--format", "csv"]).done().stdout;
    assert!(csv.contains("late") && !csv.contains("inf"), "{csv}");
}

/// A bot that writes a line to a file beside its script: the value of `written` for the `start` of each match.
fn writer(folder: &Folder, name: &str, written: &str) -> String {
    let script = format!(
        "def start(message):
    with open(__file__ + '.received', 'a') as received:
        print({written}, file=received)
    ready(message)
play(start=start)"
    );
    folder.bot(name, &script)
}

/// The lines that such a bot has written.
fn received(folder: &Folder, name: &str) -> Vec<String> {
    folder.read(&format!("{name}.py.received")).lines().map(str::to_owned).collect()
}

#[test]
fn entrants_have_their_own_environment_and_clock() {
    let folder = Folder::new();
    let written = "os.environ.get('DEPTH'), message['clock']['bank_ms'], message['clock']['delay_ms']";
    let quick = command(&writer(&folder, "quick", written)) + "\nenv = { DEPTH = '7' }\nclock_factor = 0.5";
    let slow = command(&writer(&folder, "slow", written)) + "\nclock_factor = 3.0";
    let config = cup(&folder, "clock = 'delay=4s,bank=20s'", &[("quick", quick), ("slow", slow)]);
    referee(["tournament", "run", &config, "--dir", &folder.text("cup")]).done();
    assert_eq!(received(&folder, "quick"), ["7 10000 2000"; 2]);
    assert_eq!(received(&folder, "slow"), ["None 60000 12000"; 2]);
}

#[test]
fn an_entrant_keeps_its_process_unless_configured_otherwise() {
    for (restart, processes) in [("", 1), ("restart = 'always'", 4)] {
        let folder = Folder::new();
        let one = command(&writer(&folder, "one", "os.getpid()")) + "\n" + restart;
        let other = command(&writer(&folder, "other", "os.getpid()"));
        let another = command(&folder.plain_bot("another"));
        let config = cup(&folder, "", &[("one", one), ("other", other), ("another", another)]);
        referee(["tournament", "run", &config, "--dir", &folder.text("cup")]).done();
        for (bot, processes) in [("one", processes), ("other", 1)] {
            let received = received(&folder, bot);
            let different = received.iter().collect::<BTreeSet<_>>().len();
            assert_eq!((received.len(), different), (4, processes), "{bot}: {restart}");
        }
    }
}

/// Starts a tournament with a configured listener, and waits until it listens.
fn listening(config: &str, dir: &str) -> (Referee, SocketAddr) {
    let mut run = Referee::start(["tournament", "run", config, "--dir", dir, "--json"]);
    let address = run.receive_type("listening")["address"].as_str().expect("text").parse();
    (run, address.expect("an address"))
}

#[test]
fn connecting_and_started_entrants_play_each_other() {
    let folder = Folder::new();
    let head = "listen = { address = '127.0.0.1:0', token_file = 'tokens' }";
    folder.write_secret("tokens", "alice=secret\nbob=another\n");
    let plain = command(&folder.plain_bot("plain"));
    let entrants =
        [("alice", "tcp = 'alice'".to_owned()), ("bob", "tcp = 'bob'".to_owned()), ("plain", plain)];
    let config = cup(&folder, head, &entrants);
    let (run, address) = listening(&config, &folder.text("cup"));
    let guests = [("alice", "secret"), ("bob", "another")].map(|(name, token)| {
        let hello = json!({"type": "hello", "protocol": 1, "name": name, "token": token});
        Guest::saying(address, &hello).play_along()
    });
    run.wait().with_code(0);
    for guest in guests {
        let received = guest.join().expect("it plays");
        assert_eq!(received.iter().filter(|message| message["type"] == "end").count(), 4);
    }
    let standings =
        referee(["tournament", "standings", &folder.text("cup"), "--json"]).done().one("standings");
    for row in standings["entrants"].as_array().expect("a list") {
        assert_eq!([&row["matches"], &row["faulted"]], [4, 0], "{row}");
    }
}

#[test]
fn a_connection_has_the_long_ready_limit_only_once() {
    let folder = Folder::new();
    let plain = command(&folder.plain_bot("plain"));
    let entrants = [
        ("alice", "tcp = 'alice'".to_owned()),
        ("one", plain.clone()),
        ("other", plain.clone()),
        ("third", plain),
    ];
    let config = cup(&folder, "listen = { address = '127.0.0.1:0' }", &entrants);
    let (run, address) = listening(&config, &folder.text("cup"));
    let alice = Guest::named(address, "alice").play_along();
    run.wait().with_code(0);
    alice.join().expect("she plays");
    let headers = (1..=12).map(|number| folder.record(&format!("cup/records/m{number}.jsonl"))[0].clone());
    let mut limits: Vec<u64> = headers
        .flat_map(|header| header["seats"].as_array().expect("a list").clone())
        .filter(|seat| seat["name"] == "alice")
        .map(|seat| seat["ready_ms"].as_u64().expect("a number"))
        .collect();
    limits.sort_unstable();
    assert_eq!(limits, [5_000, 5_000, 5_000, 5_000, 5_000, 60_000]);
}

#[test]
fn an_entrant_that_never_connects_loses_and_is_named() {
    let folder = Folder::new();
    let head = "listen = { address = '127.0.0.1:0', wait = '300ms' }";
    let plain = command(&folder.plain_bot("plain"));
    let config = cup(&folder, head, &[("alice", "tcp = 'alice'".to_owned()), ("plain", plain)]);
    let dir = folder.text("cup");
    let received = ["waiting for `alice` to connect", "m1: the bot `alice` does not start", "within 0.3 s"];
    let ended = referee(["tournament", "run", &config, "--dir", &dir]).with_code(0).says(&received);
    assert!(ended.stderr.contains("`alice` did not start in 2 matches"), "{}", ended.stderr);
    let standings = referee(["tournament", "standings", &dir, "--json"]).done().one("standings");
    let lost: Vec<_> = standings["entrants"].as_array().expect("a list").iter().collect();
    let by_fault = lost.iter().map(|row| (row["name"].as_str(), &row["by_fault"]["losses"], &row["faulted"]));
    assert_eq!(
        by_fault.collect::<Vec<_>>(),
        [(Some("plain"), &json!(0), &json!(0)), (Some("alice"), &json!(2), &json!(2))]
    );
}

#[test]
fn bot_that_does_not_start_is_reported_once_with_count() {
    let folder = Folder::new();
    let plain = command(&folder.plain_bot("plain"));
    let broken = command(&folder.bot("broken", "print('no book', file=sys.stderr)\nsys.exit(4)"));
    let entrants = [("broken", broken), ("one", plain.clone()), ("other", plain.clone())];
    let config = cup(&folder, "", &entrants);
    let dir = folder.text("cup");
    let ended = referee(["tournament", "run", &config, "--dir", &dir, "--strict"]).with_code(1);
    let says = |text| ended.stderr.matches(text).count();
    assert_eq!([says("the bot `broken` does not start"), says("no book")], [1, 1], "{}", ended.stderr);
    assert!(ended.stderr.ends_with("`broken` did not start in 4 matches\n"), "{}", ended.stderr);
    referee(["tournament", "resume", &dir, "--strict"]).with_code(1);
    referee(["tournament", "resume", &dir]).done();
    let config = cup(&folder, "", &[("one", plain.clone()), ("other", plain)]);
    referee(["tournament", "run", &config, "--dir", &folder.text("good"), "--strict"]).done();
}

#[test]
fn a_check_starts_every_bot_and_names_failing_ones() {
    let folder = Folder::new();
    let head = "listen = { address = '127.0.0.1:0' }\nhello_limit = '2s'\nclock = 'none'";
    let missing = format!("python3 {}", folder.text("missing.py"));
    let other_game = "play(hello=lambda _: say(type='hello', protocol=1, name='other', games=['saxum']))";
    let entrants = [
        ("plain", command(&folder.plain_bot("plain"))),
        ("missing", command(&missing)),
        ("other", command(&folder.bot("other", other_game))),
        ("silent", command(&folder.bot("silent", "sys.stdin.read()"))),
        ("alice", "tcp = 'alice'".to_owned()),
    ];
    let config = cup(&folder, head, &entrants);
    let received = referee(["tournament", "check", &config]).with_code(1).stdout;
    for what in [
        "5 entrants, 20 matches\n  plain: starts (",
        "  missing: does not start: exited: status 2",
        "python3: can't open file",
        "  other: does not start: it does not play checkers: it plays saxum",
        "  silent: does not start: no_start: no `hello` within 2000 ms",
        "  alice: awaited, connects as `alice`\n",
    ] {
        assert!(received.contains(what), "`{what}` is not in: {received}");
    }
    let checked = referee(["tournament", "check", &config, "--json"]).with_code(1).one("check");
    let verdicts: Vec<&str> = checked["entrants"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|row| row["verdict"].as_str())
        .collect();
    assert_eq!(verdicts, ["starts", "fails", "fails", "fails", "awaited"]);
    let received = referee(["tournament", "check", &config, "--no-start"]).done().stdout;
    assert_eq!(received, "checkers: 5 entrants, 20 matches\n  alice: awaited, connects as `alice`\n");
}

/// Starts a tournament of three started bots and alice, who connects. Returns when the matches without her have been
/// played.
fn without_alice(folder: &Folder, wait: &str) -> (Referee, SocketAddr) {
    let head = format!("listen = {{ address = '127.0.0.1:0', wait = '{wait}' }}");
    let plain = command(&folder.plain_bot("plain"));
    let entrants = [
        ("alice", "tcp = 'alice'".to_owned()),
        ("one", plain.clone()),
        ("other", plain.clone()),
        ("third", plain),
    ];
    let config = cup(folder, &head, &entrants);
    let (mut run, address) = listening(&config, &folder.text("cup"));
    for _ in 0..6 {
        let played = run.receive_type("match");
        assert!(!played["seats"].to_string().contains("alice"), "the others play first: {played}");
    }
    (run, address)
}

#[test]
fn absent_bot_costs_its_wait_once_and_status_names_it() {
    let folder = Folder::new();
    let (run, _) = without_alice(&folder, "3s");
    let waiting = tokio::time::Instant::now();
    let status = referee(["tournament", "status", &folder.text("cup"), "--json"]).done().one("status");
    let absent = status["entrants"].as_array().expect("a list").iter().map(|row| row["is_absent"] == true);
    assert_eq!(
        (status["is_played"].clone(), absent.collect::<Vec<_>>()),
        (json!(true), vec![true, false, false, false])
    );
    let ended = run
        .wait()
        .with_code(0)
        .says(&["waiting for `alice` to connect", "`alice` did not start in 6 matches"]);
    assert_eq!(ended.all("match").len(), 6);
    assert!(
        waiting.elapsed() < std::time::Duration::from_secs(9),
        "one wait, not six: {:?}",
        waiting.elapsed()
    );
    let status = referee(["tournament", "status", &folder.text("cup")]).done().stdout;
    assert!(!status.contains("not connected"), "no match waits any more: {status}");
}

#[test]
fn the_matches_of_a_late_connection_are_played() {
    let folder = Folder::new();
    let (run, address) = without_alice(&folder, "60s");
    let alice = Guest::named(address, "alice").play_along();
    let ended = run.wait().with_code(0);
    alice.join().expect("she plays");
    for played in ended.all("match") {
        assert_eq!(played["faults"], json!([{}, {}]), "{played}");
    }
    assert_eq!(ended.all("match").len(), 6);
}

#[test]
fn connected_bots_play_while_another_is_awaited() {
    let folder = Folder::new();
    let tcp = |name: &'static str| (name, format!("tcp = '{name}'"));
    let head = "listen = { address = '127.0.0.1:0', wait = '4s' }";
    let config = cup(&folder, head, &[tcp("alice"), tcp("bob"), tcp("carol")]);
    let (mut run, address) = listening(&config, &folder.text("cup"));
    let guests = ["bob", "carol"].map(|name| Guest::named(address, name).play_along());
    for _ in 0..2 {
        let played = run.receive_type("match");
        assert!(!played["seats"].to_string().contains("alice"), "{played}");
    }
    let ended = run.wait().with_code(0).says(&["`alice` did not start in 4 matches"]);
    assert_eq!(ended.all("match").len(), 4);
    for guest in guests {
        guest.join().expect("it plays");
    }
}

#[test]
fn a_match_in_which_all_bots_fail_is_void() {
    let folder = Folder::new();
    let crashes = command(&folder.bot("crashes", "play(turn=lambda _: os._exit(3))"));
    let config = cup(&folder, "on_fault = 'random'", &[("one", crashes.clone()), ("other", crashes)]);
    let dir = folder.text("cup");
    let ended = referee(["tournament", "run", &config, "--dir", &dir, "--json"]).done();
    for played in ended.all("match") {
        let how = ["ended_by", "cause", "void"].map(|key| played[key].clone());
        assert_eq!(how, [json!("aborted"), json!("no_bots"), json!(true)], "{played}");
    }
    let standings = ended.one("standings");
    assert_eq!((&standings["matches"], &standings["void_for"]), (&json!(0), &json!({"no_bots": 2})));
    for row in standings["entrants"].as_array().expect("a list") {
        assert_eq!((&row["points"], &row["matches"]), (&json!(0.0), &json!(0)), "no points: {row}");
    }
    let status = referee(["tournament", "status", &dir, "--json"]).done().one("status");
    let numbers = ["played", "missing", "cut_off", "void"].map(|key| status[key].as_u64().expect("a number"));
    assert_eq!((numbers, &status["is_over"]), ([0, 0, 0, 2], &json!(true)));
    assert_eq!(status["void_for"], json!({"no_bots": 2}));
    assert!(referee(["tournament", "status", &dir]).done().stdout.contains("2 matches are void: no_bots"));
    let report = referee(["tournament", "report", &dir, "--format", "json"]).done().one("report");
    assert_eq!(
        ["void", "aborted", "unfinished"].map(|key| report[key].as_u64()),
        [Some(2), Some(0), Some(0)]
    );
    for details in report["details"].as_array().expect("a list") {
        assert_eq!(details["faults"], json!({"exited": 2}), "{details}");
    }
    let text = referee(["tournament", "report", &dir]).done().stdout;
    assert!(text.contains("2 matches are void and count for no entrant: 2 no_bots\n"), "{text}");
    let again = referee(["tournament", "resume", &dir, "--json"]).done();
    assert!(again.all("match").is_empty() && again.one("standings") == standings, "nothing is missing");
}

#[test]
fn a_changed_program_prevents_resuming() {
    let folder = Folder::new();
    let dir = folder.text("cup");
    let program = folder.path("program");
    std::fs::copy(crate::common::in_rust("referee-random"), &program).expect("it can be copied");
    let built = command(program.to_str().expect("UTF-8"));
    let config = cup(&folder, "", &[("built", built), ("plain", command(&folder.plain_bot("plain")))]);
    referee(["tournament", "run", &config, "--dir", &dir]).done();
    referee(["tournament", "resume", &dir]).done();
    let mut bytes = std::fs::read(&program).expect("it can be read");
    bytes.push(0);
    std::fs::write(&program, bytes).expect("it can be written");
    referee(["tournament", "resume", &dir]).with_code(2).says(&["`built` has changed", "--accept-changed"]);
}

#[test]
fn a_terminal_shows_progress_and_leaders() {
    let folder = Folder::new();
    // Slow enough to be observed while it plays.
    let script = "import time\nplay(turn=lambda t: (time.sleep(0.02), first(t)))";
    let plain = command(&folder.bot("plain", script));
    let config = cup(&folder, "", &[("first", plain.clone()), ("second", plain.clone()), ("third", plain)]);
    let args = ["tournament", "run", &config, "--dir", &folder.text("cup")];
    let shown = crate::common::on_a_terminal(&[], &args).end().with_code(0).stdout;
    assert!(shown.contains("0/6 matches"), "{shown:?}");
    // The leader at the first observation depends on timing.
    let leads = |name: &str| shown.contains(&format!("left {name} "));
    assert!(["first", "second", "third"].into_iter().any(leads), "{shown:?}");
}

#[test]
fn the_progress_of_a_swiss_tournament_has_its_full_length() {
    let folder = Folder::new();
    let script = "import time\nplay(turn=lambda t: (time.sleep(0.01), first(t)))";
    let plain = command(&folder.bot("plain", script));
    let config = cup(&folder, "", &[("first", plain.clone()), ("second", plain)]);
    let swiss = folder.read("cup.toml").replace("kind = 'round_robin'", "kind = 'swiss'\nrounds = 4");
    folder.write("cup.toml", swiss);
    let args = ["tournament", "run", &config, "--dir", &folder.text("cup")];
    let shown = crate::common::on_a_terminal(&[], &args).end().with_code(0).stdout;
    let of_all = |text: &str| {
        text.split_once(" matches").map(|(count, _)| count.rsplit(' ').next().unwrap().to_owned())
    };
    let counts: Vec<String> =
        shown.split('\r').filter_map(of_all).filter(|count| count.contains('/')).collect();
    assert!(!counts.is_empty() && counts.iter().all(|count| count.ends_with("/8")), "{counts:?}");
}

#[test]
fn the_sandbox_of_a_bot_shows_all_of_its_files() {
    let folder = Folder::new();
    for directory in ["mine/src", "mine/data", "cups"] {
        fs::create_dir_all(folder.path(directory)).expect("a directory");
    }
    fs::copy(folder.path("testbot.py"), folder.path("mine/src/testbot.py")).expect("a copy");
    folder.bot("mine/src/bot", "open('data/book').close()\nplay()");
    folder.write("mine/data/book", "moves");
    let plain = own_bot(&folder, "plain", "play()");
    let allowed: Vec<&str> = missing().into_iter().map(Layer::as_str).collect();
    let head = format!("sandbox = {{ mode = 'strict', allow_missing = {allowed:?} }}");
    let check = |key: &str| {
        let keys = format!("command = 'python3 src/bot.py'\n{key} = '../mine'");
        let config = cup(&folder, &head, &[("one", keys), ("two", command(&plain))]);
        fs::rename(config, folder.path("cups/cup.toml")).expect("it exists");
        referee(["tournament", "check", &folder.text("cups/cup.toml")])
    };
    check("files").with_code(0);
    let ended = check("directory").with_code(1);
    assert!(ended.stdout.contains("data/book"), "{ended:#?}");
}

#[test]
fn unusable_files_of_bot_are_rejected_with_reason() {
    let folder = Folder::new();
    own_bot(&folder, "mine", "play()");
    let (script, absolute) = ("command = 'python3 mine.py'", folder.text("mine/mine.py"));
    for (keys, expected) in [
        (format!("{script}\nfiles = 'nowhere'"), "there is no folder"),
        (format!("{script}\nfiles = '.'\ndirectory = 'mine'"), "give the bot a directory of its own"),
        (format!("{script}\nfiles = 'mine'\ndirectory = '.'"), "is not in `files`"),
        (
            format!("command = 'python3 {absolute}'\nfiles = 'mine'"),
            "give its path relative to the working directory",
        ),
        ("tcp = 'alice'\nfiles = 'mine'".to_owned(), "`files` are those of a `command`"),
    ] {
        let head = "listen = { address = '127.0.0.1:0' }";
        let config = cup(&folder, head, &[("one", keys), ("two", command("true"))]);
        referee(["tournament", "check", &config, "--no-start"]).with_code(2).says(&["entrant one", expected]);
    }
}

#[test]
fn a_tournament_keeps_the_files_of_its_bots() {
    let folder = Folder::new();
    own_bot(&folder, "mine", "play()");
    let keys = || "command = 'python3 mine.py'\nfiles = 'mine'".to_owned();
    let config = cup(&folder, "", &[("one", keys()), ("two", keys())]);
    fs::create_dir(folder.path("cups")).expect("a directory");
    let dir = folder.text("cups/cup");
    referee(["tournament", "run", &config, "--dir", &dir]).done();
    // This validates all entrants again, seen from the directory of the tournament.
    referee(["tournament", "add", &dir, &folder.plain_bot("late")]).done();
    referee(["tournament", "resume", &dir]).done();
}
