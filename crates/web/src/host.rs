//! The host that a request addresses, and the public URL of the pages.

use std::net::{IpAddr, Ipv6Addr};

use axum::http::header::HOST;
use axum::http::{HeaderMap, Uri};
use referee_report::page::PublicUrl;

/// The addresses of a server.
#[derive(Debug)]
pub(super) struct OwnAddresses {
    /// The names by which it may be addressed, besides IP addresses and `localhost`.
    pub(super) hosts: Vec<String>,
    /// The URL at which a proxy publishes its pages, if it was told.
    pub(super) url: Option<PublicUrl>,
}

/// The URL of the start page as the sender of a request sees it, if that is known.
#[derive(Clone, Debug)]
pub(super) struct SeenUrl(pub(super) Option<PublicUrl>);

impl OwnAddresses {
    /// The URL of the start page: the one that the server was told, otherwise what a proxy says in the `X-Forwarded` fields of
    /// the request, otherwise its `Host`, which is one of the addresses of the server.
    pub(super) fn public_url(&self, headers: &HeaderMap) -> Option<PublicUrl> {
        if self.url.is_some() {
            return self.url.clone();
        }
        // Of several proxies the first one was asked by the sender.
        let field = |name: &str| Some(headers.get(name)?.to_str().ok()?.split(',').next()?.trim());
        let is_own = |host: &&str| parse(host, &self.hosts) == RequestHost::Own;
        let host = field("x-forwarded-host").filter(is_own).or_else(|| headers.get(HOST)?.to_str().ok())?;
        let scheme = field("x-forwarded-proto").filter(|scheme| ["http", "https"].contains(scheme));
        let prefix = field("x-forwarded-prefix").unwrap_or_default().trim_matches('/');
        format!("{}://{host}/{prefix}", scheme.unwrap_or("http")).parse().ok()
    }
}

/// The URL of another server on the same host, given its port.
pub(super) fn beside(url: &PublicUrl, port: u16) -> String {
    let url = url.to_string();
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", &url));
    let host = rest.split('/').next().unwrap_or_default();
    let own = host.rfind(':').filter(|&at| !host[at..].contains(']')).unwrap_or(host.len());
    format!("{scheme}://{}:{port}/", &host[..own])
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestHost {
    /// The host of this server, or none.
    Own,
    Other,
    /// A request with several `Host` fields, or one that is not a host with a port.
    Invalid,
}

impl RequestHost {
    /// The host of a request to a server with these names. The target and the `Host` field have to be for
    /// this server.
    pub(super) fn of(headers: &HeaderMap, target: &Uri, names: &[String]) -> RequestHost {
        let mut fields = headers.get_all(HOST).iter();
        let field = match (fields.next(), fields.next()) {
            // Browsers always name a host; load balancers that do not, with HTTP/1.0, are no danger.
            (None, _) => RequestHost::Own,
            (Some(field), None) => field.to_str().map_or(RequestHost::Invalid, |field| parse(field, names)),
            (Some(_), Some(_)) => return RequestHost::Invalid,
        };
        match target.authority() {
            Some(authority) if field == RequestHost::Own => parse(authority.as_str(), names),
            _ => field,
        }
    }
}

/// Parses the host of a request. A server is addressed by an IP address, `localhost` or one of its names, with or without a
/// port.
fn parse(host: &str, names: &[String]) -> RequestHost {
    let Some(name) = name_of(host) else { return RequestHost::Invalid };
    let is_named = |known: &str| name.eq_ignore_ascii_case(known);
    let is_own =
        name.parse::<IpAddr>().is_ok() || is_named("localhost") || names.iter().any(|known| is_named(known));
    if is_own { RequestHost::Own } else { RequestHost::Other }
}

/// The host without its port.
fn name_of(host: &str) -> Option<&str> {
    let (name, port) = match host.strip_prefix('[') {
        Some(rest) => {
            let (address, port) = rest.split_once(']')?;
            address.parse::<Ipv6Addr>().ok()?;
            (address, port)
        }
        None => host.split_at(host.find(':').unwrap_or(host.len())),
    };
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    (port.is_empty() || port.strip_prefix(':').is_some_and(is_number)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_url_is_of_league_proxy_or_request() {
        let seen = |url: Option<&str>, fields: &[(&'static str, &str)]| {
            let addresses = OwnAddresses {
                hosts: vec!["cup.example".to_owned()],
                url: url.map(|url| url.parse().expect("a URL")),
            };
            let fields = fields.iter().map(|(name, value)| {
                (axum::http::HeaderName::from_static(name), value.parse().expect("a value"))
            });
            addresses.public_url(&fields.collect()).map(|url| url.to_string())
        };
        let host = ("host", "127.0.0.1:8080");
        assert_eq!(seen(None, &[host]).as_deref(), Some("http://127.0.0.1:8080/"));
        let proxy = [
            host,
            ("x-forwarded-proto", "https"),
            ("x-forwarded-host", "cup.example"),
            ("x-forwarded-prefix", "/spring/"),
        ];
        assert_eq!(seen(None, &proxy).as_deref(), Some("https://cup.example/spring/"));
        assert_eq!(seen(Some("https://other.example"), &proxy).as_deref(), Some("https://other.example/"));
        let evil = [host, ("x-forwarded-host", "evil.example"), ("x-forwarded-proto", "javascript")];
        assert_eq!(seen(None, &evil).as_deref(), Some("http://127.0.0.1:8080/"));
        assert_eq!(seen(None, &[host, ("x-forwarded-prefix", "/\"><script>")]), None);
        assert_eq!(seen(None, &[]), None);
    }

    #[test]
    fn another_port_of_the_same_host_replaces_port_and_path() {
        for (url, expected) in [
            ("http://127.0.0.1:8080/", "http://127.0.0.1:81/"),
            ("https://cup.example/spring/", "https://cup.example:81/"),
            ("http://[::1]:80/a/", "http://[::1]:81/"),
            ("http://[::1]/", "http://[::1]:81/"),
        ] {
            assert_eq!(beside(&url.parse().expect("a URL"), 81), expected, "{url}");
        }
    }

    #[test]
    fn host_is_address_or_name_with_optional_port() {
        use RequestHost::{Invalid, Other, Own};
        let names = ["cup.example".to_owned()];
        let cases = [
            ("localhost", Own),
            ("127.0.0.1:8080", Own),
            ("[::1]:80", Own),
            ("CUP.example:", Own),
            ("", Other),
            ("evil.example", Other),
            ("localhost.evil.example", Other),
            ("user@localhost", Other),
            ("[::1].evil.example", Invalid),
            ("[::1", Invalid),
            ("[cup.example]", Invalid),
            ("::1", Invalid),
            ("localhost:80:80", Invalid),
            ("localhost:evil.example", Invalid),
        ];
        for (host, expected) in cases {
            assert_eq!(parse(host, &names), expected, "{host}");
        }
    }
}
