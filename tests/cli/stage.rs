//! `--stage`: what spectators see later than it happens.

use serde_json::{Value, json};
use tokio::time::Instant;

use crate::common::http::Site;
use crate::common::{Folder, Referee, SEED, Signal, WON, browser, referee};
use crate::watch::{PATIENT, bots, go, wait_until};

/// The matches of [`knockout`].
const IDS: [&str; 3] = ["m1", "m2", "m3"];

const NAMES: [&str; 4] = ["ann", "bob", "cy", "di"];

/// A knockout of four, with these commands, whose pairings take a match each.
fn knockout(folder: &Folder, commands: impl IntoIterator<Item = String>) -> String {
    knockout_with(folder, "", commands)
}

/// The same, with more settings.
fn knockout_with(folder: &Folder, more: &str, commands: impl IntoIterator<Item = String>) -> String {
    let entrants: String = NAMES
        .iter()
        .zip(commands)
        .map(|(name, command)| format!("[[entrants]]\nname = {name:?}\ncommand = {command:?}\n"))
        .collect();
    // The player that moves first wins: no pairing is drawn.
    let fen = WON.strip_prefix("fen=").expect("a position");
    let head = format!(
        "game = 'checkers'\nmirror = 'none'\nclock = '{PATIENT}'\n{more}[format]\nkind = 'knockout'\n[options]\nfen = '{fen}'"
    );
    folder.write("cup.toml", format!("name = 'Cup'\nseed = '{SEED}'\n{head}\n{entrants}"))
}

fn start(folder: &Folder, hold: &str) -> (Referee, Site) {
    let file = knockout(folder, NAMES.map(|name| folder.plain_bot(name)));
    staged(&["run", &file, "--dir", &folder.text("cup")], hold)
}

/// `referee tournament` with these arguments and a stage.
fn staged(args: &[&str], hold: &str) -> (Referee, Site) {
    let stage = ["--json", "--watch", "127.0.0.1:0", "--stage", hold];
    let mut run = Referee::start([&["tournament"], args, &stage].concat());
    let site = Site::of(&mut run);
    (run, site)
}

/// A spectator's responses from every endpoint, without those for a match that does not exist.
pub(crate) fn spied(site: &Site, ids: &[&str]) -> Vec<(String, u16, String)> {
    let api = ["run", "events", "standings", "bots", "rulings", "matches"];
    let mut paths: Vec<String> = api.iter().map(|path| format!("/api/v1/{path}")).collect();
    paths.push(format!("/api/v1/boards?ids={}", ids.join(",")));
    for id in ids {
        for end in ["", "/events", "/record"] {
            paths.push(format!("/api/v1/matches/{id}{end}"));
        }
        paths.push(format!("/matches/{id}"));
    }
    paths.extend(["/".to_owned(), "/healthz".to_owned()]);
    let ask = |path: String| {
        let answer = site.ask("GET", &path, "Accept: application/json\r\n");
        // The number of an event is no news.
        (path, answer.status, answer.body.split("\"data\"").last().expect("a part").to_owned())
    };
    let mut found: Vec<_> = paths.into_iter().map(ask).collect();
    let picture = site.download("/card.png", "");
    found.push(("/card.png".to_owned(), 200, format!("{picture:?}")));
    for id in ids {
        let path = format!("/matches/{id}/card.png");
        let status = site.ask("HEAD", &path, "").status;
        found.push((path, status, String::new()));
    }
    let metrics = site.get("/metrics").body;
    let of_matches = metrics.lines().filter(|line| !line.contains("_watch_"));
    found.push(("/metrics".to_owned(), 200, of_matches.collect()));
    found
}

