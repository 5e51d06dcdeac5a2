//! A reference implementation that follows the text of the rules: a grid, recursion and texts. The fast
//! implementation must agree with it.

use super::*;
use crate::battery;
use referee_game::chance::{RandomKey, RandomStream};
use referee_game::test_length::long_or;

/// The reference implementation of a game. Seats and dice are counted from 0, rows and columns from 1.
#[derive(Clone)]
struct Slow {
    grid: [[Option<usize>; 6]; 6],
    in_hand: [i64; 2],
    points: [i64; 2],
    rows: [i64; 2],
    insurance: [i64; 2],
    mover: usize,
    table: [Option<usize>; 2],
    turns_left: i64,
    goal: i64,
    goal_rows: i64,
    over: Option<Outcome>,
    events: Vec<String>,
}

impl Slow {
    fn new(options: &Options) -> Slow {
        Slow {
            grid: [[None; 6]; 6],
            in_hand: [15, 15],
            points: [0, 0],
            rows: [0, 0],
            insurance: [7, 7],
            mover: 0,
            table: [None, None],
            turns_left: options.turn_limit.into(),
            goal: options.points_to_win.into(),
            goal_rows: options.rows_to_win.into(),
            over: None,
            events: Vec::new(),
        }
    }

    fn turn(&self) -> Turn {
        if let Some(outcome) = self.over {
            return Turn::Over(outcome);
        }
        match self.table {
            [Some(_), Some(_)] => Turn::Decide(SeatSet::one(Seat(self.mover as u8))),
            [None, None] => Turn::Draw(Draw::Dice { count: 2, sides: 6 }),
            _ => Turn::Draw(Draw::Dice { count: 1, sides: 6 }),
        }
    }

    fn view(&self) -> String {
        let pair = |pair: [i64; 2]| format!("[{},{}]", pair[0], pair[1]);
        let is_over = self.over.is_some();
        let mover = if is_over { String::new() } else { self.mover.to_string() };
        let (phase, dice) = match self.table {
            [None, None] => ("field", "null".to_owned()),
            [one, other] => {
                let is_open = [one, other].iter().any(|die| matches!(die, None | Some(6)));
                let faces = [one, other].map(|die| die.unwrap_or(0) as i64);
                (if is_open { "six" } else { "field" }, pair(faces))
            }
        };
        let mut board = Vec::new();
        for row in 1..6 {
            let letter = |column: usize| self.grid[row][column].map_or(".".to_owned(), |who| who.to_string());
            board.push(format!("\"{}\"", (1..6).map(letter).collect::<String>()));
        }
        format!(
            r#"{{"to_move":[{mover}],"phase":"{phase}","dice":{dice},"board":[{}],"points":{},"rows":{},"insurance":{},"supply":{}}}"#,
            board.join(","),
            pair(self.points),
            pair(self.rows),
            pair(self.insurance),
            pair(self.in_hand)
        )
    }

    fn group(&self, row: usize, column: usize) -> i64 {
        fn walk(grid: &mut [[Option<usize>; 6]; 6], row: usize, column: usize, who: usize) -> i64 {
            if !(1..6).contains(&row) || !(1..6).contains(&column) || grid[row][column] != Some(who) {
                return 0;
            }
            grid[row][column] = None;
            1 + walk(grid, row - 1, column, who)
                + walk(grid, row + 1, column, who)
                + walk(grid, row, column - 1, who)
                + walk(grid, row, column + 1, who)
        }
        self.grid[row][column].map_or(0, |who| walk(&mut self.grid.clone(), row, column, who))
    }

    fn full_lines(&self, who: usize) -> usize {
        let rows = (1..6).filter(|&row| (1..6).all(|column| self.grid[row][column] == Some(who)));
        let columns = (1..6).filter(|&column| (1..6).all(|row| self.grid[row][column] == Some(who)));
        rows.count() + columns.count()
    }

    fn legal(&self) -> BTreeSet<String> {
        let me = self.mover;
        let mut moves = BTreeSet::new();
        let [Some(a), Some(b)] = self.table else { panic!("the dice do not lie") };
        if a == 6 || b == 6 {
            for die in [1, 2] {
                if self.table[die - 1] == Some(6) {
                    moves.insert(format!("reroll {die}"));
                    for face in 1..6 {
                        if self.points[me] >= 6 {
                            moves.insert(format!("turn {die} {face}"));
                        }
                    }
                }
            }
            return moves;
        }
        let rolled = BTreeSet::from([(a, b), (b, a)]);
        let is_free = |&&(row, column): &&(usize, usize)| self.grid[row][column].is_none();
        if self.in_hand[me] > 0 && rolled.iter().any(|field| is_free(&field)) {
            return rolled
                .iter()
                .filter(is_free)
                .map(|(row, column)| format!("place {row} {column}"))
                .collect();
        }
        for &(row, column) in &rolled {
            match self.grid[row][column] {
                Some(who) if who == me => {
                    moves.insert(format!("score {row} {column}"));
                }
                Some(_) if self.in_hand[me] > 0 => {
                    moves.insert(format!("insure {row} {column}"));
                    if self.points[me] >= self.group(row, column) {
                        moves.insert(format!("pay {row} {column}"));
                    }
                }
                _ => {}
            }
        }
        moves
    }

