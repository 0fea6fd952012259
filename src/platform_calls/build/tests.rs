//! Tests the examples in the OpenAPI specification, and cases that it does not define.

use serde_json::{Value, json};

use super::{Action, BuiltRequest, Input, build};

fn build_request(action: &Value, input: &Value) -> Result<BuiltRequest, Vec<(String, String)>> {
    let mut action_json = json!({"method": "POST", "path": "/x", "server": null, "parameters": [], "requestBody": null, "input": {}});
    for (name, value) in action.as_object().unwrap() {
        action_json[name] = value.clone();
    }
    let action: Action = serde_json::from_value(action_json).unwrap();
    let text = input.to_string();
    let input: Input<'_> = serde_json::from_str(&text).unwrap();
    build(&action, &input, "limit")
        .map_err(|faults| faults.into_iter().map(|fault| (fault.pointer, fault.message)).collect())
}

fn parameter(place: &str, style: &str, explode: bool) -> Value {
    json!({
        "name": "color", "in": place, "required": false, "schema": {}, "style": style, "explode": explode,
        "contentType": null,
    })
}

#[test]
fn whole_numbers_are_written_without_a_point() {
    let action = json!({"parameters": [
        parameter("path", "simple", false), parameter("query", "form", false), parameter("header", "simple", false),
    ], "path": "/{color}"});
    let input = json!({
        "path": {"color": 5.0}, "query": {"color": [1e2, 5.25, 1e21, {"a": 2.0}]}, "header": {"color": {"a": 3.0}},
    });
    let built = build_request(&action, &input).unwrap();
    assert_eq!((built.path.as_str(), built.headers), ("5", vec![("color".into(), "a,3".into())]));
    assert!(built.query.starts_with("color=100,5.25,1e%2B21,"), "{}", built.query);
}

/// The table "Style Examples" of the OpenAPI specification, version 3.1.
#[test]
fn parameters_match_the_examples_of_the_specification() {
    let (scalar, list, object) =
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
            "spaceDelimited",
            true,
            ["color=blue", "color=blue&color=black", "R=100&G=a%20b"],
        ),
        ("query", "pipeDelimited", true, ["color=blue", "color=blue&color=black", "R=100&G=a%20b"]),
        (
            "query",
            "deepObject",
            true,
            [
                "color=blue",
                "color%5B%5D=blue&color%5B%5D=black",
                "color%5BR%5D=100&color%5BG%5D=a%20b",
            ],
        ),
        ("header", "simple", false, ["blue", "blue,black", "R,100,G,a b"]),
        ("header", "simple", true, ["blue", "blue,black", "R=100,G=a b"]),
    ] {
        for (value, text) in [&scalar, &list, &object].into_iter().zip(texts) {
            // Without the feature `preserve_order` of `serde_json`, members are sorted by name.
            let sorted = |text: &str| {
                let mut parts: Vec<char> = text.chars().collect();
                parts.sort_unstable();
                parts
            };
            let action =
                json!({"path": "/a/{color}/b", "parameters": [parameter(place, style, explode)]});
            let built = build_request(&action, &json!({place: {"color": value}})).unwrap();
            let written = match place {
                "path" => {
                    built.path.strip_prefix("a/").unwrap().strip_suffix("/b").unwrap().to_owned()
                }
                "query" => built.query,
                _ => built.headers[0].1.clone(),
            };
            assert_eq!(sorted(&written), sorted(text), "{place} {style} {explode}: {written}");
        }
    }
}

#[test]
fn the_name_of_a_matrix_parameter_is_encoded() {
    for explode in [false, true] {
        let mut matrix = parameter("path", "matrix", explode);
        matrix["name"] = json!("a;b");
        let action = json!({"path": "/{a;b}", "parameters": [matrix]});
        for (value, expected) in [
            (json!(1), ";a%3Bb=1"),
            (json!([1, 2]), if explode { ";a%3Bb=1;a%3Bb=2" } else { ";a%3Bb=1,2" }),
            (json!({"c;d": 1}), if explode { ";c%3Bd=1" } else { ";a%3Bb=c%3Bd,1" }),
        ] {
            let built = build_request(&action, &json!({"path": {"a;b": value}})).unwrap();
            assert_eq!(built.path, expected, "{explode}");
        }
    }
}

