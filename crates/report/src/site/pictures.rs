//! Pictures that other sites show of the pages.

use referee_game::counted;

use super::{ListedMatch, MatchReplay, Site, halves};
use crate::preview::{Preview, PreviewRow, drawn};
use crate::tournament::EntrantStanding;

/// The picture of all pages but those of matches.
pub(super) const PICTURE: &str = "card.png";

/// The number of entrants on a picture.
const ROWS: usize = 4;

impl Site<'_> {
    /// The URL of a file of the site.
    pub(super) fn picture_url(&self, path: &str) -> Option<String> {
        self.url.map(|url| format!("{url}{path}"))
    }

    pub(super) fn path_of_picture(listed: &ListedMatch) -> String {
        format!("matches/{}.png", listed.id)
    }

    /// The picture of the standings, with its path; `None` without the URL of the site.
    pub fn picture(&self) -> Option<(&'static str, Vec<u8>)> {
        self.url?;
        let standings = &self.report.standings;
        let row = |row: &EntrantStanding| PreviewRow {
            place: row.place_shown(),
            name: drawn(row.shown(), &row.name).to_owned(),
            figure: halves(row.points),
        };
        let matches = counted(standings.matches, "match", "matches");
        let preview = Preview {
            over: "Standings".to_owned(),
            title: drawn(self.name(), self.report.game.title).to_owned(),
            text: String::new(),
            rows: standings.entrants.iter().take(ROWS).map(row).collect(),
            under: format!("{} · {matches}", self.report.game.title),
            board: None,
            seats: Vec::new(),
        };
        Some((PICTURE, preview.png()))
    }

    /// The picture of a match, an index into the attempts of the report, with its path; `None` without the URL of the site.
    /// It has the board of the replay, if there is one.
    pub fn match_picture(&self, index: usize, replay: Option<&MatchReplay>) -> Option<(String, Vec<u8>)> {
        self.url?;
        let listed = &self.report.attempts[index];
        let names = self.shown_names(listed);
        let names: Vec<&str> =
            names.iter().zip(&listed.seats).map(|(shown, name)| drawn(shown, name)).collect();
        let moves = replay.map_or(listed.decisions, MatchReplay::moves);
        let told = self.told_match(listed, &names, moves);
        let preview = Preview {
            over: drawn(self.name(), "").to_owned(),
            title: told.heading(),
            text: told.why(),
            rows: Vec::new(),
            under: format!("{} · match {}", self.report.game.title, listed.id),
            board: replay.map(|replay| replay.last().clone()),
            seats: names.iter().map(|&name| name.to_owned()).collect(),
        };
        Some((Self::path_of_picture(listed), preview.png()))
    }
}
