//! Invalid and incomplete records.

use referee_game::chance::RandomKey;
use referee_game::test_length::long_or;
use referee_game::{Chain, Uniform};

use super::*;

#[test]
fn every_changed_byte_is_detected() {
    let mut rng = RandomKey([3; 32]).stream();
    for record in [eventful(), timed_out(), played_on()] {
        for index in (0..record.len()).step_by(long_or(1, 5)) {
            let mut changed = record.clone();
            changed[index] ^= 1 + rng.uniform(255) as u8;
            assert!(!verify(&changed).is_empty(), "byte {index} of {}", String::from_utf8_lossy(&changed));
        }
    }
}

#[test]
fn a_changed_byte_under_a_new_seal_never_panics() {
    let mut rng = RandomKey([4; 32]).stream();
    for record in [eventful(), timed_out(), played_on()] {
        let body = record.len() - lines(&record).last().unwrap().len() - 1;
        let reveal = serde_json::from_slice::<Seal>(&record[body..]).unwrap().reveal.unwrap();
        for _ in 0..long_or(1500, 400) {
            let mut changed = record[..body].to_vec();
            let index = rng.uniform(body as u64) as usize;
            changed[index] = b"0123456789{}[]\",:xe-\n"[rng.uniform(21) as usize];
            seal(&mut changed, reveal.clone());
            verify(&changed);
        }
    }
}

#[test]
fn removed_duplicated_or_swapped_lines_never_panic() {
    let record = eventful();
    let count = lines(&record).len();
    let pairs = (0..count - 1).flat_map(|i| (0..count - 1).map(move |j| (i, j)));
    for (i, j) in pairs.step_by(long_or(1, 3)) {
        let mut left_out = lines(&record);
        left_out.remove(i);
        left_out.remove(j.min(count - 3));
        verify(&resealed(left_out));
        let mut moved = lines(&record);
        let line = moved.remove(i);
        moved.insert(j, line.clone());
        verify(&resealed(moved));
        let mut doubled = lines(&record);
        doubled.insert(j, line);
        verify(&resealed(doubled));
    }
}

#[test]
fn a_truncated_record_is_detected_at_any_length() {
    let record = eventful();
    let header = lines(&record)[0].len();
    for end in 0..record.len() {
        let found = difference(&record[..end]);
        if end > header {
            assert!(
                Chain(&found.what).to_string().starts_with("the record is cut off"),
                "{end}: {}",
                Chain(&found)
            );
            assert_eq!(found.match_id.as_deref(), Some("m1"));
            assert_eq!(found.line, record[..end].split_inclusive(|&byte| byte == b'\n').count().max(1));
        } else if end < header {
            assert_eq!((found.line, found.match_id), (1, None));
        }
    }
}

#[test]
fn a_file_that_is_not_a_record_is_rejected() {
    let mut rng = RandomKey([6; 32]).stream();
    let garbage: Vec<u8> = (0..5000).map(|_| rng.uniform(256) as u8).collect();
    let long_line = vec![b'{'; 1 << 20];
    for text in
        [&b""[..], b"\n", b"\n\n\n", b"\0", b"{", b"{}\n", b"[]\n{}\n", b"\xff\xfe\n", &garbage, &long_line]
    {
        let found = difference(text);
        assert_eq!((found.line, found.match_id, found.turn), (1, None, None));
        assert!(
            Chain(&found.what).to_string().starts_with("a record begins with a line of type `record`"),
            "{}",
            found.what
        );
    }
}

#[test]
fn other_line_breaks_are_detected() {
    let text = String::from_utf8(eventful()).unwrap().replace('\n', "\r\n");
    assert!(!verify(text.as_bytes()).is_empty());
}

#[test]
fn a_record_whose_seed_is_not_revealed_cannot_be_checked() {
    let mut lines = lines(&eventful());
    let count = lines.len();
    let mut seal: Seal = serde_json::from_str(&lines[count - 1]).unwrap();
    seal.reveal = None;
    let mut last = Vec::new();
    seal.write(&mut last);
    lines[count - 1] = String::from_utf8(last).unwrap().trim_end().to_owned();
    let found = difference((lines.join("\n") + "\n").as_bytes());
    assert_eq!((found.line, Chain(&found.what).to_string().as_str()), (count, "the seed is not revealed"));
}

