//! Tests of the output and the exit codes of the command line.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::support::{FIXTURES, folder, run, stderr};

#[test]
#[rustfmt::skip] // one case per line
fn import_reports_its_outcome() {
    let out = folder("cli");
    let out = out.to_str().unwrap();
    let config = folder("cli-config").join("c.toml");
    fs::write(&config, "[platforms.acme-stor]\nactive = false\n").unwrap();
    let config = config.to_str().unwrap();
    let good = "tests/fixtures/openapi/good";
    let acme = "tests/fixtures/openapi/good/acme-3.0.json";
    for (arguments, code, message) in [
        (vec!["import", good, "--config", "/dev/null"], 0, "skipped 3 of 7 files: 2 licence not open, 1 equivalent to another document"),
        (vec!["import", FIXTURES, "--config", "/dev/null"], 0, "broken/trailing-comma.json:3:47: trailing comma\nerror: … and 5 more, all in "),
        (vec!["import", FIXTURES, "--config", "/dev/null", "--verbose"], 0, "broken/truncated.json:4:29: EOF while parsing an object"),
        (vec!["import", "tests/fixtures/openapi/broken", "--config", "/dev/null"], 1, "nothing was imported; the catalog stays as it was"),
        (vec!["import", "tests/fixtures/openapi/good/closed.json", "--config", "/dev/null"], 1, "1 document skipped because of the licence: import one with `--also FILE`, all with `--licence any`"),
        (vec!["import", "no/such/folder"], 1, "error: cannot read no/such/folder: No such file or directory"),
        (vec!["import", "schema"], 1, "error: no .json, .yaml or .yml file in schema"),
        (vec!["import", acme, "--config", "no.toml"], 1, "error: cannot read no.toml"),
        (vec!["import", acme, "--config", config], 1, "c.toml:1:12: no document is about the platform `acme-stor`; did you mean `acme-store`?"),
        (vec!["import", acme], 0, "optional entries of catalog.toml ignored"),
        (vec!["import"], 2, "<FILE|DIR>..."),
        (vec!["import", acme, "--licence", "some"], 2, "[possible values: open, any]"),
    ] {
        let mut all = arguments.clone();
        if arguments.len() > 1 {
            all.extend(["--out", out]);
        }
        let output = run(&all);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(message), "{arguments:?}: {}", stderr(&output));
    }
    let report = fs::read_to_string(Path::new(out).join("report.txt")).unwrap();
    assert!(report.starts_with("1 connector and 8 actions from 1 file\n"), "{report}");
}

#[test]
fn lists_the_names_of_a_few_platforms() {
    let folder = folder("names");
    let document = |title: &str| {
        format!(
            "openapi: 3.0.0\ninfo: {{title: {title}, version: 1}}\npaths: {{/a: {{get: {{}}}}}}\n"
        )
    };
    let [out, file] = ["out", "my-api.yaml"].map(|name| folder.join(name));
    let (out, file) = (out.to_str().unwrap(), file.to_str().unwrap());
    let import = |source: &str| {
        let output =
            run(&["import", source, "--licence", "any", "--config", "/dev/null", "--out", out]);
        String::from_utf8(output.stdout).unwrap()
    };
    fs::write(file, document("My API")).unwrap();
    assert_eq!(
        import(file),
        format!(
            "1 connector, 1 action in {out}\n  my  1 action\n\
             look at one: npm run catalog -- show my --catalog {out}\n"
        )
    );
    for (platforms, lines) in [(20, 22), (21, 1)] {
        let many = folder.join("many");
        fs::create_dir_all(&many).unwrap();
        for at in 0..platforms {
            fs::write(many.join(format!("{at}.yaml")), document(&format!("Number {at}"))).unwrap();
        }
        let printed = import(many.to_str().unwrap());
        assert_eq!(printed.lines().count(), lines, "{printed}");
    }
}

