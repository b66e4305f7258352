### What this language is called, and how it is recognised.

language-name = 日本語
language-letters = ぁ-ヿ㐀-鿿ｦ-ﾟ
language-tag = ja-JP
language-switch = 日本語にする
