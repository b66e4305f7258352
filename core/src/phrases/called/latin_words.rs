//! The words that show how a name is used in languages with spaces. All in lower case.

/// Words that open a clause and do not show whom it addresses.
pub(super) const OPENERS: &str = "\
    ok okay so well oh ah and but also anyway btw yes no yeah yep nope nah right hm hmm hmmm um uh lol \
    haha hahaha wow ugh then now actually alright omg pff sure come on wait look listen plus na ja nein \
    oui non bon alors si pues ach all exactly true indeed seriously honestly damn man dude again finally \
    mais aber pero";

/// Words with which somebody is greeted, thanked or praised.
pub(super) const GREETINGS: &str = "\
    hey hi hello hiya yo oi ey psst dear thanks thank thx ty tysm cheers please pls plz sorry welcome \
    bye goodbye morning evening afternoon night gn gm good great nice bravo congrats congratulations \
    kudos sup goodnight greetings heya howdy farewell cya hallo danke bitte moin servus tschüss guten \
    morgen abend tag gute nacht salut bonjour bonsoir coucou merci dis hola gracias oye adiós ciao \
    grazie olá obrigado obrigada buenas buenos días noches tardes hej tack hoi bedankt";

pub(super) const SECOND_PERSON: &str = "\
    you your you're youre you've you'll you'd u ur yours yourself ya ye y'all du dir dich dein deine \
    kannst bist hast weißt magst tu te toi t'es vous peux peux-tu tú puedes sabes opinas ti crees você \
    kun je jij";

pub(super) const FIRST_PERSON: &str = "i i'm im i've i'll i'd we we're we've my let let's lets me ich j'ai";

pub(super) const QUESTION_WORDS: &str = "\
    what what's whats why how how's hows when where where's which who who's whose wie wann warum wo wer \
    que quoi comment pourquoi quand où qué cómo cuándo quién wdyt any anything anybody anyone";

pub(super) const AUXILIARIES: &str = "\
    is was are were has had have do does did can could will would should shall may might must am isn't \
    wasn't aren't weren't hasn't haven't hadn't don't doesn't didn't can't cannot couldn't won't \
    wouldn't shouldn't dont doesnt cant wont isnt";

/// Other words of what somebody is or does.
pub(super) const THIRD_PERSON: &str = "\
    says said thinks thought knows knew seems looks works runs ran gets got goes went makes made gives \
    gave takes took comes came wants needs likes loves hates uses keeps kept told tells wrote writes \
    spoke speaks sent sends reads does left broke breaks fell found just also already still never always \
    really usually often sometimes probably apparently definitely only even actually currently recently \
    too itself alone in on at for with from by to of as than vs versus like because if when since after \
    before while without instead again once sucks rocks rules lives became becomes feels sounds ist war \
    hat wird kann läuft geht sagt est était a peut fait dit es está era tiene puede dice e é about here \
    there not that which who helps answers replies supports starts stops restarts understands remembers \
    forgets handles posts reacts sees saw learns learnt costs can't";

/// Words that introduce a quotation.
pub(super) const REPORTS: &str = "said says say asked asks wrote writes typed told replied posted answered goes went";

/// Words that order or ask for something.
pub(super) const IMPERATIVES: &str = "\
    kindly maybe tell give explain translate find remind summarize summarise write stop be shut go come say try do \
    don't dont make think repeat calculate compute define describe recommend suggest pick choose roll \
    sing draw convert compare open wake add remove send wait listen calm chill hush shush quiet remember \
    forget ignore keep let continue entertain teach tldr correct spell google read flip throw pretend \
    imagine name zip mute unmute speak talk enough never just take put get bring turn start begin finish \
    relax sleep cheer hurry behave confirm clarify elaborate solve review debug proofread rephrase \
    rewrite create generate sag erklär hilf übersetze dis-moi aide explique traduis dime ayuda explica \
    traduce schreib gib zeig";

/// The same words as nouns: "aizuchi help me", "aizuchi help page".
pub(super) const NOUNS_OR_IMPERATIVES: &str = "\
    help search list show check look answer test run post set play count guess rate fix ping report \
    update reply status restart log weather time call plan rank vote work leave back good nice great";

