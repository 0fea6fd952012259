//! The bytes of platforms' responses that an isolate holds at once. An isolate has 128 MB for all of its requests, and a
//! response of up to 8 MiB is copied as it is decoded and rendered.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use crate::http::problem::{Code, Problem};

/// The maximum number of bytes that are held at once.
pub const MAX_HELD: usize = 24 << 20;
/// The bytes that a call which may change something reserves before it is sent, so that a response of this size is
/// never lost. It is small, because a slow platform may keep hundreds of calls waiting.
pub const INITIAL_RESERVATION: usize = 64 << 10;

/// After this time, in milliseconds, a reservation no longer counts. No call takes as long: the runtime has ended its request
/// without dropping it, for example because it used too much CPU.
const LAPSE_MS: u64 = 5 * 60 * 1000;

/// The budget of an isolate.
#[derive(Debug, Default)]
pub struct ResponseBudget {
    held: Rc<Cell<usize>>,
    /// When each reservation was made, and what it holds.
    reserved: RefCell<VecDeque<(u64, Rc<Cell<usize>>)>>,
}

/// The part of the budget that a call holds, until it is dropped.
#[derive(Debug)]
pub struct Reservation {
    held: Rc<Cell<usize>>,
    own: Rc<Cell<usize>>,
    was_refused: Cell<bool>,
}

impl ResponseBudget {
    /// Reserves the budget of a call before it is sent. Fails when the isolate holds too much.
    pub fn reserve(&self, method: &str, now: u64) -> Result<Rc<Reservation>, Problem> {
        self.remove_lapsed(now);
        let own = Rc::new(Cell::new(0));
        self.reserved.borrow_mut().push_back((now, Rc::clone(&own)));
        let reservation = Rc::new(Reservation {
            held: Rc::clone(&self.held),
            own,
            was_refused: Cell::new(false),
        });
        // A call that changes nothing can be repeated, so it reserves only what arrives.
        let first = if is_safe(method) { 0 } else { INITIAL_RESERVATION };
        if reservation.grow_to(first) { Ok(reservation) } else { Err(exhausted()) }
    }

    /// Removes the reservations that have ended or lapsed from the front.
    fn remove_lapsed(&self, now: u64) {
        let mut reserved = self.reserved.borrow_mut();
        while let Some((since, own)) = reserved.front()
            && (Rc::strong_count(own) == 1 || now.saturating_sub(*since) >= LAPSE_MS)
        {
            self.held.set(self.held.get().saturating_sub(own.take()));
            reserved.pop_front();
        }
    }

    /// The number of bytes that are held.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.get()
    }
}

impl Reservation {
    /// Reserves this many bytes in total. Returns `false` when the isolate would hold too much.
    #[must_use]
    pub fn grow_to(&self, bytes: usize) -> bool {
        let more = bytes.saturating_sub(self.own.get());
        let held = self.held.get().saturating_add(more);
        let fits = more == 0 || held <= MAX_HELD;
        if fits {
            self.held.set(held);
            self.own.set(self.own.get().saturating_add(more));
        } else {
            self.was_refused.set(true);
        }
        fits
    }

    /// Gives back what is reserved beyond this many bytes.
    pub fn shrink_to(&self, bytes: usize) {
        let excess = self.own.get().saturating_sub(bytes);
        self.own.set(self.own.get().saturating_sub(excess));
        self.held.set(self.held.get().saturating_sub(excess));
    }

    /// Fails when the response of a call that can be repeated did not fit. After a change, the response is returned
    /// without its body instead.
    pub fn check(&self, method: &str) -> Result<(), Problem> {
        if self.was_refused.get() && is_safe(method) { Err(exhausted()) } else { Ok(()) }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

fn is_safe(method: &str) -> bool {
    matches!(method, "GET" | "HEAD")
}

fn exhausted() -> Problem {
    let detail = "The service is reading too many large responses of platforms. Try again shortly.";
    Problem { retry_after: Some(5), ..Problem::new(Code::Unavailable, detail) }
}

#[cfg(test)]
mod tests {
    use super::{INITIAL_RESERVATION, LAPSE_MS, MAX_HELD, ResponseBudget};

    #[test]
    fn a_reservation_grows_within_the_budget_and_ends_with_its_call() {
        let budget = ResponseBudget::default();
        let (read, write) = (budget.reserve("GET", 0).unwrap(), budget.reserve("POST", 0).unwrap());
        assert_eq!(budget.held(), INITIAL_RESERVATION);
        for (bytes, fits, held) in [
            (1, true, INITIAL_RESERVATION + 1),
            (MAX_HELD - INITIAL_RESERVATION, true, MAX_HELD),
            (1, true, MAX_HELD),
            (MAX_HELD, false, MAX_HELD),
            (usize::MAX, false, MAX_HELD),
        ] {
            assert_eq!((read.grow_to(bytes), budget.held()), (fits, held), "{bytes}");
        }
        assert!(budget.reserve("GET", 0).is_ok());
        for method in ["POST", "DELETE"] {
            assert_eq!(budget.reserve(method, 0).unwrap_err().retry_after, Some(5));
        }
        assert!(
            read.check("GET").is_err() && read.check("PUT").is_ok() && write.check("GET").is_ok()
        );
        read.shrink_to(5);
        assert_eq!(budget.held(), INITIAL_RESERVATION + 5);
        drop(read);
        assert_eq!(budget.held(), INITIAL_RESERVATION);
        // A cancelled call drops its future.
        let waiting = async move {
            std::future::pending::<()>().await;
            drop(write);
        };
        drop(waiting);
        assert_eq!(budget.held(), 0);
    }

    #[test]
    fn a_reservation_that_is_never_dropped_lapses() {
        let budget = ResponseBudget::default();
        let abandoned = budget.reserve("GET", 1).unwrap();
        assert!(abandoned.grow_to(MAX_HELD));
        assert!(budget.reserve("POST", LAPSE_MS).is_err());
        let live = budget.reserve("POST", LAPSE_MS + 1).unwrap();
        assert_eq!(budget.held(), INITIAL_RESERVATION);
        // If its call continues after all, it counts again.
        assert!(abandoned.grow_to(1));
        assert_eq!(budget.held(), INITIAL_RESERVATION + 1);
        drop((abandoned, live));
        assert_eq!(budget.held(), 0);
        drop(budget.reserve("POST", 2 * LAPSE_MS));
        drop(budget.reserve("POST", 2 * LAPSE_MS));
        assert_eq!(budget.reserved.borrow().len(), 1, "those that have ended are forgotten");
    }
}
