//! The same logs lived through in several ways: as they are, and poorer, the way talk elsewhere looks.

use aizuchi_core::conversations::{Conversations, Lexicon, LinkModel};
use aizuchi_core::likelihood;
use aizuchi_core::trees::Trees;
use aizuchi_measure::logs::Channel;

use crate::boost::{Goal, Growth, Matrix, grow};
use crate::models::Models;
use crate::rows::{LinkRows, Rows, collect};
use crate::words::heard;

/// How much of each life a model is shown, compared with the talk as it is.
#[derive(Clone, Copy, Debug)]
pub struct Shares {
    pub wordless: f32,
    pub nameless: f32,
    pub paused: f32,
}

/// What is lived through.
pub struct Talk<'a> {
    channels: &'a [Channel],
    unnamed: Vec<Channel>,
    paused: Vec<Channel>,
}

pub struct Lives {
    pub known: Rows,
    /// As if no word were known: another language.
    pub wordless: Rows,
    /// As if nobody were called by name, another custom; and in two of three channels no word known either.
    pub nameless: Rows,
    /// And as if the room fell silent now and then: nobody joins over that, so only links are learnt from it.
    paused: Rows,
}

impl<'a> Talk<'a> {
    pub fn of(channels: &'a [Channel]) -> Talk<'a> {
        let unnamed: Vec<Channel> = channels.iter().map(without_names).collect();
        let paused = unnamed.iter().map(with_pauses).collect();
        Talk { channels, unnamed, paused }
    }

    /// Lives through every channel with the models that are meant for it.
    pub fn live<'m>(&self, models: impl Fn(usize) -> &'m Models) -> Lives {
        let wordless: Vec<Models> = (0..self.channels.len()).map(|channel| without_words(models(channel))).collect();
        Lives {
            known: collect(self.channels, &models),
            wordless: collect(self.channels, |channel| &wordless[channel]),
            nameless: collect(
                &self.unnamed,
                |channel| if channel % 3 == 0 { models(channel) } else { &wordless[channel] },
            ),
            paused: collect(&self.paused, |channel| &wordless[channel]),
        }
    }
}

impl Lives {
    pub fn all(&self) -> [&Rows; 3] {
        [&self.known, &self.wordless, &self.nameless]
    }

    fn shared(&self, shares: &Shares) -> [(&Rows, f32); 3] {
        [(&self.known, 1.0), (&self.wordless, shares.wordless), (&self.nameless, shares.nameless)]
    }

    pub fn grow_links(&self, shares: &Shares, growth: &Growth, wanted: impl Fn(usize) -> bool) -> Trees {
        let [known, wordless, nameless] = self.shared(shares);
        let rows = LinkRows::of(&[known, wordless, nameless, (&self.paused, shares.paused)], wanted);
        let goal = Goal::OneOf { begins: &rows.begins, target: &rows.target, share: &rows.share };
        grow(&rows.matrix, &goal, growth)
    }

    pub fn grow_join(&self, shares: &Shares, growth: &Growth, wanted: impl Fn(usize) -> bool) -> Trees {
        let mut matrix = Matrix::new(likelihood::FEATURES.len());
        let (mut target, mut weight) = (Vec::new(), Vec::new());
        for row in (0..self.known.join.len()).filter(|row| wanted(self.known.join_channel[*row])) {
            for (rows, share) in self.shared(shares) {
                matrix.push(rows.join[row].iter().copied());
                target.push(rows.joined[row]);
                weight.push(share);
            }
        }
        grow(&matrix, &Goal::Whether { target: &target, weight: &weight }, growth)
    }
}

/// The same models in a language whose words they do not know.
fn without_words(models: &Models) -> Models {
    let mut wordless = models.clone();
    wordless.link.lexicon = Lexicon::default();
    wordless
}

/// The same talk in a place where nobody calls anybody by name.
fn without_names(channel: &Channel) -> Channel {
    let (model, mut conversations) = (LinkModel::empty(), Conversations::default());
    let mut channel = channel.clone();
    for said in &mut channel.said {
        conversations.hear(&heard(said), &model);
        said.text = conversations.body(&said.text, said.author).to_owned();
        said.name = String::new();
    }
    channel
}

/// Between two pauses so many are said, and so many minutes they last.
const BETWEEN_PAUSES: usize = 60;
const PAUSES: [u64; 5] = [20, 45, 120, 400, 900];

/// The same talk in a room that is silent for long before some conversations. What answers over a pause is not looked at.
fn with_pauses(channel: &Channel) -> Channel {
    let mut channel = channel.clone();
    let (mut last, mut longer, mut pauses) = (0, 0, 0);
    for (index, said) in channel.said.iter_mut().enumerate() {
        let starts = said.gold.as_ref().is_some_and(|gold| gold.contains(&index));
        if starts && index - last >= BETWEEN_PAUSES {
            last = index;
            longer += PAUSES[pauses % PAUSES.len()] * 60_000;
            pauses += 1;
        }
        said.at.0 += longer;
        said.gold = said.gold.take().filter(|gold| gold.iter().all(|gold| *gold >= last));
    }
    channel
}

#[cfg(test)]
mod tests {
    use aizuchi_measure::logs::parse;

    use super::*;

    #[test]
    fn names_are_taken_off_what_is_said() {
        let log = r#"{"ts": 1, "channel": "c", "author": "ann", "text": "how?"}
{"ts": 2, "channel": "c", "author": "ben", "text": "ann: like this"}"#;
        let channel = parse(log).expect("it parses").remove(0);
        let texts: Vec<String> = without_names(&channel).said.into_iter().map(|said| said.name + &said.text).collect();
        assert_eq!(texts, ["how?", "like this"]);
    }

    #[test]
    fn a_pause_comes_before_a_conversation_and_nothing_reaches_over_it() {
        let line = |index: usize| {
            let to = if index == 70 { 70 } else { index.saturating_sub(if index == 71 { 2 } else { 1 }) };
            format!(
                r#"{{"ts": {index}, "channel": "c", "id": "{index}", "author": "a", "text": "t", "gold_reply_to": ["{to}"]}}"#
            )
        };
        let log: Vec<String> = (0..80).map(line).collect();
        let channel = with_pauses(&parse(&log.join("\n")).expect("it parses")[0]);
        let silence = |index: usize| channel.said[index].at.since(channel.said[index - 1].at).0;
        assert_eq!((silence(69), silence(70), silence(71)), (1000, 1000 + 20 * 60_000, 1000));
        let looked_at: Vec<bool> = [69, 70, 71, 72].map(|index| channel.said[index].gold.is_some()).into();
        assert_eq!(looked_at, [true, true, false, true]);
    }
}
