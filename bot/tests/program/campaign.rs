//! Everything at once and at random: kills, stops, another number of shards, clocks that jump, disks that are full.
//! Whatever happens, what was acknowledged is there, who calls is answered once, and a mute holds.
//!
//! `./dev test` runs a short one, `./dev soak` a long one. CAMPAIGN_SEED repeats the draws of an earlier one,
//! CAMPAIGN_FAULTS says how many faults there are at least, and CAMPAIGN_WITHOUT leaves out `clock`, `disk`, `shards`,
//! `kill` or `stop`, to find out what it takes to make it fail.
#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use aizuchi_test_servers::visitor::Visitor;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::crowd::{Draw, News, Talker, Wish, is_call};
use crate::faults::{Clock, Disk};
use crate::findings::{Broken, Findings};
use crate::ledger::{Answered, Ledger, Left, Terms};
use crate::moment::Moment;
use crate::program::{Home, PATIENCE, Program, new_home};

const FAULTS: u64 = 16;

/// Two rooms full of people, and others in which somebody alone mutes it now and then.
const TALKERS: [(&str, &str); 5] =
    [("mia", "lobby"), ("jonas", "lobby"), ("aoi", "lobby"), ("sora", "garden"), ("finn", "garden")];
const MODERATORS: [(&str, &str); 6] =
    [("ada", "attic"), ("ben", "cellar"), ("cho", "porch"), ("dan", "shed"), ("eva", "loft"), ("fay", "hall")];
const MODERATORS_SAY_WITHIN_MS: u64 = 500;

const SETTINGS: &[&str] = &[
    "reply.part_chars=40",
    "gates.user_addressed_per_hour=0",
    "gates.interval_seconds=1",
    "gates.user_per_hour=0",
    "response.min_wait_seconds=1",
    "response.adaptive=false",
    "response.max_wait_seconds=2",
    "runtime.shutdown_seconds=3",
    "web.rooms=[\"lobby\", \"garden\", \"attic\", \"cellar\", \"porch\", \"shed\", \"loft\", \"hall\"]",
    "log.level=warn",
];

const SHARDS_MAX: u64 = 4;
const SNAPSHOT_RECORDS: [u32; 7] = [100, 150, 250, 500, 1000, 3000, 20_000];
/// How far ahead of the true time the clock may be, in seconds.
const AHEAD_SECONDS: [i64; 10] = [0, 0, 0, 20, 90, 400, 3600, 90_000, -60, -3600];
/// A person who called longer ago than this when it starts may find no answer: a little less than `response.late_answer_minutes`.
const EXCUSED_AFTER_MS: u64 = 500_000;

/// A fault while it runs.
#[derive(Clone, Copy, Debug)]
enum ProgramFault {
    Clock { ahead_seconds: i64 },
    FullDisk { for_ms: u64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Kill,
    Stop,
}

/// From a start to its end.
#[derive(Debug)]
struct ProgramRun {
    shards: u64,
    snapshot_records: u32,
    /// The clock is set before it starts.
    clock: Option<i64>,
    starts_full: bool,
    faults: Vec<(Moment, ProgramFault)>,
    ends_at: Moment,
    end: End,
}

impl ProgramRun {
    fn draw(draw: &mut Draw) -> ProgramRun {
        let mut life = ProgramRun::draw_all(draw);
        let without = std::env::var("CAMPAIGN_WITHOUT").unwrap_or_default();
        for left_out in without.split(',').filter(|word| !word.is_empty()) {
            match left_out {
                "clock" => {
                    life.clock = None;
                    life.faults.retain(|(_, fault)| !matches!(fault, ProgramFault::Clock { .. }));
                }
                "disk" => {
                    life.starts_full = false;
                    life.faults.retain(|(_, fault)| !matches!(fault, ProgramFault::FullDisk { .. }));
                }
                "shards" => life.shards = 1,
                "kill" => life.end = End::Stop,
                "stop" => life.end = End::Kill,
                other => panic!("CAMPAIGN_WITHOUT does not know {other:?}"),
            }
        }
        life
    }

    fn draw_all(draw: &mut Draw) -> ProgramRun {
        let ahead = |draw: &mut Draw| AHEAD_SECONDS[draw.below(AHEAD_SECONDS.len() as u64) as usize];
        let mut faults = Vec::new();
        if draw.below(4) == 0 {
            faults.push((Moment::draw(draw), ProgramFault::Clock { ahead_seconds: ahead(draw) }));
        }
        if draw.below(5) == 0 {
            faults.push((Moment::draw(draw), ProgramFault::FullDisk { for_ms: draw.below(1_500) }));
        }
        ProgramRun {
            shards: 1 + draw.below(SHARDS_MAX),
            snapshot_records: SNAPSHOT_RECORDS[draw.below(SNAPSHOT_RECORDS.len() as u64) as usize],
            clock: (draw.below(3) == 0).then(|| ahead(draw)),
            starts_full: draw.below(10) == 0,
            faults,
            // Some live long enough for a snapshot.
            ends_at: match draw.below(8) {
                0 => Moment::Somewhen { after_us: 2_000_000 + draw.below(2_000_000) },
                _ => Moment::draw(draw),
            },
            end: if draw.below(3) == 0 { End::Stop } else { End::Kill },
        }
    }
}

struct Campaign {
    home: Home,
    clock: Clock,
    disk: Disk,
    news: mpsc::UnboundedReceiver<News>,
    /// How often each kind of fault happened.
    faults: BTreeMap<&'static str, u64>,
    lives: u64,
    /// How often the number of shards was another than before.
    shards_changed: u64,
    shards: u64,
    /// Ids of calls that it found undecided when it started, and when they were said.
    waiting: Vec<(String, u64)>,
    excused: BTreeSet<String>,
    findings: Findings,
}

impl Campaign {
    fn faults(&self) -> u64 {
        self.faults.values().sum()
    }

