//! The model card: what the models were trained on, how good they are, and their limits.

use std::fmt::Write;

use aizuchi_core::conversations::pairs;
use aizuchi_core::likelihood::{self, turn};
use aizuchi_core::trees::{Feature, Trees};
use aizuchi_measure::addressees::Addressees;
use aizuchi_measure::conversations::GROUPS;
use aizuchi_measure::logs::Channel;
use aizuchi_measure::metrics::{Links, Outcomes, auc, average_precision, reliability};
use aizuchi_measure::silences::{BySilence, happened};

use crate::models::Models;
use crate::rooms::Kind;
use crate::rows::{Rows, Score};

/// The results of the models on logs of one kind.
pub struct Measurements {
    pub score: Score,
    pub join: BySilence,
    /// The same guesses, if the next to speak in the conversation is what counts.
    pub join_by_next: Vec<(f32, bool)>,
    pub turn: BySilence,
    /// Who spoke just before, instead of a guess.
    pub turn_just_before: Vec<(f32, bool)>,
}

impl Measurements {
    /// For the rows of one kind, with predictions for each example of joining and of turns. A participant that was not
    /// recognised counts as predicted with 0.
    pub fn of(rows: &Rows, kind: usize, join: &[f32], turn: &[f32]) -> Measurements {
        let mut measured = Measurements {
            score: rows.scores.get(kind).copied().unwrap_or_default(),
            join: BySilence::default(),
            join_by_next: Vec::new(),
            turn: BySilence::default(),
            turn_just_before: Vec::new(),
        };
        for ((example, by_next), guess) in rows.join.iter().zip(&rows.join_by_next).zip(join) {
            if example.kind == kind {
                measured.join.push(example.silence, *guess, example.happened);
                measured.join_by_next.push((*guess, *by_next));
            }
        }
        for ((example, just_before), guess) in rows.turn.iter().zip(&rows.turn_just_before).zip(turn) {
            if example.kind == kind {
                measured.add_turn(example.silence, *guess, *just_before, example.happened);
            }
        }
        for missed in rows.turn_missed.iter().filter(|missed| missed.kind == kind) {
            measured.add_turn(missed.silence, 0.0, missed.just_before, missed.happened);
        }
        measured
    }

    fn add_turn(&mut self, silence: usize, guess: f32, just_before: bool, happened: bool) {
        self.turn.push(silence, guess, happened);
        self.turn_just_before.push((f32::from(u8::from(just_before)), happened));
    }

    /// By the models that processed the log themselves.
    pub fn of_itself(rows: &Rows, kind: usize) -> Measurements {
        let join: Vec<f32> = rows.join.iter().map(|example| example.guess).collect();
        let turn: Vec<f32> = rows.turn.iter().map(|example| example.guess).collect();
        Measurements::of(rows, kind, &join, &turn)
    }
}

pub struct Sheet<'a> {
    pub kinds: &'a [Kind],
    pub models: &'a Models,
    /// By kind.
    pub held_out: &'a [Measurements],
    /// Other logs, by name.
    pub checks: &'a [(String, Measurements)],
}

const INTRODUCTION: &str = "\
# Model card: who answers whom, where somebody joins, and whose turn it is

Three small models are compiled into `aizuchi-core`. One guesses which earlier message a message answers, or that it
starts a conversation (`reply_to_guess`). The second guesses how likely somebody who is not in the conversation answers
a message (`p_join`), the third how likely somebody who takes part in it is the next to speak (`p_turn`). All are boosted
trees over features that the core computes; words are one part of them, through a list of single words and pairs. This
page is written by the training command:

    cargo run --release -p aizuchi-learn -- train LOG... --check OTHER_LOG --check learn/talk/ja.jsonl

The same logs give the same files, byte by byte.

## Data

";

const SOURCE: &str = "\
- `irc-train`, `irc-dev`: Kummerfeld, Gouravajhala, Peper, Athreya, Gunasekara, Ganhotra, Patel, Polymenakos and Lasecki,
  *A Large-Scale Corpus for Conversation Disentanglement*, ACL 2019; CC BY 4.0. People in #ubuntu, 2004 to 2018; who answers
  whom was marked by hand.
- `slack-ja`: haskell-jp/slack-log, a Japanese-speaking Slack workspace, 2017 to 2022; Apache-2.0. The threads are the
  labels, laid flat into their channels; what was said outside of threads has none.
- `zulip-ncar`: NCAR/zulip-archive, an English-speaking Zulip of earth scientists, 2019 to 2025; Apache-2.0. The topics are
  the labels, laid flat into their streams.

All were converted to transcripts. The weights are learnt from them; the logs are not part of this repository. A word is listed
only if it is said in at least five channels. What words tell is learnt from messages without labels too, by the links
guessed for them.

