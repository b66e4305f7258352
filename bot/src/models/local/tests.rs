//! A small made-up BERT in a folder: its vectors are those that numpy computes from the same numbers.

use crate::meter::Meter;
use std::collections::HashMap;

use aizuchi_test_servers::folder::Scratch;

use super::*;

const HIDDEN: usize = 32;
const INNER: usize = 48;
const POSITIONS: usize = 16;
const TOKENS: [&str; 12] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "cat", "sat", "on", "mat", "##s", "dog", "猫"];

struct Place(Scratch);

impl Place {
    /// A folder with a whole model.
    fn new(name: &str) -> Place {
        let place = Place(Scratch::new(&format!("local-{name}")));
        std::fs::create_dir(place.0.join("1_Pooling")).unwrap();
        place.write("config.json", &config("bert"));
        place.write("tokenizer.json", &tokenizer_json());
        place.write("1_Pooling/config.json", r#"{"pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true}"#);
        candle_core::safetensors::save(&weights(), place.0.join("model.safetensors")).unwrap();
        place
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.0.join(file), text).unwrap();
    }

    fn remove(&self, file: &str) {
        std::fs::remove_file(self.0.join(file)).unwrap();
    }

    fn open(&self) -> LocalEmbeddings {
        LocalEmbeddings::open(&self.0).unwrap()
    }

    fn refused(&self, told: &[&str]) {
        let error = LocalEmbeddings::open(&self.0).err().expect("a broken folder is not used");
        assert!(told.iter().all(|part| error.contains(part)), "{error}");
    }
}

fn config(kind: &str) -> String {
    serde_json::json!({
        "model_type": kind, "vocab_size": TOKENS.len(), "hidden_size": HIDDEN, "num_hidden_layers": 2,
        "num_attention_heads": 4, "intermediate_size": INNER, "hidden_act": "gelu", "hidden_dropout_prob": 0.1,
        "max_position_embeddings": POSITIONS, "type_vocab_size": 2, "initializer_range": 0.02,
        "layer_norm_eps": 1e-12, "pad_token_id": 0,
    })
    .to_string()
}

/// With a padding and a length of its own, as folders have them.
fn tokenizer_json() -> String {
    let vocab: Map<String, Value> = TOKENS.iter().enumerate().map(|(id, token)| ((*token).into(), id.into())).collect();
    serde_json::json!({
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 20}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0,
            "pad_type_id": 0, "pad_token": "[PAD]"},
        "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "decoder": null,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocab},
    })
    .to_string()
}

/// Numbers between -0.5 and 0.5 that anybody can make again.
fn number(tensor: u32, index: u32) -> f32 {
    let mut mixed = (index + 1).wrapping_mul(2_654_435_761) ^ (tensor + 1).wrapping_mul(2_246_822_519);
    mixed ^= mixed >> 15;
    mixed = mixed.wrapping_mul(2_246_822_519);
    mixed ^= mixed >> 13;
    (mixed >> 8) as f32 / (1 << 24) as f32 - 0.5
}

fn shapes() -> Vec<(String, Vec<usize>)> {
    let mut shapes: Vec<(String, Vec<usize>)> = vec![
        ("embeddings.word_embeddings.weight".into(), vec![TOKENS.len(), HIDDEN]),
        ("embeddings.position_embeddings.weight".into(), vec![POSITIONS, HIDDEN]),
        ("embeddings.token_type_embeddings.weight".into(), vec![2, HIDDEN]),
        ("embeddings.LayerNorm.weight".into(), vec![HIDDEN]),
        ("embeddings.LayerNorm.bias".into(), vec![HIDDEN]),
    ];
    for layer in 0..2 {
        let parts = [
            ("attention.self.query", Some(HIDDEN), HIDDEN),
            ("attention.self.key", Some(HIDDEN), HIDDEN),
            ("attention.self.value", Some(HIDDEN), HIDDEN),
            ("attention.output.dense", Some(HIDDEN), HIDDEN),
            ("attention.output.LayerNorm", None, HIDDEN),
            ("intermediate.dense", Some(HIDDEN), INNER),
            ("output.dense", Some(INNER), HIDDEN),
            ("output.LayerNorm", None, HIDDEN),
        ];
        for (part, from, to) in parts {
            let weight = from.map_or(vec![to], |from| vec![to, from]);
            shapes.push((format!("encoder.layer.{layer}.{part}.weight"), weight));
            shapes.push((format!("encoder.layer.{layer}.{part}.bias"), vec![to]));
        }
    }
    shapes
}

fn weights() -> HashMap<String, Tensor> {
    let tensor = |(index, (name, shape)): (u32, (String, Vec<usize>))| {
        let raise = if name.ends_with("LayerNorm.weight") { 1.0 } else { 0.0 };
        let count = u32::try_from(shape.iter().product::<usize>()).unwrap();
        let numbers: Vec<f32> = (0..count).map(|at| number(index, at) + raise).collect();
        (name, Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap())
    };
    (0..).zip(shapes()).map(tensor).collect()
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn far(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| (one - other).abs()).fold(0.0, f32::max)
}

/// The first numbers of two vectors as numpy (float64) computes them, over the tokens 2 4 5 9 6 3 and 2 11 3.
const CATS: [f32; 6] = [-0.0746531, -0.1295856, 0.0123441, 0.0938869, 0.0673684, -0.2336864];
const NEKO: [f32; 6] = [-0.0130538, -0.0787891, 0.1011288, 0.2173218, 0.0153750, -0.1790555];

