//! Forgetting that is cut off at any point, as by a crash: after the next start it ends, or nothing has begun.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use aizuchi::journal::Journal;
use aizuchi::keeper::ForgetState;
use aizuchi::ports::{BoxFuture, JobStep, ModelClient, StoreBackend as _};
use aizuchi_core::effect::{Ask, Brief, Failure, Usage};
use aizuchi_core::input::{Answer, Command};
use aizuchi_core::memory::words::{DoubtfulName, NameDoubt};
use aizuchi_core::memory::{Fact, FactDraft, Filter, ForgetRequest, MemoryChange, Origin};
use aizuchi_core::types::{Change, MessageId, PersonId, Place, RoomId, Visibility};
use aizuchi_core::{Input, Message, Policies};
use tokio_util::sync::CancellationToken;

use crate::made_up::{START, Scratch, said};
use crate::remembering_life::{Parrot, RememberingLife, holds, others_talk, short_lived};

/// Quotes what it is asked about: as the judge, and as the one who answers.
struct Quoting;

impl ModelClient for Quoting {
    fn judge(self: Arc<Self>, ask: Box<Ask>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        let last = ask.transcript.lines.iter().last().map(|line| line.text.to_owned()).unwrap_or_default();
        let text = format!(r#"{{"respond": false, "confidence": 0.9, "reason": "they say: {last}"}}"#).into();
        Box::pin(async { Ok(Answer { text, usage: Usage::default() }) })
    }

    fn write(
        self: Arc<Self>,
        brief: Box<Brief>,
        policies: Arc<Policies>,
    ) -> BoxFuture<'static, Result<Answer, Failure>> {
        Arc::new(Parrot).write(brief, policies)
    }
}

/// Talk in rooms of several engines, with answers that repeat it.
async fn lived(scratch: &Scratch, shards: u32) -> RememberingLife {
    let life = RememberingLife::start(scratch, shards).await;
    for number in 0..30 {
        let room = format!("log:{}", number % 3);
        life.says(number * 3, &room, "id-mia", &format!("my xylophone {number}")).await;
        life.says(number * 3 + 1, &room, "id-jonas", "a marimba here").await;
        if number % 10 == 0 {
            life.says(number * 3 + 2, &room, "id-mia", "@aizuchi tune the xylophone").await;
            tokio::time::sleep(Duration::from_secs(20)).await;
        }
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    life.keeper.catch_up().await.unwrap();
    life
}

/// The files as a crash would leave them.
fn copied(from: &Scratch) -> Scratch {
    let to = Scratch::new();
    for name in ["aizuchi.db-wal", "aizuchi.db"] {
        std::fs::copy(from.0.join(name), to.0.join(name)).unwrap();
    }
    to
}

/// When forgetting is cut off: after it was gone on with so many times, from the beginning or since it was noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    Before(u32),
    After(u32),
}

