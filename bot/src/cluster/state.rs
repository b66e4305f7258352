//! The state of a room between two invocations, as Restate keeps it, and what arrives at the room.

use std::collections::{BTreeMap, BTreeSet};

use aizuchi_core::{Input, Time};
use serde::{Deserialize, Serialize};

use crate::ports::PoliciesId;

/// Something that happened, and when, by the clock of the process that reports it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stamped {
    pub at: Time,
    pub input: Input,
    /// If it was stored until the room had it: those of one room ascend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<i64>,
    /// When it was handed to Restate, by the same clock; only of what comes from a gateway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed_over: Option<Time>,
}

impl Stamped {
    pub fn new(at: Time, input: Input) -> Stamped {
        Stamped { at, input, number: None, handed_over: None }
    }
}

/// A room. The same room is always the same bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomState {
    /// How many records it has.
    pub records: u64,
    /// When the last of them was handled.
    pub last: Time,
    /// The highest number of what was stored until it heard it: whatever comes with a lower one was heard before.
    #[serde(default)]
    pub heard: i64,
    /// When its timer rings next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub armed: Option<Time>,
    /// The settings that it last got.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policies: Option<PoliciesId>,
    /// The language in which people spoke last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Calls that are not over, each with the invocation that makes it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub calls: BTreeMap<u64, String>,
    /// Posts on their way, by the numbers of their calls.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub posts: BTreeSet<u64>,
    /// How many inputs in a row it could not handle and has left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u32,
    /// The room as the engine packs it; empty where nothing was ever heard.
    #[serde(skip)]
    pub packed: Vec<u8>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

const STATE_VERSION: u8 = 1;
/// The version, and how long the notes before the packed room are.
const HEAD_LEN: usize = 5;

impl RoomState {
    /// Everything but the packed room.
    pub fn notes(&self) -> RoomState {
        let RoomState { records, last, heard, armed, policies, language, calls, posts, left_out, packed: _ } = self;
        let (language, calls, posts) = (language.clone(), calls.clone(), posts.clone());
        let (records, last, heard, armed, policies, left_out) = (*records, *last, *heard, *armed, *policies, *left_out);
        RoomState { records, last, heard, armed, policies, language, calls, posts, left_out, packed: Vec::new() }
    }

    pub fn encode(&self) -> Vec<u8> {
        let notes = serde_json::to_vec(self).expect("notes of a room can be written");
        let len = u32::try_from(notes.len()).expect("notes of a room are short");
        let mut bytes = vec![STATE_VERSION];
        bytes.extend(len.to_le_bytes());
        bytes.extend(notes);
        bytes.extend(&self.packed);
        bytes
    }

    /// `Err` says why it cannot be read.
    pub fn decode(bytes: &[u8]) -> Result<RoomState, String> {
        let (head, rest) = bytes.split_at_checked(HEAD_LEN).ok_or("the state of the room is cut off")?;
        if head[0] != STATE_VERSION {
            return Err(format!("the state of the room is of version {}, this program reads {STATE_VERSION}", head[0]));
        }
        let len = u32::from_le_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let (notes, packed) = rest.split_at_checked(len).ok_or("the state of the room is cut off")?;
        let state: RoomState =
            serde_json::from_slice(notes).map_err(|error| format!("the state of the room cannot be read: {error}"))?;
        Ok(RoomState { packed: packed.to_vec(), ..state })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_comes_back_as_it_was_and_half_of_one_is_refused() {
        let state = RoomState {
            records: 7,
            last: Time(1_775_563_200_000),
            heard: 12,
            armed: Some(Time(5)),
            policies: Some(PoliciesId(u64::MAX)),
            language: Some("ja".into()),
            calls: BTreeMap::from([(3, "inv_1".into())]),
            posts: BTreeSet::from([4]),
            left_out: 2,
            packed: vec![1, 2, 3],
        };
        let bytes = state.encode();
        assert_eq!(RoomState::decode(&bytes), Ok(state));
        assert!(RoomState::decode(&bytes[..20]).is_err());
        let newer = [&[STATE_VERSION + 1], &bytes[1..]].concat();
        assert!(RoomState::decode(&newer).unwrap_err().contains("version 2"));
    }
}