    fn count(&mut self, fault: &'static str) {
        *self.faults.entry(fault).or_default() += 1;
    }

    async fn live(&mut self, life: &ProgramRun) {
        self.lives += 1;
        self.shards_changed += u64::from(self.shards != life.shards);
        self.shards = life.shards;
        self.home.change("runtime.shards", life.shards);
        self.home.change("store.snapshot_records", life.snapshot_records);
        if let Some(ahead_seconds) = life.clock {
            self.count("clock set between lives");
            self.clock.set(ahead_seconds);
        }
        self.look_who_waits();
        let mut program = if life.starts_full { self.start_on_a_full_disk().await } else { self.home.spawn() };
        for (moment, fault) in &life.faults {
            moment.come(&mut self.news).await;
            self.happen(*fault, &mut program).await;
            // A disk that was full when it started may have kept it from starting.
            let refused = matches!(fault, ProgramFault::FullDisk { .. }) && !program.said().contains("is in the room");
            if refused && program.has_ended().is_some_and(|status| status.code() == Some(1)) {
                program = self.home.spawn();
            }
        }
        life.ends_at.come(&mut self.news).await;
        if program.has_ended().is_some() {
            return self.findings.add(Broken::Died, format!("life {}: {}", self.lives, program.said()));
        }
        self.end(life.end, &mut program).await;
    }

    /// What the start finds.
    fn look_who_waits(&mut self) {
        let left = Left::read(&self.home.data(), &self.home.folder().join("copy"));
        self.waiting = left.map(|left| left.undecided).unwrap_or_default();
        self.excuse_who_waits();
    }

    /// Calls from before the clock was set far ahead are too old, as far as a start can tell.
    fn excuse_who_waits(&mut self) {
        let now = self.clock.now();
        let old = self.waiting.iter().filter(|(_, at)| now > at + EXCUSED_AFTER_MS);
        self.excused.extend(old.map(|(id, _)| id.clone()));
    }

    async fn happen(&mut self, fault: ProgramFault, program: &mut Program) {
        match fault {
            ProgramFault::Clock { ahead_seconds } => {
                self.count("clock set while it runs");
                self.clock.set(ahead_seconds);
                // It may still be starting.
                self.excuse_who_waits();
            }
            ProgramFault::FullDisk { for_ms } => {
                if program.has_ended().is_some() {
                    return;
                }
                self.count("full disk");
                self.disk.fill(program);
                sleep(Duration::from_millis(for_ms)).await;
                self.disk.free(&mut self.home, program);
            }
        }
    }

    /// It waits for room, or says why it does not start.
    async fn start_on_a_full_disk(&mut self) -> Program {
        self.count("start on a full disk");
        self.disk.fill_before_start(&mut self.home);
        let mut program = self.home.spawn();
        let ended = timeout(Duration::from_millis(1_500), async {
            while program.has_ended().is_none() {
                sleep(Duration::from_millis(5)).await;
            }
        });
        let ended = ended.await.is_ok();
        self.disk.free(&mut self.home, &mut program);
        if !ended {
            return program;
        }
        let status = program.ended().await;
        if status.code() != Some(1) || !program.said().contains("error") {
            self.findings
                .add(Broken::Died, format!("life {}, on a full disk: {status}\n{}", self.lives, program.said()));
        }
        self.home.spawn()
    }

    async fn end(&mut self, end: End, program: &mut Program) {
        match end {
            End::Kill => {
                self.count("kill");
                program.kill();
            }
            End::Stop => {
                self.count("stop");
                program.terminate();
                let status = program.ended().await;
                let (started, signal) =
                    (program.said().contains("is in the room"), std::os::unix::process::ExitStatusExt::signal(&status));
                if !status.success() && (started || signal.is_none()) {
                    self.findings
                        .add(Broken::Died, format!("life {}, stopped: {status}\n{}", self.lives, program.said()));
                }
            }
        }
        if program.said().contains("panicked") {
            self.findings.add(Broken::Died, format!("life {}: {}", self.lives, program.said()));
        }
    }

