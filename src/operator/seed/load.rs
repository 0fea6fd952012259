//! Statements into the database, a batch as a whole or not at all.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::operator::d1::Database;
use crate::operator::wrangler::Wrangler;

/// While a batch is written, nobody else can write: on this machine for a second or less.
const BATCH_HERE: u64 = 5_000;
/// At Cloudflare each batch is an import of its own, with a time of some seconds before and after.
const BATCH_AT_CLOUDFLARE: u64 = 50_000;

/// The script that keeps this machine's database open; it tells how it is spoken to.
const SCRIPT: &str = "scripts/seed/batches.mjs";

/// A way into the database.
#[derive(Debug)]
pub enum Loader {
    /// This machine's.
    Here(Opened),
    /// The one at Cloudflare, or this machine's in the same way.
    ByFile(Database),
}

/// The script at work.
#[derive(Debug)]
pub struct Opened {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

#[derive(Deserialize)]
struct Answer {
    error: Option<String>,
}

impl Loader {
    /// The way into a database; the one into Cloudflare's, `by_file`, leads into this machine's too.
    ///
    /// # Errors
    /// When the script cannot be started.
    pub fn new(wrangler: Wrangler, by_file: bool) -> Result<Self> {
        if by_file || wrangler.place().remote {
            return Ok(Self::ByFile(Database(wrangler)));
        }
        Opened::new(&wrangler).map(Self::Here)
    }

    /// How many connections make a batch.
    #[must_use]
    pub const fn batch(&self) -> u64 {
        match self {
            Self::Here(_) => BATCH_HERE,
            Self::ByFile(_) => BATCH_AT_CLOUDFLARE,
        }
    }

    /// Runs a batch.
    ///
    /// # Errors
    /// When the database does not take it.
    pub fn load(&mut self, statements: &[String]) -> Result<()> {
        match self {
            Self::Here(opened) => opened.load(statements),
            Self::ByFile(database) => database.load(&statements.join(";\n")),
        }
    }
}

impl Opened {
    fn new(wrangler: &Wrangler) -> Result<Self> {
        let mut child = wrangler
            .command("node")?
            .arg(SCRIPT)
            .arg(wrangler.local_storage()?)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("{SCRIPT} could not be started"))?;
        let input = child.stdin.take();
        let output = child.stdout.take().context("its output")?;
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    fn load(&mut self, statements: &[String]) -> Result<()> {
        let mut line = serde_json::to_string(statements)?;
        line.push('\n');
        let ended = || format!("{SCRIPT} ended before its time");
        let input = self.input.as_mut().with_context(ended)?;
        input.write_all(line.as_bytes()).with_context(ended)?;
        let mut answer = String::new();
        self.output.read_line(&mut answer).with_context(ended)?;
        let answer: Answer = serde_json::from_str(&answer).with_context(ended)?;
        match answer.error {
            Some(error) => bail!("the database on this machine: {error}"),
            None => Ok(()),
        }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // The end of its input is the end of the script.
        drop(self.input.take());
        let _ = self.child.wait();
    }
}
