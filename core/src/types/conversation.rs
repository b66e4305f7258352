//! Which conversation of a place something belongs to.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// A conversation within its place, never used twice. Without separate conversations there is none: an
/// `Option<ConversationId>` that is `None` means the place as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConversationId(NonZeroU32);

impl ConversationId {
    /// The `nth` conversation of a place, counted from 0.
    pub fn nth(nth: u32) -> ConversationId {
        ConversationId(NonZeroU32::MIN.saturating_add(nth))
    }

    /// Its number within the place, counted from 1.
    pub fn number(self) -> u32 {
        self.0.get()
    }
}

/// In snapshots the place as a whole is a 0.
pub(crate) mod or_zero {
    use std::num::NonZeroU32;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::ConversationId;

    pub(crate) fn serialize<S: Serializer>(id: &Option<ConversationId>, serializer: S) -> Result<S::Ok, S::Error> {
        id.map_or(0, |id| id.0.get()).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ConversationId>, D::Error> {
        Ok(NonZeroU32::new(u32::deserialize(deserializer)?).map(ConversationId))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Noted {
        #[serde(default, rename = "strand", with = "or_zero")]
        conversation: Option<ConversationId>,
    }

    #[test]
    fn none_is_written_as_zero_and_read_from_it() {
        for (conversation, text) in [(None, r#"{"strand":0}"#), (Some(ConversationId::nth(6)), r#"{"strand":7}"#)] {
            let noted = Noted { conversation };
            assert_eq!(serde_json::to_string(&noted).unwrap(), text);
            assert_eq!(serde_json::from_str::<Noted>(text).unwrap(), noted);
        }
        assert_eq!(serde_json::from_str::<Noted>("{}").unwrap(), Noted { conversation: None });
    }
}
