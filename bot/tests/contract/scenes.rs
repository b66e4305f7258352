//! The scenes, written once.

use std::sync::atomic::Ordering;

use aizuchi_core::Input;
use aizuchi_core::listen::Addressed;
use aizuchi_core::trace::Outcome;
use aizuchi_core::types::{Change, Message, Reaction};

use crate::life::{POINTS, point, until};
use crate::stage::{PlatformStage, Post, ScriptedLine, Trouble};

fn said_as(id: &str) -> impl Fn(&Input) -> Option<Message> {
    move |input| match input {
        Input::Said(message) if message.id.as_str() == id => Some(message.clone()),
        _ => None,
    }
}

fn changed(id: &str) -> impl Fn(&Input) -> Option<Change> {
    move |input| match input {
        Input::Changed(change) if change.id.as_str() == id => Some(change.clone()),
        _ => None,
    }
}

fn reacted_to(id: &str, on: bool) -> impl Fn(&Input) -> Option<Reaction> {
    move |input| match input {
        Input::Reacted(reaction) if reaction.message.as_str() == id && reaction.on == on => Some(reaction.clone()),
        _ => None,
    }
}

fn texts(posts: &[Post]) -> Vec<&str> {
    posts.iter().map(|post| post.text.as_str()).collect()
}

/// Everything there was to tell, in order and once.
fn is_everything(posts: &[Post]) {
    let all: String = posts.iter().map(|post| post.text.as_str()).collect();
    let mut last = 0;
    for number in 0..POINTS {
        assert_eq!(all.matches(&point(number)).count(), 1, "point {number} of {:?}", texts(posts));
        let position = all.find(&point(number)).expect("it is there");
        assert!(position >= last, "point {number} comes too early");
        last = position;
    }
}

pub async fn said(mut stage: impl PlatformStage) {
    let plain = stage.say("mia", "the tomatoes are in the ground").await;
    let decided = stage.life().decides(&plain).await;
    assert!(matches!(decided.outcome, Outcome::Silent), "{decided:?}");
    let called = stage.call("jonas", "how cold can they get?").await;
    let posts = stage.posted("how cold can they get?").await;
    assert_eq!(posts[0].thread, None);
    assert_eq!(posts[0].answering.as_deref(), stage.points_at(&called));
    let decided = stage.life().decides(&called).await;
    assert_eq!((decided.outcome, decided.addressed), (Outcome::Replies, Some(Addressed::Mention)));
    assert_eq!((&*decided.author, decided.place.room.to_string()), ("jonas", stage.room()));
    stage.life().rest().await;
    assert_eq!(stage.posts().await.len(), 1);
}

pub async fn threaded(mut stage: impl PlatformStage) {
    let first = stage.say("mia", "the tomatoes are in the ground").await;
    let text = format!("{} and at night?", stage.mention());
    let inside = stage.tell(ScriptedLine { by: "jonas", text: &text, thread: Some(&first), reply: None }).await;
    let posts = stage.posted("and at night?").await;
    assert_eq!((posts.len(), posts[0].thread.as_deref()), (1, Some(&*first)));
    let heard = stage.life().hears("the thread", said_as(&inside)).await;
    assert_eq!(heard.place.thread.map(|thread| thread.to_string()), Some(first));
    // The room goes on beside it.
    stage.call("mia", "and in the room?").await;
    let posts = stage.posted("and in the room?").await;
    assert_eq!((posts.len(), posts.iter().filter(|post| post.thread.is_none()).count()), (2, 1));
    stage.life().rest().await;
    assert_eq!(stage.posts().await.len(), 2);
}

pub async fn replied(mut stage: impl PlatformStage) {
    stage.call("mia", "how cold can they get?").await;
    let post = stage.posted("how cold").await.remove(0).id;
    let reply = ScriptedLine { by: "mia", text: "colder than that", thread: None, reply: Some(&post) };
    let reply = stage.tell(reply).await;
    let heard = stage.life().hears("the reply", said_as(&reply)).await;
    let link = heard.reply.expect("it is a reply");
    assert_eq!((link.to_me, link.to.map(|to| to.to_string())), (true, Some(post.clone())));
    if stage.points_at(&post).is_none() {
        // Replies are threads below what they answer.
        assert_eq!(heard.place.thread.map(|thread| thread.to_string()), Some(post));
    }
    let decided = stage.life().decides(&reply).await;
    assert_eq!(decided.addressed, Some(Addressed::Reply));
    stage.posted("colder than that").await;
}

