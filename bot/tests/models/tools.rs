//! Tools and providers that do not take them, and replies that no honest provider sends.

use aizuchi::ports::{Draft, RequestedCall};
use aizuchi_core::effect::Failure;
use aizuchi_core::tools::{ToolAccess, ToolCall, ToolOffer, ToolOutcome, ToolOutput, ToolStep};
use aizuchi_core::types::Span;
use aizuchi_test_servers::models::{ModelServer, Step, openai_answer};
use serde_json::{Value, json};

use super::minds::{Asker, text};

const MODEL: &str = "openai/m";

pub fn words(result: Result<Draft, Failure>) -> String {
    match result.expect("there is an answer") {
        Draft::Words(answer) => answer.text.into(),
        calls @ Draft::Calls(..) => panic!("{calls:?}"),
    }
}

pub fn calls(result: Result<Draft, Failure>) -> Vec<RequestedCall> {
    match result.expect("there is an answer") {
        Draft::Calls(calls, _) => calls,
        words @ Draft::Words(_) => panic!("{words:?}"),
    }
}

fn told(result: Result<Draft, Failure>) -> String {
    result.expect_err("there is no answer").what.into()
}

fn step(id: &str) -> ToolStep {
    let call = ToolCall {
        id: id.into(),
        name: "time".into(),
        arguments: "{}".into(),
        access: ToolAccess::Reads,
        signatures: Vec::new(),
    };
    ToolStep {
        call,
        round: 1,
        outcome: Some(ToolOutcome::Returned(ToolOutput::own("10:15"))),
        took: Span::ZERO,
        decided_by: None,
    }
}

fn openai_calls(calls: &Value) -> Step {
    Step::json(json!({
        "id": "x", "object": "chat.completion", "model": "m",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": calls}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}
    }))
}

fn openai_call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn has_tools(server: &ModelServer) -> Vec<bool> {
    server.seen().iter().map(|seen| seen.body.get("tools").is_some()).collect()
}

#[tokio::test]
async fn a_model_without_tools_is_asked_without_them_from_then_on() {
    let refusals = [
        ("native/gemma:2b", 400, json!({"error": "registry.ollama.ai/library/gemma:2b does not support tools"})),
        (MODEL, 400, json!({"error": {"message": "\"auto\" tool choice requires --enable-auto-tool-choice"}})),
        (MODEL, 404, json!({"error": {"message": "No endpoints found that support tool use.", "code": 404}})),
        (MODEL, 500, json!({"error": {"message": "tools param requires --jinja flag", "code": 500}})),
        (MODEL, 400, json!({"error": {"message": "bad request"}})),
        ("anthropic/c", 400, json!({"type": "error", "error": {"message": "tools: Extra inputs are not permitted"}})),
    ];
    for (model, status, body) in refusals {
        let answer = || match model.split_once('/').unwrap().0 {
            "native" => Step::json(json!({"message": {"role": "assistant", "content": "Left."}, "done": true})),
            "anthropic" => Step::json(json!({"content": [{"type": "text", "text": "Left."}], "usage": {}})),
            _ => Step::json(openai_answer("Left.")),
        };
        let server = ModelServer::start([Step::status(status, &[], &body), answer(), answer(), answer()]).await;
        let asker = Asker::new(server.port, "[models]\nretries_max = 0");
        for _ in 0..2 {
            assert_eq!(words(asker.draft(model, ToolOffer::All, Vec::new()).await), "Left.", "{body}");
        }
        // Earlier results of tools are given in words.
        assert_eq!(words(asker.draft(model, ToolOffer::None, vec![step("a")]).await), "Left.", "{body}");
        assert_eq!(has_tools(&server), [true, false, false, false], "{body}");
        let last = server.seen().remove(3).body.to_string();
        assert!(last.contains("time {}:\\n10:15") && !last.contains("tool_calls"), "{last}");
    }
}

#[tokio::test]
async fn what_was_refused_for_another_reason_keeps_its_tools() {
    let options = || Step::status(400, &[], json!({"error": {"message": "reasoning_effort is not supported"}}));
    let long = || Step::status(400, &[], json!({"error": {"message": "This model's maximum context length is 9"}}));
    let answer = || Step::json(openai_answer("Left."));
    let server = ModelServer::start([options(), answer(), long(), answer()]).await;
    let asker = Asker::new(server.port, "[models]\nretries_max = 0");
    let draft = || asker.draft("openai/gpt-5-mini", ToolOffer::All, Vec::new());
    assert_eq!(words(draft().await), "Left.");
    assert!(told(draft().await).contains("maximum context length"));
    assert_eq!(words(draft().await), "Left.");
    assert_eq!(has_tools(&server), [true; 4]);
}

