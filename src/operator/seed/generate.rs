//! Generates realistic connections: a few platforms have most of them, and an identity has one or
//! several.

use uuid::{Builder, Uuid};

use super::platforms::{Platform, Platforms};
use super::words::{DOMAINS, LABELS, LANGUAGES, Language, SLUGS, TAGS};
use crate::operator::time::Moment;

/// A generated connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedConnection<'a> {
    /// A random UUID.
    pub id: Uuid,
    pub active: bool,
    pub platform: &'a Platform,
    pub platform_version: String,
    /// Distinguishes several connections of an identity to a platform.
    pub label: &'static str,
    pub identity: String,
    pub identity_type: &'static str,
    pub name: Option<String>,
    pub state: &'static str,
    /// Without duplicates.
    pub tags: Vec<&'static str>,
    /// Milliseconds since 1970-01-01 UTC.
    pub created_at: i64,
}

/// The maximum age of a connection, in milliseconds.
const TWO_YEARS: u64 = 2 * 365 * 24 * 60 * 60 * 1_000;

/// The maximum length of a name, in characters.
const NAME_CHARS: usize = 128;

/// Identity types, with their percentages and the maximum number of connections of an identity.
const IDENTITY_TYPES: [(&str, u64, u64); 4] =
    [("user", 72, 6), ("team", 14, 10), ("organization", 9, 20), ("project", 5, 8)];

/// Connection states, with their percentages.
const STATES: [(&str, u64); 4] =
    [("operational", 88), ("degraded", 5), ("failed", 4), ("unknown", 3)];

/// The identity for which connections are being generated.
#[derive(Debug, Default)]
struct IdentityState<'a> {
    identity: String,
    identity_type: &'static str,
    name: String,
    /// The number of connections still to be generated.
    remaining: u64,
    /// The platform and label of each connection generated so far.
    combinations: Vec<(&'a str, &'static str)>,
}

/// Generates connections, oldest first. Equal arguments generate equal connections.
///
/// This order makes it fast to insert a million of them: most indexes end with the creation time,
/// so new entries are adjacent.
#[derive(Debug)]
pub struct Generator<'a> {
    random: fastrand::Rng,
    platforms: &'a Platforms,
    now: Moment,
    number: u64,
    count: u64,
    remaining: u64,
    current: IdentityState<'a>,
}

impl<'a> Generator<'a> {
    /// Generates `count` connections. Every identity contains the number of its first connection,
    /// so `number` must be higher than in any earlier run on the database. This keeps identities
    /// unique.
    pub fn new(platforms: &'a Platforms, seed: u64, number: u64, count: u64, now: Moment) -> Self {
        // Each number must start a different sequence, otherwise ids would repeat.
        let start =
            fastrand::Rng::with_seed(seed).u64(..) ^ fastrand::Rng::with_seed(number).u64(..);
        let random = fastrand::Rng::with_seed(start);
        Self {
            random,
            platforms,
            now,
            number,
            count,
            remaining: count,
            current: IdentityState::default(),
        }
    }

    /// A random UUID from the generator's sequence.
    pub fn uuid(&mut self) -> Uuid {
        Builder::from_random_bytes(self.random.u128(..).to_be_bytes()).into_uuid()
    }

    fn percent(&mut self, chance: u64) -> bool {
        self.random.u64(..100) < chance
    }

    fn pick<T: Copy + Default>(&mut self, items: &[T]) -> T {
        self.random.choice(items).copied().unwrap_or_default()
    }

    /// Picks a random item; earlier items are more likely.
    fn pick_favouring_first<T: Copy + Default>(&mut self, items: &[T]) -> T {
        let index =
            self.random.usize(..items.len().max(1)).min(self.random.usize(..items.len().max(1)));
        items.get(index).copied().unwrap_or_default()
    }

