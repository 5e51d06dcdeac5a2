//! Where matches are played.

use std::path::PathBuf;

use referee_workers::Coordinator;

/// Which machines play a run.
#[derive(Debug)]
pub enum Placement {
    /// This one.
    Here,
    /// Workers.
    Workers {
        /// What hands sets out to them.
        coordinator: Box<Coordinator>,
        /// The directory whose archives they get.
        directory: PathBuf,
    },
}
