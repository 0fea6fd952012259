use std::cell::Cell;

use base64ct::{Base64Unpadded, Encoding as _};
use serde::Deserialize;

use super::keys::{Fault, VaultKeys, VaultKeysError};
use super::model::{Credentials, OAuthTokens};
use super::seal::{Kind, MAX_PLAINTEXT_BYTES, OpenError, SealContext, SealError, Sealed};
use crate::ports::Random;
use crate::terms::Environment;

/// Ciphertexts that `WebCrypto` must seal and open identically: see
/// `scripts/test/sealing.test.mjs`.
const SHARED_CASES: &str = include_str!("../../tests/fixtures/sealed.json");
const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const OTHER: &str = "ICECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const CONTEXT: SealContext<'_> = SealContext {
    account: "acme",
    environment: Environment::Live,
    kind: Kind::Connection,
    id: "7a8e0d5c",
};
const SECRET: &[u8] = br#"{"token":"t0p"}"#;

#[derive(Deserialize)]
struct SharedCases {
    keys: String,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    key: String,
    #[serde(rename = "place")]
    context: CaseContext,
    nonce: String,
    plain: String,
    sealed: Sealed,
}

#[derive(Deserialize)]
struct CaseContext {
    account: String,
    environment: Environment,
    kind: String,
    id: String,
}

/// A random source that returns these bytes.
struct Nonce(Vec<u8>);

impl Random for Nonce {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0);
    }
}

/// A random source that returns different bytes each time.
#[derive(Default)]
struct Counter(Cell<u8>);

impl Random for Counter {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(self.0.replace(self.0.get().wrapping_add(1)));
    }
}

fn keys(text: &str) -> VaultKeys {
    VaultKeys::parse(text).unwrap()
}

fn seal(keys: &VaultKeys) -> Sealed {
    keys.seal(&CONTEXT, SECRET, &Counter::default()).unwrap()
}

#[test]
fn webcrypto_produces_the_same_ciphertext() {
    let shared: SharedCases = serde_json::from_str(SHARED_CASES).unwrap();
    for Case { name, key, context, nonce, plain, sealed } in shared.cases {
        let context = SealContext {
            account: &context.account,
            environment: context.environment,
            kind: Kind::ALL.into_iter().find(|kind| kind.as_str() == context.kind).unwrap(),
            id: &context.id,
        };
        let opened = keys(&shared.keys).open(&context, &sealed).unwrap();
        assert_eq!(*opened, plain.as_bytes(), "{name}");
        let entry = shared.keys.split(',').find(|entry| entry.starts_with(&key)).unwrap();
        let random = Nonce(Base64Unpadded::decode_vec(&nonce).unwrap());
        let again = keys(entry).seal(&context, plain.as_bytes(), &random).unwrap();
        assert_eq!(again.as_str(), sealed.as_str(), "{name}");
        assert_eq!(again.key_id(), key, "{name}");
    }
}

#[test]
fn a_ciphertext_opens_in_its_context() {
    let keys = keys(&format!("b:{OTHER},a:{KEY}"));
    let random = Counter::default();
    for (index, length) in [0, 1, 15, 16, 17, 4096, MAX_PLAINTEXT_BYTES].into_iter().enumerate() {
        let context = SealContext { kind: Kind::ALL[index % Kind::ALL.len()], ..CONTEXT };
        let plain = vec![7; length];
        let sealed = keys.seal(&context, &plain, &random).unwrap();
        assert_eq!(sealed.key_id(), "b");
        assert!(*keys.open(&context, &sealed).unwrap() == plain, "{length} bytes, {context:?}");
    }
    assert_ne!(keys.seal(&CONTEXT, SECRET, &random), keys.seal(&CONTEXT, SECRET, &random));
}

#[test]
fn rejects_plaintext_over_the_limit() {
    let plain = vec![7; MAX_PLAINTEXT_BYTES + 1];
    let error = keys(&format!("a:{KEY}")).seal(&CONTEXT, &plain, &Counter::default());
    assert_eq!(error, Err(SealError::TooLong));
    assert_eq!(SealError::TooLong.to_string(), "this is too long to be sealed");
    assert_eq!(SealError::NoKey.to_string(), "VAULT_KEYS has no key to seal with");
}

