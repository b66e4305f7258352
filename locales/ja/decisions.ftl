### Decisions in words: what it did, why, and what that was weighed by. The web room and the program share them.

## Parts of sentences

list-separator = 、
percent =
    { $n ->
        [0] <1 %
       *[other] { $n } %
    }
span-seconds = { $seconds }秒
span-minutes = { $minutes }分
span-minutes-seconds = { $minutes }分{ $seconds }秒
span-hours = { $hours }時間
span-hours-minutes = { $hours }時間{ $minutes }分

## What it did

decision = { $outcome }：{ $why }
outcome-ignored = 対象外
outcome-silent = 黙っていた
outcome-reacts = リアクション
outcome-acknowledges = ひとこと
outcome-replies = 答えた

## Why a message was passed over before anything was thought about it

unheard-itself = 自分の発言です。
unheard-empty = 空のメッセージです。
unheard-direct = ダイレクトメッセージは無効です。
unheard-channel-off = ここでは聞いていません。
unheard-other-bot = ほかのボットの発言です。
unheard-bot-not-answered = ほかのボットの発言です。聞きましたが、答えません。
unheard-repeated = すでに聞いた発言です。
unheard-late = 遅れて届いた発言です。覚えましたが、答えません。
unheard-too-late = { $late }遅れて届いた発言です（{ $limit }まで）。覚えましたが、答えません。
unheard-too-late-away = 聞ける{ $late }前の発言です（答えるのは{ $limit }まで）。覚えましたが、答えません。
unheard-missed = 聞ける{ $late }前の発言です。覚えましたが、答えません。

## What decided

cause-mention = { $author }さんにメンションされました。
cause-name = { $author }さんに名前を呼ばれました。
cause-reply = { $author }さんから返信がありました。
cause-turn = 参加している会話で{ $author }さんが話を続けました。
cause-thanked = { $author }さんがお礼を言いました。リアクションだけで足ります。
cause-told-to-be-quiet = { $author }さんに静かにと言われ、{ $span }のあいだ黙ります。
cause-told-to-be-quiet-open = { $author }さんに静かにと言われ、話してよいと言われるまで黙ります。
cause-unlikely = 話す理由が足りません。
cause-likely = 判定するまでもなく、十分な理由があります。
cause-low = 話す理由が足りません（{ $low }点以下）。
cause-high = 判定するまでもなく、十分な理由があります（{ $high }点以上）。
cause-over-threshold = 十分な理由があります（{ $threshold }点以上）。
cause-under-threshold = 話す理由が足りません（{ $threshold }点未満）。
cause-gate = { $gate }。
cause-held-back = 控えました。
cause-ending = 会話が終わろうとしています。
cause-unchanged = 前に話してから何も変わっていません。
cause-no = 判定役は「いいえ」と言いました。
cause-no-because = 判定役は「いいえ」と言いました：{ $reason }
cause-yes =
    { $state ->
        [ending] 判定役は「はい」と言いました（終わりかけの会話）。
        [misunderstanding] 判定役は「はい」と言いました（すれ違い）。
        [conflict] 判定役は「はい」と言いました（対立）。
       *[active] 判定役は「はい」と言いました。
    }
cause-yes-because =
    { $state ->
        [ending] 判定役は「はい」と言いました（終わりかけの会話）：{ $reason }
        [misunderstanding] 判定役は「はい」と言いました（すれ違い）：{ $reason }
        [conflict] 判定役は「はい」と言いました（対立）：{ $reason }
       *[active] 判定役は「はい」と言いました：{ $reason }
    }
cause-yes-wait =
    { $state ->
        [ending] 判定役は「はい、{ $delay }待って」と言いました（終わりかけの会話）。
        [misunderstanding] 判定役は「はい、{ $delay }待って」と言いました（すれ違い）。
        [conflict] 判定役は「はい、{ $delay }待って」と言いました（対立）。
       *[active] 判定役は「はい、{ $delay }待って」と言いました。
    }
cause-yes-wait-because =
    { $state ->
        [ending] 判定役は「はい、{ $delay }待って」と言いました（終わりかけの会話）：{ $reason }
        [misunderstanding] 判定役は「はい、{ $delay }待って」と言いました（すれ違い）：{ $reason }
        [conflict] 判定役は「はい、{ $delay }待って」と言いました（対立）：{ $reason }
       *[active] 判定役は「はい、{ $delay }待って」と言いました：{ $reason }
    }
