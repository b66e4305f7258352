//! What is refused, with which exit code, and whether the message says how to fix it: 1 if the work failed, 2 if the request was
//! wrong.

use super::program::{Folder, Run};
use super::talk::{outcomes, said};

fn talk() -> Folder {
    Folder::with("talk.jsonl", said(0.0, "m1", "ann", "hello"))
}

#[test]
fn a_log_that_is_not_there() {
    for log in ["none.jsonl", "no/such/folder"] {
        let folder = talk();
        folder.run(&format!("replay {log} --decisions out.jsonl")).refused(1, &["aizuchi: cannot open", log]);
        assert!(!folder.has("out.jsonl"));
    }
}

#[test]
fn a_log_that_is_none() {
    let logs: [(&str, &[u8], &str); 7] = [
        ("noise.bin", b"\x00\x01\xff\xfe\x80", "not in a known log format"),
        ("prose.txt", b"Dear diary,\ntoday I did nothing.\n", "begins with \"Dear diary,\""),
        ("list.json", b"[{\"ts\": 1}]", "not in a known log format"),
        ("cut.gz", b"\x1f\x8bgarbage", "damaged gzip"),
        ("cut.zip", b"PK\x03\x04garbage", "damaged zip"),
        ("export/notes.txt", b"", "not a Slack export"),
        ("odd.json", b"{\"guild\": {}, \"channel\": 3, \"messages\": []}", "must be an object, got 3"),
    ];
    for (file, bytes, told) in logs {
        let log = file.split('/').next().unwrap();
        let run = Folder::with(file, bytes).run(&format!("replay {log} --json"));
        run.refused(1, &[log, told]);
    }
}

#[test]
fn a_log_of_nothing_but_broken_lines() {
    let folder = Folder::with("talk.jsonl", "{\"ts\": 1}\n{\n");
    folder.run("replay talk.jsonl --json").refused(1, &["talk.jsonl:1: ", "talk.jsonl:2: ", "nothing in talk.jsonl"]);
}

/// Three good lines; 2, 4 and 5 are broken.
fn half_broken() -> String {
    [
        said(0.0, "m1", "ann", "one"),
        "{\"ts\": \"yesterday\", \"channel\": \"c\", \"author\": \"ann\", \"text\": \"x\"}\n".into(),
        said(1.0, "m3", "ann", "three"),
        "{\"ts\": 1700000002, \"channel\": \"c\", \"text\": \"x\"}\n".into(),
        "{\"ts\": 1700000002, \"cha\n".into(),
        said(3.0, "m6", "ann", "six"),
    ]
    .concat()
}

#[test]
fn broken_lines_are_skipped_counted_and_told_by_number() {
    let folder = Folder::with("talk.jsonl", half_broken());
    let run = folder.run("replay talk.jsonl --preset sphene --json --decisions out.jsonl --report out.html");
    assert_eq!(run.code, Some(0), "{run:?}");
    let told = [
        "aizuchi: talk.jsonl:2: `ts` must be seconds or RFC 3339, got \"yesterday\"",
        "aizuchi: talk.jsonl:4: no `author`",
        "aizuchi: talk.jsonl:5: invalid JSON: ",
        "aizuchi: 3 of 6 lines could not be read",
    ];
    assert_eq!(run.err.lines().count(), told.len(), "{}", run.err);
    for (line, told) in run.err.lines().zip(told) {
        assert!(line.starts_with(told), "{line:?} is not {told:?}");
    }
    assert_eq!((&run.last_line()["messages"], &run.last_line()["bad_lines"]), (&3.into(), &3.into()));
    let decisions = folder.decisions("out.jsonl");
    assert_eq!(outcomes(&decisions), ["m1 silent score", "m3 silent score", "m6 silent score"]);
    assert!(folder.read("out.html").contains("Lines skipped"));
}

#[test]
fn many_broken_lines_do_not_flood_the_terminal() {
    let folder = Folder::with("talk.jsonl", said(0.0, "m1", "ann", "one") + &"{\n".repeat(1000));
    let run = folder.run("replay talk.jsonl");
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.err.lines().count() < 10 && run.err.contains("1000 of 1001 lines"), "{}", run.err);
    assert!(run.out.contains("1000 lines could not be read"), "{}", run.out);
}

#[test]
fn strict_stops_at_the_first_broken_line() {
    let folder = Folder::with("talk.jsonl", half_broken());
    let run = folder.run("replay talk.jsonl --strict --json --decisions out.jsonl --report out.html");
    let run = run.refused(1, &["talk.jsonl:2: `ts` must be seconds or RFC 3339, got \"yesterday\""]);
    assert_eq!(run.err.lines().count(), 1, "{}", run.err);
    assert!(!folder.has("out.jsonl") && !folder.has("out.html"));
    talk().run("replay talk.jsonl --strict").succeeded();
}

