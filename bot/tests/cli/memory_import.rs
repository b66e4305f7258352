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
