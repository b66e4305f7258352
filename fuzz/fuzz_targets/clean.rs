//! Whatever a model writes, cleaning removes only its ends, and checking it for silence does not fail.
#![no_main]

use aizuchi_core::reply::{clean, is_repeat, is_silence};
use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 2] = ["aizuchi", "相槌"];

fuzz_target!(|text: &str| {
    let answer = clean(text, &NAMES);
    assert!(text.contains(answer) && answer.trim() == answer, "{answer:?}");
    let is_name = |word: &str| word == "mia";
    for addressed in [false, true] {
        let silent = is_silence(answer, addressed, &is_name);
        assert_eq!(silent, is_silence(&format!(" {answer}\n"), addressed, &is_name), "space around it changes nothing");
    }
    assert!(
        !is_silence(answer, true, &is_name) || is_silence(answer, false, &is_name),
        "the person who asked is owed more"
    );
    if !answer.is_empty() {
        let _ = is_repeat(answer, [text, answer], 0.8);
    }
});
