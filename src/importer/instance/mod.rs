//! `catalog import-instance`: imports the API description that an instance of a platform publishes.
//! [`odata`] translates the metadata of Dynamics 365, [`routes`] translates the index of a
//! `WordPress` site; instances of other platforms publish `OpenAPI` documents.

mod odata;
mod routes;

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail, ensure};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::cli::{DEFAULT_OUT, resolve_from_caller_folder};
use super::fetched::cache::DEFAULT_CACHE;
use super::fetched::describe::describe;
use super::fetched::{FetchedDocument, PathFilter};
use super::folder::{Folder, replace};
use super::report::format_count;
use super::shipped_files::start_script;
use super::source::read_text;
use super::{add, hash};
use crate::targets::Targets;
use crate::targets::host::Host;

const SCRIPT: &str = "scripts/sources/instance.mjs";
/// The Worker's environment variable that allows local addresses.
const LOCAL_TARGETS: &str = "LOCAL_TARGETS";

/// Import the description that an instance of a platform publishes: its tables, record types or routes
///
/// Repeats the last import with the description of the instance in place of the platform's document. To serve the new
/// catalog, publish it afterwards, on this machine or with --remote.
#[derive(Debug, Args)]
pub struct ImportInstanceArgs {
    /// The platform
    #[arg(value_name = "PLATFORM")]
    platform: InstancePlatform,
    /// The host of the instance, such as acme.crm4.dynamics.com
    #[arg(long, value_name = "HOST")]
    host: String,
    /// A file with the value of the header `Authorization`, such as `Bearer …`, for an instance that requires one
    #[arg(long, value_name = "FILE")]
    authorization: Option<PathBuf>,
    /// The description, if you have downloaded it; required for servicenow
    #[arg(long, value_name = "FILE", conflicts_with = "authorization")]
    file: Option<PathBuf>,
    /// Import only this entity set, record type or namespace; repeat it for more
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// The catalog folder
    #[arg(long, value_name = "DIR", default_value = DEFAULT_OUT)]
    catalog: PathBuf,
    /// The cache folder for the description
    #[arg(long, value_name = "DIR", default_value = DEFAULT_CACHE)]
    cache: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum InstancePlatform {
    #[value(name = "dynamics-365")]
    Dynamics365,
    #[value(name = "netsuite")]
    NetSuite,
    #[value(name = "servicenow")]
    ServiceNow,
    #[value(name = "woocommerce")]
    WooCommerce,
    #[value(name = "wordpress-site")]
    WordPressSite,
}

impl InstancePlatform {
    const fn name(self) -> &'static str {
        match self {
            Self::Dynamics365 => "dynamics-365",
            Self::NetSuite => "netsuite",
            Self::ServiceNow => "servicenow",
            Self::WooCommerce => "woocommerce",
            Self::WordPressSite => "wordpress-site",
        }
    }

    /// The base path of the API.
    const fn base(self) -> &'static str {
        match self {
            // https://learn.microsoft.com/power-apps/developer/data-platform/webapi/compose-http-requests-handle-errors
            Self::Dynamics365 => "/api/data/v9.2",
            // https://docs.oracle.com/en/cloud/saas/netsuite/ns-online-help/section_1545126526.html
            Self::NetSuite => "/services/rest/record/v1",
            Self::ServiceNow => "",
            // https://developer.wordpress.org/rest-api/using-the-rest-api/discovery/
            Self::WooCommerce => "/wp-json/wc/v3",
            Self::WordPressSite => "/wp-json",
        }
    }

    /// The path of the description, relative to the API, and its media type. `None` if an
    /// administrator must export the description.
    fn description(self, only: &[String]) -> Option<(String, &'static str)> {
        match self {
            Self::Dynamics365 => Some(("/$metadata".to_owned(), "application/xml")),
            Self::NetSuite => {
                let select = if only.is_empty() {
                    String::new()
                } else {
                    format!("?select={}", only.join(","))
                };
                Some((format!("/metadata-catalog{select}"), "application/swagger+json"))
            }
            Self::ServiceNow => None,
            Self::WooCommerce | Self::WordPressSite => Some(("/".to_owned(), "application/json")),
        }
    }
}

/// The parts of an instance that are imported.
pub(super) struct SelectedParts<'a>(&'a [String]);

impl SelectedParts<'_> {
    fn has(&self, name: &str) -> bool {
        self.0.is_empty() || self.0.iter().any(|chosen| chosen == name)
    }
}

/// The input of the downloader.
#[derive(Serialize)]
struct Request<'a> {
    url: &'a str,
    headers: BTreeMap<&'static str, String>,
    local: bool,
    file: &'a Path,
}

#[derive(Deserialize)]
struct Response {
    error: Option<String>,
}

