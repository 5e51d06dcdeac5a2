//! Totals of `info` for each bot, and the limits of a run's cost.

use serde_json::{Value, json};

use crate::common::http::Site;
use crate::common::league::drain;
use crate::common::{Folder, Referee, Signal, browser, referee};
use crate::watch::wait_until;

/// A bot whose moves cost 25 cents each, after an answer that was refused.
fn dear(folder: &Folder, name: &str) -> String {
    let info =
        "{'requests': 2, 'tokens_in': 900, 'cost_usd': 0.25, 'resolved': 'case', 'rejected': ['refused']}";
    // Without a pause all matches of a test may have been played before a limit takes effect on a busy machine.
    let turn = format!("lambda t: (time.sleep(0.02), move(t, t['legal'][0], info={info}))");
    folder.bot(name, &format!("import time\nplay(turn={turn})"))
}

/// The totals after this number of moves.
fn totals(moves: u32) -> Value {
    json!({
        "requests": 2 * moves, "tokens_in": 900 * moves, "cost_usd": 0.25 * f64::from(moves), "resolved_case": moves,
        "rejected_refused": moves
    })
}

/// Numbers by name; `1.5` and `1` are numbers alike.
fn numbers(sums: &Value) -> Vec<(String, Option<f64>)> {
    let sums = sums.as_object().expect("an object");
    sums.iter().map(|(name, sum)| (name.clone(), sum.as_f64())).collect()
}

const SHORT: [&str; 2] = ["--set", "turn_limit=8"];

