//! `aizuchi doctor`: every part, what is wrong with it, and how it is fixed.

use std::net::TcpListener;

use aizuchi::stores::DataFolder;
use aizuchi_test_servers::ports::free_address;
use serde_json::Value;

use super::program::{Folder, Run};
use super::server::{OPENAI_ANSWER, Server};
use super::store::{live, meddle};

const TALK: &str = include_str!("../../../samples/en.jsonl");

/// A port that nobody uses.
pub fn free_port() -> u16 {
    free_address().port()
}

fn doctor(folder: &Folder, options: &str) -> Run {
    folder.run(&format!("doctor --offline --set web.address=127.0.0.1:{} {options}", free_port()))
}

#[track_caller]
fn tells(run: &Run, code: i32, lines: &[&str]) {
    assert_eq!(run.code, Some(code), "{run:?}");
    for line in lines {
        assert!(run.out.lines().any(|told| told.starts_with(line)), "{line:?} is not told: {}", run.out);
    }
}

#[test]
fn on_a_fresh_machine_nothing_fails() {
    let folder = Folder::new();
    let run = doctor(&folder, "");
    let lines = [
        "ok   settings  no file, all defaults (aizuchi init writes one); preset aizuchi, bot name aizuchi",
        "ok   folder    aizuchi-data will be created at the first start",
        "warn model     no model is connected, so the built-in one writes and judges",
        "ok   web       127.0.0.1:",
        "ok   discord   not joined: set DISCORD_TOKEN to join",
        "ok   slack     not joined: set SLACK_BOT_TOKEN and SLACK_APP_TOKEN to join",
        "ok   prompts   the built-in ones",
        "ok   clock     20",
    ];
    tells(&run, 0, &lines);
    assert!(run.out.contains("set an API key in ANTHROPIC_API_KEY or GEMINI_API_KEY") && run.err.is_empty(), "{run:?}");
    assert!(!folder.has("aizuchi-data"), "it looks and does not touch");
}

#[test]
fn what_init_writes_is_well() {
    let folder = Folder::new();
    folder.run("init --yes").succeeded();
    tells(&doctor(&folder, ""), 0, &["ok   settings  aizuchi.toml; preset aizuchi"]);
}

#[test]
fn an_earlier_name_of_a_setting_works_and_is_mentioned() {
    let folder = Folder::with("aizuchi.toml", "preset = \"sphene\"\n[listen]\nstrands = true\n");
    let warned = "warn settings  aizuchi.toml:3: `listen.strands` is called `listen.conversations` now; the earlier name still works";
    tells(&doctor(&folder, ""), 0, &["ok   settings  aizuchi.toml; preset sphene", warned]);
}

#[test]
fn a_schedule_for_a_room_that_nobody_has_opened_is_mentioned() {
    let schedule = |room: &str| format!("[schedule.tea]\nroom = \"{room}\"\ncron = \"0 15 * * *\"\ntext = \"tea\"\n");
    let folder = Folder::with("aizuchi.toml", schedule("web:loby"));
    let told = "warn settings  [schedule.tea] is for the room \"web:loby\", which is not in web.rooms";
    tells(&doctor(&folder, ""), 0, &[told]);
    let folder = Folder::with("aizuchi.toml", schedule("web:Lobby"));
    assert!(!doctor(&folder, "").out.contains("schedule.tea"));
}

#[test]
fn every_mistake_in_the_settings_is_told_with_its_place() {
    let folder = Folder::with("aizuchi.toml", "[score]\nlow = 300\nhihg = 4\n");
    let run = doctor(&folder, "--set x=1");
    let lines = [
        "fail settings  aizuchi.toml:2: `score.low` must be 0–100, got 300",
        "fail settings  aizuchi.toml:3: unknown setting `score.hihg`",
        "fail settings  --set x: unknown setting `x`",
        "warn rest      not checked",
    ];
    tells(&run, 1, &lines);
    assert!(run.err.contains("3 checks failed"), "{run:?}");
    tells(&doctor(&Folder::new(), "--config none.toml"), 1, &["fail settings  cannot read the settings in none.toml"]);
    tells(
        &doctor(&Folder::new(), "--set log.level=loud"),
        1,
        &["fail settings  --set log.level=loud: `log.level` must be \"error\""],
    );
}