pub async fn reacted(mut stage: impl PlatformStage) {
    stage.call("mia", "how cold can they get?").await;
    let post = stage.posted("how cold").await.remove(0).id;
    stage.react("jonas", &post, "👍", true).await;
    let given = stage.life().hears("a reaction", reacted_to(&post, true)).await;
    assert_eq!((&*given.emoji, given.place.room.to_string()), ("👍", stage.room()));
    stage.react("jonas", &post, "👍", false).await;
    let taken = stage.life().hears("it is taken back", reacted_to(&post, false)).await;
    assert_eq!((taken.by, &*taken.emoji), (given.by, "👍"));
    stage.life().rest().await;
    assert_eq!(stage.posts().await.len(), 1);
}

/// What changes something runs when a person agrees, and not before; others are answered meanwhile.
pub async fn approved(mut stage: impl PlatformStage) {
    let asked = stage.call("mia", "please switch the lamp on").await;
    let question = stage.posted("lamp").await.remove(0);
    assert!(question.text.contains("kitchen") && question.text.contains('✅'), "{question:?}");
    let lamp = stage.life().lamp.clone();
    assert_eq!(lamp.switched.load(Ordering::SeqCst), 0, "nobody has agreed yet");
    stage.react("jonas", &question.id, "👍", true).await;
    stage.life().hears("a reaction", reacted_to(&question.id, true)).await;
    assert_eq!(lamp.switched.load(Ordering::SeqCst), 0, "this is not what the question asks for");
    stage.react("jonas", &question.id, "✅", true).await;
    stage.posted("It tells me: the lamp is on").await;
    let decided = stage.life().decides(&asked).await;
    let used: Vec<(&str, &str)> = decided.tools.iter().map(|tool| (&*tool.name, &*tool.ended)).collect();
    assert_eq!(used, [("lamp", "returned")]);
    stage.life().rest().await;
    assert_eq!((lamp.switched.load(Ordering::SeqCst), stage.posts().await.len()), (1, 2));
}

pub async fn edited(mut stage: impl PlatformStage) {
    let id = stage.call("mia", "how cold can tomatos get?").await;
    stage.posted("tomatos").await;
    let text = format!("{} how cold can tomatoes get?", stage.mention());
    stage.edit("mia", &id, &text).await;
    let edit = stage.life().hears("the edit", changed(&id)).await;
    assert!(edit.text.is_some_and(|text| text.contains("tomatoes")));
    stage.call("mia", "and peppers?").await;
    stage.posted("and peppers?").await;
    stage.life().rest().await;
    // An answered message is not answered again for a letter.
    assert_eq!(stage.posts().await.len(), 2);
}

pub async fn deleted(mut stage: impl PlatformStage) {
    let id = stage.say("mia", "the key is under the mat").await;
    stage.life().decides(&id).await;
    stage.delete("mia", &id).await;
    let gone = stage.life().hears("the deletion", changed(&id)).await;
    assert_eq!((gone.text, gone.place.room.to_string()), (None, stage.room()));
    stage.call("jonas", "are you there?").await;
    let posts = stage.posted("are you there?").await;
    assert!(!posts.iter().any(|post| post.text.contains("mat")), "{posts:?}");
}

pub async fn long_answer(mut stage: impl PlatformStage) {
    let id = stage.call("mia", "tell me everything").await;
    stage.posted(&point(POINTS - 1)).await;
    stage.life().decides(&id).await;
    stage.life().rest().await;
    let posts = stage.posts().await;
    assert!(posts.len() > 1, "it takes several posts");
    is_everything(&posts);
}

