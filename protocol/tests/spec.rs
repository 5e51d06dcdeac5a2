//! The pages in `spec/` and the transcripts say what the schemas say, and their examples are true.

use std::path::{Path, PathBuf};
use std::process::Command;

use jsonschema::Validator;
use referee_protocol::schemas::{FROM_BOT, FROM_REFEREE, IMAGINE_ANSWER, IMAGINE_REQUEST};
use serde_json::Value;

fn validators() -> [Validator; 4] {
    [FROM_REFEREE, FROM_BOT, IMAGINE_REQUEST, IMAGINE_ANSWER].map(|text| {
        let schema: Value = serde_json::from_str(text).expect("the schema is JSON");
        jsonschema::draft202012::new(&schema).expect("the schema is complete")
    })
}

/// The files of a folder of this crate that end so, by name.
fn files(folder: &str, ending: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(folder).expect("the folder can be read");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.to_str().is_some_and(|path| path.ends_with(ending)))
        .collect();
    files.sort();
    files
}

/// Calls `check` with each line in the blocks of this kind, and the place where it stands.
fn for_each_line(page: &Path, kind: &str, mut check: impl FnMut(&str, &str)) {
    let text = std::fs::read_to_string(page).expect("the page can be read");
    let mut block = None;
    for (number, line) in (1..).zip(text.lines()) {
        match (block, line.strip_prefix("```")) {
            (None, Some(opened)) => block = Some(opened),
            (Some(_), Some(rest)) => {
                assert_eq!(rest, "", "{}:{number}: a block is not closed", page.display());
                block = None;
            }
            (Some(opened), None) if opened == kind => {
                check(&format!("{}:{number}", page.display()), line);
            }
            _ => {}
        }
    }
    assert_eq!(block, None, "{}: a block is not closed", page.display());
}

/// What stands in the blocks of this kind of a page.
fn block(page: &Path, kind: &str) -> String {
    let mut text = String::new();
    for_each_line(page, kind, |_, line| {
        text.push_str(line);
        text.push('\n');
    });
    text
}

#[test]
fn every_message_in_the_specification_is_valid() {
    let validators = validators();
    let (mut pages, mut lines) = (0, 0);
    for page in files("spec", ".md") {
        pages += 1;
        for_each_line(&page, "json", |place, line| {
            lines += 1;
            let message = serde_json::from_str(line).unwrap_or_else(|error| panic!("{place}: {error}"));
            if !validators.iter().any(|validator| validator.is_valid(&message)) {
                let why =
                    validators.each_ref().map(|v| v.validate(&message).expect_err("invalid").to_string());
                panic!("{place}: no message of any kind, since {}: {line}", why.join("; "));
            }
        });
    }
    assert!(pages >= 7 && lines >= 40, "only {lines} messages on {pages} pages");
}

#[test]
fn every_record_line_in_specification_is_compact_typed_json() {
    let mut lines = 0;
    for page in files("spec", ".md") {
        for_each_line(&page, "record", |place, line| {
            lines += 1;
            serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{place}: {error}"));
            assert!(line.starts_with("{\"type\":\""), "{place}: {line}");
        });
    }
    assert!(lines >= 30, "only {lines} lines of records");
}

#[test]
fn every_line_of_the_transcripts_is_valid() {
    let [from_referee, from_bot, ..] = validators();
    let mut lines = 0;
    for path in files("transcripts", ".jsonl") {
        let text = std::fs::read_to_string(&path).expect("the transcript can be read");
        for (number, line) in (1..).zip(text.lines()).skip(1) {
            lines += 1;
            let said: Value = serde_json::from_str(line).expect("JSON");
            let place = format!("{}:{number}", path.display());
            match (said["from"].as_str(), &said["line"], &said["text"]) {
                (Some("referee"), line @ Value::Object(_), Value::Null) => {
                    from_referee.validate(line).unwrap_or_else(|error| panic!("{place}: {error}"));
                }
                (Some("bot"), line @ Value::Object(_), Value::Null) => {
                    from_bot
                        .validate(line)
                        .unwrap_or_else(|error| panic!("{place}: {error}: write it as `text`"));
                }
                (Some("bot"), Value::Null, Value::String(text)) => {
                    let message = serde_json::from_str(text).unwrap_or(Value::Null);
                    // Only its text shows a duplicate key.
                    let is_plain =
                        serde_json::to_string(&message).is_ok_and(|plain| plain.len() == text.len());
                    assert!(!is_plain || !from_bot.is_valid(&message), "{place}: write it as `line`");
                }
                _ => panic!("{place}: {line}"),
            }
        }
    }
    assert!(lines >= 100, "only {lines} lines");
}

#[test]
fn every_line_of_the_transcript_of_referee_imagine_is_valid() {
    let [.., request, answer] = validators();
    let text = include_str!("../transcripts/imagine/every_game.jsonl");
    let mut lines = 0;
    for line in text.lines().skip(1) {
        let said: Value = serde_json::from_str(line).expect("JSON");
        let validator = if said["from"] == "referee" { &answer } else { &request };
        if said["line"].is_object() {
            lines += 1;
            validator.validate(&said["line"]).unwrap_or_else(|error| panic!("{error}: {line}"));
        }
    }
    assert!(lines >= 60, "only {lines} lines");
}

#[test]
fn program_on_page_about_chance_prints_what_stands_below_it() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("spec/chance.md");
    let python = Command::new("python3").args(["-c", &block(&page, "python")]).output().expect("Python runs");
    assert_eq!(String::from_utf8_lossy(&python.stderr), "");
    let printed = String::from_utf8(python.stdout).expect("UTF-8");
    assert_eq!(printed, block(&page, "text"));
    assert_eq!(printed, "3 6 6 5 4 6\n1 9 6 0 7 3 2 8 5 4\n");
}

#[test]
fn the_specification_lists_every_limit_with_its_value() {
    let source = include_str!("../src/limits.rs");
    let page = include_str!("../spec/faults.md");
    let limits = source.lines().filter_map(|line| line.strip_prefix("pub const ")?.split_once(": "));
    let mut count = 0;
    for (name, rest) in limits {
        let (_, value) = rest.trim_end_matches(';').split_once(" = ").unwrap();
        let value: u64 =
            value.split(" * ").map(|factor| factor.replace('_', "").parse::<u64>().unwrap()).product();
        let row = format!("| `{name}` | {value} |");
        assert!(page.contains(&row), "the table of limits has no row `{row}`");
        count += 1;
    }
    assert!(count > 20, "only {count} limits were found");
}
