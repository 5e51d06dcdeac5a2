//! The connections that have not introduced themselves, by address, and which of them makes room for another.
//!
//! The victim comes from the address with the most strangers, so that no address takes the places of the others. An address
//! of which more connections failed lately than were let in is a suspect: suspects are the first to make room, whatever
//! the age of their connections. All others have a time of grace to introduce themselves, for which the door rather waits.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use referee_protocol::limits;
use tokio::time::Instant;

use crate::server::session::SessionKey;

const GRACE: Duration = Duration::from_millis(limits::GRACE_MS);
/// After this time what an address did counts half.
const HALF_LIFE: Duration = Duration::from_secs(10);
/// One of so many connections from suspects is kept where they come too fast.
const KEPT: u64 = 8;
/// Most addresses without strangers that are remembered.
const MOST_REMEMBERED: usize = 32_768;

/// When there is room for another stranger, where all places are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vacancy {
    /// When this one has left.
    InPlaceOf(SessionKey),
    /// Not before this time.
    From(Instant),
}

/// The strangers, and what their addresses did lately.
pub(super) struct PendingConnections {
    /// By session: the network and the number of the stranger, and its own address.
    by_session: HashMap<SessionKey, (IpAddr, u64, IpAddr)>,
    addresses: HashMap<IpAddr, AddressHistory>,
    /// The addresses with strangers: whether it is a suspect, and how many it has.
    order: BTreeSet<(bool, usize, IpAddr)>,
    /// The turns of addresses at which a `hello` waits.
    turns: BTreeSet<(Instant, IpAddr)>,
    added: u64,
    asked: u64,
    random: RandomState,
}

struct AddressHistory {
    /// Since when, the oldest first.
    pending: BTreeMap<u64, (SessionKey, Instant)>,
    /// Connections that were let in, and that were not, the older ones in part.
    introduced: u32,
    failed: u32,
    /// When they were last halved.
    halved: Instant,
    is_suspect: bool,
    /// Connections whose `hello` waits for its turn, those that have left meanwhile among them.
    pending_hello: VecDeque<SessionKey>,
    /// When the next turn is.
    turn: Instant,
}

