//! Pages as a reader wants them.

use url::Url;

use super::server::{Server, page};
use super::*;
use crate::tools::fetch::{html, xml};

fn text(html: &str) -> String {
    html::to_page(html, &Url::parse("https://example.org/a/b").unwrap()).text
}

#[test]
fn html_becomes_text() {
    let cases = [
        ("<p>one<p>two  \n three", "one\n\ntwo three"),
        ("<h1>Head</h1>body<h3>Deep <i>er</i></h3>x", "# Head\n\nbody\n\n### Deep er\n\nx"),
        ("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e", "- a\n- b\n  - c\n- d\n\ne"),
        ("<ol><li><p>a</p></li><li><div>b</div></ol>", "1. a\n2. b"),
        (
            "<a href='/x'>text</a> and <a href=c>more</a>",
            "text (https://example.org/x) and more (https://example.org/a/c)",
        ),
        ("<a href='#x'>t</a><a href='javascript:x'>u</a><a href='mailto:a@b'>v</a>", "tuv"),
        ("<a href='https://x.example/'>https://x.example/</a> <a href='/y'> </a>z", "https://x.example/ z"),
        ("<pre>a\n  b\n\nc</pre>d", "a\n  b\n\nc\n\nd"),
        ("a<br>b<br/>c<hr>d", "a\nb\nc\n\nd"),
        ("<table><tr><th>k<th>v<tr><td>1</td><td>2</td></tr></table>x", "k | v\n1 | 2\n\nx"),
        ("a<script>var b = '</p>';</script><style>p{}</style><noscript>n</noscript>c", "ac"),
        ("<nav>menu <a href=/>home</a></nav>text<footer>made by</footer>", "text"),
        ("<div><nav>menu</div>text", "text"),
        ("<nav>only <b>menu</b></nav>", "only menu"),
        ("a<p hidden>b</p>c<span style='DISPLAY: none'>d</span>e<b style='font-size:0'>f</b>", "a\n\nce"),
        ("<p hidden>a<p>b<ul><li hidden>c<li>d</ul>", "b\n\n- d"),
        ("<svg><title>no</title><text>no</text></svg>yes", "yes"),
        ("&lt;b&gt; &amp; &copy; &#x3042;&nbsp;b", "<b> & © あ b"),
        ("a<!-- c -->b<![CDATA[d]]>e", "abe"),
        ("<p>a\u{0}\u{7}\u{1b}[31mb", "a[31mb"),
        ("</p></div></nav>a</a>", "a"),
        ("<", "<"),
        ("", ""),
    ];
    for (html, expected) in cases {
        assert_eq!(text(html), expected, "{html}");
    }
}

#[test]
fn a_title_is_the_first_one() {
    let base = Url::parse("https://example.org/").unwrap();
    let title = |html: &str| html::to_page(html, &base).title;
    assert_eq!(title("<title> A &amp;\n B </title><title>C</title>x").as_deref(), Some("A &\n B"));
    assert_eq!(title("<svg><title>no</title></svg><p>x"), None);
    assert_eq!(html::to_page("<title>A\n B</title>x", &base).heading(&base), "A B (https://example.org/)");
}

#[test]
fn links_have_an_end() {
    let text = text(&"<a href=/l>x</a> ".repeat(500));
    assert_eq!(text.matches("(https://example.org/l)").count(), 100);
    assert_eq!(text.matches('x').count() - text.matches("example").count(), 500);
}

/// No page is too deep, and none takes more than its length.
#[test]
fn odd_pages_are_read_to_their_end() {
    for open in [
        "<div>",
        "<a href=x>",
        "<ul><li>",
        "<nav>",
        "<h1>",
        "<pre>",
        "<b><p>",
        "<script>",
        "<svg><title>",
        "<table><td>",
        "</x>",
        "<x y='",
    ] {
        let html = format!("{}word", open.repeat(20_000));
        let page = html::to_page(&html, &Url::parse("https://example.org/").unwrap());
        assert!(page.text.len() <= html.len() * 4, "{open}: {}", page.text.len());
        let feed = xml::to_page(&html, &Url::parse("https://example.org/").unwrap());
        assert!(feed.text.len() <= html.len() * 4, "{open}");
    }
}

#[test]
fn feeds_become_lines() {
    let rss = "<?xml version=\"1.0\"?><rss><channel><title>News</title><link>https://n.example/</link>\
         <item><title>One &amp; only</title><description><![CDATA[<p>Hi <b>you</b></p>]]></description></item>\
         <item><title>Two</title><link href=\"/two\"/><pubDate>today</pubDate></item></channel></rss>";
    let page = xml::to_page(rss, &Url::parse("https://n.example/feed").unwrap());
    assert_eq!(page.title.as_deref(), Some("News"));
    assert_eq!(
        page.text,
        "title: News\nlink: https://n.example/\n\ntitle: One & only\ndescription: Hi you\n\ntitle: Two\nlink: https://n.example/two\n\
         pubdate: today"
    );
}

