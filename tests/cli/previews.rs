//! The cards that other sites show for the pages: titles, descriptions and pictures.

use crate::common::http::{Site, property, size_of_picture};
use crate::common::league::{League, drain, receive_matches};
use crate::common::{Folder, Referee, SEED, Signal, browser, referee};
use crate::watch::{go, go_until, wait_for_moves, wait_until, watched};

/// The size that chats expect.
const SIZE: (u32, u32) = (1200, 630);

/// A tournament of two bots, one of them with a display name, which has been played.
fn cup(folder: &Folder, display_name: &str) -> String {
    let bot = folder.plain_bot("bot");
    let config = format!(
        "name = 'Spring cup'\ngame = 'checkers'\noptions = {{ turn_limit = 6 }}\nseed = '{SEED}'\nmirror = 'none'\n\
         [format]\nkind = 'round_robin'\n[[entrants]]\nname = 'ann'\ncommand = \"{bot}\"\n\
         display_name = '{display_name}'\n[[entrants]]\nname = 'bob'\ncommand = \"{bot}\"\n"
    );
    let (file, dir) = (folder.write("cup.toml", config), folder.text("cup"));
    referee(["tournament", "run", &file, "--dir", &dir]).done();
    dir
}

#[test]
fn a_live_match_and_the_start_page_name_their_pictures() {
    let folder = Folder::new();
    let (referee, site) = watched(&folder, "checkers", (0.0, 3), &["--set", "turn_limit=10"]);
    wait_for_moves(&site, "m1", 1);
    let page = site.get("/").body;
    assert_eq!(property(&page, "og:image"), Some("http://localhost/card.png"));
    let page = site.get("/matches/m1").body;
    assert!(page.contains("<a href=\"../\">Overview</a>"), "{page}");
    assert_eq!(property(&page, "og:title"), Some("one – two"));
    assert_eq!(property(&page, "og:image"), Some("http://localhost/matches/m1/card.png"));
    assert!(
        page.contains("<span id=\"brand\">Checkers</span>"),
        "the name of the competition is at the top: {page}"
    );
    assert_eq!([site.picture("/card.png"), site.picture("/matches/m1/card.png")], [SIZE, SIZE]);
    // A proxy says where the pages are, and another host is not believed.
    let proxied = |host: &str| {
        let fields = format!(
            "Host: localhost\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: {host}\r\nX-Forwarded-Prefix: /spring\r\n"
        );
        let page = site.ask("GET", "/", &fields).body;
        property(&page, "og:image").map(str::to_owned)
    };
    assert_eq!(proxied("127.0.0.1:8443").as_deref(), Some("https://127.0.0.1:8443/spring/card.png"));
    assert_eq!(proxied("evil.example").as_deref(), Some("https://localhost/spring/card.png"));
    assert_eq!(site.ask("GET", "/matches/m99/card.png", "").status, 404);
    let page = site.ask("GET", "/matches/m99", "");
    assert_eq!((page.status, property(&page.body, "og:image")), (404, None));
    go(&folder, "m1");
    referee.end().with_code(0);
}

/// Returns whether a picture has a board: texts and lines have no warm colours.
fn has_board(png: &[u8]) -> bool {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(png));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().expect("a picture");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    reader.next_frame(&mut pixels).expect("a whole picture");
    let (pixels, _) = pixels.as_chunks::<3>();
    pixels.iter().any(|&[red, green, blue]| red.max(green) > blue.saturating_add(16))
}

#[test]
fn the_picture_of_a_live_match_has_the_shown_board() {
    let picture = |site: &Site, id: &str| site.download(&format!("/matches/{id}/card.png"), "");
    let folder = Folder::new();
    // Each of them plays as many turns.
    let (referee, site) = watched(&folder, "checkers", (0.0, 1), &["--set", "turn_limit=10"]);
    wait_for_moves(&site, "m1", 2);
    let early = picture(&site, "m1");
    assert!(has_board(&early));
    go_until(&folder, "m1", 2);
    wait_for_moves(&site, "m1", 4);
    let later = picture(&site, "m1");
    assert!(has_board(&later) && later != early, "it shows the same board");
    assert!(picture(&site, "m1") == later, "without a move it stays the same");
    go(&folder, "m1");
    referee.end().with_code(0);
    // Two moves behind.
    let folder = Folder::new();
    let more = ["--set", "turn_limit=10", "--watch-delay", "2"];
    let (referee, site) = watched(&folder, "checkers", (0.0, 2), &more);
    wait_for_moves(&site, "m1", 2);
    assert!(picture(&site, "m1") == early, "it does not show what is shown");
    go(&folder, "m1");
    referee.end().with_code(0);
}