impl AddressHistory {
    fn new(now: Instant) -> AddressHistory {
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

    /// Whether it is a suspect now, also if nothing has happened for long.
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

impl PendingConnections {
    pub(super) fn new() -> PendingConnections {
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

    pub(super) fn len(&self) -> usize {
        self.by_session.len()
    }

    /// All of them, in no order that matters.
    pub(super) fn sessions(&self) -> impl Iterator<Item = SessionKey> {
        self.addresses.values().flat_map(|address| address.pending.values().map(|&(session, _)| session))
    }

    pub(super) fn contains(&self, session: SessionKey) -> bool {
        self.by_session.contains_key(&session)
    }

    /// The address of a stranger, if it is here.
    pub(super) fn address(&self, session: SessionKey) -> Option<IpAddr> {
        self.by_session.get(&session).map(|&(_, _, address)| address.to_canonical())
    }

    pub(super) fn add(&mut self, session: SessionKey, address: IpAddr, now: Instant) {
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

    /// A stranger has left, or has been let in. Its address, if it was here.
    pub(super) fn remove(
        &mut self,
        session: SessionKey,
        is_introduced: bool,
        now: Instant,
    ) -> Option<IpAddr> {
        let (peer, serial, _) = self.by_session.remove(&session)?;
        self.change(peer, now, |address| {
            address.pending.remove(&serial);
            let count = if is_introduced { &mut address.introduced } else { &mut address.failed };
            *count = count.saturating_add(1);
        });
        Some(peer)
    }

    fn change(&mut self, peer: IpAddr, now: Instant, change: impl FnOnce(&mut AddressHistory)) {
        let address = self.addresses.entry(peer).or_insert_with(|| AddressHistory::new(now));
        self.order.remove(&(address.is_suspect, address.pending.len(), peer));
        change(address);
        address.judge(now);
        if !address.pending.is_empty() {
            self.order.insert((address.is_suspect, address.pending.len(), peer));
        }
    }

    /// Forgets addresses without strangers: those that did nothing wrong lately, and if they are few, all.
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

    /// Whether to close a new connection from this address at once, where they come faster than they can be greeted: most
    /// of those from suspects.
    pub(super) fn sheds(&mut self, peer: IpAddr, now: Instant) -> bool {
        let peer = network(peer);
        self.asked += 1;
        self.addresses.get(&peer).is_some_and(|address| address.is_suspect(now))
            && !self.random.hash_one(self.asked).is_multiple_of(KEPT)
    }

    /// When there is room for another. None without strangers.
    pub(super) fn vacancy(&self, now: Instant) -> Option<Vacancy> {
        let &(is_suspect, _, peer) = self.order.last()?;
        let pending = &self.addresses.get(&peer)?.pending;
        let (&first, &(oldest, since)) = pending.first_key_value()?;
        if !is_suspect {
            let from = since + GRACE;
            return Some(if from <= now { Vacancy::InPlaceOf(oldest) } else { Vacancy::From(from) });
        }
        // Whoever floods cannot foresee which one it is, so that some stay long enough behind its address, too.
        let (&last, _) = pending.last_key_value()?;
        let at = first + self.random.hash_one(self.added) % (last - first + 1);
        pending.range(at..).next().map(|(_, &(session, _))| Vacancy::InPlaceOf(session))
    }

    /// A stranger has said `hello`. Whether it is its turn at once; else its turn comes after those of its address that
    /// wait.
    pub(super) fn asks(&mut self, session: SessionKey, now: Instant) -> bool {
        let Some(&(peer, ..)) = self.by_session.get(&session) else { return false };
        let Some(address) = self.addresses.get_mut(&peer) else { return false };
        if address.pending_hello.is_empty() && address.turn <= now {
            return true;
        }
        address.pending_hello.push_back(session);
        self.turns.insert((address.turn, peer));
        false
    }

    /// The token of a stranger was wrong: it is answered at the next turn of its address, before all others.
    pub(super) fn was_wrong(&mut self, session: SessionKey, apart: Duration, now: Instant) {
        let Some(&(peer, ..)) = self.by_session.get(&session) else { return };
        let Some(address) = self.addresses.get_mut(&peer) else { return };
        address.turn = now + apart;
        address.pending_hello.push_front(session);
        self.turns.insert((address.turn, peer));
    }

    /// When the next turn of an address is.
    pub(super) fn next_turn(&self) -> Option<Instant> {
        self.turns.first().map(|&(at, _)| at)
    }

    /// The address whose turn it is.
    pub(super) fn due(&mut self, now: Instant) -> Option<IpAddr> {
        let &(at, peer) = self.turns.first().filter(|&&(at, _)| at <= now)?;
        self.turns.remove(&(at, peer));
        Some(peer)
    }

    /// The one at this address that waits for its turn next.
    pub(super) fn next_asking(&mut self, peer: IpAddr) -> Option<SessionKey> {
        self.addresses.get_mut(&peer)?.pending_hello.pop_front()
    }

    /// A wrong token has been answered: the next turn of the address comes later.
    pub(super) fn turn_over(&mut self, peer: IpAddr, apart: Duration, now: Instant) {
        let Some(address) = self.addresses.get_mut(&peer) else { return };
        address.turn = now + apart;
        if !address.pending_hello.is_empty() {
            self.turns.insert((address.turn, peer));
        }
    }
}

/// What counts as one address: with IPv6 the network of a host, in which it chooses its address itself.
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
    use crate::server::arena::Arena;

    const APART: Duration = Duration::from_millis(250);

    /// Strangers that come from addresses of these numbers, and the time, which stands still unless it is moved.
    struct Crowd {
        keys: Arena<SessionKey, u32>,
        pending: PendingConnections,
        now: Instant,
    }

    impl Crowd {
        fn new() -> Crowd {
            Crowd { keys: Arena::default(), pending: PendingConnections::new(), now: Instant::now() }
        }

        fn comes(&mut self, from: u32) -> SessionKey {
            let key = self.keys.insert(|_| from);
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

        /// The address that makes room, or how long nobody does.
        fn makes_room(&self) -> Result<u32, Duration> {
            match self.pending.vacancy(self.now).expect("strangers") {
                Vacancy::InPlaceOf(key) => Ok(self.keys[key]),
                Vacancy::From(from) => Err(from - self.now),
            }
        }
    }

    #[test]
    fn nobody_makes_room_in_the_time_of_grace() {
        let mut crowd = Crowd::new();
        assert_eq!(crowd.pending.vacancy(crowd.now), None);
        crowd.comes(1);
        assert_eq!(crowd.makes_room(), Err(GRACE));
        crowd.now += GRACE;
        assert_eq!(crowd.makes_room(), Ok(1));
    }

    #[test]
    fn the_address_with_the_most_strangers_makes_room() {
        let mut crowd = Crowd::new();
        for from in [1, 2, 2, 3] {
            crowd.comes(from);
        }
        crowd.now += GRACE;
        assert_eq!(crowd.makes_room(), Ok(2));
    }

    #[test]
    fn an_address_that_floods_makes_room_at_once_and_before_one_with_more_strangers() {
        let mut crowd = Crowd::new();
        crowd.fails(1);
        crowd.comes(1);
        for _ in 0..100 {
            crowd.comes(2);
        }
        assert_eq!(crowd.makes_room(), Ok(1));
    }

    #[test]
    fn an_address_is_no_suspect_where_most_connections_are_let_in_or_after_a_while() {
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
    fn of_a_flood_that_comes_too_fast_some_are_kept_and_no_others_are_shed() {
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
    fn which_stranger_of_a_flood_makes_room_is_random() {
        let mut crowd = Crowd::new();
        crowd.fails(1);
        let first = crowd.comes(1);
        let mut stayed = Vec::new();
        for _ in 0..100 {
            crowd.pending.added += 1;
            for _ in 1..10 {
                crowd.comes(1);
            }
            stayed.push(crowd.pending.vacancy(crowd.now) != Some(Vacancy::InPlaceOf(first)));
        }
        assert!(stayed.iter().filter(|stayed| **stayed).count() > 50);
    }

    #[test]
    fn a_host_with_ipv6_is_one_address_wherever_in_its_network_it_is() {
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
    fn wrong_tokens_take_turns_and_one_wait_is_not_that_of_another_address() {
        let mut crowd = Crowd::new();
        let [first, second, third] = [(); 3].map(|()| crowd.comes(1));
        let other = crowd.comes(2);
        assert!(crowd.pending.asks(first, crowd.now));
        crowd.pending.was_wrong(first, APART, crowd.now);
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
