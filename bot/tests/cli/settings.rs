//! Where settings come from, and who has the last word: preset, file, environment, command line.

use serde_json::{Value, json};

use super::program::Folder;
use super::talk::{outcomes, reason, said, shown, with};

fn one(text: &str) -> Folder {
    Folder::with("talk.jsonl", said(0.0, "m1", "ann", text))
}

fn in_short(decision: &Value) -> String {
    shown(decision, &["outcome", "stage", "gate", "score"])
}

#[test]
fn each_preset_has_its_manners() {
    let folder = one("aizuchi?");
    let decided = |preset: &str| in_short(&folder.decide(&format!("--preset {preset}"))[0]);
    assert_eq!(decided("aizuchi"), "replies post - 80");
    assert_eq!(decided("sphene"), "replies post - 80");
    assert_eq!(decided("kotonoha"), "silent gate messages_min -");
    assert_eq!(decided("myao2"), "silent judge - -");
    assert_eq!(in_short(&folder.decide("")[0]), decided("aizuchi"), "the default");
}

/// In sphene a question is worth 20 points; "not mentioned" is switched off here to see them alone.
fn score_of_a_question(folder: &Folder, environment: &[(&str, &str)], options: &str) -> Value {
    let options = format!("--preset sphene --set points.not_mentioned=0 {options}");
    folder.decide_in(environment, &options)[0]["score"].clone()
}

#[test]
fn the_last_word_wins() {
    let folder = one("well?");
    let score = |environment: &[(&str, &str)], options: &str| score_of_a_question(&folder, environment, options);
    let variable = [("AIZUCHI__POINTS__QUESTION", "32")];
    assert_eq!(score(&[], ""), 20);
    folder.write("aizuchi.toml", "[points]\nquestion = 31\n");
    assert_eq!(score(&[], ""), 31, "the file over the preset");
    assert_eq!(score(&variable, ""), 32, "the environment over the file");
    assert_eq!(score(&variable, "--set points.question=33"), 33, "the command line over the environment");
    assert_eq!(score(&variable, "--set points.question=33 --set points.question=34"), 34, "the later over the earlier");
}

#[test]
fn the_preset_too_is_a_setting_with_a_last_word() {
    let folder = one("aizuchi?");
    let gate = |environment: &[(&str, &str)], options: &str| in_short(&folder.decide_in(environment, options)[0]);
    folder.write("aizuchi.toml", "preset = \"kotonoha\"\n");
    assert_eq!(gate(&[], ""), "silent gate messages_min -");
    let variable = [("AIZUCHI__PRESET", "myao2")];
    assert_eq!(gate(&variable, ""), "silent judge - -");
    assert_eq!(gate(&variable, "--preset sphene"), "replies post - 80");
    assert_eq!(gate(&variable, "--preset sphene --set preset=kotonoha"), "silent gate messages_min -");
}

#[test]
fn the_file_in_the_current_folder_is_read_unless_another_is_named() {
    let folder = one("well?");
    let score = |options: &str| score_of_a_question(&folder, &[], options);
    folder.write("aizuchi.toml", "[points]\nquestion = 31\nkeyword = 5\n[score]\nkeywords = [\"well\"]\n");
    folder.write("below/own.toml", "[points]\nquestion = 41\n");
    assert_eq!(score("--set points.its_topic=0"), 36);
    assert_eq!(score("--set points.its_topic=0 --config below/own.toml"), 41, "the other file alone");
}

#[test]
fn a_channel_has_its_own_settings() {
    let log = [said(0.0, "m1", "ann", "well?"), with(json!({"channel": "雑談"}), 0.0, "m2", "ann", "well?")].concat();
    let folder = Folder::with("talk.jsonl", log);
    folder.write("own.toml", "preset = \"sphene\"\n[channel.\"雑談\"]\npreset = \"kotonoha\"\n");
    let told: Vec<String> = folder.decide("--config own.toml").iter().map(in_short).collect();
    assert_eq!(told, ["silent score - 10", "silent gate messages_min -"]);
    folder.write("own.toml", "preset = \"sphene\"\n[channel.\"雑談\".points]\nquestion = 50\n");
    let scores: Vec<Value> = folder.decide("--config own.toml").iter().map(|one| one["score"].clone()).collect();
    assert_eq!(scores, [10, 40]);
}

#[test]
fn the_names_of_the_documents_work_on_the_command_line_and_in_the_environment() {
    let log = [said(0.0, "m1", "ann", "aizuchi!"), said(150.0, "m2", "ann", "Go, 猫?")].concat();
    let folder = Folder::with("talk.jsonl", log);
    let cases = [
        ("JUDGE_KEYWORDS", "Rust, 猫", json!({"engaged": 40, "question": 20, "keyword": 15, "its_topic": 15})),
        ("ENGAGEMENT_BOOST", "7", json!({"engaged": 7, "question": 20})),
        ("ENGAGEMENT_DURATION_SECONDS", "150", json!({"question": 20})),
        ("COOLDOWN_SECONDS", "151", json!({"engaged": 40, "question": 20, "cooldown": -50})),
        ("BOT_NAME", "Go", json!({"name": 80})),
    ];
    assert_eq!(folder.decide("--preset sphene")[1]["points"], json!({"engaged": 40, "question": 20}));
    for (name, value, points) in cases {
        let decisions = folder.decide_in(&[(name, value)], "--preset sphene");
        assert_eq!(decisions[1]["points"], points, "{name} in the environment");
        let assignment = format!("{name}={value}");
        let line = ["replay", "talk.jsonl", "--preset", "sphene", "--decisions", "set.jsonl", "--set", &assignment];
        assert!(folder.command(line).output().unwrap().status.success(), "--set {assignment}");
        assert_eq!(folder.decisions("set.jsonl")[1]["points"], points, "--set {assignment}");
    }
}

