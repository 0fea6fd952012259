//! Finds the next page of a list in the body of a response.

use serde_json::Value;

use super::links::path_below;
use crate::catalog::detail::Pagination;
use crate::util::json;
use crate::util::percent::{decode_form, encode};

/// The maximum size of a body that is searched, in bytes.
pub const MAX_BODY: usize = 512 * 1024;

/// The path and query, below `server`, of the page after the response to `url`. Returns `None` when
/// there is no next page, or it is outside the server.
pub fn next(pagination: &[Pagination], server: &str, url: &str, body: &Value) -> Option<String> {
    pagination.iter().find_map(|page| {
        let value = page.value(body)?;
        match &page.parameter {
            None => path_below(server, url, &value),
            Some(name) => path_below(server, url, &with_parameter(url, name, &value)),
        }
    })
}

impl Pagination {
    /// The value in the body that leads to the next page: a URL, or the value of a query parameter.
    fn value(&self, body: &Value) -> Option<String> {
        if self.more.as_ref().is_some_and(|more| body.pointer(more) != Some(&Value::Bool(true))) {
            return None;
        }
        let place = match &self.items {
            None => body,
            Some(items) => body.pointer(items)?.as_array()?.last()?,
        };
        match place.pointer(&self.next)? {
            Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
            Value::Number(number) => Some(json::text(number)),
            _ => None,
        }
    }
}

/// Sets a query parameter of a URL.
fn with_parameter(url: &str, name: &str, value: &str) -> String {
    let (address, query) = url.split_once('?').unwrap_or((url, ""));
    let is_other = |pair: &&str| {
        let own = pair.split('=').next().unwrap_or_default();
        !pair.is_empty() && decode_form(own).is_none_or(|own| own != name)
    };
    let new = format!("{}={}", encode(name), encode(value));
    let pairs: Vec<&str> = query.split('&').filter(is_other).chain([new.as_str()]).collect();
    format!("{address}?{}", pairs.join("&"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::next;

    #[test]
    fn finds_the_next_page_in_a_body() {
        let cursor = json!([{"next": "/meta/next", "parameter": "page[after]"}]);
        let address = json!([{"next": "/@next"}]);
        let last =
            json!([{"next": "/id", "items": "/data", "more": "/has_more", "parameter": "after"}]);
        let both = json!([{"next": "/links/next"}, {"next": "/next_page"}]);
        for (pagination, body, expected) in [
            (&cursor, json!({"meta": {"next": "a=b&"}}), Some("list?x=1&page%5Bafter%5D=a%3Db%26")),
            (&cursor, json!({"meta": {"next": 7}}), Some("list?x=1&page%5Bafter%5D=7")),
            (&cursor, json!({"meta": {"next": ""}}), None),
            (&cursor, json!({"meta": {"next": null}}), None),
            (&cursor, json!({"meta": {}}), None),
            (&cursor, json!([]), None),
            (&address, json!({"@next": "https://a.example/v1/list?p=2"}), Some("list?p=2")),
            (&address, json!({"@next": "/v1/more/2"}), Some("more/2")),
            (&address, json!({"@next": "https://b.example/v1/list?p=2"}), None),
            (&address, json!({"@next": "https://a.example/v2/list"}), None),
            (
                &last,
                json!({"has_more": true, "data": [{"id": "1"}, {"id": "2"}]}),
                Some("list?x=1&page%5Bafter%5D=0&after=2"),
            ),
            (&last, json!({"has_more": false, "data": [{"id": "1"}]}), None),
            (&last, json!({"has_more": true, "data": []}), None),
            (&last, json!({"data": [{"id": "1"}]}), None),
            (&both, json!({"next_page": "https://a.example/v1/list?page=2"}), Some("list?page=2")),
            (&json!([]), json!({"next": "/v1/list"}), None),
        ] {
            let pagination: Vec<_> = serde_json::from_value(Value::clone(pagination)).unwrap();
            let url = "https://a.example/v1/list?x=1&page%5Bafter%5D=0";
            let found = next(&pagination, "https://a.example/v1", url, &body);
            assert_eq!(found.as_deref(), expected, "{body}");
        }
    }
}
