//! Who gets in, and what everybody is served.

use aizuchi_test_servers::visitor::{Visitor, connect};
use serde_json::json;

use crate::house::{Engine, WebFixture, folder};

#[tokio::test]
async fn without_a_token_only_this_machine_by_its_own_name() {
    let house = WebFixture::open("name").await;
    for (host, wanted) in [("localhost", "200"), ("127.0.0.1:80", "200"), ("[::1]", "200"), ("evil.example", "403")] {
        let answer = house.get("/", &[&format!("Host: {host}")]).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {wanted}")), "{host}: {answer}");
    }
    for foreign in ["http://evil.example", "null", "http://127.0.0.1"] {
        let refused = connect(house.address, &[("Origin", foreign)]).await.err().unwrap().to_string();
        assert!(refused.contains("403"), "{foreign}: {refused}");
    }
    let own = format!("http://{}", house.address);
    assert!(connect(house.address, &[("Origin", &own)]).await.is_ok());
    house.close().await;
}

#[tokio::test]
async fn a_token_opens_the_door_once_and_the_cookie_from_then_on() {
    let house = WebFixture::open_set("token", &["web.token=pass word&"]).await;
    assert!(house.get("/live", &[]).await.starts_with("HTTP/1.1 200"));
    for path in ["/", "/?token=wrong", "/ws", "/metrics", "/index.html"] {
        assert!(house.get(path, &[]).await.starts_with("HTTP/1.1 403"), "{path}");
    }
    let welcome = house.get("/?token=pass+word%26", &[]).await;
    assert!(welcome.starts_with("HTTP/1.1 303") && welcome.contains("location: /\r\n"), "{welcome}");
    assert!(welcome.contains("HttpOnly; SameSite=Strict") && !welcome.contains("pass word"), "{welcome}");
    let cookie = welcome.split("set-cookie: ").nth(1).unwrap().split(';').next().unwrap();
    let line = format!("Cookie: other=1; {cookie}");
    assert!(house.get("/", &[&line]).await.starts_with("HTTP/1.1 200"));
    assert!(house.get("/", &[&line, "Host: room.example"]).await.starts_with("HTTP/1.1 200"));
    assert!(connect(house.address, &[]).await.is_err());
    assert!(connect(house.address, &[("Cookie", cookie), ("Origin", "http://evil.example")]).await.is_err());
    let mut page = connect(house.address, &[("Cookie", cookie)]).await.unwrap();
    page.send(json!({"do": "enter", "room": "lobby", "name": "mia"})).await;
    page.next("hello").await;
    house.close().await;
}

#[tokio::test]
async fn anyone_who_names_no_room_comes_into_the_first() {
    let house = WebFixture::open_set("first", &["web.rooms=[\"zoo\", \"attic\"]"]).await;
    let _first = Visitor::enter(house.address, "aviary", "jonas").await;
    for enter in [json!({"do": "enter", "name": "mia"}), json!({"do": "enter", "room": "", "name": "mia"})] {
        let mut page = connect(house.address, &[]).await.unwrap();
        page.send(enter).await;
        let hello = page.next("hello").await;
        assert_eq!((&hello["room"], &hello["rooms"]), (&json!("zoo"), &json!(["zoo", "attic", "aviary"])));
    }
    house.close().await;
}

#[tokio::test]
async fn a_page_is_spoken_to_in_its_language() {
    let house = WebFixture::open("language").await;
    let mut page = connect(house.address, &[("Accept-Language", "en")]).await.unwrap();
    let enter = |language| json!({"do": "enter", "room": "lobby", "name": "mia", "language": language});
    for (language, words) in [("ja", "一覧"), ("en", "this list"), ("tlh", "this list"), ("ja", "一覧")] {
        page.send(enter(language)).await;
        page.next("caught_up").await;
        let told = page.order("/help").await;
        assert!(told.contains(words), "{language}: {told}");
    }
    let nameless = json!({"do": "enter", "room": "lobby", "name": "", "language": "ja"});
    assert!(page.refused(nameless).await.contains("名前"));
    house.close().await;
}

