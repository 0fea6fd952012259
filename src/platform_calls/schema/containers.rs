//! Validates the keywords of arrays and objects.

use serde_json::{Map, Value};

use super::equal::is_equal;
use super::pointer::Pointer;
use super::{Check, MAX_FAULTS};
use crate::util::nearest::{nearest, shown};

/// The maximum depth of reported members of a missing value.
const MAX_MISSING_LEVELS: u32 = 3;

impl Check<'_> {
    pub(super) fn items(
        &mut self,
        schema: &Map<String, Value>,
        items: &[Value],
        at: &Pointer<'_>,
        level: u32,
    ) {
        self.count(schema, ["minItems", "maxItems"], items.len(), "item", at);
        let prefix_items = schema.get("prefixItems").and_then(Value::as_array);
        let prefix_items = prefix_items.map(Vec::as_slice).unwrap_or_default();
        // Ignore items above the maximum: their number is already reported as a fault.
        let max = schema.get("maxItems").and_then(Value::as_u64);
        let max = max.and_then(|max| usize::try_from(max).ok()).unwrap_or(usize::MAX);
        let items = items.get(..max).unwrap_or(items);
        for (index, item) in items.iter().enumerate() {
            if let Some(schema) = prefix_items.get(index).or_else(|| schema.get("items")) {
                self.value(schema, item, &at.item(index), level);
            }
        }
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            let is_repeated = |(index, item): (usize, &Value)| {
                items.iter().take(index).any(|earlier| is_equal(earlier, item))
            };
            if items.iter().take(1000).enumerate().any(is_repeated) {
                self.fault(at, "must not have the same item twice");
            }
        }
        if let Some(contained) = schema.get("contains") {
            let found = items.iter().filter(|item| self.is_valid(contained, item, level)).count();
            let found = u64::try_from(found).unwrap_or(u64::MAX);
            let limit = |key: &str| schema.get(key).and_then(Value::as_u64);
            if found < limit("minContains").unwrap_or(1) {
                self.fault(at, "has too few items of the kind that it must contain");
            }
            if limit("maxContains").is_some_and(|max| found > max) {
                self.fault(at, "has too many items of the kind that it must contain");
            }
        }
    }

    pub(super) fn members(
        &mut self,
        schema: &Map<String, Value>,
        members: &Map<String, Value>,
        at: &Pointer<'_>,
        level: u32,
    ) {
        self.count(schema, ["minProperties", "maxProperties"], members.len(), "member", at);
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !members.contains_key(name) {
                let own = schema.get("properties").and_then(|known| known.get(name));
                self.report_missing(own, &at.member(name), 0);
            }
        }
        let object = |key: &str| schema.get(key).and_then(Value::as_object);
        let (known, by_pattern) = (object("properties"), object("patternProperties"));
        let names = schema.get("propertyNames");
        let others = schema.get("additionalProperties");
        for (name, value) in members {
            let place = at.member(name);
            let own = known.and_then(|known| known.get(name));
            if let Some(own) = own {
                self.value(own, value, &place, level);
            }
            let mut is_known = own.is_some();
            for (pattern, schema) in by_pattern.into_iter().flatten() {
                if (self.is_match)(pattern, name) {
                    is_known = true;
                    self.value(schema, value, &place, level);
                }
            }
            match others.filter(|_| !is_known) {
                Some(Value::Bool(false)) => self.report_unknown(name, known, &place),
                Some(schema) => self.value(schema, value, &place, level),
                None => {}
            }
            if let Some(schema) = names
                && !self.is_valid(schema, &Value::String(name.clone()), level)
            {
                self.fault(&place, "has a name that is not allowed");
            }
        }
        for (name, schema) in object("dependentSchemas").into_iter().flatten() {
            if members.contains_key(name) {
                self.value(schema, &Value::Object(members.clone()), at, level);
            }
        }
    }

    /// Reports a missing value. If its schema has required members, reports those instead.
    fn report_missing(&mut self, schema: Option<&Value>, at: &Pointer<'_>, level: u32) {
        let required = schema.and_then(|schema| schema.get("required")).and_then(Value::as_array);
        let names = required.into_iter().flatten().filter_map(Value::as_str);
        let names: Vec<&str> = names.take(MAX_FAULTS).collect();
        if names.is_empty() || level >= MAX_MISSING_LEVELS {
            return self.fault(at, "is required");
        }
        for name in names {
            let own = schema.and_then(|schema| schema.get("properties")?.get(name));
            self.report_missing(own, &at.member(name), level.saturating_add(1));
        }
    }

    fn report_unknown(&mut self, name: &str, known: Option<&Map<String, Value>>, at: &Pointer<'_>) {
        let names = known.into_iter().flatten().map(|(name, _)| name.as_str());
        let nearest_name = nearest(name, names, 1).pop();
        let hint = nearest_name.as_ref().map(|name| format!("; did you mean `{}`?", shown(name)));
        self.suggest(at, format!("is unknown{}", hint.unwrap_or_default()), nearest_name);
    }
}
