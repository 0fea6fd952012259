//! The MCP tools and the API requests that they send.

mod argument;

use std::slice;

use serde_json::{Map, Value, json};

use argument::ArgumentType::{
    self, Any, Boolean, ByteLimit, IntegerUpTo, Names, Object, OneOf, StringList, Text,
};
use argument::whole_number;

use crate::platform_calls::budget::AGENT_BYTES;
use crate::platform_calls::endpoints::action_response::MAX_BYTES_RANGE;
use crate::terms::Scope;
use crate::util::collect::by_insertion;
use crate::util::json;
use crate::util::percent::encode;

pub struct Tool {
    pub name: &'static str,
    title: &'static str,
    about: &'static str,
    /// The arguments: name, type, whether the argument is required, description.
    arguments: &'static [(&'static str, ArgumentType, bool, &'static str)],
    /// The scope that a caller must have.
    pub scope: Scope,
    is_read_only: bool,
    is_destructive: bool,
    is_open_world: bool,
}

/// A sentence in the description of [`RUN_ACTION`], and its replacement if the caller may only
/// read.
const MAY_WRITE: &str = "May change or delete data if the action's method is not GET.";
const ONLY_READS: &str = "You may only read: methods other than GET and HEAD are refused.";
pub const DESCRIBE_ACTION: &str = "describe_action";
pub const SEARCH_ACTIONS: &str = "search_actions";
pub const LIST_CONNECTIONS: &str = "list_connections";
pub const RUN_ACTION: &str = "run_action";
/// The arguments of [`RUN_ACTION`] with the action's input: structured, or flat.
const INPUT: &str = "input";
const ARGUMENTS: &str = "arguments";
/// The argument of [`RUN_ACTION`] with the id of a call that waited for approval.
pub const APPROVAL: &str = "approval";
pub const CALL_PLATFORM: &str = "call_platform";
/// The HTTP methods that [`CALL_PLATFORM`] accepts.
const METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];
pub const START_CONNECT: &str = "start_connect";

