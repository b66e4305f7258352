### Slash commands and what they answer.
###
### A command has what it does in one line (Discord allows 100 characters), another name for it (an alias everywhere; lower case), its argument, an
### example, and its row in the manual. `aizuchi` is its own name and stays.

command-mute = say nothing for a while, or until told otherwise
    .alias = mute
    .argument = such as 2h, 30m; without one, until further notice
    .example = mute 2h
    .manual = says nothing for two hours, not even when addressed; `30m`, `90s`, `1h30m` and `2時間` work too. Without a time: until `/unmute`
    .done = I am muted for { $span }. { $unmute } ends it.
    .done-open = I am muted until { $unmute }.
command-unmute = take part again
    .alias = unmute
    .example = unmute
    .manual = takes part again
    .done = I am taking part again.
command-why = why it spoke or stayed silent: the last message, or the one with this id
    .alias = why
    .argument = id of a message; without one, the last
    .example = why
    .manual = why it spoke or stayed silent about the last message it has decided on; `/why w12` about that one
    .none = There is no decision about that yet.
    .asked = { $question }: { $answer }
    .asked-cached = { $question } (from memory): { $answer }
    .cost = cost: { $dollars }
command-status = what it is doing here, and what it cost today
    .alias = status
    .example = status
    .manual = what it is doing here, what it spent today here and in all rooms, and which prices are estimated
command-talk = speak up at about this share of messages, or as the settings say
    .alias = talk
    .argument = such as 3%; without one, as set
    .example = talk 3%
    .manual = speaks up at about 3 % of the messages; without a number as the settings say
    .done = I will speak up at about { $share } of messages.
    .done-usual = I will speak up as the settings say.
command-channel = listen here, or not
    .alias = channel
    .argument = on or off
    .example = channel off
    .manual = does not listen in this room; `/channel on` does again
    .on = I am listening here.
    .off = I am no longer listening here.
