//! Reads a client's secret from standard input, or from a prompt without echo.

use std::io::{IsTerminal as _, Read as _, stdin};

use anyhow::{Context, Result, bail};
use console::Term;
use zeroize::Zeroizing;

/// The maximum length of a secret. No platform issues longer secrets.
const MAX_BYTES: u64 = 64 * 1024;

pub fn read() -> Result<Zeroizing<String>> {
    let mut text = Zeroizing::new(String::new());
    if stdin().is_terminal() {
        eprint!("The client's secret (it is not shown): ");
        *text = Term::stderr().read_secure_line().context("the terminal")?;
    } else {
        stdin().take(MAX_BYTES).read_to_string(&mut text).context("standard input")?;
    }
    let secret = text.strip_suffix('\n').unwrap_or(&text);
    let secret = secret.strip_suffix('\r').unwrap_or(secret);
    if secret.is_empty() {
        bail!(
            "there is no secret on standard input. A client without one is set with --no-secret; --keep-secret leaves the stored one"
        );
    }
    Ok(Zeroizing::new(secret.to_owned()))
}