#[test]
fn nobody_but_operator_knows_of_match_before_it_is_revealed() {
    let folder = Folder::new();
    let (mut run, site) = start(&folder, "hold=reveal");
    let operator = run.receive_type("operator")["url"].as_str().expect("a URL").to_owned();
    let (page, secret) = operator.split_once('#').expect("a secret");
    assert_eq!(page, site.url("/operator"));
    let ask = |method: &str, path: &str, secret: &str| {
        let head = format!("Authorization: Bearer {secret}\r\n");
        site.ask(method, &format!("/api/v1/stage{path}"), &head)
    };
    for (method, path) in [("GET", ""), ("POST", "/reveal"), ("POST", "/skip")] {
        assert_eq!(ask(method, path, "wrong").status, 401, "{path}");
    }
    let before = spied(&site, &IDS);
    let ended: Vec<Value> = (0..3).map(|_| run.receive_type("match")).collect();
    run.receive_type("standings");
    let waiting = || ask("GET", "", secret).json()["matches"].as_array().expect("matches").clone();
    wait_until("all wait", || waiting().iter().filter(|held| held["ended"] == true).count() == 3);
    std::thread::sleep(std::time::Duration::from_millis(1500));
    for (now, then) in spied(&site, &IDS).into_iter().zip(before) {
        assert_eq!(now, then, "a spectator learns something");
    }
    let shown = || site.get("/api/v1/run").json();
    assert_eq!([&shown()["running_count"], &shown()["ended_count"]], [0, 0]);
    // One after the other.
    for count in 1..=3 {
        let next = waiting()[0]["id"].as_str().expect("an id").to_owned();
        if count == 1 {
            browser::run("operator.mjs", &[&operator, &site.url("/?stage")]);
        } else {
            assert_eq!(ask("POST", "/reveal", secret).status, 200);
            assert_eq!(ask("POST", "/skip", secret).status, 200);
        }
        wait_until("it is shown to its end", || shown()["ended_count"] == count);
        let run = shown();
        assert_eq!(run["ended"][0]["id"], next);
        wait_until("the bracket follows", || decided(&site) == count);
        let played: u64 =
            run["standings"].as_array().expect("rows").iter().filter_map(|row| row["matches"].as_u64()).sum();
        assert!(played <= 2 * count as u64, "{run}");
        for other in ended.iter().map(|row| row["id"].as_str().expect("an id")) {
            let is_shown = run["ended"].as_array().expect("matches").iter().any(|row| row["id"] == other);
            let status = site.ask("GET", &format!("/api/v1/matches/{other}"), "").status;
            assert_eq!(status == 200, is_shown, "{other}");
        }
    }
    assert_eq!(waiting(), [json!(null); 0]);
    run.signal(Signal::INT);
    run.wait().with_code(0);
}

/// The number of pairings whose winner the bracket tells.
fn decided(site: &Site) -> usize {
    let run = site.get("/api/v1/run").json();
    let rounds = run["bracket"].as_array().expect("rounds").iter();
    let pairs = rounds.flat_map(|round| round["pairs"].as_array().expect("pairs").clone());
    pairs.filter(|pair| !pair["winner"].is_null()).count()
}

#[test]
fn neither_resume_nor_change_tells_of_matches_that_wait() {
    let folder = Folder::new();
    let file = knockout(&folder, bots(&folder, &NAMES, 0.0, 0));
    let dir = folder.text("cup");
    ["m1", "m2"].iter().for_each(|id| go(&folder, id));
    let (mut run, site) = staged(&["run", &file, "--dir", &dir], "hold=reveal");
    let ask = |run: &mut Referee, site: &Site| {
        let operator = run.receive_type("operator")["url"].as_str().expect("a URL").to_owned();
        let head = format!("Authorization: Bearer {}\r\n", operator.split_once('#').expect("a secret").1);
        let site = Site(site.0.clone());
        move |method: &str, path: &str| site.ask(method, &format!("/api/v1/stage{path}"), &head).json()
    };
    let operator = ask(&mut run, &site);
    (0..2).for_each(|_| drop(run.receive_type("match")));
    operator("POST", "/reveal");
    operator("POST", "/skip");
    wait_until("one is shown", || decided(&site) == 1);
    run.signal(Signal::KILL);
    run.wait();

    let (mut run, site) = staged(&["resume", &dir], "hold=reveal");
    let operator = ask(&mut run, &site);
    wait_until("the final is played", || operator("GET", "")["matches"].as_array().map(Vec::len) == Some(3));
    let told = |ended: u64| {
        let shown = site.get("/api/v1/run").json();
        assert_eq!(shown["ended_count"], ended, "{shown}");
        let there = IDS.map(|id| site.ask("GET", &format!("/api/v1/matches/{id}"), "").status == 200);
        assert_eq!(there.iter().filter(|there| **there).count() as u64, ended);
        assert_eq!(decided(&site) as u64, ended, "{shown}");
    };
    told(0);
    referee(["tournament", "change", &dir, "--jobs", "2"]).done();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    told(0);
    for ended in 1..=2 {
        operator("POST", "/reveal");
        wait_until("it is shown with its end", || decided(&site) == ended as usize);
        told(ended);
    }
    // The first attempt at it was cut off.
    go(&folder, "m3.2");
    wait_until("the final ends", || operator("GET", "")["matches"][0]["ended"] == true);
    told(2);
    let next = || site.get("/api/v1/run").json()["next"].clone();
    wait_until("its attempt is announced", || next()[0]["id"] == "m3.2");
    let picture = || site.ask("HEAD", "/matches/m3.2/card.png", "").status;
    assert_eq!(picture(), 404);
    operator("POST", "/reveal");
    wait_until("nothing else is announced", || next() == json!([]));
    assert_eq!(picture(), 200);
    operator("POST", "/skip");
    wait_until("the final is shown", || decided(&site) == 3);
    run.signal(Signal::INT);
    run.wait().with_code(0);
}

/// Runs a cup with a stage whose operator reveals matches.
struct Staged {
    run: Referee,
    site: Site,
    /// The header with the secret of the operator.
    operator: String,
}

impl Staged {
    fn start(args: &[&str]) -> Staged {
        let (mut run, site) = staged(args, "hold=reveal");
        let url = run.receive_type("operator")["url"].as_str().expect("a URL").to_owned();
        let operator = format!("Authorization: Bearer {}\r\n", url.split_once('#').expect("a secret").1);
        Staged { run, site, operator }
    }

