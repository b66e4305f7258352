//! `aizuchi tools` and what `doctor` says of MCP servers: what there is, what may run, what is wrong.

use super::doctor::free_port;
use super::program::Folder;

/// A server of the tests.
fn counting() -> String {
    format!("command = [\"python3\", {:?}]", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/counting_server.py"))
}

#[test]
fn it_lists_what_there_is_and_says_what_is_missing() {
    let settings = format!(
        "[tools]\nallow = [\"remind\", \"nosuch_*\"]\ndeny = [\"time\"]\n\n[mcp.counting]\n{}\n\n[mcp.absent]\ncommand = \"/nowhere/server\"\n",
        counting()
    );
    let folder = Folder::with("aizuchi.toml", settings);
    let run = folder.run("tools");
    assert_eq!(run.code, Some(0), "{run:?}");
    for line in [
        "time                     reads    deny",
        "remind                   changes  allow",
        "counting_increment       changes  ask",
        "counting_read            reads    allow",
    ] {
        assert!(run.out.lines().any(|told| told.starts_with(line)), "{line:?} is not told: {}", run.out);
    }
    for problem in [
        "the MCP server absent cannot be used: cannot start /nowhere/server: there is no such program",
        "`tools.allow` names \"nosuch_*\", but there is no such tool",
        "nothing has been recorded yet: recall, history and people are left out",
    ] {
        assert!(run.err.contains(problem), "{problem:?} is not told: {}", run.err);
    }
}

#[test]
fn a_tool_is_tried_without_a_room() {
    let folder = Folder::new();
    let time = folder.run(r#"tools call time {"zone":"Asia/Tokyo"}"#);
    assert!(time.out.contains("(Asia/Tokyo)"), "{time:?}");
    let remind = folder.run(r#"tools call remind {"text":"tea","in":"5m"}"#);
    assert!(remind.err.contains("this was a trial: no reminder is set outside of a room"), "{remind:?}");
    for (line, told) in [
        ("tools call fetch {}", "the tool fetch is turned off: set `tools.fetch.hosts`"),
        ("tools call xivapi {}", "the tool xivapi is turned off: set `tools.xivapi.enabled`"),
        ("tools call nosuch {}", "there is no tool \"nosuch\"; there are time, remind"),
        ("tools call time []", "the arguments must be a JSON object"),
    ] {
        let run = folder.run(line);
        assert!(run.code == Some(1) && run.err.contains(told), "{line}: {run:?}");
    }
}

#[test]
fn settings_that_mean_nothing_are_refused() {
    for (text, told) in [
        (
            "[tools]\nallow = [\"t*me\"]",
            "aizuchi.toml:2: `tools.allow` must be names of tools, a star only at their end",
        ),
        (
            "[tools]\napprovers = [\"mia\"]",
            "aizuchi.toml:2: `tools.approvers` must be ids of people with their platform",
        ),
        ("[channel.\"web:a\".tools]\ndeny = [\"\"]", "`tools.deny` must be names of tools"),
    ] {
        let run = Folder::with("aizuchi.toml", text).run("tools");
        assert!(run.code == Some(2) && run.err.contains(told), "{text}: {run:?}");
    }
}

#[test]
fn doctor_starts_each_mcp_server_and_says_what_to_do() {
    let settings = format!(
        "[mcp.counting]\n{}\n\n[mcp.absent]\ncommand = \"/nowhere/server\"\n\n[mcp.asleep]\ncommand = \"/nowhere/else\"\nenabled = false\n",
        counting()
    );
    let folder = Folder::with("aizuchi.toml", settings);
    let port = free_port();
    let run = folder.run(&format!("doctor --set web.address=127.0.0.1:{port}"));
    for line in [
        "ok   mcp       counting: started, 2 tools: increment, read",
        "fail mcp       absent: cannot start /nowhere/server: there is no such program",
        "ok   mcp       asleep: disabled",
    ] {
        assert!(run.out.lines().any(|told| told.starts_with(line)), "{line:?} is not told: {}", run.out);
    }
    assert_eq!(run.code, Some(1), "{run:?}");
    let offline = folder.run(&format!("doctor --offline --set web.address=127.0.0.1:{port}"));
    assert!(offline.out.contains("ok   mcp       counting: not started"), "{}", offline.out);
}
