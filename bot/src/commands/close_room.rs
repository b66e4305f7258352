//! Closes a room of the web room for everybody.

use super::spec::{Argument, ArgumentKind, CommandSpec, Effect, Offered, Permission, Text, WebEffect};

pub const COMMAND: CommandSpec = CommandSpec {
    name: "close-room",
    name_ja: "閉じる",
    argument: Some(Argument { name: "room", kind: ArgumentKind::RoomName, required: false, help: Text::new("name of this room; without it, only says what would happen", "このルームの名前。省略すると説明だけ") }),
    help: Text::new("close this room for everybody and delete all that was said in it", "このルームを全員に対して閉じ、発言をすべて削除する"),
    example: Text::new("close-room garden", "close-room 庭"),
    manual: Text::new("closes this room for everybody and deletes all that was said in it; without the name it only tells what it would do", "このルームを全員に対して閉じ、発言をすべて削除する。名前を省くと、何が起きるかを説明するだけ"),
    permission: Permission::RoomOpener,
    offered: Offered::WebRoom,
    effect: Effect::Web(WebEffect::CloseRoom),
};

