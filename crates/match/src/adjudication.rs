//! Ends matches by the scores that bots state, and by tables of endgames (specification, Results, Adjudication).

use std::fmt;
use std::str::FromStr;

use referee_game::erased::Rules;
use referee_game::outcome::Outcome;
use referee_game::{Meta, Seating, Wrong};
use referee_protocol::info::{DeclaredScore, ScoreScale};
use serde::{Deserialize, Serialize};

/// The rules by which the referee ends a match before the rules of the game do. By default there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adjudication {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resign: Option<ResignRule>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draw: Option<DrawRule>,
    /// A draw after this number of moves of each side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_moves: Option<u32>,
    /// The outcome that tables of endgames give the position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub syzygy: Option<SyzygyRule>,
}

/// The rule by which a match ends where tables of endgames know the outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SyzygyRule {
    /// The largest number of pieces in the tables.
    pub pieces: u32,
}

/// The rule by which a side loses when the scores say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResignRule {
    /// The scores of the loser are at most the negative of this, those of the winner at least this.
    pub score: u32,
    /// The number of moves of each side in a row that have such scores.
    pub moves: u32,
    /// Whether the scores of the loser suffice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub one_sided: bool,
}

/// The rule by which a match is drawn when the scores say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawRule {
    /// The greatest distance of all scores from 0.
    pub score: u32,
    /// The number of moves of each side in a row that have such scores.
    pub moves: u32,
    /// The number of moves of each side before which the rule does not apply.
    #[serde(default)]
    pub after: u32,
}

/// The largest number in a rule.
const MOST: u32 = 1_000_000;
const ONE_SIDED: &str = "one-sided";

/// The numbers of a rule, by key, each with its least value.
fn numbers<const N: usize>(
    text: &str,
    keys: [(&'static str, u32); N],
    form: &'static str,
) -> Result<[Option<u32>; N], Wrong> {
    let mut found = [None; N];
    for part in text.split(',') {
        let (key, number) = match part {
            ONE_SIDED => (ONE_SIDED, "1"),
            part => part.split_once('=').unwrap_or((part, "")),
        };
        let at = keys.iter().position(|(known, _)| *known == key);
        let at = at.ok_or_else(|| Wrong::from(format!("unknown part `{part}`; expected {form}")))?;
        let (key, least) = keys[at];
        let number = number.parse().ok().filter(|number| (least..=MOST).contains(number));
        let number = number.ok_or_else(|| {
            Wrong::from(format!("`{part}`: expected a whole number from {least} to {MOST}"))
        })?;
        if found[at].replace(number).is_some() {
            return Err(Wrong::from(format!("`{key}` is given twice")));
        }
    }
    Ok(found)
}

fn missing(key: &str, form: &str) -> Wrong {
    Wrong::from(format!("`{key}` is missing; expected {form}"))
}

impl FromStr for ResignRule {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<ResignRule, Wrong> {
        let form = "score=N,moves=N or score=N,moves=N,one-sided";
        let [score, moves, one_sided] = numbers(text, [("score", 1), ("moves", 1), (ONE_SIDED, 1)], form)?;
        let needed = |number: Option<u32>, key| number.ok_or_else(|| missing(key, form));
        let (score, moves) = (needed(score, "score")?, needed(moves, "moves")?);
        Ok(ResignRule { score, moves, one_sided: one_sided.is_some() })
    }
}

impl FromStr for DrawRule {
    type Err = Wrong;

    fn from_str(text: &str) -> Result<DrawRule, Wrong> {
        let form = "score=N,moves=N or score=N,moves=N,after=N";
        let [score, moves, after] = numbers(text, [("score", 0), ("moves", 1), ("after", 0)], form)?;
        let needed = |number: Option<u32>, key| number.ok_or_else(|| missing(key, form));
        let (score, moves) = (needed(score, "score")?, needed(moves, "moves")?);
        Ok(DrawRule { score, moves, after: after.unwrap_or(0) })
    }
}

impl fmt::Display for ResignRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ResignRule { score, moves, one_sided } = self;
        write!(f, "score={score},moves={moves}{}", if *one_sided { ",one-sided" } else { "" })
    }
}

impl fmt::Display for DrawRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DrawRule { score, moves, after } = self;
        write!(f, "score={score},moves={moves},after={after}")
    }
}

