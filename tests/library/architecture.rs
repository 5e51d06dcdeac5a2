//! Checks the dependency rules of CONTRIBUTING.md, as far as Cargo does not: dependencies point in one direction, and what
//! is above the line performs no I/O.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The crates without files, processes, sockets, clocks and random sources.
const ABOVE: [&str; 4] = ["crates/game/src", "crates/games/src", "crates/match/src", "crates/stats/src"];

/// Paths that these crates must not use.
const OUTSIDE: [&str; 12] = [
    "std::env",
    "std::fs",
    "std::net",
    "std::os",
    "std::path",
    "std::process",
    "std::thread",
    "std::time",
    "getrandom",
    "rustix",
    "tokio",
    "tracing",
];

/// A source file without comments and strings.
struct Source {
    path: PathBuf,
    /// Its path: `crate`, `games`, `checkers`, ...
    module: Vec<String>,
    code: String,
}

/// All sources in a directory.
fn sources(folder: &str) -> Vec<Source> {
    let mut folders = vec![Path::new(ROOT).join(folder)];
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder can be read") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let relative = path.strip_prefix(ROOT).expect("below the root").with_extension("");
                let names = relative
                    .iter()
                    .skip_while(|name| *name != "src")
                    .skip(1)
                    .map(|name| name.to_str().expect("UTF-8").to_owned());
                let mut module: Vec<String> = std::iter::once("crate".to_owned()).chain(names).collect();
                if module.last().is_some_and(|name| name == "mod") {
                    module.pop();
                }
                let code = code(&std::fs::read_to_string(&path).expect("the source can be read"));
                sources.push(Source { path, module, code });
            }
        }
    }
    assert!(!sources.is_empty(), "no sources in {folder}");
    sources
}

/// The text without comments and string literals.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['/', '"', '\'']) {
        code.push_str(&rest[..at]);
        rest = &rest[at..];
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with('"') && code.ends_with('#') {
            rest[1..].find("\"#").map_or(rest.len(), |end| end + 3)
        } else if rest.starts_with('"') {
            let backslashes = |at: usize| rest[..at].bytes().rev().take_while(|&byte| byte == b'\\').count();
            let end = rest.match_indices('"').skip(1).find(|&(at, _)| backslashes(at) % 2 == 0);
            end.map_or(rest.len(), |(at, _)| at + 1)
        } else if rest.starts_with("'\"'") || rest.starts_with("'/'") {
            3
        } else {
            code.push_str(&rest[..1]);
            1
        };
        rest = &rest[skipped..];
    }
    code + rest
}

impl Source {
    /// All paths in the source, in full: those of `use` and those in the code.
    fn paths(&self) -> BTreeSet<String> {
        let mut paths = BTreeSet::new();
        let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        for word in self.code.split(|c| !is_path(c)).filter(|word| word.contains("::")) {
            paths.insert(self.absolute(word));
        }
        let uses = self.code.split(';').filter_map(|statement| {
            let at = statement
                .rfind("use ")
                .filter(|&at| at == 0 || !is_path(statement.as_bytes()[at - 1] as char));
            at.map(|at| &statement[at + 4..])
        });
        for tree in uses {
            let tree: String = tree.split(" as ").next().unwrap_or_default().split_whitespace().collect();
            for path in expanded(&tree) {
                paths.insert(self.absolute(&path));
            }
        }
        paths
    }

    /// The path relative to the root of the crate.
    fn absolute(&self, path: &str) -> String {
        let mut here = self.module.clone();
        let mut rest = path;
        let mut is_relative = false;
        loop {
            if let Some(after) = rest.strip_prefix("self::") {
                rest = after;
            } else if let Some(after) = rest.strip_prefix("super::") {
                here.pop();
                rest = after;
            } else {
                break;
            }
            is_relative = true;
        }
        if is_relative { format!("{}::{rest}", here.join("::")) } else { path.to_owned() }
    }

    fn names(&self, what: &str) -> bool {
        let below = format!("{what}::");
        let is_named = self.paths().iter().any(|path| path == what || path.starts_with(&below));
        // The name of a crate may stand alone, as in an attribute.
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        is_named || (!what.contains("::") && self.code.split(|c| !is_word(c)).any(|word| word == what))
    }
}

