### The report of `aizuchi replay`: one page in a browser.

report-score-of = score { $score }
report-waited = after { $span }
report-questions =
    { $n ->
        [one] { $n } question to the judge
       *[other] { $n } questions to the judge
    }
report-asked-cached = from cache
report-asked-failed = failed
report-no-messages = There are no messages in this log.
report-lead = In { $messages } it would have { $answered }, { $said } and { $reacted }. The other { $quiet } it would have left alone.
report-lead-answered = answered { $n }
report-lead-said = said a word to { $n }
report-lead-reacted = reacted to { $n }
report-messages =
    { $n ->
        [one] { $n } message
       *[other] { $n } messages
    }
report-channels =
    { $n ->
        [one] { $n } channel
       *[other] { $n } channels
    }
report-characters =
    { $n ->
        [one] { $n } character
       *[other] { $n } characters
    }
report-calls-made =
    { $n ->
        [one] { $n } call
       *[other] { $n } calls
    }
report-preset = Preset
report-judge = Judge
report-where = Where
report-from = From
report-to = To
report-changed = Changed settings
report-none = none
report-sections = Sections
report-timeline = Timeline
report-scores = Scores
report-rules-gates-stages = Rules, gates, stages
report-calls = Calls and cost
report-moments = Moments
report-misses = Near misses
report-nothing = Nothing to show.
report-no-scores = This preset gives no scores: only what it would have done is shown.
report-legend = Legend
report-score = score
report-highest = highest score
report-average = average score
report-needed = needed by the talk share
report-needed-at = needs { $at } %
report-needed-says = The talk share asks for { $at } %: silent below
report-action-replies = answered
report-action-acknowledges = said a word
report-action-reacts = reacted
report-action-silent = silent
report-action-ignored = ignored
report-acted = acted
report-talk = talk
report-unscored = No message was given a score with this preset and these settings.
report-scored = { $messages } were scored; the median is { $median }. Messages addressed to it are answered without counting and left out here.
report-axis-messages = messages
report-as-table = The same as a table
report-scores-table = Scores as a table
report-share = Share
report-acted-on = Acted on
report-causes = What decided
report-given = Given
report-of-scored = Of scored
report-average-bar = Average as a bar
report-likelihood = Likelihood
report-likelihood-note = What changed the odds that someone new joins: how often each feature counted, and by how much on average, up or down. The bar shows the overall direction.
report-feature = Feature
report-average-factor = Average factor
report-rules = Rules
report-rule = Rule
report-average-points = Average points
report-rules-unused = Gave nothing: { $names }.
report-no-rules = No rule gave points with this preset and these settings.
report-addressed = Addressed directly: { $how }.
report-addressed-by = { $n } by { $how }
report-gates = Gates
report-gate = Gate
report-closed = Closed
report-of-all = Of all
report-gates-unused = Never closed: { $names }.
report-no-gates = No gate was closed.
report-stages = How far messages came
report-stage = Stage
report-ended = Ended here
report-question = Question
report-asked = Asked
report-from-cache = From cache
report-failed = Failed
report-prompt-characters = Prompt characters
report-per-call = Per call
report-no-calls = No model was asked.
report-moments-title = When it would have spoken
report-in-all = { $n } in all.
report-in-all-shown = { $n } in all; { $shown } of them are shown, spread evenly over the log, and { $left } are left out.
report-filter = Filter the moments
report-outcome = Outcome
report-all = All
report-search = Search text, people, reasons
report-shown = { $shown } of { $all } shown
report-never = It would not have spoken once.
report-misses-note = Where it stayed silent with the most reason to speak.
report-misses-unscored = Where it stayed silent with the most reason to speak, or where the judge said no.
report-no-misses = It never stayed silent with any reason to speak.
report-footer = Made by aizuchi replay: the same engine that runs live, in the time of the log. All times are UTC.
report-per-1000 = { $rate } per 1000 messages
report-figure-of-all = { $share } of all
report-figure-messages = Messages
report-figure-in-log = in the log
report-figure-calls = Model calls per 1000
report-figure-calls-note = { $asked } asked, { $cached } from cache
report-figure-chars = Prompt characters per 1000
report-figure-chars-note = { $n } in all
report-figure-cost = Cost
report-figure-bad = Lines skipped
report-figure-bad-note = could not be read
report-stage-filter = Filter
report-stage-address = Address
report-stage-score = Score
report-stage-gate = Gate
report-stage-judge = Judge
report-stage-hold = Hold
report-stage-post = Post
report-stage-filter-doc = not considered: its own, another bot's, empty, late
report-stage-address-doc = settled by who was addressed
report-stage-score-doc = too little reason to speak
report-stage-gate-doc = a gate was closed, whatever the score
report-stage-judge-doc = the judge said no, or the talk moved on first
report-stage-hold-doc = it was ready to speak and the talk moved on
report-stage-post-doc = it came to speaking
report-question-state = What state is the conversation in?
report-question-same = Is it still the conversation it joined last?
report-question-changed = Has anything changed since?
report-question-judge = Should it join in?
report-question-join = State, change and joining in, all at once.
report-question-all = all
report-axis-time = time, UTC
report-axis-order = messages, in the order of the log
report-column-time = { $messages }, { $span } a column.
report-column-one = { $messages }, one a column.
report-column-many = { $messages }, up to { $each } a column.
report-scores-label = The score along the log, 0 to 100; the highest of all is { $top }.
report-acted-label = When it would have acted: { $actions }.
report-acted-never = When it would have acted: never.
report-talk-label = How many messages there were along the log, at most { $most } a column.
report-hint-message = message { $n }
report-hint-messages = messages { $first }–{ $last }
report-hint-score = score { $score }
report-hint-scores = score up to { $score }, { $average } on average
report-hint-bin = score { $range } · { $messages } messages · { $acted } acted on ({ $share })
report-spread-label = How many of { $messages } had which score, in steps of { $step }; { $acted } of them were acted on.
report-share-label = Of the messages with a score, the share it acted on, in percent.
report-threshold-low = low { $at }: silent up to here
report-threshold-high = high { $at }: speaks from here without asking
report-spending-cost-hour = Cost by hour
report-spending-cost-day = Cost by day
report-spending-cost-week = Cost by week
report-spending-cost-four-weeks = Cost by four weeks
report-spending-cost-part = Cost by part of the log
report-spending-calls-hour = Calls by hour
report-spending-calls-day = Calls by day
report-spending-calls-week = Calls by week
report-spending-calls-four-weeks = Calls by four weeks
report-spending-calls-part = Calls by part of the log
report-spending-label = { $title }, at most { $most }.
report-spending-part = part { $n } of { $all }
report-percent-under = under 0.1 %
report-percent-over = over 99.9 %
report-dollars-under = under $0.0001
report-action = { $n } { $action }
