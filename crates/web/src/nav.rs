//! The bar at the top of pages: the ladders of the league, the pages of a run, and the page for owners of bots.

use referee_report::page::escaped;

use crate::notices::Notices;

/// A page to which the bar links: its path from the start page, and its name.
pub(super) type NavPage = (&'static str, &'static str);

pub(super) const OVERVIEW: NavPage = ("", "Overview");
pub(super) const STANDINGS: NavPage = ("standings", "Standings");
pub(super) const MATCHES: NavPage = ("matches", "Matches");
pub(super) const LIVE: NavPage = ("live", "Live");
pub(super) const RULES: NavPage = ("rules", "Rules");
pub(super) const GAME_RULES: NavPage = ("rules/game", RULES.1);
pub(super) const ANNOUNCEMENTS: NavPage = ("announcements", "Announcements");
pub(super) const SEASONS: NavPage = ("seasons", "Seasons");
pub(super) const JOIN: NavPage = ("join", "Join");
pub(super) const PLAY: NavPage = ("play", "Play");

#[derive(Debug, Default)]
pub(super) struct NavBar {
    pub(super) has_rules: bool,
    pub(super) has_announcements: bool,
    pub(super) has_seasons: bool,
    /// Whether visitors can play.
    pub(super) has_visitors: bool,
    /// The name of the ladder, if the run is one.
    pub(super) ladder: Option<String>,
    /// Names and URLs of the other ladders of the league.
    pub(super) others: Vec<(String, String)>,
    /// The URL of the page for owners.
    pub(super) owners: Option<String>,
}

impl NavBar {
    /// A bar with the pages that these notices fill.
    pub(super) fn of(notices: Option<&Notices>) -> NavBar {
        NavBar {
            has_rules: notices.is_some_and(|notices| notices.rules.is_some()),
            has_announcements: notices.is_some_and(|notices| !notices.announcements.is_empty()),
            ..NavBar::default()
        }
    }

    /// The markup on a page that the bar has at the path `here`. `root` leads to the start page.
    pub(super) fn markup(&self, root: &str, here: Option<&str>) -> String {
        let rules = if self.has_rules { RULES } else { GAME_RULES };
        let mut pages = vec![OVERVIEW, STANDINGS, MATCHES, LIVE, rules];
        pages.extend(Some(ANNOUNCEMENTS).filter(|_| self.has_announcements));
        pages.extend(Some(SEASONS).filter(|_| self.has_seasons));
        pages.extend(Some(JOIN).filter(|_| self.ladder.is_some()));
        pages.extend(Some(PLAY).filter(|_| self.has_visitors));
        let here = here.map(|here| if here == GAME_RULES.0 { rules.0 } else { here });
        let is_here = |(path, _): NavPage| here == Some(path);
        let pages = pages.into_iter().map(|page| item(&format!("{root}{}", page.0), page.1, is_here(page)));
        let pages: String = pages.collect();
        let ladders = self.ladder.as_ref().filter(|_| !self.others.is_empty()).map(|own| {
            // From standings to standings.
            let same =
                here.filter(|here| [STANDINGS.0, MATCHES.0, LIVE.0].contains(here)).unwrap_or_default();
            let mut ladders: Vec<(&str, String, bool)> =
                self.others.iter().map(|(name, url)| (&**name, format!("{url}{same}"), false)).collect();
            ladders.push((own, format!("{root}{same}"), here != Some(OWNERS)));
            // The same order on the pages of each of them.
            ladders.sort_unstable();
            let ladders = ladders.into_iter().map(|(name, url, is_current)| item(&url, name, is_current));
            format!(
                "<nav aria-label=\"Ladders\"><ul class=\"switch\" id=\"ladders\">{}</ul></nav>",
                ladders.collect::<String>()
            )
        });
        let own = self
            .owners
            .as_ref()
            .map(|url| format!("<ul class=\"own\">{}</ul>", item(url, "Your bots", here == Some(OWNERS))));
        format!(
            "{}<nav aria-label=\"Pages\"><ul id=\"pages\">{pages}</ul></nav>{}",
            ladders.unwrap_or_default(),
            own.unwrap_or_default()
        )
    }
}

/// The path of the page for owners, which is on another server.
pub(super) const OWNERS: &str = "owners";

fn item(url: &str, name: &str, is_current: bool) -> String {
    let current = if is_current { " aria-current=\"page\"" } else { "" };
    format!("<li><a href=\"{}\"{current}>{}</a></li>", escaped(url), escaped(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bar_lists_ladders_in_same_order_and_marks_page() {
        let bar = NavBar {
            ladder: Some("b".to_owned()),
            others: vec![("a&b".to_owned(), "http://host:81/".to_owned())],
            owners: Some("https://own.example/".to_owned()),
            ..NavBar::default()
        };
        assert_eq!(
            bar.markup("../", Some("live")),
            "<nav aria-label=\"Ladders\"><ul class=\"switch\" id=\"ladders\"><li><a href=\"http://host:81/live\">a&amp;b</a></li>\
             <li><a href=\"../live\" aria-current=\"page\">b</a></li></ul></nav><nav aria-label=\"Pages\"><ul id=\"pages\">\
             <li><a href=\"../\">Overview</a></li><li><a href=\"../standings\">Standings</a></li>\
             <li><a href=\"../matches\">Matches</a></li><li><a href=\"../live\" aria-current=\"page\">Live</a></li>\
             <li><a href=\"../rules/game\">Rules</a></li><li><a href=\"../join\">Join</a></li></ul></nav>\
             <ul class=\"own\"><li><a href=\"https://own.example/\">Your bots</a></li></ul>"
        );
    }
}