/// The paths of a use tree: `a::{b, c::{self, d}}` is `a::b`, `a::c` and `a::c::d`.
fn expanded(tree: &str) -> Vec<String> {
    let Some(open) = tree.find('{') else {
        return vec![tree.strip_suffix("::self").unwrap_or(tree).to_owned()];
    };
    let (prefix, inner) = (&tree[..open], &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())]);
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in inner.chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        match c {
            ',' if depth == 0 => parts.push(String::new()),
            c => parts.last_mut().expect("one at least").push(c),
        }
    }
    parts
        .iter()
        .filter(|part| !part.is_empty())
        .flat_map(|part| expanded(&format!("{prefix}{part}")))
        .collect()
}

#[track_caller]
fn assert_names_none(folder: &str, forbidden: &[&str]) {
    assert_none_of(sources(folder), forbidden);
}

#[track_caller]
fn assert_none_of(sources: Vec<Source>, forbidden: &[&str]) {
    for source in sources {
        for what in forbidden {
            assert!(!source.names(what), "{} names {what}", source.path.display());
        }
    }
}

#[test]
fn crates_above_the_line_perform_no_io() {
    for folder in ABOVE {
        assert_names_none(folder, &OUTSIDE);
    }
}

#[test]
fn a_match_does_not_know_who_reads_its_record() {
    let mut of_match = sources("crates/match/src");
    // Tests may check its record.
    of_match.retain(|source| !source.module.iter().any(|name| ["record", "tests"].contains(&name.as_str())));
    assert_none_of(of_match, &["crate::record"]);
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
    let mut metadata = Command::new(env!("CARGO"));
    metadata.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(ROOT);
    let output = metadata.output().expect("cargo");
    assert!(output.status.success(), "{output:?}");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages").iter();
    let mut packages: BTreeMap<&str, &Value> =
        packages.map(|package| (package["name"].as_str().expect("a name"), package)).collect();
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
    let mut shell = sources("src");
    shell.retain(|source| {
        !["main.rs", "fuzzing.rs", "cli/tournament/corrupt.rs"].iter().any(|path| source.path.ends_with(path))
            && !source.module.iter().any(|name| name == "tests")
    });
    for source in &mut shell {
        let before_tests = source.code.split("#[cfg(test)]").next().map(str::to_owned);
        source.code = before_tests.unwrap_or_default();
    }
    assert_none_of(shell, &["crate::games"]);
    assert!(sources("src").iter().any(|source| source.names("referee::games::catalog")), "main does");
}

#[test]
fn a_lane_knows_neither_where_streams_come_from_nor_what_becomes_of_results() {
    let above = ["crate::runner", "referee_files", "referee_match::record"];
    assert_names_none("crates/engine/src/sources", &above);
    assert_names_none(
        "crates/engine/src/driver",
        &[&above[..], &["crate::sources", "referee_bots"]].concat(),
    );
}

