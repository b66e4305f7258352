//! Learns the weights of words.

use std::collections::BTreeMap;

use aizuchi_core::conversations::words::each_word;
use aizuchi_core::conversations::{
    Conversations, Lexicon, LinkModel, RARITY_MAX, START, TELLS, Utterance, Word, WordSignal, hash_of,
};
use aizuchi_core::trees::probability;
use aizuchi_measure::labels::{answered, entries};
use aizuchi_measure::logs::{Channel, Said};

use crate::rooms::Room;

/// Words and pairs of each message, as indexes of a common list.
pub struct Corpus {
    pub names: Vec<String>,
    hashes: Vec<u32>,
    /// By channel, then by message.
    messages: Vec<Vec<Vec<u32>>>,
    /// The kind of each channel: a word counts as common as in the kind where it is most common.
    kinds: Vec<usize>,
}

/// A word has to be in this many labelled messages, and channels, to be learnt.
const MESSAGES_MIN: usize = 20;
const CHANNELS_MIN: u32 = 5;
const PASSES: usize = 12;
/// How much evidence a word needs.
const RIDGE: f32 = 12.0;
/// Words with a smaller weight, in sixteenths of log-odds, are left out.
const WEIGHT_MIN: i8 = 2;

impl Corpus {
    pub fn of(rooms: &[Room]) -> Corpus {
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        let messages = rooms.iter().map(|room| words_of(&room.channel, &mut numbers)).collect();
        let kinds = rooms.iter().map(|room| room.kind).collect();
        let mut names = vec![String::new(); numbers.len()];
        for (name, number) in numbers {
            names[number as usize] = name;
        }
        let hashes = names.iter().map(|name| hash_of(name)).collect();
        Corpus { names, hashes, messages, kinds }
    }

    /// How often each word is said in some of the channels.
    pub fn count(&self, wanted: impl Fn(usize) -> bool) -> Counts {
        let kinds = self.kinds.iter().max().map_or(0, |kind| kind + 1);
        let (words, said) = (vec![(0, 0); self.names.len()], vec![vec![0; self.names.len()]; kinds]);
        let mut counts = Counts { channels: Vec::new(), words, said, messages: vec![0; kinds] };
        let mut last = vec![usize::MAX; self.names.len()];
        for channel in (0..self.messages.len()).filter(|channel| wanted(*channel)) {
            counts.channels.push(channel);
            let kind = self.kinds[channel];
            counts.messages[kind] += self.messages[channel].len();
            for &word in self.messages[channel].iter().flatten() {
                let (messages, channels) = &mut counts.words[word as usize];
                *messages += 1;
                counts.said[kind][word as usize] += 1;
                *channels += u32::from(last[word as usize] != channel);
                last[word as usize] = channel;
            }
        }
        counts
    }

