//! What the web room says by itself, in the two languages it speaks.

use super::talk::Refusal;
use crate::language::Language;

impl Refusal {
    pub fn say(self, language: Language) -> &'static str {
        match self {
            Refusal::NoSuchMessage => {
                language.choose("There is no such message in this room.", "その発言はこの部屋にありません。")
            }
            Refusal::NoSuchThread => language
                .choose("There is no message here that starts this thread.", "そのスレッドはこの部屋にありません。"),
            Refusal::NotYours => {
                language.choose("You can change only what you said yourself.", "変更できるのは自分の発言だけです。")
            }
            Refusal::Deleted => language.choose("That message was deleted.", "その発言は削除されています。"),
            Refusal::RoomClosed => language.choose("This room was closed.", "このルームは閉じられました。"),
            Refusal::NotYourRoom => language.choose(
                "Only the person who opened this room can close it.",
                "このルームを閉じられるのは、開いた人だけです。",
            ),
            Refusal::TooManyReactions => {
                language.choose("That message has as many reactions as fit.", "これ以上リアクションを付けられません。")
            }
        }
    }
}

/// What `/close-room` would do, and how to say that it is meant.
pub fn sure_to_close(room: &str, language: Language) -> String {
    language.choose(
        format!("This closes #{room} for everybody and deletes all that was said in it. To do it: /close-room {room}"),
        format!("#{room} を全員に対して閉じ、発言をすべて削除します。実行するには：/close-room {room}"),
    )
}

/// Why a page is not given what it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    NotUnderstood,
    NotEntered,
    BadName,
    NameTaken,
    BadRoom,
    TooManyRooms,
    TooManyRoomsOpened,
    TooManyPeople,
    TooManyConnections,
    OtherRoom,
    RoomOfSettings,
    Empty,
    TooLong { chars_max: u32 },
    TooBig { bytes_max: usize },
    BadKey,
    BadEmoji,
    NoSuchSample,
    TooManySamples,
    Store,
    Stopping,
}

impl Trouble {
    /// Whether the same may well be taken a little later.
    pub fn passes(self) -> bool {
        match self {
            Trouble::Store | Trouble::Stopping | Trouble::TooManyPeople | Trouble::TooManyConnections => true,
            Trouble::NotUnderstood
            | Trouble::NotEntered
            | Trouble::BadName
            | Trouble::NameTaken
            | Trouble::BadRoom
            | Trouble::TooManyRooms
            | Trouble::TooManyRoomsOpened
            | Trouble::OtherRoom
            | Trouble::RoomOfSettings
            | Trouble::Empty
            | Trouble::TooLong { .. }
            | Trouble::TooBig { .. }
            | Trouble::BadKey
            | Trouble::BadEmoji
            | Trouble::NoSuchSample
            | Trouble::TooManySamples => false,
        }
    }

    pub fn say(self, language: Language) -> String {
        let (en, ja) = match self {
            Trouble::TooLong { chars_max } => {
                return language.choose(
                    format!("That message is too long: at most {chars_max} characters."),
                    format!("メッセージが長すぎます（{chars_max} 文字まで）。"),
                );
            }
            Trouble::TooBig { bytes_max } => {
                return language.choose(
                    format!("That was too large to be read: at most {bytes_max} bytes at once."),
                    format!("大きすぎて読めませんでした（一度に {bytes_max} バイトまで）。"),
                );
            }
            Trouble::NotUnderstood => (
                "The page said something the server does not understand; load it again.",
                "ページを再読み込みしてください。",
            ),
            Trouble::NotEntered => ("Enter a room first.", "先に部屋に入ってください。"),
            Trouble::BadName => {
                ("A name has 1 to 40 characters that can be seen.", "名前は目に見える 1〜40 文字にしてください。")
            }
            Trouble::NameTaken => (
                "That is the bot's name or looks like it; please choose another.",
                "ボットの名前に見えます。別の名前にしてください。",
            ),
            Trouble::BadRoom => (
                "A room's name has 1 to 40 letters, digits, hyphens or underscores.",
                "部屋の名前は 1〜40 文字の文字・数字・ハイフン・下線です。",
            ),
            Trouble::TooManyRooms => ("There are as many rooms as fit.", "これ以上部屋を作れません。"),
            Trouble::TooManyRoomsOpened => (
                "Too many rooms were opened from here in the last hour; try again later.",
                "この一時間に開かれたルームが多すぎます。しばらくしてからお試しください。",
            ),
            Trouble::TooManyPeople => (
                "Too many people came in from your address in the last hour.",
                "この一時間に同じアドレスから入った人が多すぎます。",
            ),
            Trouble::TooManyConnections => {
                ("Too many pages are open from your address.", "同じアドレスからの接続が多すぎます。")
            }
            Trouble::OtherRoom => ("You are not in that room.", "そのルームには入っていません。"),
            Trouble::RoomOfSettings => (
                "This room belongs to the settings (web.rooms) and cannot be closed here.",
                "このルームは設定（web.rooms）にあるため、ここでは閉じられません。",
            ),
            Trouble::Empty => ("There is nothing in that message.", "メッセージが空です。"),
            Trouble::BadKey => ("A key has 1 to 100 characters.", "キーは 1〜100 文字です。"),
            Trouble::BadEmoji => ("That is not an emoji.", "それは絵文字ではありません。"),
            Trouble::NoSuchSample => {
                ("There is a sample in \"en\" and one in \"ja\".", "サンプルは en と ja があります。")
            }
            Trouble::TooManySamples => (
                "Too many samples are playing; try again in a moment.",
                "再生中のサンプルが多すぎます。少し待ってください。",
            ),
            Trouble::Store => (
                "It could not be stored; it is worth trying again. The server's log says why.",
                "保存できませんでした。もう一度お試しください（原因はサーバーのログにあります）。",
            ),
            Trouble::Stopping => ("aizuchi is stopping.", "aizuchi を停止しています。"),
        };
        language.choose(en, ja).to_owned()
    }
}