#[test]
fn a_held_match_has_no_board_picture_until_complete() {
    let picture = |site: &Site, id: &str| site.download(&format!("/matches/{id}/card.png"), "");
    let folder = Folder::new();
    let (referee, site) =
        watched(&folder, "saxum", (0.0, 2), &["--mirror", "-n", "4", "--set", "turn_limit=12"]);
    let about = |id: &str| site.ask("GET", &format!("/api/v1/matches/{id}"), "").json();
    wait_until("m1 begins", || about("m1")["board"] == "held");
    assert!(!has_board(&picture(&site, "m1")));
    go(&folder, "m1");
    wait_until("m1 ends and m2 begins", || {
        about("m2")["board"] == "held" && about("m1")["result"].is_object()
    });
    assert!(
        !has_board(&picture(&site, "m1")) && !has_board(&picture(&site, "m2")),
        "its dice are those of m2"
    );
    go(&folder, "m2");
    wait_until("the set is complete", || about("m1")["board"] == "replay");
    assert!(has_board(&picture(&site, "m1")), "the picture without the board stays");
    ["m3", "m4"].iter().for_each(|id| go(&folder, id));
    referee.end().with_code(0);
}

#[test]
fn a_ladder_behind_a_proxy_names_pictures_by_its_url() {
    let head = "watch = \"127.0.0.1:0\"\nwatch_url = \"https://league.example/short\"";
    let league = League::calm(head, &[("one", ""), ("two", "display_name = \"将棋\"")]);
    let mut server = league.serve();
    let site = Site::of(&mut server);
    let id = receive_matches(&mut server, 1)[0]["id"].as_str().expect("an id").to_owned();
    wait_until("the match is listed", || {
        site.ask("GET", &format!("/api/v1/matches/{id}"), "").json()["result"].is_object()
    });
    let page = site.get(&format!("/matches/{id}")).body;
    assert!(property(&page, "og:title").is_some_and(|title| title.contains(" beat ")), "{page}");
    let picture = format!("https://league.example/short/matches/{id}/card.png");
    assert_eq!(property(&page, "og:image"), Some(&*picture));
    assert_eq!(property(&site.get("/").body, "og:image"), Some("https://league.example/short/card.png"));
    assert_eq!([site.picture("/card.png"), site.picture(&format!("/matches/{id}/card.png"))], [SIZE, SIZE]);
    drain(server);
    let wrong = league.folder.read("league.toml").replace("https://league.example/short", "league.example");
    let wrong = league.folder.write("wrong.toml", wrong);
    referee(["serve", &wrong]).with_code(2).says(&["`league.example` is not the URL of pages"]);
}

#[test]
fn a_site_has_pictures_if_its_url_is_known() {
    let folder = Folder::new();
    let dir = cup(&folder, "Ann & Co");
    let report = |more: &[&str]| {
        referee([&["tournament", "report", &dir, "--site", &folder.text("site")], more].concat())
    };
    report(&[]).done();
    let page = folder.read("site/matches/m1.html");
    assert_eq!(property(&page, "og:image"), None, "a relative address is of no use");
    assert!(!folder.path("site/card.png").exists());
    // The page says who played as people see them.
    let escaped = "Ann &amp; Co";
    let title = property(&page, "og:title").expect("a title");
    assert!(title.contains(escaped) && page.contains(&format!("<h1 id=\"title\">{title}</h1>")), "{page}");
    browser::run("seats.mjs", &[&folder.text("site/matches/m1.html"), "Ann & Co", "bob"]);
    report(&["--site-url", "cup.example"]).with_code(2).says(&["`cup.example` is not the URL of pages"]);
    report(&["--site-url", "https://cup.example/spring"]).done();
    for (page, picture) in
        [("index.html", "card.png"), ("matches/m1.html", "matches/m1.png"), ("figures.html", "card.png")]
    {
        let named = format!("https://cup.example/spring/{picture}");
        assert_eq!(property(&folder.read(&format!("site/{page}")), "og:image"), Some(&*named), "{page}");
        let file = std::fs::read(folder.path(&format!("site/{picture}"))).expect("a file");
        assert_eq!(size_of_picture(&file), SIZE, "{picture}");
    }
}

#[test]
fn a_match_whose_row_changes_is_listed_anew() {
    let folder = Folder::new();
    let dir = cup(&folder, "Ann");
    let mut server = Referee::start(["tournament", "watch", &dir, "--watch", "127.0.0.1:0", "--json"]);
    let site = Site::of(&mut server);
    let of_m1 = || site.get("/api/v1/matches/m1").json();
    assert!(of_m1()["result"]["ranks"].is_array());
    let rule = ["tournament", "rule", "award", &dir, "m1", "ann", "--reason", "a power cut"];
    referee(rule).done();
    wait_until("the ruling is shown", || of_m1()["ruling"]["outcome"] == "awarded to ann");
    // As when the matches of a worker are taken back.
    let mut results = referee::store::Results::open(&folder.path("cup/results.sqlite")).expect("results");
    results.make_void(1).expect("a change");
    wait_until("the result is gone", || of_m1()["result"]["ranks"].is_null());
    let run = site.get("/api/v1/run").json();
    assert_eq!(run["ended_count"], 1, "it is listed once: {run}");
    server.signal(Signal::TERM);
    server.end().with_code(0);
}
