//! `aizuchi memory`, `aizuchi backup` and `aizuchi eval recall`, with the program itself.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use aizuchi::memory::{SqliteMemory, StoredLayers};
use aizuchi::ports::Memory as _;
use aizuchi::stores::{DataFolder as Data, Database};
use aizuchi_core::Policies;
use aizuchi_core::memory::{Answered, ChannelMemory, FactDraft, HeardFrom, MemoryChange, Origin};
use aizuchi_core::types::{MessageId, PersonId, Time, Visibility};
use serde_json::{Value, json};

use super::program::Folder;
use super::server::Server;

const TALKS: &str = include_str!("recall.json");
/// A dialogue that the weights were not chosen on.
const UNSEEN: &str = include_str!("recall-unseen.json");
/// Another one, of two other people.
const SECOND: &str = include_str!("recall-second.json");
/// Questions in kana about what was said in kanji, and in other forms of the words.
const JAPANESE: &str = include_str!("recall-japanese.json");

pub fn now() -> Time {
    Time(jiff::Timestamp::now().as_millisecond().cast_unsigned())
}

fn fact(room: &Origin, content: &str, person: &str) -> MemoryChange {
    MemoryChange::Kept(Box::new(FactDraft {
        origin: room.clone(),
        content: content.into(),
        keywords: Vec::new(),
        people: vec![PersonId::new(person)],
        messages: vec![MessageId::new("m1")],
        context: Vec::new(),
        confidence: 0.9,
        shareable: true,
        at: now(),
        replaces: None,
    }))
}

/// Keeps these in the data folder.
fn keep(folder: &Path, changes: Vec<MemoryChange>) {
    std::fs::create_dir_all(folder).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let database = Database::open(&Data::database_in(folder)).unwrap();
        let memory = SqliteMemory::new(database, StoredLayers::ALL);
        memory.apply(changes, &Policies::preset("aizuchi").unwrap()).await.unwrap();
    });
}

fn remember(folder: &Path) {
    keep(folder, remembered());
}

/// The first message of a room, about tea.
fn first_heard(room: &str) -> HeardFrom {
    HeardFrom {
        origin: Origin::new(room, Visibility::Public),
        up_to: 1,
        message: MessageId::new("m1"),
        person: PersonId::new("web:1"),
        name: "Ann".into(),
        at: now(),
        mentions_me: false,
        topics: vec!["tea".into()],
    }
}

fn remembered() -> Vec<MemoryChange> {
    let (lobby, garden) =
        (Origin::new("web:lobby", Visibility::Public), Origin::new("web:garden", Visibility::Private));
    let heard = |person: &str, name: &str, up_to| {
        let heard = first_heard("web:lobby");
        let message = MessageId::new(format!("m{up_to}"));
        MemoryChange::Heard(Box::new(HeardFrom {
            person: PersonId::new(person),
            name: name.into(),
            up_to,
            message,
            ..heard
        }))
    };
    let channel = ChannelMemory {
        origin: lobby.clone(),
        summary: "They speak of tea.".into(),
        mood: "calm".into(),
        topics: vec!["tea".into()],
        active: vec![(PersonId::new("web:2"), "Bob".into())],
        at: now(),
        up_to: 2,
        messages: Vec::new(),
    };
    vec![
        heard("web:1", "Ann", 1),
        heard("web:2", "Bob", 2),
        fact(&lobby, "The tea is from Uji", "web:1"),
        fact(&garden, "The tea party is a surprise", "web:2"),
        fact(&lobby, "奈良の鹿は賢い", "web:2"),
        MemoryChange::Summarized(Box::new(channel)),
    ]
}

pub fn sample() -> Folder {
    let folder = Folder::new();
    remember(&folder.path("aizuchi-data"));
    folder
}