#[test]
fn the_store_is_looked_through() {
    let folder = Folder::new();
    live(TALK, "").keep_in(&folder);
    let run = doctor(&folder, "");
    tells(&run, 0, &["ok   folder    aizuchi-data is writable", "ok   store     "]);
    assert!(run.out.contains("and all tables are intact"), "{}", run.out);
    meddle(&folder, "UPDATE journal SET sum = sum + 1 WHERE seq = (SELECT max(seq) FROM journal)");
    tells(&doctor(&folder, ""), 0, &["warn store     the last record of the journal, "]);
    meddle(&folder, "UPDATE journal SET sum = sum + 1 WHERE seq = 2");
    tells(&doctor(&folder, ""), 1, &["fail store     record 2 of the journal is damaged"]);
    meddle(&folder, "PRAGMA user_version = 99");
    tells(&doctor(&folder, ""), 1, &["fail store     the store has version 99"]);
    let junk = Folder::with("aizuchi-data/aizuchi.db", "no database at all, whatever its name may say".repeat(100));
    tells(&doctor(&junk, ""), 1, &["fail store     aizuchi-data/aizuchi.db: "]);
    tells(&doctor(&Folder::with("aizuchi-data", ""), ""), 1, &["fail folder    aizuchi-data is a file"]);
}

#[test]
fn prices_that_nobody_listed_and_what_was_spent_are_told() {
    let folder = Folder::new();
    let at_home = doctor(&folder, "--set models.main=ollama/llama3.2");
    assert!(at_home.code == Some(0) && !at_home.out.contains("budget"), "{at_home:?}");
    let elsewhere = "--set models.main=ollama/big:cloud";
    let told = "budget    no price is listed for ollama/big:cloud: it counts as $3 in and $15 out per million tokens";
    tells(&doctor(&folder, elsewhere), 0, &[&format!("ok   {told}, the most expensive of all")]);
    let limited = format!("{elsewhere} --set budget.total_dollars_per_day=0.5");
    live(TALK, "").keep_in(&folder);
    let run = doctor(&folder, &limited);
    let spent = "ok   budget    spent today in all rooms: 0 calls, 0 tokens, $0.000000 of $0.500000";
    tells(&run, 0, &[&format!("warn {told}"), spent]);
    assert!(run.out.contains("set prices.\"ollama/big:cloud\" = "), "{}", run.out);
}

#[test]
fn a_running_program_is_fine() {
    let folder = Folder::new();
    live(TALK, "").keep_in(&folder);
    let held = DataFolder::take(&folder.path("aizuchi-data")).expect("nobody else has it");
    let room = TcpListener::bind("127.0.0.1:0").expect("there is a port");
    let address = room.local_addr().expect("it has an address");
    let line = format!("doctor --offline --set web.address={address}");
    let lines = [
        "ok   folder    aizuchi-data, in use by a running aizuchi".to_owned(),
        format!("ok   web       {address} is in use by the running aizuchi"),
    ];
    tells(&folder.run(&line), 0, &[&lines[0], &lines[1]]);
    drop(held);
    drop(room);
    tells(&folder.run(&line), 0, &["ok   folder    aizuchi-data is writable"]);
}

