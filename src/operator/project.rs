//! The project in the current folder: its tools, and the storage that wrangler.toml configures.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::auth::Shard;
use crate::http::Config;
use crate::http::config::Variables;
use crate::importer::shipped_files::package;

const CONFIGURATION: &str = "wrangler.toml";

/// The binding of the catalog's Workers KV namespace.
pub const CATALOG: &str = "CATALOG";

#[derive(Debug, Clone)]
pub struct Project {
    /// The folder that contains wrangler.toml.
    root: PathBuf,
    /// The folder with scripts and the schema: `root`, or the npm package connector-vault-server.
    code: PathBuf,
    /// The folder that contains wrangler.
    tools: PathBuf,
}

/// The ids of this project's local storage. They separate it from the storage of other projects in
/// the same folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageIds {
    /// The id of each shard's database. Shard 0 always has one.
    pub databases: BTreeMap<Shard, String>,
    pub namespace: String,
}

#[derive(Deserialize)]
struct Configuration {
    #[serde(default)]
    kv_namespaces: Vec<Binding>,
    #[serde(default)]
    d1_databases: Vec<Binding>,
}

#[derive(Deserialize)]
struct Binding {
    #[serde(rename = "binding")]
    name: String,
    #[serde(alias = "preview_database_id")]
    preview_id: Option<String>,
    #[serde(alias = "database_id")]
    id: Option<String>,
}

impl Project {
    /// Finds the project of the current folder.
    pub fn find() -> Result<Self> {
        let here = env::current_dir().context("the current folder")?;
        let here_or_above = here.ancestors().find(|folder| folder.join(CONFIGURATION).is_file());
        let Some(package) = package() else {
            let Some(root) = here_or_above else {
                bail!(
                    "no wrangler.toml in {} or above: run this inside the project",
                    here.display()
                );
            };
            let Some(tools) = tools(std::iter::once(root)) else {
                let root = root.display();
                bail!("wrangler is not installed: run `npm start` or `npm ci` in {root} first");
            };
            return Ok(Self { root: root.to_owned(), code: root.to_owned(), tools });
        };
        // The wrangler.toml of a parent folder may belong to a different Worker.
        if here_or_above != Some(here.as_path()) {
            bail!(
                "no wrangler.toml in {}: run this in the folder of your service, or set one up with `npx connector-vault-server init`",
                here.display()
            );
        }
        let tools = tools(package.ancestors())
            .context("wrangler is not installed with connector-vault-server: install it again")?;
        Ok(Self { root: here, code: package, tools })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder with scripts and the schema.
    pub fn code(&self) -> &Path {
        &self.code
    }

    /// Creates a command that runs one of the project's tools in the project's folder.
    pub fn command(&self, tool: &str) -> Result<Command> {
        let mut command = Command::new(tool);
        command
            .current_dir(&self.root)
            .env("PATH", path_with(&self.tools)?)
            .env("WRANGLER_SEND_METRICS", "false")
            .env("CLOUDFLARE_CF_FETCH_ENABLED", "false")
            .env("NO_COLOR", "1")
            .env_remove("FORCE_COLOR");
        Ok(command)
    }

    /// Reads the storage ids from wrangler.toml.
    pub fn ids(&self) -> Result<StorageIds> {
        let (file, text) = self.configuration()?;
        ids(&text).with_context(|| format!("{}", file.display()))
    }

    /// Reads the maximum size of a database from the Worker's variables.
    pub fn max_database_bytes(&self) -> Result<u64> {
        let (file, text) = self.configuration()?;
        max_database_bytes(&text).with_context(|| format!("{}", file.display()))
    }

    /// The path and the content of wrangler.toml.
    pub fn configuration(&self) -> Result<(PathBuf, String)> {
        let file = self.root.join(CONFIGURATION);
        let text = fs::read_to_string(&file).with_context(|| format!("{}", file.display()))?;
        Ok((file, text))
    }
}

impl Binding {
    /// The id that `wrangler dev` uses for local storage.
    fn into_id(self) -> String {
        self.preview_id.or(self.id).unwrap_or(self.name)
    }
}

/// Parses the ids that `wrangler dev` uses for local storage.
pub fn ids(text: &str) -> Result<StorageIds> {
    let Configuration { kv_namespaces, d1_databases } = toml::from_str(text)?;
    let shard = |binding: Binding| Some((Shard::from_binding(&binding.name)?, binding.into_id()));
    let databases: BTreeMap<Shard, String> = d1_databases.into_iter().filter_map(shard).collect();
    if !databases.contains_key(&Shard::FIRST) {
        bail!("[[d1_databases]] has no `binding = \"{}\"`", Shard::FIRST.binding());
    }
    let namespace = kv_namespaces.into_iter().find(|binding| binding.name == CATALOG);
    let namespace = namespace
        .with_context(|| format!("[[kv_namespaces]] has no `binding = \"{CATALOG}\"`"))?
        .into_id();
    Ok(StorageIds { databases, namespace })
}

fn max_database_bytes(text: &str) -> Result<u64> {
    #[derive(Deserialize)]
    struct File {
        #[serde(default)]
        vars: Variables,
    }
    Ok(Config::from(&toml::from_str::<File>(text)?.vars).max_database_bytes)
}

/// The folder of npm tools that contains wrangler. npm installs a package's dependencies beside the
/// package or in a parent folder.
fn tools<'a>(mut folders: impl Iterator<Item = &'a Path>) -> Option<PathBuf> {
    folders.find_map(|folder| {
        let tools = folder.join("node_modules").join(".bin");
        tools.join("wrangler").is_file().then_some(tools)
    })
}

