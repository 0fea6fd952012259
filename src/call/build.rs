//! Builds the request of an action from its input, as `OpenAPI` says: `style` and `explode` of parameters, forms, JSON.

use std::fmt::Write as _;

use base64ct::{Base64, Encoding as _};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::address::leaves;
use super::schema::Fault;
use crate::catalog::action::stored::{Encoding, Parameter, Place, RequestBody};
use crate::percent::encode;
use crate::terms::Method;

/// What is needed of an action's detail to build its request.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Action {
    /// The method.
    pub method: Method,
    /// The path below the server; a part in braces is a parameter.
    pub path: String,
    /// The server's address, possibly with variables.
    pub server: Option<String>,
    /// The parameters.
    pub parameters: Vec<Parameter<serde::de::IgnoredAny>>,
    /// The body.
    pub request_body: Option<RequestBody<Value>>,
    /// The JSON Schema of the input.
    pub input: Value,
}

/// The parts of a request.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Built {
    /// The path below the server, percent-encoded, without its first slash.
    pub path: String,
    /// The query without its `?`.
    pub query: String,
    /// Header names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// The body; empty for none.
    pub body: Vec<u8>,
}

/// The input of an action, which its schema allows.
#[derive(Debug, Default, Deserialize)]
pub struct Input<'i> {
    /// The parameters of the path.
    #[serde(default)]
    pub path: Map<String, Value>,
    /// Those of the query.
    #[serde(default)]
    pub query: Map<String, Value>,
    /// Those of headers.
    #[serde(default)]
    pub header: Map<String, Value>,
    /// Those of cookies.
    #[serde(default)]
    pub cookie: Map<String, Value>,
    /// The body, as it was written.
    #[serde(default, borrow)]
    pub body: Option<&'i serde_json::value::RawValue>,
}

/// Builds a request; `boundary` separates the parts of a form, and occurs in none of them.
///
/// # Errors
/// With all faults that the schema does not know of.
pub fn build(action: &Action, input: &Input<'_>, boundary: &str) -> Result<Built, Vec<Fault>> {
    let mut faults = Vec::new();
    let mut fault = |pointer: String, what: &str| {
        faults.push(Fault { pointer, what: what.to_owned(), suggestion: None });
    };
    let template = action.path.split('#').next().unwrap_or_default();
    let (template, fixed) = template.split_once('?').unwrap_or((template, ""));
    let (path, query) = (template.trim_start_matches('/').to_owned(), fixed.to_owned());
    let mut built = Built { path, query, ..Built::default() };
    let mut cookies = String::new();
    for parameter in &action.parameters {
        let given = match parameter.r#in {
            Place::Path => &input.path,
            Place::Query => &input.query,
            Place::Header => &input.header,
            Place::Cookie => &input.cookie,
        };
        let name = parameter.name.as_str();
        let value = given.get(name).filter(|value| !value.is_null());
        match (parameter.r#in, value) {
            (Place::Path, value) => {
                let text = value.map(|value| in_path(parameter, value)).unwrap_or_default();
                if text.is_empty() || leaves(&text) {
                    fault(pointer("path", name), "must not be empty, and must not be `.` or `..`");
                }
                built.path = built.path.replace(&format!("{{{name}}}"), &text);
            }
            (Place::Query, Some(value)) => {
                in_pairs(parameter, value, &mut Pairs { text: &mut built.query, between: "&" });
            }
            // Nothing but the semicolon separates cookies, also where the style is meant for queries.
            (Place::Cookie, Some(value)) => {
                in_pairs(parameter, value, &mut Pairs { text: &mut cookies, between: "; " });
            }
            (Place::Header, Some(value)) => {
                let text = match &parameter.content_type {
                    Some(_) => value.to_string(),
                    None => simple(value, parameter.explode, &str::to_owned),
                };
                // Without control characters there are no line breaks, so that it stays one header.
                if text.chars().any(char::is_control) {
                    fault(pointer("header", name), "must not contain control characters");
                }
                built.headers.push((name.to_ascii_lowercase(), text));
            }
            _ => {}
        }
    }
    if !cookies.is_empty() {
        built.headers.push(("cookie".to_owned(), cookies));
    }
    if let Some((body, raw)) = action.request_body.as_ref().zip(input.body) {
        match in_body(body, raw, boundary) {
            Ok((content_type, bytes)) => {
                built.headers.push(("content-type".to_owned(), content_type));
                built.body = bytes;
            }
            Err((name, what)) => {
                fault(
                    if name.is_empty() { "/body".to_owned() } else { pointer("body", &name) },
                    &what,
                );
            }
        }
    }
    if faults.is_empty() { Ok(built) } else { Err(faults) }
}

