//! The pages of `referee tournament report --site`, in a real browser.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use crate::common::cup::{create, output, played, row};
use crate::common::{Folder, SEED, browser, in_rust, referee};
use referee::game::Seating;
use referee::record::digest;
use referee::store::MatchRow;
use serde_json::{Value, json};

/// The addresses to which a page links.
fn links(page: &str) -> Vec<&str> {
    page.split("href=\"").skip(1).map(|link| &link[..link.find('"').unwrap()]).collect()
}

/// Writes the site of the tournament in `cup`.
fn site(folder: &Folder) -> String {
    let site = folder.text("site");
    assert_eq!(output(folder, &["report", "--site", &site]), "");
    site
}

/// Plays a tournament of bots that move at random, and writes its site.
fn cup(game: &str, head: &str, entrants: &[&str]) -> (Folder, String) {
    let folder = Folder::new();
    let bot = in_rust("referee-random");
    let mut config = format!("name = 'Cup'\ngame = '{game}'\nseed = '{SEED}'\n{head}\n");
    for (seed, name) in entrants.iter().enumerate() {
        let command = format!("'{}' --seed {seed}", bot.display());
        config += &format!("[[entrants]]\nname = \"{name}\"\ncommand = \"{command}\"\n");
    }
    let file = folder.write("cup.toml", config);
    referee(["tournament", "run", &file, "--dir", &folder.text("cup"), "--no-fsync"]).done();
    let site = site(&folder);
    (folder, site)
}

/// The number of records of a tournament.
fn records(folder: &Folder) -> usize {
    std::fs::read_dir(folder.path("cup/records")).unwrap().count()
}

/// Visits all pages of a site, opened from disk and over HTTP.
fn visit(folder: &Folder, site: &str, from: &[&str]) {
    let published = folder.published("cup/records");
    for from in from {
        browser::run("site.mjs", &[site, from, &published]);
    }
}

#[test]
fn a_site_does_not_replace_pages_of_others() {
    let folder = Folder::new();
    let mut db = create(
        &folder,
        Seating::new(2, 2),
        "game = 'checkers'\n[format]\nkind = 'round_robin'",
        &["ada", "bob"],
    );
    db.add_matches(&[]).unwrap();
    std::fs::create_dir(folder.path("site")).unwrap();
    folder.write("site/index.html", "<!DOCTYPE html><h1>Our club</h1>");
    let (dir, site) = (folder.text("cup"), folder.text("site"));
    let refused = referee(["tournament", "report", &dir, "--site", &site]).with_code(2);
    refused.says(&["--site", "index.html is no page of a tournament: name another directory, or remove it"]);
    assert_eq!(folder.read("site/index.html"), "<!DOCTYPE html><h1>Our club</h1>");
    std::fs::remove_file(folder.path("site/index.html")).unwrap();
    for _ in 0..2 {
        referee(["tournament", "report", &dir, "--site", &site]).done();
    }
}

#[test]
fn a_browser_visits_all_pages_of_a_round_robin() {
    let head = "opening_plies = 2\n[format]\nkind = 'round_robin'\n[options]\nturn_limit = 60";
    let (folder, site) = cup("checkers", head, &["Ada", "Bob", "Eve"]);
    assert_eq!(records(&folder), 6);
    visit(&folder, &site, &["file", "http"]);
    let index = folder.read("site/index.html");
    for text in [
        "round robin, 1 cycle",
        "2 matches per deal",
        "2 plies at random",
        "delay 5 s, bank 60 s",
        "turn_limit 60",
        SEED,
        "referee verify",
    ] {
        assert!(index.contains(text), "{text} in {index}");
    }
    let bob = folder.read("site/entrants/2.html");
    assert!(bob.contains("<h1>Bob</h1>") && bob.contains("Head to head"), "{bob}");
    let matches: BTreeSet<&str> =
        links(&bob).into_iter().filter(|link| link.starts_with("../matches/")).collect();
    assert_eq!(matches.len(), 4, "{bob}");
    // The winner and the reason, with the match that decided it, come first, and the match can be fetched.
    let report: Value = serde_json::from_str(&output(&folder, &["report", "--format", "json"])).unwrap();
    let story = &report["story"];
    let heading = story["heading"].as_str().unwrap();
    assert!(index.contains(&format!("<h1>{heading}</h1>")), "{heading}");
    if let Some(decided) = story["deciding_match"].as_str() {
        assert!(links(&index).contains(&&*format!("matches/{decided}.html")), "{story}");
    }
    assert!(index.contains("class=\"podium\"") && story["superiority"].is_number(), "{story}");
    // A cell of the cross table leads to the matches of the two.
    let cross = index.split_once("class=\"cross\"").unwrap().1.split_once("</table>").unwrap().0;
    assert_eq!(links(cross).iter().filter(|link| link.contains("#with-")).count(), 6, "{cross}");
    let met = &report["details"][0]["cross"][1];
    assert!(met["match_ids"].as_array().unwrap().len() == 2 && met["expected"].is_number(), "{met}");
    // Endings are words.
    let matches = folder.read("site/matches.html");
    for code in ["no_pieces", "no_moves", "quiet_plies", "turn_limit", "rules:"] {
        assert!(!matches.contains(code), "{code} in {matches}");
    }
}

