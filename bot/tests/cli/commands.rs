//! The small commands: the demonstration, the settings, and what they say of themselves.

use super::program::Folder;
use super::talk::{said, with};

#[test]
fn the_demonstration_plays_a_sample_and_shows_every_decision() {
    let folder = Folder::new();
    let alone = folder.run("demo --language en").succeeded();
    for told in [
        "Answered: ",
        "Stayed silent: ",
        "Ignored: ",
        "chance that someone new would join",
        "13 messages",
        "aizuchi replay LOG",
    ] {
        assert!(alone.out.contains(told), "{told:?} is missing: {}", alone.out);
    }
}

#[test]
fn the_demonstration_speaks_japanese() {
    let folder = Folder::new();
    let asked = folder.run("demo --language ja").succeeded();
    assert!(
        asked.out.contains("トマト") && asked.out.contains("答えた：") && !asked.out.contains("Answered: "),
        "{}",
        asked.out
    );
    let here = |environment: &[(&str, &str)], line: &str| folder.run_in(environment, line).succeeded().out;
    assert_eq!(here(&[("LANG", "ja_JP.UTF-8")], "demo"), asked.out);
    assert_eq!(here(&[("LC_ALL", "ja_JP.UTF-8"), ("LANG", "en_US.UTF-8")], "demo"), asked.out);
    assert_ne!(here(&[("LC_ALL", "C"), ("LANG", "ja_JP.UTF-8")], "demo"), asked.out);
    assert_ne!(here(&[("LANG", "ja_JP.UTF-8")], "demo --language en"), asked.out);
}

#[test]
fn the_demonstration_is_a_replay_of_the_sample() {
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/../samples");
    let folder = Folder::new();
    let table = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with(['┌', '│', '╞', '└'])).map(str::to_owned).collect()
    };
    for language in ["en", "ja"] {
        let script = format!("--judge script:{samples}/{language}.judge.jsonl");
        let replayed = folder.run(&format!("replay {samples}/{language}.jsonl {script} --strict --all")).succeeded();
        let played = folder.run(&format!("demo --language {language}")).succeeded();
        assert_eq!(table(&played.out), table(&replayed.out));
        assert!(table(&played.out).len() > 13, "{}", played.out);
    }
}

#[test]
fn the_demonstration_runs_in_every_preset() {
    let folder = Folder::new();
    for preset in ["aizuchi", "kotonoha", "sphene", "myao2"] {
        let run = folder.run(&format!("demo --preset {preset}")).succeeded();
        assert!(run.out.contains(&format!("13 messages, preset {preset}")), "{}", run.out);
    }
}

#[test]
fn the_settings_it_prints_are_a_settings_file_that_changes_nothing() {
    let log: String = (0..60_u32)
        .map(|nth| match nth % 4 {
            0 => with(
                serde_json::json!({"bot": nth % 8 == 0}),
                f64::from(nth) * 20.0,
                &nth.to_string(),
                "bob",
                "誰か知ってる？",
            ),
            1 => said(f64::from(nth) * 20.0, &nth.to_string(), "ann", "aizuchi, what about you?"),
            _ => said(f64::from(nth) * 20.0, &nth.to_string(), "花子", "I would not know, would you?"),
        })
        .collect();
    let folder = Folder::with("talk.jsonl", log);
    let printed = folder.run("settings").succeeded().out;
    // Its posts are numbered along with what it notes for itself, and that is off in a replay unless it is asked for.
    let decide = |options: &str| -> Vec<serde_json::Value> {
        let mut decisions = folder.decide(options);
        decisions.iter_mut().for_each(|line| line["reply_to_guess"] = serde_json::Value::Null);
        decisions
    };
    let without = decide("--judge yes");
    folder.write("printed.toml", &printed);
    assert_eq!(decide("--judge yes --config printed.toml"), without);
    folder.write("aizuchi.toml", &printed);
    assert_eq!(decide("--judge yes"), without);
    assert_ne!(decide("--judge yes --set talk=40%"), without, "a setting does make a difference here");
}

