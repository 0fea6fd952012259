//! Cloudflare's own tool, which talks to storage for us: on this machine, or at Cloudflare.

use std::env;
use std::ffi::OsString;
#[cfg(unix)]
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;

/// Where wrangler keeps local storage unless told otherwise, for throwaway copies in tests.
const PERSIST_TO: &str = "CONNECTOR_VAULT_PERSIST_TO";

/// How often a command on this machine's storage is tried; each try takes a second.
const ATTEMPTS: u8 = 6;

/// Which storage a command works on.
#[derive(Debug, Clone, Default, Args)]
pub struct Place {
    /// Work on this machine's storage, which `npm start` serves from (the default)
    #[arg(long, conflicts_with = "remote")]
    pub local: bool,
    /// Work on the storage at Cloudflare that wrangler.toml names
    #[arg(long)]
    pub remote: bool,
    /// Folder of the local storage, instead of .wrangler/state or what the environment variable
    /// `CONNECTOR_VAULT_PERSIST_TO` names
    #[arg(long, value_name = "DIR", conflicts_with = "remote")]
    pub persist_to: Option<PathBuf>,
}

impl Place {
    /// The place in words.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        if self.remote { "at Cloudflare" } else { "on this machine" }
    }

    fn flags(&self) -> Result<Vec<OsString>> {
        if self.remote {
            return Ok(vec!["--remote".into()]);
        }
        let mut flags = vec!["--local".into()];
        if let Some(folder) = self.folder()? {
            flags.extend(["--persist-to".into(), folder.into_os_string()]);
        }
        Ok(flags)
    }

    /// The folder of the local storage, when it is not where wrangler has it.
    fn folder(&self) -> Result<Option<PathBuf>> {
        let folder = self.persist_to.clone().or_else(|| env::var_os(PERSIST_TO).map(PathBuf::from));
        let absolute = |folder: PathBuf| {
            std::path::absolute(&folder).with_context(|| format!("the folder {}", folder.display()))
        };
        folder.map(absolute).transpose()
    }
}

/// Runs wrangler on one project and one place.
#[derive(Debug, Clone)]
pub struct Wrangler {
    project: PathBuf,
    flags: Vec<OsString>,
    place: Place,
    undisturbed: bool,
}

impl Wrangler {
    /// Finds the project around the current folder, and wrangler in it.
    ///
    /// # Errors
    /// When there is no `wrangler.toml` here or above, or wrangler is not installed.
    pub fn new(place: &Place) -> Result<Self> {
        let here = env::current_dir().context("the current folder")?;
        let project = here
            .ancestors()
            .find(|folder| folder.join("wrangler.toml").is_file())
            .with_context(|| {
                format!(
                    "no wrangler.toml in {} or above: run this inside the project",
                    here.display()
                )
            })?;
        let wrangler = Self {
            project: project.to_owned(),
            flags: place.flags()?,
            place: place.clone(),
            undisturbed: false,
        };
        if !wrangler.program().is_file() {
            bail!(
                "wrangler is not installed: run `npm start` or `npm ci` in {} first",
                project.display()
            );
        }
        Ok(wrangler)
    }

    /// From now on Ctrl-C reaches this program only: a run that was begun comes to its end.
    #[must_use]
    pub const fn undisturbed(mut self) -> Self {
        self.undisturbed = true;
        self
    }

    /// The place that this works on.
    #[must_use]
    pub const fn place(&self) -> &Place {
        &self.place
    }

    fn tools(&self) -> PathBuf {
        self.project.join("node_modules").join(".bin")
    }

    fn program(&self) -> PathBuf {
        self.tools().join("wrangler")
    }