#[tokio::test]
async fn a_long_page_is_read_part_by_part() {
    let words: Vec<String> = (0..3000).map(|number| format!("言葉{number}")).collect();
    let whole = words.join(" ");
    let body = format!("<title>Long</title><p>{whole}</p>");
    let server = Server::start(move |target| match target {
        "/empty" => page("text/html", "<p></p>"),
        _ => page("text/html; charset=utf-8", &body),
    })
    .await;
    let fetch = fetch(vec![("site.example", vec![server.address])], one_is_public, settings(&["site.example"]));
    let (mut start, mut parts) = (0, Vec::new());
    loop {
        let arguments = json!({ "url": "http://site.example/", "start": start });
        let output = call(&fetch, arguments).await.unwrap();
        assert!(output.text.chars().count() <= 6000, "it is not cut once more");
        let part = output.text.strip_prefix("Long (http://site.example/)\n\n").unwrap().to_owned();
        let Some((part, footer)) = part.split_once("\n… ") else {
            parts.push(part);
            break;
        };
        parts.push(part.to_owned());
        start = footer.rsplit(' ').next().unwrap().parse::<u64>().unwrap();
    }
    assert!(parts.len() > 2);
    assert_eq!(parts.concat(), whole);
    let chars = whole.chars().count();
    let beyond = call(&fetch, json!({ "url": "http://site.example/", "start": chars })).await.unwrap_err();
    assert_eq!(beyond, format!("the page has {chars} characters; `start` must be less than that"));
    let odd = call(&fetch, json!({ "url": "http://site.example/", "start": -1 })).await.unwrap_err();
    assert_eq!(odd, "`start` must be a whole number, 0–50000000");
    assert_eq!(read(&fetch, "http://site.example/empty").await.unwrap(), "http://site.example/empty\n\n(no text)");
}

#[tokio::test]
async fn every_kind_of_text_is_read() {
    let sjis = encoding_rs::SHIFT_JIS.encode("<p>言の葉</p>").0.into_owned();
    let server = Server::start(move |target| match target {
        "/json" => page("application/json", "{\"a\": [1]}"),
        "/ld" => page("application/ld+json", "{\"a\": 2}"),
        "/plain" => page("text/plain", "a\r\n  b\u{7}"),
        "/feed" => page("application/atom+xml", "<feed><title>F</title><entry><title>E</title></entry></feed>"),
        "/xhtml" => page("application/xhtml+xml", "<p>x</p>"),
        _ => page("text/html; charset=Shift_JIS", &sjis),
    })
    .await;
    let fetch = fetch(vec![("site.example", vec![server.address])], one_is_public, settings(&["site.example"]));
    let cases = [
        ("/json", "http://site.example/json\n\n{\"a\": [1]}"),
        ("/ld", "http://site.example/ld\n\n{\"a\": 2}"),
        ("/plain", "http://site.example/plain\n\na\n  b"),
        ("/feed", "F (http://site.example/feed)\n\ntitle: F\n\ntitle: E"),
        ("/xhtml", "http://site.example/xhtml\n\nx"),
        ("/sjis", "http://site.example/sjis\n\n言の葉"),
    ];
    for (path, expected) in cases {
        assert_eq!(read(&fetch, &format!("http://site.example{path}")).await.unwrap(), expected);
    }
}

#[test]
fn it_is_off_until_hosts_are_named() {
    assert!(Fetch::new(FetchSettings::default()).is_none());
    let fetch = Fetch::new(settings(&["example.org", "*.example.net"])).unwrap();
    assert!(fetch.spec().description.ends_with("(* is any): example.org, *.example.net"));
}

#[test]
fn hosts_that_are_none_are_refused_with_what_would_be_right() {
    let problem = |hosts: &str| {
        let mut layers = config::new_layers();
        layers.add_file("aizuchi.toml", &format!("[tools.fetch]\nhosts = {hosts}\n"));
        config::section::<FetchSettings>(&layers).map(|_| ()).err().map(|problem| problem.to_string())
    };
    for right in [
        "[]",
        "[\"*\"]",
        "[\"example.org\", \"*.例え.jp\", \"a.b:8443\", \"*:8443\", \"[::1]:80\", \"10.0.0.1:81\", \"1.1.1.1\"]",
    ] {
        assert_eq!(problem(right), None, "{right}");
    }
    for wrong in [
        "",
        "https://example.org",
        "example.org/x",
        "a b",
        "*.*",
        "*.",
        "*x.org",
        "example.org:0",
        "example.org:99999",
        "a..b",
        "*.1.1.1.1",
        "::1",
    ] {
        let told = problem(&format!("[\"ok.example\", {wrong:?}]")).expect(wrong);
        assert!(told.contains(&format!("({wrong:?} is not a host such as")), "{told}");
    }
    let told = problem("[\"127.0.0.1\"]").unwrap();
    assert_eq!(
        told,
        "aizuchi.toml:2: `tools.fetch.hosts` must be a list of hosts, such as [\"example.org\"] (\"127.0.0.1\" is not public, so it \
         needs its port, such as \"127.0.0.1:8123\"), got [\"127.0.0.1\"]"
    );
}