#[test]
fn what_is_remembered_is_listed_shown_and_found() {
    let folder = sample();
    let listed = folder.run("memory list").succeeded().out;
    assert!(listed.contains("web:lobby  The tea is from Uji") && listed.lines().count() == 3, "{listed}");
    assert!(listed.contains("web:garden (private)  The tea party"), "not everybody could read that: {listed}");
    assert_eq!(folder.run("memory list --room garden").succeeded().out.lines().count(), 1);
    assert_eq!(folder.run("memory list --person bob --json").succeeded().out.lines().count(), 2);
    assert!(folder.run("memory list people").succeeded().out.contains("web:1  Ann  1 messages"));
    assert!(folder.run("memory list rooms").succeeded().out.contains("web:lobby  tea"));
    let shown = folder.run("memory show 1").succeeded().out;
    assert!(shown.contains("rests on   web:1") && shown.contains("confidence 0.90"), "{shown}");
    assert!(folder.run("memory show ann").succeeded().out.contains("topics   tea (web:lobby)"));
    assert!(folder.run("memory show lobby").succeeded().out.contains("Lately: They speak of tea."));
    assert_eq!(folder.run("memory search tea").succeeded().out.lines().count(), 2);
    let found = folder.run("memory search 鹿について教えて --room lobby").succeeded().out;
    assert!(found.contains("奈良の鹿は賢い") && found.contains("said in this room"), "{found}");
    let tea = folder.run("memory search tea --room lobby --json").succeeded().out;
    let tea: Vec<Value> = tea.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((tea.len(), tea[0]["fact"]["content"].as_str()), (1, Some("The tea is from Uji")), "walls hold");
    assert_eq!(folder.run("memory search zebra").succeeded().out, "nothing fits\n");
}

/// What somebody asks in a room is answered with what the room may see, and so it is searched.
#[test]
fn a_search_in_a_room_finds_what_the_room_may_see() {
    let folder = sample();
    let thread = Origin::new("web:lobby", Visibility::Private);
    keep(&folder.path("aizuchi-data"), vec![fact(&thread, "The tea money is hidden", "web:1")]);
    let search = |options: &str| folder.run(&format!("memory search tea {options}")).succeeded().out;
    let lobby = search("--room lobby");
    assert!(lobby.contains("Uji") && !lobby.contains("hidden"), "of a private thread in a public room: {lobby}");
    let attic = search("--room web:attic");
    assert!(attic.contains("Uji") && !attic.contains("surprise"), "a room of which nothing is remembered: {attic}");
    assert_eq!(search("--room discord:1/2"), "nothing fits\n");
    folder.run("memory search tea --room attic").refused(1, &["attic", "web:lobby"]);
    let lobby = Origin::new("web:lobby", Visibility::Public);
    let teas =
        ["green", "black", "white", "roasted"].map(|kind| fact(&lobby, &format!("There is {kind} tea"), "web:2"));
    keep(&folder.path("aizuchi-data"), teas.into());
    assert_eq!(search("--room lobby --json").lines().count(), 3, "as many as an answer is written with");
    assert_eq!(search("--json --count 10").lines().count(), 7);
    assert_eq!(search("--room lobby --json --set memory.recall_facts=2").lines().count(), 2);
}

#[test]
fn what_an_import_will_lose_is_told_with_how_to_keep_it() {
    let folder = sample();
    let lobby = Origin::new("web:lobby", Visibility::Public);
    let more = (1..=10).map(|number| fact(&lobby, &format!("Locker {number} is empty"), "web:2"));
    keep(&folder.path("aizuchi-data"), more.collect());
    folder.run("memory export --output all.jsonl").succeeded();
    keep(&folder.path("other"), Vec::new());
    let import = |options: &str| folder.run(&format!("memory import all.jsonl --folder other {options}"));
    let told = import("--set memory.facts_max=5").err;
    assert!(told.contains("web:lobby has 12 facts and memory.facts_max is 5"), "{told}");
    assert!(told.contains("drop the 7 weakest; raise memory.facts_max"), "{told}");
    import("").succeeded();
}

