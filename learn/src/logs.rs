//! Reads labelled logs: transcripts, one event a line, with `gold_reply_to`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use aizuchi_core::types::{MessageId, Time, stable_hash};
use anyhow::{Context, Result};
use flate2::read::MultiGzDecoder;
use serde::Deserialize;

/// One message of a log.
#[derive(Clone, Debug)]
pub struct Said {
    pub id: MessageId,
    pub at: Time,
    pub author: u64,
    pub name: String,
    pub bot: bool,
    pub text: String,
    /// Places, in the channel, of the messages it answers; its own where it starts a conversation. Absent where nobody
    /// looked.
    pub gold: Option<Vec<usize>>,
    /// Labels that lead out of the log: nobody can find them.
    pub lost: usize,
}

#[derive(Clone, Debug, Default)]
pub struct Channel {
    pub name: String,
    pub said: Vec<Said>,
}

#[derive(Deserialize)]
struct Line {
    ts: f64,
    channel: String,
    id: Option<String>,
    author: String,
    author_id: Option<String>,
    #[serde(default)]
    bot: bool,
    text: String,
    gold_reply_to: Option<Vec<String>>,
}

pub fn read(path: &Path) -> Result<Vec<Channel>> {
    let file = File::open(path).with_context(|| format!("opening {}", path.display()))?;
    let zipped = path.extension().is_some_and(|extension| extension == "gz");
    let reader: Box<dyn Read> = if zipped { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    parse(BufReader::new(reader)).with_context(|| format!("reading {}", path.display()))
}

pub fn parse(reader: impl BufRead) -> Result<Vec<Channel>> {
    let mut channels: Vec<Channel> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut ids: Vec<BTreeMap<String, usize>> = Vec::new();
    let mut labels: Vec<Vec<Option<Vec<String>>>> = Vec::new();
    for (number, line) in reader.lines().enumerate() {
        let line: Line = serde_json::from_str(&line?).with_context(|| format!("line {}", number + 1))?;
        let place = *places.entry(line.channel.clone()).or_insert_with(|| {
            channels.push(Channel { name: line.channel.clone(), said: Vec::new() });
            ids.push(BTreeMap::new());
            labels.push(Vec::new());
            channels.len() - 1
        });
        let id = line.id.unwrap_or_else(|| (number + 1).to_string());
        ids[place].insert(id.clone(), channels[place].said.len());
        labels[place].push(line.gold_reply_to);
        channels[place].said.push(Said {
            id: MessageId::new(&id),
            at: Time((line.ts * 1000.0) as u64),
            author: stable_hash(0, line.author_id.as_deref().unwrap_or(&line.author)),
            name: line.author,
            bot: line.bot,
            text: line.text,
            gold: None,
            lost: 0,
        });
    }
    for ((channel, ids), labels) in channels.iter_mut().zip(ids).zip(labels) {
        for (said, gold) in channel.said.iter_mut().zip(labels) {
            let Some(gold) = gold else { continue };
            let found: Vec<usize> = gold.iter().filter_map(|id| ids.get(id).copied()).collect();
            said.lost = gold.len() - found.len();
            said.gold = Some(found);
        }
    }
    Ok(channels)
}
