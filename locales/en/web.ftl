### What the web room says by itself.

refusal-no-such-message = There is no such message in this room.
refusal-no-such-thread = There is no message here that starts this thread.
refusal-not-yours = You can change only what you said yourself.
refusal-deleted = That message was deleted.
refusal-room-closed = This room was closed.
refusal-not-your-room = Only the person who opened this room can close it.
refusal-too-many-reactions = That message has the maximum number of reactions.

trouble-too-long = That message is too long: at most { $most } characters.
trouble-too-big = That was too large: at most { $most } bytes at once.
trouble-not-understood = The server does not understand this page's message; reload the page.
trouble-not-entered = Enter a room first.
trouble-bad-name = A name must have 1–40 visible characters.
trouble-name-taken = That is the bot's name or looks like it; please choose another.
trouble-bad-room = A room name must have 1–40 letters, digits, hyphens or underscores.
trouble-too-many-rooms = The maximum number of rooms is reached.
trouble-too-many-rooms-opened = Too many rooms were opened from here in the last hour; try again later.
trouble-too-many-people = Too many people came in from your address in the last hour.
trouble-too-many-connections = Too many pages are open from your address.
trouble-other-room = You are not in that room.
trouble-room-of-settings = This room belongs to the settings (web.rooms) and cannot be closed here.
trouble-empty = That message is empty.
trouble-bad-key = A key must have 1–100 characters.
trouble-bad-emoji = That is not an emoji.
trouble-no-such-sample = There is a sample in these languages: { $languages }.
trouble-too-many-samples = Too many samples are playing; try again in a moment.
trouble-store = The message could not be stored; try again. The server's log says why.
