### Decisions in words: what it did, why, and what that was weighed by. The web room and the program share them.

## Parts of sentences

list-separator = { ", " }
percent =
    { $n ->
        [0] <1 %
       *[other] { $n } %
    }
span-seconds = { $seconds } s
span-minutes = { $minutes } min
span-minutes-seconds = { $minutes } min { $seconds } s
span-hours = { $hours } h
span-hours-minutes = { $hours } h { $minutes } min

## What it did

decision = { $outcome }: { $why }
outcome-ignored = Ignored
outcome-silent = Stayed silent
outcome-reacts = Reacted
outcome-acknowledges = Said a word
outcome-replies = Answered

## Why a message was passed over before anything was thought about it

unheard-itself = it is the bot's own message.
unheard-empty = the message is empty.
unheard-direct = direct messages are switched off.
unheard-channel-off = it does not listen in this channel.
unheard-other-bot = another bot wrote it.
unheard-bot-not-answered = another bot wrote it; heard, not answered.
unheard-repeated = this message was heard before.
unheard-late = it arrived late; remembered, not answered.
unheard-too-late = it arrived { $late } late (limit { $limit }); remembered, not answered.
unheard-too-late-away = it was written { $late } before the bot could read it (limit { $limit }); remembered, not answered.
unheard-missed = it was written { $late } before the bot could read it; remembered, not answered.

## What decided

cause-mention = { $author } mentioned it.
cause-name = { $author } called its name.
cause-reply = { $author } replied to it.
cause-turn = { $author } goes on in a conversation it takes part in.
cause-thanked = { $author } thanked it: a reaction is enough.
cause-told-to-be-quiet = { $author } told it to be quiet; muted for { $span }.
cause-told-to-be-quiet-open = { $author } told it to be quiet; muted until somebody lets it talk again.
cause-unlikely = too little reason to speak.
cause-likely = enough reason to speak without asking the judge.
cause-low = too little reason to speak (at most { $low }).
cause-high = enough reason to speak without asking the judge (at least { $high }).
cause-over-threshold = enough reason to speak (at least { $threshold }).
cause-under-threshold = too little reason to speak (below { $threshold }).
cause-gate = { $gate }.
cause-held-back = held back.
cause-ending = the conversation is ending.
cause-unchanged = nothing has changed since it last spoke here.
cause-no = the judge said no.
cause-no-because = the judge said no: { $reason }
cause-yes =
    { $state ->
        [ending] the judge said yes (ending).
        [misunderstanding] the judge said yes (misunderstanding).
        [conflict] the judge said yes (conflict).
       *[active] the judge said yes.
    }
cause-yes-because =
    { $state ->
        [ending] the judge said yes (ending): { $reason }
        [misunderstanding] the judge said yes (misunderstanding): { $reason }
        [conflict] the judge said yes (conflict): { $reason }
       *[active] the judge said yes: { $reason }
    }
cause-yes-wait =
    { $state ->
        [ending] the judge said yes (ending), and to wait { $delay }.
        [misunderstanding] the judge said yes (misunderstanding), and to wait { $delay }.
        [conflict] the judge said yes (conflict), and to wait { $delay }.
       *[active] the judge said yes, and to wait { $delay }.
    }
cause-yes-wait-because =
    { $state ->
        [ending] the judge said yes (ending), and to wait { $delay }: { $reason }
        [misunderstanding] the judge said yes (misunderstanding), and to wait { $delay }: { $reason }
        [conflict] the judge said yes (conflict), and to wait { $delay }: { $reason }
       *[active] the judge said yes, and to wait { $delay }: { $reason }
    }
cause-judge-failed = the judge gave no usable answer ({ $what }).
cause-failed = its answer could not be written or posted ({ $what }).
cause-scheduled = It was time for the schedule { $name }.
cause-excused = { $author } asked, and it apologised because it could not answer ({ $what }).
cause-cancelled = somebody spoke first (cancelled by { $by }).
cause-superseded = { $by } gave a better reason a moment later.
cause-part-of = it belongs to the conversation around { $by }, which is the better reason.
cause-answered-by = somebody answered ({ $by }).
cause-answered-instead = it was addressed in { $by } and answers that.
cause-too-many = too many people addressed it at once; it answered them together.
cause-deleted = the message was deleted.
cause-forgotten = the messages of this room were to be forgotten.
cause-stale = it was overdue by { $overdue } when the program started.
cause-nothing-to-say = it found nothing to say.
cause-repeated = its answer would have repeated what it said before.
cause-undecided = not decided yet.

## What was made of words about it

heard-name-in-passing = Its name was mentioned in passing, which does not call it.
heard-name-unclear = It was unclear whether it was called by its name.
heard-talk-again = { $author } allowed it to talk again; the mute is lifted.

## What it was weighed by

score-none = Score { $score }.
score-given = Score { $score } ({ $given }).
score-points = { $rule } { $points }
likelihood = { $chance }.
likelihood-compared = { $chance }; { $needs }.
likelihood-changed = { $chance }; { $change }; { $needs }.
chance-turn = { $p } chance that it is its turn in this conversation
chance = { $p } chance that someone new would join here
chance-because = { $p } chance that someone new would join here ({ $reasons })
change-call = raised to { $p } because it asks everybody
change-raised = raised to { $p } because it asks for help or contains a keyword
change-lowered = lowered to { $p } because it asks for help or contains a keyword
needs = needs { $p }
needs-more = needs { $p }, more than usual because it was less welcome here lately
needs-less = needs { $p }, less than usual because it was welcome here lately
answered-with = The post that answers { $other } also answers this.