#[tokio::test]
async fn other_addresses_need_a_token() {
    let open = ["web.address=0.0.0.0:0"];
    let refused = WebFixture::open_in(&folder("others"), &open, Engine::Listens).await.err().unwrap().to_string();
    assert!(refused.contains("web.token"), "{refused}");
}

#[tokio::test]
async fn pages_and_what_a_supervisor_asks_for() {
    let house = WebFixture::open("pages").await;
    let page = house.get("/", &[]).await;
    assert!(page.contains("content-type: text/html; charset=utf-8"), "{page}");
    assert!(page.contains("content-security-policy: default-src 'self'"), "{page}");
    let tag = page.split("etag: ").nth(1).unwrap().lines().next().unwrap();
    assert!(house.get("/index.html", &[&format!("If-None-Match: {tag}")]).await.starts_with("HTTP/1.1 304"));
    for missing in ["/nothing.js", "/../Cargo.toml", "/%2e%2e/Cargo.toml"] {
        assert!(house.get(missing, &[]).await.starts_with("HTTP/1.1 404"), "{missing}");
    }
    assert!(house.get("/ready", &[]).await.starts_with("HTTP/1.1 200"));
    house.ready.send(false).unwrap();
    assert!(house.get("/ready", &[]).await.starts_with("HTTP/1.1 503"));
    assert!(house.get("/live", &[]).await.starts_with("HTTP/1.1 200"));
    let mut mia = Visitor::enter(house.address, "lobby", "mia").await;
    mia.say("1", "hi").await;
    let metrics = house.get("/metrics", &[]).await;
    assert!(metrics.contains("# TYPE aizuchi_web_messages_total counter"), "{metrics}");
    house.close().await;
}

/// The `name=value` of the cookie that lets a browser in.
async fn let_in(house: &WebFixture, token: &str, headers: &[&str]) -> (String, String) {
    let welcome = house.get(&format!("/?token={token}"), headers).await;
    assert!(welcome.starts_with("HTTP/1.1 303"), "{welcome}");
    let line = welcome.lines().find(|line| line.starts_with("set-cookie: aizuchi_session=")).expect("a session");
    let cookie = line.trim_start_matches("set-cookie: ").split(';').next().unwrap();
    (cookie.to_owned(), welcome)
}

#[tokio::test]
async fn the_cookie_is_a_session_of_its_own_and_ends_with_the_token() {
    let place = folder("session");
    let with = |token: &str| format!("web.token={token}");
    let house = WebFixture::open_in(&place, &[&with("first")], Engine::Listens).await.unwrap();
    let (cookie, welcome) = let_in(&house, "first", &[]).await;
    let hexadecimal: String = "first".bytes().map(|byte| format!("{byte:02x}")).collect();
    assert!(!welcome.contains(&hexadecimal) && !welcome.contains("Secure"), "{welcome}");
    let (other, secure) = let_in(&house, "first", &["X-Forwarded-Proto: https"]).await;
    assert!(secure.contains("; Secure"), "{secure}");
    assert_ne!(cookie, other, "everybody has a session of their own");
    assert!(house.get("/", &[&format!("Cookie: aizuchi_token={hexadecimal}")]).await.starts_with("HTTP/1.1 403"));
    house.close().await;
    let id = cookie.split_once('=').unwrap().1.to_owned();
    for file in std::fs::read_dir(&place).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        assert!(!bytes.windows(id.len()).any(|part| part == id.as_bytes()), "a session is in a file as it is");
    }
    let line = format!("Cookie: {cookie}");
    let house = WebFixture::open_in(&place, &[&with("first")], Engine::Listens).await.unwrap();
    assert!(house.get("/", &[&line]).await.starts_with("HTTP/1.1 200"), "it outlives a restart");
    house.close().await;
    let house = WebFixture::open_in(&place, &[&with("second")], Engine::Listens).await.unwrap();
    assert!(house.get("/", &[&line]).await.starts_with("HTTP/1.1 403"), "another token ends it");
    house.close().await;
}

