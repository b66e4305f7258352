### The questions of `aizuchi init`, and what it writes beside each setting.

## Questions

init-name = 名前は？
init-language = 話す言葉は？ { $languages }、auto（会話に合わせる）
init-preset = どのようにふるまいますか？
init-models = どのモデルを使いますか？
init-at-start = 環境変数にキーがあるもの。なければ内蔵の簡単なモデル
init-number = 番号
init-number-or-model = 番号、または ollama/qwen3 のような プロバイダー/モデル
init-persona = どんな人柄で、どう話しますか？（自由に。空なら親しみやすく聞き上手な一員）
init-group = どんな人たちが、何を話す場ですか？（自由に。空でもよい）
init-address = ウェブルームの待ち受けは？ ホスト:ポート（- なら開かない）
init-talkative = 頼まれないときは、どのくらい話しますか？
init-not-empty = 名前が必要です
init-not-language = { $languages }、auto のどれかにしてください
init-not-number = 上の番号から選んでください
init-not-model = 上の番号か、anthropic/claude-haiku-4-5 のように書いてください
init-not-address = 127.0.0.1:4860 のように、または - と書いてください
init-preset-aizuchi = aizuchi：発言を見きわめ、間を待ち、モデルに一度だけ尋ねてから話す
init-preset-kotonoha = kotonoha：会話がこじれたときに入る。多くても10分に一度
init-preset-sphene = sphene：点数を足し合わせ、高ければ話す
init-preset-myao2 = myao2：数分の静けさを待ってから、話すかどうかを考える
init-interval-half-hour = めったに：多くても30分に一度
init-interval-five-minutes = ときどき：多くても5分に一度
init-interval-minute = よく：多くても1分に一度
init-interval-whenever = 理由があればいつでも
init-interval-usual = 上で選んだふるまいのとおりに

## What the file says

settings-head =
    aizuchi の設定。すべての設定とその説明は `aizuchi settings`、動くかどうかは `aizuchi doctor` で確かめられます。
    キーやトークンはここに書かず、環境変数に入れてください。
settings-preset = ふるまい："aizuchi"、"kotonoha"、"sphene"、"myao2"。
settings-name = 呼び名。
settings-aliases = ほかの呼び名。
settings-zone = 静かにする時間と予算の一日を決める、その土地の時刻。
settings-language = { $languages } のどれか、または "auto"（会話に合わせる）。
settings-persona = 人柄と話し方。"" なら親しみやすく聞き上手な一員。
settings-group = どんな人たちが、何を話す場か。
settings-everywhere = 聞くチャンネル。"*" はすべて。
settings-unasked = 呼ばれなくても話すかどうか。
settings-interval = 頼まれずに話す間隔の最小値（秒）。大きいほど静か。
settings-memory = 会話を覚えるかどうか。覚えなければ、呼ばれたときだけ答える。
settings-at-start =
    環境変数に { $keys } のどれかがあればそれを、なければ内蔵のモデルを使います。
    自分で選ぶなら プロバイダー/モデル と書きます：
settings-main = 返事を書くモデル。
settings-judge = 話すかどうかを判断するモデル。短い質問が多いので小さいものでよい。
settings-key = キーは環境変数から読みます：
settings-web = ウェブルームを開くかどうか。
settings-address = 待ち受けるアドレス。この機械の外から見えるならトークンが必要です。
settings-token = トークンは環境変数 AIZUCHI__WEB__TOKEN から読みます。ルームを開く人はこれを知っている必要があります。

## What to do next

init-written = { $path } を書きました。次に：
init-next-doctor = 動くかどうかを確かめる
init-next-run = 始める