#[test]
#[rustfmt::skip] // one case per line
fn show_prints_a_platform() {
    let out = folder("show");
    let out = out.to_str().unwrap();
    assert!(run(&["import", "--config", "/dev/null", "--out", out, &format!("{FIXTURES}/good")]).status.success());
    for (name, code, expected) in [
        ("acme-store", 0, "key          api::acme-store::v2\n"),
        ("ACME-Store", 0, "actions      8: 3 GET, 2 POST, 1 PUT, 1 PATCH, 1 DELETE\n"),
        ("acme-store", 0, "  GET    List orders  [ordersListAll2]\n"),
        ("acme-stor", 1, "no platform `acme-stor`; did you mean acme-store"),
        ("github", 1, "error: there is no catalog in no/such/catalog: make one with `npm run catalog -- import FILE|DIR`\n"),
    ] {
        let output = run(&["show", name, "--catalog", if name == "github" { "no/such/catalog" } else { out }]);
        let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), stderr(&output));
        assert_eq!(output.status.code(), Some(code), "{printed}");
        assert!(printed.contains(expected), "{printed}");
    }
}

#[test]
fn show_prints_an_action() {
    let out = folder("show-action");
    let out = out.to_str().unwrap();
    let imported =
        run(&["import", "--config", "/dev/null", "--out", out, &format!("{FIXTURES}/good")]);
    assert!(imported.status.success());
    let output = run(&["show", "Acme-Store", "ordersListAll2", "--catalog", out]);
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&printed["title"], &printed["method"]), (&json!("List orders"), &json!("GET")));
    assert_eq!(printed["input"]["type"], "object");
    assert!(printed["responses"].is_array());
    let output = run(&["show", "acme-store", "orders", "--catalog", out]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("acme-store has no action `orders`"), "{}", stderr(&output));
}

