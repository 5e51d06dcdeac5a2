//! Texts of the organiser of a league: announcements, rules and a description of the league.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use referee_report::page::{escaped, prose};
use referee_store::utc;
use serde::Serialize;
use serde_json::json;
use tokio::time::Instant;

use crate::api::{HubState, as_json, refused};
use crate::hub::Hub;

/// The time for which the texts are kept before their files are looked at again.
const KEPT: Duration = Duration::from_secs(1);
/// The number of announcements on the start page.
const LISTED: usize = 3;

/// The texts of the organiser for all pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Notices {
    /// A description of the league in a sentence or two.
    pub description: Option<String>,
    /// The contact of the organiser: an address of mail or a site, or words.
    pub contact: Option<String>,
    /// The rules, in Markdown.
    pub rules: Option<String>,
    /// The announcements, the newest first.
    pub announcements: Vec<Announcement>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Announcement {
    /// The name of its file without the ending.
    pub id: String,
    pub title: String,
    /// The day, if the name of the file begins with one: 2026-11-28.
    pub date: Option<String>,
    /// The text in Markdown.
    pub text: String,
}

/// The maximum length of the title of an announcement, in bytes, and of its text.
const TITLE: usize = 200;
const TEXT: usize = 60 << 10;
/// The maximum length of what the name of its file has of the title.
const NAME: usize = 40;

/// Writes an announcement to the directory of them. Returns its id.
///
/// # Errors
/// If the title or the text is empty or too long; I/O errors.
pub fn announce(folder: &Path, title: &str, text: &str, at: SystemTime) -> io::Result<String> {
    let (title, text) = (title.trim(), text.trim());
    let wrong = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    if title.is_empty() || title.len() > TITLE || title.chars().any(char::is_control) {
        return wrong("the title is one line of 1 to 200 bytes");
    }
    if text.is_empty() || text.len() > TEXT {
        return wrong("the text has 1 byte to 60 KiB");
    }
    let words = title.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut words = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    words.truncate(NAME);
    // The time has the form 2026-11-28T18:30:05Z.
    let time: String = utc(at).chars().filter(|letter| !":Z".contains(*letter)).collect();
    let id = format!("{}-{words}", time.replace('T', "-")).trim_end_matches('-').to_owned();
    fs::create_dir_all(folder)?;
    let mut file = fs::File::create_new(folder.join(format!("{id}.md")))?;
    file.write_all(format!("# {title}\n\n{text}\n").as_bytes())?;
    file.sync_all()?;
    Ok(id)
}

#[derive(Debug, Default)]
pub(super) struct RecentNotices {
    read: Mutex<Option<(Instant, Arc<Notices>)>>,
    /// The lock of reading: the files are read once at a time.
    reading: tokio::sync::Mutex<()>,
}

impl RecentNotices {
    fn get(&self) -> Option<Arc<Notices>> {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.as_ref().filter(|(at, _)| at.elapsed() < KEPT).map(|(_, notices)| notices.clone())
    }
}

impl Hub {
    /// Reads the organiser's texts.
    pub(super) async fn read_notices(&self) -> Arc<Notices> {
        let Some(ladder) = self.ladder().cloned() else { return Arc::default() };
        if let Some(recent) = self.notices.get() {
            return recent;
        }
        let _turn = self.notices.reading.lock().await;
        if let Some(recent) = self.notices.get() {
            return recent;
        }
        let read = tokio::task::spawn_blocking(move || ladder.notices()).await.unwrap_or_default();
        let mut kept = self.notices.read.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some((Instant::now(), read.clone()));
        read
    }
}

impl Notices {
    /// The newest ones for the start page; empty without any.
    pub(super) fn newest(&self) -> String {
        if self.announcements.is_empty() {
            return String::new();
        }
        let items = self.announcements.iter().take(LISTED).map(|Announcement { id, title, date, .. }| {
            let date = date.as_deref().unwrap_or_default();
            format!(
                "<li class=\"row\"><span class=\"grow\"><a href=\"announcements#{id}\">{}</a></span>\
                 <span class=\"small muted\">{date}</span></li>",
                escaped(title)
            )
        });
        format!(
            "<section aria-labelledby=\"news-title\" id=\"news\"><div class=\"head\"><h2 id=\"news-title\">Announcements</h2>\
             <a class=\"small\" href=\"announcements\">All announcements</a></div><ul class=\"lines\">{}</ul></section>",
            items.collect::<String>()
        )
    }

    /// The description of the league and the organiser's contact; empty without both.
    pub(super) fn about(&self) -> String {
        let description = self.description.as_ref().map(|text| format!("<p>{}</p>", escaped(text)));
        let contact = self.contact.as_ref().map(|contact| {
            let shown = escaped(contact);
            let is_plain = |c: char| c.is_ascii_graphic() && !"\"'<>`".contains(c);
            let address = match contact {
                _ if !contact.chars().all(is_plain) => None,
                site if site.starts_with("https://") || site.starts_with("http://") => Some(shown.clone()),
                mail if mail.contains('@') && !mail.contains(':') => Some(format!("mailto:{shown}")),
                _ => None,
            };
            let contact = match address {
                Some(address) => format!("<a href=\"{address}\" rel=\"nofollow noopener\">{shown}</a>"),
                None => shown,
            };
            format!("<p>Contact: {contact}</p>")
        });
        if description.is_none() && contact.is_none() {
            return String::new();
        }
        format!(
            "<section aria-labelledby=\"about-title\" id=\"about\"><div class=\"head\"><h2 id=\"about-title\">About</h2></div>\
             <div class=\"prose\">{}{}</div></section>",
            description.unwrap_or_default(),
            contact.unwrap_or_default()
        )
    }

    pub(super) fn all(&self) -> String {
        let articles = self.announcements.iter().map(|Announcement { id, title, date, text }| {
            let date = date.as_ref().map(|date| format!("<p class=\"eyebrow\">{date}</p>"));
            format!(
                "<article id=\"{id}\">{}<h2>{}</h2><div class=\"prose\">{}</div></article>\n",
                date.unwrap_or_default(),
                escaped(title),
                prose(text, 3)
            )
        });
        articles.collect()
    }
}

/// The announcements and the rules as JSON.
pub(super) async fn of_league(State(hub): HubState) -> Response {
    if hub.ladder().is_none() {
        return refused(StatusCode::NOT_FOUND, "this is not a ladder of a league");
    }
    as_json(StatusCode::OK, referee_game::json::text(&json!(*hub.read_notices().await)))
}