*Joined* means: somebody who is not in the message's conversation up to then answers it, or is the next to speak in it where
only conversations are labelled. Bots count neither as those who join nor as authors, and the last 30 labelled messages of
each channel are left out. *Joined, by the next* is the other definition: the next to speak in its conversation is a person who
had not spoken there. Where only conversations are labelled, both are the same. *Turn*: at each message of somebody else in a
conversation, is this participant the next to speak there? At most the six who spoke last are examples; one who was not found to
take part counts as guessed with 0.

Each log is lived through in several ways, so that rooms with other customs, languages and paces are not strange to it: as it
is; as if no word were known; as if nobody were called by name; with hours of silence before some conversations; at
another pace, from a tenth to 120 times as slow; with several channels laid into one; cut into new rooms; and with mentions
taken off, where whom they name is to be found. A log with few labels counts more: by the square root of the ratio.

`ja` is Japanese talk written and labelled for measuring: eight rooms, 1,027 messages of friends, colleagues, students and a
support channel. Its pauses are made up, and one person wrote and labelled it all. No weight was learnt from it.

## Figures

*Held out*: each channel is guessed by models that have not seen it. *In its conversation*: a follow-up is taken to answer a
message of its own conversation, a first message to start one.

";

const LIMITS: &str = "\
## Limits

- Three communities, all about computers. Features are counts, spans and marks that mean the same in other rooms and
  languages, and words that are not known are compared but tell nothing.
- Members see threads and topics apart, so that people give fewer cues than in one flat room.
- Times of the IRC logs have minute precision; they are spread evenly within the minute.
- What a message answers is not always clear to people either: part of what counts as wrong here is a matter of taste.
- `p_join` and `p_turn` say what the people of such rooms do, and nothing about whether an answer is welcome or right.
- Only the last 64 messages of a place are looked at, and at most 15 of them are weighed.

";

pub fn write(sheet: &Sheet<'_>) -> String {
    let mut card = String::from(INTRODUCTION);
    card.push_str("| log | messages | channels | labelled |\n|---|---|---|---|\n");
    for kind in sheet.kinds {
        let messages: usize = kind.channels.iter().map(|channel| channel.said.len()).sum();
        let labelled = kind.channels.iter().flat_map(Channel::answers).flatten().count();
        let _ = writeln!(card, "| `{}` | {messages} | {} | {labelled} |", kind.name, kind.channels.len());
    }
    card.push('\n');
    card.push_str(SOURCE);
    let held_out = sheet.kinds.iter().zip(sheet.held_out).map(|(kind, it)| (format!("`{}`, held out", kind.name), it));
    let checks = sheet.checks.iter().map(|(name, it)| (format!("`{name}`, nothing learnt from it"), it));
    let all: Vec<(String, &Measurements)> = held_out.chain(checks).collect();
    figures(&mut card, &all);
    for (title, join) in [("`p_join`", true), ("`p_turn`", false)] {
        let _ = writeln!(card, "\nHow honest {title} is, in ten groups of messages by guess:\n");
        card.push_str("| guessed, held out | happened |\n|---|---|\n");
        let examples = |it: &Measurements| if join { it.join.all().to_vec() } else { it.turn.all().to_vec() };
        let all: Vec<(f32, bool)> = sheet.held_out.iter().flat_map(examples).collect();
        for (_, guess, happened) in reliability(&all) {
            let _ = writeln!(card, "| {guess:.3} | {happened:.3} |");
        }
    }
    card.push('\n');
    card.push_str(LIMITS);
    table(&mut card, "What `p_join` looks at", &likelihood::FEATURES, JOIN_FEATURES, &sheet.models.join.trees);
    table(&mut card, "What `p_turn` looks at", &turn::FEATURES, TURN_FEATURES, &sheet.models.turn.trees);
    table(&mut card, "What a link is guessed from", &pairs::FEATURES, LINK_FEATURES, &sheet.models.link.trees);
    card.truncate(card.trim_end().len() + 1);
    card
}

