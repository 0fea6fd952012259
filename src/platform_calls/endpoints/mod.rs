//! Calls to the platforms of connections: passed on as they are, or built from an action's input.

mod approval;
mod paged;
pub mod proxy;
pub mod run;