    fn roll(&mut self, faces: &[u32]) {
        let mut faces = faces.iter();
        for die in 0..2 {
            if self.table[die].is_none() {
                self.table[die] = Some(*faces.next().unwrap() as usize);
            }
        }
        let [one, other] = self.table.map(Option::unwrap);
        self.events.push(format!(r#"{{"kind":"roll","seat":{},"dice":[{one},{other}]}}"#, self.mover));
        self.pass_if_nothing_is_possible();
    }

    fn pass_if_nothing_is_possible(&mut self) {
        if self.legal().is_empty() {
            self.events.push(format!(r#"{{"kind":"pass","seat":{}}}"#, self.mover));
            self.finish();
        }
    }

    fn finish(&mut self) {
        self.table = [None, None];
        self.mover = 1 - self.mover;
        self.turns_left -= 1;
        if self.over.is_none() && self.turns_left == 0 {
            self.over = Some(Outcome::turn_limit());
        }
    }

    fn play(&mut self, text: &str) {
        let (me, enemy) = (self.mover, 1 - self.mover);
        let words: Vec<&str> = text.split(' ').collect();
        let number = |index: usize| words[index].parse::<usize>().unwrap();
        match words[0] {
            "reroll" => {
                self.table[number(1) - 1] = None;
                return;
            }
            "turn" => {
                self.points[me] -= 6;
                self.table[number(1) - 1] = Some(number(2));
                return self.pass_if_nothing_is_possible();
            }
            _ => {}
        }
        let (row, column) = (number(1), number(2));
        let group = self.group(row, column);
        match words[0] {
            "score" => {
                self.points[me] += group;
                if self.points[me] >= self.goal {
                    self.over = Some(Outcome::win(me, "points"));
                }
                return self.finish();
            }
            "pay" => self.points[me] -= group,
            "insure" => {
                self.insurance[me] -= 1;
                if self.insurance[me] == 0 {
                    self.over = Some(Outcome::win(enemy, "insurance"));
                    return self.finish();
                }
            }
            _ => {}
        }
        let lines = self.full_lines(me);
        if self.grid[row][column].is_some() {
            self.in_hand[enemy] += 1;
        }
        self.grid[row][column] = Some(me);
        self.in_hand[me] -= 1;
        self.rows[me] += match self.full_lines(me) - lines {
            0 => 0,
            1 => 1,
            _ => 3,
        };
        if self.rows[me] >= self.goal_rows {
            self.over = Some(Outcome::win(me, "rows"));
        }
        self.finish();
    }

    fn perft(&self, depth: u32) -> u64 {
        let faces = || 1..=6u32;
        let outcomes: Vec<Vec<u32>> = match self.turn() {
            _ if depth == 0 => return 1,
            Turn::Over(_) => return 0,
            Turn::Decide(_) => {
                let after = |text: &String| {
                    let mut next = self.clone();
                    next.play(text);
                    next.perft(depth - 1)
                };
                return self.legal().iter().map(after).sum();
            }
            Turn::Draw(_) if self.table == [None, None] => {
                faces().flat_map(|a| faces().map(move |b| vec![a, b])).collect()
            }
            Turn::Draw(_) => faces().map(|face| vec![face]).collect(),
        };
        let after = |faces: &Vec<u32>| {
            let mut next = self.clone();
            next.roll(faces);
            next.perft(depth)
        };
        outcomes.iter().map(after).sum()
    }
}

/// Statistics of the comparison, to assert its coverage.
#[derive(Debug, Default, PartialEq)]
struct Tally {
    positions: usize,
    passes: usize,
    single_rows: usize,
    triple_rows: usize,
    ends: [usize; 4],
}

/// Plays both implementations at random for this many decisions and rolls, and compares them after each.
fn walk(mut fast: Saxum, mut slow: Slow, steps: usize, rng: &mut RandomStream, tally: &mut Tally) {
    let pick = |rng: &mut RandomStream, count: usize| rng.uniform(count as u64) as usize;
    for _ in 0..steps {
        let turn = slow.turn();
        assert_eq!(fast.turn(), turn, "{}", slow.view());
        assert_eq!(battery::view(&fast, Viewer::Public), slow.view());
        assert_eq!(fast.turns_left().map(i64::from), Some(slow.turns_left));
        tally.positions += 1;
        let mut events = Vec::new();
        let mut emit = |fact: Fact| events.push(serde_json::to_string(&fact).unwrap());
        match turn {
            Turn::Over(outcome) => {
                let reasons = ["points", "rows", "insurance", "turn_limit"];
                tally.ends[reasons.iter().position(|&reason| reason == outcome.reason).unwrap()] += 1;
                return;
            }
            Turn::Draw(Draw::Dice { count, .. }) => {
                let faces: Vec<u32> = (0..count).map(|_| 1 + rng.uniform(6) as u32).collect();
                fast.settle(&faces, &mut emit);
                slow.roll(&faces);
            }
            Turn::Draw(draw) => panic!("{draw:?}"),
            Turn::Decide(_) => {
                let legal: Vec<String> = slow.legal().into_iter().collect();
                assert_eq!(self::legal(&fast), legal.join(", "), "{}", slow.view());
                let text = &legal[pick(rng, legal.len())];
                let (seat, rows) = (Seat(slow.mover as u8), slow.rows);
                fast.play_unchecked(seat, text.parse().unwrap(), &mut emit);
                slow.play(text);
                match slow.rows[seat.index()] - rows[seat.index()] {
                    0 => {}
                    1 => tally.single_rows += 1,
                    3 => tally.triple_rows += 1,
                    more => panic!("{more} rows at once"),
                }
            }
        }
        assert_eq!(events, slow.events);
        tally.passes += slow.events.iter().filter(|event| event.contains("pass")).count();
        slow.events.clear();
    }
}

/// A random position before a roll, including ones that are rare in play: full boards, lines that lack a stone,
/// players about to win or lose.
fn random_position(rng: &mut RandomStream) -> Slow {
    let mut number = |below: u64| rng.uniform(below) as i64;
    let mut slow = Slow::new(&Options::default());
    slow.mover = number(2) as usize;
    let me = slow.mover;
    let put = |slow: &mut Slow, row: usize, column: usize, who: usize| {
        if slow.grid[row][column].is_none() && slow.in_hand[who] > 0 {
            slow.grid[row][column] = Some(who);
            slow.in_hand[who] -= 1;
        }
    };
    if number(3) == 0 {
        // Two lines lack the stone on which they cross. With a double that field comes more often.
        let row = 1 + number(5) as usize;
        let column = if number(2) == 0 { row } else { 1 + number(5) as usize };
        for at in (1..6).filter(|&at| at != row) {
            put(&mut slow, at, column, me);
        }
        for at in (1..6).filter(|&at| at != column) {
            put(&mut slow, row, at, me);
        }
    }
    for _ in 0..number(60) {
        let [row, column] = [(); 2].map(|()| 1 + number(5) as usize);
        put(&mut slow, row, column, number(2) as usize);
    }
    for who in 0..2 {
        slow.points[who] = [number(12), number(177), 170 + number(7)][number(3) as usize];
        slow.rows[who] = number(7);
        slow.insurance[who] = 1 + number(7);
    }
    slow
}

#[test]
fn the_reference_rules_agree_in_random_positions() {
    let rng = &mut RandomKey([1; 32]).stream();
    let mut tally = Tally::default();
    for _ in 0..long_or(10_000, 2_500) {
        let slow = random_position(rng);
        walk(formats::imagined(&slow.view()), slow, 12, rng, &mut tally);
    }
    let Tally { passes, single_rows, triple_rows, ends: [points, rows, insurance, _], .. } = tally;
    let seen = [passes, single_rows, triple_rows, points, rows, insurance];
    assert!(seen.iter().all(|&times| times >= long_or(100, 20)), "too little was compared: {tally:?}");
}

#[test]
fn the_reference_rules_agree_in_random_games() {
    let rng = &mut RandomKey([2; 32]).stream();
    let mut tally = Tally::default();
    for turn_limit in [2000, 20] {
        for (points_to_win, rows_to_win) in [(177, 7), (1, 7), (40, 1), (1000, 1000)] {
            let options = Options { turn_limit, points_to_win, rows_to_win };
            for _ in 0..10 {
                walk(start(&options), Slow::new(&options), usize::MAX, rng, &mut tally);
            }
        }
    }
    assert!(tally.ends.iter().all(|&times| times > 0), "some ends were not compared: {tally:?}");
}

#[test]
fn the_reference_rules_count_the_same_leaves() {
    for (view, values) in known_values() {
        let slow = seen(view);
        // More than a million would take too long.
        for (depth, leaves) in (1..).zip(values.split(' ').take_while(|leaves| leaves.len() <= 6)) {
            assert_eq!(slow.perft(depth).to_string(), leaves, "{view} at depth {depth}");
        }
    }
}

/// The position of a view in which the game is not over.
fn seen(view: &str) -> Slow {
    let view: serde_json::Value = serde_json::from_str(view).unwrap();
    let mut slow = Slow::new(&Options::default());
    let pair = |key: &str| [0, 1].map(|who| view[key][who].as_i64().unwrap());
    slow.mover = view["to_move"][0].as_u64().unwrap() as usize;
    slow.table = [0, 1].map(|die| view["dice"][die].as_u64().map(|face| face as usize));
    (slow.points, slow.rows) = (pair("points"), pair("rows"));
    (slow.insurance, slow.in_hand) = (pair("insurance"), pair("supply"));
    for (row, letters) in (1..).zip(view["board"].as_array().unwrap()) {
        for (column, letter) in (1..).zip(letters.as_str().unwrap().chars()) {
            slow.grid[row][column] = letter.to_digit(10).map(|who| who as usize);
        }
    }
    slow
}