#[test]
fn a_reveal_that_is_not_hex_is_detected() {
    let text = String::from_utf8(eventful()).unwrap();
    for instead in ["01".repeat(31), "0A".repeat(32), "é".repeat(32)] {
        let found = difference(text.replace(&"01".repeat(32), &instead).as_bytes());
        assert!(Chain(&found.what).to_string().contains("64 lower-case hex digits"), "{}", Chain(&found));
    }
}

#[test]
fn deep_nesting_is_rejected_everywhere() {
    let record = eventful();
    let deep = |open: &str, close: &str| open.repeat(100_000) + &close.repeat(100_000);
    for deep in [deep("[", "]"), deep("{\"a\":", "}"), "[".repeat(100_000)] {
        for (kind, says) in [
            ("record", "\"B:W21,22,23,24,25,26,27,28,29,30,31,32:B1,2,3,4,5,6,7,8,9,10,11,12\""),
            ("record", "50"),
            ("record", "\"retry=2\""),
            ("ready", "\"00ff\""),
            ("answer", "{\"depth\":3}"),
            ("answer", "\"11-15\""),
            ("event", "\"11-15\""),
            ("result", "[1,1]"),
        ] {
            let (forged, _) = forged(&record, kind, says, &deep);
            assert!(!verify(&forged).is_empty(), "{kind} {says}");
        }
        let seal = lines(&record).pop().unwrap();
        let text = String::from_utf8(record.clone()).unwrap();
        let nested = seal.replace("[\"00ff\",\"\"]", &deep);
        assert!(!verify(text.replace(&seal, &nested).as_bytes()).is_empty());
        assert!(!verify(deep.as_bytes()).is_empty());
    }
}

#[test]
fn huge_numbers_never_panic() {
    let numbers = [
        "18446744073709551615",
        "18446744073709551614",
        "9223372036854775807",
        "18446744073709551616",
        "9007199254740991",
        "9007199254740992",
        "-1",
        "1e300",
        "1e999",
        "0.5",
        "4294967295",
        "4294967296",
    ];
    for record in [eventful(), timed_out(), played_on(), restarted()] {
        for (number, line) in lines(&record).iter().enumerate() {
            // Every number of every line in turn.
            for (at, _) in line
                .match_indices(':')
                .filter(|&(at, _)| line[at + 1..].starts_with(|c: char| c.is_ascii_digit()))
            {
                let digits = line[at + 1..].find(|c: char| !c.is_ascii_digit()).unwrap();
                for huge in numbers {
                    let mut lines = lines(&record);
                    lines[number] = format!("{}{huge}{}", &line[..=at], &line[at + 1 + digits..]);
                    if number + 1 < lines.len() {
                        verify(&resealed(lines));
                    }
                }
            }
        }
    }
}

#[test]
fn times_of_2_to_the_53rd_or_more_are_rejected() {
    for field in
        ["delay_ms\":100", "bank_ms\":1000", "increment_ms\":10", "margin_ms\":20", "ready_ms\":5000"]
    {
        let instead = format!("{}9007199254740992", &field[..=field.find(':').unwrap()]);
        let (forged, _) = forged(&eventful(), "record", field, &instead);
        let found = difference(&forged);
        assert_eq!(found.line, 1);
        assert!(Chain(&found.what).to_string().contains("2^53"), "{}", Chain(&found));
    }
}

#[test]
fn the_longest_times_below_that_are_accepted() {
    let mut text = String::from_utf8(timed_out()).unwrap();
    for field in
        ["delay_ms\":100", "bank_ms\":1000", "increment_ms\":10", "margin_ms\":20", "ready_ms\":5000"]
    {
        let instead = format!("{}9007199254740991", &field[..=field.find(':').unwrap()]);
        text = text.replace(field, &instead);
    }
    for at in ["1440000", "18446744073709551615"] {
        let text = text.replace("\"at_us\":1440000", &format!("\"at_us\":{at}"));
        let found = difference(&resealed(text.lines().map(str::to_owned).collect()));
        assert!(Chain(&found.what).to_string().contains("timeout"), "{}", Chain(&found));
    }
}