#[test]
fn a_browser_visits_all_pages_of_a_knockout() {
    let head = "[format]\nkind = 'knockout'";
    let (folder, site) = cup("saxum", head, &["Ada", "Bob", "Eve", "Dan", "Fay"]);
    visit(&folder, &site, &["file"]);
    let index = folder.read("site/index.html");
    for text in ["<h3>Quarter-finals</h3>", "<h3>Semi-finals</h3>", "<h3>Final</h3>", "<i>bye</i>"] {
        assert!(index.contains(text), "{text} in {index}");
    }
    assert!(index.contains(" won Cup</h1>") && index.contains(">Winner</span>"), "{index}");
    let file = output(&folder, &["report", "--format", "html"]);
    for text in ["<h3>Quarter-finals</h3>", "<h3>Final</h3>", "<section id=\"matches\"", ">m4</td>"] {
        assert!(file.contains(text), "{text} in {file}");
    }
    assert!(!file.contains("src=") && !file.contains("href="), "one file without references");
}

#[test]
fn a_browser_visits_all_pages_of_drawn_partners() {
    let head = "seats = 4\n[format]\nkind = 'partners'\n[options]\nturn_limit = 40";
    let (folder, site) = cup("keezen", head, &["Ada", "Bob", "Eve", "Dan"]);
    assert_eq!(records(&folder), 3);
    visit(&folder, &site, &["file"]);
    let report: Value = serde_json::from_str(&output(&folder, &["report", "--format", "json"])).unwrap();
    let of_first = report["details"][0]["partners"].as_array().unwrap();
    assert_eq!(of_first[0], Value::Null);
    assert!(of_first[1..].iter().all(|met| met["matches"] == 1.0), "{of_first:?}");
    let text = output(&folder, &["report"]);
    assert!(text.contains("\nPartners\n") && text.contains("Conditions"), "{text}");
}

#[test]
fn the_rounds_of_a_swiss_tournament_link_to_their_matches() {
    let head = "[format]\nkind = 'swiss'\nrounds = 2\n[options]\nturn_limit = 20";
    let (folder, _) = cup("jeex", head, &["Ada", "Bob", "Eve"]);
    let index = folder.read("site/index.html");
    let rounds = index.split_once("id=\"rounds\"").unwrap().1.split_once("</section>").unwrap().0;
    assert!(rounds.contains(">Round 1</summary>") && rounds.contains(">Round 2</summary>"), "{rounds}");
    assert!(links(rounds).contains(&"matches/m1.html") && rounds.contains("<i>bye</i>"), "{rounds}");
    // Byes are points that could be had, so no entrant has more points than that.
    let report: Value = serde_json::from_str(&output(&folder, &["report", "--format", "json"])).unwrap();
    let rows = report["entrants"].as_array().unwrap();
    for row in rows {
        let [points, possible] = ["points", "possible"].map(|key| row[key].as_f64().unwrap());
        assert!(
            possible == 4.0 && points <= 4.0,
            "two rounds of two matches, one of them a bye for two: {row}"
        );
    }
    let podium = index.split_once("class=\"podium\"").unwrap().1.split_once("</ol>").unwrap().0;
    assert_eq!(podium.matches("of 4 points").count(), 3, "{podium}");
    let file = output(&folder, &["report", "--format", "html"]);
    assert_eq!(file.matches("of 4 points").count(), 3, "{file}");
}

