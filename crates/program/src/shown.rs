//! Positions as viewers see them.

use referee_game::Scene;
use referee_game::printable::printable_lines;

use crate::answer::ShowAnswer;
use crate::{BadAnswer, scene};

/// A position as a viewer sees it.
#[derive(Debug)]
pub(crate) struct Shown {
    /// JSON.
    pub(crate) view: String,
    /// Ends with a line break.
    pub(crate) text: String,
    pub(crate) scene: Scene,
}

/// Reads and checks the answer to `show`. What it leaves out is made from the rest.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn read(answer: &[u8]) -> Result<Shown, BadAnswer> {
    let ShowAnswer { view, text, scene } = serde_json::from_slice(answer)?;
    let scene = scene.map(|scene| scene::read(scene.get())).transpose()?;
    let words = || {
        let words = scene.as_ref().map(|scene| scene.words.join("\n"));
        words.filter(|words| !words.is_empty())
    };
    let text = text.or_else(words).unwrap_or_else(|| view.get().to_owned());
    let mut text = printable_lines(&text).into_owned();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let mut scene = scene.unwrap_or_else(|| Scene::of_text(&text));
    if scene.words.is_empty() {
        text.lines().filter(|line| !line.trim().is_empty()).for_each(|line| scene.say(line));
    }
    Ok(Shown { view: view.get().to_owned(), text, scene })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_made_from_the_rest() {
        let shown = read(br#"{"view":{"x":1}}"#).unwrap();
        assert_eq!((shown.view.as_str(), shown.text.as_str()), (r#"{"x":1}"#, "{\"x\":1}\n"));
        let shown = read(br#"{"view":{},"text":"a b\u001b\n"}"#).unwrap();
        assert_eq!(shown.text, "a b\\u{1b}\n");
        assert_eq!(shown.scene.lines(), ["a b\\u{1b}"]);
        let shown =
            read(br#"{"view":{},"scene":{"width":9,"height":9,"shapes":[],"words":["x wins"]}}"#).unwrap();
        assert_eq!(shown.text, "x wins\n");
    }
}
