//! Pending connections by address, and the choice of which to close for a new one.
//!
//! The connection to close comes from the address with the most pending connections, so that no address can displace
//! the others. An address is suspect if more of its recent connections failed than were admitted. Suspect addresses
//! are closed first, regardless of the age of their connections. All others have a grace period to send `hello`,
//! during which the acceptor prefers to wait.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use referee_protocol::limits;
use tokio::time::Instant;

const GRACE: Duration = Duration::from_millis(limits::GRACE_MS);
/// The time after which the counts of an address are halved.
const HALF_LIFE: Duration = Duration::from_secs(10);
/// Under overload, one in this number of new connections from suspect addresses is kept.
const KEPT: u64 = 8;
/// The maximum number of addresses that are remembered without pending connections.
const MOST_REMEMBERED: usize = 32_768;

/// The time at which there is room for another connection if the limit is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vacancy<K> {
    /// The end of this connection, which makes room.
    Eviction(K),
    /// The time from which there is room.
    From(Instant),
}

/// The pending connections, and the recent behaviour of their addresses.
#[derive(Debug)]
pub struct PendingConnections<K> {
    /// By session: its network, its serial number, and its address.
    by_session: HashMap<K, (IpAddr, u64, IpAddr)>,
    addresses: HashMap<IpAddr, AddressHistory<K>>,
    /// The networks with pending connections: whether they are suspect, and their numbers of pending connections.
    order: BTreeSet<(bool, usize, IpAddr)>,
    /// The next turns of addresses with a waiting `hello`.
    turns: BTreeSet<(Instant, IpAddr)>,
    added: u64,
    asked: u64,
    random: RandomState,
}

#[derive(Debug)]
struct AddressHistory<K> {
    /// By serial number, with the time of the connection.
    pending: BTreeMap<u64, (K, Instant)>,
    /// The numbers of connections that were admitted and that failed; older ones have lower weight.
    introduced: u32,
    failed: u32,
    /// The time at which the counts were last halved.
    halved: Instant,
    is_suspect: bool,
    /// Connections whose `hello` waits for its turn; some may have closed.
    pending_hello: VecDeque<K>,
    /// The time of the next turn.
    turn: Instant,
}

impl<K> AddressHistory<K> {
    fn new(now: Instant) -> AddressHistory<K> {
        AddressHistory {
            pending: BTreeMap::new(),
            introduced: 0,
            failed: 0,
            halved: now,
            is_suspect: false,
            pending_hello: VecDeque::new(),
            turn: now,
        }
    }

    fn judge(&mut self, now: Instant) {
        while now >= self.halved + HALF_LIFE && self.introduced + self.failed > 0 {
            self.halved += HALF_LIFE;
            self.introduced /= 2;
            self.failed /= 2;
        }
        if self.introduced + self.failed == 0 {
            self.halved = now;
        }
        self.is_suspect = self.failed > self.introduced;
    }

    /// Returns whether the address is suspect at this time, even if its counts are out of date.
    fn is_suspect(&self, now: Instant) -> bool {
        let half_lives = (now - self.halved).as_secs() / HALF_LIFE.as_secs();
        let lately = |count: u32| u64::from(count) >> half_lives.min(32);
        lately(self.failed) > lately(self.introduced)
    }

    fn is_forgettable(&mut self, now: Instant) -> bool {
        self.judge(now);
        self.pending.is_empty() && !self.is_suspect && self.turn <= now
    }
}

impl<K> Default for PendingConnections<K> {
    fn default() -> Self {
        PendingConnections {
            by_session: HashMap::new(),
            addresses: HashMap::new(),
            order: BTreeSet::new(),
            turns: BTreeSet::new(),
            added: 0,
            asked: 0,
            random: RandomState::new(),
        }
    }
}

impl<K: Copy + Eq + Hash> PendingConnections<K> {
    pub fn count(&self) -> usize {
        self.by_session.len()
    }

