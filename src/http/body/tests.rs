use super::{BodyReader, Field, FieldCheck, MAX_FAULTS, MAX_MEMBERS, parse, pointer};

const KNOWN: [Field; 3] = [
    Field::optional("a", FieldCheck::TextOrNull(|_| None), ""),
    Field::optional("b", FieldCheck::TextOrNull(|_| None), ""),
    Field::optional(
        "texts",
        FieldCheck::Custom(|reader, field, value| {
            reader.check_texts(field, value, |_, _| None);
        }),
        "",
    ),
];

fn read(text: &str) -> BodyReader {
    BodyReader::from_value(parse(text.as_bytes()).unwrap(), &KNOWN).unwrap()
}

#[test]
fn distinguishes_null_from_a_string_and_a_missing_member() {
    let reader = read(r#"{"a":null}"#);
    assert!(reader.is_null("a") && !reader.is_null("b"));
    assert!(!read(r#"{"a":"x"}"#).is_null("a"));
    let reader = read(r#"{"a":"x","b":null}"#);
    assert!(!reader.is_null("a") && reader.is_null("b"));
}

#[test]
fn rejects_an_object_of_texts_with_too_many_or_duplicate_members() {
    let members = |count: usize| {
        let members: Vec<String> = (0..count).map(|index| format!("\"m{index}\":\"x\"")).collect();
        format!("{{\"texts\":{{{}}}}}", members.join(","))
    };
    assert_eq!(read(&members(MAX_MEMBERS)).finish(), Ok(()));
    let problem = read(&members(MAX_MEMBERS + 1)).finish().unwrap_err();
    assert!(problem.errors[0].detail.contains("has 51 members"));
    for (text, message) in [
        (r#"{"texts":{"m":"x","m":"y"}}"#, "`texts/m` is given more than once"),
        (r#"{"texts":{"m":1}}"#, "`texts/m` must be a string"),
        (r#"{"texts":[]}"#, "`texts` must be an object whose values are strings"),
    ] {
        let problem = read(text).finish().unwrap_err();
        assert_eq!((problem.errors.len(), problem.errors[0].detail.as_str()), (1, message));
    }
}

#[test]
fn a_problem_lists_a_limited_number_of_errors() {
    for (added, expected_faults) in [(0, 1), (MAX_FAULTS - 1, MAX_FAULTS), (MAX_FAULTS, MAX_FAULTS)]
    {
        let mut reader = read("{}");
        for _ in 0..added {
            reader.invalid(&["a"], "is wrong");
        }
        assert_eq!(reader.refuse(&["b"], "is wrong", None).errors.len(), expected_faults);
    }
}

#[test]
fn explains_why_a_body_is_not_json() {
    for (bytes, detail) in [
        (b"".as_slice(), "is empty"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b"{\"tags\":[\"\xff\"]}", "not UTF-8 from byte 10"),
        (b"{\n x", "line 2, column 2"),
    ] {
        assert!(parse(bytes).unwrap_err().contains(detail), "{detail}");
    }
}

#[test]
fn pointers_are_escaped() {
    assert_eq!(pointer(&["tags", "0"]), "/tags/0");
    assert_eq!(pointer(&["a/b~c"]), "/a~1b~0c");
    assert_eq!(pointer(&[""]), "/");
    assert_eq!(pointer(&[&"~".repeat(60_000)]), format!("/{}…", "~0".repeat(64)));
}
