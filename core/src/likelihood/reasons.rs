//! Reasons for or against somebody joining, as ids that a moderator understands.
//!
//! Features about the same thing are combined; a reason is true of the message. Its words are found by its id in
//! `locales/`.

use std::sync::LazyLock;

use super::explain::PartValues;
use super::features::{FEATURES, Values};

/// Features of one kind, and the reasons they give if together they speak for joining, or against it.
struct Theme {
    features: &'static [&'static str],
    speaks_for: &'static [ReasonRow],
    speaks_against: &'static [ReasonRow],
}

/// A reason: its id, its words for a judge, and the condition under which it is true.
struct ReasonRow(&'static str, &'static str, Condition);

/// When a reason is true: a feature is at least, or at most, this.
#[derive(Clone, Copy)]
enum Condition {
    AtLeast(&'static str, u8),
    AtMost(&'static str, u8),
}

use Condition::{AtLeast, AtMost};

/// Widths, in the steps of that feature: about twenty columns, and about fifty.
const SHORT: u8 = 13;
const LONG: u8 = 18;

/// The first reason that holds is used.
const THEMES: &[Theme] = &[
    Theme {
        features: &["question", "asks", "call", "run_question"],
        speaks_for: &[
            ReasonRow("calls_everybody", "it calls on everybody", AtLeast("call", 1)),
            ReasonRow("asks", "it asks a question", AtLeast("question", 1)),
            ReasonRow("author_asked", "its author has asked a question", AtLeast("run_question", 1)),
        ],
        speaks_against: &[ReasonRow("asks_nothing", "it asks nothing", AtMost("question", 0))],
    },
    Theme {
        features: &[
            "starts",
            "word_starts",
            "alone",
            "others",
            "conversation_lines",
            "conversation_age",
            "conversation_others",
            "to_own",
        ],
        speaks_for: &[
            ReasonRow("starts", "it starts a conversation", AtLeast("starts", 32)),
            ReasonRow("unanswered", "nobody has answered its author yet", AtMost("conversation_others", 0)),
        ],
        speaks_against: &[
            ReasonRow("has_company", "others are in this conversation already", AtLeast("conversation_others", 1)),
            ReasonRow("starts_nothing", "it starts no conversation", AtMost("starts", 31)),
        ],
    },
    Theme {
        features: &["address", "to_away", "to_said", "to_others", "to_in_conversation"],
        speaks_for: &[ReasonRow("to_nobody", "nobody is addressed", AtMost("address", 0))],
        speaks_against: &[
            ReasonRow("to_somebody", "it addresses somebody", AtLeast("address", 1)),
            ReasonRow("answers_somebody", "it answers somebody", AtLeast("to_others", 32)),
        ],
    },
    Theme {
        features: &[
            "said",
            "away",
            "away_lines",
            "my_starts",
            "my_directed",
            "my_drew",
            "my_company",
            "waiting",
            "to_me",
        ],
        speaks_for: &[
            ReasonRow("author_new", "its author is new here", AtMost("said", 0)),
            ReasonRow("author_quiet", "its author has said little so far", AtMost("said", 8)),
            ReasonRow("author_draws", "others often answer its author", AtLeast("my_drew", 4)),
        ],
        speaks_against: &[ReasonRow("author_present", "its author is already in the conversation", AtLeast("said", 1))],
    },
    Theme {
        features: &["word_draws", "word_answered", "word_goes_on", "run_draws", "known_words"],
        speaks_for: &[ReasonRow("words_draw", "its words draw others in", AtLeast("known_words", 1))],
        speaks_against: &[ReasonRow("words_draw_nobody", "its words draw nobody in", AtLeast("known_words", 1))],
    },
    Theme {
        features: &["width"],
        speaks_for: &[
            ReasonRow("long", "it is long", AtLeast("width", LONG)),
            ReasonRow("brief", "it is brief", AtMost("width", SHORT)),
        ],
        speaks_against: &[
            ReasonRow("little", "it says little", AtMost("width", SHORT)),
            ReasonRow("long", "it is long", AtLeast("width", LONG)),
        ],
    },
    Theme {
        features: &["echo", "repeat"],
        speaks_for: &[ReasonRow("repeats", "its author says it again", AtLeast("repeat", 2))],
        speaks_against: &[ReasonRow("takes_up", "it takes up what others said", AtLeast("echo", 1))],
    },
    Theme {
        features: &["closing", "filler", "smile", "greeting"],
        speaks_for: &[ReasonRow("greets", "it greets", AtLeast("greeting", 1))],
        speaks_against: &[
            ReasonRow("closes", "it thanks or says goodbye", AtLeast("closing", 1)),
            ReasonRow("laughs", "it is laughter or assent", AtLeast("filler", 1)),
            ReasonRow("jokes", "it is a joke", AtLeast("smile", 1)),
        ],
    },
    Theme {
        features: &["parent_question", "parent_draws", "parent_replies", "parent_gap", "parent_ago", "parent_start"],
        speaks_for: &[ReasonRow("parent_open", "what it continues is still open", AtLeast("parent_gap", 1))],
        speaks_against: &[ReasonRow(
            "parent_answered",
            "somebody already answers what it continues",
            AtLeast("parent_gap", 1),
        )],
    },
    Theme {
        features: &["pace", "crowd", "last_ago", "open", "conversations", "helpers", "outsiders", "joins", "custom"],
        speaks_for: &[ReasonRow("outsiders", "others are there who could join", AtLeast("outsiders", 1))],
        speaks_against: &[ReasonRow("busy", "the room is busy with other things", AtLeast("conversations", 1))],
    },
];

/// The theme of each feature.
static THEME_OF: LazyLock<[Option<usize>; FEATURES.len()]> =
    LazyLock::new(|| FEATURES.map(|feature| THEMES.iter().position(|theme| theme.features.contains(&feature.id))));

fn value_of(values: &Values, id: &str) -> Option<u8> {
    FEATURES.iter().position(|feature| feature.id == id).map(|index| values[index])
}

fn holds(values: &Values, holds: Condition) -> bool {
    match holds {
        AtLeast(id, least) => value_of(values, id).is_some_and(|value| value >= least),
        AtMost(id, most) => value_of(values, id).is_some_and(|value| value <= most),
    }
}

/// A reason for joining, or against it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reason {
    pub id: &'static str,
    /// Its words for a judge; people read those of their language.
    pub for_judge: &'static str,
    /// Positive if it speaks for joining.
    pub log_odds: f32,
}

/// All reasons that count, the strongest first.
pub(crate) fn reasons(values: &Values, parts: &PartValues) -> Vec<Reason> {
    /// A smaller effect, in log-odds, does not count.
    const LEAST: f32 = 0.05;
    let mut sums = [0.0; THEMES.len()];
    for (theme, part) in THEME_OF.iter().zip(parts) {
        theme.iter().for_each(|theme| sums[*theme] += part);
    }
    let reason = |(theme, log_odds): (&Theme, f32)| {
        let all = if log_odds > 0.0 { theme.speaks_for } else { theme.speaks_against };
        let row = all.iter().find(|ReasonRow(_, _, when)| holds(values, *when)).filter(|_| log_odds.abs() > LEAST);
        row.map(|ReasonRow(id, for_judge, _)| Reason { id, for_judge, log_odds })
    };
    let mut reasons: Vec<Reason> = THEMES.iter().zip(sums).filter_map(reason).collect();
    reasons.sort_by(|a, b| b.log_odds.abs().total_cmp(&a.log_odds.abs()));
    reasons
}

/// The ids of all reasons.
pub fn reason_ids() -> impl Iterator<Item = &'static str> {
    THEMES.iter().flat_map(|theme| theme.speaks_for.iter().chain(theme.speaks_against)).map(|ReasonRow(id, _, _)| *id)
}