#[test]
fn every_setting_it_prints_has_a_sentence() {
    let printed = Folder::new().run("settings").succeeded().out;
    let lines: Vec<&str> = printed.lines().collect();
    let alone =
        |pair: &&[&str]| !pair[1].is_empty() && !pair[1].starts_with(['#', '[', '"']) && !pair[0].starts_with("# ");
    let bare: Vec<_> = lines.windows(2).filter(alone).map(|pair| pair[1]).collect();
    assert_eq!(bare, [""; 0]);
    for documented in
        ["preset = ", "[response]", "min_wait_seconds = ", "jitter_ratio = ", "low = ", "interval_seconds = "]
    {
        assert!(lines.iter().any(|line| line.starts_with(documented)), "{documented} is missing");
    }
}

#[test]
fn help_lists_every_option_with_a_sentence() {
    let folder = Folder::new();
    let replay = [
        "[LOG]",
        "--journal [<FOLDER>]",
        "--preset <",
        "--config <",
        "--set <KEY=VALUE>",
        "--bot-name <",
        "--judge <",
        "--decisions <",
        "--report <",
        "--json",
        "--me <",
        "--own <",
        "--strict",
        "--all",
        "--help",
    ];
    let prompt = [
        "<QUESTION>",
        "--log <FILE>",
        "--at <",
        "--language <",
        "--preset <",
        "--config <",
        "--set <KEY=VALUE>",
        "--bot-name <",
        "--me <",
        "--json",
        "--help",
    ];
    let all = [
        "run",
        "init",
        "doctor",
        "replay",
        "why",
        "export",
        "rooms",
        "web-link",
        "demo",
        "prompt",
        "settings",
        "help",
        "--help",
        "--version",
    ];
    let pages: [(&str, &[&str]); 13] = [
        ("", &all),
        ("run", &["--no-browser", "--config <", "--set <", "--preset <", "--bot-name <", "--help"]),
        ("doctor", &["--offline", "--json", "--config <", "--set <", "--preset <", "--bot-name <", "--help"]),
        ("init", &["[FOLDER or FILE]", "-y, --yes", "--force", "--help"]),
        ("export", &["--room <", "--since <", "--until <", "--format <", "-o, --output <", "--folder <", "--help"]),
        ("why", &["[MESSAGE-ID]", "--last", "--room <", "--folder <", "--json", "--config <", "--set <", "--help"]),
        ("prompt", &prompt),
        ("replay", &replay),
        ("demo", &["--language <", "--preset <", "--help"]),
        ("rooms", &["list", "close", "--folder <", "--set <", "--help"]),
        ("rooms close", &["<ROOM>", "--folder <", "--help"]),
        ("web-link", &["--config <", "--set <", "--help"]),
        ("settings", &["--help"]),
    ];
    for (command, listed) in pages {
        let long = folder.run(&format!("{command} --help")).succeeded().out;
        let short = folder.run(&format!("{command} -h")).succeeded().out;
        assert_eq!(folder.run(&format!("help {command}")).succeeded().out, long);
        for (option, page) in listed.iter().flat_map(|option| [(option, &long), (option, &short)]) {
            assert!(has_sentence(page, option), "{option} has no sentence in the help of {command:?}: {page}");
        }
    }
    let page = folder.run("replay --help").succeeded().out;
    for told in [
        "no, yes, script:FILE, offline",
        "aizuchi, kotonoha, sphene or myao2",
        "aizuchi.toml",
        "standard input",
        "gzip",
    ] {
        assert!(page.contains(told), "{told:?} is missing: {page}");
    }
}

/// Whether words stand beside an option or below it.
fn has_sentence(page: &str, option: &str) -> bool {
    let mut lines = page.lines().skip_while(|line| {
        let line = line.trim_start();
        !line.strip_prefix("-h, ").or(line.strip_prefix("-V, ")).unwrap_or(line).starts_with(option)
    });
    let beside = lines.next().is_some_and(|line| line.trim().contains("  "));
    beside || lines.next().is_some_and(|line| line.starts_with("          "))
}
