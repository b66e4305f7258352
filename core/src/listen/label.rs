//! "carol: …": the name a message begins with, though nobody of that name has spoken yet; and "note: …", which is no name.

/// Names are at least and at most this long.
const NAME_CHARS: std::ops::RangeInclusive<usize> = 2..=24;

/// The name with a colon behind it that a message begins with, if it may be somebody's.
pub(super) fn name_with_colon(text: &str) -> Option<&str> {
    let text = text.trim_start();
    let text = text.strip_prefix(['@', '＠']).unwrap_or(text);
    // No further than a name can go: most messages begin with a word and a space.
    let name = &text[..text.find(|c: char| !is_part_of_name(c))?];
    let rest = text[name.len()..].strip_prefix([':', '：'])?;
    let said = rest.trim_start_matches([' ', '\u{3000}', '\t']);
    let wide = text[name.len()..].starts_with('：');
    // What follows a name is said to them on the same line; "C:\x", "12:30", "a::b" and addresses have no space.
    let parted = wide || said.len() < rest.len();
    let says_something = parted && said.starts_with(|c: char| !c.is_whitespace());
    (says_something && may_be_name(name)).then_some(name)
}

fn is_part_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '|')
}

/// Whether a text of nothing but what names are made of may be one.
fn may_be_name(name: &str) -> bool {
    let formed = NAME_CHARS.contains(&name.chars().count()) && name.starts_with(char::is_alphabetic);
    if !formed {
        return false;
    }
    let small = name.to_lowercase();
    if name.is_ascii() {
        let shouted = name.len() > 1 && !name.contains(|c: char| c.is_ascii_lowercase());
        let abstract_noun =
            ["tion", "ment", "ness", "ing", "ity", "ance", "ence"].iter().any(|end| small.ends_with(end));
        return !shouted && !abstract_noun && !LABELS.split_whitespace().any(|label| label == small);
    }
    // Japanese labels are as common as names are rare: only what looks like a name counts.
    let titled = ["さん", "くん", "ちゃん", "様", "君", "先生", "氏"].iter().any(|title| name.ends_with(title));
    let katakana = name.chars().all(|c| matches!(c, 'ァ'..='ヿ'));
    let other_script = !name.chars().any(|c| matches!(c, 'ぁ'..='ヿ' | '一'..='鿿' | '가'..='힣'));
    (titled || katakana || other_script) && !LABELS.split_whitespace().any(|label| label == small)
}

/// Words that people put a colon behind to say what follows. In small letters.
const LABELS: &str = "\
    note notes nb edit edited update updates updated todo fixme fix fixed question questions answer answers q a fyi psa tldr tl-dr \
    summary example examples eg e.g ie i.e ex error errors err warning warn info debug fatal panic trace result results output input \
    title subject topic agenda date time place where when who what why how which from to cc bcc re fwd fw via link links url source \
    sources ref refs see also ps p.s pps disclaimer spoiler hint hints tip tips step steps task tasks issue issues bug bugs problem \
    solution cause reason reasons reminder announcement news breaking alert status eta deadline update1 goal goals plan plans idea ideas \
    pro pros con cons option options choice poll vote context background details detail more less next first second third finally last \
    then so but and or btw anyway actually basically short long simple yes no ok okay sure well oh hmm wow lol haha me you us them i we \
    he she it they this that these those there here now today tomorrow yesterday tonight monday tuesday wednesday thursday friday \
    saturday sunday name names email mail phone address password user username login host port path file files folder version versions \
    release changelog license author authors todo list code command commands usage default type value key id http https ftp mailto git \
    ssh file localhost std self none null true false important urgent help request requests offer offers wanted sale price cost total \
    sum math fact facts opinion unpopular hot thought thoughts quote quotes said says verdict conclusion outcome lesson moral translation \
    english japanese german french spanish chinese korean eng jp en ja de fr es original draft review comment comments feedback score \
    rating weather recipe ingredients before after expected got actual wrong right correct good bad best worst same different both \
    someone somebody halp everyone everybody all team guys folks people anyone rule rules remember remark beware caution danger attention correction \
    clarification addendum appendix meanwhile plot twist bonus caveat quick random serious genuine honest real story joke \
    docker podman kubernetes k8s linux windows macos ubuntu debian fedora arch android ios iphone ipad mac pc laptop server servers \
    client database db sql postgres postgresql mysql sqlite redis mongodb nginx apache python rust java javascript typescript js ts \
    golang go php perl bash zsh shell vim emacs vscode github gitlab terraform ansible jenkins npm yarn pip cargo gcc clang make \
    cmake react vue angular node nodejs django flask rails spring aws azure gcp cloud api rest graphql json yaml toml xml html css \
    regex network wifi vpn dns dhcp ip tcp udp router firewall printer monitor keyboard mouse battery disk drive ram memory cpu gpu \
    kernel driver drivers font fonts browser chrome firefox safari excel word outlook teams slack discord zoom zulip matrix irc \
    security privacy performance tests test testing build builds deploy deployment deployments docs documentation config settings \
    setting logs log metrics monitoring backup backups upgrade install setup cache login auth token tokens cookies proxy ssl tls \
    breakfast lunch dinner coffee tea beer food pizza cake music movie movies film game games book books travel trip hotel flight \
    train bus car bike parking vacation holiday holidays birthday party wedding office meeting meetings standup retro sprint roadmap \
    budget invoice payroll hiring interview interviews marketing sales support legal finance design product science history \
    physics chemistry biology math maths homework exam exams school university class lesson football soccer tennis basketball gym \
    health doctor dentist sleep fitness garden kitchen bathroom house rent money tax taxes bank insurance gift gifts shopping \
    beispiel hinweis achtung frage antwort wichtig betreff datum ort zeit remarque exemple question réponse attention sujet ejemplo \
    nota pregunta respuesta \
    メモ テスト ヒント リンク エラー ポイント タイトル テーマ ルール コメント サンプル ソース バグ コード ファイル タスク アンケート ステップ \
    スレ トピック オプション コツ ネタ ネタバレ ゴール スケジュール パスワード ユーザー アドレス メール データ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_before_a_colon_is_somebody() {
        for (text, name) in [
            ("carol: did you send it?", "carol"),
            ("Dave_42: yes", "Dave_42"),
            ("@erin: lunch?", "erin"),
            ("キャロル：見てくれた？", "キャロル"),
            ("田中さん：お願いします", "田中さん"),
            ("Zoë: merci", "Zoë"),
        ] {
            assert_eq!(name_with_colon(text), Some(name), "{text}");
        }
    }

    #[test]
    fn a_label_is_nobody() {
        for text in [
            "note: the door is open",
            "Edit: fixed",
            "TODO: write tests",
            "question: why?",
            "例：これ",
            "注意：明日は休みです",
            "メモ：牛乳",
            "https://example.org",
            "C:\\temp",
            "12:30 works for me",
            "vec::new is fine",
            "carol:",
            "agenda:\n- one",
            "two words: no",
            ":smile: hi",
            "FYI: it is raining",
            "warning: unused variable",
            "結論：やめよう",
            "docker: how do I prune?",
            "lunch: pizza?",
            "wifi: what is the password?",
            "meaning: none",
        ] {
            assert_eq!(name_with_colon(text), None, "{text}");
        }
    }
}
