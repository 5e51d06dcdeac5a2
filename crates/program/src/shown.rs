//! Positions as viewers see them.

use referee_game::Scene;
use referee_game::Wrong;
use referee_game::excerpt::excerpt;
use referee_game::printable::printable_lines;

use crate::answer::{ShowAnswer, read_view};
use crate::scene::{self, MovePlaces};
use crate::{MOST_SCENE, MOST_TEXT};

/// The characters of the words or of the view that are shown in place of a board.
const DERIVED: usize = 4000;

/// A position as a viewer sees it.
#[derive(Debug)]
pub(crate) struct Shown {
    /// The view as JSON.
    pub(crate) view: String,
    pub(crate) text: String,
    pub(crate) scene: Scene,
    pub(crate) places: MovePlaces,
}

/// Reads and checks the answer to `show`. Missing parts are made from the rest.
///
/// # Errors
/// If it is invalid.
pub(crate) fn read(answer: &[u8]) -> Result<Shown, Wrong> {
    let ShowAnswer { view, text, scene } = serde_json::from_slice(answer)?;
    let view = read_view(view)?;
    let scene = scene.map(|scene| match scene.get().len() {
        ..=MOST_SCENE => scene::read(scene.get()),
        bytes => Err(Wrong::from(format!("it has {bytes} bytes; it has at most {MOST_SCENE}"))),
    });
    let (scene, places) = scene.transpose().map_err(|why| Wrong::at("`scene`", why))?.unzip();
    let words = || {
        let words = scene.as_ref().map(|scene| scene.words.join("\n"));
        words.filter(|words| !words.is_empty())
    };
    let derived = || excerpt(&words().unwrap_or_else(|| view.get().to_owned()), DERIVED).into_owned();
    let text = text.unwrap_or_else(derived);
    let mut text = printable_lines(&text).into_owned();
    if text.len() > MOST_TEXT {
        return Err(format!("`text` has {} bytes; it has at most {MOST_TEXT}", text.len()).into());
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let mut scene = scene.unwrap_or_else(|| Scene::of_text(&text));
    if scene.words.is_empty() {
        text.lines().filter(|line| !line.trim().is_empty()).for_each(|line| scene.say(line));
    }
    Ok(Shown { view: view.get().to_owned(), text, scene, places: places.unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use referee_game::Chain;

    use super::*;

    #[test]
    fn overlong_text_is_refused_and_derived_text_shortened() {
        let refusal =
            |fields: &str| Chain(&read(format!("{{{fields}}}").as_bytes()).unwrap_err()).to_string();
        let long = "a".repeat(MOST_TEXT + 1);
        assert!(refusal(&format!(r#""view":{{}},"text":"{long}""#)).contains("`text` has 32769 bytes"));
        assert!(refusal(r#""view":[]"#).contains("`view` is not an object"));
        let words = "a".repeat(MOST_SCENE);
        let scene = |words: &str, part: &str| {
            format!(r#""view":{{}},"scene":{{"width":9,"height":9,"shapes":[{part}],"words":["{words}"]}}"#)
        };
        assert!(refusal(&scene(&words, "")).contains("`scene`: it has 262191 bytes"));
        let text = r#"{"id":"x","at":[0,0],"parts":[{"form":"text","at":[0,0],"size":9,"text":"TEXT"}]}"#;
        let text = text.replace("TEXT", &"a".repeat(70_000));
        assert!(refusal(&scene("", &text)).contains("`scene`: its texts have 70000 bytes"));
        let derived = read(format!(r#"{{"view":{{"x":"{long}"}}}}"#).as_bytes()).unwrap();
        assert!(derived.text.ends_with("...\n") && derived.text.len() < 5000);
    }

    #[test]
    fn what_is_left_out_is_made_from_the_rest() {
        let shown = read(br#"{"view":{"x":1}}"#).unwrap();
        assert_eq!((shown.view.as_str(), shown.text.as_str()), (r#"{"x":1}"#, "{\"x\":1}\n"));
        let shown = read(br#"{"view":{},"text":"a b\u001b\n"}"#).unwrap();
        assert_eq!(shown.text, "a b\\u{1b}\n");
        assert_eq!(shown.scene.words, ["a b\\u{1b}"]);
        let shown =
            read(br#"{"view":{},"scene":{"width":9,"height":9,"shapes":[],"words":["x wins"]}}"#).unwrap();
        assert_eq!(shown.text, "x wins\n");
    }
}
