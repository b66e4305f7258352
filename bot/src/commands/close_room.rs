//! Closes a room of the web room for everybody.

use super::spec::{ArgumentKind, ArgumentSpec, CommandEffect, CommandSpec, OfferedIn, Permission, WebEffect};

pub const COMMAND: CommandSpec = CommandSpec {
    name: "close-room",
    argument: Some(ArgumentSpec { name: "room", kind: ArgumentKind::RoomName, required: false }),
    permission: Permission::RoomOpener,
    offered: OfferedIn::WebRoom,
    effect: CommandEffect::Web(WebEffect::CloseRoom),
};