used-tools = It used { $tools }.
posts-all = It was sent as { $of } posts.
posts-muted = { $posted } of { $of } posts were sent; the rest was stopped because it was told to be quiet.
posts-deleted = { $posted } of { $of } posts were sent; the rest was stopped because the question or a post of the answer was deleted.
posts-forgotten = { $posted } of { $of } posts were sent; the rest was stopped because the conversation was to be forgotten.
posts-overdue = { $posted } of { $of } posts were sent; the rest was dropped because it was too old after a restart.
posts-failed = { $posted } of { $of } posts were sent; the next one could not be posted ({ $what }).

## What people made of it

received-thanked = It was thanked.
received-answered = It was answered.
received-reacted = It was reacted to.
received-ignored = It was ignored.
received-told-off = Somebody complained about it.
received-deleted = It was deleted.

## What spoke for joining, or against it

because-calls_everybody = it calls on everybody
because-asks = it asks a question
because-author_asked = its author has asked a question
because-asks_nothing = it asks nothing
because-starts = it starts a conversation
because-unanswered = nobody has answered its author yet
because-has_company = others are in this conversation already
because-starts_nothing = it starts no conversation
because-to_nobody = nobody is addressed
because-to_somebody = it addresses somebody
because-answers_somebody = it answers somebody
because-author_new = its author is new here
because-author_quiet = its author has said little so far
because-author_draws = others often answer its author
because-author_present = its author is already in the conversation
because-words_draw = its words draw others in
because-words_draw_nobody = its words draw nobody in
because-long = it is long
because-brief = it is brief
because-little = it says little
because-repeats = its author says it again
because-takes_up = it takes up what others said
because-greets = it greets
because-closes = it thanks or says goodbye
because-laughs = it is laughter or assent
because-jokes = it is a joke
because-parent_open = what it continues is still open
because-parent_answered = somebody already answers what it continues
because-outsiders = others are there who could join
because-busy = the room is busy with other things

## Rules, by their ids: a short name, and what they notice

rule-mention = mentioned
    .doc = somebody mentioned it
rule-name = named
    .doc = somebody called its name
rule-reply = replied to
    .doc = somebody replied to it
rule-engaged = engaged
    .doc = it answered here a short while ago
rule-question = question
    .doc = ends with a question mark
rule-keyword = keyword
    .doc = contains one of its keywords
rule-calls_for_help = calls for help
    .doc = asks for help or calls on everybody
rule-two_people = two people
    .doc = exactly two people are talking
rule-not_mentioned = not mentioned
    .doc = nobody has said its name lately
rule-turn = its turn
    .doc = it takes part in the conversation, and it is probably its turn
rule-high_frequency = high frequency
    .doc = messages arrive in quick succession
rule-its_topic = its topic
    .doc = one of its keywords came up lately
rule-after_silence = after silence
    .doc = the first message after a long silence
rule-fading = fading
    .doc = messages are getting shorter and shorter
rule-cooldown = cooldown
    .doc = it spoke a moment ago
rule-filler = filler
    .doc = laughter or assent that asks for nothing
rule-closing = closing
    .doc = thanks, a goodbye, or that is all

## Gates, by their ids: a short name, what they are for, and what is said of one that is closed

gate-mute = muted
    .doc = it was told to say nothing here
    .closed = it is muted here
gate-quiet_hours = quiet hours
    .doc = the hours of the day in which it says nothing, unless it is addressed and may answer then
    .closed = these are quiet hours
gate-unasked = only when addressed
    .doc = it only answers when it is addressed
    .closed = it only answers when it is addressed
gate-loop_guard = loop guard
    .doc = it has gone back and forth with other bots often enough
    .closed = it has answered bots { $have } times in a row (limit { $need })
gate-messages_min = too few messages
    .doc = it must have heard some messages before it judges anything
    .closed = it has heard { $have } of the { $need } messages it needs
gate-on_its_way = already posting
    .doc = one of its own posts is being sent
    .closed = one of its own posts is being sent
gate-interval = interval
    .doc = minimum time between two unasked contributions
    .closed = it spoke up { $have_time } ago and waits at least { $need_time } in between
gate-talk = its share of the talk
    .doc = it has spoken up as often as `talk` allows; the least distance of two contributions follows from it
    .closed = it has had its share of the talk and lets { $need } more messages pass
gate-addressed_elsewhere = for somebody else
    .doc = the message is for somebody else
    .closed = the message is for somebody else
gate-bot_answered = another bot answered
    .doc = another bot has answered already
    .closed = another bot has answered already
gate-spoke_last = spoke last
    .doc = the last message of the place is its own
    .closed = it spoke last here
gate-floor_share = floor share
    .doc = its share of the talk is above that of one member
    .closed = { $have } % of the talk is its own, and its share is { $need } %
gate-user_limit = limit per person
    .doc = it answers the same person only so often within an hour
    .closed = it has answered this person, or is about to, { $have } times within the hour (limit { $need })
gate-budget = budget
    .doc = the day's budget of the room, or of all rooms, is spent
    .closed = the budget of the day is spent ({ $have } of { $need })
