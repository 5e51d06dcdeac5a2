//! Checks the dependency rules of CONTRIBUTING.md: those of crates by what Cargo says, those within a crate by the paths that
//! its lines name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The crates without files, processes, sockets, clocks and random sources.
const ABOVE: [&str; 4] = ["game", "games", "match", "stats"];

/// A line of a source file that is no comment.
#[derive(Debug)]
struct Line {
    /// The path of the file below the root.
    path: PathBuf,
    text: String,
}

impl Line {
    /// Returns whether it has this path, or one below it.
    fn names(&self, path: &str) -> bool {
        let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let is_open = !is_part(path.chars().next_back());
        self.text.match_indices(path).any(|(at, _)| {
            let (before, after) = (&self.text[..at], &self.text[at + path.len()..]);
            !is_part(before.chars().next_back()) && (is_open || !is_part(after.chars().next()))
        })
    }
}

/// All source files in a directory.
fn files(folder: &str) -> Vec<PathBuf> {
    let mut folders = vec![Path::new(ROOT).join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder can be read") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    assert!(!files.is_empty(), "no sources in {folder}");
    files
}

/// The lines of all source files in a directory.
fn lines(folder: &str) -> Vec<Line> {
    let of_file = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("the source can be read");
        let path = path.strip_prefix(ROOT).expect("below the root");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        code.map(|line| Line { path: path.to_owned(), text: line.to_owned() }).collect::<Vec<_>>()
    };
    files(folder).into_iter().flat_map(of_file).collect()
}

fn is_of_tests(path: &Path) -> bool {
    path.iter().any(|name| name == "tests" || name == "tests.rs")
}

#[track_caller]
fn assert_none_names(lines: &[Line], forbidden: &[&str]) {
    let found = lines.iter().find(|line| forbidden.iter().any(|path| line.names(path)));
    assert!(found.is_none(), "{found:?}");
}

#[test]
fn crates_above_the_line_perform_no_io() {
    for name in ABOVE {
        let folder = format!("crates/{name}/src");
        // A tree below `std` could hide one of them.
        let outside = ["env", "fs", "net", "os", "path", "process", "thread", "time", "{"];
        let outside = outside.map(|module| format!("std::{module}"));
        assert_none_names(&lines(&folder), &outside.each_ref().map(String::as_str));
    }
    let metadata = metadata();
    let packages = packages(&metadata);
    for name in ABOVE {
        let package = packages[&*format!("referee-{name}")];
        let outside = ["getrandom", "rustix", "tokio", "tracing"];
        let normal = package["dependencies"].as_array().expect("dependencies").iter();
        let mut normal = normal.filter(|dependency| dependency["kind"].is_null());
        assert!(!normal.any(|dependency| outside.iter().any(|name| dependency["name"] == *name)), "{name}");
    }
}

#[test]
fn a_match_does_not_know_who_reads_its_record() {
    let mut of_match = lines("crates/match/src");
    // Tests may check its record, and lib.rs has it.
    of_match.retain(|line| {
        !is_of_tests(&line.path) && !line.path.iter().any(|name| name == "record" || name == "lib.rs")
    });
    assert_none_names(&of_match, &["crate::record", "super::record", "crate::{"]);
}