    /// Runs wrangler with these arguments and the place's; gives what it prints.
    ///
    /// # Errors
    /// When it cannot be started, or fails; the error carries what it said.
    pub fn run<I, A>(&self, arguments: I) -> Result<String>
    where
        I: IntoIterator<Item = A>,
        A: Into<OsString>,
    {
        let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
        let mut attempt = 1;
        loop {
            let output = self.once(&arguments)?;
            if output.status.success() {
                return String::from_utf8(output.stdout).context("wrangler's output is not UTF-8");
            }
            let said = said(&output);
            // A server and this command share one SQLite file here. Whoever finds it taken did nothing yet.
            if self.place.remote || attempt == ATTEMPTS || !said.contains("SQLITE_BUSY") {
                let name =
                    arguments.iter().take(3).map(|a| a.to_string_lossy()).collect::<Vec<_>>();
                bail!("`wrangler {}` failed ({}):\n{said}", name.join(" "), output.status);
            }
            attempt = attempt.saturating_add(1);
        }
    }

    /// The folder of this machine's storage.
    ///
    /// # Errors
    /// When there is no current folder.
    pub fn local_storage(&self) -> Result<PathBuf> {
        Ok(self.place.folder()?.unwrap_or_else(|| self.project.join(".wrangler").join("state")))
    }

    /// One of the project's tools, to be run as wrangler is.
    ///
    /// # Errors
    /// When `PATH` has a folder in it that it cannot have.
    pub fn command(&self, tool: &str) -> Result<Command> {
        let mut command = Command::new(self.tools().join(tool));
        #[cfg(unix)]
        if self.undisturbed {
            // A terminal sends Ctrl-C to the process group in its foreground.
            command.process_group(0);
        }
        command
            .current_dir(&self.project)
            .env("PATH", path_with(&self.tools())?)
            .env("WRANGLER_SEND_METRICS", "false")
            .env("CLOUDFLARE_CF_FETCH_ENABLED", "false")
            .env("NO_COLOR", "1")
            .env_remove("FORCE_COLOR");
        Ok(command)
    }

    fn once(&self, arguments: &[OsString]) -> Result<Output> {
        self.command("wrangler")?
            .args(arguments)
            .args(&self.flags)
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("wrangler could not be started: {}", self.program().display()))
    }
}

/// `PATH` with the project's tools first, so that wrangler gets the Node that it needs.
fn path_with(tools: &Path) -> Result<OsString> {
    let rest = env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(tools.to_owned()).chain(env::split_paths(&rest));
    env::join_paths(folders).context("PATH")
}

/// What a failed run said, without empty lines and without the advice that follows wrangler's errors.
fn said(output: &Output) -> String {
    let both =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    let noise = |line: &&str| {
        let line = line.trim();
        !line.is_empty()
            && !line.starts_with("🪵")
            && !line.contains("⛅")
            && !line.starts_with('─')
    };
    both.iter().flat_map(|text| text.lines()).filter(noise).collect::<Vec<_>>().join("\n")
}

/// The JSON in what wrangler printed, which may have a line of its own before it.
pub(super) fn json_in<T: for<'de> Deserialize<'de>>(text: &str, opening: char) -> Result<T> {
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
    fn flags_name_the_place() {
        let local = Place::default();
        assert_eq!(local.flags().unwrap().first().unwrap(), "--local");
        let remote = Place { remote: true, ..Place::default() };
        assert_eq!(remote.flags().unwrap(), ["--remote"]);
        let elsewhere = Place { persist_to: Some("state".into()), ..Place::default() };
        let flags = elsewhere.flags().unwrap();
        assert_eq!(flags[1], "--persist-to");
        assert!(Path::new(&flags[2]).is_absolute());
    }

    #[test]
    fn the_projects_tools_come_first_in_path() {
        let path = path_with(Path::new("/project/node_modules/.bin")).unwrap();
        assert_eq!(
            env::split_paths(&path).next().unwrap(),
            Path::new("/project/node_modules/.bin")
        );
    }

    #[test]
    fn json_is_found_behind_what_else_wrangler_says() {
        for text in ["[1,2]", "\n[1,2]\n", "update [available]!\n[1,2]\n"] {
            assert_eq!(json_in::<Vec<u8>>(text, '[').unwrap(), [1, 2]);
        }
        assert!(json_in::<Vec<u8>>("Value not found", '[').is_err());
    }
}