#[test]
fn what_bots_report_is_summed_in_matches_and_summaries() {
    let folder = Folder::new();
    let hostile = r#"{'requests': -1, 'tokens_out': 1e10, 'cost_usd': '7', 'resolved': ['exact', 'luck'], 'outages': 3}"#;
    let bots = [
        dear(&folder, "dear"),
        folder.bot("hostile", &format!("play(turn=lambda t: move(t, t['legal'][0], info={hostile}))")),
    ];
    let records = folder.text("records");
    let play = ["play", "checkers", &bots[0], &bots[1], "-n", "2"];
    let ended = referee([&play[..], &SHORT, &["--json", "--record", &records]].concat()).done();
    let summary = ended.one("summary");
    assert_eq!(numbers(&summary["bots"][0]["totals"]), numbers(&totals(8)));
    assert_eq!(summary["bots"][1]["totals"], json!({"resolved_exact": 8}));
    let second = &ended.all("match")[1]["totals"];
    assert_eq!(numbers(&second[1]), numbers(&totals(4)), "by seat: {second}");
    let text = referee([&play[..], &SHORT].concat()).done().stdout;
    for part in ["8 case", "8 exact", "tokens in", "7200", "$2.00"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Without reports, nothing is shown.
    let plain = folder.plain_bot("plain");
    let plain = referee([&["play", "checkers", &plain, &plain, "-n", "2"][..], &SHORT].concat()).done();
    assert!(!plain.stdout.contains("tokens"), "{plain:?}");
}

#[test]
fn a_run_that_costs_too_much_is_interrupted() {
    let folder = Folder::new();
    let (dear, plain) = (dear(&folder, "dear"), folder.plain_bot("plain"));
    let play = ["play", "checkers", &dear, &plain, "-n", "100", "--max-cost", "2.5", "--json"];
    let ended = referee([&play[..], &SHORT].concat()).with_code(130);
    let ended = ended.says(&["the run has cost $", ", and may cost $2.50 (--max-cost)"]);
    let summary = ended.one("summary");
    // Matches that had begun meanwhile are aborted, or ended.
    assert!((3..100).contains(&summary["matches"].as_u64().expect("a number")), "{summary}");
    assert_eq!(summary["interrupted"], true);
    let wrong = referee(["play", "checkers", &dear, &plain, "--max-cost=-1"]).with_code(2);
    wrong.says(&["`-1` is not a number of US dollars"]);
}

#[test]
fn tournament_that_costs_too_much_is_resumed_with_larger_limit() {
    let folder = Folder::new();
    let unavailable =
        "say(type='unable', match=t['match'], turn=t['turn'], because='unavailable', info={'cost_usd': 1})";
    let outage = folder.bot(
        "outage",
        &format!("play(turn=lambda t: {unavailable} if t['match'] == 'm2' and t['turn'] == 1 else first(t))"),
    );
    let config = format!(
        "game = 'checkers'\nmirror = 'none'\nmax_cost = 2.0\ntrust_outages = true\noptions = {{ turn_limit = 8 }}\n\
         [format]\nkind = 'round_robin'\ncycles = 4\n[[entrants]]\nname = 'dear'\ncommand = \"{}\"\n\
         [[entrants]]\nname = 'outage'\ncommand = \"{outage}\"\n",
        dear(&folder, "dear")
    );
    let (file, cup) = (folder.write("cup.toml", config), folder.text("cup"));
    let run = referee(["tournament", "run", &file, "--dir", &cup]).with_code(130);
    run.says(&["interrupted: the run has cost $", "and may cost $2.00", "--max-cost DOLLARS` continues"]);
    // Nothing is played before the limit is raised.
    let matches = || {
        let report = referee(["tournament", "report", &cup, "--format", "json"]).done().one("report");
        (report["attempts"].as_array().map(Vec::len), report)
    };
    let (before, _) = matches();
    referee(["tournament", "resume", &cup]).with_code(130).says(&["the run has cost $"]);
    assert_eq!(matches().0, before);
    referee(["tournament", "resume", &cup, "--max-cost", "100"]).with_code(0);
    let (attempts, report) = matches();
    // One was played again after an outage, others perhaps since the limit had aborted them.
    assert!(attempts >= Some(5), "{report}");
    let details = report["details"].as_array().expect("a list");
    let of = |name: &str| details.iter().find(|of| of["name"] == name).expect("an entrant")["totals"].clone();
    // The costs of the attempt that an outage ended count as well.
    assert_eq!(of("outage"), json!({"cost_usd": 1, "outages": 1}));
    assert!(of("dear")["cost_usd"].as_f64() > Some(4.0), "{report}");
    assert_eq!(report["attempts"][1]["totals"][0]["outages"], 1, "{report}");
    for (format, parts) in [("html", ["Answers", "no legal move"]), ("csv", ["totals", "cost_usd"])] {
        let text = referee(["tournament", "report", &cup, "--format", format]).done().stdout;
        assert!(parts.iter().all(|part| text.contains(part)), "{format}: {text}");
    }
    referee(["tournament", "verify", &cup]).done();
    let db = rusqlite::Connection::open(folder.path("cup/results.sqlite")).expect("it opens");
    db.execute_batch("UPDATE details SET totals = '[{},{\"requests\":1}]' WHERE number = 1")
        .expect("it is written");
    let verified = referee(["tournament", "verify", &cup]).with_code(1);
    assert!(
        (verified.stdout + &verified.stderr).contains("m1: totals: [{},{\"requests\":1}] in the results")
    );
}

#[test]
fn entrant_that_costs_too_much_interrupts_tournament_until_it_withdraws() {
    let folder = Folder::new();
    let entrant = |name: &str, more: &str| {
        let command = dear(&folder, name);
        format!("[[entrants]]\nname = '{name}'\ncommand = \"{command}\"\n{more}\n")
    };
    let config =
        "game = 'checkers'\nmirror = 'none'\noptions = { turn_limit = 8 }\n[format]\nkind = 'round_robin'\n";
    let entrants = [entrant("a", ""), entrant("b", "max_cost = 0.5"), entrant("c", "")].concat();
    let (file, cup) = (folder.write("cup.toml", format!("{config}{entrants}")), folder.text("cup"));
    let run = referee(["tournament", "run", &file, "--dir", &cup]).with_code(130);
    run.says(&["b has cost $", ", and may cost $0.50"]);
    referee(["tournament", "withdraw", &cup, "b"]).with_code(0);
    referee(["tournament", "resume", &cup]).with_code(0);
}

#[test]
fn costly_regression_is_undecided_and_goes_on_with_larger_limit() {
    let folder = Folder::new();
    let (dear, plain, results) = (dear(&folder, "dear"), folder.plain_bot("plain"), folder.text("results"));
    let regress = |more: &[&str]| {
        let args =
            ["regress", "checkers", "--new", &dear, "--base", &plain, "--opening-plies", "4", "--json"];
        let kept = ["--results", &results, "--max-sets", "12", "--set", "turn_limit=8"];
        referee([&args[..], &kept, more].concat())
    };
    let first = regress(&["--max-cost", "3"]).with_code(3).one("verdict");
    assert!(
        first["reason"].as_str().is_some_and(|why| why.contains(", and may cost $3.00 (--max-cost)")),
        "{first}"
    );
    let spent = |verdict: &Value| verdict["totals"][0]["cost_usd"].as_f64().expect("a number");
    assert!(spent(&first) >= 3.0, "{first}");
    let second = regress(&["--resume", "--max-cost", "100"]).with_code(3).one("verdict");
    // At most the matches of one set were played again.
    assert!((12.0..=13.0).contains(&spent(&second)), "{second}");
}

/// The totals of `dear` on a page, and the cells of the tables.
fn shown(site: &Site) -> (Vec<(String, Option<f64>)>, Value) {
    let run = site.get("/api/v1/run").json();
    let rows = run["standings"].as_array().expect("rows");
    let row = rows.iter().find(|row| row["name"] == "dear").expect("a row");
    let bots = site.get("/api/v1/bots").json();
    let bot = bots["bots"].as_array().expect("bots").iter().find(|bot| bot["name"] == "dear").expect("a bot");
    assert_eq!(row["totals"], bot["totals"], "{run}");
    (row["totals"].as_object().map(|_| numbers(&row["totals"])).unwrap_or_default(), run["reported"].clone())
}

#[test]
fn live_pages_sum_what_bots_report_also_after_a_restart() {
    let folder = Folder::new();
    let config = |publish: &str| {
        format!(
            "game = 'checkers'\nmirror = 'none'\noptions = {{ turn_limit = 8 }}\n{publish}[format]\nkind = 'round_robin'\n\
             cycles = 2\n[[entrants]]\nname = 'dear'\ncommand = \"{}\"\n[[entrants]]\nname = 'plain'\ncommand = \"{}\"\n",
            dear(&folder, "dear"),
            folder.plain_bot("plain")
        )
    };
    for (name, publish) in [("cup", ""), ("closed", "[publish]\ninfo = 'never'\n")] {
        let (file, cup) = (folder.write(&format!("{name}.toml"), config(publish)), folder.text(name));
        referee(["tournament", "run", &file, "--dir", &cup]).with_code(0);
        let mut server = Referee::start(["tournament", "watch", &cup, "--watch", "127.0.0.1:0", "--json"]);
        let site = Site::of(&mut server);
        let (found, tables) = shown(&site);
        if name == "closed" {
            assert_eq!((found.len(), tables), (0, json!([])), "they are not public");
        } else {
            assert_eq!(found, numbers(&totals(8)));
            assert_eq!([&tables[0]["title"], &tables[1]["title"]], ["Answers", "Usage"]);
            assert_eq!(tables[1]["rows"], json!([["dear", "16", "0", "7200", "0", "0", "$2.00", "0s"]]));
            browser::run("reported.mjs", &[&site.url("/standings"), "$2.00"]);
        }
        server.signal(Signal::TERM);
        server.end().with_code(0);
    }
}

#[test]
fn a_ladder_sums_what_bots_report_also_after_a_restart() {
    let folder = Folder::new();
    let file = folder.write(
        "league.toml",
        format!(
            "[sandbox]\nmode = 'none'\n[[ladders]]\nname = 'main'\ngame = 'checkers'\noptions = {{ turn_limit = 8 }}\n\
             watch = '127.0.0.1:0'\n[[programs]]\nname = 'dear'\ncommand = \"{}\"\n[[programs]]\nname = 'plain'\n\
             command = \"{}\"\n",
            dear(&folder, "dear"),
            folder.plain_bot("plain")
        ),
    );
    let serve = || Referee::start(["serve", &file, "--json"]);
    let mut server = serve();
    server.receive_type("match");
    drain(server);
    referee(["league", "pause", "--league", &file]).done();
    let stored = referee(["league", "matches", "--league", &file, "--json"]).done().all("match");
    let moves = 4 * stored.len() as u32;
    let mut server = serve();
    let site = Site::of(&mut server);
    assert_eq!(shown(&site).0, numbers(&totals(moves)));
    wait_until("the player is known", || site.ask("GET", "/api/v1/players/dear", "").status == 200);
    let player = site.get("/api/v1/players/dear").json();
    assert_eq!(numbers(&player["totals"]), numbers(&totals(moves)));
    assert_eq!(player["reported"][1]["rows"][0][1], (2 * moves).to_string(), "{player}");
    browser::run("reported.mjs", &[&site.url("/players/dear"), "Usage"]);
    drain(server);
    referee(["league", "verify", "--league", &file]).done();
    let db = rusqlite::Connection::open(folder.path("league.sqlite")).expect("it opens");
    db.execute_batch("UPDATE matches SET totals = '[{},{\"requests\":1}]' WHERE number = 1")
        .expect("it is written");
    let verified = referee(["league", "verify", "--league", &file]).with_code(1);
    assert!((verified.stdout + &verified.stderr).contains("m1: totals"));
}