#[test]
fn what_is_not_there_is_told() {
    let folder = sample();
    folder.run("memory show 77").refused(1, &["nothing is remembered about 77"]);
    folder.run("memory list --room attic").refused(1, &["attic", "web:lobby"]);
    folder.run("memory search ??").refused(1, &["no searchable word"]);
    folder.run("memory forget --fact 9").refused(1, &["there is no fact 9"]);
    folder.run("memory forget").refused(2, &["--person"]);
    Folder::new().run("memory list").refused(1, &["there is no store in aizuchi-data"]);
}

#[test]
fn forgetting_leaves_nothing_and_needs_the_folder_for_itself() {
    let folder = sample();
    let held = Data::take(&folder.path("aizuchi-data")).unwrap();
    folder
        .run("memory forget --person Ann")
        .refused(1, &["nothing was changed", "forget-me", "another aizuchi is using"]);
    assert_eq!(folder.run("memory list").succeeded().out.lines().count(), 3, "looking works beside it");
    drop(held);
    let told = folder.run("memory forget --person Ann").succeeded().out;
    assert_eq!(told, "forgot web:1 and 1 facts from their words\n");
    assert!(!folder.run("memory export").succeeded().out.contains("Uji"));
    folder.run("memory forget --room garden").succeeded();
    folder.run("memory forget --fact 3").succeeded();
    assert_eq!(folder.run("memory list").succeeded().out, "nothing is remembered\n");
    let bytes = std::fs::read(folder.path("aizuchi-data/aizuchi.db")).unwrap();
    for word in ["Uji", "surprise", "賢"] {
        assert!(!bytes.windows(word.len()).any(|window| window == word.as_bytes()), "{word}");
    }
}

#[test]
fn what_is_exported_can_be_taken_in() {
    let folder = sample();
    folder.run("memory export --output all.jsonl").succeeded();
    let all = folder.read("all.jsonl");
    assert_eq!(all.lines().count(), 6);
    assert_eq!(folder.run("memory export --person Bob").succeeded().out.lines().count(), 4);
    folder.run("memory import all.jsonl").succeeded();
    assert_eq!(folder.run("memory list").succeeded().out.lines().count(), 3, "the same facts are one");
    remember(&folder.path("other"));
    folder.run("memory forget --room lobby --folder other").succeeded();
    folder.run("memory import all.jsonl --folder other").succeeded();
    let taken = folder.run("memory export --folder other").succeeded().out;
    assert!(taken.contains("奈良の鹿は賢い") && taken.contains("They speak of tea."), "{taken}");
    folder.write("odd.jsonl", "{\"fact\": {}}\n");
    folder.run("memory import odd.jsonl").refused(1, &["odd.jsonl:1", "aizuchi memory export"]);
}

#[test]
fn who_answers_whom_is_listed_and_taken_along() {
    let folder = sample();
    assert_eq!(folder.run("memory list ties").succeeded().out, "nothing is remembered\n");
    let answered = |room: &str, from: &str, to: &str, word: &str, message: &str| {
        MemoryChange::Answered(Box::new(Answered {
            origin: Origin::new(room, Visibility::Public),
            from: PersonId::new(from),
            to: PersonId::new(to),
            at: now(),
            words: vec![(word.into(), MessageId::new(message))],
        }))
    };
    let (lobby, garden) = ("web:lobby", "web:garden");
    let ties = vec![
        answered(lobby, "web:1", "web:2", "tea", "m1"),
        answered(lobby, "web:1", "web:2", "tea", "m2"),
        answered(lobby, "web:2", "web:1", "cups", "m3"),
        answered(garden, "web:2", "@me", "roses", "m4"),
    ];
    keep(&folder.path("aizuchi-data"), ties);
    let all = folder.run("memory list ties").succeeded().out;
    assert!(all.contains("web:lobby  Ann and Bob  2 and 1 answers, last ") && all.contains("  tea, cups\n"), "{all}");
    assert!(all.contains("web:garden  the bot and Bob  0 and 1 answers, last "), "{all}");
    let impostor = |name: &str, id: &str, up_to| {
        let (person, name) = (PersonId::new(id), name.into());
        let heard = HeardFrom { person, name, up_to, ..first_heard(garden) };
        MemoryChange::Heard(Box::new(heard))
    };
    let alike = vec![
        impostor("The  B\u{043e}t", "web:3", 1),
        answered(garden, "web:3", "web:2", "moss", "m5"),
        impostor("bob", "web:4", 2),
        answered(garden, "web:4", "@me", "fern", "m6"),
    ];
    let other = sample();
    keep(&other.path("aizuchi-data"), alike);
    let told = other.run("memory list ties").succeeded().out;
    assert!(told.contains("Bob (web:2) and The  B\u{043e}t (web:3)  0 and 1 answers"), "{told}");
    assert!(told.contains("the bot and bob (web:4)  0 and 1 answers"), "{told}");
    assert_eq!(folder.run("memory list ties --room lobby").succeeded().out.lines().count(), 1);
    assert_eq!(folder.run("memory list ties --person Ann --json").succeeded().out.lines().count(), 1);
    assert_eq!(folder.run("memory list ties --count 1").succeeded().out.lines().count(), 1);
    folder.run("memory export --output ties.jsonl").succeeded();
    folder.run("memory forget --person Ann").succeeded();
    assert_eq!(folder.run("memory list ties").succeeded().out.lines().count(), 1);
    keep(&folder.path("other"), Vec::new());
    folder.run("memory import ties.jsonl --folder other").succeeded();
    assert_eq!(folder.run("memory list ties --folder other").succeeded().out, all);
    assert!(folder.run("memory export --person Ann --folder other").succeeded().out.contains("\"tie\""));
}

