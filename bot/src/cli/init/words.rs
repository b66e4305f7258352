//! The words of the questions and of the file, in English and Japanese.

use std::fmt::Write as _;

use super::answers::Answers;
use crate::language::Language;

pub struct Words {
    pub name: &'static str,
    pub language: &'static str,
    pub preset: &'static str,
    pub presets: [&'static str; 4],
    pub models: &'static str,
    pub at_start: &'static str,
    pub number: &'static str,
    pub number_or_model: &'static str,
    pub persona: &'static str,
    pub group: &'static str,
    pub address: &'static str,
    pub talkative: &'static str,
    pub intervals: [&'static str; 5],
    pub not_empty: &'static str,
    pub not_language: &'static str,
    pub not_number: &'static str,
    pub not_model: &'static str,
    pub not_address: &'static str,
    pub file: Sentences,
}

/// What the file says beside each setting.
pub struct Sentences {
    pub head: &'static str,
    pub preset: &'static str,
    pub name: &'static str,
    pub zone: &'static str,
    pub language: &'static str,
    pub persona: &'static str,
    pub group: &'static str,
    pub everywhere: &'static str,
    pub unasked: &'static str,
    pub interval: &'static str,
    pub memory: &'static str,
    pub at_start: &'static str,
    pub main: &'static str,
    pub judge: &'static str,
    pub key: &'static str,
    pub web: &'static str,
    pub address: &'static str,
    pub token: &'static str,
}

impl Words {
    pub fn of(language: Language) -> &'static Words {
        match language {
            Language::English => &ENGLISH,
            Language::Japanese => &JAPANESE,
        }
    }
}

const ENGLISH: Words = Words {
    name: "What is it called?",
    language: "Which language does it speak: en, ja, or auto (as the talk is)?",
    preset: "How should it behave?",
    presets: [
        "aizuchi: weighs what is said, waits for a pause and asks a model once before it speaks",
        "kotonoha: steps in where a talk goes wrong, at most every ten minutes",
        "sphene: adds up points, and speaks when they are many",
        "myao2: waits for minutes of quiet before it thinks of speaking",
    ],
    models: "Who thinks for it?",
    at_start: "the provider whose key is in the environment; without a key the modest built-in model",
    number: "Number",
    number_or_model: "Number, or provider/model such as ollama/qwen3",
    persona: "Who is it, and how does it speak? In your own words; empty is a friendly, attentive member",
    group: "Who are the people, and what do they talk about? In your own words; may be empty",
    address: "Where does the web room listen? host:port; - is no web room",
    talkative: "How talkative is it, when nobody asked?",
    intervals: [
        "rarely: at most every half hour",
        "now and then: at most every five minutes",
        "often: at most every minute",
        "whenever it finds a reason",
        "as is usual for the manners chosen above",
    ],
    not_empty: "it needs a name",
    not_language: "expected en, ja or auto",
    not_number: "expected one of the numbers above",
    not_model: "expected one of the numbers above, or such as anthropic/claude-haiku-4-5",
    not_address: "expected such as 127.0.0.1:4860, or -",
    file: Sentences {
        head: "Settings of aizuchi. `aizuchi settings` prints every setting with its default and a sentence;\n`aizuchi doctor` checks whether all is well. Keys and tokens do not belong here: they come from the environment.",
        preset: "Whose manners it has: \"aizuchi\", \"kotonoha\", \"sphene\" or \"myao2\".",
        name: "The name people call it by.",
        zone: "Local time for quiet hours and for the day of a budget.",
        language: "\"en\", \"ja\", or \"auto\" (as the talk is).",
        persona: "Who it is and how it speaks; \"\" is a friendly, attentive member of the group.",
        group: "Who the people are and what they talk about.",
        everywhere: "Channels it listens to; \"*\" is all.",
        unasked: "Whether it ever speaks without being addressed.",
        interval: "Least time in seconds between two contributions nobody asked for: more is quieter.",
        memory: "Whether it remembers the talk at all; without it, it only answers when addressed.",
        at_start: "With ANTHROPIC_API_KEY, GEMINI_API_KEY or OPENAI_API_KEY in the environment that provider is asked, without a key\nthe built-in model. To choose yourself, as provider/model:",
        main: "Writes the answers.",
        judge: "Judges whether to speak: many short questions, so a small model.",
        key: "The key is read from the environment:",
        web: "Whether the web room is open.",
        address: "Where it listens. Anything but this machine needs a token.",
        token: "The token is read from the environment: AIZUCHI__WEB__TOKEN. Whoever opens the room must know it.",
    },
};

const JAPANESE: Words = Words {
    name: "名前は？",
    language: "話す言葉は？ en、ja、auto（会話に合わせる）",
    preset: "どのようにふるまいますか？",
    presets: [
        "aizuchi：発言を見きわめ、間を待ち、モデルに一度だけ尋ねてから話す",
        "kotonoha：会話がこじれたときに入る。多くても10分に一度",
        "sphene：点数を足し合わせ、高ければ話す",
        "myao2：数分の静けさを待ってから、話すかどうかを考える",
    ],
    models: "どのモデルを使いますか？",
    at_start: "環境変数にキーがあるもの。なければ内蔵の簡単なモデル",
    number: "番号",
    number_or_model: "番号、または ollama/qwen3 のような プロバイダー/モデル",
    persona: "どんな人柄で、どう話しますか？（自由に。空なら親しみやすく聞き上手な一員）",
    group: "どんな人たちが、何を話す場ですか？（自由に。空でもよい）",
    address: "ウェブルームの待ち受けは？ ホスト:ポート（- なら開かない）",
    talkative: "頼まれないときは、どのくらい話しますか？",
    intervals: [
        "めったに：多くても30分に一度",
        "ときどき：多くても5分に一度",
        "よく：多くても1分に一度",
        "理由があればいつでも",
        "上で選んだふるまいのとおりに",
    ],
    not_empty: "名前が必要です",
    not_language: "en、ja、auto のどれかにしてください",
    not_number: "上の番号から選んでください",
    not_model: "上の番号か、anthropic/claude-haiku-4-5 のように書いてください",
    not_address: "127.0.0.1:4860 のように、または - と書いてください",
    file: Sentences {
        head: "aizuchi の設定。すべての設定とその説明は `aizuchi settings`、動くかどうかは `aizuchi doctor` で確かめられます。\nキーやトークンはここに書かず、環境変数に入れてください。",
        preset: "ふるまい：\"aizuchi\"、\"kotonoha\"、\"sphene\"、\"myao2\"。",
        name: "呼び名。",
        zone: "静かにする時間と予算の一日を決める、その土地の時刻。",
        language: "\"en\"、\"ja\"、または \"auto\"（会話に合わせる）。",
        persona: "人柄と話し方。\"\" なら親しみやすく聞き上手な一員。",
        group: "どんな人たちが、何を話す場か。",
        everywhere: "聞くチャンネル。\"*\" はすべて。",
        unasked: "呼ばれなくても話すかどうか。",
        interval: "頼まれずに話す間隔の最小値（秒）。大きいほど静か。",
        memory: "会話を覚えるかどうか。覚えなければ、呼ばれたときだけ答える。",
        at_start: "環境変数に ANTHROPIC_API_KEY、GEMINI_API_KEY、OPENAI_API_KEY のどれかがあればそれを、なければ内蔵のモデルを使います。\n自分で選ぶなら プロバイダー/モデル と書きます：",
        main: "返事を書くモデル。",
        judge: "話すかどうかを判断するモデル。短い質問が多いので小さいものでよい。",
        key: "キーは環境変数から読みます：",
        web: "ウェブルームを開くかどうか。",
        address: "待ち受けるアドレス。この機械の外から見えるならトークンが必要です。",
        token: "トークンは環境変数 AIZUCHI__WEB__TOKEN から読みます。ルームを開く人はこれを知っている必要があります。",
    },
};

/// What to do next.
pub fn farewell(language: Language, path: &str, answers: &Answers) -> String {
    let mut text = String::new();
    let secrets = answers.keys().into_iter().chain(answers.needs_token().then_some("AIZUCHI__WEB__TOKEN"));
    let exports = secrets.map(|name| format!("  export {name}=…\n")).collect::<String>();
    let config = if path == super::USUAL_FILE { String::new() } else { format!(" --config {path}") };
    let (written, next) = match language {
        Language::English => ("is written. Next:", ("checks whether all is well", "starts it")),
        Language::Japanese => ("を書きました。次に：", ("動くかどうかを確かめる", "始める")),
    };
    let _ = write!(text, "\n{path} {written}\n{exports}");
    let _ = writeln!(text, "  aizuchi doctor{config}   # {}", next.0);
    let _ = writeln!(text, "  aizuchi run{config}      # {}", next.1);
    text
}
