//! The kinds of peers.

use referee_protocol::referee as message;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A bot process that the referee started: its exit will be reported.
    Process,
    /// A peer that moves to another lane after its `hello`, or is rejected: nothing else is read in between.
    Connection {
        /// Authentication that its `hello` has to contain; the owner of the lane checks it.
        auth: message::Auth,
        /// Whether the matches of the connection outlive it, until the bot connects again.
        reconnects: bool,
    },
    /// A host that holds all seats; it may open matches itself.
    Host { may_open: bool },
}

impl Role {
    /// Authentication that the `hello` of the peer has to contain.
    pub(super) fn auth(self) -> message::Auth {
        if let Role::Connection { auth, .. } = self { auth } else { message::Auth::None }
    }

    /// Returns whether its matches outlive the stream of the peer.
    pub(super) fn reconnects(self) -> bool {
        matches!(self, Role::Connection { reconnects: true, .. })
    }

    /// Returns whether the session is held after its `hello`.
    pub(super) fn is_connection(self) -> bool {
        matches!(self, Role::Connection { .. })
    }
}
