//! The pages that people see on their way to a platform and back. Everything that comes from a request or from a platform
//! is escaped.

use std::fmt::Write as _;

use crate::http::message::{NO_STORE, Response};
use crate::http::page::source_of;

/// The policy of these pages. It has no `form-action`, which browsers apply to every redirect that follows a form too, and
/// platforms redirect to hosts that nobody knows beforehand; nothing on the page can add a form.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'";

/// A page under construction.
#[derive(Debug, Default)]
pub struct Page {
    /// The heading, plain text.
    pub heading: String,
    /// Paragraphs, plain text.
    pub paragraphs: Vec<String>,
    /// A form that is sent to this path, with the text of its button.
    pub button: Option<(String, String)>,
    /// A form that is sent to this path, with what is in it: markup in which all text is escaped.
    pub form: Option<(String, String)>,
    /// Links, with their texts.
    pub links: Vec<(String, String)>,
    /// What a script tells the window that opened this one: the attempt's id, its status, and the origin that may learn it.
    pub told: Option<Told>,
    /// The app's name.
    pub app: Option<String>,
    /// The address of the app's logo.
    pub app_logo: Option<String>,
    /// The app's address, to which pages lead back that have no other link and ask nothing.
    pub app_url: Option<String>,
    /// The platform's logo: a path on the service's site, or a `data:` URL.
    pub platform_logo: Option<String>,
    /// The HTTP status.
    pub status: u16,
}

/// What a page tells the window that opened it.
#[derive(Debug)]
pub struct Told {
    /// The attempt's id.
    pub attempt: String,
    /// `succeeded` or `failed`.
    pub status: &'static str,
    /// The only origin that may learn it.
    pub origin: String,
    /// Where the browser goes on to.
    pub return_url: Option<String>,
}

/// Text as HTML, also between double quotes.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    html
}

impl Page {
    /// The response.
    #[must_use]
    pub fn response(&self) -> Response {
        let app = self.app.as_deref().unwrap_or("connector-vault");
        let mut body = String::new();
        let logo = |url: &String, size: u8| {
            format!("<img src=\"{}\" alt=\"\" width=\"{size}\" height=\"{size}\">", escape(url))
        };
        let app_logo = self.app_logo.as_ref().map(|url| logo(url, 28)).unwrap_or_default();
        let platform_logo = self.platform_logo.as_ref().map(|url| logo(url, 48));
        for paragraph in &self.paragraphs {
            let _ = writeln!(body, "<p>{}</p>", escape(paragraph));
        }
        if let Some((path, text)) = &self.button {
            let (path, text) = (escape(path), escape(text));
            let _ = writeln!(
                body,
                "<form method=\"post\" action=\"{path}\"><button type=\"submit\">{text}</button></form>"
            );
        }
        if let Some((path, controls)) = &self.form {
            let path = escape(path);
            let _ = writeln!(body, "<form method=\"post\" action=\"{path}\">\n{controls}</form>");
        }
        let asks = self.button.is_some() || self.form.is_some();
        let home = self.app_url.as_ref().filter(|_| self.links.is_empty() && !asks);
        let name = self.app.as_deref().unwrap_or("the app");
        let home = home.map(|url| (url.clone(), format!("Go back to {name}")));
        for (url, text) in self.links.iter().chain(&home) {
            let (url, text) = (escape(url), escape(text));
            let _ = writeln!(body, "<p><a href=\"{url}\" rel=\"noreferrer\">{text}</a></p>");
        }
        let told = self.told.as_ref().map(|told| {
            let return_url =
                told.return_url.as_ref().map(|url| format!(" data-return=\"{}\"", escape(url)));
            format!(
                " data-attempt=\"{}\" data-status=\"{}\" data-origin=\"{}\"{}",
                escape(&told.attempt),
                told.status,
                escape(&told.origin),
                return_url.unwrap_or_default()
            )
        });
        let script =
            told.as_ref().map_or("", |_| "<script src=\"/style/connected.js\" defer></script>\n");
        let html = format!(
            "<!doctype html>\n<html lang=\"en\"{}>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"robots\" content=\"noindex\">\n<title>{} · {}</title>\n<link rel=\"icon\" href=\"/favicon.svg\">\n<link rel=\"stylesheet\" href=\"/style/palette.css\">\n<link rel=\"stylesheet\" href=\"/style/page.css\">\n<script src=\"/style/theme.js\"></script>\n{script}<header>\n<span class=\"name\">{app_logo}{}</span>\n</header>\n<main>\n{}<h1>{}</h1>\n{body}</main>\n</html>\n",
            told.unwrap_or_default(),
            escape(&self.heading),
            escape(app),
            escape(app),
            platform_logo.unwrap_or_default(),
            escape(&self.heading),
        );
        let mut response = Response { body: html.into_bytes(), ..Response::empty(self.status) };
        response.add("content-type", "text/html; charset=utf-8");
        response.add("cache-control", NO_STORE);
        let source = source_of(self.app_logo.as_deref());
        let policy = POLICY.replace("img-src 'self'", &format!("img-src 'self'{source}"));
        response.add("content-security-policy", policy);
        // With `no-referrer`, browsers would not say from which page the form comes.
        response.add("referrer-policy", "same-origin");
        response.add("x-frame-options", "DENY");
        response
    }
}

#[cfg(test)]
mod tests {
    use super::{Page, escape};

    #[test]
    fn nothing_becomes_markup() {
        assert_eq!(escape("<b a=\"x\" c='y'>&"), "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;");
        let evil = "\"><script>alert(1)</script>".to_owned();
        let page = Page {
            heading: evil.clone(),
            paragraphs: vec![evil.clone()],
            button: Some((evil.clone(), evil.clone())),
            links: vec![(evil.clone(), evil.clone())],
            app: Some(evil.clone()),
            app_logo: Some(evil.clone()),
            app_url: Some(evil.clone()),
            platform_logo: Some(evil.clone()),
            told: None,
            form: Some((evil, String::new())),
            status: 200,
        };
        let html = String::from_utf8(page.response().body).unwrap();
        assert!(!html.contains("<script>"), "{html}");
        assert_eq!(html.matches("&quot;&gt;&lt;script&gt;").count(), 12, "{html}");
    }
}