/// The strongest reasons for joining, or against it, strongest first.
pub(crate) fn main_reasons(values: &Values, joining: bool, parts: &PartValues) -> Vec<Reason> {
    const REASONS_MAX: usize = 3;
    let spoke = |reason: &Reason| (reason.log_odds > 0.0) == joining;
    reasons(values, parts).into_iter().filter(spoke).take(REASONS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversations::{Conversations, LinkModel, Utterance};
    use crate::likelihood::explain::parts;
    use crate::likelihood::{JoinModel, TurnModel, estimate_join};
    use crate::types::{MessageId, Time};

    #[test]
    fn reasons_speak_of_features_that_exist() {
        let known = |id: &&str| FEATURES.iter().any(|feature| feature.id == *id);
        for theme in THEMES {
            for ReasonRow(reason, _, when) in theme.speaks_for.iter().chain(theme.speaks_against) {
                let (AtLeast(id, _) | AtMost(id, _)) = when;
                assert!(known(id) && theme.features.contains(id), "{reason}: {id}");
            }
            assert!(theme.features.iter().any(known), "{:?}", theme.features);
        }
    }

    #[test]
    fn a_question_of_a_newcomer_and_an_answer_by_name_are_told_apart() {
        let mut conversations = Conversations::default();
        let model = JoinModel::built_in();
        let mut told = |id: u64, name: &str, text: &str| {
            let id = MessageId::new(id.to_string());
            let heard = Utterance {
                id: &id,
                at: Time(id.as_str().parse::<u64>().unwrap() * 60_000),
                author: crate::types::stable_hash(0, name),
                name,
                bot: false,
                text,
                reply: None,
                reply_author: None,
                mentions: &[],
            };
            estimate_join(&mut conversations, &heard, LinkModel::built_in(), model, TurnModel::built_in(), 0)
        };
        told(1, "alice", "the new kernel is out");
        told(2, "bob", "alice: yes, I am on it already");
        let asks = told(3, "carol", "hi, does anybody know how to mount a usb disk?");
        let answers = told(4, "bob", "alice: thanks, works fine");
        let told: Vec<&str> =
            main_reasons(&asks.features, true, &parts(&asks.features, model)).iter().map(|reason| reason.id).collect();
        assert!(told.contains(&"calls_everybody") || told.contains(&"starts"), "{told:?}");
        let told: Vec<&str> = main_reasons(&answers.features, false, &parts(&answers.features, model))
            .iter()
            .map(|reason| reason.id)
            .collect();
        let taken = ["to_somebody", "has_company", "closes"];
        assert!(told.iter().any(|reason| taken.contains(reason)), "{told:?}");
        assert!(answers.p_join < asks.p_join);
    }
}
