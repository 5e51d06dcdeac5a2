//! The moves of one step or one jump, which the generator copies into its list.

use super::board::Heading;
use super::moves::Move;
use referee_game::extend_in_blocks;

/// Number of entries: the places in two directions, and one that fills the list beyond the last move.
const SIZE: usize = 65;

/// The steps, or the captures of one jump, in the two directions of a heading, each by a place. In the second direction
/// 32 is added to the place.
pub(super) struct Table([Move; SIZE]);

static STEPS: [Table; 2] = [Table::of_steps(Heading::North), Table::of_steps(Heading::South)];
static JUMPS: [Table; 2] = [Table::of_jumps(Heading::North), Table::of_jumps(Heading::South)];

impl Table {
    /// The steps by the place to which they go.
    pub(super) fn steps(heading: Heading) -> &'static Table {
        &STEPS[heading as usize]
    }

    /// The captures of one jump by the place from which they start.
    pub(super) fn jumps(heading: Heading) -> &'static Table {
        &JUMPS[heading as usize]
    }

    const fn of_steps(heading: Heading) -> Table {
        let mut moves = [Move::from_place(0); SIZE];
        let mut at = 0;
        while at < 64 {
            let back = heading.ways()[at as usize / 32].back();
            moves[at as usize] = Move::from_place((at + back.turn()) % 32).then(at % 32);
            at += 1;
        }
        Table(moves)
    }

    const fn of_jumps(heading: Heading) -> Table {
        let mut moves = [Move::from_place(0); SIZE];
        let mut at = 0;
        while at < 64 {
            let way = heading.ways()[at as usize / 32];
            moves[at as usize] = Move::from_place(at % 32).then((at + 2 * way.turn()) % 32);
            at += 1;
        }
        Table(moves)
    }
}

/// Receives the moves of the generator.
pub(super) trait Moves {
    fn push(&mut self, mv: Move);

    /// Adds the moves of a table at these places of the two directions. There are mostly `BLOCK` or fewer.
    fn extend<const BLOCK: usize>(&mut self, table: &Table, places: [u32; 2]);
}

impl Moves for Vec<Move> {
    #[inline(always)]
    fn push(&mut self, mv: Move) {
        self.push(mv);
    }

    #[inline(always)]
    fn extend<const BLOCK: usize>(&mut self, table: &Table, [one, other]: [u32; 2]) {
        let mut left = u64::from(one) | u64::from(other) << 32;
        extend_in_blocks::<BLOCK, _>(self, left.count_ones(), || {
            let at = left.trailing_zeros();
            left &= left.wrapping_sub(1);
            table.0[at as usize]
        });
    }
}

/// Counts moves without listing them.
#[derive(Default)]
pub(super) struct Count(pub(super) usize);

impl Moves for Count {
    #[inline(always)]
    fn push(&mut self, _: Move) {
        self.0 += 1;
    }

    #[inline(always)]
    fn extend<const BLOCK: usize>(&mut self, _: &Table, [one, other]: [u32; 2]) {
        self.0 += (u64::from(one) | u64::from(other) << 32).count_ones() as usize;
    }
}
