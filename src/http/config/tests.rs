use super::{AllowedOrigins, Config, Variables};

#[test]
fn ignores_variables_that_are_not_strings() {
    let invalid_json = r#"{"ALLOWED_ORIGINS":"https://a.example","MAX_ROWS_READ":[7],"SEGMENT_CACHE_BYTES":7,"SESSION_SECRET":{"a":[1]},"VAULT":{}}"#;
    let variables: Variables = serde_json::from_str(invalid_json).unwrap();
    let expected = Variables {
        allowed_origins: "https://a.example".into(),
        segment_cache_bytes: "7".into(),
        ..Variables::default()
    };
    assert_eq!(variables, expected);
    assert!(Config::from(&variables).allows("https://a.example"));
}

#[test]
fn reads_variables() {
    let contacts = "security@a.example, https://a.example/report,mailto:b@a.example, nobody,a b@c, x@y\nEvil: 1,";
    let config = Config::from(&Variables {
        secret_headers: " X-Pica-Secret , x-service-secret,, x-key, two words, x-pica-secret, é"
            .into(),
        allowed_origins: "https://A.example/, http://localhost:5173".into(),
        segment_cache_bytes: "1024".into(),
        security_contact: contacts.into(),
        ..Variables::default()
    });
    assert_eq!(config.secret_headers, ["x-service-secret", "x-pica-secret", "x-key"]);
    assert_eq!(config.segment_bytes, 1024);
    for (origin, allowed) in [
        ("https://a.example", true),
        ("http://localhost:5173", true),
        ("https://a.example.evil", false),
        ("null", false),
        ("", false),
    ] {
        assert_eq!(config.allows(origin), allowed, "{origin}");
    }
    assert_eq!(
        config.security_contacts,
        ["mailto:security@a.example", "https://a.example/report", "mailto:b@a.example"]
    );
    assert_eq!(Config::default().allowed_origins, AllowedOrigins::Listed(Vec::new()));
    assert!(Config::default().security_contacts.is_empty());
    let any = Variables { allowed_origins: "https://a.example, *".into(), ..Variables::default() };
    assert!(Config::from(&any).allows("https://any.example"));
    let with_wrong_key = Variables { segment_cache_bytes: "lots".into(), ..Variables::default() };
    assert_eq!(Config::from(&with_wrong_key).segment_bytes, 32 << 20);
    for (text, rows) in [
        ("", 100_000),
        (" 5000 ", 5000),
        ("1", 1),
        ("0", 100_000),
        ("-1", 100_000),
        ("1000000001", 100_000),
        ("many", 100_000),
    ] {
        let variables = Variables { max_rows_read: text.into(), ..Variables::default() };
        assert_eq!(Config::from(&variables).max_rows_read, rows, "{text:?}");
    }
    for (text, bytes) in [
        ("", 10_000_000_000),
        ("500000000", 500_000_000),
        ("0", 10_000_000_000),
        ("10 GB", 10_000_000_000),
    ] {
        let variables = Variables { max_database_bytes: text.into(), ..Variables::default() };
        assert_eq!(Config::from(&variables).max_database_bytes, bytes, "{text:?}");
    }
}

#[test]
fn one_wrong_vault_key_disables_all() {
    let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let config =
        |keys: &str| Config::from(&Variables { vault_keys: keys.into(), ..Variables::default() });
    let read = config(&format!("new:{key},old:{key}"));
    assert_eq!(read.vault_keys.ids().collect::<Vec<_>>(), ["new", "old"]);
    assert!(read.faults.is_empty());
    assert!(Config::default().vault_keys.is_empty() && Config::default().faults.is_empty());
    let with_wrong_key = config(&format!("new:{key},old:{key}."));
    assert!(with_wrong_key.vault_keys.is_empty());
    assert_eq!(
        with_wrong_key.faults,
        ["VAULT_KEYS is ignored: entry 2 has a key that is not standard base64"]
    );
    assert!(!format!("{read:?} {with_wrong_key:?}").contains("AAECAw"));
}