/// Whatever keeps `run` from starting is reported by `doctor` too, with and without `--offline`.
#[test]
fn what_run_refuses_is_never_well() {
    let port = free_port();
    let odd = |name: &str| format!("[channel.\"web:x\".models]\nmain = \"{name}\"\n");
    let (no_key, no_model) = (odd("openai/gpt-5-mini"), odd("nobody/none"));
    let rooms = "[channel.\"web:x\"]\npreset = \"nobody\"\n";
    type Variables = [(&'static str, &'static str)];
    let cases: &[(&str, &Variables, &str, &str)] = &[
        ("--set memory.facts_store=firestore", &[], "", "memory.facts_store"),
        ("--set memory.profiles_store=firestore", &[], "", "memory.profiles_store"),
        ("--set memory.channel_context_store=firestore", &[], "", "memory.channel_context_store"),
        ("--set memory.vectors=true --set models.embed=openai/x", &[], "", "OPENAI_API_KEY"),
        (
            "--set memory.vectors=true --set models.embed=anthropic/x",
            &[("ANTHROPIC_API_KEY", "k")],
            "",
            "must be a model that makes embeddings",
        ),
        ("--set models.main=nobody/none", &[], "", "nobody"),
        (
            "--set memory.enabled=true --set memory.channel_context=true --set models.summarize=openai/gpt-5-mini",
            &[],
            "",
            "OPENAI_API_KEY",
        ),
        ("--set web.enabled=false", &[], "", "nowhere to listen"),
        ("--set web.enabled=false", &[("DISCORD_TOKEN", "not a token")], "", "contains invalid characters"),
        ("--set slack.enabled=true", &[("SLACK_BOT_TOKEN", "xoxb-1")], "", "SLACK_APP_TOKEN"),
        ("--set web.address=nowhere", &[], "", "web.address"),
        ("--set log.level=loud", &[], "", "log.level"),
        ("", &[], &no_key, "OPENAI_API_KEY"),
        ("", &[], &no_model, "nobody"),
        ("", &[], "rooms", "nobody"),
    ];
    for (options, variables, file, words) in cases {
        let folder = match *file {
            "" => Folder::new(),
            "rooms" => Folder::with("aizuchi-data/rooms.toml", rooms),
            settings => Folder::with("aizuchi.toml", settings),
        };
        let address =
            if options.contains("web.address") { String::new() } else { format!("--set web.address=127.0.0.1:{port}") };
        let refused = folder.run_in(variables, &format!("run --no-browser {address} {options}"));
        assert!(refused.code.is_some_and(|code| code != 0), "{options} {file}: it runs: {refused:?}");
        assert!(refused.err.contains(words), "{words:?} is not told by run: {refused:?}");
        let looked = folder.run_in(variables, &format!("doctor --offline {address} {options}"));
        assert_eq!(looked.code, Some(1), "{options} {file}: doctor says that all is well: {}", looked.out);
        let told = looked.out.lines().any(|line| line.starts_with("fail ") && line.contains(words));
        assert!(told, "{words:?} is not told by doctor: {}", looked.out);
    }
}

#[test]
fn the_web_room_needs_an_address_and_a_token() {
    let folder = Folder::new();
    let with = |options: &str| folder.run(&format!("doctor --offline {options}"));
    tells(
        &with("--set web.address=nowhere"),
        1,
        &["fail web       `web.address` must be an address of this machine with a port, got \"nowhere\""],
    );
    tells(&with("--set web.enabled=false"), 1, &["fail web       nowhere to listen"]);
    let open = format!("--set web.address=0.0.0.0:{}", free_port());
    tells(&with(&open), 1, &["fail web       0.0.0.0:"]);
    let guarded = folder.run_in(&[("AIZUCHI__WEB__TOKEN", "0123456789abcdef")], &format!("doctor --offline {open}"));
    tells(&guarded, 0, &["ok   web       protected by a token"]);
    assert!(!guarded.out.contains("0123456789abcdef"));
}

