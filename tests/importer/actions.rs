//! Tests of the fields of actions, mainly titles.

use connector_vault::importer::licence::LicenceFilter;
use connector_vault::terms::Method;

use super::support::{import_documents, import_operation, import_sources};

#[test]
#[rustfmt::skip] // one case per line
fn reads_every_field_of_an_action() {
    let (summary, platforms) = import_sources(&["tests/fixtures/openapi/good/acme-3.0.json"], LicenceFilter::Open, "");
    let rows: Vec<(&str, &str, &str, &str)> = platforms[0]
        .actions
        .iter()
        .map(|action| (action.method.as_str(), action.title.as_str(), action.key.as_str(), action.model_name.as_str()))
        .collect();
    let expected = [
        ("GET", "List orders for also order", "ordersListAll", "SalesOrders"),
        ("POST", "Create order for also order", "createOrder", "SalesOrders"),
        ("GET", "List orders", "ordersListAll2", "SalesOrders"),
        ("POST", "Create order", "createOrder2", "SalesOrders"),
        ("GET", "Get order by ID", "getOrderByID", "Orders"),
        ("PUT", "Update order", "putOrdersByOrderId", "Orders"),
        ("PATCH", "Change an order", "createOrder3", "Orders"),
        ("DELETE", "Delete order", "deleteOrdersByOrderId", "Orders"),
    ];
    assert_eq!(rows, expected);
    assert!(platforms[0].actions.iter().all(|action| action.platform == "acme-store"));
    let warnings = [
        "the reference from /elsewhere to other.json#/paths/x leads out of the document's paths",
        "acme-3.0.json#/paths/~1elsewhere: the reference to `other.json#/paths/x` is dangling: No such file or directory (os error 2)",
    ];
    assert_eq!(summary.warnings, warnings.map(|warning| format!("tests/fixtures/openapi/good/acme-3.0.json: {warning}")));
}

