//! Verifiable randomness: every random number is derived from a seed that was committed to beforehand (specification,
//! Chance).

use sha2::{Digest, Sha256};

use crate::hex;
use crate::hmac::Hmac;

/// A request for random numbers, which go to [`Chance::settle`](crate::Chance::settle).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// `count` dice, each 1 to `sides`.
    Dice {
        /// Number of dice.
        count: u8,
        /// Number of faces of each die.
        sides: u8,
    },
    /// A number from 0 to `of - 1`, uniformly distributed.
    Pick {
        /// Number of possible values.
        of: u32,
    },
    /// A random permutation of 0 to `len - 1`.
    Shuffle {
        /// Number of elements.
        len: u16,
    },
}

/// The seed of a run or a match: all of its random numbers are derived from these 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seed(pub [u8; 32]);

impl std::fmt::Debug for Seed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seed(secret)")
    }
}

fn hmac(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    Hmac::new(key).digest(parts)
}

impl Seed {
    /// Derives the seed of the matches on a deal from the seed of the run.
    pub fn of_deal(&self, deal: &str) -> Seed {
        Seed(hmac(&self.0, &[b"referee/1/seed\n", deal.as_bytes()]))
    }

    /// Derives the salt of a match's commitment from the seed of the run.
    pub fn salt(&self, match_id: &str) -> [u8; 32] {
        hmac(&self.0, &[b"referee/1/salt\n", match_id.as_bytes()])
    }

    /// Derives the random stream for the order of openings from the seed of the run.
    pub fn opening_order(&self) -> RandomStream {
        RandomKey(hmac(&self.0, &[b"referee/1/openings\n"])).stream()
    }

    /// Derives the random stream from which a set draws its opening from the seed of the run.
    pub fn opening_of(&self, set: u32) -> RandomStream {
        RandomKey(hmac(&self.0, &[b"referee/1/opening\n", set.to_string().as_bytes()])).stream()
    }

    /// Derives the random stream of the playouts that value a draw of a match, counted from 1. This is the commitment of the
    /// match.
    pub fn luck_stream(&self, draw: u32) -> RandomStream {
        RandomKey(hmac(&self.0, &[b"referee/1/luck\n", draw.to_string().as_bytes()])).stream()
    }

    /// Returns the commitment to this seed, SHA-256 of salt and seed. It is published before the match and reveals
    /// nothing about the seed.
    pub fn commitment(&self, salt: &[u8; 32]) -> [u8; 32] {
        Sha256::new().chain_update(salt).chain_update(self.0).finalize().into()
    }

    /// Derives the key of all random numbers of a match. `nonces` are hex, empty for a seat without one.
    pub fn match_key<S: AsRef<str>>(&self, game: &str, deal: &str, nonces: &[S]) -> RandomKey {
        let nonces: Vec<&str> = nonces.iter().map(AsRef::as_ref).collect();
        let text = format!("referee/1\n{game}\n{deal}\n{}", nonces.join(","));
        RandomKey(hmac(&self.0, &[text.as_bytes()]))
    }

    /// Returns the seed as 64 hex digits.
    pub fn to_hex(self) -> String {
        hex::encode(&self.0)
    }
}

/// The key of all random numbers of a match.
#[derive(Debug, Clone, Copy)]
pub struct RandomKey(pub [u8; 32]);

impl RandomKey {
    /// The random stream of the game itself: dice, shuffles.
    pub fn stream(&self) -> RandomStream {
        RandomStream { key: self.0, keyed: None, block: 0, ready: [0; 4], used: 4 }
    }

    /// The random stream for moves that the referee makes for faulty seats.
    pub fn fallback(&self) -> RandomStream {
        RandomKey(hmac(&self.0, &[b"fallback"])).stream()
    }

    pub fn opening(&self) -> RandomStream {
        RandomKey(hmac(&self.0, &[b"opening"])).stream()
    }
}

/// A source of uniformly distributed numbers.
pub trait Uniform {
    /// Returns a number from 0 to `n - 1`.
    fn uniform(&mut self, n: u64) -> u64;

    /// Shuffles with Fisher-Yates, from the last element to the first.
    fn shuffle<T>(&mut self, list: &mut [T])
    where
        Self: Sized,
    {
        for i in (1..list.len()).rev() {
            list.swap(i, self.uniform(i as u64 + 1) as usize);
        }
    }

    /// Draws the numbers that a game asks for.
    fn draw(&mut self, draw: Draw, out: &mut Vec<u32>)
    where
        Self: Sized,
    {
        out.clear();
        match draw {
            Draw::Dice { count, sides } => {
                out.extend((0..count).map(|_| 1 + self.uniform(sides.into()) as u32));
            }
            Draw::Pick { of } => out.push(self.uniform(of.into()) as u32),
            Draw::Shuffle { len } => {
                out.extend(0..u32::from(len));
                self.shuffle(out);
            }
        }
    }
}

impl<U: Uniform + ?Sized> Uniform for &mut U {
    fn uniform(&mut self, n: u64) -> u64 {
        (**self).uniform(n)
    }
}

