//! `referee tournament run --site`: pages that follow the results.

use std::os::unix::fs::MetadataExt;

use crate::common::{Folder, Referee, SEED, Signal, browser, referee};
use crate::watch::{PATIENT, bots, go, wait_until};

/// A file of a tournament of two bots that wait for [`go`] in each match, and its directory.
fn cup(folder: &Folder, game: &str, head: &str) -> [String; 2] {
    let entrants = bots(folder, &["ann", "bob"], 0.0, 1);
    let entrants: Vec<String> =
        entrants.iter().map(|bot| format!("[[entrants]]\ncommand = \"{bot}\"\n")).collect();
    let config = format!(
        "name = 'Spring cup'\ngame = '{game}'\nseed = '{SEED}'\njobs = 1\nclock = '{PATIENT}'\n{head}\n[options]\nturn_limit = 10\n{}",
        entrants.concat()
    );
    [folder.write("cup.toml", config), folder.text("cup")]
}

/// Three matches, each with a deal of its own.
const THREE: &str = "mirror = 'none'\n[format]\nkind = 'round_robin'\ncycles = 3";

/// Returns whether the site has a page with this text. A page is complete at any time.
fn has(folder: &Folder, page: &str, text: &str) -> bool {
    let path = folder.path(&format!("site/{page}"));
    let Ok(page) = std::fs::read_to_string(path) else { return false };
    assert!(page.ends_with("</html>") || page.ends_with("</html>\n"), "{page}");
    page.contains(text)
}

#[test]
fn a_site_follows_the_results_of_a_tournament() {
    let folder = Folder::new();
    let [file, dir] = cup(&folder, "checkers", THREE);
    let site = folder.text("site");
    let run = Referee::start(["tournament", "run", &file, "--dir", &dir, "--json", "--site", &site]);
    wait_until("the first version is written", || has(&folder, "index.html", "Spring cup"));
    assert!(!folder.path("site/matches/m1.html").exists());
    go(&folder, "m1");
    wait_until("the page of m1 is written", || has(&folder, "matches/m1.html", "id=\"player\""));
    wait_until("the list has m1", || has(&folder, "matches.html", "matches/m1.html"));
    go(&folder, "m2");
    wait_until("the list has m2", || has(&folder, "matches.html", "matches/m2.html"));
    assert!(has(&folder, "matches/m1.html", "href=\"m2.html\""), "the page of m1 leads to m2");
    let file_of_m1 = || std::fs::metadata(folder.path("site/matches/m1.html")).expect("a page").ino();
    let before = file_of_m1();
    go(&folder, "m3");
    run.end().with_code(0);
    assert!(has(&folder, "matches.html", "matches/m3.html"), "the last version is written before the end");
    assert!(has(&folder, "index.html", SEED), "the tournament is over");
    assert_eq!(file_of_m1(), before, "the page of m1 has not changed");
    browser::run("site.mjs", &[&site, "file", &folder.published("cup/records")]);
    // Its pages are those that the report writes.
    let pages = |name: &str| folder.read(&format!("{name}/index.html"));
    let other = folder.text("other");
    referee(["tournament", "report", &dir, "--site", &other]).done();
    assert_eq!(pages("site"), pages("other"));
}

#[test]
fn site_of_resumed_tournament_has_matches_played_before() {
    let folder = Folder::new();
    let [file, dir] = cup(&folder, "checkers", THREE);
    let run = Referee::start(["tournament", "run", &file, "--dir", &dir, "--json"]);
    go(&folder, "m1");
    wait_until("m1 is recorded", || folder.path("cup/records/m1.jsonl").exists());
    run.signal(Signal::TERM);
    run.end().with_code(130);
    let site = folder.text("site");
    let resumed = Referee::start(["tournament", "resume", &dir, "--json", "--site", &site]);
    wait_until("the page of m1 is written", || has(&folder, "matches/m1.html", "id=\"player\""));
    resumed.signal(Signal::TERM);
    resumed.end().with_code(130);
    assert!(has(&folder, "matches.html", "matches/m1.html"));
}

#[test]
fn a_kept_site_shows_no_deal_that_is_still_played() {
    let folder = Folder::new();
    let head = "mirror = 'rotations'\n[format]\nkind = 'round_robin'";
    let [file, dir] = cup(&folder, "saxum", head);
    let site = folder.text("site");
    let run = Referee::start(["tournament", "run", &file, "--dir", &dir, "--json", "--site", &site]);
    go(&folder, "m1");
    wait_until("the page of m1 is written", || {
        has(&folder, "matches/m1.html", "The record is published when")
    });
    assert!(!has(&folder, "index.html", SEED));
    go(&folder, "m2");
    run.end().with_code(0);
    for page in ["matches/m1.html", "matches/m2.html"] {
        assert!(has(&folder, page, "id=\"player\""), "{page}");
    }
}

#[test]
fn tournament_does_not_begin_without_place_for_its_site() {
    let folder = Folder::new();
    let [file, dir] = cup(&folder, "checkers", THREE);
    let taken = folder.write("site", "precious");
    referee(["tournament", "run", &file, "--dir", &dir, "--site", &taken]).with_code(5).says(&["site"]);
    assert_eq!(folder.read("site"), "precious");
    assert!(!folder.path("cup/records/m1.jsonl").exists());
}
