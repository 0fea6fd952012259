//! Simulates the due work of many connections minute by minute, with the service's own margins,
//! checks and pauses. Measures its amount per second and its evenness. The ignored test prints the
//! tables of the documentation.

use std::collections::VecDeque;

use connector_vault::credentials::lifecycle::machine::{
    FailureHistory, HealthFailure, after_failure,
};
use connector_vault::credentials::lifecycle::timing::{is_due, next_check};
use connector_vault::terms::State;

use crate::rng::TestRng;

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;
const MINUTES_PER_DAY: usize = 24 * 60;
/// The maximum number of connections that one run of the schedule enqueues.
const MAX_PER_RUN: usize = 4_008;
/// Lifetimes of access tokens, and the percentage of connections with each. All other tokens do not
/// expire and are only checked.
const TOKEN_LIFETIMES: [(u64, &str, u64); 3] =
    [(50, "an hour", HOUR), (20, "a day", DAY), (10, "60 days", 60 * DAY)];

/// The due work by minute. A run finds only work that was due before it began. Work that is due
/// after the last minute is dropped.
struct Calendar(Vec<Vec<usize>>);

impl Calendar {
    fn new(minutes: usize) -> Self {
        Self((0..minutes).map(|_| Vec::new()).collect())
    }

    fn add(&mut self, at: u64, what: usize) {
        let minute = usize::try_from(at.div_ceil(MINUTE)).unwrap();
        if let Some(minute) = self.0.get_mut(minute) {
            minute.push(what);
        }
    }

    /// The number of connections that are due in the minute of this time.
    fn count(&self, at: u64) -> usize {
        self.0.get(usize::try_from(at.div_ceil(MINUTE)).unwrap()).map_or(0, Vec::len)
    }

    fn take(&mut self, minute: usize) -> Vec<usize> {
        std::mem::take(&mut self.0[minute])
    }
}

/// Returns a random number below `end`.
fn below(rng: &mut TestRng, end: u64) -> u64 {
    rng.next() % end
}

fn byte(rng: &mut TestRng) -> u8 {
    rng.next().to_le_bytes()[0]
}

#[expect(clippy::cast_precision_loss, reason = "small enough")]
fn ratio(one: usize, other: usize) -> f64 {
    one as f64 / other as f64
}

/// The maximum per minute, and the ratio of the maximum to the mean.
fn unevenness(minutes: &[usize]) -> (usize, f64) {
    let max = minutes.iter().copied().max().unwrap();
    (max, ratio(max * minutes.len(), minutes.iter().sum()))
}

/// A connection whose platform is up.
struct WorkingConnection {
    /// The index of its access tokens' lifetime in [`TOKEN_LIFETIMES`].
    kind: Option<usize>,
    issued: u64,
    check_at: u64,
}

/// The work done in a minute: refreshes on use, by token lifetime, and checks by the schedule.
#[derive(Debug, Clone, Default)]
struct MinuteWork {
    refreshes: [usize; TOKEN_LIFETIMES.len()],
    checks: usize,
}

