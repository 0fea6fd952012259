//! The file with the vault keys: a file such as `.dev.vars` with the variable `VAULT_KEYS`, or a
//! file with only its value.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use zeroize::Zeroizing;

use crate::credentials::VaultKeys;

const NAME: &str = "VAULT_KEYS";

/// A file with vault keys. A missing file is treated as empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyFile {
    /// A file such as `.dev.vars`, with the variable `VAULT_KEYS`.
    Variable(PathBuf),
    /// A file that contains only the value.
    Value(PathBuf),
}

/// The content of a file, split around the value of `VAULT_KEYS`. No `Debug`, because it contains
/// secrets.
#[derive(PartialEq, Eq)]
struct FileParts {
    before: Zeroizing<String>,
    value: Zeroizing<String>,
    after: Zeroizing<String>,
}

impl KeyFile {
    /// The path of the file, for messages.
    pub fn name(&self) -> String {
        self.path().display().to_string()
    }

    fn path(&self) -> &Path {
        let (Self::Variable(path) | Self::Value(path)) = self;
        path
    }

    pub fn read(&self) -> Result<VaultKeys> {
        self.parsed(&self.parts()?)
    }

    /// Inserts an entry before the others, so that its key encrypts new data. Replaces the file
    /// atomically.
    pub fn put_first(&self, entry: &str) -> Result<()> {
        let mut parts = self.parts()?;
        let value = parts.value.trim();
        let others = if value.is_empty() { String::new() } else { format!(",{value}") };
        parts.value = Zeroizing::new(format!("{entry}{}", *Zeroizing::new(others)));
        self.parsed(&parts)?;
        let text = Zeroizing::new([&**parts.before, &**parts.value, &**parts.after].concat());
        replace(self.path(), text.as_bytes()).with_context(|| self.name())
    }

    fn parsed(&self, parts: &FileParts) -> Result<VaultKeys> {
        VaultKeys::parse(&parts.value).with_context(|| format!("{NAME} in {}", self.name()))
    }

    fn parts(&self) -> Result<FileParts> {
        let text = match fs::read_to_string(self.path()) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            read => read.with_context(|| self.name())?,
        };
        let text = Zeroizing::new(text);
        match self {
            Self::Value(_) => Ok(FileParts {
                before: Zeroizing::default(),
                value: text,
                after: Zeroizing::new("\n".into()),
            }),
            Self::Variable(_) => split_variable(&text).with_context(|| self.name()),
        }
    }
}

/// Splits a file of variables around the value of `VAULT_KEYS`. If the variable is missing, adds it
/// at the end.
fn split_variable(text: &str) -> Result<FileParts> {
    let mut found = None;
    let mut before = String::new();
    for line in text.split_inclusive('\n') {
        let set = line.split_once('=').filter(|(name, _)| {
            let name = name.trim();
            name.strip_prefix("export").map_or(name, str::trim_start) == NAME
        });
        match (set, &mut found) {
            (None, None) => before.push_str(line),
            (None, Some(FileParts { after, .. })) => after.push_str(line),
            (Some((name, rest)), found @ None) => {
                let (value, tail) = split_value(rest)?;
                *found = Some(FileParts {
                    before: Zeroizing::new(format!("{before}{name}=\"")),
                    value: Zeroizing::new(value.to_owned()),
                    after: Zeroizing::new(format!("\"{tail}")),
                });
            }
            (Some(_), Some(_)) => bail!("{NAME} is set twice: remove one of them"),
        }
    }
    Ok(found.unwrap_or_else(|| {
        let line = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
        FileParts {
            before: Zeroizing::new(format!("{before}{line}{NAME}=\"")),
            value: Zeroizing::default(),
            after: Zeroizing::new("\"\n".into()),
        }
    }))
}

