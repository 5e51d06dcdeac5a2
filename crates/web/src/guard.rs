//! Checks of the requests and responses of every server.

use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;

use crate::api::refused;
use crate::host::RequestHost;

/// The maximum length of the path and the query of a request, in bytes.
const MOST_TARGET: usize = 2048;

/// The reason why a request is rejected whatever its path is. `hosts` are the names by which the server may
/// be addressed, besides IP addresses and `localhost`, and `setting` is where the organiser names them.
pub(super) fn rejected(request: &Request, hosts: &[String], setting: &str) -> Option<Response> {
    let target = request.uri().path_and_query().map_or("", |target| target.as_str());
    match RequestHost::of(request.headers(), request.uri(), hosts) {
        RequestHost::Invalid => {
            let what = "a request has one Host field with a host and an optional port";
            Some(refused(StatusCode::BAD_REQUEST, what))
        }
        _ if target.len() > MOST_TARGET => {
            let what = format!("the path and the query have at most {MOST_TARGET} bytes");
            Some(refused(StatusCode::URI_TOO_LONG, &what))
        }
        // A page of another site whose name leads here must not read what only this machine or network may see.
        RequestHost::Other => {
            let what = format!(
                "the request is for another host; use the IP address, or name this host with {setting}"
            );
            Some(refused(StatusCode::MISDIRECTED_REQUEST, &what))
        }
        RequestHost::Own => None,
    }
}

/// Returns whether a request changes nothing.
pub(super) fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// Adds the header fields of all responses.
pub(super) fn protect(response: &mut Response) {
    let headers = response.headers_mut();
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static("default-src 'none'"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    let same_origin = HeaderValue::from_static("same-origin");
    headers.entry(HeaderName::from_static("cross-origin-resource-policy")).or_insert(same_origin);
}

/// Returns whether a browser says that a page of another site sends the request.
pub(super) fn is_cross_site(headers: &HeaderMap, url: Option<&str>) -> bool {
    origin_of(headers, url) == RequestOrigin::Other
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestOrigin {
    /// A page of this server.
    Own,
    /// A page of another site.
    Other,
    /// A client that does not say, such as one that is no browser.
    Unknown,
}

/// The origin of a request by its browser. `url`: where a proxy publishes the pages.
pub(super) fn origin_of(headers: &HeaderMap, url: Option<&str>) -> RequestOrigin {
    let of = |is_own: bool| if is_own { RequestOrigin::Own } else { RequestOrigin::Other };
    if let Some(site) = headers.get("sec-fetch-site") {
        return of(site == "same-origin" || site == "none");
    }
    let Some(origin) = headers.get(ORIGIN) else { return RequestOrigin::Unknown };
    let Ok(origin) = origin.to_str() else { return RequestOrigin::Other };
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let is_of_host = origin.split_once("://").is_some_and(|(_, origin)| host == Some(origin));
    let of_url = url.and_then(|url| url.strip_prefix(origin));
    of(is_of_host || of_url.is_some_and(|path| path.is_empty() || path.starts_with('/')))
}