#[test]
fn diff_reports_what_a_publish_would_change() {
    let folder = folder("diff");
    let document = |name: &str, title: &str, version: &str, paths: &str| {
        let text = format!(
            "openapi: 3.0.0\ninfo: {{title: {title}, version: '{version}'}}\npaths: {{{paths}}}\n"
        );
        fs::write(folder.join(name), text).unwrap();
    };
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let import = |out: &str, documents: &[&str]| {
        let mut args = vec!["import", "--config", "/dev/null", "--licence", "any", "--out"];
        let paths: Vec<String> =
            std::iter::once(&out).chain(documents).map(|name| path(name)).collect();
        args.extend(paths.iter().map(String::as_str));
        let output = run(&args);
        assert!(output.status.success(), "{}", stderr(&output));
    };
    document(
        "a.yaml",
        "Acme",
        "1.1.0",
        "/a: {get: {operationId: one}}, /b: {get: {operationId: two}}",
    );
    document("b.yaml", "Gone", "1", "");
    import("old", &["a.yaml", "b.yaml"]);
    document(
        "a.yaml",
        "Acme",
        "1.2.0",
        "/a: {get: {operationId: one, parameters: [{name: q, in: query, schema: {type: string}}]}}, /c: {get: {operationId: three}}",
    );
    document("c.yaml", "Come", "1", "/a: {get: {}}");
    import("new", &["a.yaml", "c.yaml"]);
    let diff = |old: &str, new: &str| {
        let output = run(&["diff", &path(old), &path(new)]);
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(diff("old", "old"), "The catalogs are the same.\n");
    let expected = "~ acme: version 1.1.0 → 1.2.0; inputs or responses of actions; 1 action added (three); 1 action removed (two)
+ come: 1 action
- gone
1 platform added, 1 removed, 1 changed.
";
    assert_eq!(diff("old", "new"), expected);
    let output = run(&["diff", &path("none"), &path("new")]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("there is no catalog in"), "{}", stderr(&output));
}

#[test]
#[rustfmt::skip] // one case per line
fn resolves_relative_paths_against_the_callers_folder() {
    let folder = folder("called");
    let [here, there] = ["here", "there"].map(|name| folder.join(name));
    for folder in [&here, &there] {
        fs::create_dir_all(folder).unwrap();
    }
    fs::copy(format!("{FIXTURES}/good/acme-3.0.json"), there.join("acme.json")).unwrap();
    fs::write(there.join("my.toml"), "[platforms.acme-store]\nrename = 'renamed'\n").unwrap();
    fs::write(here.join("catalog.toml"), "[platforms.acme-store]\nrename = 'shipped'\n").unwrap();
    let absolute = there.join("acme.json");
    for (event, called, arguments, name) in [
        ("catalog", &there, vec!["acme.json", "--config", "my.toml"], "renamed"),
        ("catalog", &there, vec!["acme.json"], "shipped"),
        ("catalog", &there, vec!["."], "shipped"),
        ("catalog", &folder, vec!["there/acme.json"], "shipped"),
        ("catalog", &here, vec!["../there/acme.json"], "shipped"),
        ("catalog", &folder, vec![absolute.to_str().unwrap()], "shipped"),
        // In other npm scripts, paths are relative to the current folder.
        ("test", &folder, vec!["../there/acme.json"], "shipped"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_connector-vault"))
            .args(["catalog", "import"])
            .args(&arguments)
            .current_dir(&here)
            .env("npm_lifecycle_event", event)
            .env("INIT_CWD", called)
            .output()
            .unwrap();
        let printed = format!("{}{}", String::from_utf8_lossy(&output.stdout), stderr(&output));
        assert!(printed.contains(&format!("  {name}  8 actions\nlook at one: npm run catalog -- show {name}\n")), "{arguments:?}: {printed}");
        assert!(here.join(".catalog/current.json").exists() && !there.join(".catalog").exists());
    }
}

/// Writes a document of a platform with one action. Returns its path.
fn write_document(folder: &Path, name: &str) -> String {
    let path = folder.join(format!("{name}.yaml"));
    let text = format!(
        "openapi: 3.1.0\ninfo: {{title: {name}, version: '1'}}\nservers: [{{url: 'https://{name}.example'}}]\n\
         paths: {{/list: {{get: {{operationId: list, summary: List, responses: {{'200': {{description: Done.}}}}}}}}}}\n"
    );
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn entries_for_platforms_of_the_catalog_do_not_block_an_addition() {
    let folder = folder("add-with-config");
    let (out, config) = (folder.join("out"), folder.join("catalog.toml"));
    let (out, config_path) = (out.to_str().unwrap(), config.to_str().unwrap());
    let [first, second, third] = ["first", "second", "third"].map(|it| write_document(&folder, it));
    fs::write(&config, "[platforms.first]\nrename = 'primary'\n").unwrap();
    let import = ["import", &first, "--licence", "any", "--config", config_path];
    let imported = run(&[&import[..], &["--out", out]].concat());
    assert!(imported.status.success(), "{}", stderr(&imported));
    let added = run(&["add", &second, "--catalog", out]);
    assert!(added.status.success(), "{}", stderr(&added));
    fs::write(&config, "[platforms.first]\nrename = 'primary'\n[platforms.second]\nname = 'Two'\n")
        .unwrap();
    let added = run(&["add", &third, "--catalog", out]);
    assert!(added.status.success(), "{}", stderr(&added));
    let found = String::from_utf8(run(&["find", "--catalog", out]).stdout).unwrap();
    for expected in
        ["primary       1 action", "second        1 action  Two\n", "third         1 action"]
    {
        assert!(found.contains(expected), "{found}");
    }
    fs::write(&config, "[platforms.zzzzzzzz]\nname = 'Z'\n").unwrap();
    let error = stderr(&run(&["add", &first, "--replace", "--catalog", out]));
    assert!(
        error.contains("no document is about the platform `zzzzzzzz`\n"),
        "no empty suggestion: {error}"
    );
}

#[test]
fn a_named_document_without_an_open_licence_is_reported() {
    let folder = folder("named-closed");
    let out = folder.join("out");
    let open = folder.join("open.yaml");
    let named = write_document(&folder, "named");
    let licence = "title: Open, version: '1', license: {name: MIT}";
    let text = fs::read_to_string(&named).unwrap().replace("title: named, version: '1'", licence);
    fs::write(&open, text.replace("named.example", "open.example")).unwrap();
    let args = ["import", &named, open.to_str().unwrap(), "--config", "/dev/null"];
    let output = run(&[&args[..], &["--out", out.to_str().unwrap()]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let expected = format!(
        "not imported: {named}: states no licence: import it with `--also FILE` or `--licence any`"
    );
    assert!(stderr(&output).contains(&expected), "{}", stderr(&output));
}

#[test]
fn urls_are_rejected_with_advice() {
    for command in ["add", "import"] {
        let output = run(&[command, "https://api.example/openapi.yaml"]);
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        let error = stderr(&output);
        assert!(error.contains("curl -fLO https://api.example/openapi.yaml"), "{error}");
    }
}

#[test]
fn without_a_catalog_the_message_names_start() {
    let folder = folder("no-catalog");
    let output = Command::new(env!("CARGO_BIN_EXE_connector-vault"))
        .args(["catalog", "find", "slack"])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("there is no catalog in .catalog yet: `npm start`"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn a_reader_that_stops_early_causes_no_message() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_connector-vault"));
    command.arg("openapi").stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(141), ""));
}
