//! A few requests in other languages, matched literally.

/// Whether these words, without what is around them, are such a request.
pub(super) fn is_request(text: &str) -> bool {
    let mut words = text.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
    for polite in [
        " bitte",
        "bitte ",
        " s'il te plaît",
        " s'il vous plaît",
        " svp",
        " stp",
        " por favor",
        "por favor ",
        " per favore",
        "请",
        "請",
        "麻烦你",
        "제발 ",
    ] {
        words = words.replace(polite, if polite.starts_with(' ') && polite.ends_with(' ') { " " } else { "" });
    }
    let plain = words.trim_matches(|c: char| !c.is_alphanumeric());
    REQUESTS.lines().any(|line| line == plain)
}

const REQUESTS: &str = "\
sei still
sei ruhig
sei leise
seid still
ruhe
ruhe jetzt
halt die klappe
halt den mund
halt den rand
klappe
schweig
sei mal still
sei mal ruhig
kannst du still sein
kannst du ruhig sein
könntest du still sein
hör auf zu reden
tais-toi
taisez-vous
ferme-la
la ferme
silence
chut
arrête de parler
peux-tu te taire
tu peux te taire
cállate
silencio
cierra la boca
deja de hablar
guarda silencio
stai zitto
zitto
silenzio
cala a boca
cala-te
silêncio
fica quieto
安静
安静一下
安静点
安静一点
闭嘴
閉嘴
别说话
别说了
別說了
不要说话
不要说了
住嘴
别吵
别吵了
조용히 해
조용히 해줘
조용히 해주세요
조용히 해 주세요
조용히 좀 해줘
조용히 좀 해
조용
닥쳐
그만해
그만 말해
말하지 마
입 다물어";