command-preset = which preset it uses here
    .alias = preset
    .argument = name of a preset
    .example = preset sphene
    .manual = uses another preset in this room, see [Presets](#presets)
    .done = I am using the preset { $preset } here.
command-reminders = what it will say here at a set time; with a number, cancel that one
    .alias = reminders
    .argument = number of the reminder to cancel
    .example = reminders 3
    .manual = lists the reminders and schedules of this room; with a number it cancels that one
    .none = There are no reminders here. Ask me to remind you of something.
    .line = #{ $number } { $due }: { $text } ({ $by })
    .how = To cancel one: { $cancel }
    .done = Reminder #{ $number } is cancelled.
    .unknown = There is no reminder #{ $number } here.
    .scheduled = That is a schedule of the settings: the people who run the bot change it there.
    .not-yours = Only who asked for it or people who manage this channel can cancel it.
command-reset = forget the messages of this room
    .alias = reset
    .example = reset
    .manual = forgets the messages of this room
    .done = I have forgotten the messages of this room.
command-close-room = close this room for everybody and delete all its messages
    .alias = close-room
    .argument = name of this room; without it, only says what would happen
    .example = close-room garden
    .manual = closes this room for everybody and deletes all its messages; without the name it only says what it would do
    .sure = This closes #{ $room } for everybody and deletes all its messages. To do it: /close-room { $room }
command-what-do-you-know = what is stored about you; only you see the answer
    .alias = what-do-you-know
    .example = what-do-you-know
    .manual = what is stored about you: messages and decisions, and what it remembers: topics, notes, facts
command-export-me = all that is kept of you, your messages too, as JSON
    .alias = export-me
    .example = export-me
    .manual = all that is kept of you as JSON: what is remembered about you, what others said of you, and your messages
command-forget-me = forget you: what you said and what is known about you; names only if it asks
    .alias = forget-me
    .argument = names of yours that it asked about, such as: Bo, Rina
    .example = forget-me
    .manual = permanently forgets you: what you said, what is known about you or derived from it, and the answers that repeat it; `/forget-me Bo` if it asks about a name
command-opt-out = stay out of its memory from now on
    .alias = opt-out
    .example = opt-out
    .manual = keeps you out of its memory from now on; `/opt-in` ends that
    .done = You are not remembered from now on, and what was known about you is deleted. It still reads the current conversation.
    .noted = You are not remembered from now on. What was known about you could not be deleted yet, because memory cannot be reached; that follows automatically, also after a restart.
command-opt-in = be remembered again
    .alias = opt-in
    .example = opt-in
    .manual = remembers you again
    .done = You are remembered again.
command-help = this list
    .alias = help
    .example = help
    .manual = this list

## What more than one command answers

command-all = Commands for aizuchi; only you see the answer
command-unknown = There is no command { $command }.
command-wrong-argument = I do not understand that. Use it like this: { $usage }
command-no-memory = Long-term memory is off here.
command-for-managers = Only people who manage this channel can do that.
command-stopping = aizuchi is shutting down.
command-failed = That did not work; please try again.
command-queued = The server cannot store anything right now. This will be done as soon as it can.
command-memory-away = Memory cannot be reached right now; please try again later.
command-line = { $usage } – { $help }
argument-room = name
argument-names = name, …
cost = { $calls } calls, { $tokens } tokens, { $money }
cost-limited = { $have } of { $most }

## /status

status-line = { $name }: { $value }
status-listening = listening
status-muted = muted
status-pending = pending
status-spent = spent today
status-spent-all = spent today in all rooms
status-price = estimated price
status-model = model
status-judge = judge
status-preset = preset
status-clock = clock
status-yes = yes
status-no = no
status-nothing = nothing
status-offline = { $model } (offline)
status-local-server = { $model } (no key is set; { $server } at { $address })
status-counts-as = no price is listed for { $model }; it counts as ${ $input } in and ${ $output } out per million tokens
status-clock-back = was set back by { $by } ({ $ago } ago)
status-clock-forward = was set forward by { $by } ({ $ago } ago)
status-muted-open = until { $unmute }
status-muted-until = for another { $left }
status-doing = { $message } ({ $doing })
status-doing-until = { $message } ({ $doing }, { $left } left)
doing-waiting = waits for quiet
doing-judging = asks the judge
doing-holding = holds its answer back
doing-writing = writes
doing-posting = posts

## /what-do-you-know

known-none = None of your messages is stored.
known-messages = Your stored messages: { $messages }, since { $since }, in rooms: { $rooms }
known-more-rooms = { $more } more rooms
known-rest =
    Reactions: { $reactions }. Decisions about your messages: { $decisions }.
    With them: your name, your edits, and what it answered. The last few messages of a quiet room may be remembered for longer than the rest.
# Said to somebody who asked it to forget something; without the words that are to be forgotten.
forgotten-topic = Done: I have forgotten what you said about that ({ $messages } messages, { $facts } facts). People can still read it where you wrote it.
forgotten-topic-nothing = I found nothing that you said about that. Tell me in one or two words what it is about, and I will look again.
forgotten-topic-failed = I could not forget that just now. Please ask me again.
remembered-opted-out = You asked not to be remembered ({ $opt_in } ends that).
remembered-messages = Remembered about you: { $count } messages, { $mentions } of them to the bot.
remembered-more-facts = { $more } more facts
remembered-ties = Whom you answer and who answers you:
remembered-tie = { $with }, you { $answered }×, they { $was }×
remembered-more-ties = { $more } more people
remembered-by-others = What others said of you:
remembered-channels = Summaries of rooms that name you or list you:
remembered-perhaps = Perhaps about you, by the name “{ $name }” ({ $again } if it is yours):
remembered-perhaps-elsewhere = and { $n } more in rooms that you do not read
remembered-elsewhere = And { $n } more in rooms that you do not read.
remembered-nothing = Nothing is remembered about you.
remembered-end = { $forget_me } deletes all of that; what is only perhaps about you, it asks about.

## /forget-me

forgotten-done = You are forgotten: what you said, what was known about you and what was derived from it. What you say from now on is heard again; { $opt_out } keeps it out of memory.
forgotten-still-read = Almost done: everything about you is deleted, but another program (perhaps a backup) is reading the file, and old pages stay in it until that ends. They are then removed automatically, also after a restart.
forgotten-interrupted = Your request to be forgotten is stored, but could not be finished now. It continues automatically, also after a restart.
forgotten-doubtful = What it said or remembers under these names may be about somebody else and was kept: { $names }. To remove it too, within the hour (by a name that is others' as well, only what was said where you took part): { $again }
forgotten-name-other = “{ $name }” ({ $other }?)
forgotten-name-word = “{ $name }” (an ordinary word?)
forgotten-name-before = “{ $name }” (in use there before you came)
forgotten-name-part = “{ $name }” (only a part of your name)
forgotten-name-untied = “{ $name }” (you, or somebody or something else?)
forgotten-shared = What others said by these names alone was kept, because others have them too, they are ordinary words, or they were in use before you came: { $names }
forgotten-not-your-name = “{ $name }” is not a known name of yours: nothing was removed.

## Where it was addressed and has no answer

reminder-post = ⏰ { $text }
reminder-post-for = ⏰ { $name }: { $text }
reminder-late = (late: this was for { $due })
approval-question = May I use { $tool } with `{ $arguments }`? React with { $yes } to allow it or { $no } to refuse; the question is open for { $minutes ->
        [one] { $minutes } minute
       *[other] { $minutes } minutes
    }.
excuse-no-words = Sorry, I can't find the words right now. Please try me again in a bit.
excuse-too-many = So many of you asked at once that I could not get to everybody. Please ask me again if you still need me.
excuse-budget-spent = Sorry, I've used up my words for today. Talk to me again tomorrow.
