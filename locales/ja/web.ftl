### What the web room says by itself.

refusal-no-such-message = その発言はこの部屋にありません。
refusal-no-such-thread = そのスレッドはこの部屋にありません。
refusal-not-yours = 変更できるのは自分の発言だけです。
refusal-deleted = その発言は削除されています。
refusal-room-closed = このルームは閉じられました。
refusal-not-your-room = このルームを閉じられるのは、開いた人だけです。
refusal-too-many-reactions = これ以上リアクションを付けられません。

trouble-too-long = メッセージが長すぎます（{ $most } 文字まで）。
trouble-too-big = 大きすぎて読めませんでした（一度に { $most } バイトまで）。
trouble-not-understood = ページを再読み込みしてください。
trouble-not-entered = 先に部屋に入ってください。
trouble-bad-name = 名前は目に見える 1〜40 文字にしてください。
trouble-name-taken = ボットの名前に見えます。別の名前にしてください。
trouble-bad-room = 部屋の名前は 1〜40 文字の文字・数字・ハイフン・下線です。
trouble-too-many-rooms = これ以上部屋を作れません。
trouble-too-many-rooms-opened = この一時間に開かれたルームが多すぎます。しばらくしてからお試しください。
trouble-too-many-people = この一時間に同じアドレスから入った人が多すぎます。
trouble-too-many-connections = 同じアドレスからの接続が多すぎます。
trouble-other-room = そのルームには入っていません。
trouble-room-of-settings = このルームは設定（web.rooms）にあるため、ここでは閉じられません。
trouble-empty = メッセージが空です。
trouble-bad-key = キーは 1〜100 文字です。
trouble-bad-emoji = それは絵文字ではありません。
trouble-no-such-sample = サンプルがある言語：{ $languages }
trouble-too-many-samples = 再生中のサンプルが多すぎます。少し待ってください。
trouble-store = 保存できませんでした。もう一度お試しください（原因はサーバーのログにあります）。
