//! The page of a match: its facts and its replay.

use super::{Links, ListedMatch, Page, Reel, Site, facts, footer, minute};
use crate::report::replay::data;
use crate::report::tournament::{Escaped, faults, options_in_words, time};

/// Why a match has no replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unshown {
    /// It left no record.
    None,
    /// Its record is published when all matches on its deal have been played.
    Unsealed,
    /// Its record is invalid.
    Invalid,
}

impl Unshown {
    fn text(self) -> &'static str {
        match self {
            Unshown::None => "This match has no record.",
            Unshown::Unsealed => {
                "The record is published when all matches on the same deal have been played."
            }
            Unshown::Invalid => "The record of this match is damaged.",
        }
    }
}

impl Site<'_> {
    pub(super) fn replay(&self, index: usize, replay: Result<&Reel, Unshown>) -> String {
        let told = &self.report.attempts[index];
        let links = Links::from("../", self.report);
        let page = Page { title: format!("{}, {}", told.id, self.name()), links, plays: replay.is_ok() };
        let neighbour = |at: Option<usize>, relation: &str, text: &dyn Fn(&str) -> String| {
            let told = at.and_then(|at| self.report.attempts.get(at));
            told.map_or(String::new(), |told| {
                let id = Escaped(&told.id).to_string();
                format!("<a rel=\"{relation}\" href=\"{id}.html\">{}</a>", text(&id))
            })
        };
        let here = format!(
            "<span>{} {}</span>",
            neighbour(index.checked_sub(1), "prev", &|id| format!("‹ {id}")),
            neighbour(Some(index + 1), "next", &|id| format!("{id} ›"))
        );
        let mut body = self.way("../", &here);
        match replay {
            Ok(reel) => {
                let data = data(&[reel], 0, 0);
                body += &format!(
                    "<div id=\"player\"><noscript><p>The board needs JavaScript.</p></noscript></div>\n\
                     <script type=\"text/plain\" id=\"data\">{data}</script>\n"
                );
            }
            Err(why) => {
                let title = Escaped(&told.id);
                body += &format!("<header>\n<h1>{title}</h1>\n<p>{}</p>\n</header>\n", why.text());
            }
        }
        body += &self.about(told, &page.links, replay.ok());
        page.text(&(body + &footer()))
    }

    /// The facts about a match.
    fn about(&self, told: &ListedMatch, links: &Links<'_>, reel: Option<&Reel>) -> String {
        let text = |text: &str| Escaped(text).to_string();
        let round = told.round.map_or(String::new(), |round| round.to_string());
        let mut rows = vec![
            ("result", text(&told.result_in_words())),
            ("ended by", text(&told.how())),
            ("set", text(&told.set)),
            ("round", round),
            ("began (UTC)", told.began_at.as_deref().map(minute).unwrap_or_default()),
            ("duration", time(told.duration_us)),
            ("moves", told.decisions.to_string()),
        ];
        let mut record = String::new();
        if let Some(reel) = reel {
            rows.extend([
                ("clock", text(&reel.clock())),
                ("options", text(&options_in_words(reel.options()))),
                ("seed", format!("<code>{}</code>", text(reel.seed()))),
            ]);
            let id = Escaped(&told.id);
            record = format!(
                "<p><a href=\"../{}\" download>Download the record</a> and verify it: \
                 <code>referee verify {id}.jsonl.gz</code></p>\n",
                Site::record(told)
            );
        }
        format!(
            "<section class=\"about\">\n<h2>About {}</h2>\n{}{}{record}</section>\n",
            Escaped(&told.id),
            self.seats(told, links),
            facts(&rows)
        )
    }

    /// Who had which seat, and what became of it.
    fn seats(&self, told: &ListedMatch, links: &Links<'_>) -> String {
        let has_bots = told.bots != told.seats && told.bots.len() == told.seats.len();
        let bot = if has_bots { "<th class=\"text\">bot</th>" } else { "" };
        let mut out = format!(
            "<div class=\"wide\"><table>\n<thead><tr><th>seat</th><th class=\"text\">entrant</th>{bot}\
             <th>rank</th><th>score</th><th class=\"text\">faults</th><th>cpu</th></tr></thead>\n<tbody>\n"
        );
        for (seat, name) in told.seats.iter().enumerate() {
            let bot = if has_bots {
                format!("<td class=\"text\">{}</td>", Escaped(&told.bots[seat]))
            } else {
                String::new()
            };
            let rank = told.ranks.as_ref().and_then(|ranks| ranks.get(seat));
            let score = told.scores.as_ref().and_then(|scores| scores.get(seat));
            let of_seat = told.faults.get(seat).map(faults).unwrap_or_default();
            let cpu = told.cpu_ms.get(seat).copied().flatten();
            out += &format!(
                "<tr><td>{seat}</td><td class=\"text\">{}</td>{bot}<td>{}</td><td>{}</td>\
                 <td class=\"text\">{}</td><td>{}</td></tr>\n",
                links.entrant(name),
                rank.map_or(String::new(), u8::to_string),
                score.map_or(String::new(), |score| score.to_string()),
                Escaped(&of_seat),
                cpu.map_or(String::new(), |ms| time(ms * 1000)),
            );
        }
        out + "</tbody>\n</table></div>\n"
    }
}
