//! Everyday English words that mean nearly the same, and categories with their members: a question about an instrument
//! matches the cello. Small on purpose; vectors know more.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::english::bare;

/// Synonyms of this word, in normalized form.
pub fn alike(word: &str) -> &'static [String] {
    TABLE.get(word).map_or(&[][..], Vec::as_slice)
}

static TABLE: LazyLock<BTreeMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut table: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut add = |word: &str, other: &str| {
        let (Some(word), Some(other)) = (bare(word), bare(other)) else { return };
        let others = table.entry(word.clone()).or_default();
        if word != other && !others.contains(&other) {
            others.push(other);
        }
    };
    for group in SAME {
        for word in group.split(' ') {
            group.split(' ').for_each(|other| add(word, other));
        }
    }
    for kind in KINDS {
        let (names, members) = kind.split_once(": ").expect("a kind has members");
        for name in names.split(' ') {
            members.split(' ').for_each(|member| add(name, member));
        }
    }
    table
});

const SAME: &[&str] = &[
    "child kid",
    "father dad papa",
    "mother mom mum mama",
    "grandmother grandma granny nana",
    "grandfather grandpa",
    "friend buddy pal mate",
    "job work career profession occupation position role",
    "boss manager employer",
    "colleague coworker",
    "company business firm startup",
    "hire employ recruit",
    "quit resign leave notice",
    "retire retirement",
    "salary income pay money",
    "office workplace",
    "house home place",
    "apartment flat condo",
    "move relocate moving",
    "city town",
    "country nation abroad",
    "neighborhood neighbour neighbor",
    "car vehicle automobile",
    "motorcycle motorbike",
    "bicycle bike cycling",
    "travel trip journey vacation holiday visit tour",
    "begin start commence launch open",
    "finish complete end",
    "buy purchase get",
    "sell sold",
    "make create build craft construct",
    "cook bake prepare recipe",
    "grow plant garden gardening",
    "fix repair restore mend",
    "help assist support",
    "learn study practice lesson class course",
    "teach instruct teacher coach tutor",
    "school college university degree",
    "exam test",
    "book novel read reading author",
    "movie film watch",
    "song music sing band concert",
    "picture photo photograph image",
    "paint painting art draw drawing artist",
    "write writing poem story journal blog",
    "run jog race marathon",
    "swim swimming pool",
    "hike hiking trail walk",
    "camp camping tent",
    "exercise workout gym fitness training",
    "game play",
    "team club group",
    "compete competition contest tournament championship",
    "win victory prize award medal trophy",
    "hobby activity interest pastime",
    "like love enjoy favorite favourite prefer",
    "hate dislike",
    "happy glad joy excited thrilled",
    "sad upset cry",
    "afraid scared fear nervous anxious worried worry",
    "angry mad",
    "proud pride",
    "stress stressed pressure overwhelmed",
    "relax calm peace unwind",
    "tired exhausted",
    "dream goal plan hope aspire want",
    "problem issue trouble challenge difficulty setback",
    "injure injury hurt wound broke cut twisted",
    "ill sick illness disease diagnosed condition",
    "doctor physician hospital clinic",
    "surgery operation",
    "medicine medication treatment therapy",
    "healthy health diet",
    "die death passed funeral lost",
    "born birth baby",
    "marry wedding married engaged propose",
    "divorce separated split",
    "birthday celebrate celebration party",
    "gift present gave",
    "donate donation charity raise raised fundraiser volunteer",
    "food meal dish eat",
    "dinner lunch breakfast",
    "dessert cake sweet",
    "restaurant cafe",
    "clothes outfit dress wear",
    "shop store",
    "money cash fund",
    "expensive cost price",
    "cheap affordable",
    "big large huge",
    "small little tiny",
    "old former previous",
    "new recent",
    "pretty beautiful lovely stunning",
    "smart clever",
    "funny humor laugh",
    "strange weird",
    "important significant",
    "difficult hard tough",
    "wake awake morning",
    "sleep nap bed",
    "phone call",
    "computer laptop",
    "internet online website",
    "believe faith religion church spiritual",
    "religious church faith",
    "army military veteran",
    "politics political government",
    "nature outdoors forest",
    "sea ocean beach coast",
    "mountain peak",
    "storm flood hurricane weather",
    "meet met",
    "talk speak discuss conversation",
    "tell say mention",
    "decide decision choose",
    "change transform transition",
    "inspire motivate inspiration motivation",
    "advice suggest recommend tip",
    "react reaction response cried",
    "color colour",
    "flavor flavour taste",
    "symbol represent meaning symbolize",
    "kind type sort",
    "dance dancing",
    "dog puppy",
    "cat kitten",
    "adopt adoption",
    "community group together",
    "event festival show fair",
    "dancer dance",
    "collect collection",
    "damage broken destroy ruin",
    "accident crash",
    "theft stolen rob",
    "immigrant citizenship passport",
    "certificate degree diploma",
    "identity transgender gender lgbtq",
];

const KINDS: &[&str] = &[
    "parents parent: mother father",
    "sibling siblings: brother sister",
    "child kid children: son daughter baby",
    "spouse partner: wife husband girlfriend boyfriend",
    "couple relationship dating: girlfriend boyfriend",
    "pet pets animal: dog cat puppy kitten rabbit hamster parrot fish turtle guinea bird horse",
    "instrument instruments musical: guitar piano violin cello drum flute saxophone trumpet clarinet ukulele bass keyboard",
    "sport sports: soccer football basketball tennis volleyball baseball hockey golf swimming running surfing skiing climbing yoga boxing",
    "hobby hobbies: painting pottery reading hiking gardening cooking dancing photography knitting chess fishing camping",
    "vehicle: car truck motorcycle bike van bus boat",
    "language languages: spanish french german italian portuguese japanese chinese english korean arabic",
    "country countries: spain france germany italy portugal japan china england canada mexico peru norway sweden india brazil ireland",
    "vegetable vegetables: tomato potato carrot bean corn onion pepper lettuce spinach cucumber",
    "fruit fruits: apple banana orange berry grape lemon mango peach",
    "flower flowers: rose sunflower tulip lily daisy",
    "colour color: red blue green yellow orange purple pink black white brown grey",
    "dessert pastry: cake pie cookie ice cream bun roll brownie chocolate",
    "drink beverage: coffee tea wine beer juice smoothie",
    "weather: rain rainy sunny storm snow heat hot cold degree wind",
    "season: spring summer autumn fall winter",
    "craft crafts: knitting sewing pottery woodworking crochet",
    "art: painting drawing sculpture pottery photography",
    "illness disease condition: cancer diabetes asthma allergy flu depression arthritis",
    "subject subjects: math chemistry physics biology history literature psychology",
    "relative family: mother father sister brother son daughter aunt uncle grandmother grandfather cousin niece nephew",
    "feeling emotion: happy sad proud nervous excited grateful afraid angry",
    "clothes clothing: dress shirt shoe jacket hat necklace jeans",
    "furniture: sofa couch table chair bed desk lamp",
    "device gadget: phone laptop tablet camera console watch",
];
