//! Random histories of several tenants' vaults, compared with a model. After every step, each
//! response equals that of the model, and every counter is correct.

use connector_vault::auth::key::ApiKey;
use connector_vault::http::Response;
use connector_vault::terms::{Environment, Scope};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use crate::counters::wrong_counters;
use crate::model::{
    Filter, IDENTITIES, LABELS, NAMES, PLATFORMS, Row, STATES, TAGS, TYPES, Tenant, VERSIONS,
    filters, texts,
};
use crate::rng::repetitions;
use crate::support::{Api, as_key, body, with_header};
use crate::vault::{CONNECTIONS, SUMMARY, UNKNOWN_ID, at, code, next, patch_as, post_as};

const TENANTS: [(&str, Environment); 4] = [
    ("acme", Environment::Test),
    ("acme", Environment::Live),
    ("beta", Environment::Test),
    ("beta", Environment::Live),
];

#[derive(Debug, Clone)]
enum Match {
    None,
    Any,
    Current,
    Old,
}

#[derive(Debug, Clone)]
enum Step {
    Create(Value),
    Patch(Index, Option<Vec<String>>, Match),
    Delete(Index, Match),
    Read(Index),
    List(Filter, usize, usize),
    Walk(Filter, usize),
    Summary,
    /// Sets a column of a connection directly in the database.
    Set(Index, &'static str, String),
}

fn created() -> impl Strategy<Value = Value> {
    let tags = vec(texts(&TAGS), 0..4);
    let fields = (
        texts(&PLATFORMS),
        texts(&IDENTITIES),
        texts(&TYPES),
        option::of(texts(&VERSIONS)),
        option::of(texts(&NAMES)),
        option::of(texts(&LABELS)),
    );
    let extra =
        (option::of(tags), option::of(texts(&STATES)), option::weighted(0.3, any::<bool>()));
    (fields, extra).prop_map(|((platform, identity, identity_type, version, name, label), (tags, state, active))| {
        let mut document = json!({"platform": platform, "identity": identity, "identityType": identity_type, "name": name});
        let optional_members = [
            ("platformVersion", version.map(Value::from)),
            ("label", label.map(Value::from)),
            ("tags", tags.map(Value::from)),
            ("state", state.map(Value::from)),
            ("active", active.map(Value::from)),
        ];
        for (member, value) in optional_members {
            if let Some(value) = value {
                document[member] = value;
            }
        }
        document
    })
}

fn steps() -> impl Strategy<Value = Step> {
    let condition = || prop_oneof![4 => Just(Match::None), 1 => Just(Match::Any), 2 => Just(Match::Current), 1 => Just(Match::Old)];
    let set = prop_oneof![
        select(&["0", "1"][..]).prop_map(|value| ("active", value.to_owned())),
        texts(&STATES).prop_map(|value| ("state", value)),
        texts(&VERSIONS).prop_map(|value| ("platform_version", value)),
        texts(&TYPES).prop_map(|value| ("identity_type", value)),
    ];
    prop_oneof![
        8 => created().prop_map(Step::Create),
        3 => (any::<Index>(), option::weighted(0.9, vec(texts(&TAGS), 0..4)), condition()).prop_map(|(index, tags, condition)| Step::Patch(index, tags, condition)),
        2 => (any::<Index>(), condition()).prop_map(|(index, condition)| Step::Delete(index, condition)),
        1 => any::<Index>().prop_map(Step::Read),
        6 => (filters(), 1_usize..6, 1_usize..5).prop_map(|(filter, limit, page)| Step::List(filter, limit, page)),
        3 => (filters(), 1_usize..4).prop_map(|(filter, limit)| Step::Walk(filter, limit)),
        1 => Just(Step::Summary),
        3 => (any::<Index>(), set).prop_map(|(index, (column, value))| Step::Set(index, column, value)),
    ]
}

/// The vault, its model, and three keys of each tenant: one with all scopes, one that only reads,
/// and one that only writes.
struct VaultAndModel {
    api: Api,
    tenants: Vec<Tenant>,
    keys: Vec<[ApiKey; 3]>,
    /// The ids of all connections that ever existed.
    ids: Vec<String>,
}

impl VaultAndModel {
    fn new() -> Self {
        let api = Api::with_catalog();
        let scopes: [&[Scope]; 3] =
            [&Scope::ALL, &[Scope::ConnectionsRead], &[Scope::ConnectionsWrite]];
        let key = |(account, environment): &(&str, Environment)| {
            scopes.map(|scopes| api.env.key(account, *environment, scopes, None))
        };
        let keys = TENANTS.iter().map(key).collect();
        let tenant = |(_, environment): &(&str, Environment)| Tenant {
            environment: environment.as_str(),
            rows: Vec::new(),
        };
        Self {
            tenants: TENANTS.iter().map(tenant).collect(),
            keys,
            ids: vec![UNKNOWN_ID.into()],
            api,
        }
    }