/// How good the models are on each log, beside what somebody would guess who reads nothing.
fn figures(card: &mut String, all: &[(String, &Measurements)]) {
    let f1 = |links: &Links| figure(if links.gold == 0 { f64::NAN } else { links.f1() });
    let order = |outcomes: &Outcomes| [figure(auc(outcomes)), figure(average_precision(outcomes))];
    let head = ["link F1", "in its conversation", "join AUC", "join AP", "turn AUC", "turn AP"];
    compare(card, &head, all, |it| {
        let links = [f1(&it.score.links), figure(it.score.placements.share())];
        links.into_iter().chain(order(it.join.all())).chain(order(it.turn.all())).collect()
    });
    card.push_str(BASELINES);
    compare(card, &["link F1", "in its conversation", "turn AUC", "turn AP"], all, |it| {
        let previous = &it.score.previous;
        let links = [f1(&previous.links), figure(previous.placements.share())];
        links.into_iter().chain(order(&it.turn_just_before)).collect()
    });
    card.push_str("\nWhere somebody joins, by both definitions:\n\n");
    let head = ["joined", "AUC", "AP", "joined, by the next", "AUC", "AP"];
    compare(card, &head, all, |it| {
        let one = |outcomes: &Outcomes| [vec![share_of(outcomes)], order(outcomes).to_vec()].concat();
        [one(it.join.all()), one(&it.join_by_next)].concat()
    });
    card.push_str(ADDRESSEES);
    let head = ["answers", "right", "message before", "lines of three", "right", "last other speaker"];
    compare(card, &head, all, |it| {
        let Score { people, addressees, previous, last_other, .. } = &it.score;
        let cells = |guessed: &Addressees, other: &Addressees| {
            [guessed.lines.to_string(), figure(guessed.share()), figure(other.share())]
        };
        [cells(people, &previous.people), cells(addressees, last_other)].concat()
    });
    card.push_str("\nShare of messages in their own conversation, by how long that had been silent:\n\n");
    compare(card, &GROUPS, all, |it| {
        let share = |(right, all): (usize, usize)| figure(right as f64 / all as f64);
        it.score.placements.groups.map(share).to_vec()
    });
    card.push_str(SILENCES);
    for (title, join) in [("`p_join`", true), ("`p_turn`", false)] {
        let _ = writeln!(card, "\nAUC of {title}:\n");
        compare(card, &GROUPS, all, |it| {
            let groups = if join { it.join.groups() } else { it.turn.groups() };
            groups.map(|outcomes| order_of_group(&outcomes)).to_vec()
        });
    }
}

const BASELINES: &str = "
The same without reading: every message answers the one before it, and the next to speak is the person who spoke just before it in
the room. Nobody can guess from that where somebody joins.

";

const ADDRESSEES: &str = "
Whom a line is for: of all answers, the share that is taken to answer the right person, and the share that the author of the message
before is right for. Then the same where it is hardest to tell: in conversations of three people, lines that name nobody, said once all
three have spoken; beside it, the share that is for the last other speaker in the room.

";

const SILENCES: &str = "
By how long the conversation of the message had been silent before it, with the number of messages; where something happened fewer
than ten times, or failed to, the order says nothing.
";

/// A table with a row for each log.
fn compare(
    card: &mut String,
    head: &[&str],
    all: &[(String, &Measurements)],
    cells: impl Fn(&Measurements) -> Vec<String>,
) {
    let _ = writeln!(card, "| log | {} |\n|---|{}", head.join(" | "), "---|".repeat(head.len()));
    for (name, it) in all {
        let _ = writeln!(card, "| {name} | {} |", cells(it).join(" | "));
    }
}

/// With fewer of each kind, an order is chance.
const EACH_MIN: usize = 10;

fn order_of_group(outcomes: &Outcomes) -> String {
    let (yes, all) = (happened(outcomes), outcomes.len());
    match yes.min(all - yes) >= EACH_MIN {
        true => format!("{} ({all})", figure(auc(outcomes))),
        false if all > 0 => format!("– ({all})"),
        false => "–".to_owned(),
    }
}

fn share_of(outcomes: &Outcomes) -> String {
    figure(happened(outcomes) as f64 / outcomes.len() as f64)
}

fn figure(number: f64) -> String {
    if number.is_nan() { "–".to_owned() } else { format!("{number:.3}") }
}

/// The sentences of the features, one per line: `id = sentence`.
const JOIN_FEATURES: &str = include_str!("../../locales/en/features.ftl");
const LINK_FEATURES: &str = include_str!("link_features.txt");
const TURN_FEATURES: &str = include_str!("turn_features.txt");

/// The sentence of a feature.
fn sentence_of(id: &str, sentences: &'static str) -> &'static str {
    let named = |line: &'static str| {
        let (name, sentence) = line.split_once(" = ")?;
        (name.strip_prefix("feature-").unwrap_or(name) == id).then_some(sentence)
    };
    sentences.lines().find_map(named).unwrap_or_else(|| panic!("the feature {id} has no sentence"))
}

/// The features of a model, the most frequently used first.
fn table(card: &mut String, title: &str, features: &[Feature], sentences: &'static str, model: &Trees) {
    let asked = |index: usize| {
        let all = model.trees.iter().flat_map(|tree| tree.splits());
        all.filter(|(feature, _)| usize::from(*feature) == index).count()
    };
    let mut rows: Vec<(usize, &Feature)> =
        features.iter().enumerate().map(|(index, feature)| (asked(index), feature)).collect();
    rows.sort_by_key(|(asked, _)| std::cmp::Reverse(*asked));
    let _ = writeln!(card, "## {title}\n\n| feature | asked | |\n|---|---|---|");
    for (asked, Feature { id }) in rows {
        let _ = writeln!(card, "| `{id}` | {asked} | {} |", sentence_of(id, sentences));
    }
    card.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_has_its_sentence() {
        for (features, sentences) in [
            (&likelihood::FEATURES[..], JOIN_FEATURES),
            (&pairs::FEATURES[..], LINK_FEATURES),
            (&turn::FEATURES[..], TURN_FEATURES),
        ] {
            for feature in features {
                assert!(!sentence_of(feature.id, sentences).is_empty(), "{}", feature.id);
            }
        }
    }
}