/// Cargo's description of the workspace.
fn metadata() -> Value {
    let mut metadata = Command::new(env!("CARGO"));
    metadata.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(ROOT);
    let output = metadata.output().expect("cargo");
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The packages of the workspace by name.
fn packages(metadata: &Value) -> BTreeMap<&str, &Value> {
    let packages = metadata["packages"].as_array().expect("packages").iter();
    packages.map(|package| (package["name"].as_str().expect("a name"), package)).collect()
}

/// The crates of the repository that this member of the workspace depends on, without the prefix that all names have.
fn crates_below(package: &Value) -> BTreeSet<&str> {
    let dependencies = package["dependencies"].as_array().expect("dependencies").iter();
    let normal =
        dependencies.filter(|dependency| dependency["kind"].is_null() && !dependency["path"].is_null());
    normal.filter_map(|dependency| dependency["name"].as_str()?.strip_prefix("referee-")).collect()
}

#[test]
fn the_crates_depend_on_each_other_as_documented() {
    let metadata = metadata();
    let mut packages = packages(&metadata);
    let page = std::fs::read_to_string(format!("{ROOT}/CONTRIBUTING.md")).expect("a page");
    let list = page.split("```\n").find(|block| block.starts_with("referee-protocol\n")).expect("the list");
    let mut listed = BTreeSet::new();
    for line in list.lines() {
        let mut names = line.split_whitespace();
        let name = names.next().expect("a crate");
        let documented: BTreeSet<&str> = names.collect();
        assert_eq!(crates_below(packages[name]), documented, "{name}");
        assert!(documented.is_subset(&listed), "{name} depends on a crate that is listed after it");
        listed.insert(name.strip_prefix("referee-").unwrap_or(name));
    }
    let folder = format!("{ROOT}/crates/");
    packages
        .retain(|_, package| package["manifest_path"].as_str().is_some_and(|path| path.starts_with(&folder)));
    packages.retain(|name, _| !name.strip_prefix("referee-").is_some_and(|name| listed.contains(name)));
    assert!(packages.is_empty(), "{:?} are not listed", packages.keys());
}

#[test]
fn only_main_decides_which_games_there_are() {
    let mut shell = lines("src");
    let may = ["lib.rs", "main.rs", "fuzzing.rs", "cli/tournament/corrupt.rs"];
    shell.retain(|line| !may.iter().any(|path| line.path.ends_with(path)) && !is_of_tests(&line.path));
    // Tests are at the end of a file.
    let mut in_tests: BTreeSet<PathBuf> = BTreeSet::new();
    shell.retain(|line| {
        if line.text == "#[cfg(test)]" {
            in_tests.insert(line.path.clone());
        }
        !in_tests.contains(&line.path)
    });
    assert_none_names(&shell, &["crate::games", "referee_games"]);
}

#[test]
fn lane_knows_neither_sources_of_streams_nor_uses_of_results() {
    let above = ["crate::runner", "crate::{", "referee_files", "referee_match::record", "super::super"];
    assert_none_names(&lines("crates/engine/src/sources"), &above);
    let driver = [&above[..], &["crate::sources", "referee_bots"]].concat();
    assert_none_names(&lines("crates/engine/src/driver"), &driver);
}

#[test]
fn games_do_not_depend_on_each_other() {
    let folder = "crates/games/src";
    let folders = std::fs::read_dir(Path::new(ROOT).join(folder)).expect("the games");
    let names = folders.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
    // Modules shared by all games have no rules page.
    let is_game = |name: &String| Path::new(ROOT).join(folder).join(name).join("rules.md").is_file();
    let games: Vec<String> = names.filter(is_game).collect();
    assert!(games.len() >= 5, "{games:?}");
    for game in &games {
        let lines = lines(&format!("{folder}/{game}"));
        for other in games.iter().filter(|other| *other != game) {
            assert_none_names(&lines, &[&format!("crate::{other}"), &format!("super::{other}"), "crate::{"]);
        }
    }
}

/// The mandatory and the optional dependencies in a section of a manifest.
fn dependencies(manifest: &str, section: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let text = std::fs::read_to_string(format!("{ROOT}/{manifest}")).expect("the manifest");
    let section = text.split(&format!("\n[{section}]\n")).nth(1).expect("the section").split("\n[").next();
    let lines = section.expect("a part").lines().filter(|line| !line.starts_with('#') && line.contains('='));
    let (optional, always): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.contains("optional = true"));
    let name = |line: &&str| line.split(['.', ' ']).next().unwrap_or_default().to_owned();
    (always.iter().map(name).collect(), optional.iter().map(name).collect())
}

#[test]
fn the_protocol_depends_only_on_serde() {
    let (always, optional) = dependencies("protocol/Cargo.toml", "dependencies");
    assert_eq!(Vec::from_iter(always), ["serde"]);
    assert_eq!(Vec::from_iter(optional), ["schemars"]);
}

