//! `referee verify`, `show` and `export` on mutated records.

use crate::common::{Folder, ROOT, referee};
use crate::records::{played_over, record, resealed};

/// Pseudorandom numbers: SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % end as u64) as usize
    }
}

/// The mutated record with a new seal, if it still has one: then the rules must reject it.
fn resealed_if_possible(bytes: Vec<u8>) -> Vec<u8> {
    let is_sealed = |text: &str| {
        let seal = text.trim_end().rsplit_once('\n').map(|(_, seal)| seal);
        seal.and_then(|seal| seal.split_once("\"sha256\":\""))
            .is_some_and(|(_, hash)| hash.is_char_boundary(64))
    };
    match String::from_utf8(bytes) {
        Ok(text) if is_sealed(&text) => resealed(&text).into_bytes(),
        Ok(text) => text.into_bytes(),
        Err(error) => error.into_bytes(),
    }
}

/// The record with one to three changes: of a byte, a number, a value, a line.
fn mutated(record: &[u8], random: &mut Random) -> Vec<u8> {
    const NUMBERS: [&str; 8] = ["-1", "0", "6", "64", "255", "4294967296", "18446744073709551616", "1e999"];
    const VALUES: [&str; 8] =
        ["null", "true", "[]", "{}", "\"\"", "[[[[]]]]", "\"\\u001b[2J\"", "\"\\ud800\""];
    let mut bytes = record.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len());
        let digit = |from: usize| bytes[from..].iter().position(u8::is_ascii_digit).map(|found| from + found);
        let colon =
            |from: usize| bytes[from..].iter().position(|&byte| byte == b':').map(|found| from + found + 1);
        match random.below(6) {
            0 => bytes[at] = random.below(256) as u8,
            1 => bytes.truncate(at.max(1)),
            2 => {
                if let Some(start) = digit(at) {
                    let len = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                    let number = NUMBERS[random.below(NUMBERS.len())];
                    bytes.splice(start..start + len, number.bytes());
                }
            }
            3 => {
                if let Some(start) = colon(at) {
                    let len = bytes[start..].iter().take_while(|byte| !b",}".contains(byte)).count();
                    bytes.splice(start..start + len, VALUES[random.below(VALUES.len())].bytes());
                }
            }
            kind => {
                let mut lines: Vec<Vec<u8>> =
                    bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
                let (one, other) = (random.below(lines.len()), random.below(lines.len()));
                match kind {
                    4 => lines.swap(one, other),
                    _ if lines.len() > 1 => drop(lines.remove(one)),
                    _ => {}
                }
                bytes = lines.concat();
            }
        }
    }
    bytes
}

#[test]
fn mutated_records_cause_no_panic_or_endless_run() {
    let count = if std::env::var_os("LONG_TESTS").is_some() { 20_000 } else { 1_000 };
    let fixtures = std::path::Path::new(ROOT).join("tests/fixtures/records");
    let mut records: Vec<Vec<u8>> = crate::common::files(&fixtures)
        .iter()
        .filter(|name| name.ends_with(".jsonl"))
        .map(|name| std::fs::read(fixtures.join(name)).expect("a record"))
        .collect();
    records.extend([record(), played_over()].map(|text| text.as_bytes().to_vec()));
    let mut random = Random(42);
    let folder = Folder::new();
    std::fs::create_dir(folder.path("mutated")).expect("a new folder");
    for number in 0..count {
        let mutated = mutated(&records[number % records.len()], &mut random);
        let mutated = if random.below(2) == 0 { mutated } else { resealed_if_possible(mutated) };
        std::fs::write(folder.path(&format!("mutated/{number}.jsonl")), mutated).expect("a file");
    }
    let all = folder.text("mutated");
    let ended = |args: &[&str]| {
        let ended = referee(args);
        assert!([Some(0), Some(1), Some(2)].contains(&ended.code), "{args:?}: {ended:#?}");
        assert!(!ended.stdout.contains('\x1b'), "{args:?}: {ended:#?}");
    };
    ended(&["verify", &all]);
    ended(&["export", &all, "--format", "pdn"]);
    for number in (0..count).step_by(20) {
        let one = folder.text(&format!("mutated/{number}.jsonl"));
        for view in ["all", "public", "1"] {
            ended(&["show", &one, "--view", view]);
        }
    }
}
