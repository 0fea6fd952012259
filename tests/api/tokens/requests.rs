//! Random requests with a token, and the model's prediction for each.

use connector_vault::terms::Scope;
use serde_json::json;

use super::{IDENTITIES, IssuedCursor, PLATFORMS, Simulation, TAGS, TYPES, Token};
use crate::model::Row;
use crate::support::{as_secret, body, column, with_body, with_header};
use crate::vault::{CONNECTIONS, SUMMARY, UNKNOWN_ID, at, code, comparable, cursor};

const CONNECTORS: &str = "/v1/available-connectors";

/// Whether a platform matches a filter of the catalog.
type PlatformPredicate = Box<dyn Fn(&str) -> bool>;

impl Simulation {
    pub(super) fn list(&mut self, token: &Token) {
        let filter = self.filter();
        let (limit, page) = (1 + self.rng.below(4), 1 + self.rng.below(2));
        let query = format!("limit={limit}&{}", filter.query());
        let request = as_secret(&token.text, "GET", &format!("{CONNECTIONS}?{query}&page={page}"));
        let Some(response) = self.send(token, request, Some(Scope::ConnectionsRead)) else {
            return;
        };
        let expected = self.visible_connections(token).page(&filter, limit, page);
        assert_eq!(body(&response), expected, "{query}");
        assert!(response.header("server-timing").unwrap().contains("rows_read=0 "));
        let shown = expected["rows"].as_array().unwrap().len();
        self.seen.rows += shown;
        self.seen.empty += usize::from(shown == 0);
        if let Some(after) = cursor(&response) {
            let token = token.clone();
            self.cursors.truncate(300);
            let given = IssuedCursor { after, query, filter, limit, page, token };
            let at = self.rng.below(self.cursors.len() + 1);
            self.cursors.insert(at, given);
        }
    }

    /// Requests a page with a cursor and any token. The cursor is valid for tokens of the same key
    /// with the same restriction.
    pub(super) fn follow(&mut self, token: &Token) {
        let Some(given) = self.cursors.get(self.rng.below(300)).cloned() else { return };
        let alike: Vec<Token> =
            self.tokens.iter().filter(|other| other.has_same_list(&given.token)).cloned().collect();
        let token = if alike.is_empty() || self.rng.percent(30) {
            token.clone()
        } else {
            self.rng.pick(&alike).clone()
        };
        let request = as_secret(
            &token.text,
            "GET",
            &format!("{CONNECTIONS}?{}&after={}", given.query, given.after),
        );
        let Some(response) = self.send(&token, request, Some(Scope::ConnectionsRead)) else {
            return;
        };
        if token.has_same_list(&given.token) {
            let document = body(&response);
            let own = self.visible_connections(&token);
            assert_eq!((response.status, &document["page"]), (200, &json!(given.page + 1)));
            assert_eq!(document["total"], json!(own.list(&given.filter).len()));
            let rows = document["rows"].as_array().unwrap();
            assert!(rows.len() <= given.limit);
            for row in rows {
                let at = own.find(row["id"].as_str().unwrap()).unwrap();
                assert_eq!(*row, own.rows[at].json(own.environment));
            }
            self.seen.followed += 1;
        } else if response.status == 200 {
            // A token with another restriction may have the same list, if the filter contains what
            // that restriction lacks.
            assert_eq!((token.key, &token.identity), (given.token.key, &given.token.identity));
            let (own_connections, other_connections) =
                (self.visible_connections(&token), self.visible_connections(&given.token));
            assert_eq!(own_connections.list(&given.filter), other_connections.list(&given.filter));
        } else {
            assert_eq!((response.status, code(&response).as_str()), (400, "invalid_parameter"));
        }
    }

