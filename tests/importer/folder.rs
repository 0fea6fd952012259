//! Tests of the catalog folder: reproducible content, interrupted and concurrent imports, `check`,
//! and published versions.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use connector_vault::catalog::format::stored::SegmentId;
use connector_vault::importer::check::{OpenCatalog, connectors};
use connector_vault::importer::folder::Folder;
use connector_vault::importer::{Import, ProgressObserver, import};

use connector_vault::operator::folder::Folder as Published;
use serde_json::Value;

use super::support::{FIXTURES, folder, run, stderr};

/// All files of a folder, with their content.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut contents = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            contents.extend(
                self::contents(&path).into_iter().map(|(name, bytes)| (path.join(name), bytes)),
            );
        } else if !["report.txt", "import.json"].iter().any(|name| path.ends_with(name)) {
            contents
                .insert(path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap());
        }
    }
    contents
        .into_iter()
        .map(|(path, bytes)| (path.strip_prefix(folder).unwrap_or(&path).to_owned(), bytes))
        .collect()
}

#[test]
#[rustfmt::skip] // one case per line
fn same_input_produces_the_same_folder() {
    let [one, two] = ["same-1", "same-2"].map(folder);
    let files = ["acme-3.0.json", "petstore-2.0.yaml", "hooks-3.1.yml", "bom.json"].map(|file| format!("{FIXTURES}/good/{file}"));
    let [a, b, c, d] = files.each_ref().map(String::as_str);
    for (out, files) in [(&one, [a, b, c, d]), (&two, [d, b, c, a])] {
        let output = run(&[&["import", "--config", "/dev/null", "--out", out.to_str().unwrap()][..], &files].concat());
        assert!(output.status.success(), "{}", stderr(&output));
    }
    assert_eq!(contents(&one), contents(&two));
    // An import of other documents removes the files of the previous import.
    for files in [vec![a], vec![a, b, c, d]] {
        let output = run(&[&["import", "--config", "/dev/null", "--out", one.to_str().unwrap()][..], &files].concat());
        assert!(output.status.success(), "{}", stderr(&output));
    }
    assert_eq!(contents(&one), contents(&two));
}

#[test]
fn import_repairs_an_interrupted_import() {
    let out = folder("mended");
    let import = |file: &str| {
        let output = run(&[
            "import",
            "--config",
            "/dev/null",
            "--out",
            out.to_str().unwrap(),
            &format!("{FIXTURES}/good/{file}"),
        ]);
        assert!(output.status.success(), "{}", stderr(&output));
    };
    import("acme-3.0.json");
    let whole = contents(&out);
    for name in whole.keys().filter(|name| name.starts_with("segments")) {
        fs::write(out.join(name), "cut off").unwrap();
        fs::write(out.join(format!("{}.part", name.display())), "cut off").unwrap();
    }
    fs::write(out.join("segments").join("0".repeat(32)), "of an import that did not finish")
        .unwrap();
    fs::write(out.join("current.json.part"), "{").unwrap();
    import("acme-3.0.json");
    assert_eq!(contents(&out), whole);
}

/// Counts the files that are read.
struct FileCount(AtomicUsize);