#[test]
fn rejects_every_flipped_bit() {
    let keys = keys(&format!("a:{KEY}"));
    let sealed = seal(&keys);
    for index in 0..sealed.as_str().len() {
        for bit in 0..7 {
            let mut bytes = sealed.as_str().as_bytes().to_vec();
            bytes[index] ^= 1 << bit;
            let altered_ciphertext = Sealed::from(String::from_utf8(bytes).unwrap());
            let error = keys.open(&CONTEXT, &altered_ciphertext).unwrap_err();
            let expected = match altered_ciphertext.key_id() {
                id if index == 0 && id.bytes().all(|byte| byte.is_ascii_lowercase()) => {
                    OpenError::UnknownKey(id.to_owned())
                }
                _ => OpenError::Damaged,
            };
            assert_eq!(
                error,
                expected,
                "bit {bit} of character {index}: {}",
                altered_ciphertext.as_str()
            );
        }
    }
}

#[test]
fn rejects_malformed_ciphertext() {
    let keys = keys(&format!("a:{KEY}"));
    let sealed = seal(&keys);
    let text = sealed.as_str();
    let shorter = text.char_indices().map(|(end, _)| text.split_at(end).0.to_owned());
    let longer = ["A", "AAAA", "=", ".", " ", "\n", "é"].map(|more| format!("{text}{more}"));
    let malformed_ciphertexts =
        ["a.", "a", "", ".", "é.", "a..", "a.é", "A.AAAA", "a b.AAAA"].map(str::to_owned);
    for altered_ciphertext in shorter.chain(longer).chain(malformed_ciphertexts) {
        let error = keys.open(&CONTEXT, &Sealed::from(altered_ciphertext.clone()));
        assert_eq!(error.unwrap_err(), OpenError::Damaged, "{altered_ciphertext:?}");
    }
}

#[test]
fn rejects_ciphertext_of_another_context() {
    let keys = keys(&format!("a:{KEY}"));
    let sealed = seal(&keys);
    let mut contexts = vec![
        SealContext { account: "acm", ..CONTEXT },
        SealContext { account: "", ..CONTEXT },
        SealContext { environment: Environment::Test, ..CONTEXT },
        SealContext { id: "7a8e0d5d", ..CONTEXT },
        // The same bytes in total, split differently.
        SealContext { account: "acmel", id: "a8e0d5c7", ..CONTEXT },
        SealContext { id: "connection7a8e0d5c", ..CONTEXT },
    ];
    contexts.extend(Kind::ALL.into_iter().skip(1).map(|kind| SealContext { kind, ..CONTEXT }));
    for context in contexts {
        assert_eq!(keys.open(&context, &sealed), Err(OpenError::Damaged), "{context:?}");
    }
}

#[test]
fn each_key_opens_only_what_it_sealed() {
    let [old, new] = [format!("old:{KEY}"), format!("new:{OTHER}")];
    let sealed = seal(&keys(&old));
    let rotated = keys(&format!("{new},{old}"));
    assert_eq!(*rotated.open(&CONTEXT, &sealed).unwrap(), SECRET);
    assert_eq!(seal(&rotated).key_id(), "new");
    assert_eq!(keys(&new).open(&CONTEXT, &sealed), Err(OpenError::UnknownKey("old".to_owned())));
    // Another key has the same id, or the ciphertext names the other of two equal keys.
    let keys_with_replaced_key = keys(&format!("old:{OTHER}"));
    assert_eq!(keys_with_replaced_key.open(&CONTEXT, &sealed), Err(OpenError::Damaged));
    let same = keys(&format!("old:{KEY},new:{KEY}"));
    let renamed = Sealed::from(sealed.as_str().replace("old.", "new."));
    assert_eq!(same.open(&CONTEXT, &renamed), Err(OpenError::Damaged));
}

