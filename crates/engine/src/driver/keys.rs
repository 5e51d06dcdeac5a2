//! The keys of a lane's matches and sessions. They are never reused.

slotmap::new_key_type! {
    /// A match of a lane.
    pub struct MatchKey;

    /// A session of a lane.
    pub struct SessionKey;
}