#[test]
fn call_events_is_all_writes_or_none() {
    for (text, all, writes) in [
        ("", false, true),
        ("writes", false, true),
        (" all ", true, true),
        ("none", false, false),
        ("None", false, true),
    ] {
        let variables = Variables { call_events: text.into(), ..Variables::default() };
        let chosen = Config::from(&variables).call_events;
        assert_eq!((chosen.has("GET"), chosen.has("HEAD")), (all, all), "{text:?}");
        assert_eq!((chosen.has("POST"), chosen.has("DELETE")), (writes, writes), "{text:?}");
    }
}

#[test]
fn call_events_per_day_is_a_number_up_to_a_million() {
    for (text, expected) in
        [("", 20_000), ("3", 3), ("1000000", 1_000_000), ("0", 20_000), ("1000001", 20_000)]
    {
        let variables = Variables { call_events_per_day: text.into(), ..Variables::default() };
        assert_eq!(Config::from(&variables).call_events_per_day, expected, "{text:?}");
    }
}

#[test]
fn local_targets_requires_the_value_allow() {
    for (text, allowed) in
        [("", false), ("allow", true), (" allow\n", true), ("Allow", false), ("true", false)]
    {
        let variables = Variables { local_targets: text.into(), ..Variables::default() };
        assert_eq!(Config::from(&variables).local_targets, allowed, "{text:?}");
    }
}

#[test]
fn checks_app_variables() {
    type Read = fn(&Config) -> Option<&str>;
    let name: Read = |config| config.app_name.as_deref();
    let logo: Read = |config| config.app_logo_url.as_deref();
    let color: Read = |config| config.app_color.as_deref();
    let url: Read = |config| config.app_url.as_deref();
    let longest_name = "é".repeat(60);
    for (variable, text, read, expected) in [
        ("APP_NAME", " Acme ✨ ", name, Some("Acme ✨")),
        ("APP_NAME", &longest_name, name, Some(longest_name.as_str())),
        ("APP_NAME", &format!("{longest_name}a"), name, None),
        ("APP_NAME", "Ac\u{202e}me", name, None),
        ("APP_NAME", "Ac\nme", name, None),
        ("APP_LOGO_URL", "https://a.example/l.svg?v=1", logo, Some("https://a.example/l.svg?v=1")),
        ("APP_LOGO_URL", "/logo.svg", logo, Some("/logo.svg")),
        ("APP_LOGO_URL", "//evil.example/l.svg", logo, None),
        ("APP_LOGO_URL", "/\\evil.example/l.svg", logo, None),
        ("APP_LOGO_URL", "http://a.example/l.svg", logo, None),
        ("APP_LOGO_URL", "https://", logo, None),
        ("APP_LOGO_URL", "https:///a", logo, None),
        ("APP_LOGO_URL", "data:image/svg+xml,a", logo, None),
        ("APP_LOGO_URL", "https://a.example/\"a", logo, None),
        ("APP_LOGO_URL", "/a b.svg", logo, None),
        ("APP_LOGO_URL", "logo.svg", logo, None),
        ("APP_URL", "https://a.example/app", url, Some("https://a.example/app")),
        ("APP_URL", "http://localhost:3000", url, Some("http://localhost:3000")),
        ("APP_URL", "http://a.example/", url, None),
        ("APP_URL", "javascript:alert(1)", url, None),
        ("APP_URL", "https://u@a.example/", url, None),
        ("APP_COLOR", "#1A2b3C", color, Some("#1a2b3c")),
        ("APP_COLOR", "#abc", color, None),
        ("APP_COLOR", "1a2b3c", color, None),
        ("APP_COLOR", "#1a2b3g", color, None),
        ("APP_COLOR", "red;", color, None),
    ] {
        let variables = serde_json::json!({ variable: text });
        let config = Config::from(&serde_json::from_value::<Variables>(variables).unwrap());
        assert_eq!(read(&config), expected, "{variable} {text:?}");
        let is_reported = config.faults.iter().any(|fault| fault.starts_with(variable));
        assert_eq!(is_reported, expected.is_none(), "{variable} {text:?}: {:?}", config.faults);
    }
    for absent in ["", "  "] {
        let variables = Variables { app_name: absent.into(), ..Variables::default() };
        assert_eq!(Config::from(&variables), Config::default());
    }
}