    /// Returns all sessions, in unspecified order.
    pub(super) fn sessions(&self) -> impl Iterator<Item = K> {
        self.addresses.values().flat_map(|address| address.pending.values().map(|&(session, _)| session))
    }

    pub(super) fn contains(&self, session: K) -> bool {
        self.by_session.contains_key(&session)
    }

    pub(super) fn address(&self, session: K) -> Option<IpAddr> {
        self.by_session.get(&session).map(|&(_, _, address)| address.to_canonical())
    }

    pub fn add(&mut self, session: K, address: IpAddr, now: Instant) {
        let peer = network(address);
        if self.addresses.len() >= MOST_REMEMBERED + self.order.len() {
            self.forget_some(now);
        }
        self.added += 1;
        let serial = self.added;
        self.by_session.insert(session, (peer, serial, address));
        self.change(peer, now, |address| {
            address.pending.insert(serial, (session, now));
        });
    }

    /// Removes a connection that has closed or been admitted. Returns its network.
    pub fn remove(&mut self, session: K, is_introduced: bool, now: Instant) -> Option<IpAddr> {
        let (peer, serial, _) = self.by_session.remove(&session)?;
        self.change(peer, now, |address| {
            address.pending.remove(&serial);
            let count = if is_introduced { &mut address.introduced } else { &mut address.failed };
            *count = count.saturating_add(1);
        });
        Some(peer)
    }

    fn change(&mut self, peer: IpAddr, now: Instant, change: impl FnOnce(&mut AddressHistory<K>)) {
        let address = self.addresses.entry(peer).or_insert_with(|| AddressHistory::new(now));
        self.order.remove(&(address.is_suspect, address.pending.len(), peer));
        change(address);
        address.judge(now);
        if !address.pending.is_empty() {
            self.order.insert((address.is_suspect, address.pending.len(), peer));
        }
    }

    /// Forgets addresses without pending connections: those that are not suspect, or all if that is not enough.
    fn forget_some(&mut self, now: Instant) {
        self.addresses.retain(|_, address| !address.is_forgettable(now));
        if self.addresses.len() >= MOST_REMEMBERED / 2 + self.order.len() {
            self.addresses.retain(|_, address| !address.pending.is_empty());
        }
        self.order = self
            .addresses
            .iter()
            .filter(|(_, address)| !address.pending.is_empty())
            .map(|(&peer, address)| (address.is_suspect, address.pending.len(), peer))
            .collect();
    }

    /// Returns whether to close a new connection from this address at once, when connections arrive too fast
    /// to be greeted. True for most connections of suspect addresses.
    pub(super) fn sheds(&mut self, peer: IpAddr, now: Instant) -> bool {
        let peer = network(peer);
        self.asked += 1;
        self.addresses.get(&peer).is_some_and(|address| address.is_suspect(now))
            && !self.random.hash_one(self.asked).is_multiple_of(KEPT)
    }

    /// Returns the time at which there is room for another connection; `None` if none is pending.
    pub fn vacancy(&self, now: Instant) -> Option<Vacancy<K>> {
        let &(is_suspect, _, peer) = self.order.last()?;
        let pending = &self.addresses.get(&peer)?.pending;
        let (&first, &(oldest, since)) = pending.first_key_value()?;
        if !is_suspect {
            let from = since + GRACE;
            return Some(if from <= now { Vacancy::Eviction(oldest) } else { Vacancy::From(from) });
        }
        // Chosen at random, so that an attacker cannot foresee it, and some connections behind the same address
        // survive.
        let (&last, _) = pending.last_key_value()?;
        let at = first + self.random.hash_one(self.added) % (last - first + 1);
        pending.range(at..).next().map(|(_, &(session, _))| Vacancy::Eviction(session))
    }

    /// Handles a `hello`. Returns whether its turn is now; otherwise it waits behind the others of its address.
    pub(super) fn asks(&mut self, session: K, now: Instant) -> bool {
        let Some(&(peer, ..)) = self.by_session.get(&session) else { return false };
        let Some(address) = self.addresses.get_mut(&peer) else { return false };
        if address.pending_hello.is_empty() && address.turn <= now {
            return true;
        }
        address.pending_hello.push_back(session);
        self.turns.insert((address.turn, peer));
        false
    }