#[test]
fn in_the_environment_a_name_of_the_documents_counts_under_its_preset_and_the_default() {
    let folder = one("well?");
    let decided = |environment: &[(&str, &str)], options: &str| {
        let eager = "--set talk= --set score.learned=false --set score.low=0 --set score.threshold=10 --set points.question=20 --set points.not_mentioned=-10";
        in_short(&folder.decide_in(environment, &format!("{options} {eager}"))[0])
    };
    let variable = [("EAVESDROP_MIN_MESSAGES", "5")];
    assert_eq!(decided(&variable, "--preset sphene"), "replies post - 10");
    assert_eq!(decided(&variable, "--preset kotonoha"), "silent gate messages_min -");
    assert_eq!(decided(&variable, "--preset aizuchi"), "silent gate messages_min 10");
    let told = decided(&[], "--preset sphene --set EAVESDROP_MIN_MESSAGES=5");
    assert_eq!(told, "silent gate messages_min 10", "on the command line it can only be meant");
}

#[test]
fn minutes_of_the_documents_are_minutes() {
    let log: String = [0.0, 1.0, 2.0, 122.0].iter().map(|at| said(*at, &format!("m{at}"), "ann", "hm")).collect();
    let folder = Folder::with("talk.jsonl", log);
    let last = |minutes: &str| {
        let variable = [("EAVESDROP_MIN_INTERVENTION_INTERVAL_MINUTES", minutes)];
        outcomes(&folder.decide_in(&variable, "--preset kotonoha --judge yes")).remove(3)
    };
    assert_eq!((last("2"), last("3")), ("m122 replies post".into(), "m122 silent gate".into()));
}

#[test]
fn a_variable_of_ours_may_hold_a_list_a_truth_or_a_number() {
    let folder = one("well, Rust?");
    let points = |name: &str, value: &str| {
        folder.decide_in(&[(name, value)], "--preset sphene --set points.its_topic=0")[0]["points"].clone()
    };
    let found = json!({"question": 20, "keyword": 15, "not_mentioned": -10});
    assert_eq!(points("AIZUCHI__SCORE__KEYWORDS", "Go, Rust"), found);
    assert_eq!(points("AIZUCHI__SCORE__KEYWORDS", "[\"Rust\"]"), found);
    assert_eq!(points("AIZUCHI__SCORE__ENABLED", "false"), json!({}));
    assert_eq!(points("AIZUCHI__POINTS__NOT_MENTIONED", "-3"), json!({"question": 20, "not_mentioned": -3}));
}

#[test]
fn variables_of_other_programs_are_none_of_its_business() {
    let folder = one("well?");
    let environment = [("AIZUCHI_SCORE_LOW", "x"), ("LOW", "x"), ("aizuchi__score__low", "x"), ("NAME", "x")];
    assert_eq!(score_of_a_question(&folder, &environment, ""), 20);
}

#[test]
fn it_answers_to_the_name_it_is_given() {
    let folder = one("ことは、いる？");
    let called = |environment: &[(&str, &str)], options: &str| {
        reason(&folder.decide_in(environment, options)[0]).contains("called its name")
    };
    assert!(!called(&[], ""));
    assert!(called(&[], "--bot-name ことは"));
    assert!(called(&[("BOT_NAME", "ことは")], "") && called(&[("AIZUCHI__BOT__NAME", "ことは")], ""));
    assert!(!called(&[("BOT_NAME", "ことは")], "--bot-name other"), "the command line over the environment");
    folder.write("aizuchi.toml", "[bot]\nname = \"ことは\"\n");
    assert!(called(&[], "") && !called(&[("BOT_NAME", "other")], ""), "the environment over the file");
    assert!(called(&[], "--bot-name other --set bot.aliases=ことは"));
}

#[test]
fn a_replay_listens_everywhere_unless_somebody_says_otherwise() {
    let folder = one("well?");
    let decided = |environment: &[(&str, &str)], options: &str| in_short(&folder.decide_in(environment, options)[0]);
    assert_eq!(decided(&[], "--preset kotonoha --set gates.messages_min=1"), "silent judge - -");
    assert_eq!(decided(&[("EAVESDROP_ENABLED_CHANNELS", "d,e")], "--preset kotonoha"), "ignored filter - -");
    assert_eq!(decided(&[], "--preset sphene"), "silent score - 10");
    assert_eq!(decided(&[("AUTONOMOUS_RESPONSE_ENABLED", "false")], "--preset sphene"), "silent gate unasked 10");
}
