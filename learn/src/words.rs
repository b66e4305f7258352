//! Learns what words tell.

use std::collections::BTreeMap;

use aizuchi_core::strands::reading::each_word;
use aizuchi_core::strands::{Heard, Lexicon, Models, RARITY_MAX, Strands, Word, hash_of};

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
const RIDGE: f32 = 3e-4;

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

    /// Learns from some of the channels. The labels: whether a message starts a conversation, whether it draws somebody in.
    pub fn learn(&self, labels: &[Labels], wanted: impl Fn(usize) -> bool) -> (Lexicon, String) {
        let channels: Vec<usize> = (0..self.messages.len()).filter(|channel| wanted(*channel)).collect();
        let mut seen = vec![(0u32, 0u32, usize::MAX); self.names.len()];
        let mut all = 0u32;
        for &channel in &channels {
            for words in &self.messages[channel] {
                all += 1;
                for &word in words {
                    let (messages, rooms, last) = &mut seen[word as usize];
                    *messages += 1;
                    *rooms += u32::from(*last != channel);
                    *last = channel;
                }
            }
        }
        let learnt = |word: usize| seen[word].0 >= MESSAGES_MIN && seen[word].1 >= CHANNELS_MIN;
        let starts = self.weights(&channels, &learnt, |channel, message| labels[channel].starts[message]);
        let draws = self.weights(&channels, &learnt, |channel, message| labels[channel].draws[message]);
        let sixteenths = |weight: f32| (weight * 16.0).round() as i32;
        let (starts_bias, draws_bias) = (0, 0);
        let mut lines = vec![format!("\t{starts_bias} {draws_bias} 0")];
        let mut words = Vec::new();
        for (word, name) in self.names.iter().enumerate().filter(|(word, _)| learnt(*word)) {
            let rarity = (2.0 * (all as f32 / seen[word].0 as f32).log2()).round().min(f32::from(RARITY_MAX)) as u8;
            let (starts, draws) =
                (sixteenths(starts.0[word]).clamp(-127, 127), sixteenths(draws.0[word]).clamp(-127, 127));
            let telling = starts.abs() > 1 || draws.abs() > 1 || (rarity < RARITY_MAX && !name.contains(' '));
            if telling {
                lines.push(format!("{name}\t{starts} {draws} {rarity}"));
                words.push((self.hashes[word], Word { starts: starts as i8, draws: draws as i8, rarity }));
            }
        }
        lines[1..].sort();
        (Lexicon::new(&words, starts_bias, draws_bias), lines.join("\n") + "\n")
    }

    /// Logistic regression, one message after the other, rarer words learning faster.
    fn weights(
        &self,
        channels: &[usize],
        learnt: &impl Fn(usize) -> bool,
        label: impl Fn(usize, usize) -> Option<bool>,
    ) -> (Vec<f32>, f32) {
        let mut examples = Vec::new();
        for &channel in channels {
            for (message, words) in self.messages[channel].iter().enumerate() {
                let Some(yes) = label(channel, message) else { continue };
                let words: Vec<u32> = words.iter().copied().filter(|word| learnt(*word as usize)).collect();
                examples.push((words, yes));
            }
        }
        let (mut weights, mut steps) = (vec![0.0f32; self.names.len()], vec![1.0f32; self.names.len()]);
        let yes = examples.iter().filter(|(_, yes)| *yes).count().max(1) as f32;
        let mut bias = (yes / (examples.len() as f32 - yes).max(1.0)).ln();
        let stride = (7919..).find(|stride| examples.len() % stride != 0).unwrap_or(1);
        for _ in 0..PASSES {
            for turn in 0..examples.len() {
                let (words, yes) = &examples[turn * stride % examples.len()];
                let sum: f32 = bias + words.iter().map(|word| weights[*word as usize]).sum::<f32>();
                let error = 1.0 / (1.0 + (-sum).exp()) - f32::from(u8::from(*yes));
                bias -= 0.002 * error;
                for &word in words {
                    let word = word as usize;
                    let slope = error + RIDGE * weights[word] * 10.0;
                    steps[word] += slope * slope;
                    weights[word] -= RATE * slope / steps[word].sqrt();
                }
            }
        }
        (weights, bias)
    }
}

/// Of each message of a channel; absent where that is not known.
pub struct Labels {
    pub starts: Vec<Option<bool>>,
    pub draws: Vec<Option<bool>>,
}

impl Labels {
    pub fn of(channel: &Channel) -> Labels {
        let starts = |(place, said): (usize, &crate::logs::Said)| {
            said.gold.as_ref().filter(|_| !said.bot).map(|gold| gold.contains(&place))
        };
        Labels { starts: channel.said.iter().enumerate().map(starts).collect(), draws: crate::labels::entries(channel) }
    }
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