    /// Requests one connection. If the token must not see it, the response is the same as for an
    /// unknown id.
    pub(super) fn request_connection(&mut self, token: &Token) {
        let own = self.visible_connections(token);
        let id = if own.rows.is_empty() || self.rng.percent(50) {
            self.rng.pick(&self.ids).clone()
        } else {
            self.rng.pick(&own.rows).id.clone()
        };
        let tags: Vec<String> =
            (0..self.rng.below(3)).map(|_| (*self.rng.pick(&TAGS)).to_owned()).collect();
        let method =
            *self.rng.pick(&["GET", "GET", "GET", "PATCH", "PATCH", "PATCH", "PATCH", "DELETE"]);
        let scope = if method == "GET" { Scope::ConnectionsRead } else { Scope::ConnectionsWrite };
        let condition = self.rng.maybe(20, &["*".to_owned(), format!("\"{id}-1\"")]);
        let request = |id: &str| {
            let request = as_secret(&token.text, method, &at(id));
            let request = if method == "PATCH" {
                with_body(request, &json!({"tags": tags}).to_string())
            } else {
                request
            };
            match &condition {
                Some(value) => with_header(request, "if-match", value),
                None => request,
            }
        };
        let Some(response) = self.send(token, request(&id), Some(scope)) else { return };
        let Some(found) = own.find(&id).map(|at| own.rows[at].clone()) else {
            let mut unknown = request(UNKNOWN_ID);
            if let Some(own) = &token.origins {
                unknown = with_header(unknown, "origin", &own[0]);
            }
            let (hidden, unknown) = (comparable(&response), comparable(&self.api.send(&unknown)));
            assert_eq!(
                (hidden.0, hidden.2, hidden.1),
                (404, unknown.2, unknown.1),
                "{method} {id}"
            );
            self.seen.hidden += 1;
            return;
        };
        let is_condition_met = condition.is_none_or(|value| value == "*" || value == found.etag());
        let tenant = &mut self.tenants[self.keys[token.key].tenant];
        let at = tenant.find(&id).unwrap();
        match method {
            "GET" => assert_eq!(body(&response), found.json(own.environment)),
            _ if !is_condition_met => assert_eq!(response.status, 412),
            "PATCH" => {
                let row = &mut tenant.rows[at];
                row.revision += u64::from(row.tags != tags);
                row.tags = tags;
                assert_eq!(body(&response), row.json(own.environment));
                self.seen.changed += 1;
            }
            _ => {
                assert_eq!(response.status, 204);
                tenant.rows.remove(at);
                self.seen.changed += 1;
            }
        }
    }

    pub(super) fn create(&mut self, token: &Token) {
        let rng = &mut self.rng;
        let identity = if rng.percent(80) {
            token.identity.clone()
        } else {
            (*rng.pick(&IDENTITIES)).to_owned()
        };
        let identity_type = match &token.identity_type {
            Some(own) if rng.percent(80) => own.clone(),
            _ => (*rng.pick(&TYPES)).to_owned(),
        };
        let (platform, label) = (*rng.pick(&PLATFORMS), format!("l{}", rng.below(12)));
        let document = json!({"platform": platform, "identity": identity, "identityType": identity_type, "label": label});
        let request = with_body(as_secret(&token.text, "POST", CONNECTIONS), &document.to_string());
        let Some(response) = self.send(token, request, Some(Scope::ConnectionsWrite)) else {
            return;
        };
        let own_type = token.identity_type.as_ref().is_none_or(|own| *own == identity_type);
        if identity != token.identity || !own_type || !token.has(platform) {
            assert_eq!((response.status, code(&response).as_str()), (403, "insufficient_scope"));
            return;
        }
        let tenant = &mut self.tenants[self.keys[token.key].tenant];
        let name = format!("{}::{platform}::{label}::{identity}", tenant.environment);
        let holder = tenant.rows.iter().find(|row| row.key(tenant.environment) == name);
        let document = body(&response);
        if let Some(holder) = holder {
            assert_eq!((response.status, &document["code"]), (409, &json!("connection_exists")));
            let seen = token.sees(holder);
            assert_eq!(document.get("connectionId"), seen.then(|| json!(holder.id)).as_ref());
            assert_eq!(document.to_string().contains(&holder.id), seen);
            self.seen.conflicts += usize::from(!seen);
        } else {
            assert_eq!((response.status, &document["key"]), (201, &json!(name)));
            let row = Row::from_json(&document);
            assert!(token.sees(&row));
            self.ids.push(row.id.clone());
            tenant.rows.push(row);
            self.seen.created += 1;
        }
    }

