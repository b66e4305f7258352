### The questions of `aizuchi init`, and what it writes beside each setting.

## Questions

init-name = What is the bot's name?
init-language = Which language does it speak: { $languages }, or auto (that of the conversation)?
init-preset = How should it behave?
init-models = Which model writes and judges?
init-at-start = the provider whose key is in the environment; without a key the simple built-in model
init-number = Number
init-number-or-model = Number, or provider/model such as ollama/qwen3
init-persona = Who is it, and how does it speak? In your own words; empty is a friendly, attentive member
init-group = Who are the people, and what do they talk about? In your own words; may be empty
init-address = Where does the web room listen? host:port; - is no web room
init-talkative = How talkative is it, when nobody asked?
init-not-empty = the name must not be empty
init-not-language = expected { $languages } or auto
init-not-number = expected one of the numbers above
init-not-model = expected one of the numbers above, or for example anthropic/claude-haiku-4-5
init-not-address = expected for example 127.0.0.1:4860, or -
init-preset-aizuchi = aizuchi: weighs what is said, waits for a pause and asks a model once before it speaks
init-preset-kotonoha = kotonoha: steps in where a talk goes wrong, at most every ten minutes
init-preset-sphene = sphene: adds up points, and speaks when they are many
init-preset-myao2 = myao2: waits for minutes of quiet before it thinks of speaking
init-interval-half-hour = rarely: at most every half hour
init-interval-five-minutes = now and then: at most every five minutes
init-interval-minute = often: at most every minute
init-interval-whenever = whenever it finds a reason
init-interval-usual = the default of the preset chosen above

## What the file says

settings-head =
    Settings of aizuchi. `aizuchi settings` prints every setting with its default and a sentence;
    `aizuchi doctor` checks the setup. Keys and tokens do not belong here: they come from the environment.
settings-preset = The preset: "aizuchi", "kotonoha", "sphene" or "myao2".
settings-name = The name people call it by.
settings-aliases = Other names it answers to.
settings-zone = Local time for quiet hours and for the day of a budget.
settings-language = One of { $languages }, or "auto" (that of the conversation).
settings-persona = Who it is and how it speaks; "" is a friendly, attentive member of the group.
settings-group = Who the people are and what they talk about.
settings-everywhere = Channels it listens to; "*" is all.
settings-unasked = Whether it ever speaks without being addressed.
settings-interval = Minimum time in seconds between two unasked contributions: more is quieter.
settings-memory = Whether it remembers messages at all; otherwise it only answers when addressed.
settings-at-start =
    With one of { $keys } in the environment that provider is asked, without a key
    the built-in model. To choose yourself, as provider/model:
settings-main = Writes the answers.
settings-judge = Judges whether to speak: many short questions, so a small model.
settings-key = The key is read from the environment:
settings-web = Whether the web room is open.
settings-address = Where it listens. Anything but this machine needs a token.
settings-token = The token is read from the environment: AIZUCHI__WEB__TOKEN. Everybody who opens the room needs it.

## What to do next

init-written = { $path } is written. Next:
init-next-doctor = checks the setup
init-next-run = starts it