    /// Delays the answer to a wrong token: the connection is answered at the next turn of its address, before all others.
    pub(super) fn delay_answer(&mut self, session: K, apart: Duration, now: Instant) {
        let Some(&(peer, ..)) = self.by_session.get(&session) else { return };
        let Some(address) = self.addresses.get_mut(&peer) else { return };
        address.turn = now + apart;
        address.pending_hello.push_front(session);
        self.turns.insert((address.turn, peer));
    }

    /// The time of the next turn of any address.
    pub(super) fn next_turn(&self) -> Option<Instant> {
        self.turns.first().map(|&(at, _)| at)
    }

    /// Takes an address whose turn is due.
    pub(super) fn due(&mut self, now: Instant) -> Option<IpAddr> {
        let &(at, peer) = self.turns.first().filter(|&&(at, _)| at <= now)?;
        self.turns.remove(&(at, peer));
        Some(peer)
    }

    /// Takes the next waiting connection of an address.
    pub(super) fn next_asking(&mut self, peer: IpAddr) -> Option<K> {
        self.addresses.get_mut(&peer)?.pending_hello.pop_front()
    }

    /// Postpones the next turn of the address after the answer to a wrong token.
    pub(super) fn turn_over(&mut self, peer: IpAddr, apart: Duration, now: Instant) {
        let Some(address) = self.addresses.get_mut(&peer) else { return };
        address.turn = now + apart;
        if !address.pending_hello.is_empty() {
            self.turns.insert((address.turn, peer));
        }
    }
}

