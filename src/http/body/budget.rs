//! Limits the memory that an isolate uses for bodies: platforms' responses and callers' requests.
//! An isolate has 128 MB for all its requests, and decoding and rendering a response of up to 8 MiB
//! copies it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::http::problem::{Code, Problem};

/// The maximum number of bytes reserved in an isolate.
pub const MAX_TOTAL_BYTES: usize = 24 << 20;
/// The maximum number of bytes reserved for one account, so that it can't starve others.
pub const MAX_BYTES_PER_ACCOUNT: usize = 16 << 20;
/// The maximum number of bytes reserved for one user of an account, through tokens.
pub const MAX_BYTES_PER_IDENTITY: usize = 8 << 20;
/// The bytes to reserve before a call that may change something is sent, so that a response up to
/// this size is never lost. Small, because a slow platform may keep hundreds of calls waiting.
pub const INITIAL_RESERVATION: usize = 64 << 10;
/// The age in milliseconds after which a reservation no longer counts. No call takes this long: the
/// runtime must have ended the request without dropping it, for example because it used too much
/// CPU.
const RESERVATION_LIFETIME_MS: u64 = 5 * 60 * 1000;

/// The memory budget of an isolate for bodies.
#[derive(Debug, Default)]
pub struct BodyBudget(Rc<RefCell<Vec<Rc<Share>>>>);

/// The caller to whom a reservation is charged.
#[derive(Debug, Clone, Copy)]
pub struct Holder<'a> {
    /// The account; before authentication, the name of the key.
    pub account: &'a str,
    /// The identity of the token; `None` for a key.
    pub identity: Option<&'a str>,
}

/// The memory reserved by one call.
#[derive(Debug)]
struct Share {
    since: u64,
    account: String,
    identity: Option<String>,
    bytes: Cell<usize>,
}

/// A call's handle to its reserved memory. Dropping it releases the memory.
#[derive(Debug)]
pub struct Reservation {
    shares: Rc<RefCell<Vec<Rc<Share>>>>,
    own_share: Rc<Share>,
    was_refused: Cell<bool>,
}

impl BodyBudget {
    /// Reserves memory for a call before it is sent. Fails when the isolate or the caller has
    /// reserved too much.
    pub fn reserve(
        &self,
        method: &str,
        holder: Holder<'_>,
        now: u64,
    ) -> Result<Rc<Reservation>, Problem> {
        // A safe call can be repeated, so it reserves memory only for the data that arrives.
        self.reserve_bytes(if is_safe(method) { 0 } else { INITIAL_RESERVATION }, holder, now)
    }

    /// Fails when the isolate or the caller has reserved too much.
    pub fn reserve_bytes(
        &self,
        bytes: usize,
        holder: Holder<'_>,
        now: u64,
    ) -> Result<Rc<Reservation>, Problem> {
        let own_share = Rc::new(Share {
            since: now,
            account: holder.account.to_owned(),
            identity: holder.identity.map(str::to_owned),
            bytes: Cell::new(0),
        });
        let Ok(mut all) = self.0.try_borrow_mut() else { return Err(budget_exhausted()) };
        all.retain(|share| now.saturating_sub(share.since) < RESERVATION_LIFETIME_MS);
        all.push(Rc::clone(&own_share));
        drop(all);
        let shares = Rc::clone(&self.0);
        let reservation = Rc::new(Reservation { shares, own_share, was_refused: Cell::new(false) });
        if reservation.grow_to(bytes) { Ok(reservation) } else { Err(budget_exhausted()) }
    }

    /// The number of bytes that are reserved in total.
    pub fn held(&self) -> usize {
        self.0.try_borrow().map_or(0, |shares| shares.iter().map(|share| share.bytes.get()).sum())
    }
}

impl Reservation {
    /// Grows the reservation to `bytes` in total. Returns `false` when the isolate or the caller
    /// would exceed its limit.
    pub fn grow_to(&self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.own_share.bytes.get());
        let fits = more == 0 || self.fits_limits(more);
        if fits {
            self.own_share.bytes.set(self.own_share.bytes.get().saturating_add(more));
        } else {
            self.was_refused.set(true);
        }
        fits
    }

    fn fits_limits(&self, more: usize) -> bool {
        let Ok(shares) = self.shares.try_borrow() else { return false };
        let (mut total, mut account_bytes, mut identity_bytes) = (more, more, more);
        for share in shares.iter() {
            let bytes = share.bytes.get();
            total = total.saturating_add(bytes);
            if share.account == self.own_share.account {
                account_bytes = account_bytes.saturating_add(bytes);
                if share.identity == self.own_share.identity {
                    identity_bytes = identity_bytes.saturating_add(bytes);
                }
            }
        }
        total <= MAX_TOTAL_BYTES
            && account_bytes <= MAX_BYTES_PER_ACCOUNT
            && (self.own_share.identity.is_none() || identity_bytes <= MAX_BYTES_PER_IDENTITY)
    }

    /// Shrinks the reservation to at most `bytes`.
    pub fn shrink_to(&self, bytes: usize) {
        self.own_share.bytes.set(self.own_share.bytes.get().min(bytes));
    }

    /// Fails when the response to a safe method did not fit. For other methods, which may have
    /// changed something, the response is returned without its body instead.
    pub fn check(&self, method: &str) -> Result<(), Problem> {
        if self.was_refused.get() && is_safe(method) { Err(budget_exhausted()) } else { Ok(()) }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if let Ok(mut shares) = self.shares.try_borrow_mut() {
            shares.retain(|share| !Rc::ptr_eq(share, &self.own_share));
        }
    }
}