#[test]
fn deep_objects_nest_as_stripe_reads_them() {
    let action = json!({"parameters": [parameter("query", "deepObject", true)]});
    for (value, expected) in [
        (json!({"a": {"b": {"c": "d e"}}}), "color[a][b][c]=d%20e"),
        (json!({"a": [1, "x&y"], "b": 2}), "color[a][]=1&color[a][]=x%26y&color[b]=2"),
        (json!([{"a": 1}, {"a": 2, "b": [3]}]), "color[0][a]=1&color[1][a]=2&color[1][b][]=3"),
        (json!([[1, 2], 3]), "color[0][]=1&color[0][]=2&color[1]=3"),
        (json!({"a": null, "b": [], "c": {}}), "color[a]="),
        (json!([]), ""),
    ] {
        let built = build_request(&action, &json!({"query": {"color": value}})).unwrap();
        assert_eq!(built.query, expected.replace('[', "%5B").replace(']', "%5D"), "{value}");
    }
}

#[test]
fn values_are_escaped_in_parameters() {
    let path = json!({"path": "/a/{color}/b?fixed=1#x", "parameters": [
        parameter("path", "simple", false), parameter("query", "form", true), parameter("header", "simple", false),
    ]});
    let escaping_input = json!({"path": {"color": "../é?&#"}, "query": {"color": "a&b=c#"}, "header": {"color": "x y"}});
    let message = "must not be empty, and must not be `.` or `..`".to_owned();
    assert_eq!(
        build_request(&path, &escaping_input),
        Err(vec![("/path/color".to_owned(), message.clone())])
    );
    let valid_input = json!({"path": {"color": "x/é?&#"}, "query": {"color": "a&b=c#"}, "header": {"color": "x y"}});
    let expected = BuiltRequest {
        path: "a/x%2F%C3%A9%3F%26%23/b".to_owned(),
        query: "fixed=1&color=a%26b%3Dc%23".to_owned(),
        headers: vec![("color".to_owned(), "x y".to_owned())],
        body: Vec::new(),
        overriding: Vec::new(),
    };
    assert_eq!(build_request(&path, &valid_input), Ok(expected));
    let invalid_input = json!({"path": {"color": ""}, "header": {"color": "x\r\ny: z"}});
    let control = "must not contain control characters".to_owned();
    let faults = vec![("/path/color".to_owned(), message), ("/header/color".to_owned(), control)];
    assert_eq!(build_request(&path, &invalid_input), Err(faults));
}

#[test]
fn reserved_characters_are_kept_where_the_document_allows_them() {
    let mut reserved = parameter("query", "form", true);
    reserved["allowReserved"] = json!(true);
    let action = json!({"parameters": [reserved]});
    for (value, expected) in [
        (json!("a:b/c?d@e!f$'()*,;=g"), "color=a:b/c?d@e!f$'()*,;=g"),
        (json!("a%2Fb%2f%zz%"), "color=a%2Fb%2f%25zz%25"),
        (json!("a&bc=1#12"), "color=a%26bc=1%2312"),
        // Unescaped, these values would begin another parameter or end the query.
        (json!("a&key=1#[x]+ é\r\n"), "color=a%26key=1%23%5Bx%5D%2B%20%C3%A9%0D%0A"),
        (json!(["/a", "b&"]), "color=/a&color=b%26"),
        (json!({"a&b": "/"}), "a%26b=/"),
    ] {
        let built = build_request(&action, &json!({"query": {"color": value}})).unwrap();
        assert_eq!(built.query, expected);
    }
}

#[test]
fn values_are_escaped_in_the_cookie_header() {
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
        let built = build_request(&action, &json!({"cookie": input})).unwrap();
        assert_eq!(built.headers, [("cookie".to_owned(), expected.to_owned())]);
    }
    assert_eq!(
        build_request(&action, &json!({})),
        Ok(BuiltRequest { path: "x".to_owned(), ..BuiltRequest::default() })
    );
}

