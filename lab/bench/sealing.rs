//! The module that `npm run lab -- bench-sealing` measures: the service's encryption, compiled with the settings of the
//! Worker.

use wasm_bindgen::prelude::{JsError, wasm_bindgen};

use keys::VaultKeys;
use seal::{Kind, SealContext, Sealed};
use terms::Environment;

#[expect(dead_code, reason = "used by other parts of the service")]
#[path = "../../src/credentials/keys.rs"]
mod keys;
#[expect(dead_code, reason = "used by other parts of the service")]
#[path = "../../src/credentials/seal.rs"]
mod seal;
#[expect(dead_code, reason = "used by other parts of the service")]
#[path = "../../src/terms.rs"]
mod terms;

/// The part of the service's trait that encryption uses.
mod ports {
    pub trait Random {
        fn fill(&self, bytes: &mut [u8]);
    }
}

/// The platform's randomness, as in the Worker.
struct Platform;

impl ports::Random for Platform {
    fn fill(&self, bytes: &mut [u8]) {
        let _ = getrandom::fill(bytes);
    }
}

fn place<'a>(account: &'a str, id: &'a str) -> SealContext<'a> {
    SealContext { account, environment: Environment::Live, kind: Kind::Connection, id }
}

/// Encrypts a string `times` times for a connection; returns the last ciphertext.
///
/// # Errors
/// When it can't be sealed.
#[wasm_bindgen]
pub fn seal(
    keys: &str,
    account: &str,
    id: &str,
    plain: &str,
    times: u32,
) -> Result<String, JsError> {
    let keys = VaultKeys::parse(keys)?;
    let mut sealed = String::new();
    for _ in 0..times {
        sealed = keys.seal(&place(account, id), plain.as_bytes(), &Platform)?.into_string();
    }
    Ok(sealed)
}

/// Opens a ciphertext `times` times; returns the plaintext.
///
/// # Errors
/// When the ciphertext can't be decrypted.
#[wasm_bindgen]
pub fn open(
    keys: &str,
    account: &str,
    id: &str,
    sealed: String,
    times: u32,
) -> Result<String, JsError> {
    let keys = VaultKeys::parse(keys)?;
    let sealed = Sealed::from(sealed);
    let mut plain = keys.open(&place(account, id), &sealed)?;
    for _ in 1..times {
        plain = keys.open(&place(account, id), &sealed)?;
    }
    Ok(String::from_utf8(plain.to_vec())?)
}
