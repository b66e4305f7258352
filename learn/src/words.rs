//! Learns what words tell.

use std::collections::BTreeMap;

use aizuchi_core::strands::reading::each_word;
use aizuchi_core::strands::{Heard, Lexicon, Models, RARITY_MAX, Strands, TELLS, Tells, Word, hash_of};
use aizuchi_core::trees::probability;

use crate::logs::Channel;

/// Words and pairs of each message, as numbers of a common list.
pub struct Corpus {
    pub names: Vec<String>,
    hashes: Vec<u32>,
    /// By channel, then by message.
    messages: Vec<Vec<Vec<u32>>>,
}

/// A word has to be in this many messages and channels to be learnt.
const MESSAGES_MIN: u32 = 20;
const CHANNELS_MIN: u32 = 8;
const PASSES: usize = 6;
const RATE: f32 = 0.15;
const RIDGE: f32 = 3e-3;
/// Words that tell less, in sixteenths of log-odds, are left out.
const WEIGHT_MIN: i8 = 3;

impl Corpus {
    pub fn of(channels: &[Channel]) -> Corpus {
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        let messages = channels.iter().map(|channel| words_of(channel, &mut numbers)).collect();
        let mut names = vec![String::new(); numbers.len()];
        for (name, number) in numbers {
            names[number as usize] = name;
        }
        let hashes = names.iter().map(|name| hash_of(name)).collect();
        Corpus { names, hashes, messages }
    }

    /// How often each word is said in some of the channels.
    pub fn count(&self, wanted: impl Fn(usize) -> bool) -> Counts {
        let mut counts = Counts { channels: Vec::new(), words: vec![(0, 0); self.names.len()], messages: 0 };
        let mut last = vec![usize::MAX; self.names.len()];
        for channel in (0..self.messages.len()).filter(|channel| wanted(*channel)) {
            counts.channels.push(channel);
            counts.messages += self.messages[channel].len();
            for &word in self.messages[channel].iter().flatten() {
                let (messages, channels) = &mut counts.words[word as usize];
                *messages += 1;
                *channels += u32::from(last[word as usize] != channel);
                last[word as usize] = channel;
            }
        }
        counts
    }

    /// The list of words with these weights, one column for each of [`TELLS`].
    pub fn lexicon(&self, counts: &Counts, weights: &[Vec<f32>; TELLS.len()]) -> (Lexicon, String) {
        let (mut words, mut lines) = (Vec::new(), Vec::new());
        for (word, name) in self.names.iter().enumerate().filter(|(word, _)| counts.learnt(*word)) {
            let share = counts.messages as f32 / counts.words[word].0 as f32;
            let rarity = (2.0 * share.log2()).round().min(f32::from(RARITY_MAX)) as u8;
            let weights = weights.each_ref().map(|column| (column[word] * 16.0).round().clamp(-127.0, 127.0) as i8);
            let common = rarity < RARITY_MAX && !name.contains(' ');
            if common || weights.iter().any(|weight| weight.abs() >= WEIGHT_MIN) {
                let numbers = weights.map(|weight| weight.to_string()).join(" ");
                lines.push(format!("{name}\t{numbers} {rarity}\n"));
                words.push((self.hashes[word], Word { weights, rarity }));
            }
        }
        lines.sort();
        (Lexicon::new(&words), lines.concat())
    }

    /// Logistic regression on top of what is known already, one message after the other, rarer words learning faster.
    pub fn weights(&self, counts: &Counts, labels: &[Vec<Option<Label>>]) -> Vec<f32> {
        let mut examples = Vec::new();
        for &channel in &counts.channels {
            for (words, label) in self.messages[channel].iter().zip(&labels[channel]) {
                let Some(label) = label else { continue };
                let words: Vec<u32> = words.iter().copied().filter(|word| counts.learnt(*word as usize)).collect();
                examples.push((words, *label));
            }
        }
        let (mut weights, mut steps) = (vec![0.0f32; self.names.len()], vec![1.0f32; self.names.len()]);
        let mut bias = 0.0;
        let stride = (7919..).find(|stride| examples.len() % stride != 0).unwrap_or(1);
        for _ in 0..PASSES {
            for turn in 0..examples.len() {
                let (words, label) = &examples[turn * stride % examples.len()];
                let sum: f32 = label.known + bias + words.iter().map(|word| weights[*word as usize]).sum::<f32>();
                let error = probability(sum) - f32::from(u8::from(label.yes));
                bias -= 0.005 * error;
                for &word in words {
                    let word = word as usize;
                    let slope = error + RIDGE * weights[word];
                    steps[word] += slope * slope;
                    weights[word] -= RATE * slope / steps[word].sqrt();
                }
            }
        }
        weights
    }
}

pub struct Counts {
    channels: Vec<usize>,
    /// Of each word: messages and channels it is in.
    words: Vec<(u32, u32)>,
    messages: usize,
}

impl Counts {
    fn learnt(&self, word: usize) -> bool {
        self.words[word].0 >= MESSAGES_MIN && self.words[word].1 >= CHANNELS_MIN
    }
}

/// What was the case, and the log-odds it had before words were looked at.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    pub yes: bool,
    pub known: f32,
}

/// The labels of a channel's messages for what words can tell; absent where that is not known.
pub fn labels_of(channel: &Channel, what: Tells) -> Vec<Option<Label>> {
    let said = &channel.said;
    let own = |place: usize, gold: &[usize]| {
        gold.iter().any(|gold| *gold != place && said[*gold].author == said[place].author)
    };
    let yes: Vec<Option<bool>> = match what {
        Tells::Starts => gold_of(channel, |place, gold| Some(gold.contains(&place))),
        Tells::GoesOn => gold_of(channel, |place, gold| (!gold.contains(&place)).then(|| own(place, gold))),
        Tells::Answered => crate::labels::answered(channel),
        Tells::Draws => crate::labels::entries(channel),
    };
    yes.into_iter().map(|yes| yes.map(|yes| Label { yes, known: -2.0 })).collect()
}

fn gold_of(channel: &Channel, label: impl Fn(usize, &[usize]) -> Option<bool>) -> Vec<Option<bool>> {
    let all = channel.said.iter().enumerate();
    all.map(|(place, said)| said.gold.as_ref().filter(|_| !said.bot).and_then(|gold| label(place, gold))).collect()
}

fn words_of(channel: &Channel, numbers: &mut BTreeMap<String, u32>) -> Vec<Vec<u32>> {
    let models = Models::empty();
    let mut strands = Strands::default();
    let mut messages = Vec::new();
    for said in &channel.said {
        strands.hear(&heard(said), &models);
        let mut words = Vec::new();
        let mut before = String::new();
        each_word(strands.body(&said.text, said.author), &mut 0, |_, _, run| {
            let word: String = run.to_ascii_lowercase().replace(['\'', '’'], "");
            let mut number = |name: String| {
                let next = numbers.len() as u32;
                *numbers.entry(name).or_insert(next)
            };
            if !before.is_empty() {
                words.push(number(format!("{before} {word}")));
            }
            words.push(number(word.clone()));
            before = word;
        });
        words.truncate(120);
        words.sort_unstable();
        words.dedup();
        messages.push(words);
    }
    messages
}

pub fn heard(said: &crate::logs::Said) -> Heard<'_> {
    Heard {
        id: &said.id,
        at: said.at,
        author: said.author,
        name: &said.name,
        bot: said.bot,
        text: &said.text,
        reply: None,
        reply_author: None,
        mentions: &[],
    }
}