/// Splits the rest of a line into the value, without its quotes, and what follows.
fn split_value(rest: &str) -> Result<(&str, &str)> {
    let given = rest.trim_start();
    if let Some(quote) = given.chars().next().filter(|first| "\"'`".contains(*first)) {
        let inner = given.strip_prefix(quote).unwrap_or_default();
        let found = inner.split_once(quote);
        return found.with_context(|| format!("{NAME} has no closing quote on its line"));
    }
    let end = rest.find(['#', '\n', '\r']).unwrap_or(rest.len());
    let (value, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
    Ok((value.trim(), tail))
}

/// Writes a file atomically, readable only by its owner.
fn replace(path: &Path, text: &[u8]) -> Result<()> {
    // Replaces the target of a symbolic link instead of the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut name = path.file_name().context("the path does not name a file")?.to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&new).with_context(|| format!("{}", new.display()))?;
    let written = file.write_all(text).and_then(|()| file.sync_all());
    if let Err(error) = written.and_then(|()| fs::rename(&new, &path)) {
        // Deletes the incomplete file, because it contains keys.
        drop(fs::remove_file(&new));
        return Err(error).context("the file was not changed");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    const NEW: &str = "new:ICECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

    fn changed(text: &str) -> Result<String> {
        let parts = split_variable(text)?;
        Ok(format!("{}[{}]{}", *parts.before, *parts.value, *parts.after))
    }

    #[test]
    fn changes_the_variable_only() {
        for (text, expected) in [
            ("", "VAULT_KEYS=\"[]\"\n"),
            ("A=1", "A=1\nVAULT_KEYS=\"[]\"\n"),
            (
                "# VAULT_KEYS=x\nMY_VAULT_KEYS=x\n",
                "# VAULT_KEYS=x\nMY_VAULT_KEYS=x\nVAULT_KEYS=\"[]\"\n",
            ),
            ("VAULT_KEYS=a:b=\nB=2", "VAULT_KEYS=\"[a:b=]\"\nB=2"),
            (
                "A=1\nexport VAULT_KEYS = 'a:b=' # mine\r\nB=2\n",
                "A=1\nexport VAULT_KEYS =\"[a:b=]\" # mine\r\nB=2\n",
            ),
            ("VAULT_KEYS= a:b=  # mine\n", "VAULT_KEYS=\"[a:b=]\"# mine\n"),
            ("VAULT_KEYS=\"a:b=,c:d=\"", "VAULT_KEYS=\"[a:b=,c:d=]\""),
            ("VAULT_KEYS=\nA=1\n", "VAULT_KEYS=\"[]\"\nA=1\n"),
        ] {
            assert_eq!(changed(text).unwrap(), expected, "{text:?}");
        }
        for wrong in ["VAULT_KEYS=a:b\nVAULT_KEYS=c:d\n", "VAULT_KEYS=\"a:b,\nc:d\"\n"] {
            assert!(changed(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn puts_a_new_key_first_readable_by_the_owner_only() {
        let folder = std::env::temp_dir().join(format!("vault-keys-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let value = KeyFile::Value(folder.join("keys.txt"));
        let variable = KeyFile::Variable(folder.join("vars"));
        for file in [&value, &variable] {
            assert!(file.read().unwrap().is_empty());
            file.put_first(&format!("old:{KEY}")).unwrap();
            file.put_first(NEW).unwrap();
            assert_eq!(file.read().unwrap().ids().collect::<Vec<_>>(), ["new", "old"]);
            // An invalid result is not written.
            assert!(file.put_first(NEW).is_err());
            assert_eq!(file.read().unwrap().ids().count(), 2);
            #[cfg(unix)]
            {
                let permissions = fs::metadata(file.path()).unwrap().permissions();
                assert_eq!(std::os::unix::fs::PermissionsExt::mode(&permissions) & 0o777, 0o600);
            }
        }
        assert_eq!(fs::read_to_string(value.path()).unwrap(), format!("{NEW},old:{KEY}\n"));
        let written = fs::read_to_string(variable.path()).unwrap();
        assert_eq!(written, format!("VAULT_KEYS=\"{NEW},old:{KEY}\"\n"));
        fs::write(value.path(), format!("old:{KEY}x")).unwrap();
        let error = format!("{:#}", value.read().unwrap_err());
        assert!(
            error.contains("keys.txt: entry 1 has a key") && !error.contains("AAEC"),
            "{error}"
        );
        fs::remove_dir_all(folder).unwrap();
    }
}