cause-judge-failed = 判定役から使える答えがありませんでした（{ $what }）。
cause-failed = 書くこと、または投稿ができませんでした（{ $what }）。
cause-scheduled = 予定「{ $name }」の時刻になりました。
cause-excused = { $author }さんに聞かれましたが、答えられないとお詫びしました（{ $what }）。
cause-cancelled = 先に話した人がいます（{ $by }）。
cause-superseded = 直後の { $by } のほうが話す理由として適しています。
cause-part-of = { $by } をめぐる会話の一部で、そちらのほうが話す理由として適しています。
cause-answered-by = ほかの人が答えました（{ $by }）。
cause-answered-instead = { $by } で呼びかけられ、そちらに答えます。
cause-too-many = いちどに呼びかけた人が多すぎたので、まとめてそう伝えました。
cause-deleted = 発言が削除されました。
cause-forgotten = このルームの会話を忘れるように言われました。
cause-stale = 起動したときには{ $overdue }過ぎていました。
cause-nothing-to-say = 言うことが見つかりませんでした。
cause-repeated = ほとんど同じことをもう一度言うところでした。
cause-undecided = まだ決まっていません。

## What was made of words about it

heard-name-in-passing = 名前は話の中に出ただけで、呼ばれたのではありません。
heard-name-unclear = 名前で呼ばれたのかどうか、はっきりしません。
heard-talk-again = { $author }さんに話してよいと言われ、ミュートを解除しました。

## What it was weighed by

score-none = スコア { $score }。
score-given = スコア { $score }（{ $given }）。
score-points = { $rule } { $points }
likelihood = { $chance }。
likelihood-compared = { $chance }。{ $needs }。
likelihood-changed = { $chance }。{ $change }。{ $needs }。
chance-turn = この会話で自分の番である見込みは{ $p }
chance = 新しい人がここで加わる見込みは{ $p }
chance-because = 新しい人がここで加わる見込みは{ $p }（{ $reasons }）
change-call = みんなに尋ねているので{ $p }に引き上げ
change-raised = 助けを求めているかキーワードを含むので{ $p }に引き上げ
change-lowered = 助けを求めているかキーワードを含むので{ $p }に引き下げ
needs = 必要なのは{ $p }
needs-more = 必要なのは{ $p }（最近あまり歓迎されていないので、いつもより高め）
needs-less = 必要なのは{ $p }（最近歓迎されているので、いつもより低め）
answered-with = { $other } への投稿が、これにも答えています。

used-tools = { $tools } を使いました。
posts-all = { $of }件に分けて投稿しました。
posts-muted = { $of }件のうち{ $posted }件を投稿し、静かにするよう言われたので残りはやめました。
posts-deleted = { $of }件のうち{ $posted }件を投稿し、質問または投稿が削除されたので残りはやめました。
posts-forgotten = { $of }件のうち{ $posted }件を投稿し、会話を忘れることになったので残りはやめました。
posts-overdue = { $of }件のうち{ $posted }件を投稿し、再起動のあと古くなりすぎていたので残りはやめました。
posts-failed = { $of }件のうち{ $posted }件を投稿し、次は投稿できませんでした（{ $what }）。

## What people made of it

received-thanked = お礼を言われました。
received-answered = 返事がありました。
received-reacted = リアクションが付きました。
received-ignored = 反応はありませんでした。
received-told-off = 注意されました。
received-deleted = 削除されました。

## What spoke for joining, or against it

because-calls_everybody = みんなに呼びかけている
because-asks = 質問している
because-author_asked = 少し前に質問した人の発言
because-asks_nothing = 質問ではない
because-starts = 新しい話を始めている
because-unanswered = まだ誰も答えていない
because-has_company = もう相手がいる
because-starts_nothing = 話の続き
because-to_nobody = 誰にもあてていない
because-to_somebody = 特定の人にあてている
because-answers_somebody = 誰かへの返事
because-author_new = はじめて話す人
because-author_quiet = まだあまり話していない人
because-author_draws = よく返事をもらう人
because-author_present = すでに話している人
because-words_draw = 人が加わりやすい言葉
because-words_draw_nobody = 人が加わりにくい言葉
because-long = 詳しく書いている
because-brief = 短い
because-little = 短い
because-repeats = 同じ人が繰り返している
because-takes_up = ほかの人の話を受けている
because-greets = あいさつ
because-closes = お礼や別れのあいさつ
because-laughs = 笑いや相づち
because-jokes = 冗談まじり
because-parent_open = もとの話がまだ片づいていない
because-parent_answered = もとの話には相手がいる
because-outsiders = 加われる人がいる
because-busy = ほかの話で忙しい