#[test]
fn dependencies_of_the_shell_are_optional() {
    let (always, optional) = dependencies("Cargo.toml", "dependencies");
    let above_the_line = [
        "referee-game",
        "referee-games",
        "referee-match",
        "referee-protocol",
        "referee-stats",
        "serde",
        "serde_json",
    ];
    assert_eq!(Vec::from_iter(always), above_the_line);
    for name in ["clap", "getrandom", "rustix", "tokio", "tracing"] {
        assert!(optional.contains(name), "{name}");
    }
}

#[test]
fn every_subcommand_writes_through_one_writer() {
    // `println!` and similar macros panic if the output fails.
    let mut lines: Vec<Line> = ["crates", "src"].into_iter().flat_map(lines).collect();
    let may = ["screen", "output", "relay", "log", "progress", "tournament/corrupt"];
    let may = may.map(|name| format!("src/cli/{name}.rs"));
    lines.retain(|Line { path, .. }| {
        !may.iter().any(|name| path == Path::new(name))
            && !path.ends_with("runner/host.rs")
            && !is_of_tests(path)
            && !path.iter().any(|name| name == "benches")
    });
    assert_none_names(&lines, &["print!", "println!", "eprint!", "eprintln!", "io::stdout"]);
}

/// The messages of error types in a source, each with the variant or type that has it.
fn messages(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split("#[error(").skip(1).filter_map(|rest| {
        let (message, rest) = rest.split_once(")]\n")?;
        let start = rest.lines().take_while(|line| line.trim_start().starts_with(['/', '#']));
        let item = &rest[start.map(|line| line.len() + 1).sum()..];
        let first = item.lines().next()?;
        let indent = &first[..first.len() - first.trim_start().len()];
        let end = if first.ends_with(['{', '(']) {
            ["}", ")"].iter().filter_map(|close| item.find(&format!("\n{indent}{close}"))).min()?
        } else {
            first.len()
        };
        Some((message, &item[..end]))
    })
}

/// The fields of a variant that are the source of its error: a name or an index.
fn sources(item: &str) -> Vec<String> {
    let marks = item.match_indices("#[from]").chain(item.match_indices("#[source]"));
    let marked = marks.map(|(at, mark)| {
        let after = item[at + mark.len()..].trim_start().trim_start_matches("pub ");
        let name = after.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        if after[name.len()..].starts_with(':') && !after[name.len()..].starts_with("::") {
            name.to_owned()
        } else {
            item[..at].matches(',').count().to_string()
        }
    });
    marked.chain(item.contains(" source: ").then(|| "source".to_owned())).collect()
}

/// The sources of crates and of the command, each with its text before its tests.
fn code() -> Vec<(PathBuf, String)> {
    let mut paths: Vec<PathBuf> = ["crates", "src"].into_iter().flat_map(files).collect();
    paths.retain(|path| !is_of_tests(path) && !path.iter().any(|name| name == "benches"));
    let code = paths.into_iter().map(|path| {
        let text = std::fs::read_to_string(&path).expect("the source can be read");
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
        (path, code)
    });
    code.collect()
}

#[test]
fn no_message_of_an_error_contains_its_source() {
    for (path, text) in code() {
        for (message, item) in messages(&text) {
            let uses = |field: &String| {
                let uses = [format!("{{{field}}}"), format!("{{{field}:"), format!(".{field}")];
                uses.iter().any(|field| message.contains(field))
            };
            assert!(!sources(item).iter().any(uses), "{}: {message}", path.display());
            assert!(!message.contains("Chain("), "{}: {message}", path.display());
        }
    }
}

