//! After its own answer: what goes on with it is answered or judged without a mention, what does not is left alone.

use aizuchi_core::effect::{Ask, Brief, Delivery, Failure, Usage};
use aizuchi_core::input::Answer;
use aizuchi_core::settings::Layers;
use aizuchi_core::sim::{Oracle, Sim};
use aizuchi_core::types::{Addressed, Author, MessageId, PersonId, Place, Span, ThreadId, Visibility, Voice};
use aizuchi_core::{Engine, Input, Message, Time, Trace};

/// Answers with one line, and judges nothing worth it.
struct Writes(&'static str);

impl Oracle for Writes {
    fn judge(&mut self, _: &Ask) -> (Span, Result<Answer, Failure>) {
        (Span::ZERO, Ok(Answer { text: r#"{"respond": false}"#.into(), usage: Usage::default() }))
    }

    fn write(&mut self, _: &Brief) -> (Span, Result<Answer, Failure>) {
        (Span::seconds(3), Ok(Answer { text: self.0.into(), usage: Usage::default() }))
    }

    fn deliver(&mut self, delivery: &Delivery) -> (Span, Result<Vec<MessageId>, Failure>) {
        (Span::ZERO, Ok(vec![MessageId::new(format!("post {}", delivery.call))]))
    }
}

struct SpokenLine(u64, &'static str, &'static str);

/// What is decided about each of the lines after a question by mention and its answer.
fn after(question: SpokenLine, answer: &'static str, lines: &[SpokenLine]) -> Vec<Trace> {
    after_with("", Place::room("room"), question, answer, lines)
}

/// The same with settings, in a place.
fn after_with(
    settings: &str,
    place: Place,
    question: SpokenLine,
    answer: &'static str,
    lines: &[SpokenLine],
) -> Vec<Trace> {
    let mut layers = Layers::default();
    layers.add_file("settings", settings);
    layers.suggest_for_replay();
    let mut sim = Sim::new(Engine::new(layers.resolve(&|_| None).expect("the settings are sound")), Writes(answer));
    for (number, SpokenLine(seconds, name, text)) in std::iter::once(&question).chain(lines).enumerate() {
        let at = Time(1_700_000_000_000 + 1000 * seconds);
        let message = Message {
            id: MessageId::new(format!("m{number}")),
            place: place.clone(),
            at,
            author: Author {
                id: PersonId::new(*name),
                name: (*name).into(),
                voice: if name.ends_with("bot") { Voice::Bot } else { Voice::Person },
            },
            text: (*text).into(),
            reply: None,
            mentions: Vec::new(),
            mentions_me: number == 0,
            visibility: Visibility::Public,
            backfilled: false,
            heard: None,
        };
        sim.feed(at, Input::Said(message));
    }
    sim.finish();
    sim.traces.iter().filter(|trace| trace.message.as_str() != "m0").cloned().collect()
}

fn is_taken_up(trace: &Trace) -> bool {
    trace.addressed == Some(Addressed::Turn) || trace.its_turn
}

/// A question, its answer, what the same person says next, and after how many seconds.
const FOLLOW_UPS: &[(&str, &str, &str, u64)] = &[
    ("how do I list hidden files?", "Use ls -a.", "and only the hidden ones?", 20),
    ("which port does postgres use?", "5432 by default.", "can I change that without a restart?", 45),
    ("what time is the meeting?", "At three.", "which room?", 15),
    (
        "can you recommend a book on Rust?",
        "The Rust Programming Language is free online.",
        "is there something shorter?",
        60,
    ),
    ("how long do I boil an egg?", "Six minutes for a soft one.", "and for a hard one?", 12),
    ("why is my build slow?", "Often it is the linker. Which one do you use?", "the default one I think", 40),
    ("what's the capital of Australia?", "Canberra.", "I thought it was Sydney", 18),
    (
        "how do I undo the last commit?",
        "git reset --soft HEAD~1 keeps the changes.",
        "what if I pushed it already?",
        90,
    ),
    ("who maintains the wiki?", "The docs team does.", "how can I reach them?", 30),
    ("does the cafeteria have vegan food?", "Yes, on the left side.", "every day?", 25),
    ("what does errno 13 mean?", "Permission denied.", "but I am root", 33),
    ("how far is the station?", "About ten minutes on foot.", "and by bus?", 22),
    ("隠しファイルの表示方法は？", "ls -a です。", "隠しファイルだけにするには？", 20),
    ("会議は何時から？", "3時からです。", "どの部屋ですか", 15),
    ("卵は何分ゆでればいい？", "半熟なら6分です。", "固ゆでだと？", 12),
    ("ビルドが遅いのはなぜ？", "リンカーかもしれません。何を使っていますか？", "たぶんデフォルトのままです", 40),
    ("直前のコミットを取り消すには？", "git reset --soft HEAD~1 です。", "もうpushしちゃった場合は？", 90),
    ("駅までどのくらい？", "歩いて10分くらいです。", "バスだとどうかな", 22),
    ("おすすめの入門書ある？", "公式の本が無料で読めます。", "もっと短いのはありますか？", 60),
    ("errno 13 って何？", "権限がないという意味です。", "でもrootなんだけど", 33),
];

#[test]
fn a_follow_up_is_answered_or_judged_without_a_mention() {
    let missed: Vec<String> = FOLLOW_UPS
        .iter()
        .filter_map(|&(question, answer, next, gap)| {
            let decided = after(SpokenLine(0, "alice", question), answer, &[SpokenLine(gap, "alice", next)]);
            let told = format!("{next}: {:?}", decided[0].p_turn);
            (!is_taken_up(&decided[0])).then_some(told)
        })
        .collect();
    assert!(missed.len() * 10 <= FOLLOW_UPS.len(), "{missed:#?}");
}

/// What others say after its answer to Alice.
const TALK_OF_OTHERS: &[(&str, &str)] = &[
    ("bob", "carol: are you coming to lunch?"),
    ("bob", "has anybody seen my umbrella?"),
    ("bob", "the printer on the second floor is broken again"),
    ("bob", "good morning everyone"),
    ("bob", "キャロル: お昼どうする？"),
    ("bob", "誰か傘を見ませんでしたか？"),
    ("bob", "2階のプリンターがまた壊れてる"),
    ("bob", "みなさんおはようございます"),
];

#[test]
fn what_others_say_about_other_things_is_not_answered_as_its_turn() {
    let before = || SpokenLine(0, "alice", "how do I list hidden files?");
    for (name, text) in TALK_OF_OTHERS {
        let decided = after(before(), "Use ls -a.", &[SpokenLine(240, name, text)]);
        assert_ne!(decided[0].addressed, Some(Addressed::Turn), "{text}: {:?}", decided[0].p_turn);
    }
}

#[test]
fn it_lets_go_when_others_take_over() {
    let lines = [
        SpokenLine(40, "bob", "alice: careful, in the new version that is read once"),
        SpokenLine(55, "alice", "bob: oh, since when?"),
        SpokenLine(70, "bob", "alice: since march, carol changed it"),
        SpokenLine(90, "carol", "bob: yes, because of the slow start"),
        SpokenLine(110, "bob", "carol: did that help?"),
    ];
    let decided = after(SpokenLine(0, "alice", "where are the settings kept?"), "In ~/.config/app.", &lines);
    assert!(decided.iter().all(|trace| !is_taken_up(trace)), "{decided:#?}");
}

#[test]
fn what_calls_somebody_else_or_comes_a_week_later_is_not_answered_without_a_judge() {
    let for_others = [
        (30, "bob, are you coming tonight?"),
        (30, "hey Dave, did you get my mail?"),
        (30, "田中さん、メール見た？"),
        (30, "みんな今夜どうする？"),
        (7 * 24 * 3600, "did we get the delivery?"),
        (2 * 3600, "what is for lunch?"),
    ];
    for (gap, text) in for_others {
        let decided = after(SpokenLine(0, "alice", "what is rust?"), "A language.", &[SpokenLine(gap, "alice", text)]);
        assert_ne!(decided[0].addressed, Some(Addressed::Turn), "{text}: {:?}", decided[0].p_turn);
    }
    let talk = [
        SpokenLine(30, "花子", "去年行ったよ"),
        SpokenLine(45, "太郎", "ほんと？どのくらいいたの？"),
        SpokenLine(60, "花子", "一週間くらい"),
        SpokenLine(75, "太郎", "誰と？"),
        SpokenLine(90, "花子", "姉と二人で"),
        SpokenLine(100, "太郎", "どこに泊まった？"),
    ];
    let decided = after(SpokenLine(0, "太郎", "京都のおすすめは？"), "清水寺です。", &talk);
    assert!(decided.iter().all(|trace| trace.addressed != Some(Addressed::Turn)), "{decided:#?}");
}

#[test]
fn a_follow_up_in_the_words_of_a_call_for_help_is_its_turn() {
    for text in ["how do I push it?", "can you help me fix it?", "プッシュの方法を教えて"] {
        let question = SpokenLine(0, "alice", "how do I revert a commit?");
        let decided = after(question, "Use git revert.", &[SpokenLine(40, "alice", text)]);
        assert!(is_taken_up(&decided[0]), "{text}: {:?}", decided[0].p_turn);
    }
}

fn follow_up(settings: &str, place: Place, name: &'static str, text: &'static str) -> Trace {
    let question = SpokenLine(0, "alice", "how do I list hidden files?");
    after_with(settings, place, question, "Use ls -a.", &[SpokenLine(20, name, text)]).remove(0)
}

#[test]
fn a_follow_up_in_a_thread_of_its_own_is_its_turn() {
    let thread = Place { room: Place::room("room").room, thread: Some(ThreadId::new("t1")) };
    let decided = follow_up("", thread, "alice", "and only the hidden ones?");
    assert!(is_taken_up(&decided), "{:?}", decided.p_turn);
}

#[test]
fn talk_and_the_floor_share_limit_joining_and_not_its_turn() {
    let settings = "talk = \"0.1%\"\n[gates]\nfloor_share = true\nfloor_messages_min = 1\n";
    let decided = follow_up(settings, Place::room("room"), "alice", "and only the hidden ones?");
    assert!(is_taken_up(&decided) && decided.gate.is_none(), "{:?} {:?}", decided.p_turn, decided.gate);
}

#[test]
fn limits_per_person_and_other_bots_end_its_turn() {
    let settings = "[gates]\nuser_addressed_per_hour = 1\n";
    let decided = follow_up(settings, Place::room("room"), "alice", "and only the hidden ones?");
    assert_eq!(decided.gate.as_deref(), Some("user_limit"));
    let decided =
        follow_up("[listen]\nother_bots = \"answered\"\n", Place::room("room"), "carebot", "and only the hidden ones?");
    assert!(!is_taken_up(&decided), "{:?}", decided.p_turn);
}

#[test]
fn where_it_speaks_only_when_addressed_it_has_no_turn() {
    let decided = follow_up("[gates]\nunasked = false\n", Place::room("room"), "alice", "and only the hidden ones?");
    assert!(!is_taken_up(&decided), "{:?}", decided.addressed);
}

#[test]
fn in_quiet_hours_it_answers_who_addresses_it_and_does_not_go_on() {
    // The talk is at a quarter past ten in the evening.
    let settings = "[gates]\nquiet_hours = \"22:00-23:00\"\n";
    let decided = follow_up(settings, Place::room("room"), "alice", "and only the hidden ones?");
    assert_eq!(decided.gate.as_deref(), Some("quiet_hours"));
}
