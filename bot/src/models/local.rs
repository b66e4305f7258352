//! Embeds texts on this machine, with a model folder in the sentence-transformers format.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use candle_core::{Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config, DTYPE};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokenizers::models::wordpiece::WordPiece;
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::processors::bert::BertProcessing;
use tokenizers::{Encoding, PaddingParams, PostProcessor as _, Tokenizer, TruncationParams};
use xxhash_rust::xxh3::Xxh3;

use super::embed::of_length_one;
use super::errors::give_up;
use crate::meter::Meter;
use crate::ports::{BoxFuture, Embedder, ModelError};
use crate::redacted;

/// A BERT with mean pooling: the MiniLM family and similar models.
pub struct LocalEmbeddings {
    reader: Arc<TextEncoder>,
    name: String,
}

/// How many texts are embedded in one batch. Attention needs memory for each pair of their tokens.
const TOGETHER: usize = 8;

impl LocalEmbeddings {
    /// Loads the model in a folder. `Err` names the file that is missing or invalid.
    pub fn open(folder: &Path) -> Result<LocalEmbeddings, String> {
        let place = folder.canonicalize().map_err(|error| format!("cannot open {folder:?}: {error}"))?;
        let mut files = ModelFiles { folder: &place, digest: Xxh3::new() };
        let reader = Arc::new(TextEncoder::open(&mut files)?);
        let called = place.file_name().unwrap_or(place.as_os_str()).to_string_lossy();
        // Two versions of a model may differ only in their weights.
        let name = format!("folder/{called}@{:016x}", files.digest.digest());
        Ok(LocalEmbeddings { reader, name })
    }
}

impl Embedder for LocalEmbeddings {
    fn model(&self) -> &str {
        &self.name
    }

    /// A local model costs nothing.
    fn embed<'a>(&'a self, texts: &'a [String], _: &'a Meter) -> BoxFuture<'a, Result<Vec<Vec<f32>>, ModelError>> {
        Box::pin(async move {
            let mut vectors = Vec::with_capacity(texts.len());
            for together in texts.chunks(TOGETHER) {
                let (reader, together) = (self.reader.clone(), together.to_vec());
                let made = tokio::task::spawn_blocking(move || reader.sums(&together)).await;
                let made =
                    made.map_err(|error| give_up(format!("{} failed: {}", self.name, redacted::join_error(&error))))?;
                let sums = made.map_err(|error| give_up(format!("{} cannot tokenise the text: {error}", self.name)))?;
                for sum in sums {
                    vectors.push(of_length_one(sum)?);
                }
            }
            Ok(vectors)
        })
    }
}

struct TextEncoder {
    tokenizer: Tokenizer,
    bert: BertModel,
}

impl TextEncoder {
    fn open(files: &mut ModelFiles<'_>) -> Result<TextEncoder, String> {
        let config: Config = files.json(CONFIG)?.ok_or_else(|| files.lacks(CONFIG))?;
        fits(&config).map_err(|odd| files.odd(CONFIG, odd))?;
        only_a_mean(files)?;
        let tokenizer = tokenizer(files, &config)?;
        let weights = files.read(WEIGHTS)?.ok_or_else(|| files.lacks(WEIGHTS))?;
        let bert = VarBuilder::from_buffered_safetensors(weights, DTYPE, &Device::Cpu)
            .and_then(|weights| BertModel::load(weights, &config))
            .map_err(|error| files.odd(WEIGHTS, error))?;
        Ok(TextEncoder { tokenizer, bert })
    }

    /// The sum of the token vectors of each text. Vectors are normalized, so the mean would give the same result.
    fn sums(&self, texts: &[String]) -> tokenizers::Result<Vec<Vec<f32>>> {
        let read = self.tokenizer.encode_batch(texts.iter().map(String::as_str).collect(), true)?;
        let tokens = read.first().map_or(0, Encoding::len);
        let table = |column: fn(&Encoding) -> &[u32]| {
            let numbers: Vec<u32> = read.iter().flat_map(column).copied().collect();
            Tensor::from_vec(numbers, (read.len(), tokens), &Device::Cpu)
        };
        let mask = table(Encoding::get_attention_mask)?;
        let hidden = self.bert.forward(&table(Encoding::get_ids)?, &table(Encoding::get_type_ids)?, Some(&mask))?;
        let heard = hidden.broadcast_mul(&mask.to_dtype(DTYPE)?.unsqueeze(2)?)?;
        Ok(heard.sum(1)?.to_vec2()?)
    }
}

const CONFIG: &str = "config.json";
const WEIGHTS: &str = "model.safetensors";
const TOKENIZER: &str = "tokenizer.json";
const WORDS: &str = "vocab.txt";

/// Checks what candle does not validate.
fn fits(config: &Config) -> Result<(), String> {
    let (kind, size, heads) = (config.model_type.as_deref(), config.hidden_size, config.num_attention_heads);
    match kind {
        Some("bert") | None if heads > 0 && size % heads == 0 => Ok(()),
        Some("bert") | None => Err(format!("hidden_size {size} is not divisible by {heads} heads")),
        Some(kind) => Err(format!("unsupported model_type {kind:?}; only \"bert\" is supported")),
    }
}