pub(super) const OBJECTS: &str = "\
    me us it this that these those them what how why if when where which who please pls some something \
    my our your there here up out bot job work one morning night him her now all alone again evening";

pub(super) const ARTICLES: &str = "\
    the a an my our your his her its their this these those some any every each another no which what \
    new old der die das den dem des ein eine einen einem mein unser le la les un une mon notre el los \
    las una mi nuestro o um uma own good nice two three more quick little";

pub(super) const PREPOSITIONS: &str = "\
    of about with without for to from by on in at like than as via into over between against through \
    behind inside and or nor vs versus but if that because since when whether while until after before \
    where per around regarding called named mit von über für zu bei und auf aus de du d' avec pour sur \
    par chez et à con para por sobre y en em com bot server repo channel project except besides unlike \
    toward towards even only not maybe is perhaps";

/// Transitive verbs, which their object follows.
pub(super) const TAKES_OBJECT: &str = "\
    ask asked asking asks tell told telling use used using uses try tried trying ping pinged see saw \
    seen love loves like likes hate hates run ran running install installed know knows knew call thank \
    thanking thanked let make made makes build built buy bought get got give gave put set mute unmute \
    kick ban invite add added remove restart start update deploy fix fixed maintain maintains blame \
    trust want need miss missed met meet mention mentioned prefer chose choose wrote write test tested \
    check read say said says heard hear show find found pay replaced replace enjoy recommend choosing \
    word name against frag fragen gefragt demande demander installé probando usando uso utilise benutze \
    kenne connais conoces teach quote quoting host hosting configure configuring wake stop feed train \
    beat beats copy adopt disable enable leave help helps helped think bet hope guess believe where's \
    who's what's how's that's it's here's there's";

/// Words that no noun follows: a name after them is a call.
pub(super) const SAFE_ENDS: &str = "\
    beaucoup vielmals schön sehr mucho bien mille me us it him them please pls plz thanks now again here there today tonight tomorrow yesterday then \
    too though yet right later much well lot anyway ok okay yes no yeah lol haha hm hmm true wrong great \
    cool awesome exactly sure morning night evening afternoon day week weekend job luck everyone \
    everybody guys all done quiet silent bot friend good fine always sorry welcome correct enough \
    talking mind already i we aren't isn't work one hello hi hey ahead away down help first instead \
    myself yourself soon time idea answer";

/// Words before a verb.
pub(super) const BEFORE_VERB: &str = "\
    to please ever just not never always also still really someone somebody anyone anybody everyone \
    people they he she who who's and then already even";

/// What people say beside a name: "aizuchi thoughts?"
pub(super) const ASIDES: &str = "\
    thoughts opinion opinions ideas suggestions lol haha wtf omg yes no really seriously ok okay same \
    true right wrong correct exactly go";

/// People who have something to do with the bearer of the name: "dear aizuchi users".
pub(super) const GROUPS: &str = "\
    user users fan fans dev devs developer developers community team teams folks people contributor contributors \
    maintainer maintainers admin admins lover lovers enthusiast enthusiasts owner owners crew gang family fam \
    member members friends hackers tester testers operators hosts peeps nation world customers subscribers \
    followers newbies veterans nutzer fangemeinde utilisateurs usuarios";

/// Adverbs that stand between commas: "aizuchi, however, answered".
pub(super) const ADVERBS: &str = "\
    however meanwhile apparently of by as though therefore instead again too unfortunately luckily fortunately sadly oddly \
    strangely surprisingly incidentally naturally obviously clearly evidently presumably supposedly finally meantime \
    version for in on like then also moreover furthermore nevertheless nonetheless still consequently";

/// Verbs in the past that do not end in "ed".
pub(super) const PAST: &str = "\
    told said went got gave made took came knew thought wrote spoke sent left broke fell found became kept had was were did saw heard \
    read put cut hit let ran began won lost held meant met paid sat slept stood taught understood woke kept";
