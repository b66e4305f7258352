//! Texts become vectors, in the formats of the providers.

use aizuchi::meter::Meter;
use aizuchi::models::Embeddings;
use aizuchi::ports::{Embedder as _, ModelError};
use aizuchi_core::settings::Layers;
use aizuchi_test_servers::models::{ModelServer, Step};
use serde_json::json;

fn embedder(model: &str, port: u16, format: &str) -> Result<Embeddings, String> {
    let mut layers = Layers::default();
    let text =
        format!("[providers.mine]\nurl = \"http://127.0.0.1:{port}\"\nformat = \"{format}\"\nkey = \"MINE_KEY\"\n");
    layers.add_file("test", &text);
    layers.add_assignment(&format!("models.embed={model}"));
    layers.add_assignment("models.retries_max=1");
    let policies = layers.resolve(&|_| None).expect("the settings are right");
    Embeddings::new(&policies, &|name| (name == "MINE_KEY").then(|| "sesame".to_owned()))
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[tokio::test]
async fn openai_vectors_come_in_their_order_and_of_length_one() {
    let body = json!({"object": "list", "model": "m", "usage": {"prompt_tokens": 3, "total_tokens": 3}, "data": [
        {"object": "embedding", "index": 1, "embedding": [0.0, 2.0]},
        {"object": "embedding", "index": 0, "embedding": [3.0, 4.0]}]});
    let server = ModelServer::start([Step::json(body)]).await;
    let embedder = embedder("mine/some-model", server.port, "openai").unwrap();
    let vectors = embedder.embed(&texts(&["猫", "cat"]), &Meter::default()).await.unwrap();
    assert_eq!(vectors, [vec![0.6, 0.8], vec![0.0, 1.0]]);
    assert_eq!(embedder.model(), "mine/some-model");
    let seen = server.seen().remove(0);
    assert_eq!(seen.line, "POST /v1/embeddings");
    assert_eq!((&seen.body["model"], &seen.body["input"]), (&json!("some-model"), &json!(["猫", "cat"])));
    assert_eq!(seen.headers["authorization"], "Bearer sesame");
}

#[tokio::test]
async fn google_is_asked_in_its_own_format() {
    let body = json!({"embeddings": [{"values": [0.0, -5.0]}]});
    let server = ModelServer::start([Step::json(body)]).await;
    let vectors = embedder("mine/text-embedding-004", server.port, "google").unwrap();
    assert_eq!(vectors.embed(&texts(&["tea"]), &Meter::default()).await.unwrap(), [vec![0.0, -1.0]]);
    let seen = server.seen().remove(0);
    assert_eq!(seen.line, "POST /v1beta/models/text-embedding-004:batchEmbedContents");
    assert_eq!(seen.headers["x-goog-api-key"], "sesame");
    assert_eq!(seen.body["requests"][0]["content"]["parts"][0]["text"], "tea");
}

#[tokio::test]
async fn many_texts_go_out_in_bundles_and_trouble_is_told() {
    let vectors = |count: usize| {
        let data: Vec<_> =
            (0..count).map(|index| json!({"object": "embedding", "index": index, "embedding": [1.0, 0.0]})).collect();
        Step::json(
            json!({"object": "list", "model": "m", "usage": {"prompt_tokens": 1, "total_tokens": 1}, "data": data}),
        )
    };
    let busy = Step::status(503, &[("retry-after", "0")], "{}");
    let server =
        ModelServer::start([busy, vectors(64), vectors(6), vectors(1), vectors(1), Step::status(401, &[], "{}")]).await;
    let embedder = embedder("mine/m", server.port, "openai").unwrap();
    let many: Vec<String> = (0..70).map(|number| format!("text {number}")).collect();
    assert_eq!(embedder.embed(&many, &Meter::default()).await.unwrap().len(), 70);
    let told = embedder.embed(&texts(&["a", "b"]), &Meter::default()).await.unwrap_err();
    assert_eq!(told, ModelError::TryLater { after: None, what: "mine returned 1 vectors for 2 texts".into() });
    assert_eq!(embedder.embed(&[], &Meter::default()).await.unwrap(), Vec::<Vec<f32>>::new());
    assert!(embedder.embed(&texts(&["a"]), &Meter::default()).await.is_ok());
    let told = embedder.embed(&texts(&["a"]), &Meter::default()).await.unwrap_err();
    assert_eq!(told, ModelError::GiveUp { what: "the key in MINE_KEY was refused by mine".into() });
}

#[test]
fn a_model_that_makes_no_vectors_is_told_at_the_start() {
    let told = |model: &str| embedder(model, 1, "openai").err().expect("it is refused");
    assert!(told("offline").contains("google"), "{}", told("offline"));
    assert!(told("anthropic/claude").contains("needs an API key"), "{}", told("anthropic/claude"));
    assert!(told("text-embedding-004").contains("GEMINI_API_KEY"), "{}", told("text-embedding-004"));
    let told = embedder("mine/x", 1, "anthropic").err().expect("it is refused");
    assert!(told.contains("`models.embed` must be a model that makes embeddings, got \"mine/x\""), "{told}");
}