/// Rejects a model that pools its vectors in another way.
fn only_a_mean(files: &mut ModelFiles<'_>) -> Result<(), String> {
    const MODULES: &str = "modules.json";
    const POOLING: &str = "1_Pooling/config.json";
    for module in files.json::<Vec<Map<String, Value>>>(MODULES)?.unwrap_or_default() {
        let kind = module.get("type").and_then(Value::as_str).unwrap_or_default();
        if !matches!(kind.rsplit('.').next(), Some("Transformer" | "Pooling" | "Normalize")) {
            return Err(files.odd(MODULES, format!("unsupported module {kind:?}")));
        }
    }
    for (key, value) in files.json::<Map<String, Value>>(POOLING)?.unwrap_or_default() {
        let wrong = match key.as_str() {
            "pooling_mode_mean_tokens" => value == false,
            "pooling_mode" => value != "mean",
            _ => key.starts_with("pooling_mode_") && value == true,
        };
        if wrong {
            return Err(files.odd(POOLING, format!("{key} is {value}; only mean pooling is supported")));
        }
    }
    Ok(())
}

fn tokenizer(files: &mut ModelFiles<'_>, config: &Config) -> Result<Tokenizer, String> {
    let (file, tokenizer) = match files.read(TOKENIZER)? {
        Some(bytes) => (TOKENIZER, Tokenizer::from_bytes(bytes)),
        None => match files.read(WORDS)? {
            Some(bytes) => (WORDS, of_words(&bytes, lowercases(files)?)),
            None => return Err(format!("{} and no {WORDS}", files.lacks(TOKENIZER))),
        },
    };
    let mut tokenizer = tokenizer.map_err(|error| files.odd(file, error))?;
    let (last, known) = (tokenizer.get_vocab(true).into_values().max().unwrap_or(0), config.vocab_size);
    if last as usize >= known {
        return Err(files.odd(file, format!("token {last} exceeds the vocab_size {known} of {CONFIG}")));
    }
    let limit = tokens_max(files)?.unwrap_or(usize::MAX).min(config.max_position_embeddings);
    let around = tokenizer.get_post_processor().map_or(0, |around| around.added_tokens(false));
    if limit <= around {
        return Err(files.odd(CONFIG, format!("a limit of {limit} tokens is too small for a text")));
    }
    // The padding and length in the folder are those of the training.
    tokenizer.with_padding(Some(PaddingParams::default()));
    let cut = TruncationParams { max_length: limit, ..TruncationParams::default() };
    tokenizer.with_truncation(Some(cut)).map_err(|error| files.odd(file, error))?;
    Ok(tokenizer)
}

/// The maximum length the model was made for, which may be shorter than its number of positions.
fn tokens_max(files: &mut ModelFiles<'_>) -> Result<Option<usize>, String> {
    let more: Option<Map<String, Value>> = files.json("sentence_bert_config.json")?;
    let tokens = more.and_then(|more| more.get("max_seq_length")?.as_u64());
    Ok(tokens.map(|tokens| usize::try_from(tokens).unwrap_or(usize::MAX)))
}

fn lowercases(files: &mut ModelFiles<'_>) -> Result<bool, String> {
    let more: Option<Map<String, Value>> = files.json("tokenizer_config.json")?;
    Ok(more.and_then(|more| more.get("do_lower_case")?.as_bool()).unwrap_or(true))
}

/// BERT's own tokenizer, for a folder that has only a vocabulary.
fn of_words(bytes: &[u8], lowercase: bool) -> tokenizers::Result<Tokenizer> {
    let mut tokenizer = Tokenizer::new(WordPiece::builder().vocab(WordPiece::read_bytes(bytes)?).build()?);
    let numbered = |token: &str| {
        let id = tokenizer.token_to_id(token).ok_or_else(|| format!("the vocabulary has no {token}"))?;
        Ok::<_, String>((token.to_owned(), id))
    };
    let (begin, end) = (numbered("[CLS]")?, numbered("[SEP]")?);
    numbered("[UNK]")?;
    tokenizer.with_normalizer(Some(BertNormalizer::new(true, true, None, lowercase)))?;
    tokenizer.with_pre_tokenizer(Some(BertPreTokenizer));
    tokenizer.with_post_processor(Some(BertProcessing::new(end, begin)));
    Ok(tokenizer)
}

/// A folder that is being read, and the digest of everything read from it.
struct ModelFiles<'a> {
    folder: &'a Path,
    digest: Xxh3,
}

impl ModelFiles<'_> {
    fn read(&mut self, file: &str) -> Result<Option<Vec<u8>>, String> {
        match std::fs::read(self.folder.join(file)) {
            Ok(bytes) => {
                self.digest.update(file.as_bytes());
                self.digest.update(&(bytes.len() as u64).to_le_bytes());
                self.digest.update(&bytes);
                Ok(Some(bytes))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.odd(file, error)),
        }
    }

    fn json<T: DeserializeOwned>(&mut self, file: &str) -> Result<Option<T>, String> {
        let Some(bytes) = self.read(file)? else { return Ok(None) };
        serde_json::from_slice(&bytes).map(Some).map_err(|error| self.odd(file, error))
    }

    fn lacks(&self, file: &str) -> String {
        format!("{} has no {file}", self.folder.display())
    }

    fn odd(&self, file: &str, what: impl std::fmt::Display) -> String {
        format!("cannot use {}: {what}", self.folder.join(file).display())
    }
}

#[cfg(test)]
mod tests;