#[test]
fn a_backup_is_a_store_and_overwrites_nothing() {
    let folder = sample();
    let held = Data::take(&folder.path("aizuchi-data")).unwrap();
    let told = folder.run("backup copy/aizuchi.db");
    told.refused(1, &["cannot write copy/aizuchi.db"]);
    std::fs::create_dir(folder.path("copy")).unwrap();
    folder.run("backup copy/aizuchi.db").succeeded();
    drop(held);
    assert_eq!(folder.run("memory list --folder copy").succeeded().out.lines().count(), 3);
    folder.run("backup copy/aizuchi.db").refused(1, &["already exists"]);
    folder.run("backup other.db --folder nowhere").refused(1, &["there is no store in nowhere"]);
}

/// The figures of our own dialogues; a change that finds less is seen here.
#[test]
fn the_default_finds_more_than_plain_bm25() {
    let folder = Folder::with("talks.json", TALKS);
    let recall = |options: &str| {
        let line = folder.run(&format!("eval recall talks.json --json {options}")).succeeded().last_line();
        assert_eq!(line["questions"], 100, "category 5 is left out");
        line["recall"].as_f64().unwrap()
    };
    let (default, bm25, sphene) = (recall(""), recall("--ranking bm25"), recall("--ranking sphene"));
    assert!(default >= 0.84, "{default}");
    assert!((0.40..=0.60).contains(&bm25) && sphene < bm25, "{bm25} {sphene}");
    assert!(recall("--k 3") < default && recall("--k 20") > default);
    folder.write("unseen.json", UNSEEN);
    let unseen = |options: &str| {
        let line = folder.run(&format!("eval recall unseen.json --json {options}")).succeeded().last_line();
        line["recall"].as_f64().unwrap()
    };
    let (default, bm25) = (unseen(""), unseen("--ranking bm25"));
    assert!(default >= 0.78 && default > bm25 + 0.1, "{default} {bm25}");
    folder.write("second.json", SECOND);
    let second = folder.run("eval recall second.json --json").succeeded().last_line()["recall"].as_f64().unwrap();
    assert!(second >= 0.86, "{second}");
    folder.write("japanese.json", JAPANESE);
    for (k, least) in [(3, 0.9), (10, 0.98)] {
        let line = folder.run(&format!("eval recall japanese.json --json --k {k}")).succeeded().last_line();
        assert!(line["recall"].as_f64().unwrap() >= least, "{line}");
    }
    let told = folder.run("eval recall talks.json --misses").succeeded().out;
    assert!(told.contains("category 2") && told.contains("all ") && told.contains("(D"), "{told}");
}