#[test]
fn sealing_requires_a_key() {
    let no_keys = VaultKeys::default();
    assert!(no_keys.is_empty());
    assert_eq!((no_keys.first(), no_keys.ids().count()), (None, 0));
    assert_eq!(no_keys.seal(&CONTEXT, SECRET, &Counter::default()), Err(SealError::NoKey));
    let sealed = seal(&keys(&format!("a:{KEY}")));
    assert_eq!(no_keys.open(&CONTEXT, &sealed), Err(OpenError::UnknownKey("a".to_owned())));
}

#[test]
fn parses_vault_keys() {
    let longest = "a".repeat(32);
    let unpadded = KEY.trim_end_matches('=');
    for (text, ids) in [
        ("", vec![]),
        (" \n", vec![]),
        (&format!("local-1:{KEY}"), vec!["local-1"]),
        (&format!("local-1:{unpadded}"), vec!["local-1"]),
        (&format!(" b:{OTHER} ,\na:{KEY}\n"), vec!["b", "a"]),
        (&format!("{longest}:{KEY}"), vec![&longest]),
    ] {
        let keys = keys(text);
        assert_eq!(keys.ids().collect::<Vec<_>>(), ids, "{text:?}");
        assert_eq!(keys.first(), ids.first().copied(), "{text:?}");
        assert_eq!(keys.is_empty(), ids.is_empty(), "{text:?}");
    }
}

#[test]
fn rejects_invalid_vault_keys() {
    let long = "a".repeat(33);
    for (text, entry, fault) in [
        ("nonsense", 1, Fault::NoColon),
        (KEY, 1, Fault::NoColon),
        (&format!("a:{KEY},"), 2, Fault::NoColon),
        (&format!("a:{KEY},,b:{OTHER}"), 2, Fault::NoColon),
        (&format!(":{KEY}"), 1, Fault::Id),
        (&format!("A:{KEY}"), 1, Fault::Id),
        (&format!("a.b:{KEY}"), 1, Fault::Id),
        (&format!("a b:{KEY}"), 1, Fault::Id),
        (&format!("é:{KEY}"), 1, Fault::Id),
        (&format!("{long}:{KEY}"), 1, Fault::Id),
        (&format!("a:{KEY},b:{OTHER},a:{OTHER}"), 3, Fault::DuplicateId),
        (&format!("a:={KEY}"), 1, Fault::Base64),
        (&format!("a: {KEY}"), 1, Fault::Base64),
        (&format!("a:b:{KEY}"), 1, Fault::Base64),
        ("a:____________________________________________", 1, Fault::Base64),
        // The last character has bits that belong to no byte.
        ("a:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9", 1, Fault::Base64),
        ("a:", 1, Fault::Length),
        ("a:AAECAwQFBgcICQoLDA0ODw==", 1, Fault::Length),
        (&format!("a:AAAA{KEY}"), 1, Fault::Length),
    ] {
        assert_eq!(VaultKeys::parse(text), Err(VaultKeysError { entry, fault }), "{text:?}");
    }
}

#[test]
fn debug_and_errors_show_no_key() {
    let two_keys = keys(&format!("b:{OTHER},a:{KEY}"));
    assert_eq!(
        (two_keys.to_string().as_str(), format!("{two_keys:?}").as_str()),
        ("b, a", "VaultKeys(b, a)")
    );
    assert_eq!(format!("{:?}", seal(&two_keys)), "Sealed(…)");
    let error = VaultKeys::parse(&format!("a:{KEY},secret:{KEY}AAAA")).unwrap_err();
    assert_eq!(error.to_string(), "entry 2 has a key that is not standard base64");
}

#[test]
fn debug_shows_no_credentials() {
    let tokens = r#"{"access":"at","kind":"Bearer","refresh":"rt"}"#;
    let credentials = format!(r#"{{"type":"oauth2","fields":{{"a":"b"}},"tokens":{tokens}}}"#);
    let credentials: Credentials = serde_json::from_str(&credentials).unwrap();
    let tokens: OAuthTokens = serde_json::from_str(tokens).unwrap();
    assert_eq!(format!("{credentials:?} {tokens:?}"), "Credentials(oauth2) OAuthTokens(…)");
}
