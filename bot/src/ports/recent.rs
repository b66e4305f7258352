//! Recent messages as they are known, for platforms that detect what was changed while they were disconnected.

use std::collections::HashMap;

use aizuchi_core::types::{Place, RoomId, Time};

use super::BoxFuture;
use crate::journal::KnownMessage;
use crate::stores::StoreError;

pub trait RecentMessages: Send + Sync {
    /// The recent messages of one platform by place, oldest first. Those that were forgotten on request are not included.
    fn recent<'a>(
        &'a self,
        platform: &'a str,
        now: Time,
    ) -> BoxFuture<'a, Result<HashMap<Place, Vec<KnownMessage>>, StoreError>>;

    /// What is durable and not recorded yet, by room: [`recent`](RecentMessages::recent) does not know it. A single process records
    /// something before it is durable for anybody.
    fn unrecorded<'a>(
        &'a self,
        _platform: &'a str,
    ) -> BoxFuture<'a, Result<HashMap<RoomId, UnrecordedInputs>, StoreError>> {
        Box::pin(async { Ok(HashMap::new()) })
    }
}

/// When the oldest and the newest of what a room has not recorded yet were accepted, as texts that sort by time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnrecordedInputs {
    pub oldest: String,
    pub newest: String,
}

/// Rooms that have not recorded yet what was durable at some moment: until then it cannot be known what was changed there.
#[derive(Debug, Default)]
pub struct LateRooms(HashMap<RoomId, String>);

impl LateRooms {
    /// As of now. To be called before the recent messages are read, so that nothing falls in between.
    pub async fn find(recent: &dyn RecentMessages, platform: &str) -> Result<LateRooms, StoreError> {
        let unrecorded = recent.unrecorded(platform).await?;
        Ok(LateRooms(unrecorded.into_iter().map(|(room, inputs)| (room, inputs.newest)).collect()))
    }

    /// Also these, of which it is not known whether they are late.
    pub fn include(&mut self, rooms: impl Iterator<Item = RoomId>) {
        for room in rooms {
            self.0.entry(room).or_default();
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those that have recorded all of it meanwhile.
    pub async fn recorded(&self, recent: &dyn RecentMessages, platform: &str) -> Result<Vec<RoomId>, StoreError> {
        let unrecorded = recent.unrecorded(platform).await?;
        let is_recorded = |(room, newest): &(&RoomId, &String)| {
            unrecorded.get(room).is_none_or(|inputs| inputs.oldest.as_str() > newest.as_str())
        };
        Ok(self.0.iter().filter(is_recorded).map(|(room, _)| room.clone()).collect())
    }

    pub fn remove(&mut self, room: &RoomId) {
        self.0.remove(room);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// What is not recorded, as a test says.
    struct Behind(Mutex<Vec<(&'static str, &'static str, &'static str)>>);

    impl RecentMessages for Behind {
        fn recent<'a>(
            &'a self,
            _: &'a str,
            _: Time,
        ) -> BoxFuture<'a, Result<HashMap<Place, Vec<KnownMessage>>, StoreError>> {
            Box::pin(async { Ok(HashMap::new()) })
        }

        fn unrecorded<'a>(
            &'a self,
            _: &'a str,
        ) -> BoxFuture<'a, Result<HashMap<RoomId, UnrecordedInputs>, StoreError>> {
            let rooms = self.0.lock().expect("no test panics with it").clone();
            let inputs = |(room, oldest, newest): (&str, &str, &str)| {
                (RoomId::new(room), UnrecordedInputs { oldest: oldest.into(), newest: newest.into() })
            };
            Box::pin(async move { Ok(rooms.into_iter().map(inputs).collect()) })
        }
    }

    #[tokio::test]
    async fn a_room_in_which_people_go_on_talking_is_not_waited_for_without_end() {
        let behind = Behind(Mutex::new(vec![("garden", "10:00", "10:02"), ("attic", "10:01", "10:01")]));
        let mut late = LateRooms::find(&behind, "discord").await.expect("it answers");
        assert!(late.recorded(&behind, "discord").await.expect("it answers").is_empty());
        *behind.0.lock().expect("no test panics with it") =
            vec![("garden", "10:03", "10:09"), ("attic", "10:01", "10:05")];
        let recorded = late.recorded(&behind, "discord").await.expect("it answers");
        assert_eq!(recorded, [RoomId::new("garden")], "what is new there was accepted later");
        late.remove(&recorded[0]);
        behind.0.lock().expect("no test panics with it").clear();
        assert_eq!(late.recorded(&behind, "discord").await.expect("it answers"), [RoomId::new("attic")]);
    }
}
