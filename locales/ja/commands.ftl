### Slash commands and what they answer.

command-mute = しばらく、または解除するまで黙る
    .alias = ミュート
    .argument = 2h、30m など。省略すると無期限
    .example = mute 2h
    .manual = 二時間黙る。呼ばれても答えない。`30m`、`90s`、`1h30m`、`2時間` とも書ける。時間を省くと `/unmute` まで
    .done = { $span }黙ります。{ $unmute } で解除できます。
    .done-open = { $unmute } まで黙ります。
command-unmute = また参加する
    .alias = ミュート解除
    .example = unmute
    .manual = また参加する
    .done = また参加します。
command-why = 直前の（またはその id の）発言への判断の理由
    .alias = 理由
    .argument = メッセージのID。省略すると最新
    .example = why
    .manual = 最後に判断した発言について、話した（黙った）理由。`/why w12` ならその発言について
    .none = それについての判断はまだありません。
    .asked = { $question }: { $answer }
    .asked-cached = { $question }（記憶から）: { $answer }
    .cost = 費用: { $dollars }
command-status = いまの状態と今日の費用
    .alias = 状態
    .example = status
    .manual = いまの状態、今日の費用（このルームと全ルーム）、推定の価格
command-talk = 発言のおよそこの割合で口をはさむ（省略すると設定どおり）
    .alias = 頻度
    .argument = 3% など。省略すると設定どおり
    .example = talk 3%
    .manual = 発言のおよそ 3 % で口をはさむ。数字を省くと設定どおり
    .done = 発言のおよそ { $share } で口をはさみます。
    .done-usual = 設定どおりに話します。
command-channel = ここで聞く、聞かない
    .alias = チャンネル
    .argument = on か off
    .example = channel off
    .manual = このルームでは聞かない。`/channel on` で戻る
    .on = ここで聞きます。
    .off = ここではもう聞きません。
command-preset = ここでのふるまい
    .alias = プリセット
    .argument = プリセット名
    .example = preset sphene
    .manual = このルームだけ別のふるまいにする
    .done = ここでは { $preset } としてふるまいます。
command-reminders = 決めた時刻にここで言うこと。番号を付けると取り消す
    .alias = リマインダー
    .argument = 取り消すリマインダーの番号
    .example = reminders 3
    .manual = このルームのリマインダーと予定を表示する。番号を付けると取り消す
    .none = ここにリマインダーはありません。覚えておいてほしいことを言ってください。
    .line = #{ $number } { $due }：{ $text }（{ $by }）
    .how = 取り消すには：{ $cancel }
    .done = リマインダー #{ $number } を取り消しました。
    .unknown = リマインダー #{ $number } はここにありません。
    .scheduled = それは設定で決められた予定です。ボットの運営者が設定で変更します。
    .not-yours = 頼んだ人か、このチャンネルを管理する人だけが取り消せます。
command-reset = このルームの会話を忘れる
    .alias = リセット
    .example = reset
    .manual = このルームの会話を忘れる
    .done = このルームの会話を忘れました。
command-close-room = このルームを全員に対して閉じ、発言をすべて削除する
    .alias = 閉じる
    .argument = このルームの名前。省略すると説明だけ
    .example = close-room 庭
    .manual = このルームを全員に対して閉じ、発言をすべて削除する。名前を省くと、何が起きるかを説明するだけ
    .sure = #{ $room } を全員に対して閉じ、発言をすべて削除します。実行するには：/close-room { $room }
command-what-do-you-know = あなたについて保存しているもの（あなたにだけ見えます）
    .alias = 何を知ってる
    .example = what-do-you-know
    .manual = あなたについて保存しているもの：発言と判断の数、覚えている話題・メモ・事実
command-export-me = あなたについて保存していることすべて。発言も含む（JSON）
    .alias = 書き出し
    .example = export-me
    .manual = あなたについて保存していることすべて（JSON）：覚えていること、ほかの人があなたについて言ったこと、あなたの発言
command-forget-me = あなたの発言と、あなたについて知っていることをすべて忘れる（名前は聞かれたときだけ）
    .alias = 忘れて
    .argument = 確認された自分の名前。例：Bo, Rina
    .example = forget-me
    .manual = あなたを忘れる。発言、あなたについて知っていること、それをもとにしたこと、それを繰り返した返事を、完全に。名前について聞かれたら `/forget-me Bo`
command-opt-out = これからあなたのことを覚えない
    .alias = 覚えないで
    .example = opt-out
    .manual = これからあなたのことを覚えない。`/opt-in` で戻る
    .done = これからはあなたのことを覚えません。知っていたことも消しました。その場の会話は聞こえています。
    .noted = これからはあなたのことを覚えません。知っていたことは、記憶につながらないため、まだ消せていません。つながりしだい、再起動のあとでも、ひとりでに消します。
command-opt-in = またあなたのことを覚える
    .alias = 覚えて
    .example = opt-in
    .manual = またあなたのことを覚える
    .done = またあなたのことを覚えます。
command-help = この一覧
    .alias = ヘルプ
    .example = help
    .manual = この一覧

## What more than one command answers

command-all = aizuchiへの指示。答えはあなたにだけ見えます
command-unknown = { $command } というコマンドはありません。
command-wrong-argument = 使い方：{ $usage }
command-no-memory = ここでは長くは何も覚えていません。
command-for-managers = この操作は管理権限のある人だけができます。
command-stopping = aizuchi を停止しています。
command-failed = うまくいきませんでした。もう一度お試しください。
command-queued = 今サーバーは何も保存できません。保存できるようになり次第、実行します。
command-memory-away = いまは記憶につながりません。あとでもう一度試してください。
command-line = { $usage } – { $help }
argument-room = 名前
argument-names = 名前、…
cost = { $calls } 回、{ $tokens } トークン、{ $money }
cost-limited = { $have }／{ $most }

