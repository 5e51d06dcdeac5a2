//! The keys of a lane's matches and sessions. They are never reused.

slotmap::new_key_type! {
    pub struct MatchKey;

    pub struct SessionKey;
}
