//! The part of a bot's report of its search that programs read.

use serde::Deserialize;

/// The meaning of a score.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ScoreScale {
    /// `"points"`: the score is the expected points of the side, from 0 to 1.
    Points(PointsScale),
    /// A positive number s: with the score x, the expected points are 1 / (1 + 10^(-x / s)).
    Logistic(f64),
}

/// The word `points`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PointsScale {
    /// Expected points.
    Points,
}

/// The score of an `info`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeclaredScore {
    /// The score after the move.
    pub score: f64,
    /// The meaning of `score`; absent: only its bot knows.
    pub score_scale: Option<ScoreScale>,
    /// The side from whose point of view it is; absent: that of the bot's own seat.
    pub score_side: Option<u8>,
}

impl DeclaredScore {
    /// The expected points of its side, from 0 to 1; `None` without a scale, or if score or scale make no sense.
    pub fn expected(&self) -> Option<f64> {
        let expected = match self.score_scale? {
            ScoreScale::Points(_) => self.score,
            ScoreScale::Logistic(scale) if scale > 0.0 => 1.0 / (1.0 + 10.0_f64.powf(-self.score / scale)),
            ScoreScale::Logistic(_) => return None,
        };
        (0.0..=1.0).contains(&expected).then_some(expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(info: &str) -> Option<f64> {
        serde_json::from_str::<DeclaredScore>(info).ok()?.expected()
    }

    #[test]
    fn a_declared_score_is_expected_points() {
        assert_eq!(expected(r#"{"score":0.75,"score_scale":"points","depth":9}"#), Some(0.75));
        assert_eq!(expected(r#"{"score":0,"score_scale":400}"#), Some(0.5));
        assert_eq!(expected(r#"{"score":-400,"score_scale":400,"score_side":1}"#), Some(1.0 / 11.0));
    }

    #[test]
    fn a_score_without_a_valid_scale_says_nothing() {
        for info in [
            r#"{"score":12}"#,
            r#"{"score":12,"score_scale":"points"}"#,
            r#"{"score":12,"score_scale":0}"#,
            r#"{"score":12,"score_scale":-1}"#,
            r#"{"score":"won","score_scale":400}"#,
            r#"{"score":12,"score_scale":"elo"}"#,
            r#"{"score":12,"score_scale":400,"score_side":-1}"#,
        ] {
            assert_eq!(expected(info), None, "{info}");
        }
    }
}
