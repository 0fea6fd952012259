//! Runs wrangler, Cloudflare's command-line tool, to access storage at Cloudflare.

use std::ffi::OsString;
#[cfg(unix)]
use std::os::unix::process::CommandExt as _;
use std::process::{Output, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::project::Project;
use super::storage_target::StorageTarget;

/// Runs wrangler for one project and one storage target.
#[derive(Debug)]
pub struct Wrangler {
    project: Project,
    flags: Vec<OsString>,
    shield_from_interrupts: bool,
}

impl Wrangler {
    pub fn new(project: Project, storage_target: &StorageTarget) -> Result<Self> {
        let flags = if storage_target.remote {
            vec!["--remote".into()]
        } else {
            let folder = storage_target.folder(&project)?;
            vec!["--local".into(), "--persist-to".into(), folder.into_os_string()]
        };
        Ok(Self { project, flags, shield_from_interrupts: false })
    }

    /// Makes wrangler ignore Ctrl-C, so that a run can complete. This program still receives it.
    pub fn shield_from_interrupts(self) -> Self {
        Self { shield_from_interrupts: true, ..self }
    }

    /// Runs wrangler with these arguments, followed by those that select the storage. Returns its
    /// stdout.
    pub fn run<I, A>(&self, arguments: I) -> Result<String>
    where
        I: IntoIterator<Item = A>,
        A: Into<OsString>,
    {
        String::from_utf8(self.run_for_bytes(arguments)?).context("wrangler's output is not UTF-8")
    }

    /// Runs wrangler for the Cloudflare account, even if the storage is local.
    pub fn account<I, A>(&self, arguments: I) -> Result<String>
    where
        I: IntoIterator<Item = A>,
        A: Into<OsString>,
    {
        let account = Self { project: self.project.clone(), flags: Vec::new(), ..*self };
        account.run(arguments)
    }

    /// Like [`Self::run`], but for binary output.
    pub fn run_for_bytes<I, A>(&self, arguments: I) -> Result<Vec<u8>>
    where
        I: IntoIterator<Item = A>,
        A: Into<OsString>,
    {
        let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
        let output = self.run_once(&arguments)?;
        if !output.status.success() {
            let name = arguments.iter().take(3).map(|a| a.to_string_lossy()).collect::<Vec<_>>();
            bail!(
                "`wrangler {}` failed ({}):\n{}",
                name.join(" "),
                output.status,
                message(&output)
            );
        }
        Ok(output.stdout)
    }

    fn run_once(&self, arguments: &[OsString]) -> Result<Output> {
        let mut command = self.project.command("wrangler")?;
        #[cfg(unix)]
        if self.shield_from_interrupts {
            // A terminal sends Ctrl-C to all processes of the foreground process group.
            command.process_group(0);
        }
        command
            .args(arguments)
            .args(&self.flags)
            .stdin(Stdio::null())
            .output()
            .context("wrangler could not be started")
    }
}

/// The output of a failed run, without empty lines and without the advice that wrangler appends to
/// errors.
fn message(output: &Output) -> String {
    let both =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let is_relevant = |line: &&str| {
        let line = line.trim();
        !line.is_empty()
            && !line.starts_with("🪵")
            && !line.contains("⛅")
            && !line.starts_with('─')
    };
    both.iter().flat_map(|text| text.lines()).filter(is_relevant).collect::<Vec<_>>().join("\n")
}

/// Parses the JSON in wrangler's output. Other lines may precede it.
pub(super) fn parse_json_output<T: for<'de> Deserialize<'de>>(
    text: &str,
    opening: char,
) -> Result<T> {
    let start = text
        .match_indices(opening)
        .map(|(at, _)| at)
        .find(|at| *at == 0 || text.get(..*at).is_some_and(|before| before.ends_with('\n')))
        .with_context(|| format!("no JSON in: {}", text.trim()))?;
    let json = text.get(start..).unwrap_or_default();
    Ok(serde_json::from_str(json)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_json_after_other_output() {
        for text in ["[1,2]", "\n[1,2]\n", "update [available]!\n[1,2]\n"] {
            assert_eq!(parse_json_output::<Vec<u8>>(text, '[').unwrap(), [1, 2]);
        }
        assert!(parse_json_output::<Vec<u8>>("Value not found", '[').is_err());
    }
}
