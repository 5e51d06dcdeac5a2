//! The address at which pages are published.

use std::fmt;
use std::str::FromStr;

use referee_game::Wrong;

/// The URL under which the world sees the start page: `https://cup.example/spring/`. It ends with a slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl(String);

/// The maximum length of a URL, in bytes.
const MOST: usize = 1024;

impl FromStr for PublicUrl {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<PublicUrl, Wrong> {
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/[]%@!$&()*+,;=".contains(c);
        let has_host = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '[');
        if text.len() > MOST || !rest.is_some_and(|rest| has_host(rest) && rest.chars().all(is_plain)) {
            return Err(format!(
                "`{text}` is not the URL of pages: expected `http://` or `https://`, a host and a path, \
                 as in `https://cup.example/spring/`"
            )
            .into());
        }
        Ok(PublicUrl(format!("{}/", text.trim_end_matches('/'))))
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_url_has_scheme_host_and_path() {
        let parsed = |text: &str| text.parse::<PublicUrl>().map(|url| url.to_string()).ok();
        assert_eq!(parsed("https://cup.example").as_deref(), Some("https://cup.example/"));
        assert_eq!(parsed("http://[::1]:80/a/b//").as_deref(), Some("http://[::1]:80/a/b/"));
        for wrong in [
            "",
            "cup.example",
            "ftp://a/",
            "https://",
            "https:///a",
            "https://a/?b",
            "https://a/\"",
            "https://é/",
        ] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }
}