/// The network that counts as one address: /64 for IPv6, in which a host can choose its address.
fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use slotmap::SlotMap;

    use crate::driver::SessionKey;

    const APART: Duration = Duration::from_millis(250);

    /// Pending connections from numbered addresses, under a simulated clock.
    struct Crowd {
        keys: SlotMap<SessionKey, u32>,
        pending: PendingConnections<SessionKey>,
        now: Instant,
    }

    impl Crowd {
        fn new() -> Crowd {
            Crowd { keys: SlotMap::default(), pending: PendingConnections::default(), now: Instant::now() }
        }

        fn comes(&mut self, from: u32) -> SessionKey {
            let key = self.keys.insert(from);
            self.pending.add(key, Ipv4Addr::from_bits(from).into(), self.now);
            key
        }

        fn leaves(&mut self, key: SessionKey, is_introduced: bool) {
            self.pending.remove(key, is_introduced, self.now);
        }

        fn fails(&mut self, from: u32) {
            let key = self.comes(from);
            self.leaves(key, false);
        }

        /// The address of which a connection would be closed, or how long none can be closed.
        fn makes_room(&self) -> Result<u32, Duration> {
            match self.pending.vacancy(self.now).expect("strangers") {
                Vacancy::Eviction(key) => Ok(self.keys[key]),
                Vacancy::From(from) => Err(from - self.now),
            }
        }
    }

    #[test]
    fn no_connection_is_closed_in_its_grace_period() {
        let mut crowd = Crowd::new();
        assert_eq!(crowd.pending.vacancy(crowd.now), None);
        crowd.comes(1);
        assert_eq!(crowd.makes_room(), Err(GRACE));
        crowd.now += GRACE;
        assert_eq!(crowd.makes_room(), Ok(1));
    }

    #[test]
    fn the_address_with_the_most_pending_connections_is_closed_first() {
        let mut crowd = Crowd::new();
        for from in [1, 2, 2, 3] {
            crowd.comes(from);
        }
        crowd.now += GRACE;
        assert_eq!(crowd.makes_room(), Ok(2));
    }

    #[test]
    fn a_flooding_address_is_closed_before_one_with_more_connections() {
        let mut crowd = Crowd::new();
        crowd.fails(1);
        crowd.comes(1);
        for _ in 0..100 {
            crowd.comes(2);
        }
        assert_eq!(crowd.makes_room(), Ok(1));
    }

    #[test]
    fn address_is_not_suspect_if_most_are_admitted_or_later() {
        let mut crowd = Crowd::new();
        crowd.fails(1);
        let bot = crowd.comes(1);
        crowd.leaves(bot, true);
        crowd.comes(1);
        assert_eq!(crowd.makes_room(), Err(GRACE));
        crowd.fails(2);
        crowd.now += HALF_LIFE;
        crowd.comes(2);
        crowd.comes(2);
        assert_eq!(crowd.makes_room(), Err(GRACE));
    }

    #[test]
    fn overload_keeps_some_connections_of_a_flood_and_all_others() {
        let mut crowd = Crowd::new();
        crowd.fails(1);
        let mut shed = |from: u32, now| {
            (0..800).filter(|_| crowd.pending.sheds(Ipv4Addr::from_bits(from).into(), now)).count()
        };
        let now = Instant::now();
        assert!((600..800).contains(&shed(1, now)));
        assert_eq!([shed(2, now), shed(1, now + 2 * HALF_LIFE)], [0, 0]);
    }

    #[test]
    fn the_closed_connection_of_a_flood_is_random() {
        let mut crowd = Crowd::new();
        crowd.fails(1);
        let first = crowd.comes(1);
        let mut stayed = Vec::new();
        for _ in 0..100 {
            crowd.pending.added += 1;
            for _ in 1..10 {
                crowd.comes(1);
            }
            stayed.push(crowd.pending.vacancy(crowd.now) != Some(Vacancy::Eviction(first)));
        }
        assert!(stayed.iter().filter(|stayed| **stayed).count() > 50);
    }

    #[test]
    fn an_ipv6_network_counts_as_one_address() {
        let network = |text: &str| super::network(text.parse().expect("an address"));
        assert_eq!(network("2001:db8:1:2::1"), network("2001:db8:1:2:3:4:5:6"));
        assert_ne!(network("2001:db8:1:2::1"), network("2001:db8:1:3::1"));
        assert_eq!(network("::ffff:10.0.0.1"), network("10.0.0.1"));
        assert_ne!(network("10.0.0.1"), network("10.0.0.2"));
    }

    #[test]
    fn addresses_are_forgotten_however_many_flood() {
        let mut crowd = Crowd::new();
        let stays = crowd.comes(0);
        for from in 1..70_000 {
            crowd.fails(from);
            assert!(crowd.pending.addresses.len() <= MOST_REMEMBERED + 1);
        }
        assert!(crowd.pending.contains(stays));
        assert_eq!(crowd.makes_room(), Err(GRACE));
    }

    #[test]
    fn wrong_tokens_take_turns_per_address() {
        let mut crowd = Crowd::new();
        let [first, second, third] = [(); 3].map(|()| crowd.comes(1));
        let other = crowd.comes(2);
        assert!(crowd.pending.asks(first, crowd.now));
        crowd.pending.delay_answer(first, APART, crowd.now);
        assert!(!crowd.pending.asks(second, crowd.now) && !crowd.pending.asks(third, crowd.now));
        assert!(crowd.pending.asks(other, crowd.now));
        assert_eq!(crowd.pending.due(crowd.now), None);
        for session in [first, second, third] {
            crowd.now += APART;
            assert_eq!(crowd.pending.next_turn(), Some(crowd.now));
            let peer = crowd.pending.due(crowd.now).expect("a turn");
            assert_eq!(crowd.pending.next_asking(peer), Some(session));
            crowd.pending.turn_over(peer, APART, crowd.now);
        }
        assert_eq!(crowd.pending.next_turn(), None);
        let again = crowd.comes(1);
        assert!(!crowd.pending.asks(again, crowd.now));
        crowd.now += APART;
        assert!(crowd.pending.due(crowd.now).is_some());
    }
}