    fn take(
        &mut self,
        tenant_index: usize,
        key_index: usize,
        step: Step,
    ) -> Result<(), TestCaseError> {
        let key = self.keys[tenant_index][key_index].clone();
        let is_allowed = |writes: bool| key_index == 0 || (key_index == 2) == writes;
        let calls = self.api.env.db_calls.get();
        match step {
            Step::Create(document) => {
                self.create(tenant_index, &key, &document, is_allowed(true))?;
            }
            Step::Patch(index, tags, condition) => {
                self.patch(
                    tenant_index,
                    &key,
                    &index.get(&self.ids).clone(),
                    tags,
                    &condition,
                    is_allowed(true),
                )?;
            }
            Step::Delete(index, condition) => {
                self.delete(
                    tenant_index,
                    &key,
                    &index.get(&self.ids).clone(),
                    &condition,
                    is_allowed(true),
                )?;
            }
            Step::Read(index) => {
                let id = index.get(&self.ids).clone();
                let response = self.api.send(&as_key(&key, "GET", &at(&id)));
                self.assert_matches_model(tenant_index, &id, &response, is_allowed(false))?;
            }
            Step::List(filter, limit, page) => {
                let path = format!("{CONNECTIONS}?{}&limit={limit}&page={page}", filter.query());
                let response = self.api.send(&as_key(&key, "GET", &path));
                if !is_allowed(false) {
                    prop_assert_eq!(response.status, 403);
                    return Ok(());
                }
                let expected = self.tenants[tenant_index].page(&filter, limit, page);
                let extra = expected["total"].as_u64().unwrap() > (limit * page) as u64;
                prop_assert_eq!(body(&response), expected, "{}", path);
                prop_assert_eq!(response.header("link").is_some(), extra, "{}", path);
            }
            Step::Walk(filter, limit) if is_allowed(false) => {
                return self.walk(tenant_index, &key, &filter, limit);
            }
            Step::Walk(..) => return Ok(()),
            Step::Summary => {
                let response = self.api.send(&as_key(&key, "GET", SUMMARY));
                prop_assert_eq!(response.status, if is_allowed(false) { 200 } else { 403 });
                if is_allowed(false) {
                    prop_assert_eq!(body(&response), self.tenants[tenant_index].summary());
                }
            }
            Step::Set(index, column, value) => {
                let id = index.get(&self.ids).clone();
                return self.set(&id, column, &value);
            }
        }
        prop_assert_eq!(self.api.env.db_calls.get() - calls, 1);
        Ok(())
    }

    /// Asserts that reading one connection returns the model's document, or that it does not exist.
    fn assert_matches_model(
        &self,
        tenant_index: usize,
        id: &str,
        response: &Response,
        is_allowed: bool,
    ) -> Result<(), TestCaseError> {
        let tenant = &self.tenants[tenant_index];
        match tenant.find(id).map(|at| &tenant.rows[at]) {
            _ if !is_allowed => prop_assert_eq!(response.status, 403),
            None => prop_assert_eq!(
                (response.status, code(response)),
                (404, "connection_not_found".to_owned())
            ),
            Some(row) => {
                prop_assert_eq!(body(response), row.json(tenant.environment));
                prop_assert_eq!(response.header("etag").map(str::to_owned), Some(row.etag()));
            }
        }
        Ok(())
    }

    fn create(
        &mut self,
        tenant_index: usize,
        key: &ApiKey,
        document: &Value,
        is_allowed: bool,
    ) -> Result<(), TestCaseError> {
        let response = self.api.send(&post_as(key, document));
        let tenant = &mut self.tenants[tenant_index];
        let text =
            |member: &str, default: &str| document[member].as_str().unwrap_or(default).to_owned();
        let requested_key = format!(
            "{}::{}::{}::{}",
            tenant.environment,
            text("platform", ""),
            text("label", "default"),
            text("identity", "")
        );
        let holder = tenant.rows.iter().find(|row| row.key(tenant.environment) == requested_key);
        if !is_allowed {
            prop_assert_eq!(response.status, 403);
        } else if let Some(holder) = holder {
            prop_assert_eq!(
                (response.status, &body(&response)["connectionId"]),
                (409, &json!(holder.id))
            );
        } else {
            let created = body(&response);
            let mut row = Row::from_json(&created);
            prop_assert!(!self.ids.contains(&row.id));
            prop_assert_eq!((response.status, row.revision), (201, 1));
            row.active = document["active"].as_bool().unwrap_or(true);
            row.state = text("state", "unknown");
            row.version_of_platform = text("platformVersion", "v1");
            row.tags = serde_json::from_value(document["tags"].clone()).unwrap_or_default();
            row.name = document["name"].as_str().map(str::to_owned);
            row.identity_type = text("identityType", "");
            prop_assert_eq!(row.key(tenant.environment), requested_key);
            prop_assert_eq!(created, row.json(tenant.environment));
            self.ids.push(row.id.clone());
            tenant.rows.push(row);
        }
        Ok(())
    }

    /// The value of `If-Match`, and whether the connection matches it.
    fn if_match(&self, id: &str, condition: &Match) -> (Option<String>, bool) {
        // Connections of other tenants have entity tags as well.
        let row = self.tenants.iter().flat_map(|tenant| &tenant.rows).find(|row| row.id == id);
        let revision = row.map_or(1, |row| row.revision);
        match condition {
            Match::None => (None, true),
            Match::Any => (Some("*".into()), true),
            Match::Current => (Some(format!("\"x\", \"{id}-{revision}\"")), true),
            Match::Old => (Some(format!("\"{id}-{}\"", revision - 1)), false),
        }
    }

