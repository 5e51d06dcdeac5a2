//! A program without HTTP has no spectators.

use std::path::Path;

use crate::cli::exit::Failure;
use crate::cli::watch::WatchServer;
use crate::runner::LiveSchedule;
use crate::runs::tournament::{Tournament, TournamentConfig};

pub(super) fn show(_: &Tournament, server: &WatchServer) -> Result<(), Failure> {
    match *server {}
}

pub(super) fn announce_stage(server: &WatchServer, _: bool) -> Result<(), Failure> {
    match *server {}
}

pub(super) fn stay_on_stage(server: &WatchServer) {
    match *server {}
}

pub(super) fn show_standings(
    _: &Path,
    _: &TournamentConfig,
    _: LiveSchedule,
    server: &WatchServer,
) -> Result<(), Failure> {
    match *server {}
}
