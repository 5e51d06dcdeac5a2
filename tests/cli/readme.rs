//! The claims of the README and the guide, and the links of the book.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::common::{Folder, ROOT, SEED, in_rust, referee, sample};

fn readme() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap()
}

/// The fenced blocks of a language.
fn fences(text: &str, language: &str) -> Vec<String> {
    let opening = format!("```{language}\n");
    text.split(&opening).skip(1).filter_map(|rest| Some(rest.split_once("```")?.0.to_owned())).collect()
}

/// The command lines of a page that run the referee, without its name: those in blocks, then those in sentences.
fn command_lines(text: &str) -> Vec<String> {
    let blocks = fences(text, "sh").concat();
    let in_blocks = blocks
        .lines()
        .filter_map(|line| line.strip_prefix("cargo run -- ").or(line.strip_prefix("referee ")));
    let in_sentences = text.split('`').skip(1).step_by(2).filter_map(|code| code.strip_prefix("referee "));
    in_blocks.chain(in_sentences).map(str::to_owned).collect()
}

/// The arguments of the command lines of the README.
fn commands() -> Vec<Vec<String>> {
    command_lines(&readme()).iter().map(|line| shlex::split(line).unwrap()).collect()
}

#[test]
fn bot_in_ten_lines_plays_ten_matches_without_fault() {
    let folder = tempfile::tempdir().unwrap();
    let bot = &fences(&readme(), "python")[0];
    assert!(bot.lines().count() <= 12, "no longer a bot in ten lines:\n{bot}");
    fs::write(folder.path().join("mybot.py"), bot).unwrap();
    let command =
        commands().into_iter().find(|words| words.iter().any(|word| word.contains("mybot.py"))).unwrap();
    std::os::unix::fs::symlink(concat!(env!("CARGO_MANIFEST_DIR"), "/bots"), folder.path().join("bots"))
        .unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_referee"))
        .args(&command)
        .args(["--json", "--strict"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.lines().last().unwrap().contains(r#""matches":10"#), "{text}");
}

#[test]
fn first_command_shows_match_and_writes_valid_record() {
    let folder = tempfile::tempdir().unwrap();
    let mut commands = commands();
    let show = commands.remove(1);
    let mut command = commands.remove(0);
    let records = command.last_mut().unwrap();
    *records = folder.path().join(&records).to_string_lossy().into_owned();
    for _ in 0..2 {
        let output = Command::new(env!("CARGO_BIN_EXE_referee"))
            .args(&command)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        for part in ["  1. random: ", "Black to move", "m1: ", " wins (", "m1.jsonl"] {
            assert!(text.contains(part), "{part} is missing in:\n{text}");
        }
        assert!(!text.contains('\x1b'), "colours in a pipe");
        let record = text.lines().last().unwrap().strip_prefix("record: ").unwrap();
        let verified = Command::new(env!("CARGO_BIN_EXE_referee")).args(["verify", record]).output().unwrap();
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
    }
    let shown = Command::new(env!("CARGO_BIN_EXE_referee")).args(&show).current_dir(folder.path()).output();
    assert!(shown.expect("it starts").status.success(), "{show:?}");
    assert!(fs::read_to_string(folder.path().join("match.html")).unwrap().contains("</html>"));
}

#[test]
fn every_command_of_the_readme_and_the_guide_works() {
    let folder = Folder::new();
    std::os::unix::fs::symlink(format!("{ROOT}/bots"), folder.path("bots")).expect("a link");
    fs::create_dir_all(folder.path("examples/engines")).expect("a directory");
    let mut copy = Command::new("cp");
    copy.arg("-r").arg(format!("{ROOT}/examples/engines/recorded")).arg(folder.path("examples/engines"));
    assert!(copy.status().expect("cp starts").success());
    folder.write("mybot.py", &fences(&readme(), "python")[0]);
    for (seed, bot) in ["bot", "mybot", "new", "old"].into_iter().enumerate() {
        let script = format!("#!/bin/sh\nexec '{}' --seed {seed}\n", in_rust("referee-random").display());
        fs::set_permissions(folder.write(bot, script), Permissions::from_mode(0o700)).expect("its own file");
    }
    folder.write("book.pdn", "1. 11-15 *\n\n1. 9-14 *\n\n1. 10-15 *\n");
    folder.write("book.pgn", "1. e4 *\n\n1. d4 *\n\n1. c4 *\n");
    folder.write_secret("workers.token", format!("one={}", "0".repeat(64)));
    let run = |line: &str| {
        // The ports may be in use, nothing may listen beyond this machine, and a few matches are enough.
        let mut line = line.to_owned();
        for (shown, here) in [
            ("0.0.0.0:4711", "127.0.0.1:0"),
            ("127.0.0.1:4700", "127.0.0.1:0"),
            ("host:4711", "127.0.0.1:1"),
            ("-n 100 ", "-n 4 "),
            ("-n 200 ", "-n 6 "),
            ("--new ./new --base ./old", "--new ./new --base ./old --max-sets 4"),
            (" --dir race", " --dir race --max-sets 4"),
            ("tournament watch results", "tournament watch results --watch 127.0.0.1:0"),
        ] {
            line = line.replace(shown, here);
        }
        if line.starts_with("init bot") {
            line = line.replace(" mybot", " written");
        }
        let words = shlex::split(&line).expect("words");
        // They play until they are stopped, or wait for another process.
        let waits = line.contains("listen")
            || line.starts_with("tournament watch")
            || ["debug", "human", "serve", "worker"].contains(&words[0].as_str());
        let mut command = Command::new("timeout");
        command.args([if waits { "2" } else { "60" }, env!("CARGO_BIN_EXE_referee")]).args(&words);
        // Debian keeps engines where root does not look for programs.
        command.env("PATH", std::env::var("PATH").expect("a path") + ":/usr/games");
        let output = command.current_dir(folder.path("")).stdin(Stdio::null()).output().expect("it runs");
        let code = output.status.code().expect("a code");
        let is_right = match words[0].as_str() {
            "regress" | "best" | "sprt" => [0, 3].contains(&code),
            // A layer may be missing here.
            "sandbox" => [0, 1].contains(&code),
            _ => code == 0 || waits && [124, 130].contains(&code),
        };
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(is_right, "{code}: referee {line}\n{text}");
    };
    for shard in 1..=4 {
        run(&format!(
            "regress checkers --new ./new --base ./old --shard {shard}/4 --seed {SEED} --results {shard}.jsonl"
        ));
    }
    let guide = ["play", "compare", "tournaments", "leagues", "games", "engines", "models"];
    let guide = guide.map(|page| fs::read_to_string(format!("{ROOT}/guide/{page}.md")).expect("the page"));
    let mut lines: Vec<String> =
        [readme()].iter().chain(&guide).flat_map(|page| command_lines(page)).collect();
    // These are names of subcommands; the client of `mcp`, and `submit` with a league of others, have tests of their own.
    let is_elsewhere = |line: &str| line.starts_with("mcp ") || line.starts_with("submit --to https://host/");
    lines.retain(|line| {
        !(["best", "imagine", "play", "regress", "verify"].contains(&line.as_str()) || is_elsewhere(line))
    });
    for (at, line) in lines.iter().enumerate() {
        if lines[..at].contains(line) {
            continue;
        }
        run(line);
        if line.starts_with("play checkers \"python3 bots") {
            run("export records --format pdn -o games.pdn");
        }
    }
}

#[test]
fn the_picture_of_the_readme_is_current() {
    let folder = Folder::new();
    let bots = ["--seed 1", "--seed 2"].map(|seed| format!("{} {seed}", sample("python/random_bot.py")));
    let records = folder.text("records");
    referee(["play", "checkers", &bots[0], &bots[1], "--seed", SEED, "--record", &records]).with_code(0);
    let drawn = referee(["show", &folder.text("records/m1.jsonl"), "--svg", "--turn", "14"]).done().stdout;
    let path = format!("{ROOT}/examples/replay.svg");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &drawn).unwrap();
    }
    assert!(readme().contains(r#"<img src="examples/replay.svg""#));
    let hint = "UPDATE=1 cargo test --test cli readme:: draws it anew";
    assert!(fs::read_to_string(&path).unwrap() == drawn, "{path} is not current: {hint}");
}

/// The links of a page of the book to files of the repository, and the anchors of its headings.
struct Page {
    links: Vec<String>,
    anchors: Vec<String>,
}

impl Page {
    fn read(path: &str) -> Page {
        let text =
            fs::read_to_string(format!("{ROOT}/{path}")).unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut page = Page { links: Vec::new(), anchors: Vec::new() };
        let mut heading = None;
        for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.into_string());
                }
                Event::Html(html) | Event::InlineHtml(html) => {
                    let sources = html.split("src=\"").skip(1);
                    page.links.extend(sources.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())));
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::Text(part) | Event::Code(part) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&part);
                    }
                }
                Event::End(TagEnd::Heading(_)) => page.add_anchor(&heading.take().expect("it has begun")),
                _ => {}
            }
        }
        page.links.retain(|link| !link.contains(':'));
        page
    }

    /// Adds what readers of Markdown make of a heading, with a number if the page has had it.
    fn add_anchor(&mut self, heading: &str) {
        let kept = heading.trim().chars().filter(|char| char.is_alphanumeric() || " -_".contains(*char));
        let anchor: String = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let numbered = (1..).map(|number| format!("{anchor}-{number}"));
        let free = [anchor.clone()].into_iter().chain(numbered).find(|anchor| !self.anchors.contains(anchor));
        self.anchors.extend(free);
    }
}

