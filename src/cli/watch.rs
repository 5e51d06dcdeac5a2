//! `--watch`: the server for spectators.

use std::io::Write;

use crate::cli::Failure;
use crate::cli::json::Watching;
use crate::cli::output::stdout;
use crate::cli::screen::stderr_line;
use crate::game::json;

#[cfg(feature = "http")]
mod with_http {
    use std::net::{IpAddr, SocketAddr};

    use clap::Args;

    use crate::cli::Failure;
    use crate::game::{Catalog, Meta};
    use crate::record::PublishedInfo;
    use crate::web::{WatchOptions, WatchServer};

    /// Options of the server for spectators.
    #[derive(Debug, Args)]
    #[command(next_help_heading = "Spectators")]
    pub(in crate::cli) struct WatchArgs {
        /// Serve live boards, standings and replays to browsers on this address, read-only; port 0 picks a free port. The
        /// URL is printed
        #[arg(long, value_name = "ADDRESS:PORT")]
        watch: Option<SocketAddr>,
        /// Keep live boards so many moves behind, until their match has ended
        #[arg(long, value_name = "N", default_value_t = 0, requires = "watch")]
        watch_delay: u32,
        /// A host name by which browsers may address the server, besides IP addresses and localhost; may be repeated
        #[arg(long, value_name = "NAME", requires = "watch")]
        watch_host: Vec<String>,
        /// A reverse proxy whose X-Forwarded-For names the client, to whose address limits apply; may be repeated
        #[arg(long, value_name = "ADDRESS", requires = "watch")]
        watch_proxy: Vec<IpAddr>,
    }

    impl WatchArgs {
        /// Starts the server, if there is to be one. `info`: whether what bots say of their search is public.
        pub(in crate::cli) fn open(
            &self,
            game: &'static Meta,
            catalog: &Catalog,
            info: PublishedInfo,
        ) -> Result<Option<WatchServer>, Failure> {
            let Some(address) = self.watch else { return Ok(None) };
            let (hosts, delay) = (self.watch_host.clone(), self.watch_delay);
            let proxies = self.watch_proxy.clone();
            let options = WatchOptions { address, hosts, proxies, url: None, delay, info };
            let server = WatchServer::open(options, game, catalog);
            server.map(Some).map_err(|error| Failure::cannot_run(format!("--watch {address}: {error}")))
        }
    }
}

/// A program without HTTP has no such server.
#[cfg(not(feature = "http"))]
mod without_http {
    use clap::Args;

    use crate::cli::Failure;
    use crate::game::{Catalog, Meta};
    use crate::record::PublishedInfo;
    use crate::runner::LiveFeed;

    #[derive(Debug, Args)]
    pub(in crate::cli) struct WatchArgs {}

    impl WatchArgs {
        pub(in crate::cli) fn open(
            &self,
            _: &'static Meta,
            _: &Catalog,
            _: PublishedInfo,
        ) -> Result<Option<NoServer>, Failure> {
            Ok(None)
        }
    }

    #[derive(Debug)]
    pub(in crate::cli) enum NoServer {}

    impl NoServer {
        pub(in crate::cli) fn url(&self) -> String {
            match *self {}
        }

        pub(in crate::cli) fn feed(&self) -> LiveFeed {
            match *self {}
        }

        pub(in crate::cli) fn close(self) {
            match self {}
        }
    }
}

#[cfg(not(feature = "http"))]
pub(super) use without_http::{NoServer as WatchServer, WatchArgs};
#[cfg(feature = "http")]
pub(super) use {crate::web::WatchServer, with_http::WatchArgs};

/// Prints the URL.
pub(super) fn announce(url: &str, is_json: bool) -> Result<(), Failure> {
    if is_json {
        writeln!(stdout(), "{}", json::text(&Watching { url }))?;
    } else {
        stderr_line(format_args!("watch at {url}"));
    }
    Ok(())
}
