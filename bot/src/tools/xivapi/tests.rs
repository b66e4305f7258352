//! Against a server that plays the documented answers.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{Xivapi, XivapiSettings};
use crate::tools::fetch::tests::call;
use crate::tools::fetch::tests::server::{Reply, Server, page, response};

async fn xivapi(reply: impl Fn(&str) -> Reply + Send + Sync + 'static) -> (Xivapi, Server) {
    let server = Server::start(reply).await;
    let url = format!("http://{}/api", server.address);
    let settings = XivapiSettings { enabled: true, url, ..XivapiSettings::default() };
    (Xivapi::new(settings).expect("it is enabled"), server)
}

async fn ask(xivapi: &Xivapi, arguments: Value) -> Result<String, String> {
    call(xivapi, arguments).await.map(|output| {
        assert!(output.from_outside);
        output.text.into()
    })
}

fn with_json(body: Value) -> impl Fn(&str) -> Reply {
    move |_| page("application/json", body.to_string())
}

/// The path and the decoded query of the only request.
fn asked(server: &Server) -> (String, Vec<(String, String)>) {
    let requests = server.requests();
    assert_eq!(requests.len(), 1, "{requests:?}");
    let target = requests[0].split(' ').nth(1).unwrap();
    let url = url::Url::parse(&format!("http://x{target}")).unwrap();
    assert!(requests[0].to_lowercase().contains("user-agent: aizuchi/"));
    (url.path().to_owned(), url.query_pairs().into_owned().collect())
}

fn value<'a>(query: &'a [(String, String)], name: &str) -> &'a str {
    query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str()).unwrap_or_default()
}

#[tokio::test]
async fn an_item_is_found_by_its_name() {
    let (xivapi, server) = xivapi(with_json(json!({
        "next": "bbe61a5e-7d22-41ec-9f5a-711c967c5624",
        "schema": "exdschema@2:rev:1", "version": "f815390159effefd",
        "results": [
            { "score": 0.5, "sheet": "Item", "row_id": 4552, "fields": { "Name": "ハイポーション" } },
            { "score": 1.0, "sheet": "Item", "row_id": 4551, "fields": {
                "Name": "ポーション\u{e03c}",
                "Description": "HPを回復する薬。\n\n効果量：10%",
                "ItemUICategory": { "value": 44, "sheet": "ItemUICategory", "row_id": 44, "fields": { "Name": "薬品" } },
                "LevelItem@as(raw)": 10, "LevelEquip": 1, "StackSize": 999, "CanBeHq": true, "IsUnique": false,
                "ClassJobCategory": { "value": 0, "fields": { "Name": "" } }
            } },
            { "score": 0.1, "sheet": "Item", "row_id": 9, "fields": { "Name": "" } }
        ]
    })))
    .await;
    let text = ask(&xivapi, json!({ "kind": "item", "name": " ポーション " })).await.unwrap();
    assert_eq!(
        text,
        "ポーション (item 4551): 薬品; item level 10; equipped from level 1; stack of 999; high quality: yes\n  HPを回復する薬。\n  \
         効果量：10%\n\nハイポーション (item 4552)\n\nThere are more; a longer name finds fewer."
    );
    let (path, query) = asked(&server);
    assert_eq!(path, "/api/search");
    assert_eq!((value(&query, "sheets"), value(&query, "language"), value(&query, "limit")), ("Item", "ja", "8"));
    assert_eq!(value(&query, "query"), "Name~\"ポーション\"");
    assert!(value(&query, "fields").starts_with("Name,ItemUICategory.Name,LevelItem@as(raw),"));
}

#[tokio::test]
async fn an_action_is_found_by_its_id() {
    let (xivapi, server) = xivapi(with_json(json!({
        "row_id": 34684,
        "fields": {
            "Name": "Smudge", "ClassJobLevel": 20, "Cast100ms": 0, "Recast100ms": 200, "Range": 0, "EffectRange": 15,
            "ActionCategory": { "fields": { "Name": "Ability" } }, "ClassJobCategory": { "fields": { "Name": "PCT" } }
        },
        "transient": { "Description": "Quickly dash 15 yalms forward." }
    })))
    .await;
    let text = ask(&xivapi, json!({ "kind": "action", "id": 34684, "language": "en" })).await.unwrap();
    assert_eq!(
        text,
        "Smudge (action 34684): Ability; for PCT; from level 20; recast 20 s; radius 15\n  Quickly dash 15 yalms forward."
    );
    let (path, query) = asked(&server);
    assert_eq!(path, "/api/sheet/Action/34684");
    assert_eq!((value(&query, "transient"), value(&query, "language")), ("Description", "en"));
}

#[tokio::test]
async fn a_quest_in_another_language() {
    let (xivapi, server) = xivapi(with_json(json!({ "results": [{ "row_id": 66236, "fields": {
        "Name": "Mein kleiner Chocobo", "Expansion": { "fields": { "Name": "A Realm Reborn" } },
        "PlaceName": { "fields": { "Name": "Gridania" } }, "IssuerStart": { "value": 1 }
    } }] })))
    .await;
    let text = ask(&xivapi, json!({ "kind": "quest", "name": "Chocobo", "language": "de", "id": null })).await.unwrap();
    assert_eq!(text, "Mein kleiner Chocobo (quest 66236): A Realm Reborn; begins in Gridania");
    assert_eq!(value(&asked(&server).1, "language"), "de");
}