## /status

status-line = { $name }: { $value }
status-listening = 聞いている
status-muted = ミュート
status-pending = 保留中
status-spent = 今日の費用
status-spent-all = 今日の費用（全ルーム）
status-price = 推定価格
status-model = モデル
status-judge = 判定
status-preset = プリセット
status-clock = 時計
status-yes = はい
status-no = いいえ
status-nothing = なし
status-offline = { $model }（オフライン）
status-local-server = { $model }（キー未設定のため { $address } の { $server } を使用）
status-counts-as = { $model } の価格は未登録です。100 万トークンあたり入力 ${ $input }・出力 ${ $output } として数えます
status-clock-back = { $ago }前に{ $by }戻されました
status-clock-forward = { $ago }前に{ $by }進められました
status-muted-open = { $unmute } まで
status-muted-until = あと{ $left }
status-doing = { $message } ({ $doing })
status-doing-until = { $message } ({ $doing }、あと{ $left })
doing-waiting = 静かになるのを待っています
doing-judging = 判定中
doing-holding = 返事を控えています
doing-writing = 書いています
doing-posting = 投稿中

## /what-do-you-know

known-none = あなたの発言は保存していません。
known-messages = 保存しているあなたの発言：{ $since } 以降の { $messages } 件、{ $rooms } ルーム
known-more-rooms = ほか { $more } ルーム
known-rest =
    リアクション：{ $reactions } 件。あなたの発言への判断：{ $decisions } 件。
    それに伴うあなたの名前、編集の内容、aizuchi の返事も保存しています。静かなルームの最後の数件は、ほかより長く残ることがあります。
# Said to somebody who asked it to forget something; without the words that are to be forgotten.
forgotten-topic = その件であなたが言ったことを忘れました（発言 { $messages } 件、事実 { $facts } 件）。書いた場所では、ほかの人にはまだ見えます。
forgotten-topic-nothing = それについて言われたことは見つかりませんでした。何のことか、一言か二言で言ってもらえれば、もう一度探します。
forgotten-topic-failed = いまは忘れられませんでした。もう一度言ってください。
remembered-opted-out = あなたのことは覚えない設定です（{ $opt_in } で解除）。
remembered-messages = 覚えていること：発言 { $count } 件、うち呼びかけ { $mentions } 件。
remembered-more-facts = ほか { $more } 件の事実
remembered-ties = あなたが答えた相手、あなたに答えた相手：
remembered-tie = { $with }：あなたから { $answered } 回、相手から { $was } 回
remembered-more-ties = ほか { $more } 人
remembered-by-others = ほかの人があなたについて言ったこと：
remembered-channels = あなたの名前か参加が載っている部屋の要約：
remembered-perhaps = 「{ $name }」の名前で、あなたのことかもしれないもの（あなたの名前なら { $again }）：
remembered-perhaps-elsewhere = ほかに、あなたが読まない部屋に { $n } 件
remembered-elsewhere = ほかに、あなたが読まない部屋に { $n } 件あります。
remembered-nothing = 長く覚えていることはありません。
remembered-end = { $forget_me } ですべて忘れます。あなたのことかもしれないだけのものは、聞きます。

## /forget-me

forgotten-done = あなたのことを忘れました。あなたの発言、あなたについて知っていたこと、それをもとにしたことは残っていません。これからの発言はまた聞こえます。覚えてほしくなければ { $opt_out } を使ってください。
forgotten-still-read = もう少しで終わります。あなたに関するものはすべて削除しましたが、ほかのもの（バックアップなど）がファイルを読んでいる間は、古いページが残ります。読み終わりしだい、再起動のあとでも、ひとりでに消えます。
forgotten-interrupted = 忘れてほしいという希望は記録しましたが、いまは最後までできませんでした。再起動のあとでも、ひとりでに続けます。
forgotten-doubtful = 次の名前で話したことや覚えていることは、ほかの人のことかもしれないので残しました：{ $names }。それも消すには（ほかの人の名前やふつうの言葉でもあるなら、あなたがその場にいた話だけ）、1 時間以内に { $again }
forgotten-name-other = 「{ $name }」（{ $other } かもしれません）
forgotten-name-word = 「{ $name }」（ふつうの言葉かもしれません）
forgotten-name-before = 「{ $name }」（あなたが来る前から使われていた言葉）
forgotten-name-part = 「{ $name }」（あなたの名前の一部）
forgotten-name-untied = 「{ $name }」（ほかの人や物のことかもしれません）
forgotten-shared = 次の名前はほかの人の名前やふつうの言葉でもあるか、あなたが来る前から使われていたので、その名前だけで話されたことは残しました：{ $names }
forgotten-not-your-name = 「{ $name }」はあなたの名前として知られていません。何も消していません。

## Where it was addressed and has no answer

reminder-post = ⏰ { $text }
reminder-post-for = ⏰ { $name }さん：{ $text }
reminder-late = （遅くなりました。予定は { $due } でした）
approval-question = { $tool } を `{ $arguments }` で使ってもいいですか？ { $yes } で許可、{ $no } で拒否します（{ $minutes }分以内）。
excuse-no-words = ごめんなさい、いまうまく言葉が出てきません。少ししてからもう一度声をかけてください。
excuse-too-many = いちどにたくさん声をかけてもらったので、全員にはお返事できませんでした。まだ必要なら、もう一度声をかけてください。
excuse-budget-spent = ごめんなさい、今日の分のおしゃべりは使い切ってしまいました。また明日話しかけてください。
