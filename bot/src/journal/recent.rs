//! Recent messages as the journal knows them, to be compared with what a platform has now.

use std::collections::{HashMap, VecDeque};

use aizuchi_core::types::{MessageId, Place, Span, Time};
use aizuchi_core::{Input, Message};

use super::read::Records;
use crate::ports::Stores;
use crate::stores::StoreError;

/// How far back messages are compared.
const LATELY: Span = Span::minutes(24 * 60);
const RECORDS_MAX: u32 = 20_000;
/// At most this many of the newest messages per place.
const KEPT_MAX: usize = 100;

/// A message that was said and not deleted, with its newest text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownMessage {
    pub id: MessageId,
    pub text: Box<str>,
}

/// The recent messages of one platform by place, oldest first. Those that were forgotten on request are not included.
pub async fn recent_messages(
    stores: impl Into<Stores>,
    platform: &str,
    now: Time,
) -> Result<HashMap<Place, Vec<KnownMessage>>, StoreError> {
    let stores = stores.into();
    let mut kept: HashMap<Place, VecDeque<KnownMessage>> = HashMap::new();
    let mut records = Records::last(&*stores.journal, RECORDS_MAX).await?;
    while let Some(record) = records.next_whole().await? {
        let room = record.input.room().map_or("", |room| room.as_str());
        if room.split_once(':').is_none_or(|(name, _)| name != platform) || now.since(record.at) > LATELY {
            continue;
        }
        if let Input::Said(message) = record.input {
            if !message.text.is_empty() {
                keep(&mut kept, message);
            }
        } else if let Input::Changed(change) = record.input {
            let Some(here) = kept.get_mut(&change.place) else { continue };
            match change.text {
                Some(text) => {
                    here.iter_mut().filter(|kept| kept.id == change.id).for_each(|kept| kept.text = text.clone())
                }
                None => here.retain(|kept| kept.id != change.id),
            }
        }
    }
    Ok(kept.into_iter().map(|(place, here)| (place, here.into())).collect())
}

/// A message that was received twice is kept once.
fn keep(kept: &mut HashMap<Place, VecDeque<KnownMessage>>, message: Message) {
    let here = kept.entry(message.place).or_default();
    if here.iter().any(|kept| kept.id == message.id) {
        return;
    }
    if here.len() == KEPT_MAX {
        here.pop_front();
    }
    here.push_back(KnownMessage { id: message.id, text: message.text });
}