pub const TOOLS: [Tool; 6] = [
    Tool {
        name: SEARCH_ACTIONS,
        title: "Search actions",
        about: "Find which actions of platforms do something, such as sending an email or deleting a contact. Returns the platform, key, title and method of each, the best match first; those of the user's `connected` platforms before others.",
        arguments: &[
            ("query", Text, true, "What to do, such as `create github issue`"),
            ("platform", Names, false, "Only these platforms, comma-separated"),
            ("limit", IntegerUpTo(50), false, "How many. Default: 10"),
            ("page", IntegerUpTo(100), false, "Default: 1"),
        ],
        scope: Scope::CatalogRead,
        is_read_only: true,
        is_destructive: false,
        is_open_world: false,
    },
    Tool {
        name: DESCRIBE_ACTION,
        title: "Describe an action",
        about: "Get what an action takes: `input` is the JSON Schema of run_action's `input`. Long schemas are shown in part: `omitted` is the `path` of what is missing.",
        arguments: &[
            ("platform", Text, true, "The action's platform"),
            ("key", Text, true, "The action's key"),
            (
                "for",
                OneOf(&["model"]),
                false,
                "`model`: `input` is one flat object, for run_action's `arguments`",
            ),
            ("path", Text, false, "Only this part of `input`, as `omitted` names it"),
        ],
        scope: Scope::CatalogRead,
        is_read_only: true,
        is_destructive: false,
        is_open_world: false,
    },
    Tool {
        name: LIST_CONNECTIONS,
        title: "List connections",
        about: "List which accounts are connected, with their ids and states; `account` is whose account at the platform it is. One in state `failed` must be connected again, by start_connect.",
        arguments: &[
            ("platform", Text, false, "Only of this platform"),
            ("identity", Text, false, "Only of this identity"),
            (
                "active",
                Boolean,
                false,
                "false: those not in use, such as failed ones. Default: true",
            ),
            ("limit", IntegerUpTo(100), false, "How many. Default: 20"),
        ],
        scope: Scope::ConnectionsRead,
        is_read_only: true,
        is_destructive: false,
        is_open_world: false,
    },
    Tool {
        name: RUN_ACTION,
        title: "Run an action",
        about: "Run an action as a connected account. May change or delete data if the action's method is not GET. Returns the platform's status, headers and body; `omitted` names what is left out of a long body; a file is a link for the user. If the account must be connected first, the error has the user's link as `authorizationUrl`. Another error lists everything that is wrong with the input.",
        arguments: &[
            ("connection", Text, true, "The connection's id, or its platform"),
            ("key", Text, true, "The action's key"),
            (
                INPUT,
                Object,
                false,
                "`path`, `query`, `header`, `cookie`, `body`, as describe_action says",
            ),
            (ARGUMENTS, Object, false, "Instead of `input`: as describe_action says for `model`"),
            (
                "select",
                StringList,
                false,
                "Only these parts of the body: up to 20 JSON Pointers of at most 16 steps, in which `*` is every item, such as `/items/*/id`",
            ),
            (
                "maxBytes",
                ByteLimit,
                false,
                "The most bytes of the result; `omitted` names the rest. Default: 24000",
            ),
            (
                APPROVAL,
                Text,
                false,
                "Instead of `input`: the id of a call that waited for the user, to get its result",
            ),
        ],
        scope: Scope::ConnectionsCall,
        is_read_only: false,
        is_destructive: true,
        is_open_world: true,
    },
    Tool {
        name: CALL_PLATFORM,
        title: "Call a platform",
        about: "Send a request to a platform's own API as a connected account, if no action does it, or for the next page of a result, whose path is `next`. Returns the same as run_action.",
        arguments: &[
            ("connection", Text, true, "The connection's id, or its platform"),
            (
                "method",
                OneOf(&METHODS),
                false,
                "Default: GET. All others may change or delete data",
            ),
            ("path", Text, true, "The path below the API's base address, such as `/v1/tickets`"),
            ("query", Object, false, "The query parameters"),
            ("body", Any, false, "The JSON body"),
            ("select", StringList, false, "As in run_action"),
            ("maxBytes", ByteLimit, false, "As in run_action"),
        ],
        scope: Scope::ConnectionsCall,
        is_read_only: false,
        is_destructive: true,
        is_open_world: true,
    },
    Tool {
        name: START_CONNECT,
        title: "Connect an account",
        about: "Start to connect an account, or to connect it again. Give the returned `authorizationUrl` to the user, who signs in or enters a key there within 10 minutes; never ask for a key yourself. Then call this with the returned `id` as `attempt`, which waits for the user and returns how it ended.",
        arguments: &[
            ("platform", Text, false, "The platform"),
            ("connection", Text, false, "Instead: the id of a connection to connect again"),
            ("identity", Text, false, "Whose account it is; not with a user's token"),
            (
                "identityType",
                Text,
                false,
                "`user`, `team`, `organization` or `project`; not with a user's token",
            ),
            ("authMethod", Text, false, "Which of the connector's methods; usually omitted"),
            ("label", Text, false, "For another account of the platform"),
            (
                "attempt",
                Text,
                false,
                "Instead of all other arguments: the `id` of an attempt to wait for, up to 25 s",
            ),
        ],
        scope: Scope::ConnectionsConnect,
        is_read_only: false,
        is_destructive: false,
        is_open_world: true,
    },
];

