//! All SQL of the vault. Every statement joins the row of the request's key: it reaches only that key's account and
//! environment, and returns or changes nothing when the key is not valid or lacks the scope. What a token is confined
//! to is part of a list's filter and of [`Sql::guard_connection`], which every statement on a stored connection uses. A new
//! connection is checked before it is inserted, in `api::vault::create`.

mod count;
pub mod list;
pub mod one;
mod search;
mod source;
pub mod summary;
mod ways;

use std::borrow::Cow;

use crate::access::statements::Guard;
use crate::ports::{Param, Statement};

/// The columns of [`super::model::Connection`].
const COLUMNS: &str = "c.id, c.platform_version, c.name, c.environment, c.platform, c.label, c.identity, c.identity_type, c.description, c.state, c.tags, c.version, c.active, c.created_at, c.written_by";

/// SQL under construction: text comes from this crate only, everything else becomes a parameter.
#[derive(Debug, Clone)]
struct Sql<'a> {
    guard: &'a Guard<'a>,
    text: String,
    params: Vec<Param>,
}

impl<'a> Sql<'a> {
    /// Starts with the guard's parameters.
    fn new(guard: &'a Guard<'a>) -> Self {
        Self { guard, text: String::new(), params: guard.params.clone() }
    }

    /// Adds the condition that the row `k` of `api_keys` belongs to a valid key with the scope.
    fn guard(&mut self) -> &mut Self {
        self.push(self.guard.condition)
    }

    /// As [`Self::guard`], and that a token may see the connection `c`.
    fn guard_connection(&mut self) -> &mut Self {
        self.guard();
        let Some(confinement) = self.guard.confinement else { return self };
        self.of_identity(&confinement.identity).of_identity_type(confinement.identity_type);
        self.of_platforms(confinement.platforms.as_ref())
    }

    /// Adds text.
    fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Adds a parameter, and its placeholder to the text.
    fn bind(&mut self, param: Param) -> &mut Self {
        // Equal values are bound once, since a statement may have at most a hundred parameters.
        let known = self.params.iter().position(|known| *known == param);
        let at = known.unwrap_or(self.params.len());
        if known.is_none() {
            self.params.push(param);
        }
        self.text.push('?');
        self.text.push_str(&at.saturating_add(1).to_string());
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.bind(Param::Text(text.into()))
    }

    fn integer(&mut self, number: u64) -> &mut Self {
        self.bind(Param::Integer(i64::try_from(number).unwrap_or(i64::MAX)))
    }

    fn finish(self) -> Statement {
        Statement { sql: Cow::Owned(self.text), params: self.params }
    }
}