/// Simulates connections for several days. Each is used this many times a day, at random. `pause`
/// is the minute at which the schedule stops, and the number of hours until it resumes.
fn simulate_days(
    connections: usize,
    uses: u64,
    days: usize,
    pause: Option<(usize, usize)>,
) -> Vec<MinuteWork> {
    let mut rng = TestRng(1);
    let minutes = days * MINUTES_PER_DAY;
    let (mut next_use, mut next_check_of) = (Calendar::new(minutes), Calendar::new(minutes));
    let gap = |rng: &mut TestRng| below(rng, 2 * DAY / uses.max(1));
    let mut all: Vec<WorkingConnection> = Vec::with_capacity(connections);
    for one in 0..connections {
        let (index, mut sum) = (below(&mut rng, 100), 0);
        let kind = TOKEN_LIFETIMES.iter().position(|(share, ..)| {
            sum += share;
            index < sum
        });
        let check_at = below(&mut rng, DAY);
        next_check_of.add(check_at, one);
        if uses > 0 {
            next_use.add(gap(&mut rng), one);
        }
        all.push(WorkingConnection { kind, issued: 0, check_at });
    }
    let mut waiting = VecDeque::new();
    let mut run = |minute: usize| {
        let (now, mut done) = (minute as u64 * MINUTE, MinuteWork::default());
        for one in next_use.take(minute) {
            next_use.add(now + gap(&mut rng), one);
            let Some(kind) = all[one].kind else { continue };
            let issued = all[one].issued;
            if is_due(Some(issued), Some(issued + TOKEN_LIFETIMES[kind].2), now) {
                let check_at = next_check(now, DAY, byte(&mut rng));
                all[one] = WorkingConnection { issued: now, check_at, ..all[one] };
                next_check_of.add(check_at, one);
                done.refreshes[kind] += 1;
            }
        }
        waiting.extend(next_check_of.take(minute));
        let is_paused =
            pause.is_some_and(|(from, hours)| (from..from + hours * 60).contains(&minute));
        while !is_paused && done.checks < MAX_PER_RUN {
            let Some(one) = waiting.pop_front() else { break };
            // A refresh may have postponed this check.
            if all[one].check_at <= now {
                let check_at = next_check(now, DAY, byte(&mut rng));
                all[one] = WorkingConnection { issued: now, check_at, ..all[one] };
                next_check_of.add(check_at, one);
                done.checks += 1;
            }
        }
        done
    };
    (0..minutes).map(&mut run).collect()
}

/// Simulates connections whose platform is down for four days. Returns the attempts per minute, and
/// the minutes until all work again. With `together`, all first fail in the same minute; otherwise
/// the failures are spread over a day.
fn simulate_outage(connections: usize, together: bool) -> (Vec<usize>, usize) {
    let mut rng = TestRng(1);
    let down = 4 * MINUTES_PER_DAY;
    let mut due = Calendar::new(5 * MINUTES_PER_DAY);
    let mut all = vec![FailureHistory::default(); connections];
    for one in 0..connections {
        due.add(if together { 0 } else { below(&mut rng, DAY) }, one);
    }
    let (mut waiting, mut tries, mut broken) = (VecDeque::new(), Vec::new(), connections);
    for minute in 0..5 * MINUTES_PER_DAY {
        waiting.extend(due.take(minute));
        let now = minute as u64 * MINUTE;
        let batch: Vec<usize> = waiting.drain(..waiting.len().min(MAX_PER_RUN)).collect();
        if minute >= down {
            broken -= batch.len();
            if broken == 0 {
                return (tries, minute - down);
            }
            continue;
        }
        tries.push(batch.len());
        for one in batch {
            let after =
                after_failure(all[one], HealthFailure::Unavailable, None, now, byte(&mut rng));
            assert_eq!(after.state, State::Degraded);
            all[one].attempts = after.attempts;
            let [at, alternative_at] =
                [after.next_attempt_at, after.alternative_at].map(Option::unwrap);
            // This is the rule of the statement that records the failure.
            let is_quieter = due.count(alternative_at).min(12) < due.count(at).min(12);
            due.add(if is_quieter { alternative_at } else { at }, one);
        }
    }
    panic!("{broken} connections are never tried again");
}

/// The evenness of the last day, and of the whole time.
fn summary(tries: &[usize]) -> [(usize, f64); 2] {
    [unevenness(&tries[tries.len() - MINUTES_PER_DAY..]), unevenness(tries)]
}

const PAUSE: usize = 6 * 60 + 72;

