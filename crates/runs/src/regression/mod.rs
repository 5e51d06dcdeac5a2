//! Regressions: whether a new version of a bot is weaker or stronger than its base.
//!
//! * [`RegressionSetup`]: what is tested, and when it is decided
//! * [`PreparedRegression`]: what plays it, from its beginning or on from a results file

mod play;
mod result_line;
mod results_file;
mod run;
mod setup;
mod tested_bot;

pub use play::{PreparedRegression, RegressionEnd, RegressionEvent};
pub use result_line::{ResultLine, ResultMatch};
pub use results_file::{ResultsContents, ResultsFile};
pub use run::{AddedMatch, RegressionRun, RegressionSet};
pub use setup::{Hypotheses, RegressionSetup, changed_bots};
pub use tested_bot::{is_same_version, tested_bot};
