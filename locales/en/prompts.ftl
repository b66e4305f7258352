### Words around people's words in a prompt, and what stands in for a model that is not there.

## Names and notes in a frame

prompt-nameless = somebody
prompt-mark-me = { " " }(you)
prompt-mark-bot = { " " }(bot)
prompt-mark-imitator = { " " }(not you)
prompt-mark-role = { " " }(a person)
prompt-left-out = [… { $n } earlier messages are not shown]
prompt-cut = { " " }[…{ $n } characters left out…]{ " " }
prompt-history =
    - your last contribution here was { $minutes } minutes ago
    - your contributions within 30 minutes: { $count }
    - the talk at that time began:
    { $excerpt }...
prompt-memory-channel = channel
prompt-memory-person = person
prompt-memory-pair = answers
prompt-memory-fact = fact
prompt-pair-often = { $name } and { $other } often answer each other
prompt-pair-some = { $name } and { $other } answer each other now and then
prompt-pair-me-often = { $name } and you often answer each other
prompt-pair-me-some = { $name } and you answer each other now and then
prompt-pair-words = { " " }(about { $words })
channel-title = [What this channel is about]
channel-topics = Topics: { $topics }
channel-mood = Mood: { $mood }
channel-active = Taking part: { $names }
channel-summary = Lately: { $summary }

## The built-in model

offline-nod-1 = mm-hm
offline-nod-2 = I see
offline-nod-3 = right
offline-answer = { $text } (offline: no model is connected)
offline-example = { $text } (an example, written beforehand: no model is connected)
offline-rule-ending = offline rule: the talk is ending
offline-rule-misunderstanding = offline rule: words of a misunderstanding
offline-rule-conflict = offline rule: words of a quarrel
offline-rule-question = offline rule: a question to everybody that nobody has answered
offline-rule-nothing = offline rule: nothing asks for an answer
month-1 = January
month-2 = February
month-3 = March
month-4 = April
month-5 = May
month-6 = June
month-7 = July
month-8 = August
month-9 = September
month-10 = October
month-11 = November
month-12 = December
offline-told = told in { $month }
offline-remembered = { $fact } ({ $told }).
offline-remembered-former = No longer: { $fact } ({ $told }).
offline-here = I am here.
offline-misunderstanding = Perhaps you are talking about two different things. Would each of you say it once more in other words?
offline-conflict = This is getting heated. What would help each of you right now?
offline-asked = { $name } asked: “{ $words }”. Nobody has answered yet. Does anybody know?
offline-listening = { $name }, I am listening: “{ $words }”.
offline-heard =
    { $count ->
        [one] { $name }, I heard you: “{ $words }”. I cannot think about it without a model. What I have in mind here: { $count } message ({ $people }).
       *[other] { $name }, I heard you: “{ $words }”. I cannot think about it without a model. What I have in mind here: { $count } messages ({ $people }).
    }
offline-summary = { $names } talked about { $topics } ({ $count } messages).
