//! The details of a document's actions: input and responses, as JSON Schema.
//!
//! [`definitions`] resolves references, [`schema`] converts schemas, [`parameters`], [`body`],
//! [`form`] and [`media`] convert the parts of an operation, [`referenced_definitions`] tracks the definitions
//! that their schemas need, and [`units`] packs the results.

pub mod body;
pub mod constants;
pub mod definitions;
pub mod form;
pub mod media;
pub mod parameters;
pub mod referenced_definitions;
pub mod schema;
pub mod units;

use serde_json::Value;
use serde_json::value::RawValue;

use super::action::Actions;
use super::document::Document;
use super::paths::ExternalDocs;
use super::report::format_count;
use super::server::base::{BaseUrls, repeated_base_path, strip_base_path};
use super::{image, server, text};
use crate::catalog::action::stored::{DefinitionRefs, OperationInfo, Requirement, StoredAction};
use crate::catalog::action::unit::{self, DeflatedUnit};
use crate::catalog::detail::Parameters;
use definitions::{Definitions, Sources};
use referenced_definitions::ReferencedDefinitions;
use units::Draft;

/// The maximum length of a description, in characters.
const MAX_DESCRIPTION: usize = 1000;
/// The maximum number of alternative security requirements.
const MAX_SECURITY: usize = 100;
/// The maximum number of scopes of a scheme in a requirement.
const MAX_SCOPES: usize = 200;
/// The maximum number of dangling references in a warning.
const MAX_DANGLING_SHOWN: usize = 3;

#[derive(Debug, Default)]
pub struct Details {
    /// The serialized units.
    pub units: Vec<DeflatedUnit>,
    /// A line for each skipped part of the document.
    pub skipped_parts: Vec<String>,
    /// Headers that almost all actions require with the same single value.
    pub headers: Parameters,
}

/// Builds the details of a document's actions. `document_url` is the base URL in the document. The details
/// are relative to `base`, the base URL of the platform, if another source provides it.
pub fn build<F>(
    document: &Document<F>,
    actions: &Actions<'_, F>,
    document_url: Option<&str>,
    base: Option<&BaseUrls>,
) -> Details {
    let mut definitions = Definitions::new(Sources::new(document));
    let everywhere = security(document.requirements.get());
    let repeated_base = document_url.and_then(|document_url| {
        repeated_base_path(document_url, actions.operations.iter().map(|located| located.path))
    });
    let info = document.info.as_ref();
    let is_google = info.is_some_and(|info| info.provider.as_str() == "googleapis.com");
    let mut drafts: Vec<Draft> = Vec::with_capacity(actions.rows.len());
    for (located, row) in actions.operations.iter().zip(&actions.rows) {
        let operation = located.operation;
        let mut input = ReferencedDefinitions::default();
        let facts = facts(located, repeated_base, base);
        let given = parameters::convert(
            operation.parameters.get(),
            located.item.parameters.get(),
            &facts.path,
            &mut definitions,
            &mut input,
        );
        let body = if let Some(body) = operation.request_body.get() {
            body::openapi(body, &mut definitions, &mut input, is_google)
        } else {
            let consumes = [&operation.consumes, &document.consumes];
            body::swagger(&given, &consumes, &mut definitions, &mut input)
        };
        let produces = [&operation.produces, &document.produces];
        let responses = operation.responses.get();
        let responses = responses.map(|given| body::responses(given, &produces, &mut definitions));
        let responses = responses.unwrap_or_default();
        let action = StoredAction {
            title: row.title.clone(),
            key: row.key.clone(),
            method: row.method,
            model_name: row.model_name.clone(),
            facts,
            parameters: given.parameters,
            request_body: body,
            security: security(operation.security.get()).or_else(|| everywhere.clone()),
            response_types: body::response_types(&responses, &produces),
            reached: DefinitionRefs::default(),
            responses: Vec::new(),
        };
        drafts.push(Draft { action, input, responses });
    }
    definitions.convert(schema::convert);
    drafts.sort_by(|a, b| unit::compare(&a.action.key, &b.action.key));
    let skipped_parts = skipped_parts(&definitions, &drafts);
    let headers = constants::find(&drafts, &definitions);
    Details { units: units::build(drafts, &definitions), skipped_parts, headers }
}

