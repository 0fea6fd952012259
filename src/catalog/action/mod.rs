//! What an action's detail adds to its row: where it is, what it takes and what it answers.
//!
//! [`stored`] is the form in which details are kept, [`unit`] the compressed value that holds those of some actions of a
//! platform with the definitions that they share, and [`answer`] what a caller gets.

pub mod answer;
pub mod stored;
pub mod unit;