/// What is measured is what answers people.
#[test]
fn a_real_store_finds_what_the_measure_says() {
    for talks in [TALKS, UNSEEN, SECOND, JAPANESE] {
        let folder = Folder::with("talks.json", talks);
        for options in ["", "--k 3", "--ranking bm25"] {
            let recall = |store: &str| {
                let line =
                    folder.run(&format!("eval recall talks.json --json {options} {store}")).succeeded().last_line();
                (line["recall"].as_f64().unwrap(), line["store"] == true)
            };
            let (measured, stored) = (recall(""), recall("--store"));
            assert!((measured.0 - stored.0).abs() <= 0.005, "{options}: {measured:?} {stored:?}");
            assert_eq!((measured.1, stored.1), (false, true));
        }
        let told = folder.run("eval recall talks.json --store").succeeded().out;
        for kind in ["several turns", "time", "open", "one turn"] {
            assert!(told.contains(kind), "{told}");
        }
    }
}

#[test]
fn a_file_that_is_no_talk_with_questions_is_told() {
    let folder = Folder::with("odd.json", "{}");
    folder.run("eval recall odd.json").refused(1, &["odd.json", "LoCoMo"]);
    folder.run("eval recall missing.json").refused(1, &["missing.json"]);
    let bare = r#"[{"conversation": {"session_1": [{"speaker": "A", "dia_id": "D1:1", "text": "hi"}]}, "qa": []}]"#;
    folder.write("bare.json", bare);
    folder.run("eval recall bare.json").refused(1, &["no question"]);
    folder.run("eval recall bare.json --k 0").refused(2, &["--k"]);
}

#[test]
fn meaning_finds_what_no_word_does() {
    let talk = r#"[{"conversation": {"session_1": [{"speaker": "A", "dia_id": "D1:1", "text": "The sky is grey"},
        {"speaker": "B", "dia_id": "D1:2", "text": "My feline naps"}, {"speaker": "A", "dia_id": "D1:3", "text": "Trains are late"}]},
        "qa": [{"question": "Which pussycat?", "evidence": ["D1:2"], "category": 4}]}]"#;
    let folder = Folder::with("talk.json", talk);
    let recall = |folder: &Folder, options: &str| {
        folder.run(&format!("eval recall talk.json --k 1 --json {options}")).succeeded().last_line()["recall"].clone()
    };
    assert_eq!(recall(&folder, ""), 0.0);
    let calls = AtomicU32::new(0);
    let server = Server::start(move || {
        let vectors: &[[f32; 2]] = match calls.fetch_add(1, Ordering::Relaxed) {
            0 => &[[0.0, 1.0], [0.9, 0.1], [-1.0, 0.0]],
            _ => &[[1.0, 0.0]],
        };
        let data: Vec<Value> = vectors
            .iter()
            .enumerate()
            .map(|(index, vector)| json!({"object": "embedding", "index": index, "embedding": vector}))
            .collect();
        let usage = json!({"prompt_tokens": 1, "total_tokens": 1});
        Some(("200 OK", json!({"object": "list", "model": "m", "data": data, "usage": usage}).to_string()))
    });
    let settings =
        format!("[models]\nembed = \"mine/m\"\n[providers.mine]\nurl = \"http://127.0.0.1:{}\"\n", server.port);
    folder.write("aizuchi.toml", settings);
    assert_eq!(recall(&folder, "--vectors"), 1.0);
    let asked = server.stop();
    assert!(
        asked.len() == 2 && asked[0].contains("B: My feline naps") && asked[1].contains("Which pussycat?"),
        "{asked:?}"
    );
    folder.run("eval recall talk.json --vectors --set models.embed=offline/x").refused(1, &["offline"]);
    let told = match cfg!(feature = "local-embeddings") {
        true => "cannot open \"nowhere\"",
        false => "this build lacks the feature `local-embeddings`: cargo install",
    };
    folder.run("eval recall talk.json --vectors --set models.embed=folder:nowhere").refused(1, &["models.embed", told]);
}
