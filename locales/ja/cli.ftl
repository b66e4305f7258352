### What the command line says of decisions. Its help and its errors are not here: they are in English.

## aizuchi why

why-score = スコア
why-likely = 見込み
why-gate = ゲート
why-asked = 質問
why-acted = 行動
why-cost = 費用
why-no-score = なし
why-others = ほか{ $n }件
why-gate-doc = { $gate }：{ $doc }
why-tool = 道具
why-tool-call = { $name } { $arguments }：{ $span }後に { $ended }
why-tool-approved = 、{ $person } が許可
why-tool-refused = 、{ $person } が拒否
why-asked-cached = { $question }（{ $time }、記憶していた答え）
why-asked-failed = { $question }（{ $time }、{ $chars }文字を見せた、答えなし）
why-asked-shown = { $question }（{ $time }、{ $chars }文字を見せた）
why-acted-after = { $time }（{ $span }後）
why-dollars = { $amount } ドル

## Tables

table-when = 日時
table-who = 発言者
table-said = 発言
table-why = 判断と理由
table-before = 前
table-after = 後
table-more-report = …ほか{ $n }件は --report で見られます。
table-more-all = …ほか{ $n }件は --all で見られます。
table-differ = { $all }件のうち{ $n }件の結果が異なります
table-differ-how = { $all }件のうち{ $n }件の結果が異なります：{ $how }
table-missing = { $n }件には、比べる判断の記録がありません
figures-head = 発言 { $n } 件、プリセット { $preset }、判定 { $judge }
figures-acted = 返事 { $replies }（1000件に{ $replies_rate }）· ひとこと { $words }（{ $words_rate }）· リアクション { $reactions }（{ $reactions_rate }）· 対象外 { $ignored }
figures-asked = モデルへの質問 { $calls } 回（1000件に{ $calls_rate }）、再利用した答え { $cached }、{ $chars } 文字、{ $dollars } ドル
figures-memory = 記憶：要約 { $summaries }、振り返り { $reflections }（1000件に{ $calls_rate }）、{ $chars } 文字（1000件に{ $chars_rate }）、失敗 { $failed }
figures-bad-lines = { $n }行は読めなかったので飛ばしました

## aizuchi demo

demo-judge = サンプルの台本
demo-next = 自分のログで試す：aizuchi replay LOG --report report.html    すべての設定：aizuchi settings

## aizuchi replay --journal

journal-same = { $n }件の判断を記録と比べました：すべて同じです
journal-differ = { $n }件の判断を記録と比べました：{ $different }件が異なります（設定の違い、古いバージョン、または失われた記録）
journal-change = { "  " }{ $place } の { $id }：{ $before } → { $after }
journal-more = { "  " }…ほか{ $n }件は --json で見られます
journal-missing = { $n }件の判断は保存されていません
journal-pending = ジャーナルの終わりまでに決まらなかった発言が{ $n }件あります
journal-opted-out = 記憶を断った人の発言{ $n }件は飛ばしました
journal-emptied = 削除・編集されたか、忘れるよう頼まれたため空になった記録が{ $n }件あります
journal-reworded = 編集されて元の文が残っていない発言への判断{ $n }件は比べていません
journal-incomplete = 発言やモデルの言葉が残っていない部屋の判断{ $n }件は比べていません
journal-begins = ジャーナルは記録 { $n } から始まります。それより前に知っていたことはわかりません