    /// The right time, room on the disk, and nobody who says anything new: everything is decided and said.
    async fn settle(&mut self, wish: &watch::Sender<Wish>, people: Vec<JoinHandle<Talker>>) -> (Program, Vec<Talker>) {
        self.clock.set(0);
        self.look_who_waits();
        let program = self.home.start().await;
        wish.send_replace(Wish::Finish);
        let mut knowing = Vec::new();
        for talker in people {
            knowing.push(talker.await.expect("nobody receives anything twice"));
        }
        let (store, until) = (self.home.store(), Instant::now() + PATIENCE);
        while !Ledger::read(&store).is_settled(&knowing) && Instant::now() < until {
            sleep(Duration::from_millis(300)).await;
        }
        for talker in &mut knowing {
            talker.visit().await.expect("they are shown the rest");
        }
        (program, knowing)
    }

    fn summary(&self, seed: u64, people: &[Talker], answered: &Answered) -> String {
        let taken: usize = people.iter().map(|talker| talker.taken.len()).sum();
        let calls = people.iter().flat_map(|talker| &talker.taken).filter(|taken| is_call(&taken.text)).count();
        let kinds: Vec<String> = self.faults.iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        let mut text = format!(
            "CAMPAIGN_SEED={seed}: {} faults ({}), {} lives, shards changed {} times; {taken} messages acknowledged, \
             {calls} mentions, {} answered and {} by a friendly line for many, {} too old for an answer;",
            self.faults(),
            kinds.join(", "),
            self.lives,
            self.shards_changed,
            answered.with_words,
            answered.by_a_line,
            self.excused.len(),
        );
        for broken in Broken::ALL {
            let name = format!("{broken:?}").to_lowercase();
            write!(text, " {name} {}", self.findings.count(broken)).expect("a string takes every text");
        }
        text
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_happens_nothing_is_lost_and_nobody_is_answered_twice() {
    let number = |name: &str| std::env::var(name).ok().map(|value| value.parse::<u64>().expect("a number"));
    let true_time = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is past 1970");
    let seed = number("CAMPAIGN_SEED").unwrap_or(true_time.as_millis() as u64);
    let faults = number("CAMPAIGN_FAULTS").unwrap_or(FAULTS);
    println!("the faults of CAMPAIGN_SEED={seed}");
    let mut home = new_home(SETTINGS);
    let (clock, disk) = (Clock::of(&mut home), Disk::of(&mut home));
    let ((tell, news), (wish, wished)) = (mpsc::unbounded_channel(), watch::channel(Wish::Talk));
    let address = home.address;
    let talker = |number: usize, who| Talker::new(who, address, seed ^ number as u64, tell.clone(), wished.clone());
    let talkers = TALKERS.into_iter().enumerate().map(|(number, who)| talker(number, who));
    let moderators = MODERATORS.into_iter().enumerate();
    let moderators = moderators.map(|(number, who)| talker(100 + number, who).moderating(MODERATORS_SAY_WITHIN_MS));
    let people: Vec<Talker> = talkers.chain(moderators).collect();
    let mut campaign = Campaign {
        home,
        clock,
        disk,
        news,
        faults: BTreeMap::new(),
        lives: 0,
        shards_changed: 0,
        shards: 0,
        waiting: Vec::new(),
        excused: BTreeSet::new(),
        findings: Findings::default(),
    };
    let people = people.into_iter().map(|talker| tokio::spawn(talker.talk())).collect();
    let mut draw = Draw(seed);
    while campaign.faults() < faults {
        let life = ProgramRun::draw(&mut draw);
        println!("{}: {life:?}", campaign.lives + 1);
        campaign.live(&life).await;
    }
    let (mut program, people) = campaign.settle(&wish, people).await;
    ask_why(&program, &people, &mut campaign).await;
    program.terminate();
    let status = program.ended().await;
    assert!(status.success(), "{status}\n{}", program.said());
    let ledger = Ledger::read(&campaign.home.store());
    let replayed = campaign.home.ask(&["replay", "--journal", &campaign.home.data().display().to_string(), "--strict"]);
    let replayed = replayed.lines().skip_while(|line| !line.contains("preset aizuchi")).collect::<Vec<_>>().join("\n");
    if !replayed.contains("compared with the stored ones: all the same") {
        campaign.findings.add(Broken::Misreported, format!("lived again, it decides otherwise:\n{replayed}"));
    }
    let terms = Terms { may_be_late: true, excused: campaign.excused.clone() };
    let answered = ledger.look(&people, &terms, &mut campaign.findings);
    println!("{}", campaign.summary(seed, &people, &answered));
    campaign.findings.assert_none();
    assert!(answered.with_words > 0, "somebody is answered between the faults");
}

/// Calls that are asked about in words.
const ASKED_MAX: usize = 5;

/// `/why` says that it answered where people see an answer.
async fn ask_why(program: &Program, people: &[Talker], campaign: &mut Campaign) {
    let ledger = Ledger::read(&campaign.home.store());
    for talker in people {
        let mut visitor = Visitor::enter(program.address, talker.room, "zoe").await;
        for taken in talker.taken.iter().rev().filter(|taken| is_call(&taken.text)).take(ASKED_MAX) {
            let why = visitor.order(&format!("/why {}", taken.id)).await;
            if ledger.is_answered(talker.room, &taken.id) && !why.contains("Answered") {
                campaign.findings.add(Broken::Misreported, format!("people see an answer to {}: {why}", taken.id));
            }
        }
    }
}
