//! The keys of a lane's matches and sessions.

use crate::driver::arena::key;

key! {
    /// A match of a lane.
    MatchKey
}

key! {
    /// A session of a lane.
    SessionKey
}