#[test]
fn the_records_of_a_site_verify() {
    let (folder, site) = cup("checkers", "[format]\nkind = 'round_robin'", &["Ada", "Bob", "Eve"]);
    let verified = referee(["verify", &format!("{site}/matches"), "--json"]).done();
    let summary = verified.one("summary");
    assert_eq!((&summary["records"], &summary["differing"]), (&json!(6), &json!(0)));
    let page = format!("{site}/matches/m1.html");
    let shown = |record: &str| referee(["show", record]).done().stdout;
    assert_eq!(shown(&page), shown(&folder.text("cup/records/m1.jsonl")));
    let compress = Command::new("gzip").args(["--keep", &folder.text("cup/records/m1.jsonl")]).status();
    assert!(compress.unwrap().success());
    assert_eq!(shown(&folder.text("cup/records/m1.jsonl.gz")), shown(&page));
    let before = folder.read("site/matches/m1.html");
    output(&folder, &["report", "--site", &site]);
    assert_eq!(folder.read("site/matches/m1.html"), before, "the same bytes when it is written again");
    referee(["verify", &format!("{site}/index.html")]).with_code(2).says(&["a page without a record"]);
    // Data of pages come from strangers.
    let (head, data) = before.split_once("id=\"data\">").unwrap();
    for data in [&data[..200], &data[1..], "#<", "<"] {
        let cut = folder.write("cut.html", format!("{head}id=\"data\">{data}"));
        referee(["verify", &cut]).with_code(2).says(&["cut.html is a page without a record"]);
    }
}

#[test]
fn the_page_of_a_match_is_small() {
    // By game: the maximum size of a page with its record, a quarter more than at present. A match of four or six seats
    // of Keezenspel has hundreds of moves and as many views as seats.
    for (game, seats, entrants, most) in [
        ("checkers", 2, 2, 11_400),
        ("chess", 2, 2, 18_900),
        ("jeex", 2, 2, 8_300),
        ("saxum", 2, 2, 16_400),
        ("xe_queo", 2, 2, 11_900),
        ("keezen", 2, 2, 25_700),
        ("keezen", 4, 2, 63_700),
        ("keezen", 6, 3, 96_000),
    ] {
        let head = format!("seats = {seats}\nmirror = 'none'\n[format]\nkind = 'round_robin'");
        let (folder, site) = cup(game, &head, &["Ada", "Bob", "Eve"][..entrants]);
        let moves = folder.read("cup/records/m1.jsonl").matches("\"kind\":\"move\"").count();
        let page = std::fs::metadata(format!("{site}/matches/m1.html")).unwrap().len();
        println!("{game}, {seats} seats, {moves} moves: {page} bytes");
        assert!(page < most, "{game}, {seats} seats: {page} bytes");
    }
}

#[test]
fn lists_and_pages_count_the_same_moves_with_openings() {
    let head =
        "mirror = 'none'\nopening_plies = 4\noptions = { turn_limit = 8 }\n[format]\nkind = 'round_robin'";
    let (folder, _) = cup("checkers", head, &["ada", "bob"]);
    let (list, page) = (folder.read("site/matches.html"), folder.read("site/matches/m1.html"));
    assert!(list.contains("data-l=\"Moves\">8<"), "{list}");
    let title = page.split("<h1 id=\"title\">").nth(1).and_then(|rest| rest.split("</h1>").next());
    assert!(title.is_some_and(|title| title.ends_with(" 8 moves")), "{title:?}");
}