#[test]
fn games_do_not_depend_on_each_other() {
    // Modules shared by all games have no rules page.
    let is_game =
        |module: &str| Path::new(ROOT).join("crates/games/src").join(module).join("rules.md").is_file();
    let of_games: Vec<Source> = sources("crates/games/src")
        .into_iter()
        .filter(|source| source.module.get(1).is_some_and(|module| is_game(module)))
        .collect();
    let games: BTreeSet<&String> = of_games.iter().map(|source| &source.module[1]).collect();
    assert!(games.len() >= 5, "{games:?}");
    for source in &of_games {
        for other in games.iter().filter(|&&game| *game != source.module[1]) {
            let other = format!("crate::{other}");
            assert!(!source.names(&other), "{} names {other}", source.path.display());
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
    let mut sources: Vec<Source> = ["crates", "src"].into_iter().flat_map(sources).collect();
    sources.retain(|source| {
        !["screen", "output", "relay", "log", "progress"]
            .map(|name| source.path.ends_with(format!("cli/{name}.rs")))
            .contains(&true)
    });
    sources.retain(|source| {
        !["runner/host.rs", "cli/tournament/corrupt.rs"].iter().any(|path| source.path.ends_with(path))
    });
    let forbidden = ["print!", "println!", "eprint!", "eprintln!", "io::stdout"];
    assert_none_of(sources, &forbidden);
}

/// The names of the types that this code declares before its tests.
fn types(code: &str) -> impl Iterator<Item = &str> {
    let code = code.split("mod tests {").next().unwrap_or_default();
    code.lines().filter_map(|line| {
        let item = line.trim_start();
        let item = if item.starts_with("pub(") { item.split_once(") ")?.1 } else { item };
        let (kind, rest) = item.strip_prefix("pub ").unwrap_or(item).split_once(' ')?;
        // An indented `type` is an associated one.
        let is_type = ["struct", "enum", "trait"].contains(&kind) || kind == "type" && !line.starts_with(' ');
        rest.split(|c: char| !c.is_alphanumeric()).next().filter(|_| is_type)
    })
}

/// The types whose names other modules use for something else. Each game has its own names, and each subcommand the types of
/// its command line.
fn shared_names<'a>(sources: impl IntoIterator<Item = &'a Source>) -> Vec<&'a str> {
    let (mut seen, mut shared) = (BTreeSet::new(), Vec::new());
    for source in sources {
        let is_game = source.path.starts_with(Path::new(ROOT).join("crates/games"));
        if !is_game && !source.module.iter().any(|name| name == "tests") {
            let names = types(&source.code).filter(|name| *name != "Command" && !name.ends_with("Args"));
            shared.extend(names.filter(|name| !seen.insert(*name)));
        }
    }
    shared
}

#[test]
fn a_type_name_has_one_meaning() {
    let all = ["crates", "src"].map(sources);
    assert_eq!(shared_names(all.iter().flatten()), [""; 0]);
}

#[test]
fn the_checks_detect_violations() {
    let source = |text: &str| Source {
        path: PathBuf::new(),
        module: ["crate", "checkers", "moves"].map(str::to_owned).to_vec(),
        code: code(text),
    };
    for text in [
        "use std::fs;",
        "use std::{fmt, fs::{self, File}};",
        "pub(crate) use std::fs::File as Disk;",
        "fn f() { let x = '\"'; std::fs::read(\"a\") }",
        "fn f(a: &'a str) -> std::fs::File {}",
        "use std::{\n    io,\n    fs,\n};",
    ] {
        assert!(source(text).names("std::fs"), "{text}");
    }
    for text in [
        "// std::fs",
        "/// Not `std::fs`.\nfn f() {}",
        "const A: &str = \"std::fs \\\" std::fs\";",
        "use std::fmt;",
        "use mystd::fs;",
        "let a = r#\"std::fs\"#;",
    ] {
        assert!(!source(text).names("std::fs"), "{text}");
    }
    for text in ["use super::super::jeex;", "use super::super::{jeex::Board};", "crate::jeex::Board"] {
        assert!(source(text).names("crate::jeex"), "{text}");
    }
    assert!(!source("use super::jeex;").names("crate::jeex"), "a module of its own");
    assert!(source("#[tokio::main]").names("tokio") && !source("let tokios = 1;").names("tokio"));
    let module = |name: &str, text: &str| Source { module: vec![name.to_owned()], ..source(text) };
    let shared = [
        module("driver", "pub(super) struct Lane<S> {}\nenum State {}\n    type Item = u8;\nstruct Args;"),
        module("web", "    pub enum State {}\n    type Item = u8;\npub trait Watch {}\nstruct Args;"),
        Source {
            path: Path::new(ROOT).join("crates/games/src/jeex/mod.rs"),
            ..module("jeex", "struct Lane;")
        },
        module("store", "mod tests {\n    struct Lane;\n}"),
    ];
    assert_eq!(shared_names(&shared), ["State"]);
    assert!(sources("crates/engine/src/driver").iter().any(|source| source.names("tokio")), "the shell does");
    assert!(sources("crates/bots/src").iter().any(|source| source.names("rustix")), "the shell does");
}