#[test]
fn prompts_of_your_own_are_read() {
    let folder = Folder::with("aizuchi-prompts/ja/judge_respond.md", "{{ persona }}さん");
    folder.write("aizuchi-prompts/en/judge_respond.md", "You are {{ persona }}.");
    tells(&doctor(&folder, ""), 0, &["ok   prompts   2 of your own in aizuchi-prompts"]);
    folder.write("aizuchi-prompts/en/reply.md", "{% if %}");
    folder.write("aizuchi-prompts/ja/contribute.md", "はい\n{{ persna }}");
    folder.write("aizuchi-prompts/ja/replay.md", "はい");
    let lines = [
        "fail prompts   aizuchi-prompts/en/reply.md:1: syntax error",
        "fail prompts   aizuchi-prompts/ja/contribute.md:2: undefined value",
        "fail prompts   aizuchi-prompts/ja/replay.md: unknown prompt; did you mean `reply.md`?",
    ];
    tells(&doctor(&folder, ""), 1, &lines);
}

#[test]
fn keys_are_found_and_never_shown() {
    let keys = [("ANTHROPIC_API_KEY", "sk-hush"), ("GEMINI_API_KEY", "hush-hush")];
    let run = Folder::new().run_in(&keys, "doctor --offline --set web.address=127.0.0.1:0");
    tells(&run, 0, &["ok   model     google/gemini-2.5-flash writes: key in GEMINI_API_KEY, not called"]);
    assert!(!run.out.contains("hush"), "{}", run.out);
    let one = Folder::new().run_in(&keys[..1], "doctor --offline --set web.address=127.0.0.1:0");
    tells(&one, 0, &["ok   model     anthropic/claude-sonnet-4-5 writes: key in ANTHROPIC_API_KEY, not called"]);
}

#[test]
fn tokens_of_platforms_are_found_and_never_shown() {
    let line = "doctor --offline --set web.address=127.0.0.1:0";
    let tokens = [("DISCORD_TOKEN", "hush"), ("SLACK_BOT_TOKEN", "xoxb-hush"), ("SLACK_APP_TOKEN", "xapp-hush")];
    let run = Folder::new().run_in(&tokens, line);
    let lines = [
        "ok   discord   token in DISCORD_TOKEN, not checked",
        "ok   slack     tokens in SLACK_BOT_TOKEN and SLACK_APP_TOKEN, not checked",
    ];
    tells(&run, 0, &lines);
    assert!(!run.out.contains("hush"), "{}", run.out);
    let one = Folder::new().run_in(&tokens[..2], line);
    tells(&one, 1, &["fail slack     SLACK_APP_TOKEN is missing — set it to an app-level token (xapp-…)"]);
    let off = Folder::new().run_in(&tokens, &format!("{line} --set discord.enabled=false --set slack.enabled=false"));
    tells(&off, 0, &["ok   discord   disabled", "ok   slack     disabled"]);
}

#[test]
fn a_chosen_model_that_cannot_be_asked_is_told() {
    let chosen = doctor(&Folder::new(), "--set models.main=openai/gpt-5-mini");
    tells(
        &chosen,
        1,
        &[
            "fail model     --set models.main=openai/gpt-5-mini: models.main: the model \"openai/gpt-5-mini\" needs an API key of openai",
        ],
    );
    assert!(chosen.out.contains("OPENAI_API_KEY"), "{}", chosen.out);
    let odd = doctor(&Folder::new(), "--set models.judge=gpt");
    tells(
        &odd,
        1,
        &["fail model     --set models.judge=gpt: models.judge: \"gpt\" is not a model; expected provider/model"],
    );
    let own = Folder::with("aizuchi.toml", "[channel.\"web:x\".models]\nmain = \"openai/gpt-5\"\n");
    let lines = [
        "warn model     no model is connected",
        "fail model     no API key for openai/gpt-5 (writes) — set OPENAI_API_KEY",
    ];
    tells(&doctor(&own, ""), 1, &lines);
    tells(
        &doctor(&Folder::new(), "--set models.main=offline"),
        0,
        &["ok   model     offline writes and judges: built in"],
    );
}

const KEY: &str = "sk-hush-hush";

