//! Who judges in a replay: nobody, everybody's friend, a script, the built-in model, or real ones.

use serde_json::{Value, json};

use super::program::Folder;
use super::server::Server;
use super::talk::{START, outcomes, reason, said};

const MYAO2: &str = "--preset myao2 --set response.jitter_ratio=0";

fn one_message() -> Folder {
    Folder::with("talk.jsonl", said(0.0, "m1", "ann", "is the red house for sale"))
}

/// The decision about the one message when a script judges.
fn by_script(script: &[Value]) -> Value {
    let folder = one_message();
    let lines: Vec<String> = script.iter().map(Value::to_string).collect();
    folder.write("script.jsonl", lines.join("\n"));
    folder.decide(&format!("{MYAO2} --judge script:script.jsonl")).remove(0)
}

fn yes() -> Value {
    json!({"should_respond": true, "reason": "because", "delay_seconds": 0})
}

#[test]
fn the_judge_says_no_unless_told_to_say_yes() {
    let folder = one_message();
    for (options, outcome) in [("", "silent judge"), ("--judge no", "silent judge"), ("--judge yes", "replies post")] {
        let decisions = folder.decide(&format!("{MYAO2} {options}"));
        assert_eq!(outcomes(&decisions), [format!("m1 {outcome}")], "{options}");
        assert_eq!(decisions[0]["asked"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn every_preset_understands_the_judge_that_says_yes_and_the_one_that_says_no() {
    let log: String =
        ["m1", "m2", "m3"].iter().zip([0.0, 1.0, 2.0]).map(|(id, at)| said(at, id, "ann", "hm?")).collect();
    let folder = Folder::with("talk.jsonl", log);
    let ask_always = "--set talk= --set score.low=0 --set score.ask_between=true --set points.not_mentioned=0";
    let questions: [(&str, &[&str]); 4] =
        [("aizuchi", &["join"]), ("sphene", &["judge"]), ("myao2", &["judge"]), ("kotonoha", &["state", "judge"])];
    for (preset, questions) in questions {
        for (judge, acts) in [("yes", true), ("no", false)] {
            let decisions = folder.decide(&format!("--preset {preset} {ask_always} --judge {judge}"));
            let asked: Vec<&Value> = decisions.iter().flat_map(|one| one["asked"].as_array().unwrap()).collect();
            assert!(asked.iter().all(|one| one["failed"] != true || one["answer"] == "aborted"), "{preset}: {asked:?}");
            let last = asked.iter().rev().take(questions.len()).rev().map(|one| one["question"].as_str().unwrap());
            assert_eq!(last.collect::<Vec<_>>(), questions, "{preset}");
            let acted = decisions.iter().any(|one| !one["acted_at"].is_null());
            assert_eq!(acted, acts, "{preset} {judge}: {decisions:?}");
        }
    }
}

#[test]
fn a_script_takes_its_time() {
    let decision = by_script(&[
        json!({"question": "judge", "answer": yes(), "latency_ms": 1500}),
        json!({"question": "write", "answer": "yes, it is", "latency_ms": 2000.0}),
        json!({"question": "deliver", "answer": "", "latency_ms": 250}),
    ]);
    assert_eq!(decision["asked"][0]["at"], START + 300.0);
    assert_eq!(decision["acted_at"], START + 303.75);
    assert_eq!(reason(&decision), "Answered: the judge said yes: because.");
}

#[test]
fn the_first_line_that_matches_wins_and_the_rest_is_answered_with_no() {
    let no = json!({"should_respond": false, "reason": "never"});
    let judge = |words: Value, answer: &Value| json!({"question": "judge", "match": words, "answer": answer});
    let outcome = |script: &[Value]| outcomes(&[by_script(script)]).remove(0);
    let red = json!("ann: is the red");
    assert_eq!(outcome(&[judge(json!("blue"), &no), judge(red.clone(), &yes())]), "m1 replies post");
    assert_eq!(outcome(&[judge(red.clone(), &no), judge(red.clone(), &yes())]), "m1 silent judge");
    assert_eq!(outcome(&[judge(json!("blue"), &yes())]), "m1 silent judge");
    assert_eq!(outcome(&[judge(Value::Null, &yes())]), "m1 replies post");
    assert_eq!(outcome(&[json!({"question": "state", "answer": yes()})]), "m1 silent judge");
}

#[test]
fn what_fails_in_the_script_fails_in_the_replay() {
    let judge = by_script(&[json!({"question": "judge", "error": "overloaded", "latency_ms": 10})]);
    assert_eq!(outcomes(std::slice::from_ref(&judge)), ["m1 silent judge"]);
    assert_eq!((&judge["asked"][0]["failed"], &judge["asked"][0]["answer"]), (&json!(true), &json!("overloaded")));
    assert!(reason(&judge).contains("overloaded"), "{judge}");
    let nonsense = by_script(&[json!({"question": "judge", "answer": "perhaps"})]);
    assert!(reason(&nonsense).contains("no usable answer"), "{nonsense}");
    for step in ["write", "deliver"] {
        let script = [json!({"question": "judge", "answer": yes()}), json!({"question": step, "error": "timed out"})];
        let decision = by_script(&script);
        assert_eq!(outcomes(std::slice::from_ref(&decision)), ["m1 silent post"], "{step}");
        assert!(reason(&decision).contains("timed out") && decision["acted_at"].is_null(), "{decision}");
    }
}

#[test]
fn other_judges_are_wrong_usage() {
    let folder = one_message();
    for judge in ["maybe", "script:", "script", "YES", ""] {
        let option = format!("--judge={judge}");
        folder
            .run(&format!("replay talk.jsonl {option}"))
            .refused(2, &["--judge", "no, yes, offline, live or script:FILE"]);
    }
}

#[test]
fn a_script_that_cannot_be_read_is_told_with_its_file_and_line() {
    let folder = one_message();
    folder.run("replay talk.jsonl --judge script:none.jsonl").refused(1, &["none.jsonl"]);
    let good = "{\"question\": \"judge\", \"answer\": \"YES\"}\n\n";
    for (line, told) in [
        ("{\"question\": \"juge\", \"answer\": \"YES\"}", "judge"),
        ("{\"question\": \"judge\"}", "`answer` or `error`"),
        ("{\"question\": \"judge\", \"answer\": \"YES\", \"error\": \"x\"}", "`answer` or `error`"),
        ("{\"question\": \"judge\", \"answer\": \"YES\", \"latency\": 5}", "latency_ms"),
        ("{\"question\": \"judge\", \"answer\": \"YES\", \"latency_ms\": -5}", "latency_ms"),
        ("YES", "line 3"),
    ] {
        folder.write("script.jsonl", format!("{good}{line}"));
        let run = folder.run("replay talk.jsonl --judge script:script.jsonl --decisions out.jsonl");
        run.refused(1, &["script.jsonl", "line 3", told]);
        assert!(!folder.has("out.jsonl"), "{line}");
    }
}

#[test]
fn the_built_in_model_judges_by_its_rules_under_every_preset() {
    let asked = said(0.0, "m1", "ann", "hello")
        + &said(5.0, "m2", "bob", "hello")
        + &said(9.0, "m3", "ann", "does anybody know a plumber?");
    let folder = Folder::with("talk.jsonl", asked);
    let ask_always =
        "--set score.low=0 --set score.ask_between=true --set points.not_mentioned=0 --set points.two_people=0";
    for preset in ["aizuchi", "sphene", "myao2", "kotonoha"] {
        let decisions = folder.decide(&format!("--preset {preset} {ask_always} --judge offline"));
        assert!(!decisions[2]["acted_at"].is_null(), "{preset}: {}", decisions[2]);
    }
    let folder = one_message();
    let decision = folder.decide(&format!("{MYAO2} --judge offline")).remove(0);
    assert!(reason(&decision).contains("offline rule: nothing asks for an answer"), "{decision}");
}

#[test]
fn live_models_need_a_key_or_an_address() {
    let folder = one_message();
    let live = |more: &str| folder.run(&format!("replay talk.jsonl --judge live {more}"));
    live("").refused(2, &["No model is connected", "ANTHROPIC_API_KEY"]);
    live("--set models.main=openai/gpt-5")
        .refused(2, &["models.main: the model \"openai/gpt-5\" needs an API key of openai"]);
    live("--set models.judge=gpt-5").refused(2, &["models.judge: \"gpt-5\" is not a model; expected provider/model"]);
}

#[test]
fn a_replay_looks_for_no_server_on_this_machine() {
    let server = Server::start(|| Some(("200 OK", r#"{"data": [{"id": "llama3.2"}]}"#.into())));
    let local =
        format!("--set models.local_server=true --set providers.ollama.url=http://127.0.0.1:{}/v1/", server.port);
    one_message().run(&format!("replay talk.jsonl --judge live {local}")).refused(2, &["No model is connected"]);
    assert!(server.stop().is_empty());
}
