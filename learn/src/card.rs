//! The model card: what the models are made from, how good they are, and where they end.

use std::fmt::Write;

use aizuchi_core::conversations::pairs;
use aizuchi_core::likelihood;
use aizuchi_core::trees::{Feature, Trees};
use aizuchi_measure::logs::Channel;
use aizuchi_measure::metrics::{Links, auc, average_precision, brier, reliability};

use crate::models::Models;

/// How the models did on some log: on it as it is, as if no word were known, and as if moreover nobody were called by
/// name.
pub struct Figures {
    pub known: Measurements,
    pub wordless: Measurements,
    pub nameless: Measurements,
}

pub struct Measurements {
    pub links: Links,
    pub join: Vec<(f32, bool)>,
}

impl Figures {
    pub fn lives(&self) -> [(&'static str, &Measurements); 3] {
        [
            ("as it is", &self.known),
            ("no word known", &self.wordless),
            ("nobody called by name, few words known", &self.nameless),
        ]
    }
}

pub struct Sheet<'a> {
    pub channels: &'a [Channel],
    pub models: &'a Models,
    pub held_out: &'a Figures,
    /// Other logs, by name.
    pub checks: &'a [(String, Figures)],
}

const INTRODUCTION: &str = "\
# Model card: who answers whom, and where somebody joins

Two small models are compiled into `aizuchi-core`. One guesses which earlier message a message answers, or that it
starts a conversation (`reply_to_guess`). The other guesses how likely somebody who is not in the conversation answers
a message (`p_join`). Both are boosted trees over features that the core computes; words are one part of them, through
a list of single words and pairs. This page is written by the training command:

    cargo run --release -p aizuchi-learn -- train LOG --check OTHER_LOG --check learn/talk/ja.jsonl

The same logs give the same files, byte by byte.

## Data

";

const SOURCE: &str = "\
Source: Kummerfeld, Gouravajhala, Peper, Athreya, Gunasekara, Ganhotra, Patel, Polymenakos and Lasecki, *A Large-Scale
Corpus for Conversation Disentanglement*, ACL 2019; data under CC BY 4.0, converted to transcripts. People talk in
#ubuntu, 2004 to 2018; who answers whom was marked by hand. The weights are learnt from it; the logs are not part of
this repository. A word is listed only if it is said in at least five stretches of log. What words tell is learnt from
messages without annotation too, by the links guessed for them; nothing else is.

*Joined* means: somebody who is not in the message's conversation up to then answers it. Bots count neither as those who
join nor as authors, and the last 30 annotated messages of each stretch are left out.

Each log is lived through four times: as it is; as if no word of it were known; as if nobody in it were called by name (and
in two of three stretches no word known); and like that with hours of silence before some conversations. All of these are
learnt from, so that rooms with other customs and other languages are not strange to it.

`ja` is Japanese talk written and labelled for measuring: eight rooms, 1,027 messages of friends, colleagues, students and a
support channel. Its pauses are made up, and one person wrote and labelled it all. No weight was learnt from it; how much
of each life is learnt from was settled with a look at it.

## Figures

";

const LIMITS: &str = "\
## Limits

- One English support channel. Features are counts, spans and marks that mean the same in other rooms and languages, and
  words that are not known are compared but tell nothing. Real talk in other languages was not at hand.
- Times in the source have minute precision; they are spread evenly within the minute.
- What a message answers is not always clear to people either: part of what counts as wrong here is a matter of taste.
- `p_join` says what the people of such rooms do. It says nothing about whether an answer is welcome or right.
- Only the last 64 messages of a place are looked at, and at most 15 of them are weighed.

";

pub fn write(sheet: &Sheet<'_>) -> String {
    let mut card = String::from(INTRODUCTION);
    let said = sheet.channels.iter().flat_map(|channel| &channel.said);
    let annotated = said.clone().filter(|said| said.gold.is_some()).count();
    let (messages, stretches) = (said.count(), sheet.channels.len());
    let _ = writeln!(card, "{messages} messages in {stretches} stretches of log, {annotated} of them annotated.\n");
    card.push_str(SOURCE);
    card.push_str(
        "| | | links P | links R | links F1 | join AUC | join AP | Brier |\n|---|---|---|---|---|---|---|---|\n",
    );
    rows(&mut card, "training log, each stretch guessed by models that have not seen it", sheet.held_out);
    for (name, check) in sheet.checks {
        rows(&mut card, &format!("`{name}`, nothing learnt from it"), check);
    }
    card.push_str("\nHow honest `p_join` is, in ten groups of messages by guess:\n\n");
    card.push_str("| guessed, held out | happened |\n|---|---|\n");
    for (_, guess, happened) in reliability(&sheet.held_out.known.join) {
        let _ = writeln!(card, "| {guess:.3} | {happened:.3} |");
    }
    card.push('\n');
    card.push_str(LIMITS);
    table(&mut card, "What `p_join` looks at", &likelihood::FEATURES, JOIN_FEATURES, &sheet.models.join.trees);
    table(&mut card, "What a link is guessed from", &pairs::FEATURES, LINK_FEATURES, &sheet.models.link.trees);
    card.truncate(card.trim_end().len() + 1);
    card
}

fn rows(card: &mut String, name: &str, figures: &Figures) {
    for (life, Measurements { links, join }) in figures.lives() {
        let numbers = [links.precision(), links.recall(), links.f1(), auc(join), average_precision(join), brier(join)];
        let cells = numbers.map(|number| format!("{number:.4}")).join(" | ");
        let _ = writeln!(card, "| {name} | {life} | {cells} |");
    }
}

/// What each feature of a model says, a line each: `id = sentence`.
const JOIN_FEATURES: &str = include_str!("../../locales/en/features.ftl");
const LINK_FEATURES: &str = include_str!("link_features.txt");

/// The sentence of a feature.
fn sentence_of(id: &str, sentences: &'static str) -> &'static str {
    let named = |line: &'static str| {
        let (name, sentence) = line.split_once(" = ")?;
        (name.strip_prefix("feature-").unwrap_or(name) == id).then_some(sentence)
    };
    sentences.lines().find_map(named).unwrap_or_else(|| panic!("the feature {id} has no sentence"))
}

/// The features of a model, those it asks about most often first.
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
        for (features, sentences) in [(&likelihood::FEATURES[..], JOIN_FEATURES), (&pairs::FEATURES[..], LINK_FEATURES)]
        {
            for feature in features {
                assert!(!sentence_of(feature.id, sentences).is_empty(), "{}", feature.id);
            }
        }
    }
}