/// A token that may be known to others went on to open the room until the next start.
#[tokio::test]
async fn another_token_while_it_runs_closes_what_the_old_one_opened() {
    let place = folder("other-token");
    let house = WebFixture::open_in(&place, &["web.token=first"], Engine::Listens).await.unwrap();
    let (cookie, _) = let_in(&house, "first", &[]).await;
    let mut page = connect(house.address, &[("cookie", cookie.as_str())]).await.unwrap();
    page.send(json!({"do": "enter", "room": "lobby", "name": "mia", "since": 0})).await;
    page.next("hello").await;
    assert_eq!(house.web.set_token(Some(&"first".into())).await, Ok(false), "the same one");
    assert_eq!(house.web.set_token(Some(&"second".into())).await, Ok(true));
    page.end().await;
    let line = format!("Cookie: {cookie}");
    assert!(house.get("/", &[&line]).await.starts_with("HTTP/1.1 403"));
    assert!(house.get("/?token=first", &[]).await.starts_with("HTTP/1.1 403"));
    let (cookie, _) = let_in(&house, "second", &[]).await;
    assert!(house.get("/", &[&format!("Cookie: {cookie}")]).await.starts_with("HTTP/1.1 200"));
    house.close().await;
}

#[tokio::test]
async fn a_probe_without_the_token_is_told_whether_it_is_ready_and_not_why() {
    let house = WebFixture::open_set("probe", &["web.token=right"]).await;
    let ready = house.get("/ready", &[]).await;
    assert!(ready.starts_with("HTTP/1.1 200") && ready.ends_with("\r\n\r\nready\n"), "{ready}");
    house.ready.send_replace(false);
    let not_ready = house.get("/ready", &[]).await;
    assert!(not_ready.starts_with("HTTP/1.1 503") && not_ready.ends_with("\r\n\r\nnot ready\n"), "{not_ready}");
    let why = house.get("/ready", &["Authorization: Bearer right"]).await;
    assert!(why.starts_with("HTTP/1.1 503") && why.contains("not ready: "), "{why}");
    house.close().await;
}

#[tokio::test]
async fn anyone_who_guesses_tokens_has_to_wait_and_nobody_else() {
    let house = WebFixture::open_set("guesses", &["web.token=right", "web.trust_proxy=true"]).await;
    let (cookie, _) = let_in(&house, "right", &[]).await;
    let from = |address: &str| format!("X-Forwarded-For: {address}");
    let (guesser, other) = (from("198.51.100.7"), from("198.51.100.8"));
    let mut answers = Vec::new();
    for n in 0..10 {
        answers.push(house.get(&format!("/?token=guess{n}"), &[&guesser]).await);
        answers.push(house.get("/ready", &[&guesser, &format!("Authorization: Bearer guess-{n}")]).await);
    }
    assert!(answers[0].starts_with("HTTP/1.1 403"), "{}", answers[0]);
    let last = answers.last().unwrap();
    assert!(last.starts_with("HTTP/1.1 429") && last.contains("too many wrong tokens"), "{last}");
    let wait: u64 = last.split("retry-after: ").nth(1).unwrap().lines().next().unwrap().parse().unwrap();
    assert!(wait > 0 && last.contains(&format!("in {wait} s")), "{last}");
    // What is not looked at tells nothing, so the right one has to wait there as well.
    assert!(house.get("/?token=right", &[&guesser]).await.starts_with("HTTP/1.1 429"));
    for (line, wanted) in [(format!("Cookie: {cookie}"), "200"), ("Accept: */*".to_owned(), "403")] {
        assert!(house.get("/", &[&guesser, &line]).await.starts_with(&format!("HTTP/1.1 {wanted}")), "{line}");
    }
    assert!(house.get("/live", &[&guesser]).await.starts_with("HTTP/1.1 200"));
    assert!(house.get("/?token=right", &[&other]).await.starts_with("HTTP/1.1 303"));
    assert!(house.get("/ready", &[&other, "Authorization: Bearer right"]).await.starts_with("HTTP/1.1 200"));
    house.close().await;
}