#[test]
fn wrong_usage_names_what_was_meant() {
    for (line, told) in [
        ("replay", "<LOG>"),
        ("relay talk.jsonl", "'replay'"),
        ("replay talk.jsonl --presett sphene", "'--preset'"),
        ("replay talk.jsonl --decision out.jsonl", "'--decisions'"),
        ("replay talk.jsonl more.jsonl", "'more.jsonl'"),
        ("replay talk.jsonl --decisions", "--decisions <OUT.jsonl>"),
        ("replay talk.jsonl --json=yes", "--json"),
        ("replay talk.jsonl --own both", "[possible values: ignored, recorded]"),
        ("demo --language klingon", "[possible values: en, "),
        ("demo talk.jsonl", "'talk.jsonl'"),
        ("settings --all", "'--all'"),
    ] {
        talk().run(line).refused(2, &[told]);
    }
}

#[test]
fn a_wrong_setting_names_where_it_stands_and_what_would_be_right() {
    for (option, told) in [
        ("--set score.lwo=3", "--set score.lwo: unknown setting `score.lwo`; did you mean `score.low`?"),
        ("--set cooldown_seconds=3", "unknown setting `cooldown_seconds`; did you mean `score.cooldown_seconds`?"),
        ("--set score.low=101", "`score.low` must be 0–100, got 101"),
        ("--set score.low=-1", "`score.low` must be a whole number, 0–100, got -1"),
        ("--set score.low=high", "`score.low` must be a whole number, 0–100, got \"high\""),
        ("--set score.low=90 --set score.high=80", "`score.low` must be at most `score.high` (80), got 90"),
        ("--set gates.unasked=perhaps", "`gates.unasked` must be true or false, got \"perhaps\""),
        ("--set MEMORY_ENABLED=perhaps", "`MEMORY_ENABLED` must be true or false, got \"perhaps\""),
        ("--set listen.other_bots=loved", "must be \"ignored\" or \"heard\" or \"answered\", got \"loved\""),
        ("--set bot.zone=Mars/Olympus", "`bot.zone` must be \"UTC\", an offset"),
        ("--set bot.name=", "`bot.name` must be a visible name, got \"\""),
        ("--set gates.quiet_hours=23-7", "\"23:00-07:00\""),
        ("--set score.low", "expected key=value"),
        ("--preset shpene", "--preset shpene: unknown preset \"shpene\"; there are aizuchi, kotonoha, sphene, myao2"),
        ("--set preset=shpene", "unknown preset \"shpene\""),
    ] {
        let folder = talk();
        let run = folder.run(&format!("replay talk.jsonl --json --decisions out.jsonl {option}"));
        run.refused(2, &["aizuchi: ", told]);
        assert!(!folder.has("out.jsonl"), "{option}");
    }
    talk().run("demo --preset shpene").refused(2, &["unknown preset \"shpene\""]);
}

#[test]
fn a_wrong_variable_is_told_by_its_name() {
    for (name, value, told) in [
        ("AIZUCHI__SCORE__LWO", "3", "AIZUCHI__SCORE__LWO: unknown setting `score.lwo`; did you mean `score.low`?"),
        ("AIZUCHI__SCORE__LOW", "300", "AIZUCHI__SCORE__LOW: `score.low` must be 0–100, got 300"),
        ("AIZUCHI__PRESET", "shpene", "AIZUCHI__PRESET: unknown preset \"shpene\""),
        ("COOLDOWN_SECONDS", "soon", "`COOLDOWN_SECONDS` must be a whole number, got \"soon\""),
        ("FAMILIARITY_THRESHOLDS", "a,b", "FAMILIARITY_THRESHOLDS"),
    ] {
        talk().run_in(&[(name, value)], "replay talk.jsonl --json").refused(2, &[told]);
    }
}

#[test]
fn a_wrong_line_in_a_file_is_told_with_file_and_line() {
    for (text, told) in [
        (
            "[gates]\nintervall_seconds = 3\n",
            "own.toml:2: unknown setting `gates.intervall_seconds`; did you mean `gates.interval_seconds`?",
        ),
        ("# ことば\n\n[score]\nlow = 300\n", "own.toml:4: `score.low` must be 0–100, got 300"),
        ("[bot]\nname = \"a\"\n[score\n", "own.toml:3: "),
        ("preset = \"shpene\"\n", "own.toml:1: unknown preset \"shpene\""),
        ("[score]\nlow = 1\nlow = 2\n", "own.toml:3: "),
        ("[channel.\"general\".score]\n\nlwo = 3\n", "own.toml:3: unknown setting `score.lwo`"),
    ] {
        let folder = talk();
        folder.write("own.toml", text);
        folder.run("replay talk.jsonl --json --config own.toml").refused(2, &[told]);
        folder.write("aizuchi.toml", text);
        folder.run("replay talk.jsonl --json").refused(2, &[&told.replace("own.toml", "aizuchi.toml")]);
    }
}

