//! `[pages]` of a league: announcements and rules on its pages.

use serde_json::json;

use crate::common::browser;
use crate::common::http::Site;
use crate::common::league::{League, drain};
use crate::watch::wait_until;

const PAGES: &str = "watch = \"127.0.0.1:0\"\n[pages]\ntitle = \"University & friends\"\ndescription = \"All <year>.\"\n\
                     contact = \"jury@league.example\"\nannouncements = \"news\"\nrules = \"rules.md\"";

/// A league with two announcements and rules.
fn league() -> League {
    let league = League::calm(PAGES, &[("one", ""), ("two", "")]);
    std::fs::create_dir(league.folder.path("news")).expect("a directory");
    league.folder.write("news/2026-11-01-begin.md", "# It begins\n\nSee the [rules](rules).\n");
    league.folder.write(
        "news/2026-11-28-finals.md",
        "# The <finals>\n\n<script>alert(1)</script>\n\n**Soon**, [here](https://a.example), [not here](javascript:alert(2)).\n",
    );
    league.folder.write("news/notes.txt", "not an announcement");
    league.folder.write("rules.md", "# Rules of play\n\n## Bots\n\n- one bot each\n");
    league
}

#[test]
fn announcements_and_rules_are_on_pages_and_follow_their_files() {
    let league = league();
    league.run(&["check"]).done();
    let mut server = league.serve();
    let site = Site::of(&mut server);
    let start = site.get("/").body;
    let order = [
        "University &amp; friends: short",
        "The &lt;finals&gt;",
        "It begins",
        "All &lt;year&gt;.",
        "mailto:jury@league.example",
    ];
    let at: Vec<usize> =
        order.iter().map(|text| start.find(text).unwrap_or_else(|| panic!("{text} in {start}"))).collect();
    assert!(at.is_sorted(), "{at:?}");
    assert!(
        start.contains("href=\"./rules\"") && start.contains("href=\"announcements#2026-11-28-finals\""),
        "{start}"
    );
    let all = site.get("/announcements").body;
    for text in [
        "<strong>Soon</strong>",
        "<a href=\"https://a.example\" rel=\"nofollow noopener\">here</a>",
        ">2026-11-28<",
    ] {
        assert!(all.contains(text), "{text} in {all}");
    }
    assert!(!all.contains("<script") && !all.contains("javascript:"), "{all}");
    let rules = site.get("/rules").body;
    assert!(rules.contains("<h1>Rules of play</h1>") && rules.contains("<h2>Bots</h2>"), "{rules}");
    let api = site.get("/api/v1/announcements").json();
    let first = &api["announcements"][0];
    assert_eq!((&first["title"], &first["date"]), (&json!("The <finals>"), &json!("2026-11-28")));
    let paths = [
        "/",
        "/standings",
        "/matches",
        "/live",
        "/announcements",
        "/rules",
        "/rules/game",
        "/protocol/league",
        "/protocol/README",
    ];
    let urls = paths.map(|path| site.url(path));
    browser::run("fits.mjs", &urls.each_ref().map(String::as_str));
    // The server reads changes.
    league.folder.write("news/2026-11-29-result.md", "# Ann won\n");
    wait_until("the new one is shown", || site.get("/").body.contains("Ann won"));
    league.folder.write("rules.md", "Play fair.");
    wait_until("the new rules are shown", || site.get("/rules").body.contains("Play fair."));
    std::fs::remove_dir_all(league.folder.path("news")).expect("a directory");
    wait_until("they are gone", || site.ask("GET", "/announcements", "").status == 404);
    drain(server);
}

#[test]
fn texts_that_cannot_be_shown_are_named() {
    let league = league();
    league.folder.write("news/2026-11-29-long.md", "x".repeat(65 * 1024));
    league.run(&["check"]).with_code(2).says(&["2026-11-29-long.md: it has more than 64 KiB"]);
    std::fs::remove_file(league.folder.path("rules.md")).expect("a file");
    league.run(&["check"]).with_code(2).says(&["rules.md: "]);
    let text = league.folder.read("league.toml").replace("University & friends", &"x".repeat(201));
    league.folder.write("league.toml", text);
    league.run(&["check"]).with_code(2).says(&["[pages] title: it has 1 to 200 bytes"]);
}