    fn operate(&self, method: &str, path: &str) -> Value {
        self.site.ask(method, &format!("/api/v1/stage{path}"), &self.operator).json()
    }

    /// Waits until so many matches that have ended wait for their reveal.
    fn wait_for(&self, count: usize) {
        wait_until("they wait", || {
            let waiting = self.operate("GET", "");
            waiting["matches"].as_array().expect("matches").iter().filter(|of| of["ended"] == true).count()
                == count
        });
        // Long enough for everything that spectators could see of them.
        std::thread::sleep(std::time::Duration::from_millis(1500));
    }

    fn reveal(&self) {
        self.operate("POST", "/reveal");
        self.operate("POST", "/skip");
    }

    /// What spectators know: ended matches, decided pairings, and rulings.
    fn told(&self) -> [u64; 3] {
        let run = self.site.get("/api/v1/run").json();
        let counted = |key: &str| run[key].as_u64().expect("a number");
        [counted("ended_count"), decided(&self.site) as u64, counted("rulings_count")]
    }

    fn end(self, signal: Signal) {
        self.run.signal(signal);
        self.run.wait();
    }
}

#[test]
fn void_matches_wait_for_their_reveals() {
    let folder = Folder::new();
    let absent = folder.bot("absent", "os._exit(3)");
    let [ann, di] = <[String; 2]>::try_from(bots(&folder, &["ann", "di"], 0.0, 0)).expect("two");
    let commands = [ann, absent.clone(), absent, di];
    let more = "on_fault = 'random'\njobs = 2\n";
    let (file, dir) = (knockout_with(&folder, more, commands), folder.text("cup"));
    let cup = Staged::start(&["run", &file, "--dir", &dir]);
    cup.wait_for(1);
    assert_eq!(cup.told(), [0, 0, 0]);
    // It is taken up once the other match has ended.
    referee(["tournament", "change", &dir, "--jobs", "1"]).done();
    go(&folder, "m1");
    // The tie-breaks are void, too.
    cup.wait_for(8);
    assert_eq!(cup.told(), [0, 0, 0], "after a change");
    cup.end(Signal::KILL);
    let cup = Staged::start(&["resume", &dir]);
    cup.wait_for(8);
    assert_eq!(cup.told(), [0, 0, 0], "after a resume");
    for shown in 1..=8 {
        cup.reveal();
        let decided = if shown == 8 { 2 } else { 1 };
        wait_until("the bracket follows", || cup.told() == [shown, decided, 0]);
    }
    cup.end(Signal::INT);
}

#[test]
fn a_ruling_waits_for_the_reveal_of_its_match() {
    let folder = Folder::new();
    let (file, dir) = (knockout(&folder, bots(&folder, &NAMES, 0.0, 0)), folder.text("cup"));
    let award = |id: &str, winner: &str| {
        referee(["tournament", "rule", "award", &dir, id, winner, "--reason", "a power cut"]).done();
    };
    go(&folder, "m1");
    let cup = Staged::start(&["run", &file, "--dir", &dir]);
    cup.wait_for(1);
    let first = cup.site.get("/api/v1/run").json()["bracket"][0]["pairs"][0]["entrants"].clone();
    cup.end(Signal::KILL);
    let winner = first[1].as_str().expect("a name");
    award("m1", winner);
    // The first attempt at it was cut off.
    go(&folder, "m2.2");
    let cup = Staged::start(&["resume", &dir]);
    cup.wait_for(2);
    assert_eq!(cup.told(), [0, 0, 0], "a match of this round");
    cup.end(Signal::KILL);
    award("m3", winner);
    let cup = Staged::start(&["resume", &dir]);
    cup.wait_for(2);
    assert_eq!(cup.told(), [0, 0, 0], "a match of a round whose players are not known");
    cup.reveal();
    wait_until("the first match is awarded", || cup.told() == [1, 1, 1]);
    cup.reveal();
    wait_until("the final is awarded, too", || cup.told() == [2, 3, 2]);
    cup.end(Signal::INT);
}

#[test]
fn all_of_a_match_is_shown_later_by_a_delay() {
    let folder = Folder::new();
    let (mut run, site) = start(&folder, "delay=6s");
    let m1 = run.receive_type("match");
    let came = Instant::now();
    assert!(site.get("/api/v1/run").json()["ended_count"] == 0 || came.elapsed().as_secs() > 4);
    assert_eq!(site.ask("POST", "/api/v1/stage/reveal", "").status, 401, "no operator is needed");
    let id = m1["id"].as_str().expect("an id").to_owned();
    wait_until("the match is shown", || site.ask("GET", &format!("/api/v1/matches/{id}"), "").status == 200);
    wait_until("all are shown", || site.get("/api/v1/run").json()["ended_count"] == 3);
    assert!(came.elapsed().as_secs() >= 4, "{:?}", came.elapsed());
    run.signal(Signal::TERM);
    run.wait().with_code(0);
}