/// `PATH`, preceded by the project's tools, so that wrangler uses the required version of Node.
fn path_with(tools: &Path) -> Result<OsString> {
    let rest = env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(tools.to_owned()).chain(env::split_paths(&rest));
    env::join_paths(folders).context("PATH")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_projects_tools_come_first_in_path() {
        let path = path_with(Path::new("/project/node_modules/.bin")).unwrap();
        assert_eq!(
            env::split_paths(&path).next().unwrap(),
            Path::new("/project/node_modules/.bin")
        );
    }

    #[test]
    fn reads_the_limit_of_the_worker() {
        for (text, bytes) in [
            ("", 10_000_000_000),
            ("[vars]\nAPP_NAME = \"Acme\"", 10_000_000_000),
            ("[vars]\nMAX_DATABASE_BYTES = \"500000000\"", 500_000_000),
            ("[vars]\nMAX_DATABASE_BYTES = 500000000", 500_000_000),
        ] {
            assert_eq!(max_database_bytes(text).unwrap(), bytes, "{text}");
        }
    }

    #[test]
    fn reads_the_ids_that_wrangler_dev_uses() {
        let text = |kv: &str, d1: &str| {
            format!(
                "[[kv_namespaces]]\nbinding = \"CATALOG\"\n{kv}\n[[d1_databases]]\nbinding = \"VAULT\"\n{d1}"
            )
        };
        for (kv, d1, namespace, database) in [
            ("id = \"a\"", "database_id = \"b\"", "a", "b"),
            (
                "id = \"a\"\npreview_id = \"c\"",
                "database_id = \"b\"\npreview_database_id = \"d\"",
                "c",
                "d",
            ),
            ("", "database_name = \"vault\"", "CATALOG", "VAULT"),
        ] {
            let databases = BTreeMap::from([(Shard::FIRST, database.to_owned())]);
            let expected = StorageIds { databases, namespace: namespace.into() };
            assert_eq!(ids(&text(kv, d1)).unwrap(), expected);
        }
        assert!(ids(include_str!("../../wrangler.toml")).is_ok());
        let error = ids("[[kv_namespaces]]\nbinding = \"CATALOG\"").unwrap_err();
        assert_eq!(error.to_string(), "[[d1_databases]] has no `binding = \"VAULT\"`");
    }
}
