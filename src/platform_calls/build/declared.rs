//! Checks parameters and members that override the HTTP method. Only those that the action declares
//! are sent, and the caller's limits then apply to the overriding method too.

use serde_json::Value;

use super::texts::plain;
use crate::platform_calls::overrides::is_parameter;

const REFUSAL: &str =
    "can't be sent: it overrides the method at some platforms, and the action does not declare it";
/// The maximum number of schemas that are searched for a member.
const MAX_SCHEMAS: usize = 500;

/// The schemas that declare an action's members.
pub(super) struct DeclaredMembers<'a> {
    /// The schema of the input, with the definitions.
    pub input: &'a Value,
    /// The schema of the body.
    pub body: &'a Value,
    /// The overriding methods found in declared members, in upper case.
    pub overriding: &'a mut Vec<String>,
}

impl DeclaredMembers<'_> {
    /// Refuses a member that overrides the method, unless it is declared.
    pub fn check(&mut self, name: &str, value: &str) -> Result<(), (String, String)> {
        if !is_parameter(name, value) {
            return Ok(());
        }
        let input_body = self.input.pointer("/properties/body");
        let schemas = [Some(self.body), input_body].into_iter().flatten().collect();
        if any_has_property(self.input, schemas, name) {
            self.overriding.push(value.trim().to_ascii_uppercase());
            return Ok(());
        }
        Err(refusal(name))
    }

    /// Like [`Self::check`], for a member that may have several values.
    pub fn check_member(&mut self, name: &str, value: &Value) -> Result<(), (String, String)> {
        let items = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        // Check the name of an empty list too.
        let empty = items.is_empty().then_some(&Value::Null);
        items.iter().chain(empty).try_for_each(|item| self.check(name, &plain(item)))
    }
}

/// The error for a refused member: its name and the reason.
pub(super) fn refusal(name: &str) -> (String, String) {
    (name.to_owned(), REFUSAL.to_owned())
}

/// Whether one of these schemas, or a schema that it references or combines, has a property.
fn any_has_property<'a>(input: &'a Value, mut schemas: Vec<&'a Value>, name: &str) -> bool {
    let mut searched = 0;
    while let Some(schema) = schemas.get(searched).copied().filter(|_| searched < MAX_SCHEMAS) {
        if schema.get("properties").is_some_and(|properties| properties.get(name).is_some()) {
            return true;
        }
        let reference = schema.get("$ref").and_then(Value::as_str);
        let target = reference.and_then(|reference| input.pointer(reference.strip_prefix('#')?));
        let combined_schemas =
            ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key));
        let parts = combined_schemas.filter_map(Value::as_array).flatten();
        schemas.extend(target.into_iter().chain(parts));
        searched = searched.saturating_add(1);
    }
    false
}