#[test]
#[rustfmt::skip] // one case per line
fn derives_titles_keys_and_models() {
    for (at, (path, method, operation, title, key, model)) in [
        // A summary that begins with a verb is the title.
        ("/a", "get", "{summary: ' List <b>b</b>. ', operationId: getB}", "List b", "getB", "A"),
        ("/a", "get", "{summary: 'Wait...'}", "Wait...", "getA", "A"),
        ("/a", "get", "{summary: DELETE the timeCard}", "Delete the time card", "getA", "A"),
        ("/a", "get", "{summary: 'Get an archive (zip) of {pet-id} (deprecated)'}", "Get an archive, zip of pet-id", "getA", "A"),
        ("/a", "post", "{summary: addCards()}", "Add cards", "postA", "A"),
        ("/a", "get", "{summary: 'Get iPhone, GitHub and ReplicaSet'}", "Get iPhone, GitHub and ReplicaSet", "getA", "A"),
        ("/a", "post", "{summary: Re-run a job}", "Re-run a job", "postA", "A"),
        // Otherwise, the title is the first sentence of the description, if it is short and begins
        // with a verb.
        ("/a", "get", "{summary: Pets, description: 'Lists all pets, e.g. cats. More of it.'}", "List all pets, e.g. cats", "getA", "A"),
        ("/a", "get", "{description: 'This endpoint is used to find pets.'}", "Find pets", "getA", "A"),
        ("/a", "put", "{description: 'Creates or updates a pet'}", "Create or update a pet", "putA", "A"),
        // Otherwise, the title is a verb followed by the summary …
        ("/pets", "get", "{summary: Pets, description: All pets.}", "List pets", "getPets", "Pets"),
        ("/pets/{id}", "get", "{summary: The pet's details}", "Get pet's details", "getPetsById", "Pets"),
        ("/orders", "get", "{summary: Order history}", "List order history", "getOrders", "Orders"),
        ("/orders", "post", "{summary: Order a meal}", "Order a meal", "postOrders", "Orders"),
        // … or followed by the words of the operationId or the path.
        ("/a", "get", "{operationId: listUserAPIKeys}", "List user API keys", "listUserAPIKeys", "A"),
        ("/a", "get", "{operationId: repos/list-for-user}", "List repos for user", "reposListForUser", "A"),
        ("/a", "get", "{operationId: APIKey_Get}", "Get API key", "apiKeyGet", "A"),
        ("/a", "post", "{operationId: gmail.users.messages.send}", "Send message", "gmailUsersMessagesSend", "A"),
        ("/a", "put", "{operationId: VirtualMachines_CreateOrUpdate}", "Create virtual machine", "virtualMachinesCreateOrUpdate", "A"),
        ("/a", "get", "{operationId: LIST_USERS}", "List users", "listUSERS", "A"),
        ("/tasks/{id}/cancel", "post", "{}", "Cancel task", "postTasksByIdCancel", "Cancel"),
        ("/v1/{name}:undelete", "post", "{}", "Undelete", "postV1ByNameUndelete", "V1"),
        ("/users/{id}/messages/$count", "get", "{summary: Get the number of the resource}", "Count messages", "getUsersByIdMessagesCount", "Count"),
        ("/orders/{id}/createRefund", "post", "{}", "Create refund", "postOrdersByIdCreateRefund", "CreateRefund"),
        ("/lists/{id}/list-items", "get", "{}", "List list items", "getListsByIdListItems", "ListItems"),
        ("/a", "get", "{operationId: '---'}", "Get a", "getA", "A"),
        ("/a/{b}/c-d", "delete", "{}", "Delete c d", "deleteAByBCD", "CD"),
        ("/{b}", "put", "{tags: ['pets & dogs']}", "Update resource", "putByB", "PetsDogs"),
        ("/", "patch", "", "Update resource", "patch", ""),
        // Keys of Amazon's query protocol omit the method prefix.
        ("/#Action=DescribeHosts", "post", "{operationId: POST_DescribeHosts}", "Describe hosts", "describeHosts", ""),
        ("/#Action=Do", "post", "{tags: []}", "Create do", "postActionDo", ""),
        ("/ö", "get", "{operationId: größeLesen}", "Get ö", "größeLesen", "Ö"),
    ]
    .iter()
    .enumerate()
    {
        let action = import_operation(&format!("action-{at}"), path, method, operation);
        let actual = (action.title.as_str(), action.key.as_str(), action.model_name.as_str());
        assert_eq!(actual, (*title, *key, *model), "{method} {path} {operation}");
    }
    let long = "x".repeat(5000);
    let action = import_operation("action-long", "/a", "get", &format!("{{summary: {long}, operationId: {long}, tags: [{long}]}}"));
    assert_eq!(action.method, Method::Get);
    assert_eq!((action.title.chars().count(), action.key.chars().count(), action.model_name.chars().count()), (200, 256, 100));
}

#[test]
#[rustfmt::skip] // one case per line
fn disambiguates_equal_titles() {
    let with = |name: &str, paths: &str| {
        let (_, platforms) = import_documents(name, &[&format!("openapi: 3.0.0\ninfo: {{title: T, version: 1}}\npaths: {{{paths}}}\n")]);
        platforms[0].actions.iter().map(|action| action.title.clone()).collect::<Vec<_>>()
    };
    for (at, (paths, titles)) in [
        (
            "'/issues/{id}/comments': {get: {summary: List comments}}, '/pulls/{id}/comments': {get: {summary: List comments}}",
            vec!["List comments for issue", "List comments for pull"],
        ),
        (
            "'/user/{id}': {get: {summary: Get user}}, '/user/{name}': {get: {summary: Get user}}",
            vec!["Get user by id", "Get user by name"],
        ),
        (
            "'/user': {put: {summary: Update user}, patch: {summary: Update user}}",
            vec!["Replace user", "Update user"],
        ),
        (
            "/#Action=DescribeHosts: {get: {operationId: GET_DescribeHosts}, post: {operationId: POST_DescribeHosts}}",
            vec!["Describe hosts"],
        ),
    ]
    .iter()
    .enumerate()
    {
        let mut actual = with(&format!("alike-{at}"), paths);
        actual.sort();
        assert_eq!(actual, *titles, "{paths}");
    }
}
