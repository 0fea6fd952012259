//! Accesses local storage through a helper process, which keeps it open between commands.
//! `scripts/storage/helper.mjs` documents the protocol. The first command starts the helper, which
//! exits when idle.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
#[cfg(unix)]
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::project::{Project, StorageIds};
use crate::auth::Shard;

const SCRIPT: &str = "scripts/storage/helper.mjs";
/// The file in the storage folder with the helper's address and secrets.
const RECORD_FILE: &str = "storage-helper.json";

/// How long to wait for the helper's greeting. After that, the helper is considered absent.
const GREETING_TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum number of connection attempts. A helper may exit just before a command connects; a
/// new helper runs for at least several seconds.
const MAX_CONNECT_ATTEMPTS: u8 = 3;

#[derive(Debug)]
pub struct Local {
    connection: RefCell<BufReader<TcpStream>>,
    ids: StorageIds,
    folder: PathBuf,
}

/// The address of a helper, and the secrets for mutual authentication.
#[derive(Deserialize)]
struct HelperRecord {
    folder: PathBuf,
    port: u16,
    token: String,
    proof: String,
}

#[derive(Deserialize)]
struct Greeting {
    proof: String,
}

#[derive(Serialize)]
struct Request<'a, T> {
    databases: Vec<&'a str>,
    namespace: &'a str,
    #[serde(flatten)]
    operation: T,
}

#[derive(Serialize)]
struct Statements<'a> {
    database: &'a str,
    sql: &'a [String],
}

#[derive(Serialize)]
#[serde(tag = "kv", rename_all = "lowercase")]
enum KeyRequest<'a> {
    List,
    Get { keys: &'a [String] },
    Bytes { key: &'a str },
    Put { pairs: &'a RawValue },
    Delete { keys: &'a [String] },
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Response<T> {
    Failed { error: String },
    Done(T),
}

#[derive(Debug, Deserialize)]
pub struct Results {
    /// The rows of each statement, as an array of objects.
    pub results: Vec<Value>,
    /// The size of the database, in bytes.
    pub size: u64,
}

#[derive(Deserialize)]
struct KeyList<T> {
    keys: Vec<T>,
}

#[derive(Deserialize)]
struct Values {
    values: BTreeMap<String, Option<String>>,
}

#[derive(Deserialize)]
struct SingleValue {
    value: Option<String>,
}

impl Local {
    /// Connects to the helper of the folder. If none is running, starts one.
    pub fn connect(project: &Project, ids: &StorageIds, folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("the folder {}", folder.display()))?;
        let folder = fs::canonicalize(folder).context("the folder of the local storage")?;
        let opened = |connection| Self {
            connection: RefCell::new(connection),
            ids: ids.clone(),
            folder: folder.clone(),
        };
        let recorded = fs::read(folder.join(RECORD_FILE)).ok();
        let recorded = recorded.and_then(|json| serde_json::from_slice::<HelperRecord>(&json).ok());
        // If the folder was copied, its record belongs to the helper of the original folder.
        let own = recorded.filter(|record| record.folder == folder);
        if let Some(connection) = own.and_then(|record| connect_to(&record).ok()) {
            return Ok(opened(connection));
        }
        let mut result = Err(anyhow::anyhow!("no attempt"));
        for _ in 0..MAX_CONNECT_ATTEMPTS {
            result = start(project, &folder).and_then(|record| connect_to(&record));
            if result.is_ok() {
                break;
            }
        }
        result.map(opened).context("the helper that opens this machine's storage")
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs statements in the shard's database, in one transaction.
    pub fn batch(&self, shard: Shard, sql: &[String]) -> Result<Results> {
        let database = self.ids.databases.get(&shard).context("there is no such database")?;
        self.request(Statements { database, sql })
    }

    /// All keys of the namespace, in order.
    pub fn keys<T: DeserializeOwned>(&self) -> Result<Vec<T>> {
        let KeyList { keys } = self.request(KeyRequest::List)?;
        Ok(keys)
    }

    /// Reads values by key. The value of a missing key is `None`.
    pub fn values(&self, keys: &[String]) -> Result<BTreeMap<String, Option<String>>> {
        let Values { values } = self.request(KeyRequest::Get { keys })?;
        Ok(values)
    }

    /// Reads a value in base64. Returns `None` if the key is missing.
    pub fn bytes(&self, key: &str) -> Result<Option<String>> {
        let SingleValue { value } = self.request(KeyRequest::Bytes { key })?;
        Ok(value)
    }

    /// Writes pairs. `pairs` is a JSON array in the format of `wrangler kv bulk put`, with values
    /// in base64.
    pub fn put(&self, pairs: &[u8]) -> Result<()> {
        let pairs: &RawValue = serde_json::from_slice(pairs)?;
        self.request::<IgnoredAny>(KeyRequest::Put { pairs }).map(drop)
    }

    pub fn delete(&self, keys: &[String]) -> Result<()> {
        self.request::<IgnoredAny>(KeyRequest::Delete { keys }).map(drop)
    }

    fn request<T: DeserializeOwned>(&self, operation: impl Serialize) -> Result<T> {
        let databases = self.ids.databases.values().map(String::as_str).collect();
        let request = Request { databases, namespace: &self.ids.namespace, operation };
        let mut connection = self.connection.borrow_mut();
        write_message(&mut connection, &request)
            .and_then(|()| read_message(&mut connection))
            .context("the helper for this machine's storage ended before it responded: run the command again")
            .and_then(|response: Response<T>| match response {
                Response::Done(response) => Ok(response),
                Response::Failed { error } => bail!("the storage on this machine: {error}"),
            })
    }
}

/// Starts a helper and returns its record. If another helper was started concurrently, returns that
/// one's record.
fn start(project: &Project, folder: &Path) -> Result<HelperRecord> {
    let mut command = project.command("node")?;
    // The helper outlives this command, so it must not receive the terminal's Ctrl-C.
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command
        .arg(project.code().join(SCRIPT))
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("{SCRIPT} could not be started"))?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().context("its output")?).read_line(&mut line)?;
    if line.is_empty() {
        let mut message = String::new();
        child.stderr.take().context("its errors")?.read_to_string(&mut message)?;
        bail!("{SCRIPT} failed ({}):\n{}", child.wait()?, message.trim());
    }
    serde_json::from_str(&line).context("its record")
}

/// Connects to the helper in a record. Fails if it is not running.
fn connect_to(record: &HelperRecord) -> Result<BufReader<TcpStream>> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, record.port));
    let stream = TcpStream::connect_timeout(&address, GREETING_TIMEOUT)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(GREETING_TIMEOUT))?;
    let mut connection = BufReader::new(stream);
    write_message(&mut connection, &serde_json::json!({ "token": record.token }))?;
    let greeting: Greeting = read_message(&mut connection)?;
    ensure!(greeting.proof == record.proof, "another program listens on its port");
    connection.get_ref().set_read_timeout(None)?;
    Ok(connection)
}

