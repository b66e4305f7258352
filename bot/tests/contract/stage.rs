//! What a scene needs of a platform: people who do things there, and trouble on demand.

use crate::life::{BotRun, until};

/// Something somebody says.
#[derive(Clone, Copy)]
pub struct ScriptedLine<'a> {
    pub by: &'a str,
    pub text: &'a str,
    /// In the thread below this message.
    pub thread: Option<&'a str>,
    /// In answer to this message.
    pub reply: Option<&'a str>,
}

/// A post of the bot as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    pub id: String,
    pub text: String,
    pub thread: Option<String>,
    pub answering: Option<String>,
}

/// Whether a platform knows this trouble.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    Comes,
    Unknown,
}

pub trait PlatformStage: Sized {
    /// Whether an answer in the room points at what it answers.
    const ANSWERS_POINT: bool;

    async fn open() -> Self;

    fn life(&mut self) -> &mut BotRun;

    /// The room's name in the engine.
    fn room(&self) -> String;

    /// How people call the bot here.
    fn mention(&self) -> String;

    /// Whether somebody of this name may talk here.
    async fn lets_in(&mut self, name: &str) -> bool;

    /// The id of the message.
    async fn tell(&mut self, line: ScriptedLine<'_>) -> String;

    async fn edit(&mut self, by: &str, id: &str, text: &str);

    async fn delete(&mut self, by: &str, id: &str);

    async fn react(&mut self, by: &str, id: &str, emoji: &str, on: bool);

    /// Oldest first.
    async fn posts(&self) -> Vec<Post>;

    /// Every connection breaks without a word, and comes back.
    async fn cut(&mut self);

    /// The next post goes out, and its confirmation is lost.
    fn lose_answer(&mut self) -> Trouble;

    /// A message is delivered again.
    async fn redeliver(&mut self, id: &str);

    /// The next post has to wait.
    fn limit_posts(&mut self) -> Trouble;

    /// From now on the bot may not post, or may again.
    fn permit(&mut self, posts: bool) -> Trouble;

    /// Where an answer to this message points.
    fn points_at<'a>(&self, id: &'a str) -> Option<&'a str> {
        Self::ANSWERS_POINT.then_some(id)
    }

    async fn say(&mut self, by: &str, text: &str) -> String {
        self.tell(ScriptedLine { by, text, thread: None, reply: None }).await
    }

    /// Somebody calls the bot; the id of the message.
    async fn call(&mut self, by: &str, text: &str) -> String {
        let text = format!("{} {text}", self.mention());
        self.say(by, &text).await
    }

    /// The posts, once one holds this.
    async fn posted(&self, words: &str) -> Vec<Post> {
        let look = async || {
            let posts = self.posts().await;
            posts.iter().any(|post| post.text.contains(words)).then_some(posts)
        };
        until(&format!("a post with {words:?}"), look).await
    }
}