    fn patch(
        &mut self,
        tenant_index: usize,
        key: &ApiKey,
        id: &str,
        tags: Option<Vec<String>>,
        condition: &Match,
        is_allowed: bool,
    ) -> Result<(), TestCaseError> {
        let (value, holds) = self.if_match(id, condition);
        let document = tags.as_ref().map_or(json!({}), |tags| json!({"tags": tags}));
        let mut request = patch_as(key, id, &document);
        request.headers.extend(value.map(|value| ("if-match".into(), value)));
        let response = self.api.send(&request);
        let tenant = &mut self.tenants[tenant_index];
        if let Some(at) = tenant.find(id).filter(|_| is_allowed) {
            if !holds {
                prop_assert_eq!(
                    (response.status, code(&response)),
                    (412, "precondition_failed".to_owned())
                );
                return Ok(());
            }
            let row = &mut tenant.rows[at];
            if let Some(tags) = tags.filter(|tags| *tags != row.tags) {
                row.tags = tags;
                row.revision += 1;
            }
        }
        self.assert_matches_model(tenant_index, id, &response, is_allowed)
    }

    fn delete(
        &mut self,
        tenant_index: usize,
        key: &ApiKey,
        id: &str,
        condition: &Match,
        is_allowed: bool,
    ) -> Result<(), TestCaseError> {
        let (value, holds) = self.if_match(id, condition);
        let mut request = as_key(key, "DELETE", &at(id));
        if let Some(value) = value {
            request = with_header(request, "if-match", &value);
        }
        let response = self.api.send(&request);
        let tenant = &mut self.tenants[tenant_index];
        match tenant.find(id).filter(|_| is_allowed) {
            Some(_) if !holds => prop_assert_eq!(response.status, 412),
            Some(at) => {
                tenant.rows.remove(at);
                prop_assert_eq!((response.status, response.body.len()), (204, 0));
            }
            None => self.assert_matches_model(tenant_index, id, &response, is_allowed)?,
        }
        Ok(())
    }

    fn walk(
        &self,
        tenant_index: usize,
        key: &ApiKey,
        filter: &Filter,
        limit: usize,
    ) -> Result<(), TestCaseError> {
        let tenant = &self.tenants[tenant_index];
        let mut path = Some(format!("{CONNECTIONS}?limit={limit}&{}", filter.query()));
        let mut page = 0;
        while let Some(at) = path {
            page += 1;
            let response = self.api.send(&as_key(key, "GET", &at));
            prop_assert_eq!(body(&response), tenant.page(filter, limit, page), "{}", at);
            path = next(&response);
        }
        prop_assert_eq!(page, tenant.list(filter).len().div_ceil(limit).max(1));
        Ok(())
    }

    fn set(&mut self, id: &str, column: &str, value: &str) -> Result<(), TestCaseError> {
        let sql = format!("UPDATE connections SET {column} = ?2 WHERE id = ?1");
        let changed = self.api.env.database.execute(&sql, [id, value]).unwrap();
        let rows = self.tenants.iter_mut().flat_map(|tenant| &mut tenant.rows);
        let row = rows.into_iter().find(|row| row.id == id);
        prop_assert_eq!(changed, usize::from(row.is_some()));
        let Some(row) = row else { return Ok(()) };
        match column {
            "active" => row.active = value == "1",
            "state" => row.state = value.into(),
            "platform_version" => row.version_of_platform = value.into(),
            _ => row.identity_type = value.into(),
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: u32::try_from(repetitions(12, 96)).unwrap(), max_shrink_iters: 2000, ..ProptestConfig::default() })]

    #[test]
    fn random_histories_match_the_model(
        // Most steps use one tenant and its key with all scopes. Often, no time passes between
        // steps.
        history in vec((prop_oneof![3 => Just(0), 2 => 0_usize..4], prop_oneof![8 => Just(0_usize), 1 => 1_usize..3], option::weighted(0.4, 1_u64..3), steps()), 1..90),
    ) {
        let mut env = VaultAndModel::new();
        for (tenant_index, key_index, passed, step) in history {
            env.api.env.wait(passed.unwrap_or(0));
            env.take(tenant_index, key_index, step)?;
            prop_assert_eq!(wrong_counters(&env.api.env), [""; 0]);
        }
        for (tenant, keys) in env.tenants.iter().zip(&env.keys) {
            let response = env.api.send(&as_key(&keys[0], "GET", SUMMARY));
            prop_assert_eq!(body(&response), tenant.summary());
            for active in [true, false] {
                let response = env.api.send(&as_key(&keys[0], "GET", &format!("{CONNECTIONS}?limit=500&active={active}")));
                let filter = Filter { active: Some(active), ..Filter::default() };
                prop_assert_eq!(body(&response), tenant.page(&filter, 500, 1));
            }
        }
    }
}
