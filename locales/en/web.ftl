### What the web room says by itself.

refusal-no-such-message = There is no such message in this room.
refusal-no-such-thread = There is no message here that starts this thread.
refusal-not-yours = You can change only what you said yourself.
refusal-deleted = That message was deleted.
refusal-room-closed = This room was closed.
refusal-not-your-room = Only the person who opened this room can close it.
refusal-too-many-reactions = That message has as many reactions as fit.

trouble-too-long = That message is too long: at most { $most } characters.
trouble-too-big = That was too large to be read: at most { $most } bytes at once.
trouble-not-understood = The page said something the server does not understand; load it again.
trouble-not-entered = Enter a room first.
trouble-bad-name = A name has 1 to 40 characters that can be seen.
trouble-name-taken = That is the bot's name or looks like it; please choose another.
trouble-bad-room = A room's name has 1 to 40 letters, digits, hyphens or underscores.
trouble-too-many-rooms = There are as many rooms as fit.
trouble-too-many-rooms-opened = Too many rooms were opened from here in the last hour; try again later.
trouble-too-many-people = Too many people came in from your address in the last hour.
trouble-too-many-connections = Too many pages are open from your address.
trouble-other-room = You are not in that room.
trouble-room-of-settings = This room belongs to the settings (web.rooms) and cannot be closed here.
trouble-empty = There is nothing in that message.
trouble-bad-key = A key has 1 to 100 characters.
trouble-bad-emoji = That is not an emoji.
trouble-no-such-sample = There is a sample in these languages: { $languages }.
trouble-too-many-samples = Too many samples are playing; try again in a moment.
trouble-store = It could not be stored; it is worth trying again. The server's log says why.