#[test]
fn bodies_are_encoded_in_their_media_type() {
    let build_body = |types: Value, schema: Value, body: &str| {
        let action =
            json!({"requestBody": {"required": true, "contentTypes": types, "schema": schema}});
        let input: Value = serde_json::from_str(&format!("{{\"body\":{body}}}")).unwrap();
        build_request(&action, &input).map(|built| {
            (built.headers[0].1.clone(), String::from_utf8_lossy(&built.body).into_owned())
        })
    };
    let ok = |media: &str, body: &str| Ok((media.to_owned(), body.to_owned()));
    let none = json!({});
    assert_eq!(
        build_body(json!(["application/json"]), none.clone(), r#"{"a":[1,null]}"#),
        ok("application/json", r#"{"a":[1,null]}"#)
    );
    assert_eq!(
        build_body(json!(["application/vnd.api+json; v=1"]), none.clone(), "[]"),
        ok("application/vnd.api+json; v=1", "[]")
    );
    let any = json!(["*/*"]);
    assert_eq!(build_body(any.clone(), none.clone(), "1"), ok("application/json", "1"));
    let file = "application/octet-stream";
    assert_eq!(
        build_body(any.clone(), json!({"type": "string"}), r#""a\n\"b\"""#),
        ok(file, "a\n\"b\"")
    );
    let binary = json!({"type": "string", "format": "binary"});
    assert_eq!(build_body(any, binary, "\"aGk=\""), ok(file, "hi"));
    let form = "application/x-www-form-urlencoded";
    assert_eq!(
        build_body(json!([form]), none.clone(), r#"{"a b":"c&d","l":[1,2],"o":{"x":1}}"#),
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
        String::from_utf8(build_request(&action, &input).unwrap().body).unwrap(),
        "list=1,a%20b&meta%5Ba%5D%5Bb%5D=c%26d&other=%7B%22x%22%3A1%7D"
    );
    let schema = json!({"properties": {"file": {"format": "binary"}}});
    let expected = "--limit\r\nContent-Disposition: form-data; name=\"file\"; filename=\"file\"\r\nContent-Type: application/octet-stream\r\n\r\nhi\r\n--limit\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nx\r\n--limit--\r\n";
    assert_eq!(
        build_body(json!(["multipart/form-data"]), schema.clone(), r#"{"file":"aGk=","name":"x"}"#),
        ok("multipart/form-data; boundary=limit", expected)
    );
    let files = json!({"properties": {"files": {"items": {"format": "binary"}}}});
    let file = |text: &str| {
        format!(
            "--limit\r\nContent-Disposition: form-data; name=\"files\"; filename=\"file\"\r\nContent-Type: application/octet-stream\r\n\r\n{text}\r\n"
        )
    };
    assert_eq!(
        build_body(json!(["multipart/form-data"]), files, r#"{"files":["aGk=","aG8="]}"#),
        ok(
            "multipart/form-data; boundary=limit",
            &[&file("hi"), &file("ho"), "--limit--\r\n"].concat()
        )
    );
    assert_eq!(
        build_body(json!(["multipart/form-data"]), none.clone(), r#"{"meta":{"a":1}}"#),
        ok(
            "multipart/form-data; boundary=limit",
            "--limit\r\nContent-Disposition: form-data; name=\"meta\"\r\nContent-Type: application/json\r\n\r\n{\"a\":1}\r\n--limit--\r\n"
        )
    );
    let message = "must be an object: the platform takes a form".to_owned();
    for (media, body) in
        [("multipart/form-data", "\"a\""), ("multipart/form-data", "[]"), (form, "[1]")]
    {
        let fault = ("/body".to_owned(), message.clone());
        assert_eq!(
            build_body(json!([media]), none.clone(), body),
            Err(vec![fault]),
            "{media} {body}"
        );
    }
    let base64 = "must be bytes in base64, with padding".to_owned();
    assert_eq!(
        build_body(json!(["multipart/form-data"]), schema, r#"{"file":"?"}"#),
        Err(vec![("/body/file".to_owned(), base64.clone())])
    );
    let binary = json!({"type": "string", "format": "binary"});
    assert_eq!(build_body(json!(["image/png"]), binary.clone(), "\"aGk=\""), ok("image/png", "hi"));
    assert_eq!(build_body(json!(["text/csv"]), binary.clone(), "\"aGk=\""), ok("text/csv", "aGk="));
    assert_eq!(
        build_body(json!(["image/png"]), binary, "\"?\""),
        Err(vec![("/body".to_owned(), base64)])
    );
    assert_eq!(
        build_body(json!(["application/xml"]), none.clone(), "\"<a/>\""),
        ok("application/xml", "<a/>")
    );
    let message = "must be a string: the platform takes application/xml".to_owned();
    assert_eq!(
        build_body(json!(["application/xml"]), none, "{}"),
        Err(vec![("/body".to_owned(), message)])
    );
}

#[test]
fn members_that_override_the_method_are_refused_unless_they_are_declared() {
    struct Case {
        media: &'static str,
        schema: Value,
        body: Value,
        /// The methods of the declared members, or the name of the refused member.
        expected: Result<&'static [&'static str], &'static str>,
    }
    const FORM: &str = "application/x-www-form-urlencoded";
    const MULTIPART: &str = "multipart/form-data";
    const JSON: &str = "application/json";
    let declaring = |name: &str| json!({"properties": {(name): {}}});
    let combined_schema = json!({"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}]});
    let refused = |media, body, name| Case { media, schema: json!({}), body, expected: Err(name) };
    let sent = |media, body| Case { media, schema: json!({}), body, expected: Ok(&[]) };
    let mut cases = vec![
        refused(FORM, json!("a=1&method=delete"), "method"),
        refused(FORM, json!("a=1;_method=x"), "_method"),
        sent(FORM, json!("a=1&method=visa")),
        refused(FORM, json!({"exploded": {"_method": "DELETE"}}), "_method"),
        sent(FORM, json!({"kept": {"_method": "DELETE"}})),
        sent(JSON, json!([{"_method": "DELETE"}])),
        sent(JSON, json!({"a": {"_method": "DELETE"}})),
        sent("application/xml", json!("_method=DELETE")),
        Case {
            media: JSON,
            schema: combined_schema.clone(),
            body: json!({"method": "delete", "_method": " put"}),
            expected: Ok(&["PUT", "DELETE"]),
        },
        Case {
            media: JSON,
            schema: combined_schema,
            body: json!({"httpMethod": "PUT"}),
            expected: Err("httpMethod"),
        },
    ];
    for media in [FORM, MULTIPART, JSON] {
        for (name, value) in [
            ("method", json!("delete")),
            ("Method", json!(["x", " DELETE"])),
            ("httpMethod", json!("PATCH")),
            ("_method", json!("x")),
            ("X-HTTP-Method-Override", json!("DELETE")),
        ] {
            cases.push(refused(media, json!({"a": 1, (name): value}), name));
        }
        cases.push(sent(media, json!({"method": "visa", "payment_method": "DELETE"})));
        for name in ["method", "_method"] {
            let expected = Ok(&["DELETE"][..]);
            let body = json!({(name): "delete"});
            cases.push(Case { media, schema: declaring(name), body, expected });
        }
    }
    for Case { media, schema, body, expected } in cases {
        let action = json!({
            "requestBody": {
                "required": true, "contentTypes": [media], "schema": schema,
                "encoding": {"exploded": {"style": "form", "explode": true}},
            },
            "input": {"$defs": {"a": declaring("method"), "b": {"anyOf": [{"$ref": "#/$defs/b"}, declaring("_method")]}}},
        });
        let result = build_request(&action, &json!({"body": body}));
        let result = result.map(|built| built.overriding).map_err(|faults| faults[0].0.clone());
        let expected = expected
            .map(|methods| methods.iter().map(|method| (*method).to_owned()).collect::<Vec<_>>())
            .map_err(|name| format!("/body/{name}"));
        assert_eq!(result, expected, "{media} {body}");
    }
    let action = json!({"requestBody": {"required": true, "contentTypes": [JSON], "schema": declaring("method")}});
    let mut action_json = json!({"method": "POST", "path": "/x", "parameters": [], "input": {}});
    action_json["requestBody"] = action["requestBody"].clone();
    let action: Action = serde_json::from_value(action_json).unwrap();
    let input =
        serde_json::from_str(r#"{"body":{"n":1.0,"method":"delete","method":"x"}}"#).unwrap();
    let built = build(&action, &input, "limit").unwrap();
    assert_eq!(
        built.body, br#"{"method":"x","n":1.0}"#,
        "A member is sent once, as it was checked."
    );
}

#[test]
fn parameters_that_override_the_method_are_refused_unless_they_are_declared() {
    for (name, path, value, reserved, expected) in [
        ("method", "/x", json!("delete"), false, Ok(vec!["DELETE"])),
        ("method", "/x", json!("exact"), false, Ok(vec![])),
        ("o", "/x", json!({"method": "delete"}), false, Err("/query/method")),
        ("o", "/x", json!("1;method=delete"), true, Err("/query/method")),
        ("o", "/x", json!("1;method=delete"), false, Ok(vec![])),
        ("o", "/x?method=delete", json!("1"), false, Ok(vec!["DELETE"])),
    ] {
        let action = json!({"path": path, "parameters": [{
            "name": name, "in": "query", "required": false, "schema": {}, "style": "form", "explode": true,
            "contentType": null, "allowReserved": reserved,
        }]});
        let result = build_request(&action, &json!({"query": {name: value}}));
        let result = result.map(|built| built.overriding).map_err(|faults| faults[0].0.clone());
        let expected = expected.map(|all| all.into_iter().map(str::to_owned).collect());
        assert_eq!(result, expected.map_err(str::to_owned), "{name} {path} {value}");
    }
}

#[test]
fn a_file_gets_a_valid_name_and_type() {
    let file = json!({"anyOf": [{"type": "string", "format": "binary"}, {"type": "object"}]});
    let schema = json!({"properties": {"file": file, "files": {"type": "array", "items": file}}});
    let written = |encoding: Value, body: &str| {
        let action = json!({
            "method": "POST", "path": "/x", "parameters": [], "input": {},
            "requestBody": {
                "required": true, "contentTypes": ["multipart/form-data"], "schema": schema, "encoding": encoding,
            },
        });
        let action: Action = serde_json::from_value(action).unwrap();
        let body = serde_json::value::RawValue::from_string(body.to_owned()).unwrap();
        let built = build(&action, &Input { body: Some(&body), ..Input::default() }, "limit");
        built.map(|built| String::from_utf8(built.body).unwrap().replace("\r\n", "|"))
    };
    let encoding =
        |media: &str| json!({"file": {"style": "form", "explode": true, "contentType": media}});
    for (accepted, file, name, media) in [
        ("image/png", r#""aGk=""#, "file.png", "image/png"),
        ("image/png", r#"{"content":"aGk="}"#, "file.png", "image/png"),
        ("image/png", r#"{"content":"aGk=","filename":"a.gif"}"#, "a.gif", "image/png"),
        ("image/png", r#"{"content":"aGk=","contentType":"image/x-own"}"#, "file", "image/x-own"),
        (
            "image/png, image/jpeg",
            r#"{"content":"aGk=","filename":"a.JPG"}"#,
            "a.JPG",
            "image/jpeg",
        ),
        ("image/*", r#"{"content":"aGk=","filename":"a.webp"}"#, "a.webp", "image/webp"),
        ("image/*", r#"{"content":"aGk=","filename":"a.pdf"}"#, "a.pdf", "application/pdf"),
        ("image/*", r#""aGk=""#, "file", "application/octet-stream"),
        ("", r#"{"content":"aGk=","filename":"talk.mp3"}"#, "talk.mp3", "audio/mpeg"),
        (
            "",
            r#"{"content":"aGk=","filename":"ü \"q\".bin"}"#,
            "ü %22q%22.bin",
            "application/octet-stream",
        ),
        (
            "",
            r#"{"content":"aGk=","filename":"a\r\nX: y"}"#,
            "a%0D%0AX: y",
            "application/octet-stream",
        ),
    ] {
        let encoding = if accepted.is_empty() { json!({}) } else { encoding(accepted) };
        let expected = format!(
            "--limit|Content-Disposition: form-data; name=\"file\"; filename=\"{name}\"|Content-Type: {media}||hi|--limit--|"
        );
        let result = written(encoding, &format!(r#"{{"file":{file}}}"#));
        assert_eq!(result, Ok(expected), "{accepted} {file}");
    }
    let several = r#"{"files":[{"content":"aGk=","filename":"a.txt"},"aG8="]}"#;
    let expected = "--limit|Content-Disposition: form-data; name=\"files\"; filename=\"a.txt\"|Content-Type: text/plain||hi|--limit|Content-Disposition: form-data; name=\"files\"; filename=\"file\"|Content-Type: application/octet-stream||ho|--limit--|";
    assert_eq!(written(json!({}), several).as_deref(), Ok(expected));
    let with_header = json!({"file": {"style": "form", "explode": true, "headers": ["X-Kind"]}});
    let expected = "--limit|Content-Disposition: form-data; name=\"file\"; filename=\"file\"|Content-Type: application/octet-stream|X-Kind: 5||hi|--limit--|";
    let body = r#"{"file":{"content":"aGk=","headers":{"X-Kind":5}}}"#;
    assert_eq!(written(with_header.clone(), body).as_deref(), Ok(expected));
    for (file, message) in [
        (r#"{"content":"?"}"#, "`content` must be bytes in base64, with padding"),
        (
            r#"{"content":"","contentType":"png"}"#,
            "`contentType` must be a media type, such as `image/png`",
        ),
        (
            r#"{"content":"","contentType":"a/b\r\nX: y"}"#,
            "`contentType` must be a media type, such as `image/png`",
        ),
        (
            r#"{"content":"","headers":{"X-Kind":"a\nb"}}"#,
            "`headers` must not contain control characters: `X-Kind`",
        ),
    ] {
        let faults = written(with_header.clone(), &format!(r#"{{"file":{file}}}"#)).unwrap_err();
        let result: Vec<(&str, &str)> =
            faults.iter().map(|fault| (fault.pointer.as_str(), fault.message.as_str())).collect();
        assert_eq!(result, [("/body/file", message)], "{file}");
    }
}

#[test]
fn parts_and_members_have_the_media_type_of_the_document() {
    let written = |media: &str, encoding: Value, body: &str| {
        let action = json!({
            "method": "POST", "path": "/x", "parameters": [], "input": {},
            "requestBody": {"required": true, "contentTypes": [media], "schema": {}, "encoding": {"a": encoding}},
        });
        let action: Action = serde_json::from_value(action).unwrap();
        let body = serde_json::value::RawValue::from_string(body.to_owned()).unwrap();
        let built =
            build(&action, &Input { body: Some(&body), ..Input::default() }, "limit").unwrap();
        String::from_utf8(built.body).unwrap().replace("\r\n", "|")
    };
    let part = |media: &str, value: &str| {
        format!("--limit|Content-Disposition: form-data; name=\"a\"{media}||{value}|--limit--|")
    };
    let with_type = |media: &str| json!({"style": "form", "explode": true, "contentType": media});
    let multipart = "multipart/form-data";
    assert_eq!(
        written(multipart, with_type("text/csv"), r#"{"a":"x,y"}"#),
        part("|Content-Type: text/csv", "x,y")
    );
    assert_eq!(
        written(multipart, with_type("application/vnd.a+json"), r#"{"a":{"b":1}}"#),
        part("|Content-Type: application/vnd.a+json", r#"{"b":1}"#)
    );
    assert_eq!(
        written(multipart, with_type("application/xml"), r#"{"a":{"b":1}}"#),
        part("|Content-Type: application/json", r#"{"b":1}"#)
    );
    let form = "application/x-www-form-urlencoded";
    assert_eq!(written(form, with_type("application/json"), r#"{"a":[1,2]}"#), "a=%5B1%2C2%5D");
    let reserved = json!({"style": "form", "explode": true, "allowReserved": true});
    assert_eq!(written(form, reserved, r#"{"a":"x/y:z&é"}"#), "a=x/y:z%26%C3%A9");
}