/// The rules as options: `resign score=600,moves=3; max-moves 200`.
impl fmt::Display for Adjudication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Adjudication { resign, draw, max_moves, syzygy } = self;
        let rules = [
            resign.map(|rule| format!("resign {rule}")),
            draw.map(|rule| format!("draw {rule}")),
            max_moves.map(|moves| format!("max-moves {moves}")),
            syzygy.map(|SyzygyRule { pieces }| format!("syzygy of {pieces} pieces")),
        ];
        f.write_str(&rules.into_iter().flatten().collect::<Vec<_>>().join("; "))
    }
}

impl Adjudication {
    /// Returns whether there are no rules.
    pub fn is_none(&self) -> bool {
        *self == Adjudication::default()
    }

    /// Returns whether a rule needs the scores of bots.
    pub(super) fn needs_scores(&self) -> bool {
        self.resign.is_some() || self.draw.is_some()
    }

    /// Checks that a match can be ended by these rules.
    ///
    /// # Errors
    /// If it has other than two sides, or amounts as results.
    pub fn check(&self, meta: &Meta, seating: Seating) -> Result<(), Wrong> {
        if self.is_none() {
            return Ok(());
        }
        let sides = seating.sides();
        if sides != 2 {
            return Err(Wrong::from(format!("adjudication needs two sides, and this match has {sides}")));
        }
        if meta.amounts.is_some() {
            return Err(Wrong::from(format!(
                "the results of {} are amounts, which adjudication cannot know",
                meta.id
            )));
        }
        Ok(())
    }

    /// Checks that these rules have the tables of endgames by which a match is adjudicated.
    ///
    /// # Errors
    /// If they have none, or others.
    pub fn check_tables(&self, rules: &dyn Rules) -> Result<(), Wrong> {
        let (Some(SyzygyRule { pieces }), here) = (self.syzygy, rules.endgame_pieces()) else {
            return Ok(());
        };
        if here == Some(pieces) {
            return Ok(());
        }
        let here = here.map_or("none".to_owned(), |pieces| format!("those of up to {pieces}"));
        Err(Wrong::from(format!(
            "the match is adjudicated by Syzygy tables of up to {pieces} pieces, and here are {here}: the setting `syzygy` names \
             their directory"
        )))
    }
}

/// The score of an `info` for a side; `None` if it has none, or one that is not compared with the numbers of rules.
pub fn stated_score(side: usize, info: &str) -> Option<f64> {
    let DeclaredScore { score, score_scale, score_side } = serde_json::from_str(info).ok()?;
    if let Some(ScoreScale::Points(_)) = score_scale {
        return None;
    }
    match score_side.map_or(side, usize::from) {
        of if of == side => Some(score),
        0 | 1 => Some(-score),
        _ => None,
    }
}

/// Scores that the two sides have declared in their moves.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ScoreTally([SideTally; 2]);

#[derive(Clone, Copy, Debug, Default)]
struct SideTally {
    moves: u32,
    /// The latest moves in a row that it called lost, won and level.
    lost: u32,
    won: u32,
    level: u32,
}

impl ScoreTally {
    /// Adds a move with its score for the side.
    pub(super) fn add(&mut self, rules: &Adjudication, side: usize, score: Option<f64>) {
        let Some(of) = self.0.get_mut(side) else { return };
        let next = |count: u32, holds: bool| if holds { count + 1 } else { 0 };
        let resign = score.zip(rules.resign.map(|rule| f64::from(rule.score)));
        let draw = score.zip(rules.draw.map(|rule| f64::from(rule.score)));
        *of = SideTally {
            moves: of.moves + 1,
            lost: next(of.lost, resign.is_some_and(|(score, least)| score <= -least)),
            won: next(of.won, resign.is_some_and(|(score, least)| score >= least)),
            level: next(of.level, draw.is_some_and(|(score, most)| score.abs() <= most)),
        };
    }

