//! Tests of `catalog import-instance`.

#![expect(clippy::indexing_slicing, reason = "the members are asserted")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

use connector_vault::importer::check::OpenCatalog;
use connector_vault::importer::folder::Folder;
use serde_json::{Value, json};

use super::support::{folder, stderr};

/// A document like Dataverse's `$metadata`.
const METADATA: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
<Schema Namespace="Microsoft.Dynamics.CRM" Alias="mscrm" xmlns="http://docs.oasis-open.org/odata/ns/edm">
  <EntityType Name="crmbaseentity" Abstract="true" />
  <EntityType Name="account" BaseType="mscrm.crmbaseentity">
    <Key><PropertyRef Name="accountid" /></Key>
    <Property Name="accountid" Type="Edm.Guid" Nullable="false" />
    <Property Name="name" Type="Edm.String" Nullable="false" MaxLength="160" />
    <Property Name="revenue" Type="Edm.Decimal" Scale="Variable" />
    <Property Name="createdon" Type="Edm.DateTimeOffset"><Annotation Term="Org.OData.Core.V1.Computed" Bool="true" /></Property>
    <NavigationProperty Name="primarycontactid" Type="mscrm.contact" />
    <NavigationProperty Name="contacts" Type="Collection(mscrm.contact)" />
  </EntityType>
  <EntityType Name="contact" BaseType="mscrm.crmbaseentity">
    <Key><PropertyRef Name="contactid" /></Key><Property Name="contactid" Type="Edm.Guid" Nullable="false" />
  </EntityType>
  <EntityType Name="code"><Key><PropertyRef Name="area" /><PropertyRef Name="name" /></Key>
    <Property Name="area" Type="Edm.Int32" Nullable="false" /><Property Name="name" Type="Edm.String" Nullable="false" />
  </EntityType>
  <EnumType Name="AccessType"><Member Name="Read" Value="1" /><Member Name="Write" Value="2" /></EnumType>
  <ComplexType Name="Note"><Property Name="text" Type="Edm.String" /></ComplexType>
  <Function Name="WhoAmI"><ReturnType Type="Edm.Guid" /></Function>
  <Function Name="IsAllowed"><Parameter Name="Id" Type="Edm.Guid" Nullable="false" /><Parameter Name="Access" Type="mscrm.AccessType" /><ReturnType Type="Edm.Boolean" /></Function>
  <Function Name="Search"><Parameter Name="Rows" Type="Collection(mscrm.account)" /><ReturnType Type="Edm.Boolean" /></Function>
  <Action Name="Publish"><Parameter Name="Notes" Type="Collection(mscrm.Note)" Nullable="false" /></Action>
  <Action Name="Close" IsBound="true"><Parameter Name="entity" Type="mscrm.account" /></Action>
  <EntityContainer Name="System">
    <EntitySet Name="accounts" EntityType="Microsoft.Dynamics.CRM.account" />
    <EntitySet Name="contacts" EntityType="Microsoft.Dynamics.CRM.contact" />
    <EntitySet Name="codes" EntityType="mscrm.code" />
    <FunctionImport Name="WhoAmI" Function="Microsoft.Dynamics.CRM.WhoAmI" />
    <FunctionImport Name="IsAllowed" Function="mscrm.IsAllowed" />
    <FunctionImport Name="Search" Function="mscrm.Search" />
    <ActionImport Name="Publish" Action="mscrm.Publish" />
  </EntityContainer>
</Schema></edmx:DataServices></edmx:Edmx>"#;

/// A document like the index of a `WordPress` site.
const INDEX: &str = r#"{
  "name": "A blog", "url": "https://blog.example.com", "namespaces": ["wp/v2", "acme/v1"], "authentication": [],
  "routes": {
    "/": {"namespace": "", "methods": ["GET"], "endpoints": [{"methods": ["GET"], "args": []}]},
    "/batch/v1": {"namespace": "", "methods": ["POST"], "endpoints": [{"methods": ["POST"], "args": []}]},
    "/wp/v2": {"namespace": "wp/v2", "methods": ["GET"], "endpoints": [{"methods": ["GET"], "args": []}]},
    "/wp/v2/posts": {"namespace": "wp/v2", "methods": ["GET", "POST"], "endpoints": [
      {"methods": ["GET"], "args": {"page": {"description": "The page", "type": "integer", "default": 1, "minimum": 1, "required": false}, "include": {"type": "array", "items": {"type": "integer"}, "default": [], "required": false}}},
      {"methods": ["POST"], "args": {"title": {"type": "object", "required": true, "properties": {"raw": {"type": "string", "context": ["edit"]}}}, "meta": {"type": "object", "properties": [], "required": false}}}]},
    "/wp/v2/posts/(?P<id>[\\d]+)": {"namespace": "wp/v2", "methods": ["GET", "POST", "PUT", "PATCH", "DELETE"], "endpoints": [
      {"methods": ["GET"], "args": {"id": {"type": "integer", "required": false}}},
      {"methods": ["POST", "PUT", "PATCH"], "args": {"id": {"type": "integer", "required": false}, "status": {"type": "string", "enum": {"0": "publish", "2": "draft"}, "required": false}}},
      {"methods": ["DELETE"], "args": {"id": {"type": "integer"}, "force": {"type": "boolean", "default": false}}}]},
    "/acme/v1/things(?:/(?P<id>\\d+))?": {"namespace": "acme/v1", "methods": ["GET"], "endpoints": [{"methods": ["GET"], "args": []}]},
    "/acme/v1/other": {"namespace": "acme/v1", "methods": ["GET"], "endpoints": [{"methods": ["GET"], "args": []}]}
  }
}"#;