    pub(super) fn summary(&mut self, token: &Token) {
        let request = as_secret(&token.text, "GET", SUMMARY);
        let Some(response) = self.send(token, request, Some(Scope::ConnectionsRead)) else {
            return;
        };
        assert_eq!(body(&response), self.visible_connections(token).summary());
    }

    pub(super) fn whoami(&mut self, token: &Token) {
        let request = as_secret(&token.text, "GET", "/v1/whoami");
        let Some(response) = self.send(token, request, None) else { return };
        let key = &self.keys[token.key];
        let scopes: Vec<_> = token
            .scopes
            .iter()
            .filter(|scope| key.scopes.contains(scope))
            .map(|scope| scope.as_str())
            .collect();
        let account = ["acme", "acme", "beta"][key.tenant];
        let expected = json!({
            "account": account, "environment": self.tenants[key.tenant].environment, "scopes": scopes,
            "expiresAt": connector_vault::util::rfc3339::rfc3339(token.expires_at), "identity": token.identity,
            "identityType": token.identity_type, "platforms": token.platforms, "origins": token.origins,
            "access": "write", "actions": null, "connections": null, "confirm": null, "client": null, "fields": null, "fixedFields": null, "lang": null,
        });
        assert_eq!((response.status, body(&response)), (200, expected));
    }

    pub(super) fn catalog(&mut self, token: &Token) {
        let scope = Some(Scope::CatalogRead);
        let known = ["alpha", "alpha-two", "epsilon", "empty", "zeta"];
        if self.rng.percent(50) {
            let platform = *self.rng.pick(&known);
            let request =
                as_secret(&token.text, "GET", &format!("/v1/available-actions/{platform}"));
            let Some(response) = self.send(token, request, scope) else { return };
            if token.has(platform) {
                assert!(
                    response.status == 200
                        && column(&response, "platform").iter().all(|name| name == platform)
                );
            } else {
                let document = body(&response);
                assert_eq!(
                    (response.status, &document["code"]),
                    (404, &json!("platform_not_found"))
                );
                let suggested = document["suggestions"].as_array().cloned().unwrap_or_default();
                assert!(
                    suggested.iter().all(|name| token.has(name.as_str().unwrap())),
                    "{document}"
                );
            }
        } else {
            let (query, holds): (String, PlatformPredicate) = match self.rng.below(5) {
                0 => ("q=what".into(), Box::new(|name| name != "nothing")),
                1 => ("q=alpha".into(), Box::new(|name| name.starts_with("alpha"))),
                2 => {
                    ("authkit=true".into(), Box::new(|name| ["zeta", "alpha-two"].contains(&name)))
                }
                3 => {
                    let platform = *self.rng.pick(&known);
                    (format!("platform={platform}"), Box::new(move |name| name == platform))
                }
                _ => (String::new(), Box::new(|_| true)),
            };
            let path = format!("{CONNECTORS}?limit=500&{query}");
            let tag = self.rng.maybe(20, &["*"]);
            let mut request = as_secret(&token.text, "GET", &path);
            if let Some(tag) = tag {
                request = with_header(request, "if-none-match", tag);
            }
            let Some(response) = self.send(token, request, scope) else { return };
            if response.status == 304 {
                return;
            }
            let mut shown = column(&response, "platform");
            shown.sort();
            let expected: Vec<&str> =
                known.into_iter().filter(|name| holds(name) && token.has(name)).collect();
            let mut expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
            expected.sort();
            assert_eq!(
                (shown, &body(&response)["total"]),
                (expected.clone(), &json!(expected.len())),
                "{query}"
            );
        }
        self.seen.catalog += 1;
    }
}
