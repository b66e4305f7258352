### Words around people's words in a prompt, and what stands in for a model that is not there.

## Names and notes in a frame

prompt-nameless = 名無し
prompt-mark-me = （あなた）
prompt-mark-bot = （ボット）
prompt-mark-imitator = （別人）
prompt-mark-role = （人）
prompt-left-out = [… これより前の{ $n }件は省略]
prompt-cut = ［…{ $n }文字省略…］
prompt-history =
    【介入履歴】
    - 最後の介入から { $minutes } 分経過
    - 30分以内の介入回数: { $count } 回
    - 最後の介入時の会話（参考）:
    { $excerpt }...
prompt-memory-channel = チャンネル
prompt-memory-person = 人
prompt-memory-pair = やりとり
prompt-memory-fact = 事実
prompt-pair-often = { $name }と{ $other }はよく言葉を交わす
prompt-pair-some = { $name }と{ $other }は時々言葉を交わす
prompt-pair-me-often = { $name }とあなたはよく言葉を交わす
prompt-pair-me-some = { $name }とあなたは時々言葉を交わす
prompt-pair-words = （{ $words }など）
channel-title = 【このチャンネルの状況】
channel-topics = 話題: { $topics }
channel-mood = 雰囲気: { $mood }
channel-active = 参加者: { $names }
channel-summary = 直近の流れ: { $summary }

## The built-in model

offline-nod-1 = うんうん
offline-nod-2 = なるほど
offline-nod-3 = そうだね
offline-answer = { $text }（オフライン：モデル未接続）
offline-example = { $text }（あらかじめ書いた回答例：モデル未接続）
offline-rule-ending = オフラインの規則：話が終わろうとしています
offline-rule-misunderstanding = オフラインの規則：誤解があるようです
offline-rule-conflict = オフラインの規則：言い争いになっています
offline-rule-question = オフラインの規則：みんなへの質問に、まだ誰も答えていません
offline-rule-nothing = オフラインの規則：答えを求める発言がありません
month-1 = 1月
month-2 = 2月
month-3 = 3月
month-4 = 4月
month-5 = 5月
month-6 = 6月
month-7 = 7月
month-8 = 8月
month-9 = 9月
month-10 = 10月
month-11 = 11月
month-12 = 12月
offline-told = { $month }に聞きました
offline-remembered = { $fact }（{ $told }）。
offline-remembered-former = 今は違います：{ $fact }（{ $told }）。
offline-here = ここにいます。
offline-misunderstanding = もしかすると、別々のことを話しているかもしれません。お互いに、もう一度別の言葉で言ってみませんか。
offline-conflict = 少し熱くなっているようです。いま、それぞれ何があると助かりますか。
offline-asked = { $name }さんの「{ $words }」に、まだ誰も答えていません。どなたかご存じですか。
offline-listening = { $name }さん、聞いています：「{ $words }」
offline-heard = { $name }さん、「{ $words }」と聞きました。モデルがないので考えることはできません。覚えているのは{ $count }件の発言です（{ $people }）。
offline-summary = { $names }が{ $topics }について話した（{ $count }件）。
