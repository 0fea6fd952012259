//! Packs actions and the definitions that they share into units.

use std::collections::{HashMap, HashSet};

use serde_json::value::RawValue;

use super::body::DocumentedResponse;
use super::definitions::Definitions;
use super::referenced_definitions::ReferencedDefinitions;
use crate::catalog::action::stored::{DefinitionRefs, StoredAction, StoredResponse};
use crate::catalog::action::unit::{DeflatedUnit, deflate, write_unit};

/// The maximum size of the definitions for an action's input, in bytes.
const INPUT_BYTES: usize = 64 << 10;
/// The maximum size of the definitions for a response, in bytes.
const RESPONSE_BYTES: usize = 20 << 10;
/// The maximum size of an inflated unit in bytes. A unit with a single action may be larger.
const UNIT_BYTES: usize = 576 << 10;
/// The maximum size of a deflated unit, in bytes.
pub const MAX_DEFLATED: usize = 64 << 10;

/// An action whose schemas have been converted.
pub struct Draft {
    /// The stored action, with its responses still to be added.
    pub action: StoredAction<Box<RawValue>>,
    /// The definitions that the parameters and the body refer to.
    pub input: ReferencedDefinitions,
    pub responses: Vec<DocumentedResponse>,
}

/// An action and the definitions that it needs.
struct ActionWithDefinitions {
    draft: Draft,
    input: DefinitionRefs,
    responses: Vec<DefinitionRefs>,
    bytes: usize,
}

impl ActionWithDefinitions {
    fn numbers(&self) -> impl Iterator<Item = u32> {
        let all = std::iter::once(&self.input).chain(&self.responses);
        all.flat_map(|reached| reached.whole.iter().chain(&reached.cut)).copied()
    }
}

/// Packs actions into units. `drafts` are sorted by key.
pub fn build<F>(drafts: Vec<Draft>, definitions: &Definitions<'_, F>) -> Vec<DeflatedUnit> {
    let with_definitions = |draft: Draft| {
        let input = definitions.reach(&draft.input.roots, INPUT_BYTES);
        let responses = draft.responses.iter();
        let responses = responses
            .map(|one| definitions.reach(&one.referenced_definitions.roots, RESPONSE_BYTES));
        let responses: Vec<DefinitionRefs> = responses.collect();
        let schemas = draft.responses.iter().filter_map(|one| one.schema.as_ref());
        let schemas: usize = schemas.map(|schema| schema.get().len()).sum();
        let own = serde_json::to_string(&draft.action).map_or(0, |text| text.len());
        ActionWithDefinitions { draft, input, responses, bytes: own.saturating_add(schemas) }
    };
    let actions: Vec<ActionWithDefinitions> = drafts.into_iter().map(with_definitions).collect();
    let mut units = Vec::new();
    let (mut start, mut bytes) = (0, 0_usize);
    let mut included: HashSet<u32> = HashSet::new();
    for (at, action) in actions.iter().enumerate() {
        let size = |number: u32| definitions.get(number).map_or(0, |one| one.schema.len());
        let mut more = action.bytes;
        for number in action.numbers() {
            if !included.contains(&number) {
                more = more.saturating_add(size(number));
            }
        }
        if at > start && bytes.saturating_add(more) > UNIT_BYTES {
            write(actions.get(start..at).unwrap_or_default(), definitions, &mut units);
            (start, bytes) = (at, 0);
            included.clear();
            more = action.numbers().map(size).fold(action.bytes, usize::saturating_add);
        }
        bytes = bytes.saturating_add(more);
        included.extend(action.numbers());
    }
    write(actions.get(start..).unwrap_or_default(), definitions, &mut units);
    units
}

/// Serializes actions into a unit, or into several units if the size limit requires it.
fn write<F>(
    actions: &[ActionWithDefinitions],
    definitions: &Definitions<'_, F>,
    units: &mut Vec<DeflatedUnit>,
) {
    let Some(first) = actions.first() else { return };
    let bytes = deflate(&unit(actions, definitions));
    if bytes.len() > MAX_DEFLATED && actions.len() > 1 {
        let (left, right) = actions.split_at(actions.len() / 2);
        write(left, definitions, units);
        write(right, definitions, units);
        return;
    }
    units.push(DeflatedUnit { first: first.draft.action.key.clone(), bytes });
}

fn unit<F>(actions: &[ActionWithDefinitions], definitions: &Definitions<'_, F>) -> Vec<u8> {
    let mut numbers: HashMap<u32, u32> = HashMap::new();
    let mut shared: Vec<(&str, &str)> = Vec::new();
    let mut within = |reached: &DefinitionRefs| {
        let mut number = |number: &u32| {
            *numbers.entry(*number).or_insert_with(|| {
                let own = u32::try_from(shared.len()).unwrap_or(u32::MAX);
                let definition = definitions.get(*number);
                let text = definition.map(|one| (one.name.as_str(), one.schema.as_str()));
                shared.push(text.unwrap_or_default());
                own
            })
        };
        DefinitionRefs {
            whole: reached.whole.iter().map(&mut number).collect(),
            cut: reached.cut.iter().map(&mut number).collect(),
        }
    };
    let mut written: Vec<(&str, String)> = Vec::with_capacity(actions.len());
    for ActionWithDefinitions { draft, input, responses, .. } in actions {
        let mut action = draft.action.clone();
        action.reached = within(input);
        let responses = draft.responses.iter().zip(responses);
        let responses = responses.map(|(response, reached)| StoredResponse {
            status: response.status.clone(),
            description: response.description.clone(),
            content_type: response.types.first().cloned(),
            schema: response.schema.clone(),
            reached: within(reached),
        });
        action.responses = responses.collect();
        written.push((&draft.action.key, serde_json::to_string(&action).unwrap_or_default()));
    }
    write_unit(&written, &shared)
}
