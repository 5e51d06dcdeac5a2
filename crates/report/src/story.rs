//! The leader and the reasons, in sentences.

use serde::Serialize;

/// The leader or winner, and the reason. Its fields hold all that its text says.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Story {
    /// A sentence without a full stop: `Nettle won the Autumn Cup`.
    pub heading: String,
    /// Sentences that explain it, in parts.
    pub why: Vec<StoryPart>,
    /// The only leader; `None` before the first result, and while several share the first place.
    pub leader: Option<String>,
    /// The entrant after the leader.
    pub second: Option<String>,
    /// The amount by which the leader is ahead, in points or in Elo.
    pub lead: Option<f64>,
    /// The match after which no other entrant could catch the winner.
    pub deciding_match: Option<String>,
    /// The last time that the first place changed hands.
    pub last_change_of_lead: Option<LeadChange>,
    /// The probability that the leader is stronger than the second.
    pub superiority: Option<f64>,
}

/// A change of the first place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeadChange {
    /// The match after which the leader was alone in the first place.
    pub r#match: String,
    /// The only leader before; `None` if several shared the lead.
    pub from: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StoryPart {
    pub text: String,
    /// The match of which it speaks, to which pages link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#match: Option<String>,
}

impl Story {
    pub fn say(&mut self, text: impl Into<String>) {
        self.why.push(StoryPart { text: text.into(), r#match: None });
    }

    /// Adds a text that speaks of a match.
    pub fn say_of(&mut self, id: &str, text: impl Into<String>) {
        self.why.push(StoryPart { text: text.into(), r#match: Some(id.to_owned()) });
    }

    /// Joins all sentences to one text.
    pub fn text(&self) -> String {
        self.why.iter().map(|part| part.text.as_str()).collect()
    }

    /// Says how likely it is that the leader is the stronger one of the first two.
    pub fn say_superiority(&mut self, leader: &str, second: &str) {
        let Some(probability) = self.superiority else { return };
        let percent = (100.0 * probability).round();
        let text = if probability >= 0.95 {
            format!(" It is stronger than {second} with a probability of {}%.", percent.min(99.0))
        } else {
            let percent = percent.min(94.0);
            format!(
                " Too close to call: {leader} is stronger than {second} with a probability of {percent}%."
            )
        };
        self.say(text);
    }
}

/// Names of those who share something: `Ann, Bob and Eve`; more than three are counted.
pub fn several(names: &[&str], what: &str) -> String {
    match names {
        [name] => (*name).to_owned(),
        [first, second] => format!("{first} and {second}"),
        [first, second, third] => format!("{first}, {second} and {third}"),
        more => format!("{} {what}", more.len()),
    }
}
