//! The HTML pages of the connect flow and of agent sign-in. All values are escaped.

use std::fmt::Write as _;

use base64ct::{Base64, Encoding as _};
use sha2::{Digest as _, Sha256};

use crate::branding::rules::text_color_on;
use crate::http::message::{NO_STORE, Response};
use crate::http::page::csp_source;
use crate::texts::language::Language;
use crate::texts::{Text, Values, Wording, connect};

/// The Content Security Policy of these pages. It has no `form-action`, because browsers also apply
/// that directive to the redirects after a form, and the hosts of platforms are not known in
/// advance. No content of the page can add a form.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'";

/// A page. All strings are plain text unless stated otherwise.
#[derive(Debug, Default)]
pub struct Page {
    pub language: Language,
    pub heading: String,
    pub paragraphs: Vec<String>,
    /// A message for the app's team, in English.
    pub detail: Option<String>,
    /// The path and the label of a form that has only a button.
    pub button: Option<(String, String)>,
    /// The path and the content of a form. The content is HTML, with all values escaped.
    pub form: Option<(String, String)>,
    /// The URLs and labels of links.
    pub links: Vec<(String, String)>,
    /// The message that a script on the page posts to the window that opened it.
    pub notification: Option<Notification>,
    pub app: Option<String>,
    pub app_logo: Option<String>,
    pub app_color: Option<String>,
    /// The app's URL. Pages without a button, a form or a link to another page of the app link to it.
    pub app_url: Option<String>,
    /// The label of the link to `app_url`.
    pub go_back: String,
    /// A path on this site, or a `data:` URL.
    pub platform_logo: Option<String>,
    pub status: u16,
}

/// The message to the window that opened the page, sent with `postMessage`.
#[derive(Debug)]
pub struct Notification {
    pub attempt: String,
    /// `succeeded` or `failed`.
    pub status: &'static str,
    /// The only origin that may receive the message.
    pub origin: String,
    /// The URL where the browser continues.
    pub return_url: Option<String>,
}

/// Escapes a string for HTML, including attribute values in quotes.
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

/// The CSS that gives buttons the app's colour. Returns `None` unless `color` is valid.
fn button_css(color: &str) -> Option<String> {
    let text = text_color_on(color)?;
    Some(format!(":root{{--brand:{color};--on-brand:{text}}}"))
}

impl Page {
    /// A page in the user's language.
    pub fn new(
        wording: &Wording<'_>,
        status: u16,
        heading: &Text,
        paragraphs: &[&Text],
        values: Values<'_>,
    ) -> Self {
        Self {
            language: wording.language,
            heading: wording.format_text(heading, values),
            paragraphs: paragraphs.iter().map(|text| wording.format_text(text, values)).collect(),
            go_back: wording.format_text(&connect::GO_BACK, &[]),
            app: wording.appearance.name.map(str::to_owned),
            app_logo: wording.appearance.logo_url.map(str::to_owned),
            app_color: wording.appearance.color.map(str::to_owned),
            status,
            ..Self::default()
        }
    }

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
        if let Some(detail) = &self.detail {
            let _ = writeln!(body, "<p lang=\"en\"><small>{}</small></p>", escape(detail));
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
        let has_form = self.button.is_some() || self.form.is_some();
        let is_own_path = |(url, _): &(String, String)| url.starts_with('/');
        let home =
            self.app_url.as_ref().filter(|_| self.links.iter().all(is_own_path) && !has_form);
        let home = home.map(|url| (url.clone(), self.go_back.clone()));
        for (url, text) in self.links.iter().chain(&home) {
            let (url, text) = (escape(url), escape(text));
            let _ = writeln!(body, "<p><a href=\"{url}\" rel=\"noreferrer\">{text}</a></p>");
        }
        let notification = self.notification.as_ref().map(|notification| {
            let return_url = notification
                .return_url
                .as_ref()
                .map(|url| format!(" data-return=\"{}\"", escape(url)));
            format!(
                " data-attempt=\"{}\" data-status=\"{}\" data-origin=\"{}\"{}",
                escape(&notification.attempt),
                notification.status,
                escape(&notification.origin),
                return_url.unwrap_or_default()
            )
        });
        let script = notification
            .as_ref()
            .map_or("", |_| "<script src=\"/style/connected.js\" defer></script>\n");
        let css = self.app_color.as_deref().and_then(button_css);
        let style = css.as_ref().map(|css| format!("<style>{css}</style>\n")).unwrap_or_default();
        let html = format!(
            "<!doctype html>\n<html lang=\"{}\"{}>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"robots\" content=\"noindex\">\n<title>{} · {}</title>\n<link rel=\"icon\" href=\"/favicon.svg\">\n<link rel=\"stylesheet\" href=\"/style/palette.css\">\n<link rel=\"stylesheet\" href=\"/style/page.css\">\n{style}<script src=\"/style/theme.js\"></script>\n{script}<header>\n<span class=\"name\">{app_logo}{}</span>\n</header>\n<main>\n{}<h1>{}</h1>\n{body}</main>\n</html>\n",
            self.language.code(),
            notification.unwrap_or_default(),
            escape(&self.heading),
            escape(app),
            escape(app),
            platform_logo.unwrap_or_default(),
            escape(&self.heading),
        );
        let mut response = Response { body: html.into_bytes(), ..Response::empty(self.status) };
        response.add("content-type", "text/html; charset=utf-8");
        response.add("cache-control", NO_STORE);
        response.add("content-language", self.language.code());
        response.add("vary", "accept-language");
        let source = csp_source(self.app_logo.as_deref());
        let mut policy = POLICY.replace("img-src 'self'", &format!("img-src 'self'{source}"));
        if let Some(css) = css {
            let hash = Base64::encode_string(&Sha256::digest(css));
            policy =
                policy.replace("style-src 'self'", &format!("style-src 'self' 'sha256-{hash}'"));
        }
        response.add("content-security-policy", policy);
        // With `no-referrer`, browsers would not send the origin of the form.
        response.add("referrer-policy", "same-origin");
        response.add("x-frame-options", "DENY");
        response
    }
}

#[cfg(test)]
mod tests {
    use super::{Language, Page, escape};

    #[test]
    fn all_values_are_escaped() {
        assert_eq!(escape("<b a=\"x\" c='y'>&"), "&lt;b a=&quot;x&quot; c=&#39;y&#39;&gt;&amp;");
        let evil = "\"><script>alert(1)</script>".to_owned();
        let page = Page {
            heading: evil.clone(),
            paragraphs: vec![evil.clone()],
            button: Some((evil.clone(), evil.clone())),
            links: vec![(evil.clone(), evil.clone())],
            app: Some(evil.clone()),
            app_logo: Some(evil.clone()),
            app_color: Some(evil.clone()),
            app_url: Some(evil.clone()),
            platform_logo: Some(evil.clone()),
            notification: None,
            form: Some((evil.clone(), String::new())),
            detail: Some(evil.clone()),
            go_back: evil,
            language: Language::English,
            status: 200,
        };
        let html = String::from_utf8(page.response().body).unwrap();
        assert!(!html.contains("<script>"), "{html}");
        assert_eq!(html.matches("&quot;&gt;&lt;script&gt;").count(), 13, "{html}");
    }
}