    /// The outcome by the first rule that holds.
    pub(super) fn outcome(&self, rules: &Adjudication) -> Option<Outcome> {
        let ScoreTally(sides) = self;
        if let Some(ResignRule { moves, one_sided, .. }) = rules.resign {
            let loses =
                |loser: usize| sides[loser].lost >= moves && (one_sided || sides[1 - loser].won >= moves);
            // Two sides that both say that they lose, say nothing.
            match [loses(0), loses(1)] {
                [true, false] => return Some(Outcome::win(1, "resign")),
                [false, true] => return Some(Outcome::win(0, "resign")),
                _ => {}
            }
        }
        let all = |holds: &dyn Fn(&SideTally) -> bool| sides.iter().all(holds);
        if let Some(DrawRule { moves, after, .. }) = rules.draw
            && all(&|side| side.level >= moves && side.moves >= after)
        {
            return Some(Outcome::draw("draw"));
        }
        let most = rules.max_moves?;
        all(&|side| side.moves >= most).then(|| Outcome::draw("max_moves"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_read_and_written_alike() {
        for text in ["score=600,moves=3", "score=1,moves=1000000,one-sided"] {
            assert_eq!(text.parse::<ResignRule>().unwrap().to_string(), text);
        }
        assert_eq!("moves=8,score=0".parse::<DrawRule>().unwrap().to_string(), "score=0,moves=8,after=0");
        let error = |text: &str| text.parse::<ResignRule>().unwrap_err().to_string();
        for (text, what) in [
            ("", "unknown part ``; expected score=N,moves=N"),
            ("score=600", "`moves` is missing"),
            ("score=600,moves=0", "`moves=0`: expected a whole number from 1 to 1000000"),
            ("score=-600,moves=3", "`score=-600`: expected a whole number"),
            ("score=1,score=1,moves=3", "`score` is given twice"),
            ("score=600,moves=3,after=40", "unknown part `after=40`"),
        ] {
            assert!(error(text).contains(what), "{text}: {}", error(text));
        }
    }

    #[test]
    fn a_score_is_that_of_its_side() {
        assert_eq!(stated_score(1, r#"{"score":-20,"depth":3}"#), Some(-20.0));
        assert_eq!(stated_score(1, r#"{"score":-20,"score_side":0,"score_scale":400}"#), Some(20.0));
        for info in [r#"{"score":0.5,"score_scale":"points"}"#, r#"{"score":"0"}"#, r#"{"depth":1}"#] {
            assert_eq!(stated_score(0, info), None, "{info}");
        }
    }

    /// The reason for which a match ends after these scores, in turn, and the winner.
    fn ended(rules: &Adjudication, scores: &[Option<f64>]) -> Option<(usize, &'static str, Option<usize>)> {
        let mut tally = ScoreTally::default();
        (1..).zip(scores).find_map(|(ply, &score)| {
            tally.add(rules, (ply - 1) % 2, score);
            let outcome = tally.outcome(rules)?;
            Some((ply, outcome.reason, outcome.winner(Seating::new(2, 2))))
        })
    }

    #[test]
    fn side_resigns_when_both_agree_for_moves_in_row() {
        let resign = "score=600,moves=2".parse().ok();
        let rules = Adjudication { resign, ..Adjudication::default() };
        let say = |scores: &[i32]| scores.iter().map(|&score| Some(f64::from(score))).collect::<Vec<_>>();
        assert_eq!(ended(&rules, &say(&[600, -600, 700, -601])), Some((4, "resign", Some(0))));
        // A single move is not enough, a run that is broken begins anew, and the winner has to agree.
        assert_eq!(ended(&rules, &say(&[600, -600, 599, -600, 600, -600])), None);
        assert_eq!(
            ended(&rules, &say(&[600, -600, 599, -600, 600, -600, 600])),
            Some((7, "resign", Some(0)))
        );
        assert_eq!(ended(&rules, &say(&[-900, 100, -900, 100, -900, 100])), None);
        assert_eq!(ended(&rules, &[Some(-900.0), None, Some(-900.0), None]), None);
        let one_sided = "score=600,moves=2,one-sided".parse().ok();
        let rules = Adjudication { resign: one_sided, ..rules };
        assert_eq!(ended(&rules, &[Some(-900.0), None, Some(-900.0)]), Some((3, "resign", Some(1))));
    }

    #[test]
    fn draw_and_most_moves_need_moves_of_both_sides() {
        let draw = "score=10,moves=2,after=3".parse().ok();
        let rules = Adjudication { draw, ..Adjudication::default() };
        assert_eq!(ended(&rules, &[Some(-10.0); 9]), Some((6, "draw", None)));
        let mut broken = [Some(10.0); 9];
        broken[4] = Some(11.0);
        assert_eq!(ended(&rules, &broken), Some((9, "draw", None)));
        assert_eq!(ended(&rules, &[None; 20]), None);
        let rules = Adjudication { max_moves: Some(4), ..Adjudication::default() };
        assert_eq!(ended(&rules, &[None; 20]), Some((8, "max_moves", None)));
    }
}