#[tokio::test]
async fn a_question_may_still_have_a_schema_where_tools_are_refused() {
    let refused = Step::status(400, &[], json!({"error": {"message": "bad request"}}));
    let again = Step::status(400, &[], json!({"error": {"message": "bad request"}}));
    let answer = || Step::json(openai_answer("Left."));
    let server = ModelServer::start([refused, again, answer(), answer()]).await;
    let asker = Asker::new(server.port, "[models]\nretries_max = 0");
    assert_eq!(words(asker.draft("openai/gpt-5-mini", ToolOffer::All, Vec::new()).await), "Left.");
    assert_eq!(text(asker.judge("openai/gpt-5-mini").await), "Left.");
    let has_effort: Vec<bool> = server.seen().iter().map(|seen| seen.body.get("reasoning_effort").is_some()).collect();
    assert_eq!((has_tools(&server), has_effort), (vec![true, true, false, false], vec![true, false, true, true]));
}

#[tokio::test]
async fn too_many_calls_are_cut_off() {
    let many: Vec<Value> = (0..10_000).map(|number| openai_call(&format!("c{number}"), "time", "{}")).collect();
    let server = ModelServer::start([openai_calls(&many.into())]).await;
    let calls = calls(Asker::new(server.port, "").draft(MODEL, ToolOffer::All, Vec::new()).await);
    assert_eq!(calls.len(), 32);
    assert_eq!(calls[31].id, "c31");
}

#[tokio::test]
async fn what_is_too_long_is_cut_or_refused() {
    let long = "a".repeat(1 << 20);
    let server = ModelServer::start([openai_calls(&json!([
        openai_call(&long, &long, "{}"),
        openai_call("1", "time", &format!("{{\"query\": \"{long}\"}}")),
        openai_call("2", "send to ann!\n", "{}"),
        openai_call("3", "", "{}"),
    ]))])
    .await;
    let calls = calls(Asker::new(server.port, "").draft(MODEL, ToolOffer::All, Vec::new()).await);
    let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, [format!("{}_cut", "a".repeat(60)).as_str(), "time", "send_to_ann__", "unnamed"]);
    let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["call_0", "1", "2", "3"]);
    assert_eq!(calls[1].arguments, "refused: the arguments have 1048588 bytes, at most 16384 are taken");
    assert!(aizuchi::tools::arguments(&calls[1].arguments).is_err(), "no tool runs with that");
}

#[tokio::test]
async fn arguments_without_a_bottom_end_nothing() {
    let deep = |depth: usize| format!("{}{}", "{\"a\":".repeat(depth), "1".to_owned() + &"}".repeat(depth));
    let server = ModelServer::start([
        openai_calls(&json!([openai_call("1", "recall", &deep(2_000)), openai_call("2", "time", "{}")])),
        Step::json(format!(
            r#"{{"message": {{"tool_calls": [{{"function": {{"name": "x", "arguments": {}}}}}]}}}}"#,
            deep(10_000)
        )),
    ])
    .await;
    let asker = Asker::new(server.port, "[models]\nretries_max = 0");
    let calls = calls(asker.draft(MODEL, ToolOffer::All, Vec::new()).await);
    assert!(aizuchi::tools::arguments(&calls[0].arguments).is_err(), "no tool runs with that");
    assert_eq!(calls[1].arguments, "{}");
    assert_eq!(told(asker.draft("native/q", ToolOffer::All, Vec::new()).await), "native returned invalid JSON");
}

#[tokio::test]
async fn signatures_without_an_end_are_left_out() {
    let signature = "s".repeat(40_000);
    let part = json!({"functionCall": {"name": "time", "args": {}}, "thoughtSignature": signature});
    let reply = json!({"candidates": [{"content": {"parts": [part, part], "role": "model"}}]});
    let server = ModelServer::start([Step::json(reply)]).await;
    let calls = calls(Asker::new(server.port, "").draft("google/g", ToolOffer::All, Vec::new()).await);
    let kept: Vec<usize> = calls.iter().map(|call| call.signatures.iter().map(String::len).sum()).collect();
    assert_eq!(kept, [40_000, 0]);
}

#[tokio::test]
async fn calls_of_one_answer_have_different_ids() {
    let same = || openai_call("call_x", "time", "{}");
    let server =
        ModelServer::start([openai_calls(&json!([same(), same(), openai_call("call_1", "time", "{}")]))]).await;
    let asker = Asker::new(server.port, "");
    let calls = calls(asker.draft(MODEL, ToolOffer::All, vec![step("call_x"), step("call_2")]).await);
    let mut ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).chain(["call_x", "call_2"]).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 5, "{calls:?}");
}