/// What a doctor tells whose only model is at this port.
fn calling(port: u16, options: &str) -> Run {
    let url = format!("http://127.0.0.1:{port}/v1/");
    let line = format!("doctor --set web.address=127.0.0.1:0 --set models.main=openai/m --set models.judge= {options}");
    let run = Folder::new().run_in(&[("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", &url)], &line);
    assert!(!run.out.contains(KEY) && !run.err.contains(KEY), "{run:?}");
    run
}

#[test]
fn a_model_is_really_called() {
    let server = Server::start(|| Some(("200 OK", OPENAI_ANSWER.into())));
    let run = calling(server.port, "");
    tells(&run, 0, &["ok   model     openai/m writes and judges: key in OPENAI_API_KEY, answered in "]);
    assert!(server.stop()[0].contains(&format!("Bearer {KEY}")));

    let server = Server::start(|| Some(("200 OK", OPENAI_ANSWER.into())));
    tells(
        &calling(server.port, "--offline"),
        0,
        &["ok   model     openai/m writes and judges: key in OPENAI_API_KEY, not called"],
    );
    assert!(server.stop().is_empty(), "offline calls nobody");
}

#[test]
fn a_refused_key_is_named_by_its_variable_and_never_shown() {
    let told = format!("{{\"error\": {{\"message\": \"Incorrect API key provided: {KEY}\"}}}}");
    let server = Server::start(move || Some(("401 Unauthorized", told.clone())));
    let run = calling(server.port, "");
    let line =
        "fail model     openai/m (writes and judges) did not answer: the key in OPENAI_API_KEY was refused by openai";
    tells(&run, 1, &[line]);
}

#[test]
fn a_model_that_is_not_there_or_too_slow_is_told() {
    let line = "fail model     openai/m (writes and judges) did not answer: cannot reach openai at http://127.0.0.1:";
    tells(&calling(free_port(), ""), 1, &[line]);
    let silent = Server::start(|| None);
    let line = "fail model     openai/m (writes and judges) did not answer: no answer within 1 s";
    tells(&calling(silent.port, "--set models.timeout_seconds=1"), 1, &[line]);
}

#[test]
fn machines_read_json() {
    let line = doctor(&Folder::new(), "--json").last_line();
    assert_eq!(line["ok"], true);
    let checks = line["checks"].as_array().expect("a list");
    let of = |part: &str| checks.iter().filter(|check| check["part"] == part).count();
    for part in ["settings", "folder", "model", "web", "discord", "slack", "prompts", "clock"] {
        assert!(of(part) > 0, "{part} is missing: {line}");
    }
    let warned = checks.iter().find(|check| check["level"] == "warn").expect("there is no key");
    assert!(warned["told"].is_string() && warned["mend"].is_string());
    let bad = doctor(&Folder::new(), "--json --set x=1");
    assert_eq!((bad.code, bad.last_line()["ok"] == Value::Bool(false)), (Some(1), true));
}

#[test]
fn a_server_on_this_machine_is_told_and_called() {
    let server =
        Server::start(|| Some(("200 OK", format!(r#"{{"data": [{{"id": "llama3.2"}}], {}"#, &OPENAI_ANSWER[1..]))));
    let folder = Folder::new();
    let options = format!(
        "--set web.address=127.0.0.1:{} --set models.local_server=true --set models.local_server_ms=60000 \
         --set providers.ollama.url=http://127.0.0.1:{}/v1/",
        free_port(),
        server.port
    );
    let run = folder.run(&format!("doctor {options}"));
    let using = format!("ok   model     no key; using llama3.2 of Ollama at 127.0.0.1:{}", server.port);
    tells(&run, 0, &[&using, "ok   model     ollama/llama3.2 writes and judges: no key needed, answered in "]);
    let offline = folder.run(&format!("doctor --offline {options}"));
    tells(&offline, 0, &["warn model     no model is connected"]);
    let asked = server.stop();
    let lines: Vec<&str> = asked.iter().filter_map(|request| request.lines().next()).collect();
    assert_eq!(lines, ["GET /v1/models HTTP/1.1", "POST /v1/chat/completions HTTP/1.1"]);
}