/// The types of fields of a variant or a struct, each with whether it is the source of the error.
fn fields(item: &str) -> Vec<(&str, bool)> {
    let Some(open) = item.find(['(', '{']) else { return Vec::new() };
    let body = item[open + 1..].trim_end_matches(',').trim_end_matches([')', '}']);
    let mut fields = vec![];
    let (mut depth, mut begin) = (0, 0);
    for (at, c) in body.char_indices().chain([(body.len(), ',')]) {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                fields.push(&body[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    let described = |field: &str| field.lines().all(|line| line.trim().is_empty());
    fields.retain(|field| !described(field));
    let typed = fields.into_iter().map(|field| {
        let code = field.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        let code = code.rsplit(": ").next().unwrap_or_default();
        (
            code.rsplit("] ").next().unwrap_or_default().trim(),
            field.contains("#[from]") || field.contains("#[source]"),
        )
    });
    typed.collect()
}

#[test]
fn every_error_within_an_error_is_its_source() {
    let code = code();
    let mut errors: BTreeSet<&str> =
        ["io::Error", "std::io::Error", "serde_json::Error", "rusqlite::Error"].into();
    for (_, text) in &code {
        for after in text.split("thiserror::Error").skip(1) {
            let mut words = after.split_whitespace().skip_while(|word| !["enum", "struct"].contains(word));
            let name = words.nth(1).unwrap_or_default();
            errors.insert(name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default());
        }
    }
    assert!(errors.contains("Wrong") && errors.contains("StoreError"), "{errors:?}");
    for (path, text) in &code {
        for (message, item) in messages(text).filter(|(message, _)| *message != "transparent") {
            for (kind, is_source) in fields(item) {
                let is_error = errors.contains(kind) || kind.contains("dyn Error");
                assert!(!is_error || is_source, "{}: {message}: {kind}", path.display());
            }
        }
    }
}

#[test]
fn fields_of_errors_are_found() {
    let text = "
    #[error(\"{name} {1}\")]
    Unreadable {
        /// Its name.
        name: BTreeMap<String, u8>,
        #[source]
        why: io::Error,
    },
    #[error(
        \"one {}\", words(.0)
    )]
    Pair(String, #[from] Wrong),
    #[error(\"two\")]
    Plain,
";
    let found: Vec<_> = messages(text).map(|(_, item)| (fields(item), sources(item))).collect();
    let named = vec![("BTreeMap<String, u8>", false), ("io::Error", true)];
    let unnamed = vec![("String", false), ("Wrong", true)];
    assert_eq!(found, [(named, vec!["why".to_owned()]), (unnamed, vec!["1".to_owned()]), (vec![], vec![])]);
}

/// The contents of the literals of a source, without its comments.
fn literals(text: &str) -> Vec<String> {
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n").replace("\\\"", "'").replace("'\"'", "");
    code.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Returns whether a text has the name of an option, besides in commands such as `git config --global`.
fn names_option(text: &str) -> bool {
    let commands = ["cargo ", "git ", "referee ", "systemd-run "];
    let is_command = |part: &&str| commands.iter().any(|command| part.starts_with(command));
    let text: String = text.split('`').filter(|part| !is_command(part)).collect();
    text.match_indices("--").any(|(at, _)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + 2..].chars().next());
        !before.is_some_and(|c| c.is_alphanumeric() || c == '-')
            && !text[..at].ends_with("var(")
            && after.is_some_and(|c| c.is_ascii_lowercase())
    })
}

#[test]
fn no_sentence_of_a_library_names_an_option() {
    assert!(names_option("give `--game DIR`") && names_option("names it (--base-dir)"));
    assert!(!names_option("run `git config --global --add NAME`, or a--b, or fill=\"var(--dark)\""));
    // The log of a league has its acts as the commands that do them, and `referee check` starts bots with `--connect`.
    let log = [
        "add ",
        "challenge ",
        "finals ",
        "invitations ",
        "invite ",
        "owner ",
        "submission ",
        "{word} ",
        " --",
    ];
    let mut code = code();
    code.retain(|(path, _)| path.starts_with(Path::new(ROOT).join("crates")));
    for (path, text) in code {
        let is_log = |text: &str| {
            path.components().any(|part| part.as_os_str() == "league")
                && log.iter().any(|begin| text.starts_with(begin))
        };
        let is_sentence =
            |text: &&String| text.contains(' ') && !is_log(text) && !path.ends_with("steps/reconnect.rs");
        let found = literals(&text).into_iter().find(|text| is_sentence(&text) && names_option(text));
        assert!(found.is_none(), "{}: {found:?}", path.display());
    }
}
