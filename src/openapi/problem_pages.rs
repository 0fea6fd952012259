//! Builds the pages below `/problems/` from `problems.toml`: a page for each problem code, and a
//! list of all pages.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;

use crate::http::problem::Code;

/// The sections of a page, as HTML fragments.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProblemText {
    meaning: String,
    cause: String,
    solution: String,
    /// A request that fails with this problem code, its response, and a corrected request.
    example: Option<String>,
}

const PROBLEMS: &str = include_str!("problems.toml");

/// All pages, as file names with their contents.
pub fn pages() -> Vec<(String, String)> {
    let mut texts: BTreeMap<String, ProblemText> = toml::from_str(PROBLEMS).unwrap();
    let mut pages = vec![("index.html".to_owned(), list())];
    for code in Code::ALL {
        let text = texts.remove(code.as_str());
        let text = text.unwrap_or_else(|| panic!("problems.toml says nothing about {code:?}"));
        pages.push((format!("{}.html", code.as_str()), page(code, &text)));
    }
    assert!(texts.is_empty(), "problems.toml knows other codes: {:?}", texts.keys());
    pages
}

fn page(code: Code, text: &ProblemText) -> String {
    let (status, name, title) = code.describe();
    let mut main = format!(
        "<p class=\"back\"><a href=\"/problems/\">All error codes</a></p>\n\
         <h1>{title}</h1>\n\
         <p class=\"facts\"><code>{name}</code> <span>HTTP status {status}</span></p>\n"
    );
    let parts = [
        ("Meaning", Some(&text.meaning)),
        ("Cause", Some(&text.cause)),
        ("Solution", Some(&text.solution)),
        ("Example", text.example.as_ref()),
    ];
    for (heading, html) in parts {
        if let Some(html) = html {
            write!(main, "<h2>{heading}</h2>\n{html}").unwrap();
        }
    }
    main.push_str("<p class=\"more\">The <a href=\"/docs\">reference</a> describes every endpoint, its parameters and its responses.</p>\n");
    document(title, &main)
}

fn list() -> String {
    let mut rows = String::new();
    for (status, code, title) in Code::ALL.map(Code::describe) {
        let link = format!("<a href=\"/problems/{code}\"><code>{code}</code></a>");
        writeln!(rows, "<tr><td>{status}</td><td>{link}</td><td>{title}</td></tr>").unwrap();
    }
    let main = format!(
        "<h1>Error codes</h1>\n\
         <p>Look up the <code>code</code> of an error to find its meaning, cause and solution. Error responses are <code>application/problem+json</code>; their <code>type</code> is the URL of the page about the code.</p>\n\
         <table>\n\
         <thead><tr><th scope=\"col\">Status</th><th scope=\"col\">Code</th><th scope=\"col\">Title</th></tr></thead>\n\
         <tbody>\n{rows}</tbody>\n\
         </table>\n\
         <p>The <a href=\"/docs\">reference</a> has every error response, and lists the errors of each endpoint.</p>\n"
    );
    document("Error codes", &main)
}

fn document(title: &str, main: &str) -> String {
    format!(
        "<!doctype html>\n\
         <html lang=\"en\">\n\
         <meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title} · connector-vault</title>\n\
         <link rel=\"icon\" href=\"/favicon.svg\">\n\
         <link rel=\"stylesheet\" href=\"/style/palette.css\">\n\
         <link rel=\"stylesheet\" href=\"/style/page.css\">\n\
         <script src=\"/style/theme.js\"></script>\n\
         <header>\n\
         <a class=\"name\" href=\"/\">connector-vault</a>\n\
         <nav aria-label=\"Site\"><a href=\"/docs\">Reference</a> <a href=\"/problems/\">Errors</a></nav>\n\
         </header>\n\
         <main>\n{main}</main>\n\
         </html>\n"
    )
}
