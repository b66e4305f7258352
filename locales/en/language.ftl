### What this language is called, and how it is recognised.

language-name = English
# Letters by which a text is recognised as written in it, as in [a-z]: those that no other language here has.
# English is what remains.
language-letters = { "" }
# How times and numbers are written in a browser, as a BCP 47 tag.
language-tag = en-GB
# What a button says that turns a page into this language.
language-switch = Switch to English