/// Random numbers derived from a key: HMAC-SHA256 of a block counter, four big-endian `u64` per block.
#[derive(Debug, Clone)]
pub struct RandomStream {
    key: [u8; 32],
    /// Has hashed the key, which is half of the work of a block; from the first block on.
    keyed: Option<Box<Hmac>>,
    block: u64,
    ready: [u64; 4],
    used: usize,
}

impl RandomStream {
    fn next(&mut self) -> u64 {
        if self.used == self.ready.len() {
            let keyed = self.keyed.get_or_insert_with(|| Box::new(Hmac::new(&self.key)));
            let block = keyed.digest(&[&self.block.to_be_bytes()]);
            for (word, bytes) in self.ready.iter_mut().zip(block.as_chunks::<8>().0) {
                *word = u64::from_be_bytes(*bytes);
            }
            self.block += 1;
            self.used = 0;
        }
        self.used += 1;
        self.ready[self.used - 1]
    }
}

impl Uniform for RandomStream {
    fn uniform(&mut self, n: u64) -> u64 {
        // Rejection sampling: the top 2^64 mod n values, fewer than n, are rejected, so that the rest is uniform modulo n.
        loop {
            let x = self.next();
            if x <= u64::MAX - n || x <= u64::MAX - n.wrapping_neg() % n {
                return x % n;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed() -> Seed {
        Seed(std::array::from_fn(|i| i as u8))
    }

    #[test]
    fn commitment_has_the_published_value() {
        assert_eq!(
            hex::encode(&seed().commitment(&[0; 32])),
            "bb2275c49f28ad52cae6d55e34a974a58c7a3ba26f976e8ecbbe7a536918dc73"
        );
    }

    #[test]
    fn match_key_and_its_first_block_have_the_published_values() {
        let key = seed().match_key("saxum", "m1", &["", ""]);
        assert_eq!(hex::encode(&key.0), "1b680325253240f7367276a4288dcc54f78f4142f7c5ad3979badc14d2f78495");
        let mut stream = key.stream();
        let block: [u64; 4] = std::array::from_fn(|_| stream.next());
        assert_eq!(block, [0xbe854c71f01a8c92, 0x5963ea4ea0944441, 0xd79c7cf70a505485, 0xb70be4f5017a6492]);
    }

    #[test]
    fn dice_and_shuffle_have_the_published_values() {
        let key = seed().match_key("saxum", "m1", &["", ""]);
        let mut drawn = Vec::new();
        key.stream().draw(Draw::Dice { count: 6, sides: 6 }, &mut drawn);
        assert_eq!(drawn, [3, 6, 6, 5, 4, 6]);
        key.stream().draw(Draw::Shuffle { len: 10 }, &mut drawn);
        assert_eq!(drawn, [1, 9, 6, 0, 7, 3, 2, 8, 5, 4]);
    }

    #[test]
    fn nonces_change_the_key_as_published() {
        let key = seed().match_key("saxum", "m1", &["00ff", ""]);
        assert_eq!(hex::encode(&key.0), "287ab9c6d329d30b5570abf7727194e718552689c7f435663f29f2259a8b70ba");
    }

    #[test]
    fn fallback_stream_has_the_published_values() {
        let key = seed().match_key("saxum", "m1", &["", ""]);
        let mut stream = key.fallback();
        assert_eq!(
            hex::encode(&stream.key),
            "8fe086426349748cd73f1433bad78ca3f7ad613fc6a7d5647b2ce0739181b9f9"
        );
        assert_eq!(stream.next(), 0x47dc3dce43e6d9e5);
    }

    #[test]
    fn opening_stream_has_the_published_values() {
        // Computed with Python's hmac by the program in `protocol/spec/chance.md`.
        let key = seed().match_key("saxum", "m1", &["", ""]);
        let mut stream = key.opening();
        assert_eq!(
            hex::encode(&stream.key),
            "0bd93aad992785abf2d0e13d3720b078042e36c7863f3b1c1698d09a421bc7cb"
        );
        assert_eq!(stream.next(), 0xded850f552a53302);
    }

    #[test]
    fn run_seed_gives_published_salt_commitment_and_match_seed() {
        let (salt, of_deal) = (seed().salt("m1"), seed().of_deal("m1"));
        assert_eq!(hex::encode(&salt), "d9f5751b6d7395bbb52d9a2d8c424efe4c5a90445cb7b5aac5fdb742d577642f");
        assert_eq!(of_deal.to_hex(), "8c1e9bd9b6f79833319e719c06cbec55ba3ff0de76c25f3b407d40509ce6a9bb");
        assert_eq!(
            hex::encode(&of_deal.commitment(&salt)),
            "34f6c8da9620584c4fe415e490f518f0b6fd3e796223f766ce959bfeb80dd99a"
        );
    }

    #[test]
    fn openings_have_the_published_order() {
        // Computed with Python's hmac.
        let mut order: Vec<u32> = (1..=10).collect();
        seed().opening_order().shuffle(&mut order);
        assert_eq!(order, [4, 10, 8, 5, 1, 2, 3, 6, 7, 9]);
    }

    #[test]
    fn uniform_of_one_consumes_a_number() {
        let mut stream = seed().match_key("saxum", "m1", &["", ""]).stream();
        assert_eq!(stream.uniform(1), 0);
        assert_eq!(stream.next(), 0x5963ea4ea0944441);
    }
}
