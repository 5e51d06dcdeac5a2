//! `--watch`: the server for spectators.

use std::io::Write;
#[cfg(feature = "http")]
use std::sync::mpsc::channel;

#[cfg(feature = "http")]
use tokio::signal::unix::SignalKind;

use crate::cli::exit::Failure;
#[cfg(feature = "http")]
use crate::cli::json::OperatorAt;
use crate::cli::json::Watching;
use crate::cli::output::stdout;
use crate::cli::screen::stderr_line;
#[cfg(feature = "http")]
use crate::cli::signals::on_each;
use crate::game::json;

#[cfg(feature = "http")]
mod with_http {
    use std::net::{IpAddr, SocketAddr};

    use clap::Args;

    use crate::cli::exit::Failure;
    use crate::cli::options::option_names;
    use crate::game::{Catalog, Meta, Wrong};
    use crate::record::PublishedInfo;
    use crate::web::{StageHold, WatchOptions, WatchServer};

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

    /// The delay of matches for spectators.
    #[derive(Debug, Args)]
    #[command(next_help_heading = "Spectators")]
    pub(in crate::cli) struct StageArgs {
        /// Show nothing of a match at once: `delay=30s` shows all of it so much later, `hold=reveal` when the operator reveals
        /// it, on a page whose URL with a secret is printed. The pages stay until a signal ends them
        #[arg(long, value_name = "HOW", requires = "watch", conflicts_with = "site", value_parser = parse_hold)]
        stage: Option<StageHold>,
    }

    fn parse_hold(text: &str) -> Result<StageHold, Wrong> {
        let delay = text.strip_prefix("delay=").and_then(|time| humantime::parse_duration(time).ok());
        match (text, delay) {
            ("hold=reveal", _) => Ok(StageHold::Reveal),
            (_, Some(delay)) => Ok(StageHold::Delay(delay)),
            _ => Err("expected `delay=30s` with another time, or `hold=reveal`".into()),
        }
    }

    impl WatchArgs {
        /// Starts the server, if there is to be one. `info`: whether the `info` of bots is public.
        pub(in crate::cli) fn open(
            &self,
            game: &'static Meta,
            catalog: &Catalog,
            info: PublishedInfo,
        ) -> Result<Option<WatchServer>, Failure> {
            self.open_stage(&StageArgs { stage: None }, game, catalog, info)
        }

        /// Starts the server with the reason for which matches wait before spectators see them.
        pub(in crate::cli) fn open_stage(
            &self,
            stage: &StageArgs,
            game: &'static Meta,
            catalog: &Catalog,
            info: PublishedInfo,
        ) -> Result<Option<WatchServer>, Failure> {
            let Some(address) = self.watch else { return Ok(None) };
            let (hosts, delay) = (self.watch_host.clone(), self.watch_delay);
            let proxies = self.watch_proxy.clone();
            let (stage, names) = (stage.stage, option_names);
            let options = WatchOptions { address, hosts, proxies, url: None, delay, info, stage, names };
            let server = WatchServer::open(options, game, catalog);
            server.map(Some).map_err(|error| Failure::cannot_run(format!("--watch {address}: {error}")))
        }
    }
}

/// A program without HTTP has no such server.
#[cfg(not(feature = "http"))]
mod without_http {
    use clap::Args;

    use crate::cli::exit::Failure;
    use crate::game::{Catalog, Meta};
    use crate::record::PublishedInfo;
    use crate::runner::LiveFeed;

    #[derive(Debug, Args)]
    pub(in crate::cli) struct WatchArgs {}

    #[derive(Debug, Args)]
    pub(in crate::cli) struct StageArgs {}

    impl WatchArgs {
        pub(in crate::cli) fn open(
            &self,
            _: &'static Meta,
            _: &Catalog,
            _: PublishedInfo,
        ) -> Result<Option<NoServer>, Failure> {
            Ok(None)
        }

        pub(in crate::cli) fn open_stage(
            &self,
            _: &StageArgs,
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
pub(super) use without_http::{NoServer as WatchServer, StageArgs, WatchArgs};
#[cfg(feature = "http")]
pub(super) use {
    crate::web::WatchServer,
    with_http::{StageArgs, WatchArgs},
};

/// Prints the URL, and that of the page on which the operator reveals matches, if there is one.
pub(super) fn announce(server: &WatchServer, is_json: bool) -> Result<(), Failure> {
    let url = &*server.url();
    if is_json {
        writeln!(stdout(), "{}", json::text(&Watching { url }))?;
    } else {
        stderr_line(format_args!("watch at {url}"));
    }
    #[cfg(feature = "http")]
    if let Some(path) = server.stage().and_then(|stage| stage.operator_path()) {
        let url = &format!("{url}{path}");
        if is_json {
            writeln!(stdout(), "{}", json::text(&OperatorAt { url }))?;
        } else {
            stderr_line(format_args!("reveal matches at {url}; whoever has this URL can"));
        }
    }
    Ok(())
}

/// Waits for a signal, if matches are shown later than they are played.
#[cfg(feature = "http")]
pub(super) fn stay_on_stage(server: &WatchServer) {
    if server.stage().is_none() {
        return;
    }
    let (sender, stopped) = channel();
    on_each([SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()], move |_| {
        // Only the first one counts.
        let _ = sender.send(());
    });
    stderr_line("the tournament has ended; the pages stay until Ctrl-C");
    let _ = stopped.recv();
}