    /// Picks a random item by weight.
    fn pick_weighted<T>(
        &mut self,
        items: &'static [T],
        weight: impl Fn(&T) -> u64,
    ) -> Option<&'static T> {
        let total = items.iter().map(&weight).fold(0, u64::saturating_add);
        let mut remaining = self.random.u64(..total.max(1));
        items.iter().find(|item| {
            let found = remaining < weight(item);
            remaining = remaining.saturating_sub(weight(item));
            found
        })
    }

    /// The next identity and the number of its connections.
    fn next_identity(&mut self) -> Option<IdentityState<'a>> {
        let (identity_type, _, max) = *self.pick_weighted(&IDENTITY_TYPES, |kind| kind.1)?;
        let language = self.pick_weighted(LANGUAGES, |language| language.weight)?;
        let (identity, name) = match identity_type {
            "user" => self.user(language),
            _ => (self.group(identity_type), self.group_name(language)),
        };
        let remaining = self.random.u64(1..=max).min(self.random.u64(1..=max));
        Some(IdentityState { identity, identity_type, name, remaining, combinations: Vec::new() })
    }

    /// The identity and the name of a person.
    fn user(&mut self, language: &Language) -> (String, String) {
        let (given, family) = (self.pick(language.given), self.pick(language.family));
        let name = language.name_separator.map_or_else(
            || format!("{}{}", family.0, given.0),
            |between| format!("{}{between}{}", given.0, family.0),
        );
        let (number, domain) = (self.number, self.pick(DOMAINS));
        // The number is at the end or directly before the `@`, and no word ends with a digit. So
        // identities with different numbers are different.
        let identity = match self.random.u8(..100) {
            0..50 => format!("{}.{}{number}@{domain}", given.1, family.1),
            50..72 => format!("usr_{number}"),
            72..90 => format!("auth0|{number:024}"),
            90..96 => format!("{}{number}@{domain}", given.1.to_uppercase()),
            _ => format!("{}.{}{number}@{domain}", given.0, family.0),
        };
        (identity, name)
    }

    /// The identity of a team, an organization or a project.
    fn group(&mut self, identity_type: &str) -> String {
        let number = self.number;
        match identity_type {
            "organization" => format!("org_{number}"),
            "team" => format!("team-{}-{number}", self.pick(SLUGS)),
            _ => format!("Project-{}-{number}", self.pick(SLUGS)),
        }
    }

    fn group_name(&mut self, language: &Language) -> String {
        format!("{} {}", self.pick(language.topics), self.pick(language.places))
    }

    /// The name of a connection. Some connections have none.
    fn name(&mut self, platform: &Platform) -> Option<String> {
        if self.percent(12) {
            return None;
        }
        let name = &self.current.name;
        let longer = format!("{} – {name}", platform.name);
        let fits = longer.chars().count() <= NAME_CHARS && !longer.contains(char::is_control);
        Some(if fits && self.percent(25) { longer } else { self.current.name.clone() })
    }

    fn tags(&mut self) -> Vec<&'static str> {
        let count = self.random.usize(0..=6).min(self.random.usize(0..=6));
        let mut tags = Vec::new();
        while tags.len() < count {
            let tag = self.pick_favouring_first(TAGS);
            if !tags.contains(&tag) {
                tags.push(tag);
            }
        }
        tags
    }

    /// The age of the next connection, in milliseconds. The two years are divided by the count; the
    /// age is random within the connection's share.
    fn age(&mut self) -> Option<u64> {
        let share = TWO_YEARS.checked_div(self.count)?;
        let oldest = TWO_YEARS.checked_mul(self.remaining)?.checked_div(self.count)?;
        Some(oldest.saturating_sub(self.random.u64(..=share)))
    }

    /// A platform and label for which the identity has no connection yet. Returns `None` if a few
    /// random draws find none.
    fn unused_combination(&mut self) -> Option<(&'a Platform, &'static str)> {
        // If an identity already has nearly all combinations, a random draw rarely finds a new one.
        (0..20).find_map(|_| {
            let platform = self.platforms.pick(&mut self.random)?;
            let label =
                if self.percent(88) { "default" } else { self.pick_favouring_first(LABELS) };
            (!self.current.combinations.contains(&(platform.platform.as_str(), label)))
                .then_some((platform, label))
        })
    }
}

impl<'a> Iterator for Generator<'a> {
    type Item = GeneratedConnection<'a>;

    fn next(&mut self) -> Option<GeneratedConnection<'a>> {
        let age = self.age()?;
        self.remaining = self.remaining.checked_sub(1)?;
        let known = if self.current.remaining > 0 { self.unused_combination() } else { None };
        let (platform, label) = if let Some(found) = known {
            found
        } else {
            self.current = self.next_identity()?;
            self.unused_combination()?
        };
        self.current.remaining = self.current.remaining.saturating_sub(1);
        self.current.combinations.push((&platform.platform, label));
        self.number = self.number.checked_add(1)?;
        let state = self.pick_weighted(&STATES, |state| state.1)?.0;
        let platform_version = if self.percent(4) {
            format!("v{}", self.random.u8(1..=4))
        } else {
            platform.version.clone()
        };
        Some(GeneratedConnection {
            id: self.uuid(),
            // Only the user can reconnect a failed connection, and many such connections are
            // abandoned.
            active: !self.percent(if state == "failed" { 30 } else { 1 }),
            platform,
            platform_version,
            label,
            identity: self.current.identity.clone(),
            identity_type: self.current.identity_type,
            name: self.name(platform),
            state,
            tags: self.tags(),
            created_at: self.now.millis().saturating_sub_unsigned(age),
        })
    }
}