#[test]
fn first_page_of_200_entrants_is_small_and_searchable() {
    let folder = Folder::new();
    let names: Vec<String> = (1..=200).map(|number| format!("Entrant number {number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut db = create(
        &folder,
        Seating::new(2, 2),
        "game = 'checkers'\n[format]\nkind = 'swiss'\nrounds = 1",
        &names,
    );
    let rows = (0..100_u16).flat_map(|at| {
        let first = 2 * u32::from(at) + 1;
        // Colours alternate from pair to pair.
        let [one, other] = if at % 2 == 0 { [at, at + 100] } else { [at + 100, at] };
        [row(first, [one, other], [1, 2]), row(first + 1, [other, one], [2, 1])]
    });
    let rows: Vec<MatchRow> = rows.collect();
    db.add_matches(&rows).unwrap();
    drop(db);
    let site = site(&folder);
    let index = folder.read("site/index.html");
    let all: usize = ["index.html", "style.css", "search.js"]
        .map(|file| std::fs::metadata(format!("{site}/{file}")).unwrap().len() as usize)
        .iter()
        .sum();
    println!("{} bytes, with style and search {all}", index.len());
    assert!(all < 100_000, "{all} bytes");
    assert!(index.contains("There is no cross table of 200 entrants") && !index.contains("class=\"cross\""));
    for page in 2..=4 {
        assert!(
            folder
                .read(&format!("site/standings-{page}.html"))
                .contains("<h1>Standings of 200 entrants</h1>")
        );
    }
    browser::run("search.mjs", &[&site]);
}

#[test]
fn a_site_is_not_written_through_planted_links() {
    let (folder, site) = cup("checkers", "[format]\nkind = 'round_robin'", &["Ada", "Bob"]);
    let (victim, elsewhere) = (folder.write("victim", "precious"), folder.path("elsewhere"));
    std::fs::create_dir(&elsewhere).unwrap();
    let refused = |what: &str| {
        referee(["tournament", "report", &folder.text("cup"), "--site", &site]).with_code(5).says(&[what]);
    };
    for name in ["index.html", "matches/m1.html", "entrants/1.html"] {
        let path = folder.path("site").join(name);
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink(&victim, &path).unwrap();
        refused(&format!("{name}: expected a file, found a symbolic link"));
        std::fs::remove_file(&path).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        refused(&format!("{name}: expected a file, found a FIFO"));
        std::fs::remove_file(&path).unwrap();
    }
    std::fs::rename(folder.path("site/matches"), folder.path("site/old")).unwrap();
    std::os::unix::fs::symlink(&elsewhere, folder.path("site/matches")).unwrap();
    refused("matches: expected a directory, found a symbolic link");
    assert_eq!((folder.read("victim"), elsewhere.read_dir().unwrap().count()), ("precious".to_owned(), 0));
}

#[test]
fn a_site_shows_only_sealed_and_valid_records() {
    let folder = played("python/random_bot.py", "3");
    let record = |name: &str| folder.path(&format!("cup/records/{name}"));
    std::fs::rename(record("m1.jsonl"), record("m1.unsealed")).unwrap();
    let site = site(&folder);
    let has_replay = |id: u32| folder.read(&format!("site/matches/m{id}.html")).contains("id=\"player\"");
    assert_eq!([1, 2, 3].map(has_replay), [false, true, true], "m1 is not sealed");
    // The seed determines the deals of matches to come.
    let index = folder.read("site/index.html");
    assert!(
        !index.contains(SEED) && index.contains("published when all matches have been played"),
        "{index}"
    );
    // It can be written again, and a damaged record is withdrawn.
    let forged = folder.read("cup/records/m3.jsonl").replacen("\"took_us\":", "\"took_us\":9", 1);
    std::fs::write(record("m3.jsonl"), forged).unwrap();
    let args = ["tournament", "report", &folder.text("cup"), "--site", &site];
    referee(args).with_code(1).says(&["m3.jsonl: line ", "changed after it was sealed"]);
    assert!(!has_replay(3));
    assert!(folder.read("site/matches/m3.html").contains("The record of this match is damaged."));
    referee(args.into_iter().chain(["--format", "json"])).with_code(2).says(&["--site"]);
}

/// A name in JSON and in TOML.
fn quoted(name: &str) -> String {
    json!(name).to_string().replace('\u{202e}', "\\u202e")
}

/// Names that become markup where pages are made of them.
const HOSTILE: [&str; 4] = [
    "</script><script>window.hacked=1</script>",
    "\"><img src=x onerror=window.hacked=1>",
    "' autofocus onfocus='window.hacked=1' <!--",
    "</title></style><iframe srcdoc='<script>parent.hacked=1</script>'>\u{202e}",
];

#[test]
fn hostile_names_are_text_on_all_pages() {
    let head = "[format]\nkind = 'round_robin'\n[options]\nturn_limit = 20";
    let plain = ["Name0", "Name1", "Name2", "Name3"];
    let (folder, site) = cup("checkers", head, &plain);
    let hostile: BTreeMap<&str, &str> = plain.into_iter().zip(HOSTILE).collect();
    let database = rusqlite::Connection::open(folder.path("cup/results.sqlite")).unwrap();
    for (plain, hostile) in &hostile {
        let sql = "UPDATE tournament SET value = replace(value, ?1, ?2) WHERE key = 'config'";
        database.execute(sql, [&quoted(plain), &quoted(hostile)]).unwrap();
        database.execute("UPDATE entrants SET name = ?2 WHERE name = ?1", [plain, hostile]).unwrap();
    }
    for number in 1..=12 {
        let file = format!("cup/records/m{number}.jsonl");
        let record = folder.read(&file);
        let (lines, seal) = record.trim_end().rsplit_once('\n').unwrap();
        let lines = hostile.iter().fold(format!("{lines}\n"), |lines, (plain, hostile)| {
            lines.replace(&quoted(plain), &quoted(hostile))
        });
        let (before, _) = seal.split_once("\"sha256\":").unwrap();
        let seal = format!("{before}\"sha256\":\"{}\"}}\n", digest(lines.as_bytes()));
        folder.write(&file, lines + &seal);
    }
    std::fs::remove_dir_all(&site).unwrap();
    assert_eq!(output(&folder, &["report", "--site", &site]), "");
    assert!(folder.read("site/index.html").contains("&lt;img src=x onerror"));
    visit(&folder, &site, &["file"]);
}