/// A request to the API: method, path, query, body, and the value of the header `AGENT`.
pub type ApiRequest = (&'static str, String, String, Option<Vec<u8>>, String);

/// The agent's limits on a platform's response: `select` and `maxBytes`.
pub fn response_limits(given: &Map<String, Value>) -> Map<String, Value> {
    let max = given.get("maxBytes").and_then(whole_number).unwrap_or(AGENT_BYTES);
    let select = given.get("select").map(|all| ("select".to_owned(), all.clone()));
    by_insertion(select.into_iter().chain([("maxBytes".to_owned(), Value::from(max))]))
}

/// Lowers `maxBytes` by the size of what is added to the result later.
pub fn reserve_bytes(given: &mut Map<String, Value>, bytes: usize) {
    let max = given.get("maxBytes").and_then(whole_number).unwrap_or(AGENT_BYTES);
    let bytes = u64::try_from(bytes).unwrap_or_default();
    let remaining = max.saturating_sub(bytes).max(*MAX_BYTES_RANGE.start());
    given.insert("maxBytes".to_owned(), remaining.into());
}

/// Splits a path from its query, and encodes the path for a URL.
fn path_and_query(text: &str) -> (String, &str) {
    let (path, query) = text.split_once('?').unwrap_or((text, ""));
    let mut encoded = String::new();
    for letter in path.trim_start_matches('/').chars() {
        if letter.is_ascii_graphic()
            && !matches!(letter, '#' | '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}')
        {
            encoded.push(letter);
        } else {
            encoded.push_str(&encode(letter.encode_utf8(&mut [0; 4])));
        }
    }
    (encoded, query.split('#').next().unwrap_or_default())
}

/// Converts a value to a string for a query.
fn query_value(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The request that starts a connect attempt. Its response contains a link for every auth method.
pub fn connect_request(mut body: Map<String, Value>) -> ApiRequest {
    body.insert("link".to_owned(), Value::Bool(true));
    ("POST", "/v1/vault/connect".to_owned(), String::new(), Some(json::bytes(&body)), String::new())
}

/// The request that describes an action.
pub fn describe_request(platform: &str, key: &str) -> ApiRequest {
    let path = format!("/v1/available-actions/{}/{}", encode(platform), encode(key));
    ("GET", path, String::new(), None, String::new())
}

/// The request that waits for the result of a connect attempt.
pub fn attempt_request(attempt: &str) -> ApiRequest {
    let path = format!("/v1/vault/connect/{}", encode(attempt));
    ("GET", path, "wait=25".to_owned(), None, String::new())
}

impl Tool {
    /// The tool's entry in `tools/list`. `only_reads` is whether the caller may only read from
    /// platforms.
    pub fn description(&self, only_reads: bool) -> Value {
        let schema = |(name, kind, _, about): &(&str, ArgumentType, bool, &str)| {
            ((*name).to_owned(), kind.schema(about))
        };
        let properties: Map<String, Value> = by_insertion(self.arguments.iter().map(schema));
        let required = self.arguments.iter().filter(|(_, _, is_required, _)| *is_required);
        let about = if only_reads {
            self.about.replace(MAY_WRITE, ONLY_READS)
        } else {
            self.about.to_owned()
        };
        let required: Vec<&str> = required.map(|(name, ..)| *name).collect();
        json!({
            "name": self.name,
            "title": self.title,
            "description": about,
            "inputSchema": {
                "type": "object", "properties": properties, "required": required, "additionalProperties": false,
            },
            "annotations": {
                "readOnlyHint": self.is_read_only || only_reads,
                "destructiveHint": self.is_destructive && !only_reads,
                "openWorldHint": self.is_open_world,
            },
        })
    }

    /// Normalizes arguments: converts values that were sent as strings, and removes nulls and the
    /// blank strings of optional arguments. Models that must fill in each argument send these.
    pub fn read(&self, arguments: Option<&Value>) -> Value {
        let arguments = match arguments {
            None | Some(Value::Null) => json!({}),
            Some(given) => Object.read(given.clone()),
        };
        let Value::Object(given) = arguments else { return arguments };
        let read = |(name, value): (String, Value)| {
            let known = self.arguments.iter().find(|(known, ..)| *known == name);
            let value = known.map_or(value.clone(), |(_, kind, ..)| kind.read(value));
            (name, value)
        };
        let is_required =
            |name: &str| self.arguments.iter().any(|(known, _, is, _)| *is && *known == name);
        let is_blank = |value: &Value| value.as_str().is_some_and(|text| text.trim().is_empty());
        let is_sent = |(name, value): &(String, Value)| {
            !value.is_null() && (!is_blank(value) || is_required(name))
        };
        let given = given.into_iter().filter(is_sent);
        let mut given: Map<String, Value> = by_insertion(given.map(read));
        // Of the two forms of an input, the empty one was not meant.
        for (name, other) in [(ARGUMENTS, INPUT), (INPUT, ARGUMENTS)] {
            let is_empty = given.get(name).and_then(Value::as_object).is_some_and(Map::is_empty);
            if is_empty && given.contains_key(other) {
                given.remove(name);
            }
        }
        Value::Object(given)
    }

    /// The API request of the tool. Fails with a message if the arguments are invalid.
    pub fn request(&self, arguments: &Value) -> Result<ApiRequest, String> {
        let Value::Object(given) = arguments else {
            return Err("`arguments` must be an object.".to_owned());
        };
        let mut faults = Vec::new();
        for (name, kind, is_required, _) in self.arguments {
            let value_error = match given.get(*name) {
                None => is_required.then(|| "is required".to_owned()),
                Some(value) => kind.value_error(value),
            };
            if let Some(what) = value_error {
                faults.push(format!("`{name}` {what}."));
            }
        }
        for name in given.keys() {
            if !self.arguments.iter().any(|(known, ..)| known == name) {
                faults.push(format!("`{name}` is not an argument of this tool."));
            }
        }
        if given.contains_key(INPUT) && given.contains_key(ARGUMENTS) {
            faults.push(format!("`{ARGUMENTS}` can't be given together with `{INPUT}`."));
        }
        if !faults.is_empty() {
            return Err(faults.join(" "));
        }
        Ok(self.api_request(given))
    }

    fn api_request(&self, given: &Map<String, Value>) -> ApiRequest {
        let text = |name: &str| given.get(name).and_then(Value::as_str).unwrap_or_default();
        let limit =
            |default: u64| given.get("limit").and_then(whole_number).unwrap_or(default).to_string();
        let (mut query, none) = (String::new(), String::new());
        let mut add = |name: &str, value: &str| {
            if !value.is_empty() {
                for piece in [if query.is_empty() { "" } else { "&" }, name, "=", &encode(value)] {
                    query.push_str(piece);
                }
            }
        };
        match self.name {
            "search_actions" => {
                add("q", text("query"));
                add("platform", text("platform"));
                add("limit", &limit(10));
                let page = given.get("page").and_then(whole_number).map(|page| page.to_string());
                add("page", &page.unwrap_or_default());
                ("GET", "/v1/available-actions".to_owned(), query, None, none)
            }
            DESCRIBE_ACTION => {
                add("for", text("for"));
                let (method, path, _, body, headers) =
                    describe_request(text("platform"), text("key"));
                (method, path, query, body, headers)
            }
            LIST_CONNECTIONS => {
                add("platform", text("platform"));
                add("identity", text("identity"));
                add("include", "account");
                if given.get("active") == Some(&Value::Bool(false)) {
                    add("active", "false");
                }
                add("limit", &limit(20));
                ("GET", "/v1/vault/connections".to_owned(), query, None, none)
            }
            RUN_ACTION => {
                let (connection, key) = (encode(text("connection")), encode(text("key")));
                let mut input = given.get(INPUT).cloned().unwrap_or_else(|| json!({}));
                if let Some(input) = input.as_object_mut() {
                    let flat = given.get(ARGUMENTS);
                    input.extend(flat.map(|flat| (ARGUMENTS.to_owned(), flat.clone())));
                    input.extend(response_limits(given));
                }
                let input = json::bytes(&input);
                let approval = given.get(APPROVAL).map(|id| json::text(&json!({APPROVAL: id})));
                let path = format!("/v1/vault/connections/{connection}/actions/{key}");
                ("POST", path, query, Some(input), approval.unwrap_or(none))
            }
            CALL_PLATFORM => {
                let method = METHODS.into_iter().find(|method| *method == text("method"));
                let (path, own_query) = path_and_query(text("path"));
                let mut query = own_query.to_owned();
                let parameters = given.get("query").and_then(Value::as_object);
                let parameters = parameters.into_iter().flatten();
                for (name, value) in parameters.filter(|(_, value)| !value.is_null()) {
                    for value in value.as_array().map_or(slice::from_ref(value), Vec::as_slice) {
                        query.push_str(if query.is_empty() { "" } else { "&" });
                        query.extend([&encode(name), "=", &encode(&query_value(value))]);
                    }
                }
                let path =
                    format!("/v1/vault/connections/{}/proxy/{path}", encode(text("connection")));
                let body = given.get("body").map(json::bytes);
                (method.unwrap_or("GET"), path, query, body, json::text(&response_limits(given)))
            }
            _ => match given.get("attempt").and_then(Value::as_str) {
                Some(attempt) => attempt_request(attempt),
                None => connect_request(given.clone()),
            },
        }
    }
}

#[cfg(test)]
mod tests;