impl ProgressObserver for FileCount {
    fn files_found(&self, _: usize, _: u64) {}
    fn file_read(&self, _: u64) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn concurrent_imports_are_exclusive() {
    let out = folder("locked");
    let lock = fs::File::create(out.join(".lock")).unwrap();
    lock.try_lock().unwrap();
    let watch = FileCount(AtomicUsize::new(0));
    let job = Import { sources: vec![format!("{FIXTURES}/good").into()], ..Import::default() };
    let fault = import(&job, &Folder(out.clone()), &watch).unwrap_err().to_string();
    assert_eq!(fault, format!("another import is writing to {}", out.display()));
    assert_eq!(
        watch.0.load(Ordering::Relaxed),
        0,
        "the second import stopped before it read anything"
    );
    drop(lock);
    import(&job, &Folder(out), &watch).unwrap();
    assert_eq!(watch.0.load(Ordering::Relaxed), 7);
}

#[test]
fn import_of_missing_sources_writes_nothing() {
    let out = folder("nothing").join("catalog");
    let output = run(&["import", "no/such/folder", "--out", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!out.exists());
}

#[test]
#[rustfmt::skip] // one case per line
fn check_reports_each_fault() {
    let out = folder("check");
    let folder = out.to_str().unwrap();
    let acme = &format!("{FIXTURES}/good/acme-3.0.json");
    let import = || {
        let _ = fs::remove_dir_all(&out);
        assert!(run(&["import", "--config", "/dev/null", "--out", folder, acme]).status.success());
        let ids = ["segments", "versions"].map(|part| {
            let mut files: Vec<PathBuf> = fs::read_dir(out.join(part)).unwrap().map(|entry| entry.unwrap().path()).collect();
            files.sort_by_key(|file| fs::metadata(file).unwrap().len());
            files
        });
        ids.concat()
    };
    // The segments, from smallest to largest: the search index, the names, the connectors, the
    // details of actions, and the pack. Then the manifest and the record.
    let files = import();
    let [.., version, record] = files.as_slice() else { panic!("{files:?}") };
    let segments = &files[..files.len() - 2];
    let output = run(&["check", folder]);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("1 connector, 8 actions in {folder}: no faults\n"));
    assert_eq!(output.status.code(), Some(0));
    let flip = |path: &Path| {
        let mut bytes = fs::read(path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(path, bytes).unwrap();
    };
    for segment in segments {
        for (damage, fault) in [
            (&(|| fs::remove_file(segment).unwrap()) as &dyn Fn(), "No such file"),
            (&|| flip(segment), "its content does not match its name"),
        ] {
            import();
            damage();
            let output = run(&["check", folder]);
            assert_eq!(output.status.code(), Some(1), "{fault}");
            assert!(stderr(&output).contains(fault), "{fault}: {}", stderr(&output));
        }
    }
    for (damage, fault) in [
        (Box::new(|| fs::remove_file(out.join("current.json")).unwrap()) as Box<dyn Fn()>, "make one with `npm run catalog -- import FILE|DIR`"),
        (Box::new(|| fs::write(out.join("current.json"), "{").unwrap()), "current.json: EOF"),
        (Box::new(|| fs::write(out.join("current.json"), "{\"format\": 9, \"connectors\": \"00000000000000000000000000000000\"}").unwrap()), "so that `npm start` makes the sample catalog:\n  rm -rf '"),
        (Box::new(|| flip(record)), "its content does not match its name"),
        (Box::new(|| fs::remove_file(record).unwrap()), "No such file"),
        (Box::new(|| fs::remove_file(version).unwrap()), "No such file"),
        (Box::new(|| fs::write(version, fs::read_to_string(version).unwrap().replace("\"actionRows\": 8", "\"actionRows\": 9")).unwrap()), "not the manifest"),
    ] {
        import();
        damage();
        let output = run(&["check", folder]);
        assert_eq!(output.status.code(), Some(1), "{fault}");
        assert!(stderr(&output).contains(fault), "{fault}: {}", stderr(&output));
    }
}

#[test]
fn subset_of_a_folder_becomes_its_own_version() {
    let out = folder("part");
    let output = run(&[
        "import",
        &format!("{FIXTURES}/good"),
        "--licence",
        "any",
        "--config",
        "/dev/null",
        "--out",
        out.to_str().unwrap(),
    ]);
    assert!(output.status.success(), "{}", stderr(&output));
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let all = connectors(&Folder(out.clone())).unwrap();
    let all: Vec<String> = all.into_iter().map(|entry| entry.connector.platform).collect();
    assert!(all.len() > 2, "{all:?}");
    let whole = Published::open(&out).unwrap();
    let same = Published::open_with_platforms(&out, &all).unwrap();
    assert_eq!((same.manifest, same.current), (whole.manifest.clone(), whole.current));
    let part = Published::open_with_platforms(&out, &names(&["Petstore-Swagger"])).unwrap();
    assert_eq!(part.manifest.connector_rows, 1);
    assert!(part.manifest.action_rows < whole.manifest.action_rows);
    assert_ne!(part.manifest.version, whole.manifest.version);
    for id in part.segments() {
        assert_eq!(SegmentId::from_content(&part.read(id).unwrap()), id);
    }
    let unknown =
        Published::open_with_platforms(&out, &names(&["petstore-swagger", "petstore-swager"]))
            .unwrap_err();
    assert!(
        unknown
            .to_string()
            .starts_with("no platform `petstore-swager`; did you mean petstore-swagger?")
    );
}

#[test]
fn a_second_folder_adds_its_platforms_to_the_published_version() {
    let import = |name: &str, source: &str| {
        let out = folder(name);
        let source = format!("{FIXTURES}/good{source}");
        let path = out.to_str().unwrap();
        let output =
            run(&["import", &source, "--licence", "any", "--config", "/dev/null", "--out", path]);
        assert!(output.status.success(), "{}", stderr(&output));
        out
    };
    let (all, one) = (import("with-all", ""), import("with-one", "/petstore-2.0.yaml"));
    let whole = Published::open(&all).unwrap();
    let names = connectors(&Folder(all.clone())).unwrap().into_iter();
    let names: Vec<String> = names.map(|entry| entry.connector.platform).collect();
    let added = connectors(&Folder(one.clone())).unwrap().remove(0).connector.platform;
    // The first folder takes precedence.
    let same = Published::open_merged(&all, &one).unwrap();
    assert_eq!((same.manifest, same.current), (whole.manifest.clone(), whole.current.clone()));
    // An incomplete folder and the folder with the missing platforms result in the same version as
    // the complete folder.
    let rest: Vec<String> = names.into_iter().filter(|name| *name != added).collect();
    let files = Folder(folder("with-rest"));
    drop(files.lock().unwrap());
    let platforms = OpenCatalog::new(&Folder(all)).unwrap().platforms(&rest).unwrap();
    files.write(&platforms).unwrap();
    let completed = Published::open_merged(&files.0, &one).unwrap();
    assert_ne!(Published::open(&files.0).unwrap().current, whole.current);
    assert_eq!((&completed.manifest, &completed.current), (&whole.manifest, &whole.current));
    for id in completed.segments() {
        assert_eq!(SegmentId::from_content(&completed.read(id).unwrap()), id);
    }
    fs::remove_file(one.join("current.json")).unwrap();
    assert!(Published::open_merged(&files.0, &one).is_err());
}

#[test]
fn an_export_has_a_line_for_each_connector_and_each_action() {
    let out = folder("export");
    let catalog = out.to_str().unwrap();
    let good = format!("{FIXTURES}/good");
    let output =
        run(&["import", &good, "--licence", "any", "--config", "/dev/null", "--out", catalog]);
    assert!(output.status.success(), "{}", stderr(&output));
    let export = |more: &[&str]| {
        let output = run(&[&["export", "--catalog", catalog], more].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let count_lines =
        |lines: &[Value], kind: &str| lines.iter().filter(|line| line[kind].is_object()).count();
    let all = export(&[]);
    let tools = |line: &Value| line["connector"]["tools"].as_u64().unwrap_or_default();
    assert_eq!(all.iter().map(tools).sum::<u64>(), count_lines(&all, "action") as u64);
    let petstore = export(&["Petstore-Swagger"]);
    assert_eq!(count_lines(&petstore, "connector"), 1);
    assert!(petstore.iter().skip(1).all(|line| line["action"]["platform"] == "petstore-swagger"));
    assert!(petstore[1]["action"]["input"]["properties"].is_object(), "{petstore:?}");
    assert!(petstore[0]["connector"]["authMethods"].is_array());
    let sample = export(&["--sample", "1", "--seed", "a"]);
    assert_eq!(count_lines(&sample, "connector"), count_lines(&all, "connector"));
    assert!(count_lines(&sample, "action") <= count_lines(&sample, "connector"));
    assert_eq!(sample, export(&["--sample", "1", "--seed", "a"]));
    let output = run(&["export", "--catalog", catalog, "petstore-swager"]);
    assert!(stderr(&output).contains("did you mean petstore-swagger?"), "{}", stderr(&output));
}