    /// The list of words with these weights, one column for each of [`TELLS`].
    pub fn lexicon(&self, counts: &Counts, weights: &[Vec<f32>; TELLS.len()]) -> (Lexicon, String) {
        let (mut words, mut lines) = (Vec::new(), Vec::new());
        for (word, name) in self.names.iter().enumerate().filter(|(word, _)| counts.words[*word].1 >= CHANNELS_MIN) {
            let share = |(all, said): (&usize, &Vec<u32>)| *all as f32 / (said[word] as f32).max(0.1);
            let share = counts.messages.iter().zip(&counts.said).map(share).fold(f32::INFINITY, f32::min);
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

    /// Logistic regression, one word after the other until convergence.
    pub fn weights(&self, counts: &Counts, labels: &[Vec<Option<Label>>]) -> Vec<f32> {
        let mut targets = Vec::new();
        let mut said_in: Vec<Vec<u32>> = vec![Vec::new(); self.names.len()];
        for &channel in &counts.channels {
            for (words, label) in self.messages[channel].iter().zip(&labels[channel]) {
                let Some(Label { yes, weight }) = label else { continue };
                words.iter().for_each(|word| said_in[*word as usize].push(targets.len() as u32));
                targets.push((f32::from(u8::from(*yes)), *weight));
            }
        }
        let mut weights = vec![0.0f32; self.names.len()];
        let mut sums = vec![0.0f32; targets.len()];
        let learnt = |word: &usize| said_in[*word].len() >= MESSAGES_MIN && counts.words[*word].1 >= CHANNELS_MIN;
        let everywhere: Vec<u32> = (0..targets.len() as u32).collect();
        for _ in 0..PASSES {
            step(&everywhere, &targets, 0.0, 0.0, &mut sums);
            for word in (0..weights.len()).filter(learnt) {
                weights[word] += step(&said_in[word], &targets, weights[word], RIDGE, &mut sums);
            }
        }
        weights
    }
}

/// The label of a message, and its weight.
#[derive(Clone, Copy, Debug)]
pub struct Label {
    pub yes: bool,
    pub weight: f32,
}

/// Moves one weight towards its optimum; returns by how much.
fn step(messages: &[u32], targets: &[(f32, f32)], weight: f32, ridge: f32, sums: &mut [f32]) -> f32 {
    let (mut slope, mut bend) = (ridge * weight, ridge + 1e-3);
    for &message in messages {
        let p = probability(sums[message as usize]);
        let (target, counts) = targets[message as usize];
        slope += counts * (p - target);
        bend += counts * p * (1.0 - p);
    }
    let change = (-slope / bend).clamp(-1.0, 1.0);
    messages.iter().for_each(|message| sums[*message as usize] += change);
    change
}

pub struct Counts {
    channels: Vec<usize>,
    /// Of each word: messages and channels it is in.
    words: Vec<(u32, u32)>,
    /// By kind, of each word the messages it is in; and all messages.
    said: Vec<Vec<u32>>,
    messages: Vec<usize>,
}

/// The labels of a channel's messages for what words can reveal; absent if unknown.
pub fn labels_of(channel: &Channel, what: WordSignal) -> Vec<Option<bool>> {
    let said = &channel.said;
    let own = |index: usize, gold: &[usize]| {
        gold.iter().any(|gold| *gold != index && said[*gold].author == said[index].author)
    };
    match what {
        WordSignal::Starts => gold_of(channel, |index, gold| Some(gold.contains(&index))),
        WordSignal::GoesOn => gold_of(channel, |index, gold| (!gold.contains(&index)).then(|| own(index, gold))),
        WordSignal::Answered => answered(channel),
        WordSignal::Draws => entries(channel),
    }
}

fn gold_of(channel: &Channel, label: impl Fn(usize, &[usize]) -> Option<bool>) -> Vec<Option<bool>> {
    let all = channel.answers().into_iter().zip(&channel.said).enumerate();
    all.map(|(index, (gold, said))| gold.filter(|_| !said.bot).and_then(|gold| label(index, &gold))).collect()
}

fn words_of(channel: &Channel, numbers: &mut BTreeMap<String, u32>) -> Vec<Vec<u32>> {
    let model = LinkModel::empty();
    let mut conversations = Conversations::default();
    let mut messages = Vec::new();
    for said in &channel.said {
        conversations.hear(&to_utterance(said), &model);
        let mut words = Vec::new();
        let mut before = START.to_owned();
        each_word(conversations.body(&said.text, said.author), &mut 0, |_, _, run| {
            let word: String = run.to_ascii_lowercase().replace(['\'', '’'], "");
            let mut number = |name: String| {
                let next = numbers.len() as u32;
                *numbers.entry(name).or_insert(next)
            };
            words.push(number(format!("{before} {word}")));
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

pub fn to_utterance(said: &Said) -> Utterance<'_> {
    Utterance {
        id: &said.id,
        at: said.at,
        author: said.author,
        name: &said.name,
        bot: said.bot,
        text: &said.text,
        reply: None,
        reply_author: None,
        mentions: &said.mentions,
    }
}