## Rules, by their ids: a short name, and what they notice

rule-mention = 呼びかけ
    .doc = メンションされた
rule-name = 名前
    .doc = 名前を呼ばれた
rule-reply = 返信
    .doc = 返信された
rule-engaged = 会話中
    .doc = 少し前にここで答えた
rule-question = 質問
    .doc = 疑問符で終わる
rule-keyword = キーワード
    .doc = キーワードを含む
rule-calls_for_help = 助けを求める
    .doc = 助けを求めるか、みんなに呼びかけている
rule-two_people = 二人の会話
    .doc = ちょうど二人で話している
rule-not_mentioned = 名前が出ない
    .doc = 最近だれも名前を出していない
rule-turn = 自分の番
    .doc = 参加している会話で、たぶん自分の番
rule-high_frequency = 速い会話
    .doc = 発言が次々に続いている
rule-its_topic = 得意な話題
    .doc = キーワードが最近出た
rule-after_silence = 沈黙のあと
    .doc = 長い沈黙のあとの最初の発言
rule-fading = 先細り
    .doc = 発言がだんだん短くなっている
rule-cooldown = 話した直後
    .doc = ついさっき話した
rule-filler = 相づち
    .doc = 何も求めていない笑いや相づち
rule-closing = 締めの言葉
    .doc = お礼、別れのあいさつ、話の終わり

## Gates, by their ids: a short name, what they are for, and what is said of one that is closed

gate-mute = ミュート
    .doc = ここでは話さないように言われている
    .closed = ここではミュートされています
gate-quiet_hours = 静かな時間
    .doc = 話さない時間帯。呼ばれたときに答えてよければ、そのときだけ答える
    .closed = 静かにしておく時間帯です
gate-unasked = 呼ばれたときだけ
    .doc = 呼ばれたときだけ答える
    .closed = 呼ばれたときだけ答えます
gate-loop_guard = ボット同士の往復
    .doc = ほかのボットとのやりとりが十分に続いた
    .closed = ボットに続けて{ $have }回答えました。{ $need }回で十分です
gate-messages_min = 発言が少ない
    .doc = 判断する前に、いくつかの発言を聞いている必要がある
    .closed = 判断に必要な{ $need }件のうち、まだ{ $have }件しか聞いていません
gate-on_its_way = 投稿の途中
    .doc = 自分の投稿がまだ途中
    .closed = 自分の投稿がまだ途中です
gate-interval = 間隔
    .doc = 頼まれずに話すときの、最小の間隔
    .closed = { $have_time }前に話したばかりで、{ $need_time }は間をあけます
gate-talk = 話す割合
    .doc = `talk` で決められた割合だけ話した。二つの発言の最小の間隔もこれで決まる
    .closed = 決められた割合だけ話したので、あと{ $need }件は様子を見ます
gate-addressed_elsewhere = ほかの人あて
    .doc = ほかの人にあてた発言
    .closed = ほかの人にあてた発言です
gate-bot_answered = ほかのボットが回答
    .doc = すでにほかのボットが答えた
    .closed = すでにほかのボットが答えました
gate-spoke_last = 最後に話したのは自分
    .doc = その場の最後の発言が自分のもの
    .closed = 最後に話したのは自分です
gate-floor_share = 発言の割合
    .doc = 会話に占める割合が一人分を超えている
    .closed = 会話の{ $have } %が自分の発言で、持ち分は{ $need } %です
gate-user_limit = 一人あたりの上限
    .doc = 同じ人に1時間に答える回数には上限がある
    .closed = この人には、これから出す分も含めて1時間に{ $have }回答えました（上限{ $need }回）
gate-budget = 予算
    .doc = このルーム、またはすべてのルームの今日の予算を使い切った
    .closed = 今日の予算を使い切りました（{ $need }のうち{ $have }）