/// A mistake that only a start finds is reported like every other one.
#[test]
fn a_setting_that_keeps_it_from_starting_is_told_with_file_and_line() {
    for (text, told) in [
        ("[models]\nmain = \"foo/bar\"\n", "own.toml:2: models.main: the model \"foo/bar\" has an unknown provider"),
        (
            "[memory]\nenabled = true\nchannel_context = true\n[models]\nsummarize = \"foo/bar\"\n",
            "own.toml:5: models.summarize: the model \"foo/bar\"",
        ),
        ("[channel.\"web:x\".models]\njudge = \"foo/bar\"\n", "own.toml:2: models.judge: the model \"foo/bar\""),
        (
            "[models]\nembed = \"foo/bar\"\n[memory]\nenabled = true\nvectors = true\n",
            "own.toml:2: the model \"foo/bar\"",
        ),
        (
            "[web]\naddress = \"nonsense\"\n",
            "own.toml:2: `web.address` must be an address of this machine with a port, such as \"127.0.0.1:4860\", got \"nonsense\"",
        ),
        ("[web]\naddress = \"127.0.0.1:99999\"\n", "own.toml:2: `web.address` must be an address of this machine"),
        (
            "[web]\naddress = \"0.0.0.0:4860\"\n",
            "own.toml:2: `web.address` must be an address that only this machine can reach",
        ),
        (
            "[models]\nmain = \"mine/x\"\n[providers.mine]\nurl = \"nonsense\"\n",
            "own.toml:4: `providers.mine.url` must be a URL",
        ),
        ("[log]\nlevel = \"loud\"\n", "own.toml:2: `log.level` must be \"error\", "),
        ("[web]\nrooms = [\"a b\"]\n", "own.toml:2: `web.rooms` must be names of 1–40 letters"),
        ("[web]\nrooms = []\n", "own.toml:2: `web.rooms` must be at least one room"),
        ("[channel.\"x\".web]\nrooms = []\n", "own.toml:2: `web.rooms` holds for all channels together"),
    ] {
        let folder = Folder::with("own.toml", text);
        folder.run("run --no-browser --config own.toml").refused(2, &[told]);
    }
}

#[test]
fn a_named_settings_file_must_be_there() {
    let run = talk().run("replay talk.jsonl --config none.toml");
    assert!(run.code.is_some_and(|code| code == 1 || code == 2), "{run:?}");
    assert!(run.out.is_empty() && run.err.contains("none.toml"), "{run:?}");
}

#[test]
fn every_mistake_is_told_at_once() {
    let folder = talk();
    folder.write("aizuchi.toml", "[score]\nlow = 300\nhihg = 4\n");
    let run = folder.run_in(&[("MEMORY_ENABLED", "perhaps")], "replay talk.jsonl --set x=1");
    let run = run.refused(2, &["aizuchi.toml:2: ", "aizuchi.toml:3: ", "MEMORY_ENABLED", "--set x: "]);
    assert_eq!(run.err.lines().count(), 4, "{}", run.err);
}

#[test]
fn a_setting_without_a_key_is_told() {
    let folder = Folder::new();
    for set in ["=1", "  =1", "="] {
        let run = Run::of(folder.command(["stats", "--set", set]).output().unwrap());
        run.refused(2, &["--set: the key before = is missing; expected key=value, such as gates.interval_seconds=300"]);
    }
}

#[test]
fn somebody_who_is_not_in_the_log_is_told() {
    let folder = Folder::with("talk.jsonl", said(0.0, "1", "ann", "hello") + &said(1.0, "2", "bob", "hi"));
    let told = |options: &str| {
        let run = folder.run(&format!("replay talk.jsonl --json {options}"));
        assert_eq!(run.code, Some(0), "{run:?}");
        run.err
    };
    let nobody = |name: &str| format!("aizuchi: --me {name}: nobody of this id or name is in talk.jsonl\n");
    assert_eq!(told("--me ann"), "");
    assert_eq!(told("--me cat"), nobody("cat"));
    assert_eq!(told("--me ann --me cat --me dan"), nobody("cat") + &nobody("dan"));
}

#[test]
fn an_import_names_the_lines_that_are_wrong() {
    let folder = super::memory::sample();
    folder.run("memory export --output all.jsonl").succeeded();
    let (all, facts) = (folder.read("all.jsonl"), folder.run("memory list").succeeded().out);
    folder.write("three.jsonl", format!("nonsense\n{all}{{}}\n\n[]\n"));
    let good = all.lines().count();
    let run = folder.run("memory import three.jsonl").refused(1, &["nothing was imported"]);
    for line in [1, good + 2, good + 4] {
        assert!(
            run.err.contains(&format!("three.jsonl:{line}: expected a line of `aizuchi memory export`")),
            "{run:?}"
        );
    }
    assert!(!run.err.contains("more"), "{run:?}");
    folder.write("many.jsonl", "{}\n".repeat(25));
    let run = folder.run("memory import many.jsonl").refused(1, &["many.jsonl:10: ", "… and 15 more lines"]);
    assert!(!run.err.contains("many.jsonl:11"), "{run:?}");
    assert_eq!(folder.run("memory list").succeeded().out, facts);
}