/// What is out of an answer is taken back with its question, and nothing follows.
pub async fn deleted_in_mid_answer(mut stage: impl PlatformStage) {
    let id = stage.call("mia", "tell me everything").await;
    stage.posted(&point(0)).await;
    stage.delete("mia", &id).await;
    stage.life().hears("the deletion", changed(&id)).await;
    let next = stage.call("jonas", "and peppers?").await;
    stage.posted("and peppers?").await;
    stage.life().decides(&next).await;
    // Posts are taken back one by one.
    let gone = async || (stage.posts().await.iter().all(|post| !post.text.contains("Point "))).then_some(());
    until("every post of the answer is taken back", gone).await;
    stage.life().rest().await;
    let posts = stage.posts().await;
    assert!(posts.iter().all(|post| !post.text.contains("Point ")), "{posts:?}");
}

pub async fn hostile_names(mut stage: impl PlatformStage) {
    let (mention, long) = (stage.mention(), "x".repeat(5000));
    let names = ["\u{202e}evil\n@everyone", &mention, "@me", "<script>alert(1)</script>", "{{ bot }}", &long];
    let mut said = Vec::new();
    for name in names {
        if stage.lets_in(name).await {
            said.push(stage.say(name, "hello").await);
        }
    }
    for id in &said {
        let heard = stage.life().hears("a hostile name", said_as(id)).await;
        let name = heard.author.name;
        assert!(!heard.mentions_me && !name.is_empty() && name.chars().count() <= 100, "{name:?}");
        assert!(!name.contains(char::is_control), "{name:?}");
        assert_ne!(stage.life().decides(id).await.outcome, Outcome::Replies);
    }
    stage.call("mia", "are you there?").await;
    stage.posted("are you there?").await;
}

pub async fn reconnect_in_mid_answer(mut stage: impl PlatformStage) {
    stage.lose_answer();
    stage.limit_posts();
    stage.call("mia", "tell me everything").await;
    stage.posted(&point(0)).await;
    stage.cut().await;
    stage.posted(&point(POINTS - 1)).await;
    stage.call("jonas", "and peppers?").await;
    stage.posted("and peppers?").await;
    stage.life().rest().await;
    let posts = stage.posts().await;
    let (last, long) = posts.split_last().expect("there are posts");
    assert!(last.text.contains("and peppers?"), "{last:?}");
    is_everything(long);
}

pub async fn redelivery(mut stage: impl PlatformStage) {
    let id = stage.call("mia", "how cold can they get?").await;
    stage.redeliver(&id).await;
    stage.posted("how cold").await;
    stage.life().decides(&id).await;
    stage.redeliver(&id).await;
    let next = stage.call("jonas", "and peppers?").await;
    stage.posted("and peppers?").await;
    stage.life().decides(&next).await;
    stage.life().rest().await;
    assert_eq!(stage.posts().await.len(), 2);
    // The first decision remains.
    assert_eq!(stage.life().decides(&id).await.outcome, Outcome::Replies);
}

pub async fn rate_limit(mut stage: impl PlatformStage) {
    // Where there is none, the same must hold without it.
    stage.limit_posts();
    let id = stage.call("mia", "how cold can they get?").await;
    stage.posted("how cold").await;
    assert_eq!(stage.life().decides(&id).await.outcome, Outcome::Replies);
    stage.life().rest().await;
    assert_eq!(stage.posts().await.len(), 1);
}

pub async fn permission_lost(mut stage: impl PlatformStage) {
    let lost = stage.permit(false);
    let id = stage.call("mia", "how cold can they get?").await;
    let decided = stage.life().decides(&id).await;
    if lost == Trouble::Comes {
        assert_ne!(decided.outcome, Outcome::Replies, "{decided:?}");
        assert_eq!(stage.posts().await, []);
        stage.permit(true);
    }
    // It gave up that one answer, and not the room.
    stage.call("jonas", "and peppers?").await;
    stage.posted("and peppers?").await;
    stage.life().rest().await;
    let expected = if lost == Trouble::Comes { 1 } else { 2 };
    assert_eq!(stage.posts().await.len(), expected);
}
