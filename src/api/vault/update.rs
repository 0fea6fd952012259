//! `PATCH /v1/vault/connections/{id}` (specification, part 4.5).

use super::{Ask, Context, not_found, precondition_failed, shown};
use crate::api::body::{BodyReader, Field, FieldCheck};
use crate::api::problem::Problem;
use crate::api::query::no_parameters;
use crate::json::array;
use crate::vault::revision::Precondition;
use crate::vault::rules;
use crate::vault::statements::one;

/// The fields of the body.
pub const UPDATE_FIELDS: [Field; 1] = [TAGS];
/// The tags of a connection.
pub(super) const TAGS: Field =
    Field { name: "tags", check: FieldCheck::Texts(rules::MAX_TAGS, rules::tag), required: false };

pub(super) fn ask<'a>(context: &'a Context<'a>, id: &str) -> Result<Ask<'a>, Problem> {
    no_parameters(&context.request.query)?;
    let mut body = BodyReader::new(context.request, &UPDATE_FIELDS)?;
    body.finish()?;
    let tags = body.texts("tags");

    let precondition = Precondition::of(context.request.header("if-match"), id);
    let update = tags.map(|tags| {
        let tags = array(&tags);
        one::update_tags(&context.guard, id, &tags, &precondition, &context.fresh_id)
    });
    let last = usize::from(update.is_some());
    let statements = update.into_iter().chain([one::select(&context.guard, id)]).collect();
    let answer = move |results: &super::Results<'_>| {
        let found = results.connection(last)?.ok_or_else(not_found)?;
        // Written by this request, now or by an earlier try; or as it was before.
        if found.written_by == context.fresh_id || precondition.holds(found.version) {
            Ok(shown(&found))
        } else {
            Err(precondition_failed())
        }
    };
    Ok(Ask { statements, answer: Box::new(answer) })
}