/// A document like `/wp-json/wc/v3`.
const SHOP: &str = r#"{"namespace": "wc/v3", "routes": {
  "/wc/v3": {"namespace": "wc/v3", "methods": ["GET"], "endpoints": []},
  "/wc/v3/orders": {"namespace": "wc/v3", "methods": ["GET"], "endpoints": [{"methods": ["GET"], "args": {"status": {"type": "array", "items": {"type": "string"}}}}]},
  "/wc/v3/orders/(?P<id>[\\d]+)": {"namespace": "wc/v3", "methods": ["POST", "PUT", "PATCH"], "endpoints": [{"methods": ["POST", "PUT", "PATCH"], "args": {"status": {"type": "string"}}}]}
}}"#;

/// A document like `NetSuite`'s metadata catalog.
const CATALOG: &str = r#"{"openapi": "3.0.1", "info": {"title": "NetSuite REST API", "version": "1"}, "security": [{"oAuth2": []}],
  "paths": {"/customer": {"get": {"summary": "Get list of records", "tags": ["customer"], "parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}]}},
            "/customer/{id}": {"delete": {"summary": "Remove record", "tags": ["customer"], "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}]}},
            "/salesOrder": {"get": {"summary": "Get list of records", "tags": ["salesOrder"]}}}}"#;

/// A document like the exports of REST API Explorer.
const EXPORTED: &str = "openapi: 3.0.1\ninfo: { title: Table API, version: latest }\nservers: [{ url: https://acme.service-now.com/ }]\npaths:\n  /api/now/table/{tableName}:\n    get: { description: Retrieve records, parameters: [{ name: tableName, in: path, required: true, schema: { type: string } }], responses: { \"200\": { description: ok } } }\n";

/// Serves a single response. Returns the host, and a thread that returns the received request.
fn instance(status: &'static str, body: &'static str) -> (String, thread::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let served = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut bytes = [0; 4096];
        let length = stream.read(&mut bytes).unwrap();
        let head = format!(
            "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        String::from_utf8_lossy(&bytes[..length]).into_owned()
    });
    (host, served)
}

fn command(arguments: &[&str], local: bool) -> Output {
    Command::new(env!("CARGO_BIN_EXE_connector-vault"))
        .arg("catalog")
        .args(arguments)
        .env_remove("INIT_CWD")
        .env("LOCAL_TARGETS", if local { "allow" } else { "" })
        .output()
        .unwrap()
}

/// Creates a catalog with the platforms of `providers.toml`.
fn catalog(name: &str) -> PathBuf {
    let folder = folder(name);
    let document = folder.join("other.yaml");
    let text =
        "openapi: 3.0.0\ninfo: { title: Other, version: \"1\" }\npaths: { /a: { get: {} } }\n";
    fs::write(&document, text).unwrap();
    let out = folder.join("catalog");
    let done = command(
        &["import", "--also", document.to_str().unwrap(), "--out", out.to_str().unwrap()],
        false,
    );
    assert!(done.status.success(), "{}", stderr(&done));
    folder
}

fn import(folder: &Path, platform: &str, more: &[&str]) -> Output {
    let (out, cache) = (folder.join("catalog"), folder.join("cache"));
    let mut arguments = vec!["import-instance", platform, "--catalog", out.to_str().unwrap()];
    arguments.extend(["--cache", cache.to_str().unwrap()]);
    arguments.extend(more);
    command(&arguments, more.iter().any(|one| one.starts_with("127.0.0.1:")))
}

/// The key, method, path and title of each action of a platform, and the JSON of the action `key`.
fn actions(folder: &Path, platform: &str, server: &str, key: &str) -> (Vec<String>, Value) {
    let catalog = Folder(folder.join("catalog"));
    let opened = OpenCatalog::new(&catalog).unwrap();
    let mut details = opened.details().unwrap();
    let stored = details.take(platform);
    let mut rows = Vec::new();
    let mut found = Value::Null;
    for row in opened.actions(platform).unwrap() {
        let json =
            opened.action(platform, &row.key, &stored.detail, &stored.units).unwrap().unwrap();
        let action: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(action["server"], server, "{}", row.key);
        assert!(!action["auth"].as_array().unwrap().is_empty(), "{}", row.key);
        rows.push(format!(
            "{} {} {}: {}",
            row.key,
            action["method"].as_str().unwrap(),
            action["path"].as_str().unwrap(),
            row.title
        ));
        if row.key == key {
            found = action;
        }
    }
    rows.sort();
    (rows, found)
}

#[test]
fn dataverse_metadata_becomes_operations_on_rows() {
    let folder = catalog("instance-dynamics");
    let token = folder.join("token");
    fs::write(&token, "Bearer secret-1\n").unwrap();
    let (host, request) = instance("200 OK", METADATA);
    let done = import(
        &folder,
        "dynamics-365",
        &["--host", &host, "--authorization", token.to_str().unwrap()],
    );
    assert!(done.status.success(), "{}", stderr(&done));
    let request = request.join().unwrap();
    assert!(request.starts_with("GET /api/data/v9.2/$metadata HTTP/1.1"), "{request}");
    assert!(request.to_lowercase().contains("authorization: bearer secret-1"), "{request}");
    let server = "https://{organization}.{region}.dynamics.com";
    let (rows, create) = actions(&folder, "dynamics-365", server, "createAccount");
    assert_eq!(
        rows,
        [
            "createAccount POST /api/data/v9.2/accounts: Create account",
            "createCode POST /api/data/v9.2/codes: Create code",
            "createContact POST /api/data/v9.2/contacts: Create contact",
            "deleteAccount DELETE /api/data/v9.2/accounts({accountid}): Delete account",
            "deleteCode DELETE /api/data/v9.2/codes(area={area},name='{name}'): Delete code",
            "deleteContact DELETE /api/data/v9.2/contacts({contactid}): Delete contact",
            "getAccount GET /api/data/v9.2/accounts({accountid}): Get account",
            "getCode GET /api/data/v9.2/codes(area={area},name='{name}'): Get code",
            "getContact GET /api/data/v9.2/contacts({contactid}): Get contact",
            "isAllowed GET /api/data/v9.2/IsAllowed(Id=@Id,Access=@Access): Run IsAllowed",
            "listAccounts GET /api/data/v9.2/accounts: List accounts",
            "listCodes GET /api/data/v9.2/codes: List codes",
            "listContacts GET /api/data/v9.2/contacts: List contacts",
            "publish POST /api/data/v9.2/Publish: Run Publish",
            "updateAccount PATCH /api/data/v9.2/accounts({accountid}): Update account",
            "updateCode PATCH /api/data/v9.2/codes(area={area},name='{name}'): Update code",
            "updateContact PATCH /api/data/v9.2/contacts({contactid}): Update contact",
            "whoAmI GET /api/data/v9.2/WhoAmI(): Run WhoAmI",
        ]
    );
    let input = &create["input"];
    assert_eq!(input["required"], json!(["body"]));
    let table_reference = json!({ "$ref": "#/$defs/Microsoft.Dynamics.CRM.account" });
    assert_eq!(
        input["properties"]["body"],
        json!({ "allOf": [table_reference, { "required": ["name"] }] })
    );
    // The body omits properties that the service computes.
    assert_eq!(
        input["$defs"]["Microsoft.Dynamics.CRM.account"]["properties"],
        json!({
            "accountid": { "type": "string", "format": "uuid" },
            "name": { "type": "string", "maxLength": 160 },
            "revenue": { "type": ["number", "null"] },
            "primarycontactid@odata.bind": {
                "type": "string", "description": "The row that it refers to, such as `/contacts(…)`",
            },
        })
    );

    // A second import replaces the description of the first import.
    let metadata = folder.join("metadata.xml");
    fs::write(&metadata, METADATA).unwrap();
    let file = metadata.to_str().unwrap();
    let given = ["--host", "acme.crm4.dynamics.com", "--file", file, "--only", "codes"];
    let done = import(&folder, "dynamics-365", &given);
    assert!(done.status.success(), "{}", stderr(&done));
    assert_eq!(actions(&folder, "dynamics-365", server, "").0.len(), 5);
}

#[test]
fn each_wordpress_route_method_becomes_an_action() {
    let folder = catalog("instance-wordpress");
    let (host, request) = instance("200 OK", INDEX);
    let done = import(&folder, "wordpress-site", &["--host", &host]);
    assert!(done.status.success(), "{}", stderr(&done));
    assert!(request.join().unwrap().starts_with("GET /wp-json/ HTTP/1.1"));
    assert!(
        stderr(&done).contains("1 route left out: parts of their paths are optional"),
        "{}",
        stderr(&done)
    );
    let server = "https://{host}/wp-json";
    let (rows, list) = actions(&folder, "wordpress-site", server, "getWpV2Posts");
    assert_eq!(
        rows,
        [
            "deleteWpV2PostsById DELETE /wp/v2/posts/{id}: Delete post",
            "getAcmeV1Other GET /acme/v1/other: Get other",
            "getWpV2Posts GET /wp/v2/posts: List posts",
            "getWpV2PostsById GET /wp/v2/posts/{id}: Get post",
            "postWpV2Posts POST /wp/v2/posts: Create post",
            "putWpV2PostsById PUT /wp/v2/posts/{id}: Update post",
        ]
    );
    let query = &list["input"]["properties"]["query"]["properties"];
    assert_eq!(query["page"]["minimum"], 1);
    let (_, create) = actions(&folder, "wordpress-site", server, "postWpV2Posts");
    assert_eq!(create["input"]["required"], json!(["body"]));
    let (_, update) = actions(&folder, "wordpress-site", server, "putWpV2PostsById");
    let body = &update["input"]["properties"]["body"];
    assert_eq!(body["properties"]["status"]["enum"], json!(["publish", "draft"]));
}

#[test]
fn woocommerce_routes_have_their_own_base_url() {
    let folder = catalog("instance-woocommerce");
    let (host, request) = instance("200 OK", SHOP);
    let done = import(&folder, "woocommerce", &["--host", &host]);
    assert!(done.status.success(), "{}", stderr(&done));
    assert!(request.join().unwrap().starts_with("GET /wp-json/wc/v3/ HTTP/1.1"));
    let (rows, _) = actions(&folder, "woocommerce", "https://{host}/wp-json/wc/v3", "");
    let expected =
        ["getOrders GET /orders: List orders", "putOrdersById PUT /orders/{id}: Update order"];
    assert_eq!(rows, expected);
}

#[test]
fn imports_openapi_documents_of_netsuite_and_servicenow() {
    let folder = catalog("instance-openapi");
    let (host, request) = instance("200 OK", CATALOG);
    let done = import(&folder, "netsuite", &["--host", &host, "--only", "customer"]);
    assert!(done.status.success(), "{}", stderr(&done));
    let request = request.join().unwrap();
    let start = "GET /services/rest/record/v1/metadata-catalog?select=customer HTTP/1.1";
    assert!(request.starts_with(start), "{request}");
    assert!(request.contains("application/swagger+json"), "{request}");
    let netsuite = "https://{account}.suitetalk.api.netsuite.com/services/rest";
    let (rows, _) = actions(&folder, "netsuite", netsuite, "");
    assert_eq!(
        rows,
        [
            "deleteCustomerById DELETE /record/v1/customer/{id}: Remove record",
            "getCustomer GET /record/v1/customer: Get list of records",
        ]
    );

    let exported = folder.join("exported.yaml");
    fs::write(&exported, EXPORTED).unwrap();
    let given = ["--host", "acme.service-now.com", "--file", exported.to_str().unwrap()];
    let done = import(&folder, "servicenow", &given);
    assert!(done.status.success(), "{}", stderr(&done));
    let server = "https://{instance}.{domain}";
    let (rows, _) = actions(&folder, "servicenow", server, "");
    assert_eq!(
        rows,
        ["getApiNowTableByTableName GET /api/now/table/{tableName}: Retrieve records"]
    );
    // The catalog still contains the previously imported instance.
    assert!(!actions(&folder, "netsuite", netsuite, "").0.is_empty());
}

#[test]
fn failed_instance_import_changes_nothing() {
    let folder = catalog("instance-refused");
    let (closed, _request) = instance("401 Unauthorized", "");
    let (other, _other) = instance("200 OK", "<html>");
    for (platform, host, message) in [
        ("dynamics-365", "10.0.0.1", "--host 10.0.0.1: has an IP address as its host"),
        (
            "dynamics-365",
            "crm.internal",
            "--host crm.internal: has a local or private name as its host",
        ),
        ("dynamics-365", "acme.crm.dynamics.com/api", "--host takes a host"),
        ("servicenow", "acme.service-now.com", "export the OpenAPI specification"),
        ("dynamics-365", &closed, "the instance responded with 401: pass --authorization"),
        ("wordpress-site", &other, "the index of the REST API is not JSON"),
    ] {
        let done = import(&folder, platform, &["--host", host]);
        assert_eq!(done.status.code(), Some(1), "{platform} {host}");
        assert!(stderr(&done).contains(message), "{host}: {}", stderr(&done));
    }
}
