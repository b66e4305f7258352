//! `aizuchi memory import` says what became of each line.

use super::memory::sample;

#[test]
fn an_import_counts_what_was_kept() {
    let folder = sample();
    let exported = folder.run("memory export").succeeded().out;
    let out = exported.lines().find(|line| line.contains("\"names\"")).unwrap();
    let out = out.replace("\"opted_out\":false", "\"opted_out\":true");
    folder.write("out.jsonl", format!("{out}\n"));
    folder.run("memory import out.jsonl --folder other").succeeded();
    folder.write("all.jsonl", &exported);
    let told = folder.run("memory import all.jsonl --folder other").succeeded().out;
    assert!(told.contains("are about people who opted out, and were not kept"), "{told}");
    assert!(told.contains(&format!(" of {} lines", exported.lines().count())), "{told}");
    let again = folder.run("memory import all.jsonl --folder other").succeeded().out;
    assert!(again.contains("are about people who were known already"), "{again}");
}

/// A value that is written elsewhere than it should be, and what the program says of it.
#[test]
fn an_import_names_every_odd_value_and_what_would_be_right() {
    let folder = sample();
    let exported = folder.run("memory export").succeeded().out;
    let fact = exported.lines().find(|line| line.contains("The tea is from Uji")).unwrap();
    let person = exported.lines().find(|line| line.contains("\"names\":[\"Ann\"]")).unwrap();
    let odd = |line: &str, pointer: &str, value: serde_json::Value| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        *line.pointer_mut(pointer).expect(pointer) = value;
        line.to_string()
    };
    let lines = [
        (odd(fact, "/fact/confidence", 5.into()), "confidence must be 0–1, got 5"),
        (odd(fact, "/fact/confidence", (-0.5).into()), "confidence must be 0–1, got -0.5"),
        (odd(fact, "/fact/content", " ".into()), "content must be a text that is not empty"),
        (odd(fact, "/fact/content", "tea\u{7}".into()), "a text must be without control characters"),
        (odd(fact, "/fact/at", 9_999_999_999_999_u64.into()), "at must be at most now, which is "),
        (odd(fact, "/fact/people/0", "ann".into()), "the id of a person must be PLATFORM:NAME"),
        (odd(fact, "/fact/room", "lobby".into()), "room must be PLATFORM:NAME"),
        (odd(person, "/person/last_seen", 9_999_999_999_999_u64.into()), "last_seen must be at most now"),
        (odd(person, "/person/id", "".into()), "the id of a person must be PLATFORM:NAME"),
    ];
    let all: Vec<&str> = lines.iter().map(|(line, _)| &**line).collect();
    folder.write("odd.jsonl", format!("{exported}{}\n", all.join("\n")));
    let first = exported.lines().count() + 1;
    let run = folder.run("memory import odd.jsonl --folder other").refused(1, &["nothing was imported"]);
    for (at, (_, why)) in lines.iter().enumerate() {
        assert!(run.err.contains(&format!("odd.jsonl:{}: {why}", first + at)), "{why}: {run:?}");
    }
    assert!(!folder.path("other").join("aizuchi.db").exists(), "nothing was begun");
    folder.write("all.jsonl", &exported);
    folder.run("memory import all.jsonl --folder other").succeeded();
}