fn is_safe(method: &str) -> bool {
    matches!(method, "GET" | "HEAD")
}

pub(crate) fn budget_exhausted() -> Problem {
    let detail = "The service is reading too many large bodies. Try again shortly.";
    Problem { retry_after: Some(5), ..Problem::new(Code::Unavailable, detail) }
}

#[cfg(test)]
mod tests {
    use super::{
        BodyBudget, Holder, INITIAL_RESERVATION, MAX_BYTES_PER_ACCOUNT, MAX_BYTES_PER_IDENTITY,
        MAX_TOTAL_BYTES, RESERVATION_LIFETIME_MS,
    };

    const ACME: Holder<'_> = Holder { account: "acme", identity: None };
    const OTHER: Holder<'_> = Holder { account: "other", identity: None };

    #[test]
    fn a_reservation_grows_within_the_budget_and_ends_with_its_call() {
        let budget = BodyBudget::default();
        let other = budget.reserve("GET", OTHER, 0).unwrap();
        assert!(other.grow_to(MAX_TOTAL_BYTES - MAX_BYTES_PER_ACCOUNT));
        let (read, write) =
            (budget.reserve("GET", ACME, 0).unwrap(), budget.reserve("POST", ACME, 0).unwrap());
        let used = MAX_TOTAL_BYTES - MAX_BYTES_PER_ACCOUNT + INITIAL_RESERVATION;
        assert_eq!(budget.held(), used);
        for (bytes, fits, held) in [
            (1, true, used + 1),
            (MAX_BYTES_PER_ACCOUNT - INITIAL_RESERVATION, true, MAX_TOTAL_BYTES),
            (1, true, MAX_TOTAL_BYTES),
            (MAX_TOTAL_BYTES, false, MAX_TOTAL_BYTES),
            (usize::MAX, false, MAX_TOTAL_BYTES),
        ] {
            assert_eq!((read.grow_to(bytes), budget.held()), (fits, held), "{bytes}");
        }
        assert!(budget.reserve("GET", OTHER, 0).is_ok());
        for method in ["POST", "DELETE"] {
            assert_eq!(budget.reserve(method, OTHER, 0).unwrap_err().retry_after, Some(5));
        }
        assert!(
            read.check("GET").is_err() && read.check("PUT").is_ok() && write.check("GET").is_ok()
        );
        read.shrink_to(5);
        assert_eq!(budget.held(), used + 5);
        drop(read);
        assert_eq!(budget.held(), used);
        // Dropping the future models a cancelled call.
        let waiting = async move {
            std::future::pending::<()>().await;
            drop((write, other));
        };
        drop(waiting);
        assert_eq!((budget.held(), budget.0.borrow().len()), (0, 0));
    }

    #[test]
    fn one_account_or_user_cannot_use_the_whole_budget() {
        let budget = BodyBudget::default();
        let reserve = |account, identity| {
            budget.reserve("GET", Holder { account, identity: Some(identity) }, 0).unwrap()
        };
        let held: Vec<_> = [
            ("acme", "ann", MAX_BYTES_PER_IDENTITY, true),
            ("acme", "ann", 1, false),
            ("acme", "bob", MAX_BYTES_PER_ACCOUNT - MAX_BYTES_PER_IDENTITY, true),
            ("acme", "bob", 1, false),
            ("acme", "cid", 1, false),
            ("other", "ann", MAX_TOTAL_BYTES - MAX_BYTES_PER_ACCOUNT, true),
            ("third", "ann", 1, false),
        ]
        .map(|(account, identity, bytes, fits)| {
            let reservation = reserve(account, identity);
            assert_eq!(reservation.grow_to(bytes), fits, "{account} {identity} {bytes}");
            reservation
        })
        .into();
        drop(held);
        // A key acts for all users of its account, so only the account's limit applies.
        let key_reservation = budget.reserve("GET", ACME, 0).unwrap();
        assert!(
            key_reservation.grow_to(MAX_BYTES_PER_ACCOUNT)
                && !key_reservation.grow_to(MAX_BYTES_PER_ACCOUNT + 1)
        );
    }

    #[test]
    fn a_reservation_that_is_never_dropped_lapses() {
        let budget = BodyBudget::default();
        let leaked = budget.reserve_bytes(MAX_BYTES_PER_ACCOUNT, ACME, 1).unwrap();
        assert!(budget.reserve("POST", ACME, RESERVATION_LIFETIME_MS).is_err());
        let second_reservation = budget.reserve("POST", ACME, RESERVATION_LIFETIME_MS + 1).unwrap();
        assert_eq!(budget.held(), INITIAL_RESERVATION);
        drop(leaked);
        assert_eq!(budget.held(), INITIAL_RESERVATION);
        drop(second_reservation);
        assert_eq!(budget.held(), 0);
    }
}
