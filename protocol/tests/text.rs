//! `Text` borrows where it can.

use std::borrow::Cow;

use referee_protocol::Text;
use serde::Deserialize;

fn is_borrowed(text: &Text<'_>) -> bool {
    matches!(text.0, Cow::Borrowed(_))
}

#[test]
fn it_borrows_what_stands_in_the_line_as_it_is() {
    let text: Text<'_> = serde_json::from_str(r#""11-15 ä""#).expect("text");
    assert_eq!(text, "11-15 ä");
    assert!(is_borrowed(&text));
}

#[test]
fn it_owns_what_json_had_escaped() {
    let text: Text<'_> = serde_json::from_str(r#""a\"b\u00e4""#).expect("text");
    assert_eq!(text, "a\"bä");
    assert!(!is_borrowed(&text));
}

#[test]
fn it_borrows_inside_lists_and_options_too() {
    let list: Vec<Text<'_>> = serde_json::from_str(r#"["a","\n","b"]"#).expect("a list");
    assert_eq!(list, ["a", "\n", "b"]);
    assert_eq!(list.iter().map(is_borrowed).collect::<Vec<_>>(), [true, false, true]);

    let option: Option<Text<'_>> = serde_json::from_str(r#""a""#).expect("an option");
    assert!(is_borrowed(&option.expect("some")));
}

#[test]
fn it_borrows_from_bytes_and_owns_from_stream() {
    let text: Text<'_> = serde_json::from_slice(br#""a""#).expect("text");
    assert!(is_borrowed(&text));
    let mut stream = serde_json::Deserializer::from_reader(&br#""a""#[..]);
    let text = Text::deserialize(&mut stream).expect("text");
    assert!(!is_borrowed(&text));
}

#[test]
fn it_refuses_what_is_no_string() {
    for line in ["1", "null", "[]", "{}", "true"] {
        let error = serde_json::from_str::<Text<'_>>(line).expect_err(line);
        assert!(error.to_string().contains("expected a string"), "{error}");
    }
}

#[test]
fn it_is_written_as_a_plain_string() {
    assert_eq!(serde_json::to_string(&Text::from("a\"b")).expect("JSON"), r#""a\"b""#);
    assert_eq!(serde_json::to_string(&Text::from(String::from("ä"))).expect("JSON"), r#""ä""#);
}

#[test]
fn owned_and_borrowed_are_equal_and_sort_by_bytes() {
    let (borrowed, owned) = (Text::from("a"), Text::from(String::from("a")));
    assert_eq!(borrowed, owned);
    let mut moves = [Text::from("b"), Text::from("B"), Text::from(String::from("ä")), Text::from("a")];
    moves.sort();
    assert_eq!(moves, ["B", "a", "b", "ä"]);
}