fn facts<F>(
    located: &super::action::LocatedOperation<'_, F>,
    repeated_base: Option<&str>,
    base: Option<&BaseUrls>,
) -> OperationInfo {
    let operation = located.operation;
    let texts = [operation.description.as_str(), operation.summary.as_str()];
    let texts = texts.into_iter().find(|texts| !texts.trim().is_empty()).unwrap_or_default();
    let docs = operation.external_docs.get();
    let docs = docs.and_then(|ExternalDocs { url }| image::https(url.as_str()));
    // Drop the fragment, by which Amazon's documents distinguish operations. It is never sent; a
    // parameter has the same value.
    let path = located.path.split('#').next().unwrap_or_default();
    let server = [&operation.servers, &located.item.servers].into_iter().find_map(server::first);
    let repeated = repeated_base.filter(|_| server.is_none());
    let path =
        repeated.and_then(|repeated_base| strip_base_path(path, repeated_base)).unwrap_or(path);
    let (path, server) = match (server, base) {
        (None, Some(base)) => base.place(path),
        (server, _) => (path.to_owned(), server),
    };
    OperationInfo {
        path,
        server,
        description: text::line(texts, MAX_DESCRIPTION),
        deprecated: operation.deprecated.0.as_deref() == Some("true"),
        documentation_url: docs,
        graphql: operation.graphql.get().cloned(),
    }
}

/// Parses a `security`: alternative lists of schemes; all schemes of a list are required.
fn security(given: Option<&RawValue>) -> Option<Vec<Vec<Requirement>>> {
    let Ok(Value::Array(given)) = serde_json::from_str(given?.get()) else { return None };
    let requirement = |(scheme, scopes): (&String, &Value)| {
        let scopes = scopes.as_array().map_or(&[][..], Vec::as_slice);
        let scopes = scopes.iter().filter_map(Value::as_str).take(MAX_SCOPES);
        Requirement { scheme: scheme.clone(), scopes: scopes.map(str::to_owned).collect() }
    };
    let alternatives = given.iter().filter_map(Value::as_object).take(MAX_SECURITY);
    let alternatives = alternatives.map(|all| all.iter().map(requirement).collect());
    Some(alternatives.collect())
}

/// The lists of security schemes that a document's actions require, without duplicates.
pub fn required<F>(document: &Document<F>, actions: &Actions<'_, F>) -> Vec<Vec<String>> {
    let everywhere = security(document.requirements.get());
    let action_requirements =
        actions.operations.iter().map(|located| security(located.operation.security.get()));
    let all = action_requirements.map(|document_url| document_url.or_else(|| everywhere.clone()));
    let mut required: Vec<Vec<String>> = Vec::new();
    for alternative in all.flatten().flatten() {
        let names: Vec<String> = alternative.into_iter().map(|one| one.scheme).collect();
        if !names.is_empty() && !required.contains(&names) {
            required.push(names);
        }
    }
    required
}

fn skipped_parts<F>(definitions: &Definitions<'_, F>, drafts: &[Draft]) -> Vec<String> {
    let mut skipped_parts = Vec::new();
    let dangling = &definitions.dangling;
    if !dangling.is_empty() {
        let names = text::format_list(dangling.iter().map(String::as_str), MAX_DANGLING_SHOWN);
        skipped_parts.push(format!("dangling references allow any value: {names}"));
    }
    if !definitions.skipped.is_empty() {
        let parts = definitions.skipped.iter().copied().collect::<Vec<_>>().join(", ");
        skipped_parts.push(format!("OpenAPI 3.2 is read as 3.1, without {parts}"));
    }
    let is_too_large = |draft: &&Draft| {
        draft.input.is_too_large
            || draft.responses.iter().any(|one| one.referenced_definitions.is_too_large)
    };
    let large: Vec<&str> =
        drafts.iter().filter(is_too_large).map(|draft| draft.action.key.as_str()).collect();
    if let Some(first) = large.first() {
        let count = format_count(large.len(), "action");
        skipped_parts
            .push(format!("{count} with a schema that is too large, and allows anything: {first}"));
    }
    skipped_parts
}