/// Goes on with something as long as that, and then never again.
async fn cut_off<T>(future: impl Future<Output = T>, cut: Cut, is_noted: impl Fn() -> bool) -> Option<T> {
    let (Cut::Before(mut left) | Cut::After(mut left)) = cut;
    let (mut future, mut counts) = (pin!(future), matches!(cut, Cut::Before(_)));
    poll_fn(|context| {
        counts = counts || is_noted();
        if counts && left == 0 {
            return Poll::Ready(None);
        }
        left -= u32::from(counts);
        future.as_mut().poll(context).map(Some)
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn cut_off_at_any_point_it_ends_after_the_next_start_or_has_not_begun() {
    let (mut begun, mut not_begun) = (0, 0);
    for (number, cut) in (1..4).map(Cut::Before).chain((0..).map(Cut::After)).enumerate() {
        let (scratch, shards) = (Scratch::new(), 1 + number as u32 % 4);
        let life = lived(&scratch, shards).await;
        assert!(holds(&scratch, "xylophone") && holds(&scratch, "id-mia"));
        let looking = rusqlite::Connection::open(scratch.0.join("aizuchi.db")).unwrap();
        let is_noted = || looking.prepare_cached("SELECT 1 FROM forgetting").unwrap().exists([]).unwrap();
        let ended = cut_off(life.forget_mia(), cut, is_noted).await;
        drop(looking);
        // What was handed to the store is written, and that is where it stops.
        life.database.write(|_| Ok(())).await.unwrap();
        let left = copied(&scratch);
        drop(life);
        if let Some(state) = ended {
            assert_eq!(state, ForgetState::Done);
            assert!(!holds(&left, "xylophone") && !holds(&left, "id-mia") && holds(&left, "marimba"));
            break;
        }
        let life = RememberingLife::start(&left, shards).await;
        let stop = CancellationToken::new();
        if life.jobs().await == 0 && holds(&left, "xylophone") {
            assert!(holds(&left, "id-mia"), "what was not begun is whole");
            assert_eq!(life.forget_mia().await, ForgetState::Done);
            not_begun += 1;
        } else {
            let engine = life.runtime.engine.clone();
            tokio::spawn(life.keeper.clone().end_forgetting(engine, life.platforms.clone(), stop.clone()));
            while life.jobs().await > 0 {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            begun += 1;
        }
        for text in ["xylophone", "id-mia"] {
            assert!(!holds(&left, text), "cut off {cut:?} with {shards} engines: {text} is still there");
        }
        assert!(holds(&left, "marimba"), "what others said stays");
        stop.cancel();
        life.runtime.stop().await;
    }
    println!("cut off {begun} times after it had begun, {not_begun} times before");
    assert!(begun >= 5 && not_begun >= 1, "{begun} and {not_begun}");
}

/// In a cluster another process may have begun it, and ended.
#[tokio::test(start_paused = true)]
async fn what_another_process_has_begun_is_ended_too() {
    let scratch = Scratch::new();
    let life = RememberingLife::start(&scratch, 2).await;
    life.says(1, "log:1", "id-mia", "my xylophone").await;
    let (engine, stop) = (life.runtime.engine.clone(), CancellationToken::new());
    tokio::spawn(life.keeper.clone().end_forgetting(engine, life.platforms.clone(), stop.clone()));
    tokio::time::sleep(Duration::from_secs(5)).await;
    let (ids, rooms) = (vec![PersonId::new("id-mia")], vec![RoomId::new("log:1")]);
    let request = ForgetRequest { ids, rooms, ..ForgetRequest::default() };
    life.database.stores().jobs.begin(JobStep::Delete(Box::new(request))).await.unwrap();
    tokio::time::timeout(Duration::from_secs(60), async {
        while life.jobs().await > 0 {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    })
    .await
    .expect("it is found");
    assert!(!holds(&scratch, "xylophone"));
    stop.cancel();
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn one_person_under_several_ids_is_forgotten_under_all_of_them() {
    let scratch = Scratch::new();
    let life = RememberingLife::start(&scratch, 2).await;
    life.says(1, "log:1", "id-mia", "my xylophone").await;
    life.says(2, "log:2", "other-mia", "my glockenspiel").await;
    let ids = ["id-mia", "other-mia"].map(PersonId::new).to_vec();
    life.keeper.forget(ids, &[], &life.runtime.engine, &life.platforms).await.unwrap();
    for text in ["xylophone", "glockenspiel", "id-mia", "other-mia"] {
        assert!(!holds(&scratch, text), "{text} is still there");
    }
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_deleted_is_in_no_file_after_its_hours() {
    let scratch = Scratch::new();
    let life = RememberingLife::with_store(&scratch, 2, short_lived()).await;
    for number in 0..40 {
        life.says(number, "log:room", "id-mia", &format!("the glockenspiel {number} is mine")).await;
        others_talk(&life, 1_000 + 20 * number).await;
    }
    for number in 0..40 {
        let gone =
            Change { place: Place::room("log:room"), id: MessageId::new(format!("m{number}")), at: START, text: None };
        life.runtime.engine.submit(Input::Changed(gone)).await.unwrap();
    }
    others_talk(&life, 5_000).await;
    assert!(holds(&scratch, "glockenspiel"), "the scan would find it");
    tokio::time::sleep(Duration::from_secs(3 * 3600)).await;
    assert!(!holds(&scratch, "glockenspiel"), "the words of a deleted message are still in the files");
    assert!(holds(&scratch, "marimba"), "what others said stays");
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_message_said_before_it_was_edited_is_in_no_file_after_its_hours() {
    let scratch = Scratch::new();
    let life = RememberingLife::with_store(&scratch, 2, short_lived()).await;
    life.says(1, "log:room", "id-mia", "the glockenspiel is mine").await;
    life.changes(1, "log:room", Some("the celesta is mine")).await;
    others_talk(&life, 1_000).await;
    life.changes(1, "log:room", Some("the triangle is mine")).await;
    others_talk(&life, 2_000).await;
    assert!(holds(&scratch, "glockenspiel") && holds(&scratch, "celesta"), "the scan would find them");
    tokio::time::sleep(Duration::from_secs(3 * 3600)).await;
    assert!(!holds(&scratch, "glockenspiel"), "the first words of an edited message are still in the files");
    assert!(!holds(&scratch, "celesta"), "its words between two edits are still in the files");
    let said = Journal::new(life.database.clone()).recorded_of(&[PersonId::new("id-mia")]).await.unwrap();
    assert_eq!(said.iter().map(|message| &*message.text).collect::<Vec<_>>(), ["the triangle is mine"]);
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_words_of_an_answer_go_with_the_deleted_question() {
    let scratch = Scratch::new();
    let life = RememberingLife::with_store(&scratch, 2, short_lived()).await;
    life.says(1, "log:room", "id-mia", "@aizuchi tune the glockenspiel").await;
    tokio::time::sleep(Duration::from_secs(20)).await;
    life.says(2, "log:room", "id-jonas", "@aizuchi tune the celesta").await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    life.changes(1, "log:room", None).await;
    others_talk(&life, 1_000).await;
    for answer in ["So: @aizuchi tune the glockenspiel", "So: @aizuchi tune the celesta"] {
        assert!(holds(&scratch, answer), "it answered, and the scan would find it: {answer}");
    }
    tokio::time::sleep(Duration::from_secs(3 * 3600)).await;
    assert!(!holds(&scratch, "glockenspiel"), "the words of a withdrawn answer are still in the files");
    assert!(holds(&scratch, "So: @aizuchi tune the celesta"), "an answer to somebody else stays");
    life.runtime.stop().await;
}

/// Longer than `listen.buffer_minutes`, and much less than `listen.read_hours` of the default preset.
const TALK_FOR: Duration = Duration::from_secs(4 * 3600);

#[tokio::test(start_paused = true)]
async fn who_opted_out_is_kept_in_no_file_for_longer_than_the_talk_of_the_moment() {
    let scratch = Scratch::new();
    let life = RememberingLife::with_store(&scratch, 2, short_lived()).await;
    life.keeper.opt_out(&PersonId::new("id-mia"), &life.platforms).await.unwrap();
    for number in 0..10 {
        life.says(number, "log:room", "id-mia", &format!("the glockenspiel {number} is mine")).await;
    }
    others_talk(&life, 1_000).await;
    assert!(holds(&scratch, "glockenspiel"), "the talk of the moment is read");
    tokio::time::sleep(Duration::from_secs(3600)).await;
    // What is in the buffer leaves it with what others say.
    for round in 0..5 {
        others_talk(&life, 2_000 + 100 * round).await;
    }
    tokio::time::sleep(TALK_FOR).await;
    assert!(!holds(&scratch, "glockenspiel"), "words of somebody who opted out are still in the files");
    assert!(holds(&scratch, "marimba"), "what others said stays");
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_was_answered_to_somebody_who_opted_out_is_kept_no_longer_than_their_words() {
    let scratch = Scratch::new();
    let life = RememberingLife::with_model(&scratch, 2, short_lived(), Arc::new(Quoting)).await;
    life.keeper.opt_out(&PersonId::new("id-mia"), &life.platforms).await.unwrap();
    life.says(1, "log:room", "id-mia", "@aizuchi tune the glockenspiel").await;
    life.says(2, "log:question", "id-mia", "does anybody know how to tune a glockenspiel?").await;
    tokio::time::sleep(Duration::from_secs(20)).await;
    life.says(3, "log:room", "id-jonas", "@aizuchi tune the marimba").await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    others_talk(&life, 1_000).await;
    for told in ["So: @aizuchi tune the glockenspiel", "So: @aizuchi tune the marimba", "they say: does anybody know"] {
        assert!(holds(&scratch, told), "the scan would find it: {told}");
    }
    tokio::time::sleep(Duration::from_secs(3600)).await;
    for round in 0..5 {
        others_talk(&life, 2_000 + 100 * round).await;
    }
    for number in 3_000..3_100 {
        life.says(number, "log:question", "id-jonas", "a marimba here").await;
    }
    tokio::time::sleep(TALK_FOR).await;
    assert!(!holds(&scratch, "glockenspiel"), "words of somebody who opted out are still in the files");
    assert!(holds(&scratch, "So: @aizuchi tune the marimba"), "an answer to somebody else stays");
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_judge_said_of_a_message_before_it_was_edited_goes_with_its_words() {
    let scratch = Scratch::new();
    let life = RememberingLife::with_model(&scratch, 2, short_lived(), Arc::new(Quoting)).await;
    life.says(1, "log:room", "id-mia", "does anybody know how to tune a glockenspiel?").await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(holds(&scratch, "they say: does anybody know"), "the judge was asked, and the scan would find it");
    life.changes(1, "log:room", Some("never mind")).await;
    others_talk(&life, 1_000).await;
    others_talk(&life, 2_000).await;
    tokio::time::sleep(Duration::from_secs(3 * 3600)).await;
    assert!(!holds(&scratch, "glockenspiel"), "what the judge said of the earlier text is still in the files");
    assert!(holds(&scratch, "never mind"), "the message itself stays");
    life.runtime.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_room_that_is_closed_leaves_no_words_in_the_files() {
    let scratch = Scratch::new();
    let life = RememberingLife::start(&scratch, 2).await;
    for number in 0..10 {
        life.says(number, "log:closing", "id-mia", &format!("the glockenspiel {number} is mine")).await;
        life.says(100 + number, "log:room", "id-jonas", "a marimba here").await;
    }
    let room = RoomId::new("log:closing");
    life.runtime.engine.submit(Input::Told(room.clone(), Command::Left)).await.unwrap();
    assert!(holds(&scratch, "glockenspiel"), "the scan would find it");
    life.keeper.forget_room(room, &life.runtime.engine).await.unwrap();
    assert!(!holds(&scratch, "glockenspiel"), "what was said in a closed room is still in the files");
    assert!(holds(&scratch, "marimba"), "what was said elsewhere stays");
    life.runtime.stop().await;
    let life = RememberingLife::start(&scratch, 2).await;
    assert!(!holds(&scratch, "glockenspiel"), "it does not come back with a start");
    life.runtime.stop().await;
}

/// One list: what somebody is shown is what they are given and what is forgotten with them.
#[tokio::test(start_paused = true)]
async fn what_somebody_is_shown_is_what_is_forgotten_with_them() {
    let scratch = Scratch::new();
    let life = RememberingLife::start(&scratch, 1).await;
    let says_as = async |number: u64, room: &str, id: &str, name: &str, text: &str| {
        let Input::Said(message) = said(&format!("m{number}"), START, id, text) else { unreachable!() };
        let author = aizuchi_core::types::Author { name: name.into(), ..message.author.clone() };
        let message = Message { place: Place::room(room), author, ..message };
        life.runtime.engine.submit(Input::Said(message)).await.unwrap();
    };
    says_as(1, "log:1/room", "id-mia", "Mia Quartz", "I play the glockenspiel").await;
    says_as(2, "log:1/room", "id-bo", "Bo Quill", "hello").await;
    says_as(3, "log:9/room", "id-jonas", "Mian", "hello").await;
    let Input::Said(message) = said("m4", START, "id-bo", "Mia Quartz, welcome") else { unreachable!() };
    let (place, mentions) = (Place::room("log:1/room"), vec![PersonId::new("id-mia")]);
    life.runtime.engine.submit(Input::Said(Message { place, mentions, ..message })).await.unwrap();
    let keep = async |room: &str, private: bool, content: &str, by: &str| {
        let visibility = if private { Visibility::Private } else { Visibility::Public };
        let draft = FactDraft {
            origin: Origin::new(room, visibility),
            content: content.into(),
            keywords: Vec::new(),
            people: vec![PersonId::new(by)],
            messages: Vec::new(),
            context: Vec::new(),
            confidence: 0.9,
            shareable: false,
            at: START,
            replaces: None,
        };
        life.keeper.change(vec![MemoryChange::Kept(Box::new(draft))]).await.unwrap();
    };
    keep("log:1/room", false, "The glockenspiel is old", "id-mia").await;
    keep("log:1/room", false, "Mia Quartz hums", "id-bo").await;
    keep("log:1/room", false, "Quartz owes Bo a lunch", "id-bo").await;
    keep("log:1/room", false, "Mia sings", "id-bo").await;
    keep("log:1/den", true, "Mia Quartz is to be surprised", "id-jonas").await;
    keep("log:1/room", false, "Quartzite is a rock", "id-bo").await;
    let ids = [PersonId::new("id-mia")];
    let list = life.keeper.list(&ids, &life.platforms).await.unwrap();
    let texts = |facts: &[Fact]| facts.iter().map(|fact| fact.content.to_string()).collect::<Vec<_>>();
    assert_eq!(texts(&list.facts), ["The glockenspiel is old"]);
    assert_eq!(texts(&list.said_by_others), ["Mia Quartz hums"]);
    assert_eq!(list.elsewhere, 1, "what is said in a room that she does not read is counted");
    assert_eq!(
        list.perhaps.iter().map(|perhaps| (&*perhaps.name, texts(&perhaps.facts))).collect::<Vec<_>>(),
        [("Mia", vec!["Mia sings".to_owned()]), ("Quartz", vec!["Quartz owes Bo a lunch".to_owned()])]
    );
    assert_eq!(list.messages.iter().map(|message| &*message.text).collect::<Vec<_>>(), ["I play the glockenspiel"]);
    let forgotten = life.keeper.forget(ids.to_vec(), &[], &life.runtime.engine, &life.platforms).await.unwrap();
    let doubtful = |name: &str, doubt| DoubtfulName { name: name.into(), doubt };
    let mia = doubtful("Mia", NameDoubt::Beginning("Mian".into()));
    assert_eq!(forgotten.doubtful, [mia, doubtful("Quartz", NameDoubt::Part)]);
    let left = texts(&life.keeper.memory().facts(Filter::default()).await.unwrap());
    assert_eq!(left, ["Quartzite is a rock", "Mia sings", "Quartz owes Bo a lunch"]);
    let names = ["Mia".into(), "Quartz".into()];
    life.keeper.forget(ids.to_vec(), &names, &life.runtime.engine, &life.platforms).await.unwrap();
    assert_eq!(texts(&life.keeper.memory().facts(Filter::default()).await.unwrap()), ["Quartzite is a rock"]);
    let list = life.keeper.list(&ids, &life.platforms).await.unwrap();
    assert_eq!(list, Default::default());
    life.runtime.stop().await;
}