fn write_message(connection: &mut BufReader<TcpStream>, message: &impl Serialize) -> Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(connection.get_mut().write_all(&line)?)
}

fn read_message<T: DeserializeOwned>(connection: &mut BufReader<TcpStream>) -> Result<T> {
    let mut line = String::new();
    connection.read_line(&mut line)?;
    ensure!(line.ends_with('\n'), "it ended in the middle of a response");
    Ok(serde_json::from_str(&line)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_have_the_helpers_format() {
        let keys = ["a".to_owned()];
        let pairs = RawValue::from_string("[{\"key\":\"a\"}]".into()).unwrap();
        let json = |operation| {
            let request = Request { databases: vec!["d", "e"], namespace: "n", operation };
            serde_json::to_string(&request).unwrap()
        };
        for (operation, expected) in [
            (KeyRequest::List, r#""kv":"list""#),
            (KeyRequest::Get { keys: &keys }, r#""kv":"get","keys":["a"]"#),
            (KeyRequest::Bytes { key: "a" }, r#""kv":"bytes","key":"a""#),
            (KeyRequest::Put { pairs: &pairs }, r#""kv":"put","pairs":[{"key":"a"}]"#),
            (KeyRequest::Delete { keys: &keys }, r#""kv":"delete","keys":["a"]"#),
        ] {
            assert_eq!(
                json(operation),
                format!("{{\"databases\":[\"d\",\"e\"],\"namespace\":\"n\",{expected}}}")
            );
        }
        let operation = Statements { database: "d", sql: &keys };
        let sql = Request { databases: vec!["d"], namespace: "n", operation };
        assert_eq!(
            serde_json::to_string(&sql).unwrap(),
            r#"{"databases":["d"],"namespace":"n","database":"d","sql":["a"]}"#
        );
    }

    #[test]
    fn response_is_an_error_or_the_requested_value() {
        let read = |json| match serde_json::from_str::<Response<Results>>(json).unwrap() {
            Response::Failed { error } => Err(error),
            Response::Done(Results { results, size }) => Ok((results.len(), size)),
        };
        assert_eq!(read(r#"{"results":[[],[{"a":1}]],"size":4096}"#), Ok((2, 4096)));
        assert_eq!(read(r#"{"error":"D1_ERROR: no"}"#), Err("D1_ERROR: no".into()));
    }
}