impl ImportInstanceArgs {
    pub fn run(&self) -> Result<ExitCode> {
        let name = self.platform.name();
        let cache = resolve_from_caller_folder(&self.cache);
        let folder = std::path::absolute(cache.join("instances"))?;
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let catalog = Folder(self.catalog.clone());
        let mut import = add::recorded_arguments(&catalog)?;
        import.out.clone_from(&self.catalog);

        let origin = self.origin()?;
        let text = match &self.file {
            Some(file) => read_text(&resolve_from_caller_folder(file))?,
            None => self.download(&origin, &folder)?,
        };
        let document = self.document(&text, &origin)?;
        let count = operations(document.as_bytes())?;
        ensure!(count > 0, "the description of {} has no operations", self.host);
        eprintln!("{}: {name}, {}", self.host, format_count(count, "operation"));
        let path = folder.join(name).with_extension("json");
        replace(&path, document.as_bytes())?;
        import.add_instance(name, path);
        let done = import.run()?;
        eprintln!("To serve it: npm run catalog -- publish, with --remote for a deployment");
        Ok(done)
    }

    /// The origin of the instance. Rejects hosts in private networks, like the service.
    fn origin(&self) -> Result<String> {
        let targets = Targets { local: is_local() };
        let (host, _) = self.host.split_once(':').unwrap_or((&self.host, ""));
        let is_own = targets.local && Host::parse(host) == Host::Loopback;
        let origin = format!("{}://{}", if is_own { "http" } else { "https" }, self.host);
        ensure!(!self.host.contains(['/', '?']), "--host takes a host, such as acme.example.com");
        targets.check(&origin).map_err(|why| anyhow::anyhow!("--host {}: {why}", self.host))?;
        Ok(origin)
    }

    fn download(&self, origin: &str, folder: &Path) -> Result<String> {
        let Some((path, accept)) = self.platform.description(&self.only) else {
            bail!(
                "only a person can export the description of a ServiceNow instance: open REST API Explorer there, export the OpenAPI specification as JSON or YAML, and pass it with --file"
            );
        };
        let url = format!("{origin}{}{path}", self.platform.base());
        let mut headers = BTreeMap::from([("accept", accept.to_owned())]);
        if let Some(file) = &self.authorization {
            let value = read_text(&resolve_from_caller_folder(file))?;
            headers.insert("authorization", value.trim().to_owned());
        }
        let file = folder.join("download");
        let request = Request { url: &url, headers, local: is_local(), file: &file };
        let output = start_script(SCRIPT, &request)?.wait_with_output()?;
        ensure!(output.status.success(), "{SCRIPT} failed");
        let Response { error } = serde_json::from_slice(&output.stdout)?;
        if let Some(error) = error {
            bail!("{url}: {error}");
        }
        let text = read_text(&file);
        let _ = fs::remove_file(&file);
        text
    }

    /// Converts the description of an instance to an `OpenAPI` document.
    fn document(&self, text: &str, origin: &str) -> Result<String> {
        let server = format!("{origin}{}", self.platform.base());
        let chosen = SelectedParts(&self.only);
        let routes = |prefix: &str| {
            let (document, skipped_parts) = routes::openapi(text, &server, prefix, &chosen)?;
            if skipped_parts > 0 {
                eprintln!(
                    "{} left out: parts of their paths are optional",
                    format_count(skipped_parts, "route")
                );
            }
            Ok(document)
        };
        let document = match self.platform {
            InstancePlatform::Dynamics365 => odata::openapi(text, &server, &chosen),
            InstancePlatform::WooCommerce => routes("/wc/v3"),
            InstancePlatform::WordPressSite => routes(""),
            InstancePlatform::NetSuite => with_server(text, &server, &chosen),
            // The paths were already selected when the description was exported.
            InstancePlatform::ServiceNow => return Ok(text.to_owned()),
        };
        Ok(document?.to_string())
    }
}

/// Replaces the servers of a document and removes its security requirements, because
/// `providers.toml` has the auth methods.
fn with_server(text: &str, server: &str, chosen: &SelectedParts<'_>) -> Result<Value> {
    let mut document: Map<String, Value> =
        serde_json::from_str(text).context("the description is not a JSON object")?;
    document.insert("servers".to_owned(), serde_json::json!([{ "url": server }]));
    document.remove("security");
    if let Some(paths) = document.get_mut("paths").and_then(Value::as_object_mut) {
        paths.retain(|path, _| chosen.has(path.split('/').nth(1).unwrap_or_default()));
    }
    Ok(Value::Object(document))
}

/// The number of operations in a document.
fn operations(document: &[u8]) -> Result<usize> {
    let described = describe(document, &PathFilter::default(), None);
    let described = described.map_err(|_| {
        anyhow::anyhow!("the description is not an API description in a known format")
    })?;
    Ok(described.operations.len())
}

fn is_local() -> bool {
    env::var(LOCAL_TARGETS).is_ok_and(|value| value == "allow")
}

/// The description of an instance, as the document of its platform.
pub(super) fn document(platform: &str, path: &Path) -> Result<FetchedDocument> {
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    Ok(FetchedDocument {
        platform: platform.to_owned(),
        address: path.display().to_string(),
        path: path.to_owned(),
        sha256: hash::sha256(&bytes),
        is_instance: true,
        ..FetchedDocument::default()
    })
}