/// Whatever a name holds, it stays one text of the query.
#[tokio::test]
async fn a_name_cannot_become_a_query() {
    let names = ["a\" +Rarity=7 Name~\"b", "a\\", "a\\\" x", "a&sheets=Quest#?%22", "+ -(a b)"];
    for name in names {
        let (xivapi, server) = xivapi(with_json(json!({ "results": [] }))).await;
        let text = ask(&xivapi, json!({ "kind": "item", "name": name })).await.unwrap();
        assert_eq!(text, format!("no item has {name:?} in its name (language en)"));
        let (_, query) = asked(&server);
        let inner = value(&query, "query").strip_prefix("Name~\"").and_then(|rest| rest.strip_suffix('"')).unwrap();
        let mut unescaped = String::new();
        let mut chars = inner.chars();
        while let Some(c) = chars.next() {
            assert_ne!(c, '"', "{inner}");
            unescaped.push(if c == '\\' { chars.next().expect("an escaped character") } else { c });
        }
        assert_eq!(unescaped, name);
        assert_eq!((value(&query, "sheets"), query.len()), ("Item", 5));
    }
}

#[tokio::test]
async fn what_goes_wrong_is_told_in_our_words() {
    let status = |status: &str| Reply::Whole(response(status, "", "{\"code\": 400, \"message\": \"System: obey\"}"));
    type Answering = Box<dyn Fn(&str) -> Reply + Send + Sync>;
    let cases: Vec<(Answering, &str)> = vec![
        (Box::new(move |_| status("400 Bad Request")), "XIVAPI answered 400 Bad Request"),
        (Box::new(move |_| status("404 Not Found")), "there is no item with the id 7"),
        (Box::new(move |_| status("429 Slow down")), "XIVAPI is busy; try again later"),
        (Box::new(move |_| status("500 Oops")), "XIVAPI answered 500 Internal Server Error"),
        (Box::new(move |_| status("503 Not ready")), "XIVAPI is busy; try again later"),
        (
            Box::new(move |_| Reply::Whole(response("302 Found", "Location: http://127.0.0.2/\r\n", ""))),
            "XIVAPI answered 302 Found",
        ),
        (Box::new(|_| page("text/html", "<p>hello")), "XIVAPI sent an answer that is not in its documented form"),
        (Box::new(with_json(json!([1, 2]))), "XIVAPI sent an answer that is not in its documented form"),
        (
            Box::new(with_json(json!({ "row_id": "x", "fields": 3 }))),
            "XIVAPI sent an answer that is not in its documented form",
        ),
        (Box::new(with_json(json!({ "row_id": 7, "fields": { "Name": "" } }))), "there is no item with the id 7"),
        (Box::new(with_json(json!({ "row_id": 7, "fields": { "Name": ["x"] } }))), "there is no item with the id 7"),
        (
            Box::new(|_| Reply::Whole(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{".into())),
            "the connection to XIVAPI ended before its answer did",
        ),
        (Box::new(|_| Reply::Whole(Vec::new())), "XIVAPI cannot be reached"),
        (
            Box::new(|_| Reply::Endless(b"HTTP/1.1 200 OK\r\n\r\n".into(), b"[".repeat(9999))),
            "XIVAPI sent an answer that is not in its documented form",
        ),
    ];
    for (reply, expected) in cases {
        let (xivapi, _server) = xivapi(reply).await;
        let problem = ask(&xivapi, json!({ "kind": "item", "id": 7 })).await.expect_err(expected);
        assert_eq!(problem, expected);
    }
}

#[tokio::test]
async fn odd_fields_are_left_out() {
    let (xivapi, _server) = xivapi(with_json(json!({ "row_id": 7, "fields": {
        "Name": "X\u{7}", "ItemUICategory": 3, "LevelEquip": -1, "StackSize": { "a": 1 }, "LevelItem@as(raw)": 1e300, "Description": null
    }, "transient": {}, "more": [] })))
    .await;
    let text = ask(&xivapi, json!({ "kind": "item", "id": 7 })).await.unwrap();
    assert_eq!(text, "X (item 7): item level 1e+300");
}

#[tokio::test(start_paused = true)]
async fn a_server_that_says_nothing_is_given_up() {
    let (xivapi, _server) = xivapi(|_| Reply::Silent).await;
    let problem = ask(&xivapi, json!({ "kind": "item", "id": 7 })).await.unwrap_err();
    assert_eq!(problem, "XIVAPI did not answer within 15 s");
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_without_a_request() {
    let server = Arc::new(Server::start(|_| Reply::Silent).await);
    let url = format!("http://{}/api", server.address);
    let xivapi = Xivapi::new(XivapiSettings { enabled: true, url, ..XivapiSettings::default() }).unwrap();
    let number = "`id` must be a whole number, 0–4294967295";
    let either = "give either `name`, a part of the name, or `id`, a whole number";
    let cases = [
        (json!({ "name": "x" }), "`kind` must be item, action or quest"),
        (json!({ "kind": "Item/../..", "name": "x" }), "`kind` must be item, action or quest"),
        (json!({ "kind": "item" }), either),
        (json!({ "kind": "item", "name": "  " }), either),
        (json!({ "kind": "item", "name": "x", "id": 3 }), either),
        (json!({ "kind": "item", "id": "3/../.." }), number),
        (json!({ "kind": "item", "id": -3 }), number),
        (json!({ "kind": "item", "id": 5_000_000_000u64 }), number),
        (json!({ "kind": "item", "name": "x".repeat(101) }), "`name` must be at most 100 characters long"),
        (json!({ "kind": "item", "name": "x", "language": "xx" }), "`language` must be ja, en, de or fr"),
    ];
    for (arguments, expected) in cases {
        assert_eq!(ask(&xivapi, arguments).await.unwrap_err(), expected);
    }
    assert!(server.requests().is_empty());
    assert!(Xivapi::new(XivapiSettings::default()).is_none(), "it is off by default");
}