/// The path to which a link on a page leads, from the root.
fn target(page: &str, link: &str) -> String {
    let mut target = PathBuf::from(page);
    target.pop();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir => assert!(target.pop(), "{page}: {link} leads out of the repository"),
            part => target.push(part),
        }
    }
    target.to_str().expect("UTF-8").to_owned()
}

#[test]
fn every_link_of_book_leads_to_page_or_file() {
    let listed = Page::read("book/SUMMARY.md").links;
    let pages: BTreeMap<&str, Page> = listed.iter().map(|path| (path.as_str(), Page::read(path))).collect();
    for folder in ["guide", "protocol/spec"] {
        for file in fs::read_dir(format!("{ROOT}/{folder}")).expect("a directory") {
            let path = format!("{folder}/{}", file.expect("an entry").file_name().display());
            assert!(pages.contains_key(path.as_str()), "book/SUMMARY.md does not list {path}");
        }
    }
    for (&name, page) in &pages {
        for link in &page.links {
            let (path, anchor) =
                link.split_once('#').map_or((link.as_str(), None), |(path, anchor)| (path, Some(anchor)));
            let target = if path.is_empty() { name.to_owned() } else { target(name, path) };
            let place = format!("{name} links to {link}");
            let file = fs::canonicalize(format!("{ROOT}/{target}"))
                .unwrap_or_else(|error| panic!("{place}: {error}"));
            assert!(file.is_file(), "{place}, a directory, which has no page");
            let in_book = fs::canonicalize(format!("{ROOT}/book/{target}"));
            assert!(
                in_book.is_ok_and(|linked| linked == file),
                "{place}: book/{target} has to be a link to {target}"
            );
            if target.ends_with(".md") {
                let page =
                    pages.get(target.as_str()).unwrap_or_else(|| panic!("{place}: book/SUMMARY.md lacks it"));
                assert!(
                    anchor.is_none_or(|anchor| page.anchors.iter().any(|is| is == anchor)),
                    "{place}: no such heading"
                );
            }
        }
    }
}