fn pointer(place: &str, name: &str) -> String {
    format!("/{place}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// A value as text, without quotation marks.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// A text written for its place.
type Written<'w> = &'w dyn Fn(&str) -> String;

/// The texts of a value's items or members: `name` and `value` of a member, an item with an empty name.
fn texts(value: &Value, written: Written<'_>) -> Vec<(String, String)> {
    let one = |name: &str, value: &Value| (written(name), written(&plain(value)));
    match value {
        Value::Array(items) => items.iter().map(|item| one("", item)).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| one(name, value)).collect(),
        value => vec![one("", value)],
    }
}

/// Items, or names and values, with `between` between them; exploded members have an equals sign.
fn joined(value: &Value, explode: bool, between: &str, written: Written<'_>) -> String {
    let texts = texts(value, written).into_iter().map(|(name, text)| match (value, explode) {
        (Value::Object(_), true) => format!("{name}={text}"),
        (Value::Object(_), false) => format!("{name}{between}{text}"),
        _ => text,
    });
    texts.collect::<Vec<_>>().join(between)
}

/// The style `simple`.
fn simple(value: &Value, explode: bool, written: Written<'_>) -> String {
    joined(value, explode, ",", written)
}

fn in_path<S>(parameter: &Parameter<S>, value: &Value) -> String {
    let Parameter { name, explode, .. } = parameter;
    if parameter.content_type.is_some() {
        return encode(&value.to_string());
    }
    let written: Written<'_> = &encode;
    let is_object = value.is_object();
    match parameter.style.as_str() {
        "label" => {
            format!(".{}", joined(value, *explode, if *explode { "." } else { "," }, written))
        }
        "matrix" if *explode && (is_object || value.is_array()) => {
            let each = texts(value, written).into_iter();
            let each = each.map(|(member, text)| {
                if is_object { format!(";{member}={text}") } else { format!(";{name}={text}") }
            });
            each.collect()
        }
        "matrix" => format!(";{}={}", encode(name), simple(value, false, written)),
        _ => simple(value, *explode, written),
    }
}

/// Names and values of a query, a form or of cookies.
struct Pairs<'t> {
    text: &'t mut String,
    between: &'static str,
}

impl Pairs<'_> {
    /// Adds a pair that is percent-encoded already.
    fn push(&mut self, name: &str, value: &str) {
        if !self.text.is_empty() {
            self.text.push_str(self.between);
        }
        // Writing to a string can't fail.
        let _ = write!(self.text, "{name}={value}");
    }
}

/// As [`encode`], but what RFC 6570 (section 3.2.3) leaves as it is stays so: reserved characters and escapes. Not those
/// with which a value would end, or that no query may have: they would be read as something else.
fn encode_reserved(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(one) = rest.chars().next() {
        let (head, tail) = rest.split_at(one.len_utf8());
        let is_escape = one == '%'
            && tail.get(..2).is_some_and(|hex| hex.bytes().all(|digit| digit.is_ascii_hexdigit()));
        // No `contains`: a search for just any character weighs 2 KB in the npm package.
        let is_reserved = matches!(
            one,
            ':' | '/' | '?' | '@' | '!' | '$' | '\'' | '(' | ')' | '*' | ',' | ';' | '='
        );
        if is_escape || is_reserved {
            encoded.push(one);
        } else {
            encoded.push_str(&encode(head));
        }
        rest = tail;
    }
    encoded
}

