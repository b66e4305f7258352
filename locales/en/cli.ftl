### What the command line says of decisions. Its help and its errors are not here: they are in English.

## aizuchi why

why-score = score
why-likely = likely
why-gate = gate
why-asked = asked
why-acted = acted
why-cost = cost
why-no-score = none
why-others = { $n } others
why-gate-doc = { $gate }: { $doc }
why-tool = tool
why-tool-call = { $name } { $arguments }: { $ended } after { $span }
why-tool-approved = , approved by { $person }
why-tool-refused = , refused by { $person }
why-asked-cached = { $question } at { $time }, answered from memory
why-asked-failed = { $question } at { $time }, { $chars } characters shown, no answer
why-asked-shown = { $question } at { $time }, { $chars } characters shown
why-acted-after = { $time }, after { $span }
why-dollars = { $amount } dollars

## Tables

table-when = when
table-who = who
table-said = said
table-why = what it does, and why
table-before = before
table-after = after
table-more-report = … and { $n } more; --report shows them.
table-more-all = … and { $n } more; --all shows them.
table-differ = { $n } of { $all } outcomes differ
table-differ-how = { $n } of { $all } outcomes differ: { $how }
table-missing = { $n } messages have no stored decision to compare with
figures-head = { $n } messages, preset { $preset }, judge { $judge }
figures-acted = answers { $replies } ({ $replies_rate } in 1000) · a word { $words } ({ $words_rate }) · reactions { $reactions } ({ $reactions_rate }) · ignored { $ignored }
figures-asked = model asked { $calls } times ({ $calls_rate } in 1000), { $cached } answers used again, { $chars } characters, { $dollars } dollars
figures-memory = memory: { $summaries } summaries and { $reflections } reflections ({ $calls_rate } in 1000), { $chars } characters ({ $chars_rate } in 1000), { $failed } failed
figures-bad-lines = { $n } lines could not be read and were skipped

## aizuchi demo

demo-judge = a script of the sample
demo-next = Your own log: aizuchi replay LOG --report report.html    Every setting: aizuchi settings

## aizuchi replay --journal

journal-same = { $n } decisions compared with the stored ones: all the same
journal-differ = { $n } decisions compared with the stored ones: { $different } differ (other settings then, an older version, or records that are gone)
journal-change = { "  " }{ $id } in { $place }: { $before } → { $after }
journal-more = { "  " }… and { $n } more; --json lists them
journal-missing = { $n } decisions are not stored
journal-pending = { $n } messages had no decision yet when the journal ended
journal-opted-out = { $n } messages of people who opted out were skipped
journal-emptied = { $n } records are empty: their words were deleted, edited or to be forgotten
journal-reworded = { $n } decisions about edited messages were not compared: their first words are gone
journal-incomplete = { $n } decisions were not compared: messages or words of models are missing in their rooms
journal-begins = the journal begins with record { $n }; earlier records were removed