#[tokio::test]
async fn vectors_are_those_of_another_implementation() {
    let vectors = Place::new("numpy").open().embed(&texts(&["The cats SAT", "猫"]), &Meter::default()).await.unwrap();
    assert!(far(&vectors[0], &CATS) < 1e-5, "{:?}", &vectors[0][..6]);
    assert!(far(&vectors[1], &NEKO) < 1e-5, "{:?}", &vectors[1][..6]);
}

#[tokio::test]
async fn a_text_means_the_same_alone_and_among_others() {
    let model = Place::new("batch").open();
    let mut all = texts(&["cat", "", "the cat sat on the mat", "dog", "zebra", "猫が on the mats", "the dogs"]);
    all.extend(texts(&["sat", "mat", "on"]));
    assert!(all.len() > TOGETHER);
    let together = model.embed(&all, &Meter::default()).await.unwrap();
    assert_eq!(together, model.embed(&all, &Meter::default()).await.unwrap());
    for (index, (text, vector)) in all.iter().zip(&together).enumerate() {
        let alone = model.embed(std::slice::from_ref(text), &Meter::default()).await.unwrap().remove(0);
        assert!(far(&alone, vector) < 1e-5, "{text}");
        let length = vector.iter().map(|number| number * number).sum::<f32>();
        assert!(vector.len() == HIDDEN && (length - 1.0).abs() < 1e-5, "{text}");
        assert!(together[..index].iter().all(|other| far(other, vector) > 1e-2), "{text}");
    }
    assert!(model.embed(&[], &Meter::default()).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_long_text_is_cut_where_the_model_ends() {
    let place = Place::new("long");
    let read =
        async |words: &[&str]| place.open().embed(&[words.join(" ")], &Meter::default()).await.unwrap().remove(0);
    assert_eq!(read(&["cat"; 100]).await, read(&["cat"; POSITIONS - 2]).await);
    assert!(far(&read(&["cat"; POSITIONS - 2]).await, &read(&["cat"; POSITIONS - 3]).await) > 1e-4);
    place.write("sentence_bert_config.json", r#"{"max_seq_length": 8}"#);
    assert_eq!(read(&["cat"; 100]).await, read(&["cat"; 6]).await);
}

#[tokio::test]
async fn words_alone_make_the_same_tokenizer() {
    let place = Place::new("words");
    let all = texts(&["The cats sat", "猫 zebra"]);
    let before = place.open().embed(&all, &Meter::default()).await.unwrap();
    place.remove("tokenizer.json");
    place.write("vocab.txt", &TOKENS.join("\n"));
    assert_eq!(before, place.open().embed(&all, &Meter::default()).await.unwrap());
    place.write("tokenizer_config.json", r#"{"do_lower_case": false}"#);
    assert_ne!(before, place.open().embed(&all, &Meter::default()).await.unwrap());
    place.write("vocab.txt", "cat\ndog");
    place.refused(&["vocab.txt", "[CLS]"]);
}

#[test]
fn a_name_belongs_to_one_model() {
    let (place, again) = (Place::new("name"), Place::new("another-name"));
    let name = place.open().model().to_owned();
    assert!(name.starts_with("folder/aizuchi-local-name-") && name.contains('@'), "{name}");
    assert_eq!(name, place.open().model());
    assert_eq!(name.rsplit('@').next(), again.open().model().rsplit('@').next());
    let mut other = weights();
    other.insert(
        "embeddings.LayerNorm.bias".into(),
        Tensor::from_vec(vec![0.25f32; HIDDEN], HIDDEN, &Device::Cpu).unwrap(),
    );
    candle_core::safetensors::save(&other, place.0.join("model.safetensors")).unwrap();
    assert_ne!(name, place.open().model());
}

#[test]
fn a_broken_folder_is_told() {
    let place = Place::new("broken");
    place.write("1_Pooling/config.json", r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#);
    place.refused(&["1_Pooling/config.json", "pooling_mode_cls_token", "mean"]);
    place.remove("1_Pooling/config.json");
    place.write("modules.json", r#"[{"type": "sentence_transformers.models.Dense"}]"#);
    place.refused(&["modules.json", "Dense"]);
    place.remove("modules.json");
    place.write("config.json", &config("xlm-roberta"));
    place.refused(&["config.json", "xlm-roberta"]);
    place.write("config.json", &config("bert").replace("\"num_attention_heads\":4", "\"num_attention_heads\":5"));
    place.refused(&["config.json", "5 heads"]);
    place.write("config.json", &config("bert").replace("\"vocab_size\":12", "\"vocab_size\":11"));
    place.refused(&["tokenizer.json", "token 11", "vocab_size 11"]);
    place.write(
        "config.json",
        &config("bert").replace("\"max_position_embeddings\":16", "\"max_position_embeddings\":2"),
    );
    place.refused(&["config.json", "too small"]);
    place.write("config.json", &config("bert").replace("\"num_hidden_layers\":2", "\"num_hidden_layers\":3"));
    place.refused(&["model.safetensors", "encoder.layer.2"]);
    place.write("config.json", "{}");
    place.refused(&["config.json", "vocab_size"]);
    place.write("config.json", &config("bert"));
    place.write("model.safetensors", "no weights");
    place.refused(&["model.safetensors"]);
    place.remove("model.safetensors");
    place.refused(&["no model.safetensors"]);
    place.write("tokenizer.json", "[]");
    place.refused(&["tokenizer.json"]);
    place.remove("tokenizer.json");
    place.refused(&["no tokenizer.json", "vocab.txt"]);
    place.remove("config.json");
    place.refused(&["no config.json"]);
    drop(std::fs::remove_dir_all(&*place.0));
    place.refused(&["cannot open", "aizuchi-local"]);
}