/// A parameter of a query, or one that is a cookie.
fn in_pairs<S>(parameter: &Parameter<S>, value: &Value, pairs: &mut Pairs<'_>) {
    let Parameter { explode, style, .. } = parameter;
    let name = encode(&parameter.name);
    let written: Written<'_> = if parameter.allow_reserved { &encode_reserved } else { &encode };
    if parameter.content_type.is_some() {
        return pairs.push(&name, &written(&value.to_string()));
    }
    match (style.as_str(), value) {
        ("deepObject", Value::Object(_)) => deep(pairs, &name, value, written),
        ("spaceDelimited", Value::Array(_) | Value::Object(_)) if !explode => {
            pairs.push(&name, &joined(value, false, "%20", written));
        }
        ("pipeDelimited", Value::Array(_) | Value::Object(_)) if !explode => {
            pairs.push(&name, &joined(value, false, "%7C", written));
        }
        (_, Value::Array(items)) if *explode => {
            for item in items {
                pairs.push(&name, &written(&plain(item)));
            }
        }
        (_, Value::Object(members)) if *explode => {
            for (member, value) in members {
                pairs.push(&encode(member), &written(&plain(value)));
            }
        }
        _ => pairs.push(&name, &simple(value, false, written)),
    }
}

/// The style `deepObject`: `name[member]=value`.
fn deep(pairs: &mut Pairs<'_>, name: &str, value: &Value, written: Written<'_>) {
    match value {
        Value::Object(members) => {
            for (member, value) in members {
                deep(pairs, &format!("{name}%5B{}%5D", encode(member)), value, written);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| deep(pairs, name, item, written)),
        value => pairs.push(name, &written(&plain(value))),
    }
}

/// The media type without its parameters, in lower case.
#[must_use]
pub fn essence(media: &str) -> String {
    media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether a media type is JSON.
#[must_use]
pub fn is_json(essence: &str) -> bool {
    essence == "application/json" || essence.ends_with("+json") || essence.ends_with("/json")
}

/// The body and its media type. Else the member that can't be written, and why.
fn in_body(
    body: &RequestBody<Value>,
    raw: &serde_json::value::RawValue,
    boundary: &str,
) -> Result<(String, Vec<u8>), (String, String)> {
    let preferred = body.content_types.first().map_or("application/json", String::as_str);
    let essence = essence(preferred);
    if is_json(&essence) || essence == "*/*" {
        let media = if essence == "*/*" { "application/json" } else { preferred };
        return Ok((media.to_owned(), raw.get().into()));
    }
    let value: Value = serde_json::from_str(raw.get()).unwrap_or_default();
    match (essence.as_str(), &value) {
        ("application/x-www-form-urlencoded", Value::Object(members)) => {
            let mut form = String::new();
            let mut pairs = Pairs { text: &mut form, between: "&" };
            for (name, value) in members {
                match (body.encoding.get(name), value) {
                    (Some(encoding), value) => {
                        in_pairs(&in_form(name, encoding), value, &mut pairs);
                    }
                    (None, Value::Array(items)) => {
                        for item in items {
                            pairs.push(&encode(name), &encode(&plain(item)));
                        }
                    }
                    (None, value) => pairs.push(&encode(name), &encode(&plain(value))),
                }
            }
            Ok((preferred.to_owned(), form.into()))
        }
        ("multipart/form-data", Value::Object(members)) => {
            let mut form = Vec::new();
            for (name, value) in members {
                let schema = body.schema.pointer("/properties").and_then(|all| all.get(name));
                let items = match value {
                    Value::Array(items) => items.as_slice(),
                    one => std::slice::from_ref(one),
                };
                let schema =
                    if value.is_array() { schema.and_then(|it| it.get("items")) } else { schema };
                for item in items {
                    part(&mut form, name, item, is_binary(schema), boundary)
                        .ok_or_else(|| (name.clone(), NOT_BASE64.to_owned()))?;
                }
            }
            form.extend(format!("--{boundary}--\r\n").bytes());
            Ok((format!("multipart/form-data; boundary={boundary}"), form))
        }
        (_, Value::String(text))
            if is_binary(Some(&body.schema)) && !essence.starts_with("text/") =>
        {
            let bytes = Base64::decode_vec(text);
            bytes
                .map(|bytes| (preferred.to_owned(), bytes))
                .map_err(|_| (String::new(), NOT_BASE64.to_owned()))
        }
        (_, Value::String(text)) => Ok((preferred.to_owned(), text.clone().into())),
        _ => {
            let what = format!("must be a string: the platform takes {essence}");
            Err((String::new(), what))
        }
    }
}

/// A member of a form as a parameter of a query.
fn in_form(name: &str, encoding: &Encoding) -> Parameter<()> {
    Parameter {
        name: name.to_owned(),
        r#in: Place::Query,
        required: false,
        schema: (),
        style: encoding.style.clone(),
        explode: encoding.explode,
        allow_reserved: false,
        content_type: None,
    }
}

const NOT_BASE64: &str = "must be bytes in base64, with padding";

fn is_binary(schema: Option<&Value>) -> bool {
    let format = schema.and_then(|schema| schema.get("format")).and_then(Value::as_str);
    format == Some("binary")
}

/// Adds a part of a form. Returns `None` for bytes that are not in base64.
fn part(
    form: &mut Vec<u8>,
    name: &str,
    value: &Value,
    is_file: bool,
    boundary: &str,
) -> Option<()> {
    let name = name.replace('"', "%22").replace(['\r', '\n'], " ");
    let mut head = format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"");
    let bytes = match value {
        Value::String(text) if is_file => {
            head.push_str("; filename=\"file\"\r\nContent-Type: application/octet-stream");
            Base64::decode_vec(text).ok()?
        }
        Value::Object(_) | Value::Array(_) => {
            head.push_str("\r\nContent-Type: application/json");
            value.to_string().into_bytes()
        }
        value => plain(value).into_bytes(),
    };
    form.extend(head.bytes());
    form.extend(b"\r\n\r\n");
    form.extend(bytes);
    form.extend(b"\r\n");
    Some(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Action, Built, Input, build};

    fn built(action: &Value, input: &Value) -> Result<Built, Vec<(String, String)>> {
        let mut whole = json!({"method": "POST", "path": "/x", "server": null, "parameters": [], "requestBody": null, "input": {}});
        for (name, value) in action.as_object().unwrap() {
            whole[name] = value.clone();
        }
        let action: Action = serde_json::from_value(whole).unwrap();
        let text = input.to_string();
        let input: Input<'_> = serde_json::from_str(&text).unwrap();
        build(&action, &input, "limit")
            .map_err(|faults| faults.into_iter().map(|fault| (fault.pointer, fault.what)).collect())
    }

    fn parameter(place: &str, style: &str, explode: bool) -> Value {
        json!({
            "name": "color", "in": place, "required": false, "schema": {}, "style": style, "explode": explode,
            "contentType": null,
        })
    }

    /// The table of the specification 3.1, "Style Examples".
    #[test]
    fn parameters_are_written_as_the_specification_says() {
        let (one, list, object) =
            (json!("blue"), json!(["blue", "black"]), json!({"R": 100, "G": "a b"}));
        for (place, style, explode, texts) in [
            ("path", "matrix", false, [";color=blue", ";color=blue,black", ";color=R,100,G,a%20b"]),
            ("path", "matrix", true, [";color=blue", ";color=blue;color=black", ";R=100;G=a%20b"]),
            ("path", "label", false, [".blue", ".blue,black", ".R,100,G,a%20b"]),
            ("path", "label", true, [".blue", ".blue.black", ".R=100.G=a%20b"]),
            ("path", "simple", false, ["blue", "blue,black", "R,100,G,a%20b"]),
            ("path", "simple", true, ["blue", "blue,black", "R=100,G=a%20b"]),
            ("query", "form", false, ["color=blue", "color=blue,black", "color=R,100,G,a%20b"]),
            ("query", "form", true, ["color=blue", "color=blue&color=black", "R=100&G=a%20b"]),
            (
                "query",
                "spaceDelimited",
                false,
                ["color=blue", "color=blue%20black", "color=R%20100%20G%20a%20b"],
            ),
            (
                "query",
                "pipeDelimited",
                false,
                ["color=blue", "color=blue%7Cblack", "color=R%7C100%7CG%7Ca%20b"],
            ),
            (
                "query",
                "deepObject",
                true,
                ["color=blue", "color=blue&color=black", "color%5BR%5D=100&color%5BG%5D=a%20b"],
            ),
            ("header", "simple", false, ["blue", "blue,black", "R,100,G,a b"]),
            ("header", "simple", true, ["blue", "blue,black", "R=100,G=a b"]),
        ] {
            for (value, text) in [&one, &list, &object].into_iter().zip(texts) {
                // Without the feature that keeps it, the order of members is that of their names.
                let sorted = |text: &str| {
                    let mut parts: Vec<char> = text.chars().collect();
                    parts.sort_unstable();
                    parts
                };
                let action = json!({"path": "/a/{color}/b", "parameters": [parameter(place, style, explode)]});
                let built = built(&action, &json!({place: {"color": value}})).unwrap();
                let written = match place {
                    "path" => built
                        .path
                        .strip_prefix("a/")
                        .unwrap()
                        .strip_suffix("/b")
                        .unwrap()
                        .to_owned(),
                    "query" => built.query,
                    _ => built.headers[0].1.clone(),
                };
                assert_eq!(sorted(&written), sorted(text), "{place} {style} {explode}: {written}");
            }
        }
    }

    #[test]
    fn values_stay_in_their_place() {
        let path = json!({"path": "/a/{color}/b?fixed=1#x", "parameters": [
            parameter("path", "simple", false), parameter("query", "form", true), parameter("header", "simple", false),
        ]});
        let good = json!({"path": {"color": "../é?&#"}, "query": {"color": "a&b=c#"}, "header": {"color": "x y"}});
        let message = "must not be empty, and must not be `.` or `..`".to_owned();
        assert_eq!(built(&path, &good), Err(vec![("/path/color".to_owned(), message.clone())]));
        let good = json!({"path": {"color": "x/é?&#"}, "query": {"color": "a&b=c#"}, "header": {"color": "x y"}});
        let expected = Built {
            path: "a/x%2F%C3%A9%3F%26%23/b".to_owned(),
            query: "fixed=1&color=a%26b%3Dc%23".to_owned(),
            headers: vec![("color".to_owned(), "x y".to_owned())],
            body: Vec::new(),
        };
        assert_eq!(built(&path, &good), Ok(expected));
        let bad = json!({"path": {"color": ""}, "header": {"color": "x\r\ny: z"}});
        let control = "must not contain control characters".to_owned();
        let faults =
            vec![("/path/color".to_owned(), message), ("/header/color".to_owned(), control)];
        assert_eq!(built(&path, &bad), Err(faults));
    }

    #[test]
    fn reserved_characters_stay_where_the_document_lets_them() {
        let mut reserved = parameter("query", "form", true);
        reserved["allowReserved"] = json!(true);
        let action = json!({"parameters": [reserved]});
        for (value, expected) in [
            (json!("a:b/c?d@e!f$'()*,;=g"), "color=a:b/c?d@e!f$'()*,;=g"),
            (json!("a%2Fb%2f%zz%"), "color=a%2Fb%2f%25zz%25"),
            // These would begin another parameter, or end the query.
            (json!("a&key=1#[x]+ é\r\n"), "color=a%26key=1%23%5Bx%5D%2B%20%C3%A9%0D%0A"),
            (json!(["/a", "b&"]), "color=/a&color=b%26"),
            (json!({"a&b": "/"}), "a%26b=/"),
        ] {
            let built = built(&action, &json!({"query": {"color": value}})).unwrap();
            assert_eq!(built.query, expected);
        }
    }

    #[test]
    fn cookies_are_one_header_that_no_value_leaves() {
        let cookie = |name: &str, explode: bool| {
            let mut cookie = parameter("cookie", "form", explode);
            cookie["name"] = json!(name);
            cookie
        };
        let action =
            json!({"parameters": [cookie("a", true), cookie("b;c", false), cookie("d", true)]});
        for (input, expected) in [
            (json!({"a": "x; y=z\r\nq: 1", "d": 1}), "a=x%3B%20y%3Dz%0D%0Aq%3A%201; d=1"),
            (json!({"a": [1, 2], "b;c": [1, 2]}), "a=1; a=2; b%3Bc=1,2"),
            (json!({"a": {"m; n": "o"}, "d": true}), "m%3B%20n=o; d=true"),
        ] {
            let built = built(&action, &json!({"cookie": input})).unwrap();
            assert_eq!(built.headers, [("cookie".to_owned(), expected.to_owned())]);
        }
        assert_eq!(
            built(&action, &json!({})),
            Ok(Built { path: "x".to_owned(), ..Built::default() })
        );
    }

    #[test]
    fn bodies_are_written_as_their_media_type_says() {
        let of = |types: Value, schema: Value, body: &str| {
            let action =
                json!({"requestBody": {"required": true, "contentTypes": types, "schema": schema}});
            let input: Value = serde_json::from_str(&format!("{{\"body\":{body}}}")).unwrap();
            built(&action, &input).map(|built| {
                (built.headers[0].1.clone(), String::from_utf8_lossy(&built.body).into_owned())
            })
        };
        let ok = |media: &str, body: &str| Ok((media.to_owned(), body.to_owned()));
        let none = json!({});
        assert_eq!(
            of(json!(["application/json"]), none.clone(), r#"{"a":[1,null]}"#),
            ok("application/json", r#"{"a":[1,null]}"#)
        );
        assert_eq!(
            of(json!(["application/vnd.api+json; v=1"]), none.clone(), "[]"),
            ok("application/vnd.api+json; v=1", "[]")
        );
        assert_eq!(of(json!(["*/*"]), none.clone(), "1"), ok("application/json", "1"));
        let form = "application/x-www-form-urlencoded";
        assert_eq!(
            of(json!([form]), none.clone(), r#"{"a b":"c&d","l":[1,2],"o":{"x":1}}"#),
            ok(form, "a%20b=c%26d&l=1&l=2&o=%7B%22x%22%3A1%7D")
        );
        let action = json!({"requestBody": {
            "required": true, "contentTypes": [form], "schema": {},
            "encoding": {
                "meta": {"style": "deepObject", "explode": true}, "list": {"style": "form", "explode": false},
            },
        }});
        let input =
            json!({"body": {"list": [1, "a b"], "meta": {"a": {"b": "c&d"}}, "other": {"x": 1}}});
        assert_eq!(
            String::from_utf8(built(&action, &input).unwrap().body).unwrap(),
            "list=1,a%20b&meta%5Ba%5D%5Bb%5D=c%26d&other=%7B%22x%22%3A1%7D"
        );
        let schema = json!({"properties": {"file": {"format": "binary"}}});
        let expected = "--limit\r\nContent-Disposition: form-data; name=\"file\"; filename=\"file\"\r\nContent-Type: application/octet-stream\r\n\r\nhi\r\n--limit\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nx\r\n--limit--\r\n";
        assert_eq!(
            of(json!(["multipart/form-data"]), schema.clone(), r#"{"file":"aGk=","name":"x"}"#),
            ok("multipart/form-data; boundary=limit", expected)
        );
        let base64 = "must be bytes in base64, with padding".to_owned();
        assert_eq!(
            of(json!(["multipart/form-data"]), schema, r#"{"file":"?"}"#),
            Err(vec![("/body/file".to_owned(), base64.clone())])
        );
        let binary = json!({"type": "string", "format": "binary"});
        assert_eq!(of(json!(["image/png"]), binary.clone(), "\"aGk=\""), ok("image/png", "hi"));
        assert_eq!(
            of(json!(["image/png"]), binary, "\"?\""),
            Err(vec![("/body".to_owned(), base64)])
        );
        assert_eq!(
            of(json!(["application/xml"]), none.clone(), "\"<a/>\""),
            ok("application/xml", "<a/>")
        );
        let what = "must be a string: the platform takes application/xml".to_owned();
        assert_eq!(
            of(json!(["application/xml"]), none, "{}"),
            Err(vec![("/body".to_owned(), what)])
        );
    }
}