#[test]
fn checks_and_refreshes_are_spread_evenly() {
    let minutes = simulate_days(100_000, 5, 4, None);
    let checks: Vec<usize> = minutes.iter().map(|done| done.checks).collect();
    let refreshes: Vec<usize> = minutes.iter().map(|done| done.refreshes.iter().sum()).collect();
    assert!(unevenness(&checks).1 < 3.0, "{:?}", unevenness(&checks));
    assert!(
        unevenness(&refreshes[MINUTES_PER_DAY..]).1 < 1.5,
        "{:?}",
        unevenness(&refreshes[MINUTES_PER_DAY..])
    );
}

#[test]
fn retries_after_an_outage_are_spread_evenly() {
    for (connections, together) in [(1000, false), (20_000, false), (20_000, true)] {
        let (tries, recovered) = simulate_outage(connections, together);
        let [(_, last_day), (_, ever)] = summary(&tries);
        assert!(last_day <= 3.0 && (together || ever <= 3.0), "{last_day} {ever}");
        assert!(recovered <= PAUSE + 1, "{recovered} minutes");
    }
}

#[test]
#[ignore = "prints the tables of the documentation"]
fn prints_the_tables_of_the_documentation() {
    const MILLION: usize = 1_000_000;
    println!(
        "| a million connections | refreshes a second | checks a second | busiest minute, refreshes | busiest minute, checks |"
    );
    println!("|---|---|---|---|---|");
    let line = |name: &str, minutes: &[MinuteWork]| {
        let seconds = minutes.len() * 60;
        let checks: Vec<usize> = minutes.iter().map(|done| done.checks).collect();
        let refreshes: Vec<usize> =
            minutes.iter().map(|done| done.refreshes.iter().sum()).collect();
        let busiest = |all: &[usize]| {
            let (max, times) = unevenness(all);
            if max == 0 { "–".to_owned() } else { format!("{max}, {times:.2} × the mean") }
        };
        let [refresh_rate, check_rate] =
            [&refreshes, &checks].map(|all| ratio(all.iter().sum(), seconds));
        println!(
            "| {name} | {refresh_rate:.1} | {check_rate:.1} | {} | {} |",
            busiest(&refreshes),
            busiest(&checks)
        );
    };
    for uses in [0, 1, 5, 50] {
        let minutes = simulate_days(MILLION, uses, 6, None);
        line(&format!("each used {uses} times a day"), &minutes[3 * MINUTES_PER_DAY..]);
        if uses == 5 {
            for (index, (share, life, _)) in TOKEN_LIFETIMES.iter().enumerate() {
                let of_kind: usize =
                    minutes[3 * MINUTES_PER_DAY..].iter().map(|done| done.refreshes[index]).sum();
                let refresh_rate = ratio(of_kind, 3 * MINUTES_PER_DAY * 60);
                println!(
                    "| of these, {share} % whose tokens live {life} | {refresh_rate:.1} | | | |"
                );
            }
        }
    }
    let minutes = simulate_days(MILLION, 0, 6, Some((3 * MINUTES_PER_DAY, 6)));
    line(
        "never used, after six hours without a run",
        &minutes[3 * MINUTES_PER_DAY + 360..4 * MINUTES_PER_DAY + 360],
    );
    println!();
    println!(
        "| connections of a platform that is down for four days | tries a minute, last day | busiest minute, last day | busiest minute of all | all work again after |"
    );
    println!("|---|---|---|---|---|");
    for (connections, together) in [
        (1_000, false),
        (2_000, false),
        (10_000, false),
        (100_000, false),
        (MILLION, false),
        (100_000, true),
    ] {
        let (tries, recovered) = simulate_outage(connections, together);
        let mean = ratio(tries[3 * MINUTES_PER_DAY..].iter().sum(), MINUTES_PER_DAY);
        let [(max, times), (ever, ever_times)] = summary(&tries);
        let how = if together { ", all failing in the same minute" } else { "" };
        println!(
            "| {connections}{how} | {mean:.1} | {max}, {times:.2} × the mean | {ever}, {ever_times:.2} × | {recovered} min |"
        );
    }
}
